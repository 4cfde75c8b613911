#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits hold the whole box and nothing else, and say so: time (SG-03), pids
# (LM-04), disk and inodes (LM-05), output, processor time, and the limits of
# each process. No limit is passed over in silence (LM-01, LM-03).
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need python3
MARK=llmbox-limits-$$

bb()
{
	rm -f "$T/report"
	box -r "$BUSYBOX" --report "$T/report" "$@"
}

# reported NAME KEY VALUE...: the report has them, in this order
reported()
{
	reported_name=$1 reported_want=
	shift
	while [ $# -gt 0 ]; do
		reported_want="$reported_want.*\"$1\":$2"
		shift 2
	done
	like "$reported_name" "$(cat "$T/report")" "$reported_want"
}

# Something with our mark in its arguments, on the whole host? (The bracket is
# for grep not to find itself.)
alive()
{
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' |
		grep -qx "[l]${MARK#l}"
}

not_alive()
{
	! alive
}

# ---- time: the whole tree ends, what was written is there

# overdue NAME SCRIPT: ends at its time limit
overdue()
{
	run bb --timeout 300ms -- sh -c "echo early; $2" "$MARK"
	is "$1: status" "$RC" 124
	is "$1: what it wrote" "$OUT" early
	is "$1: one line" "$ERR" 'llmbox: time 0.3s reached (--timeout)'
	reported "$1: the report" outcome '"time"' limits_hit '\["time"]'
	ok "$1: nothing is left" not_alive
}

mkfifo "$T/hold"
sh -c 'read x' "$MARK" <"$T/hold" &
exec 4>"$T/hold"
ok 'a mark is seen while it is there' wait_until alive
exec 4>&-
wait
ok 'and not any more' not_alive
overdue 'a child' "sh -c 'sleep 86400' $MARK & wait"
overdue 'deaf to TERM' "helper deaf $MARK >/dev/null"
overdue 'stopped' 'kill -STOP $$'
overdue 'a daemon that is deaf' "helper daemon $MARK; sleep 86400"
overdue 'more and more sessions' "while :; do
	setsid sh -c 'sleep 86400' $MARK & sleep 0.01; done"
run bb --timeout 1h -- true
is 'a limit that is not reached' "$RC$ERR" '0'
reported 'a limit that is not reached: the report' \
	limits_hit '\[]' time '"supervisor"'
run bb --lifetime 200ms -- sleep 86400
is 'lifetime: status' "$RC" 124
reported 'lifetime: the report' outcome '"lifetime"'
run bb --timeout 0.3 -- sh -c "trap 'echo asked; exit 0' TERM
	while :; do sleep 0.05; done"
is 'TERM comes first: status' "$RC" 124
is 'TERM comes first: it was heard' "$OUT" asked
for bad in -1 1x '' 99999999999999999999h; do
	run bb --timeout "$bad" -- true
	is "--timeout '$bad'" "$RC" 125
done

# ---- processor time, of each process

run bb --cpu-time 1s -- helper spin
is 'cpu_time: status' "$RC" 124
is 'cpu_time: one line' "$ERR" 'llmbox: cpu_time 1s reached (--cpu-time)'
reported 'cpu_time: the report, and that it is of each process' \
	outcome '"cpu_time"' limits_hit '\["cpu_time"]' soft '\["cpu_time"'

# ---- LM-04: processes

run bb --pids-limit 20 -- helper forks 1000
is 'pids: status' "$RC" 1
like 'pids: about as many as asked' "$OUT" '^(1[89]|[23][0-9]) EAGAIN$'
run bb --pids-limit 20 -- sh -c 'true | cat && echo fine'
is 'pids: a pipe works' "$OUT" fine
run bb --pids-limit 20 -u someone -- helper forks 1000
like 'pids: for another user too' "$OUT" '^(1[89]|[23][0-9]) EAGAIN$'
reported 'pids: the report' pids '"rlimit"'
# What else its user runs does not count: 60 sleepers outside, and boxes side
# by side, each with nearly all of its processes.
cat >"$T/side.py" <<'PY'
import subprocess, sys
box = sys.argv[1:]
sleepers = [subprocess.Popen(["sleep", "86400"]) for _ in range(60)]
script = ["sh", "-c", "i=0; while [ $i -lt 15 ]; do sleep 86400 & "
          "i=$((i + 1)); done; echo up; cat >/dev/null; true | cat && echo fine"]
boxes = [subprocess.Popen(box + script, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) for _ in range(2)]
for b in boxes:
    print(b.stdout.readline().decode().strip())
for b in boxes:
    print(b.communicate(b"")[0].decode().strip())
for s in sleepers:
    s.kill()
    s.wait()
PY
run python3 "$T/side.py" "$LLMBOX" run -r "$BUSYBOX" --pids-limit 20 --
is 'pids: other processes of the user do not count' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" \
	'up up fine fine'
"$LLMBOX" run -r "$BUSYBOX" --pids-limit 64 -- helper bomb "$MARK" \
	>"$T/lit" &
bomb=$!
wait_until grep -q lit "$T/lit"
ok 'a bomb: the host can fork' sh -c ':; true'
ok 'a bomb: the host can list processes' sh -c 'ls /proc >/dev/null'
kill -TERM "$bomb"
wait "$bomb"
is 'a bomb: ends with its box' "$?" 143
ok 'a bomb: nothing is left' not_alive

# ---- LM-05: disk

# filled WHERE: one limit for all of the box, which df shows
filled()
{
	dir=${1%/*}
	run bb --disk 8m -- sh -c "mkdir -p ${dir:-/}; helper fill $1
		stat -f -c '%b %S' ${dir:-/}"
	is "disk: $1: the reason" "$(sed -n '1s/.* //p' "$T/run.out")" ENOSPC
	bytes=$(sed -n '1s/ .*//p' "$T/run.out")
	ok "disk: $1: nearly all of it" \
		test "${bytes:-0}" -gt 7000000 -a "${bytes:-0}" -le 8388608
	is "disk: $1: seen by df" \
		"$(awk 'END { print $1 * $2 }' "$T/run.out")" 8388608
}

for where in /tmp/big /dev/shm/big /run/big; do
	filled $where
done
if has_tmpfs_xattrs; then
	for where in /big /var/big /new/deep/big; do
		filled $where
	done
	run bb --disk 8m -- helper fill /big
	is 'disk: status' "$RC" 1
	is 'disk: one line' "$ERR" 'llmbox: disk 8m is full (--disk)'
	reported 'disk: the report' outcome '"exited"' limits_hit '\["disk"]' \
		disk '"tmpfs"'
	run bb --disk 8m -- sh -c 'helper fill /tmp/a 6000000
		helper fill /b 6000000'
	like 'disk: one limit for all of them' "$OUT" '^[0-9]+ ENOSPC$'
	run bb --inodes 100 -- helper files /tmp 1000
	like 'inodes: the reason' "$OUT" '^[0-9]+ ENOSPC$'
	ok 'inodes: not more' test "${OUT%% *}" -le 100
	reported 'inodes: the report' inodes '"tmpfs"'
	run bb --require disk --require pids -- true
	is '--require of what holds' "$RC" 0
else
	for where in /big /var/big /new/deep/big; do
		run bb --disk 8m -- sh -c "mkdir -p ${where%/*}/
			helper fill $where"
		is "disk, where memory can't hold it: $where" "$OUT" \
			'8388608 EFBIG'
	done
	reported 'disk: the report is honest' disk '"rlimit"' soft '\["disk"]'
	run bb --require disk -- true
	is '--require of what is soft here: status' "$RC" 125
	like '--require of what is soft here: says so' "$ERR" 'disk.*soft'
	run bb --inodes 100 -- true
	is "inodes, where memory can't hold them: status" "$RC" 125
fi
run bb --disk 8m -- sh -c 'helper fill /tmp/a >/dev/null; rm /tmp/a; echo ok'
is 'disk: freed again: no complaint' "$RC$OUT$ERR" 0ok
run box --disk 8m -- sh -c 'dd if=/dev/zero of=/tmp/x bs=1M count=100; df -k /tmp'
like 'the host view: no space left' "$ERR" 'No space left'
like 'the host view: df' "$OUT" ' 8192 '
run bb --tmpfs /scratch:1m -- helper fill /scratch/big
is 'a tmpfs of its own: its size' "$OUT" '1048576 ENOSPC'
run bb df -k /tmp
is 'there is a limit by default' "$RC" 0
like 'and it is not half of the memory or more' "$OUT" \
	'box +[1-3]?[0-9]{1,6} |box +41[0-9]{5} '

# ---- output

run bb --output-limit 100k -- helper print 300000
is 'output: status' "$RC" 137
is 'output: so many bytes' "$(wc -c <"$T/run.out" | tr -d ' ')" 102400
is 'output: one line' "$ERR" 'llmbox: output 100k reached (--output-limit)'
reported 'output: the report' outcome '"output"' limits_hit '\["output"]'
run bb --output-limit 1000 -- sh -c 'helper print 600; helper print 600 2;
	sleep 86400'
is 'output: both streams count' "$RC" 137
run bb --output-limit 1000 -- helper print 1000
is 'output: just not too much' "$RC$ERR" 0

# ---- limits of each process

run bb --ulimit nofile=64:128 --ulimit fsize=1000 --ulimit core=0 -- \
	sh -c 'ulimit -S -n; ulimit -H -n; ulimit -c; helper fill /tmp/f'
is '--ulimit' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" '64 128 0 1000 EFBIG'
run bb sh -c 'ulimit -n; ulimit -c'
is 'by default: open files, no core' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" '4096 0'
run bb --ulimit bogus=1 -- true
is '--ulimit bogus: status' "$RC" 125
run bb --ulimit nofile=9:8 -- true
is '--ulimit soft over hard: status' "$RC" 125

# ---- LM-03: memory that is only reserved is not used

# MAP_PRIVATE, MAP_ANONYMOUS and MAP_NORESERVE: a small host refuses it else.
if [ -x /usr/bin/python3 ]; then
	run box /usr/bin/python3 -c \
		'import mmap; mmap.mmap(-1, 8 << 30, flags=0x4022); print(1)'
	is '8 GiB of address space' "$OUT" 1
else
	skip '8 GiB of address space' '/usr/bin/python3 is not installed'
fi
run bb sh -c 'ulimit -v'
is 'no limit on address space' "$OUT" unlimited

# ---- what can't be held is refused, or said to be gone

run bb --require nonsense -- true
is '--require nonsense: status' "$RC" 125
run bb --cpu-time 5s --require cpu_time -- true
is '--require of what is soft: status' "$RC" 125
like '--require of what is soft: says so' "$ERR" 'cpu_time.*soft'
run bb --writes disk --inodes 100 -- sh -c 'echo started'
is 'inodes on a disk: status' "$RC" 125
is 'inodes on a disk: nothing started' "$OUT" ''
run bb --writes disk --inodes 100 --best-effort inodes -- true
is 'inodes on a disk: best effort' "$RC" 0
reported 'inodes on a disk: the report is honest' inodes '"none"'
for limit in 'memory 64m' 'cpus 0.5'; do
	name=${limit% *}
	run bb "--$name" "${limit#* }" -- sh -c 'echo started'
	if [ "$RC" -eq 0 ]; then
		reported "$name: held, by some means" \
			"$name" '"(cgroup|watcher)'
		continue
	fi
	is "$name: cannot be held: status" "$RC" 125
	is "$name: cannot be held: nothing started" "$OUT" ''
	like "$name: cannot be held: the way out" "$ERR" \
		"^llmbox: $name .*--best-effort $name"
	reported "$name: cannot be held: the report" outcome '"policy"'
	run bb "--$name" "${limit#* }" --best-effort "$name" -- true
	is "$name: best effort: status" "$RC" 0
	reported "$name: best effort: the report is honest" "$name" '"none"'
done
done_testing
