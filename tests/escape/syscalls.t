#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# System calls: harmless ones work, new ones say ENOSYS (SC-03), threads start
# without clone3 (SC-01), namespaces can't be made (SC-05), sockets that
# browsers need can (SC-06); dangerous calls, families and ioctls are refused,
# and by the filter: the same calls do something outside.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
[ "$(uname -m)" = x86_64 ] || skip_all 'the numbers are those of x86_64'
OUTSIDE=$LLMBOX_BUILD/tests/lib/helper

# One box for all: a line NAME RESULT for each line NAME NUMBER [ARG]...
# calls_in_box FILE [OPTION]...
calls_in_box()
{
	calls_file=$1
	shift
	box "$@" -r "$BUSYBOX" -- sh -c 'while read -r name call; do
		echo "$name $(helper syscall $call)"; done' <"$calls_file"
}

calls_outside()
{
	while read -r name call; do
		# shellcheck disable=SC2086
		echo "$name $("$OUTSIDE" syscall $call)"
	done <"$1"
}

# answer NAME: from $OUT
answer()
{
	printf '%s\n' "$OUT" | sed -n "s/^$1 //p"
}

# ---- SC-03

run box -r "$BUSYBOX" -- \
	sh -c 'test -r /etc/passwd && test -x /bin/sh && echo ok'
is 'test -r, test -x' "$OUT" ok
cat >"$T/harmless" <<'EOF'
statx 332 -100 s:/ 0 0x7ff b:256
faccessat2 439 -100 s:/ 4 0x200
openat2 437 -100 s:/ b:24 24
close_range 436 100 101 0
rseq 334 0 0 0 0
membarrier 324 0 0
pkey_alloc 330 0 0
cachestat 451 0 b:16 b:32 0
mseal 462 0 0 0
pidfd_open 434 1 0
EOF
run calls_outside "$T/harmless"
known=$(grep -vc ENOSYS "$T/run.out")
sed -n 's/ ENOSYS$//p' "$T/run.out" | while read -r name; do
	sed -i "/^$name /d" "$T/harmless"
done
run calls_in_box "$T/harmless"
unlike 'harmless calls that the kernel has are not refused' "$OUT" 'EPERM|ENOSYS'
is 'harmless calls: all answered' "$(wc -l <"$T/run.out" | tr -d ' ')" "$known"
cat >"$T/new" <<'EOF'
number-999 999
number-500 500
clone3 435 b:88 88
io_uring_setup 425 1 b:120
add_key 248 s:user s:x s:y 1 -3
keyctl 250 0 -3 0
EOF
run calls_in_box "$T/new"
is 'what a box has not: ENOSYS' "$(sed 's/.* //' "$T/run.out" | sort -u)" ENOSYS
run calls_outside "$T/new"
is 'outside: keyrings are there' "$(answer keyctl | grep -c '[0-9]')" 1
isnt 'outside: clone3 is there' "$(answer clone3)" ENOSYS

# ---- refused: these are harmless outside too, with these arguments

cat >"$T/refused" <<'EOF'
unshare-user 272 0x10000000
unshare-net 272 0x40000000
unshare-time 272 0x80
clone-user 56 0x10000011 0 0 0 0
setns 308 -1 0
fsopen 430 s:tmpfs 0
open_tree 428 -100 s:/ 0
mount_setattr 442 -1 s: 0 0 0
move_mount 429 -1 s: -1 s: 0
mount 165 0 0 0 0 0
umount2 166 s:/nowhere 0
pivot_root 155 s:/nowhere s:/nowhere
bpf 321 -1 b:64 64
perf_event_open 298 0 0 -1 -1 0
userfaultfd 323 -1
open_by_handle_at 304 -1 0 0
init_module 175 0 0 s:
finit_module 313 -1 s: 0
delete_module 176 s:no-such-module 0
kexec_load 246 0 0 0 -1
reboot 169 0 0 0 0
swapon 167 s:/nowhere 0
acct 163 s:/nowhere
quotactl 179 -1 0 0 0
syslog 103 -1 0 0
iopl 172 99
clock_settime 227 99 0
settimeofday 164 b:16 b:16
pidfd_getfd 438 -1 -1 0
kcmp 312 -1 -1 0 0 0
personality-no-random 135 0x40000
personality-read-exec 135 0x400000
sethostname 170 0 -1
fanotify_init 300 -1 0
EOF
grep -v '^settimeofday\|^personality' "$T/refused" >"$T/compared"
run calls_in_box "$T/refused"
is 'refused: all with EPERM' "$(grep -v ' EPERM$' "$T/run.out")" ''
is 'refused: all asked' "$(wc -l <"$T/run.out" | tr -d ' ')" \
	"$(wc -l <"$T/refused" | tr -d ' ')"
