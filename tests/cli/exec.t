#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command gets and what becomes of it: exit statuses, commands that
# can't be started (EX-01), long arguments (EX-03), who it runs as and where,
# and that nothing of it is left when it has ended (SG-02).
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

bb()
{
	box -r "$BUSYBOX" "$@"
}

# ---- the command's own status, on the image and on the host's view

for status in 0 7 125 255; do
	run bb sh -c "exit $status"
	is "exit $status" "$RC" "$status"
	is "exit $status: llmbox says nothing" "$OUT$ERR" ''
done
run box sh -c 'echo out; echo err >&2; exit 3'
is 'the host view: status' "$RC" 3
is 'the host view: stdout' "$OUT" out
is 'the host view: stderr' "$ERR" err
for signal in 9 11 15; do
	run bb helper signal $signal
	is "signal $signal" "$RC" $((128 + signal))
done

# ---- EX-01: 127 not found, 126 not executable, 125 llmbox's own

# refused STATUS TEXT COMMAND...
refused()
{
	wanted=$1 text=$2
	shift 2
	run box -r "$INPUTS/EX-01-exec.tar" -- "$@"
	is "$*: status" "$RC" "$wanted"
	is "$*: nothing on stdout" "$OUT" ''
	is "$*: one line" "$(wc -l <"$T/run.err" | tr -d ' ')" 1
	like "$*: says why" "$ERR" "^llmbox: .*$text"
}

if [ -s "$INPUTS/EX-01-exec.tar" ]; then
	refused 127 '/bin/nothere ' /bin/nothere
	refused 127 'nothere .*PATH' nothere
	refused 126 '/bin/adir .*directory' /bin/adir
	refused 126 '/bin/noexec .*not executable .*0644' /bin/noexec
	refused 127 '/bin/missing-interp.*/lib/ld-absent\.so\.1' \
		/bin/missing-interp
	refused 126 '/bin/wrong-arch.*processor' /bin/wrong-arch
	refused 127 '/bin/bad-shebang.*/no/such/interpreter' /bin/bad-shebang
	refused 127 '/bin/crlf.sh.*/bin/sh\\r .*carriage return' /bin/crlf.sh
	refused 126 '/bin/empty .*empty' /bin/empty
	refused 126 'noexec .*not executable' noexec
	refused 127 "a\\\\033\\[31mb" "$(printf 'a\033[31mb')"
else
	skip 'commands that cannot be started' 'no python3 to make the archive'
fi
run box -r /no/such.tar -- true
is 'no such archive: status' "$RC" 125
run bb -e PATH=/nowhere:/bin -- ok.sh
is 'a search path of its own: status' "$RC" 127
run bb -e PATH=/nowhere:/bin -- echo found
is 'a search path of its own: searched to the end' "$OUT" found
run bb -- ''
is 'an empty name: status' "$RC" 127

# ---- EX-03

if command -v python3 >/dev/null; then
	run python3 -c '
import subprocess, sys
r = subprocess.run(sys.argv[1:] + ["sh", "-c", "#" * 131000 + "\necho ran"])
sys.exit(r.returncode)' "$LLMBOX" run -r "$BUSYBOX" --
	is 'an argument of 131000 bytes: status' "$RC" 0
	is 'an argument of 131000 bytes: it ran' "$OUT" ran
	run python3 -c '
import subprocess, sys
r = subprocess.run(sys.argv[1:] + ["true"] + ["x" * 100000] * 3)
sys.exit(r.returncode)' "$LLMBOX" run -r "$BUSYBOX" --ulimit stack=524288 --
	is 'arguments over the limit: status' "$RC" 126
	like 'arguments over the limit: which' "$ERR" '^llmbox: .*128 KiB.*stack'
	python3 -c 'print("#" * 140000 + "\necho $((6 * 7))")' >"$T/script"
	run bb sh <"$T/script"
	is 'a long script on standard input' "$RC$OUT" 042
else
	skip 'long arguments' 'python3 is not installed'
