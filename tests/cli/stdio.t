#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The caller's descriptors: what the box gets in place of each kind, in both
# directions, and how they are left. No terminal here: tty.t.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'it needs a static busybox'

bb()
{
	box -r "$BUSYBOX" "$@"
}

shell()
{
	sh -c "$1" stdio.t "$LLMBOX" "$BUSYBOX"
}
run bb true

# Standard input by a pipe: untouched, nothing is read ahead.
OUT=$( (echo A; echo B) | shell '"$1" run -r "$2" true; cat')
is 'a pipe is left to the next reader' "$OUT" 'A
B'
OUT=$(head -c 50000000 /dev/zero | bb wc -c)
is 'a pipe arrives whole' "$OUT" 50000000
OUT=$( (head -c 50000000 /dev/zero; echo "$?" >"$T/writer") | {
	bb true
	echo "$?"
})
is 'a command that does not read ends by itself' "$OUT" 0
OUT=$(head -c 5000000 /dev/zero | bb sh -c 'cat; echo end' | wc -c)
is 'both directions at once' "$OUT" 5000004
is '/dev/stdin of a pipe' "$(echo hi | bb cat /dev/stdin)" hi

# By a file: a pipe of its bytes.
seq 100000 >"$T/numbers"
OUT=$(bb readlink /proc/self/fd/0 <"$T/numbers")
like 'a file comes as a pipe' "$OUT" '^pipe:'
is 'a file arrives whole' "$(bb wc -l <"$T/numbers")" 100000
is '/dev/stdin of a file' "$(bb sh -c 'wc -l </dev/stdin' <"$T/numbers")" \
	100000
OUT=$( (bb true; head -n 1) <"$T/numbers")
is 'a file that was not read is left' "$OUT" 1
OUT=$( (bb sh -c 'read a; read b; echo "$a $b"'; wc -l) <"$T/numbers")
is 'a file goes on behind what was read' "$OUT" '1 2
99998'
OUT=$( (bb dd bs=10 count=1 >/dev/null 2>&1; cat) <"$T/numbers" | wc -c)
is 'to the byte' "$OUT" "$(($(wc -c <"$T/numbers") - 10))"
OUT=$( (bb sh -c 'cat >/dev/null'; cat) <"$T/numbers" | wc -c)
is 'a file that was read is read' "$OUT" 0
is 'a device' "$(bb head -c 100 </dev/zero | wc -c)" 100

# Standard output by a file.
echo old >"$T/file"
bb sh -c 'echo out; readlink /proc/self/fd/1; echo err >&2; echo more' \
	>>"$T/file" 2>&1
is 'append, and 2>&1 in the order of writing' \
	"$(sed 's/:.*//' "$T/file")" 'old
out
pipe
err
more'
bb sh -c 'for i in 1 2 3 4 5 6; do echo o$i; echo e$i >&2; done' \
	>"$T/file" 2>&1
is '2>&1: order is kept' "$(tr '\n' ' ' <"$T/file")" \
	'o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 o6 e6 '
run bb sh -c 'echo out; echo err >&2'
is 'two files: stdout' "$OUT" out
is 'two files: stderr' "$ERR" err
run bb sh -c 'echo out >/dev/stdout; echo err >/dev/stderr'
is '/dev/stdout of a file' "$OUT" out
is '/dev/stderr of a file' "$ERR" err
OUT=$(bb sh -c 'echo out >/dev/stdout; echo err >/dev/stderr' 2>&1 | cat)
is '/dev/stdout and /dev/stderr of a pipe' "$OUT" 'out
err'
if [ -e /dev/full ]; then
	RC=0
	bb echo hi >/dev/full 2>"$T/err" || RC=$?
	is 'output that can not be written: status' "$RC" 125
	like 'output that can not be written: says so' "$(cat "$T/err")" \
		'^llmbox: write the command.s output: No space left'
else
	skip 'output that can not be written' 'there is no /dev/full'
fi

# Closed ones, and directories.
RC=0
OUT=$(bb sh -c 'read x; echo "$?"' <&-)
is 'stdin closed: end of file' "$OUT" 1
ERR=$(bb sh -c 'echo x; echo "$?" >&2' 2>&1 >&-)
is 'stdout closed: /dev/null' "$ERR" 0
OUT=$(bb sh -c 'echo x >&2; echo "$?"' 2>&-)
is 'stderr closed: /dev/null' "$OUT" 0
bb --report "$T/report" true <&- >&- 2>&-
is 'all closed: the report is not taken for one' \
	"$(json "$T/report" 'd["outcome"]')" exited
RC=0
bb true </ 2>"$T/err" || RC=$?
is 'a directory: status' "$RC" 125
like 'a directory: says so' "$(cat "$T/err")" \
	'^llmbox: standard input: Is a directory.*-v'

# Readers that are gone, or asleep.
OUT=$( (RC=0; bb yes 2>"$T/err" || RC=$?; echo "$RC" >"$T/rc") | head -n 1)
is 'the reader goes: what it got' "$OUT" y
is 'the reader goes: SIGPIPE' "$(cat "$T/rc")" 141
OUT=$( (RC=0; bb --output-limit 1g yes 2>"$T/err" || RC=$?
	echo "$RC" >"$T/rc") | head -n 1)