# Without a right the kernel says EPERM itself: root sees best what is the
# filter's doing. Never one that is both valid and of consequence.
run calls_outside "$T/compared"
if is_root && [ "$(answer unshare-net)" = EPERM ]; then
	skip 'outside root gets other answers' 'a root without rights here'
elif is_root; then
	is 'outside root gets other answers' "$(grep -c ' EPERM$' "$T/run.out")" 0
else
	unlike 'outside the arguments are looked at' \
		"$(grep '^\(setns\|fsopen\|userfaultfd\|kcmp\) ' "$T/run.out" |
		sort -u | wc -l)" '^0$'
fi
run calls_in_box "$T/refused" --syscalls debug
is 'the debug profile: kcmp, no randomization' \
	"$(answer kcmp | grep -c EPERM)$(answer personality-no-random)" 00
is 'the debug profile: no namespaces either' "$(answer unshare-user)" EPERM
run calls_in_box "$T/refused" --syscalls strict
is 'the strict profile: all with EPERM' "$(grep -v ' EPERM$' "$T/run.out")" ''

# ---- sockets

cat >"$T/sockets" <<'EOF'
unix 41 1 1 0
inet 41 2 1 0
inet6 41 10 2 0
route 41 16 3 0
vsock 41 40 1 0
alg 41 38 5 0
packet 41 17 3 0
netfilter 41 16 3 12
audit 41 16 3 9
uevent 41 16 3 15
xdp 41 44 3 0
can 41 29 3 1
bluetooth 41 31 3 0
raw 41 2 3 1
sctp 41 2 1 132
mptcp 41 2 1 262
EOF
for network in none host; do
	run calls_in_box "$T/sockets" --network $network
	[ "$RC" -eq 0 ] || continue
	for family in unix inet inet6 route; do
		like "$network: $family" "$(answer $family)" '^[0-9]'
	done
	for family in vsock alg packet xdp can bluetooth; do
		is "$network: $family" "$(answer $family)" EAFNOSUPPORT
	done
	for family in netfilter audit uevent sctp mptcp; do
		is "$network: $family" "$(answer $family)" EPROTONOSUPPORT
	done
	is "$network: raw" "$(answer raw)" EPERM
done
run calls_outside "$T/sockets"
like 'outside: netfilter'"'"'s netlink can be had' "$(answer netfilter)" '^[0-9]'

# ---- terminals: typing into one (the upper 32 bits don't matter)

cat >"$T/ioctls" <<'EOF'
TIOCSTI 16 0 0x5412 s:x
TIOCSTI-64 16 0 0x100005412 s:x
TIOCLINUX 16 0 0x541c s:x
TIOCSETD 16 0 0x5423 b:4
TIOCCONS 16 0 0x541d 0
EOF
run calls_in_box "$T/ioctls"
is 'ioctls of terminals' "$(sed 's/.* //' "$T/run.out" | sort -u)" EPERM
"$OUTSIDE" syscall 16 0 0x5412 s:x </dev/null >"$T/out"
is 'outside the driver answers' "$(cat "$T/out")" ENOTTY

# ---- other ways into the kernel

run box -r "$HELPER" -- /bin/helper x32
is 'x32: killed' "$RC" 159
"$OUTSIDE" x32 >"$T/out" 2>&1
isnt 'outside x32: not killed' "$?" 159
if "$OUTSIDE" i386 >"$T/out" 2>&1; then
	run box -r "$HELPER" -- /bin/helper i386
	is 'i386: killed' "$RC" 159
else
	inapplicable 'i386: killed' 'this kernel has no i386 calls'
fi

# ---- SC-01, SC-05, SC-06 as programs see them

if [ -x /usr/bin/python3 ]; then
	run box /usr/bin/python3 -c '
import array, os, socket, threading
t = threading.Thread(target=print, args=("thread",))
t.start()
t.join()
a, b = socket.socketpair()
a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
fd = os.open("/etc/passwd", os.O_RDONLY)
b.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
message = a.recvmsg(1, 256)
print("passed", len(message[1]) > 0)
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/s")
s.listen()
c = socket.socket(socket.AF_UNIX)
c.connect("/tmp/s")
print("connected")
'
	is 'threads, credentials, descriptors, local sockets' "$OUT" 'thread
passed True
connected'
else
	skip 'threads and local sockets' '/usr/bin/python3 is not installed'
fi
run box -r "$BUSYBOX" -- sh -c 'unshare -Ur id; echo "$? and on"'
like 'unshare: refused, and the box goes on' "$OUT" '^[1-9][0-9]* and on$'
like 'unshare: a plain error' "$ERR" 'not permitted'
if unshare -Ur true 2>/dev/null; then
	ok 'outside it works' true
else
	skip 'outside it works' 'no user namespaces for us here'
fi
done_testing
