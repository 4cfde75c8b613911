#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Init and the host, attacked from inside by the box's root.
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'

# prlimit64(PID, RLIMIT_CPU, {0, 0}): by the user alone, not by ptrace's rights
case $(uname -m) in
x86_64) prlimit=302 ;;
*) prlimit=261 ;;
esac
zero=0x00000000000000000000000000000000
run box -r "$BUSYBOX" -- sh -c "sleep 60 &
helper syscall $prlimit \$! 0 $zero 0
helper syscall $prlimit 1 0 $zero 0
exit 7"
is "init's limits can't be changed, and the command's status stays" "$RC" 7
like 'those of another process can' "$(echo "$OUT" | head -n 1)" '^0'
like 'the call says why' "$(echo "$OUT" | tail -n 1)" EPERM

run box -r "$BUSYBOX" -- sh -c 'kill -9 1; kill -STOP 1; kill -TERM 1; exit 7'
is 'signals to init do nothing' "$RC" 7
run box -r "$BUSYBOX" -- sh -c 'kill -9 -1; exit 7'
is 'kill -9 -1 leaves init, which tells of it' "$RC" 7

run box -r "$BUSYBOX" -- sh -c '
for f in mem environ maps cwd root exe fd/3 ns/user; do
	cat /proc/1/$f >/dev/null 2>&1 && echo "$f"
	readlink /proc/1/$f
done; true'
is "nothing of init's can be read" "$OUT" ''
run env LLMBOX_SECRET=t0ken "$LLMBOX" run -r "$BUSYBOX" -- \
	sh -c 'tr "\0" "\n" </proc/1/cmdline | grep -c -e t0ken -e BUSYBOX -e sh'
is "its command line tells nothing of the caller's" "$OUT" 0

# ---- the host's handler of core dumps runs as the host's root

if is_root && [ -w /proc/sys/kernel/core_pattern ] && command -v unshare \
	>/dev/null 2>&1; then
	run box -r "$BUSYBOX" -- sh -c 'ulimit -c; ulimit -H -c'
	like 'no core dump goes anywhere, not into a pipe either' "$OUT" \
		'^(0|1|unlimited)$'
	run box -r "$BUSYBOX" -- sh -c 'grep -i core /proc/self/limits'
	like 'its limit is one byte' "$OUT" '1 +1 +bytes'
else
	run box -r "$BUSYBOX" -- sh -c 'grep -i core /proc/self/limits'
	like 'its limit is one byte' "$OUT" '1 +1 +bytes'
fi

# ---- what the caller ignored is not the box's

run sh -c 'trap "" HUP INT TERM USR1 34
"$LLMBOX" run -r "$1" -- grep SigIgn /proc/self/status' sh "$BUSYBOX"
like 'no signal is ignored' "$OUT" 'SigIgn:.0000000000000000'

# ---- deletions can't be hidden

mkdir -p "$T/p/d"
: > "$T/p/d/1"
: > "$T/p/d/2"
run box -r "$BUSYBOX" -C "$T/p" -- sh -c 'rm -rf d; mkdir d; : > d/2'
like 'a directory made again does not hide what went' "$ERR" '1 removed'

# ---- accounts

mkdir -p "$T/t"
tar -C "$T/t" -xf "$BUSYBOX" 2>/dev/null || true
printf 'ann:x:2000:2001::/:/bin/sh' >> "$T/t/etc/passwd"
run box -r "$T/t" -u 2000 -- id -g
is 'a number as user has the group of its entry' "$OUT" 2001
run box -r "$T/t" -u ann -- id -u
is 'the last line of passwd may lack its end' "$OUT" 2000
printf 'root:x:0:0::/:/bin/sh\n' > "$T/passwd"
run box -r "$T/t" -u ann -v "$T/passwd:/etc/passwd:ro" -- id
is 'a user who is gone when the command starts is a failed set-up' "$RC" 125
like 'with a reason' "$ERR" 'user ann is not in the box'

# ---- scratch of all tmpfs together

run box --disk 8m -r "$BUSYBOX" --tmpfs /a --tmpfs /b -- sh -c '
for d in a b tmp; do dd if=/dev/zero of=/$d/x bs=1M count=6 2>/dev/null; done
cat /a/x /b/x /tmp/x | wc -c'
ok 'the disk limit bounds all of them together' [ "$OUT" -le 8388608 ]

# ---- odd mount points

mkdir -p "$T/l/bin"
cp /bin/busybox "$T/l/bin/busybox"
ln -s busybox "$T/l/bin/ls"
ln -s /data "$T/l/work"
mkdir "$T/src"
: > "$T/src/here"
run box -r "$T/l" -v "$T/src:/work:ro" -- /bin/ls /data
is 'a link to nothing as mount point is made where it leads' "$OUT" here
done_testing
