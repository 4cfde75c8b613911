#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# llmbox in a container: what an engine covers of /proc and refuses by its
# system-call profile is named with the cure; with examples/docker-seccomp.json
# and either an uncovered /proc or the policy's "proc": "outer" it works.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need unshare python3 tar

if ! unshare -Urm true 2>/dev/null; then
	skip_all 'no user namespaces can be made here'
fi
echo '{"proc": "outer"}' >"$T/outer.json"

# ---- only /proc is covered

cat >"$T/covered.sh" <<'SH'
mount --bind /dev/null /proc/keys && exec "$@"
SH
if is_root; then
	covered='unshare -m --propagation private'
else
	covered='unshare -Urm --propagation private'
fi
covered()
{
	# shellcheck disable=SC2086 # words
	$covered sh "$T/covered.sh" "$LLMBOX" run "$@"
}

run covered --report "$T/report" -- sh -c 'echo started'
is 'covered /proc: refused' "$RC $OUT" '125 '
is 'covered /proc: one line' "$(wc -l <"$T/run.err" | tr -d ' ')" 1
like 'covered /proc: the cause' "$ERR" 'since /proc/keys is covered'
like 'covered /proc: a cure' "$ERR" 'systempaths=unconfined|unmask|procMount'
like 'covered /proc: the other cure' "$ERR" '"proc": "outer"'
is 'covered /proc: the report' "$(json "$T/report" 'd["outcome"]')" setup

run covered --policy "$T/outer.json" --report "$T/report" -- sh -c '
	echo one | cat /dev/stdin; echo two >/dev/fd/1
	cat /proc/keys; readlink /proc/self/exe
	{ echo 1 >/proc/self/oom_score_adj; } 2>/dev/null || echo read-only
	{ echo 1 >/proc/sys/vm/drop_caches; } 2>/dev/null || echo read-only'
is 'outer: works' "$RC" 0
is 'outer: /dev/stdin, fd, self; nothing can be written' \
	"$(printf '%s' "$OUT" | sed 's|^/.*|exe|' | tr '\n' ' ')" \
	'one two exe read-only read-only'
is 'outer: the report' "$(json "$T/report" 'd["isolation"]["proc"]')" outer
like 'outer: it is soft' "$(json "$T/report" 'd["soft"]')" proc
run box --report "$T/report" -- true
is 'own: the report' "$(json "$T/report" 'd["isolation"]["proc"]')" own
run covered --policy "$T/outer.json" --require proc -- sh -c 'echo started'
is 'outer: require refuses it' "$RC $OUT" '125 '
like 'outer: and says so' "$ERR" '^llmbox: proc .*outer is soft'
echo '{"proc": "outer", "syscalls": {"allow": ["clone3"]}}' >"$T/clone3.json"
run box --policy "$T/clone3.json" -- true
is 'outer: not with clone3' "$RC" 125
run box --policy "$T/outer.json" -- unshare -U true
isnt 'outer: no user namespaces' "$RC" 0

# The caller's processes are seen, and nothing of theirs is to be had.
sleep 600 &
pid=$!
SECRET_OUTER=s3cr3t run box --policy "$T/outer.json" -- sh -c '
	tr "\0" " " </proc/$1/cmdline; echo
	for f in environ mem maps auxv io stack syscall; do
		head -c 1 /proc/$1/$f >/dev/null 2>&1 && echo "read $f"
	done
	for f in root/ cwd/ ns/user fd/0 exe; do
		ls -L /proc/$1/$f >/dev/null 2>&1 && echo "listed $f"
		readlink /proc/$1/$f
	done
	for f in oom_score_adj coredump_filter comm clear_refs uid_map \
		setgroups timerslack_ns; do
		{ echo 1 >/proc/$1/$f; } 2>/dev/null && echo "wrote $f"
	done
	kill -9 $1 2>/dev/null && echo killed; echo done' sh $pid
is 'outer: a process outside shows its command line, and no more' \
	"$(printf '%s' "$OUT" | tr '\n' ' ')" 'sleep 600  done'
ok 'outer: and still runs' kill $pid

# ---- a whole container

tree=$T/container
mkdir "$tree"
tar -C "$tree" -xf "$BUSYBOX" --no-same-owner
cp "$LLMBOX" "$tree/bin/llmbox"
cp "$BUSYBOX" "$tree/busybox.tar"
cp "$T/outer.json" "$tree/outer.json"
chmod 755 "$T" "$tree" "$tree/root"
python3 "$LLMBOX_SRC/tests/lib/profile.py" \
	"$LLMBOX_SRC/examples/docker-seccomp.json" >"$T/profile"
if ! ldd "$LLMBOX" 2>&1 | grep -qE 'statically|not a dynamic'; then
	inapplicable 'in a container' 'llmbox is not one static file'
	done_testing
fi

# container PROC ARG...: with the example's profile
container()
{
	container_proc=$1
	shift
	"$DEGRADE" profile="$T/profile" -- sh \
		"$LLMBOX_SRC/tests/lib/container.sh" "$tree" "$container_proc" \
		"$@" 3>&1
}

run container masked /bin/cat /proc/keys /proc/self/status
is 'the container runs' "$RC" 0
like 'it is under a filter' "$OUT" '^Seccomp:	2$'
run container masked /bin/llmbox run -- echo started
is 'masked: refused' "$RC $OUT" '125 '
like 'masked: the cause' "$ERR" '^llmbox: .*since /proc/[a-z_]* is covered'
for with in '' '-r /busybox.tar'; do
	what=${with:+ with an image}
	# shellcheck disable=SC2086 # words
	run container masked /bin/llmbox run $with --policy /outer.json \
		--report fd:3 -- sh -c 'id -u; cat /proc/self/comm'
	is "masked, proc outer$what: works" "$RC" 0
	like "masked, proc outer$what: is root inside" "$OUT" '^0$'
	like "masked, proc outer$what: the report" "$OUT" '"proc":"outer"'
	# shellcheck disable=SC2086 # words
	run container unmasked /bin/llmbox run $with -u 1000 -- id -u
	is "unmasked$what, another user: works" "$RC $OUT" '0 1000'
	# shellcheck disable=SC2086 # words
	run container unmasked /bin/llmbox run $with --report fd:3 -- \
		sh -c 'id -u; echo /proc/[0-9]*'
	is "unmasked$what: works" "$RC" 0
	like "unmasked$what: a /proc of its own" "$OUT" \
		'^/proc/1 /proc/[0-9]*$'
	like "unmasked$what: the report" "$OUT" '"proc":"own"'
done

if is_root; then
	run setpriv --bounding-set -sys_admin "$LLMBOX" run -- echo works
	is 'root without CAP_SYS_ADMIN: this host'"'"'s programs work' \
		"$RC $OUT" '0 works'
	for with in "-r $BUSYBOX" "-v $T:/mnt:ro"; do
		# shellcheck disable=SC2086 # words
		run setpriv --bounding-set -sys_admin "$LLMBOX" run $with -- \
			echo started
		is "root without CAP_SYS_ADMIN, ${with%% *}: refused" \
			"$RC $OUT" '125 '
		like "root without CAP_SYS_ADMIN, ${with%% *}: why" "$ERR" \
			'^llmbox: .*no CAP_SYS_ADMIN.*as another user'
	done
else
	inapplicable 'root without CAP_SYS_ADMIN' 'only for root'
fi
done_testing
