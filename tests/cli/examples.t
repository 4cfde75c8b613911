#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The EXAMPLES of the manuals: each literal display there is a session of a
# shell. "$ " begins a command, "> " goes on with it, all else is what it
# prints. A comment before the display may say
#
#   .\" examples.t: needs COMMAND...
#   .\" examples.t: not run, REASON      (only its syntax is looked at)
#
# Each has a store, a home and a project of its own, and runs as an ordinary
# user, also when the test is root's. A command that fails has to say so: by
# "$ echo $?" after it, or by a line of llmbox's.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

# sessions PAGE: one file PAGE.N a display in $T/sessions, its first line being
# what the comment said.
sessions()
{
	awk -v out="$T/sessions/$(basename "$1")" '
	/^\.Sh / { inside = $2 == "EXAMPLES"; note = "" }
	!inside { next }
	/^\.\\" examples\.t: / { sub(/^[^:]*: /, ""); note = $0; next }
	/^\.Bd / { file = out "." ++n; print note >file; note = ""; next }
	/^\.Ed/ { close(file); file = ""; next }
	file { gsub(/\\&/, ""); gsub(/\\e/, "\\"); print >file }
	' "$1"
}

# script SESSION: its commands; each that has to succeed is checked.
script()
{
	awk '
	function check()
	{
		if (command && !said)
			print "said $?"
	}
	NR == 1 { next }
	/^\$ / {
		if ($0 != "$ echo $?")
			check()
		command = 1
		said = 0
		print substr($0, 3)
		next
	}
	/^> / { print substr($0, 3); next }
	/^llmbox: / { said = 1 }
	END { check() }
	' "$1"
}

wanted()
{
	sed -e 1d -e '/^[$>] /d' "$1"
}

# The user's id has no account and owns nothing.
someone()
{
	if is_root; then
		setpriv --reuid=54321 --regid=54321 --clear-groups "$@"
	else
		"$@"
	fi
}

prepare()
{
	rm -rf "${T:?}/home"
	mkdir -p "$T/home/project"
	printf 'all:\n\t@echo a program >program\ntest:\n\t@echo tests passed\n' \
		>"$T/home/project/Makefile"
	echo 'a note' >"$T/home/project/notes.txt"
	cp "$T/debian.tar.zst" "$T/home/project/debian.tar.zst"
	! is_root || chown -R 54321:54321 "$T/home"
}

# session SHELL
session()
{
	prepare
	(
		cd "$T/home/project" || exit
		unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME \
			XDG_RUNTIME_DIR
		export HOME="$T/home" PATH="$T/bin:$PATH"
		someone "$1" "$T/script"
	) </dev/null >"$T/got" 2>&1
}

check_session()
{
	name=$(basename "$1")
	note=$(head -n 1 "$1")
	{
		echo "said() { [ \$1 -eq 0 ] || echo \"failed: \$1\"; }"
		script "$1"
	} >"$T/script"
	case $note in
	'not run, '*)
		ok "$name: is right for a shell" sh -n "$T/script"
		return
		;;
	'needs '*)
		for tool in ${note#needs }; do
			command -v "$tool" >/dev/null 2>&1 && continue
			skip "$name" "$tool is not installed"
			return
		done
		;;
	esac
	case $note in
	*bash*) session bash ;;
	*) session sh ;;
	esac
	wanted "$1" >"$T/want"
	is "$name: does what it says" "$(cat "$T/got")" "$(cat "$T/want")"
}

! is_root || need setpriv
need zstd
chmod 755 "$T"
mkdir "$T/sessions" "$T/bin"
cp "$LLMBOX" "$T/bin/llmbox"
zstd -q "$BUSYBOX" -o "$T/debian.tar.zst"
for page in "$LLMBOX_SRC"/man/*.[15]; do
	sessions "$page"
	ok "$(basename "$page") has examples" \
		test -s "$T/sessions/$(basename "$page").1"
done
for file in "$T"/sessions/*; do
	check_session "$file"
done

# ---- the files in examples/

examples=$LLMBOX_SRC/examples
for file in agent build; do
	run "$LLMBOX" policy check "$examples/$file.json"
	is "$file.json is a policy" "$RC" 0
done
need python3
run python3 "$LLMBOX_SRC/tests/lib/profile.py" "$examples/docker-seccomp.json"
is 'docker-seccomp.json is a profile' "$RC" 0
for call in clone unshare mount pivot_root open_tree mount_setattr openat2; do
	like "docker-seccomp.json allows $call" "$OUT" "^$call\$"
done
for call in bpf keyctl setns init_module kexec_load open_by_handle_at \
	perf_event_open io_uring_setup userfaultfd; do
	unlike "docker-seccomp.json does not allow $call" "$OUT" "^$call( |\$)"
done
if python3 -c 'import yaml' 2>/dev/null; then
	run python3 -c '
import sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))
spec = pod["spec"]
context = spec["containers"][0]["securityContext"]
print(pod["kind"], spec["hostUsers"], context["procMount"],
      context["capabilities"], "privileged" in context,
      spec["securityContext"]["seccompProfile"]["type"])' "$examples/pod.yaml"
	is 'pod.yaml is a pod without privileges' "$OUT" \
		"Pod False Unmasked {'drop': ['ALL']} False Localhost"
else
	skip 'pod.yaml is a pod' 'python3-yaml is not installed'
fi
like 'Dockerfile: not as root' "$(cat "$examples/Dockerfile")" '^USER 1000'
need make
run make -s -f "$examples/Makefile" -n check-in-box
like 'Makefile: a target' "$OUT" 'run -C \. '
done_testing
