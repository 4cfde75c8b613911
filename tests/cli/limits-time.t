#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ends a box from outside: time limits, signals, the end of the caller or
# of llmbox. Each time nothing of the box is left.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'it needs a static busybox'

# A number that no other test sleeps for: finds our own processes.
mark=$$987

bb()
{
	box -r "$BUSYBOX" "$@"
}

# Has no process this mark as an argument?
gone()
{
	! grep -zqs "^$mark\$" /proc/[0-9]*/cmdline
}

here()
{
	! gone
}

# timed NAME: after a run with --timeout 300ms.
timed()
{
	is "$1: status" "$RC" 124
	like "$1: the line" "$ERR" '^llmbox: time 0\.3s reached \(--timeout\)$'
	is "$1: the report" "$(json "$T/report" \
		'd["outcome"], d["exit_code"], d["limits_hit"]')" \
		'["time", 124, ["time"]]'
	ok "$1: nothing is left" wait_until gone
}

limited()
{
	run bb --timeout 300ms --report "$T/report" "$@"
}

run bb --timeout 100s sh -c 'exit 3'
is 'a limit that is not reached' "$RC" 3
is 'a limit that is not reached: silent' "$ERR" ''
limited sh -c "echo before; sleep $mark"
timed 'a command'
is 'output written before is delivered' "$OUT" before
is 'TERM comes first' "$(json "$T/report" 'd["signal_name"]')" TERM
limited sh -c "sleep $mark & wait"
timed 'a child'
limited sh -c "(setsid sleep $mark &); sleep 1000"
timed 'a child in its own session'
limited sh -c "while :; do setsid sleep $mark & sleep 0.01; done"
timed 'ever new ones'
limited sh -c "sleep $mark & kill -STOP \$\$"
timed 'a stopped one'
is 'a stopped one is continued, to obey' \
	"$(json "$T/report" 'd["signal_name"]')" TERM
limited sh -c "trap 'echo bye; exit 0' TERM; sleep $mark & wait"
timed 'one that obeys in its own way'
is 'it could say so' "$OUT" bye
limited sh -c "trap '' TERM INT HUP; sleep $mark & while :; do sleep 0.1; done"
timed 'one that ignores TERM'
is 'KILL comes after the grace' "$(json "$T/report" 'd["signal"]')" 9
run bb --timeout 300ms sh -c "(setsid sleep $mark &); exit 0"
is 'the command ends before: its status' "$RC" 0
ok 'the command ends before: what it left is ended' wait_until gone

run bb --lifetime 300ms --report "$T/report" sleep $mark
is 'lifetime: status' "$RC" 124
is 'lifetime: the line' "$ERR" 'llmbox: lifetime 0.3s reached (--lifetime)'
is 'lifetime: the report' "$(json "$T/report" \
	'd["outcome"], d["limits_hit"]')" '["lifetime", ["lifetime"]]'

run bb --cpu-time 1s --report "$T/report" helper spin
is 'cpu time: status' "$RC" 124
is 'cpu time: the line' "$ERR" 'llmbox: cpu_time 1s reached (--cpu-time)'
is 'cpu time: the report' "$(json "$T/report" \
	'd["outcome"], d["limits_hit"]')" '["cpu_time", ["cpu_time"]]'
run bb --cpu-time 1s sh -c 'helper spin; exit $?'
is 'cpu time of a child' "$RC" 124

# begin ARG...: in the background, until it says "ready"; its pid in $PID. An
# asynchronous list has INT and QUIT ignored, which llmbox would respect.
begin()
{
	rm -f "$T/out" "$T/report"
	: >"$T/out"
	python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$LLMBOX" run -r "$BUSYBOX" \
		--report "$T/report" "$@" >"$T/out" 2>"$T/err" &
	PID=$!
	wait_until grep -q ready "$T/out"
}

finish()
{
	RC=0
	wait "$PID" || RC=$?
	ERR=$(cat "$T/err")
}

need python3
for signal in TERM:143 INT:130 HUP:129 QUIT:131; do
	name=${signal%:*}
	begin sh -c "echo ready; sleep $mark & wait"
	kill -s "$name" "$PID"
	finish
	is "$name: status" "$RC" "${signal#*:}"
	is "$name: the line" "$ERR" "llmbox: cancelled by SIG$name"
	is "$name: outcome" "$(json "$T/report" 'd["outcome"]')" cancelled
	ok "$name: nothing is left" wait_until gone
done
# It has the grace to act in, which a machine that stands still may use up.
for try in 1 2 3; do
	begin sh -c 'trap "echo got; exit 0" TERM; echo ready
		while :; do sleep 0.1; done'
	kill "$PID"
	finish
	grep -q got "$T/out" && break
	echo "# try $try: $(cat "$T/out")"
done
is 'the command obeys: llmbox was cancelled all the same' "$RC" 143
like 'the command could act' "$(cat "$T/out")" '^got$'
begin sh -c "trap 'echo deaf' TERM; sleep $mark & echo ready
	while :; do sleep 0.1; done"
kill "$PID"
wait_until grep -q deaf "$T/out"
kill -s INT "$PID"
finish
is 'a second signal ends it at once: the first one counts' "$RC" 143
ok 'a second signal: nothing is left' wait_until gone
begin sh -c 'trap "echo one; exit 5" USR1; echo ready
	while :; do sleep 0.1; done'
kill -s USR1 "$PID"
finish
is 'USR1 is passed on' "$RC" 5
begin sh -c 'echo ready; while ! [ -e /tmp/x ]; do sleep 0.1
	: >/tmp/x; done; exit 6'
kill -s WINCH "$PID"
kill -s CONT "$PID"
finish
is 'WINCH and CONT disturb nothing' "$RC" 6
(
	trap '' HUP
	exec "$LLMBOX" run -r "$BUSYBOX" sh -c 'trap "exit 7" USR1; echo ready
		while :; do sleep 0.1; done' >"$T/nohup" 2>"$T/err"
) &
PID=$!
wait_until grep -q ready "$T/nohup"
kill -s HUP "$PID"
kill -s USR1 "$PID"
finish
is 'nohup: HUP stays ignored' "$RC" 7

# Whoever is killed: the box ends.
begin sh -c "echo ready; sleep $mark & sleep $mark"
ok 'it was there' here
kill -s KILL "$PID"
wait "$PID" 2>/dev/null
ok 'llmbox is killed: nothing is left' wait_until gone
"$LLMBOX" run -r "$BUSYBOX" sleep $mark 2>"$T/err" &
PID=$!
kill -s KILL "$PID"
wait "$PID" 2>/dev/null
ok 'llmbox is killed at once: nothing is left' wait_until gone
rm -f "$T/out" "$T/report"
: >"$T/out"
sh -c '"$@" & wait' caller "$LLMBOX" run -r "$BUSYBOX" \
	--report "$T/report" sh -c "echo ready; trap '' TERM HUP; sleep $mark &
	sleep $mark" >"$T/out" 2>"$T/err" &
PID=$!
wait_until grep -q ready "$T/out"
kill -s KILL "$PID"
wait "$PID" 2>/dev/null
ok 'the caller is killed: nothing is left' wait_until gone
reported()
{
	[ -s "$T/report" ]
}
wait_until reported
is 'the caller is killed: the report says so' "$(json "$T/report" \
	'd["outcome"], d["message"]')" \
	'["cancelled", "cancelled: the caller ended"]'

run bb sh -c "(setsid sleep $mark &); nohup sleep $mark >/dev/null & echo done"
is 'daemons: status' "$RC" 0
is 'daemons: output' "$OUT" 'done'
ok 'daemons: nothing is left' wait_until gone
done_testing
