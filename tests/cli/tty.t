#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# At a terminal: the box has a pty of its own, and the caller's terminal is as it
# was after every kind of end.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need python3
need_file "$BUSYBOX" 'it needs a static busybox'
run box -r "$BUSYBOX" true

# at STEP... -- ARG...: llmbox run at a terminal of 40 x 120.
at()
{
	at_steps=
	while [ "$1" != -- ]; do
		at_steps="$at_steps '$1'"
		shift
	done
	shift
	eval "run ptyrun --size 40x120 $at_steps -- \
		\"\$LLMBOX\" run -r \"\$BUSYBOX\" \"\$@\""
}

# clean NAME STATUS: how the terminal was left.
clean()
{
	like "$1: status" "$OUT" "^status: $2\$"
	like "$1: the modes are as before" "$OUT" '^termios: same$'
	like "$1: no O_NONBLOCK" "$OUT" '^nonblock: no$'
	like "$1: the terminal is the job's" "$OUT" '^foreground: job$'
	unlike "$1: all came" "$OUT" '^missing:'
}

at -- sh -c 'tty; stty size; exit 3'
clean 'a command ends' 'exit 3'
like 'it has a pty of its own box' "$OUT" '^output: .*/dev/pts/0.r.n'
like 'with the size from the first moment' "$OUT" '^output: .*40 120.r.n'
at -- sh -c 'test -t 0 && test -t 1 && test -t 2 && : </dev/tty && echo yes'
like 'all three are the terminal, and /dev/tty' "$OUT" '^output: .yes'
at -- sh -c 'stty raw -echo; kill -9 $$'
clean 'a command is killed' 'exit 137'
at -- nothere
clean 'no such command' 'exit 127'
at -- --timeout 300ms sh -c 'stty raw; sleep 1000'
clean 'a time limit' 'exit 124'
like 'a time limit: the line' "$OUT" \
	'^output: .*llmbox: time 0.3s reached \(--timeout\).r.n'
at -- --output-limit 1k yes
clean 'an output limit' 'exit 137'
for signal in TERM:143 HUP:129 INT:130 QUIT:131; do
	at expect:ready "kill:${signal%:*}" -- \
		sh -c 'stty raw -echo; echo ready; sleep 1000'
	clean "SIG${signal%:*} to llmbox" "exit ${signal#*:}"
done
at expect:ready kill:TSTP -- sh -c 'echo ready; sleep 1000'
clean 'SIGTSTP to llmbox' stopped

# Keys are for the box.
at 'expect:ready' 'send:\x03' 'expect:int' 'send:x\n' -- \
	sh -c 'trap "echo int" INT; echo ready; while ! read x; do :; done
	echo "got $x"'
clean 'Ctrl-C is for the inner program' 'exit 0'
like 'Ctrl-C: it goes on' "$OUT" '^output: .*got x'
at 'expect:# ' 'send:sh /tmp/job\n' expect:started 'send:\x1a' \
	'expect:[Ss]topped' 'send:fg\n' expect:continued 'send:\x03' \
	'expect:# ' 'send:exit 4\n' -- sh -c 'echo "trap \"echo continued\" CONT
	echo started; while :; do sleep 0.1; done" >/tmp/job; exec sh -i'
clean 'Ctrl-Z and fg in the box' 'exit 4'
at 'send:hello\n' -- sh -c 'read x; echo "got $x"'
like 'what was typed before arrives' "$OUT" '^output: .*got hello'
at expect:ready 'send:\x04' -- sh -c 'echo ready; exec cat'
clean 'Ctrl-D' 'exit 0'
at expect:ready resize:50x100 'expect:50 100' -- \
	sh -c 'trap "stty size; exit" WINCH; echo ready; while :; do
	sleep 0.1; done'
clean 'a new size' 'exit 0'

# Not both are a terminal: no pty, and none of the host's.
run ptyrun -- sh -c '"$0" run -r "$1" sh -c "tty; ls -l /proc/self/fd/0
	(: </dev/tty) || echo no tty" 2>&1 | cat' "$LLMBOX" "$BUSYBOX"