is 'the reader of a relay goes: SIGPIPE' "$(cat "$T/rc")" 141
rm -f "$T/rc"
(RC=0
bb --report fd:5 sh -c 'sleep 1; exit 9' 5>&1 >/dev/null 2>&1 || RC=$?
echo "$RC" >"$T/rc") | :
wait_until test -s "$T/rc"
is 'the reader of the report goes: the status stays' "$(cat "$T/rc")" 9

# Each ends by the time limit, or the reader would wait for ever.
for option in --quiet --output-limit=1g; do
	rm -f "$T/rc"
	(RC=0
	bb "$option" --timeout 300ms yes 2>"$T/err" || RC=$?
	echo "$RC" >"$T/rc") | wait_until test -s "$T/rc"
	is "a sleeping reader keeps no limit from being held ($option)" \
		"$(cat "$T/rc")" 124
done

# Flags.
if [ "$(uname -m)" = x86_64 ]; then
	# fcntl(1, F_SETFL, O_WRONLY | O_NONBLOCK)
	run shell '{ "$1" run -r "$2" helper syscall 72 1 4 0x801
		sed -n "s/^flags:.*\(.....\)$/\1/p" /proc/self/fdinfo/1 >&2
		} | cat'
	is 'the box set O_NONBLOCK on a pipe: undone' "$ERR" 00001
else
	inapplicable 'O_NONBLOCK set by the box' 'the number is of x86_64'
fi

# The output limit.
RC=0
bb --output-limit 10k --report "$T/report" yes >"$T/out" 2>"$T/err" || RC=$?
is 'output limit: status' "$RC" 137
is 'output limit: exactly so many bytes' "$(wc -c <"$T/out" | tr -d ' ')" 10240
is 'output limit: the line' "$(cat "$T/err")" \
	'llmbox: output 10k reached (--output-limit)'
is 'output limit: report' "$(json "$T/report" \
	'(d["outcome"], d["exit_code"], d["signal"], d["limits_hit"],
	 d["output"]["stdout"]["cut"])')" \
	'["output", 137, 9, ["output"], true]'
is 'output limit: by a pipe' "$(bb --output-limit 10k yes 2>&- | wc -c)" 10240
run bb --output-limit 10 sh -c 'echo 1234; echo 1234 >&2'
is 'both outputs count together, and all of it may be used' "$RC" 0
run bb --output-limit 9 sh -c 'echo 1234; sleep 0.1; echo 1234 >&2; sleep 100'
is 'one byte more is too much: status' "$RC" 137
is 'one byte more is too much: the rest came' "$OUT$ERR" \
	'12341234llmbox: output 9 reached (--output-limit)'

# Much output: all of it, in little memory.
peak()
{
	python3 -c '
import subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
n, peak = 0, 0
while True:
    data = p.stdout.read(10 << 20)
    if not data:
        break
    n += len(data)
    for line in open("/proc/%d/status" % p.pid):
        if line.startswith("VmHWM:"):
            peak = int(line.split()[1])
p.wait()
print(n, p.returncode, "flat" if 0 < peak < 8 << 10 else "%d KiB" % peak)' "$@"
}
# Not under a sanitizer, which needs memory of its own.
if nm "$LLMBOX" 2>/dev/null | grep -q __asan_init; then
	inapplicable 'memory is flat' 'the sanitizer takes more'
else
	is 'much output: whole, and memory is flat' "$(peak "$LLMBOX" run \
		-r "$BUSYBOX" --output-limit 2g head -c 500000000 /dev/zero)" \
		'500000000 0 flat'
fi

# --json: head and tail, and any bytes.
run bb --json sh -c 'printf "\377\376\000\033[31m\r\nx\355\240\200"; echo e >&2
	exit 3'
is '--json: status' "$RC" 3
is '--json: one line' "$(wc -l <"$T/run.out" | tr -d ' ')" 1
is '--json: bytes that are no text' "$(json "$T/run.out" \
	'__import__("base64").b64decode(d["stdout_b64"]).hex()')" \
	fffe001b5b33316d0d0a78eda080
is '--json: text' "$(json "$T/run.out" 'd["stderr"]')" e
# Characters of two and three bytes; both cuts would be in the middle of one.
bb --json sh -c 'printf x
	yes "$(printf "\303\251\342\202\254")" | head -c 30000000' >"$T/out"
is '--json: head and tail of what is much' "$(json "$T/out" \
	'(d["exit_code"], d["output"]["stdout"]["bytes"],
	 d["output"]["stdout"]["cut"])')" '[0, 30000001, true]'
is '--json: no character is cut in half' "$(json "$T/out" \
	'"stdout" in d, set(d["stdout"]) == set("xé€\n")')" '[true, true]'
is '--json: what is missing is counted' "$(json "$T/out" \
	'len(d["stdout"].encode()) + d["output"]["stdout"]["dropped"]')" 30000001
is '--json: where it is missing' "$(json "$T/out" \
	'0 < d["output"]["stdout"]["head"] <= 5 << 20')" true
run bb --json --output-limit 3 sh -c 'echo hello; sleep 100'
is '--json: with an output limit' "$(json "$T/run.out" \
	'd["outcome"], d["stdout"], d["output"]["stdout"]["cut"]')" \
	'["output", "hel", true]'
done_testing