fi
run bb -- printf '%s|' '' 'a b' '$HOME' '*' "$(printf 'x\ny')"
is 'arguments arrive as they are' "$OUT" '|a b|$HOME|*|x
y|'

# ---- where and who

run bb pwd
is 'no -w: the root' "$OUT" /
run bb -w /etc pwd
is '-w' "$OUT" /etc
run bb -w /new/deep sh -c 'pwd; touch here && echo made'
is '-w: made where missing' "$OUT" '/new/deep
made'
run bb -h some-name -- hostname
is '-h' "$OUT" some-name
run bb hostname
is 'no -h' "$OUT" box
run bb -h some-name -- sh -c 'grep -c some-name /etc/hosts; hostname -i'
is '-h: it resolves' "$OUT" '1
127.0.1.1'
run bb -h 'no good' -- true
is '-h with a space: status' "$RC" 125

run bb id -u
is 'no -u: root' "$OUT" 0
run bb -u someone -- sh -c 'id -u; id -g; echo $USER'
is '-u by name' "$OUT" '1000
1000
someone'
run bb -u 1000 -- sh -c 'id -u; echo $USER'
is '-u by number' "$OUT" '1000
someone'
run bb -u 4321:4322 -- sh -c 'id -u; id -g; echo "${USER-unset}"'
is '-u of nobody known' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" '4321 4322 unset'
run bb -u nobody-knows -- true
is '-u unknown: status' "$RC" 125
like '-u unknown: says so' "$ERR" '^llmbox: .*nobody-knows'
run bb -u someone -- sh -c 'touch /tmp/f && stat -c %u:%g /tmp/f
	touch /x 2>&1; id -G'
like '-u: files are its own' "$OUT" '^1000:1000$'
if is_root || has_range; then
	like '-u: the root is not' "$OUT" 'touch: /x: Permission denied'
else
	inapplicable '-u: the root is not' 'one id: all files have the same owner'
fi
if is_root; then
	run bb --identity one -- true
	is 'host root is never mapped as one id: status' "$RC" 125
	like 'host root is never mapped as one id: says so' "$ERR" \
		'^llmbox: .*host root'
else
	run bb --identity shifted -- true
	is 'shifted without being root: status' "$RC" 125
	like 'shifted without being root: why' "$ERR" '^llmbox: .*shifted'
fi
run bb --identity range -- true
if [ "$RC" -eq 0 ]; then
	is 'a range: works' "$RC" 0
else
	is 'a range that cannot be had: status' "$RC" 125
	like 'a range that cannot be had: why' "$ERR" '^llmbox: .*range'
fi

# ---- signals and the mask of a caller are not the box's

run sh -c 'trap "" INT TERM PIPE; exec "$@"' sh "$LLMBOX" run -r "$BUSYBOX" -- \
	grep -E '^Sig(Blk|Ign)' /proc/self/status
is 'no signal is ignored or blocked' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" \
	'SigBlk: 0000000000000000 SigIgn: 0000000000000000'
run bb sh -c 'umask'
is 'the umask is 022' "$OUT" 0022
run bb cut -d ' ' -f 1,6 /proc/self/stat
is 'a session of its own' "${OUT% *}" "${OUT#* }"

# ---- SG-02: daemons and zombies

run bb sh -c '(setsid sleep 86400 &); nohup sleep 86400 & helper daemon
	echo done'
is 'daemons left: status' "$RC" 0
is 'daemons left: output' "$OUT" 'done'
run bb sh -c 'i=0; while [ $i -lt 30 ]; do (true &); i=$((i + 1)); done
	while ps -o stat | grep -q Z; do :; done; echo none'
is 'no zombies in the box' "$OUT" none
# An end of file on both pipes: command substitution returns.
out=$("$LLMBOX" run -r "$BUSYBOX" -- sh -c 'helper daemon; echo done' 2>&1)
is 'a daemon does not hold the pipes' "$out" 'done'
done_testing