like 'run x | cat: no terminal' "$OUT" '^output: .not a tty'
like 'run x | cat: stdin is a pipe' "$OUT" '^output: .*-> pipe:'
like 'run x | cat: nor /dev/tty' "$OUT" '^output: .*no tty'
like 'run x | cat: the modes' "$OUT" '^termios: same'
run ptyrun -- sh -c '"$0" run -r "$1" sh -c "test -t 1 || echo no
	test -t 2 || echo no; read x; echo \$?" </dev/null' "$LLMBOX" "$BUSYBOX"
like 'run x </dev/null: no terminal, and end of file' "$OUT" \
	'^output: .no.r.nno.r.n1.r.n'
run ptyrun 'expect:ready' 'send:line\n' 'send:\x04' -- sh -c \
	'"$0" run -r "$1" sh -c "echo ready >&2; cat; echo end" | cat' \
	"$LLMBOX" "$BUSYBOX"
like 'stdin is relayed from a terminal, to its end' "$OUT" \
	'^output: .*line.r.nline.r.nend'
run ptyrun -- sh -c '"$0" run -r "$1" sh -c "for i in 1 2 3; do echo o; echo e \
	>&2; done" </dev/null' "$LLMBOX" "$BUSYBOX"
like 'both outputs to one terminal: in order' "$OUT" \
	'^output: .o.r.ne.r.no.r.ne.r.no.r.ne'
at -- -T sh -c 'tty; test -t 1 || echo no'
like '-T: never' "$OUT" '^output: .not a tty.r.nno.r.n'
clean '-T' 'exit 0'

# -t: always.
OUT=$(box -r "$BUSYBOX" -t sh -c 'tty; stty size' </dev/null | tr -d '\r')
is '-t without a terminal' "$OUT" '/dev/pts/0
24 80'
OUT=$(echo 'cat; echo after; exit 4' | box -r "$BUSYBOX" -t sh |
	tr -d '\r' | grep -c 'after$')
is '-t: the end of stdin ends each reader' "$OUT" 1
OUT=$(printf 'no newline' | box -r "$BUSYBOX" -t sh -c 'read x; echo "[$x]"' |
	tr -d '\r' | tail -n 1)
like '-t: a last line without its end' "$OUT" '\[no newline\]$'
RC=$( (RC=0; box -r "$BUSYBOX" -t yes </dev/null 2>"$T/err" || RC=$?
	echo "$RC" >"$T/rc") | head -n 1 >&2; cat "$T/rc") 2>/dev/null
is '-t: the reader goes' "$RC" 129
run box -r "$BUSYBOX" -t sh -c 'echo out; echo err >&2' </dev/null
is '-t: stderr stays apart' "$ERR" err

# A job in the background, by a shell that has job control.
run ptyrun expect:ready 'send:go\n' 'expect:icanon' 'send:on\n' -- sh -c '
	set -m
	"$0" run -r "$1" sh -c "echo ready; sleep 1000" &
	read x
	stty -a | grep -o -- "-*icanon"
	read x
	kill %1
	wait %1
	echo "ended $x $?"' "$LLMBOX" "$BUSYBOX"
like 'in the background: the modes are left alone' "$OUT" '[^-]icanon'
like 'in the background: keys are not taken' "$OUT" '^output: .*ended on 143'
like 'in the background: the modes afterwards' "$OUT" '^termios: same'
run ptyrun expect:ready 'send:go\n' 'expect:fg' 'send:typed\n' -- sh -c '
	set -m
	"$0" run -r "$1" sh -c "echo ready; read x; echo got \$x" &
	read x
	echo now fg
	fg >/dev/null' "$LLMBOX" "$BUSYBOX"
like 'brought to the foreground: it is heard' "$OUT" \
	'^output: .*typed.r.ngot typed.r.n'
like 'brought to the foreground: the modes afterwards' "$OUT" '^termios: same'
run ptyrun 'expect:ready' 'send:mine\n' -- sh -c '
	set -m
	"$0" run -r "$1" -T sh -c "echo ready; cat" &
	read x
	echo "got $x"
	kill %1
	wait %1' "$LLMBOX" "$BUSYBOX"
like 'a relay in the background leaves the keys to others' "$OUT" \
	'^output: .*got mine'
unlike 'and is not stopped for it' "$OUT" '[Ss]topped'
done_testing
