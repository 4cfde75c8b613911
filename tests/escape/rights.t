#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rights: what box root has is what DESIGN gives it, nothing can be regained,
# and what it may not do it can't, though the same can be done outside (by who
# has the rights there).
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

bb()
{
	box -r "$BUSYBOX" "$@"
}

# CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE
# SYS_CHROOT SETFCAP, capabilities(7)
run bb grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
like 'box root: effective' "$OUT" '^CapEff:.00000000800404fb$'
like 'box root: permitted' "$OUT" '^CapPrm:.00000000800404fb$'
like 'box root: bounding set' "$OUT" '^CapBnd:.00000000800404fb$'
like 'box root: nothing inheritable' "$OUT" '^CapInh:.0000000000000000$'
like 'box root: nothing ambient' "$OUT" '^CapAmb:.0000000000000000$'
like 'no new privileges' "$OUT" '^NoNewPrivs:.1$'
like 'a filter' "$OUT" '^Seccomp:.2$'
run bb -u someone -- grep -E '^Cap(Eff|Prm|Inh|Amb)' /proc/self/status
unlike 'another user has none' "$OUT" '[1-9a-f]$'
run bb -u someone -- sh -c 'cp /bin/busybox /tmp/id && chmod 4755 /tmp/id &&
	/tmp/id -u'
is 'setuid has no effect' "$OUT" 1000

# Each is tried by box root; outside, where it is safe to, by our own user or
# by one who is root of a namespace of his own.
# denied NAME ERRNO-REGEX SCRIPT
denied()
{
	run bb sh -c "$3"
	isnt "$1: denied" "$RC" 0
	like "$1: how" "$OUT$ERR" "$2"
}

denied 'mount' 'denied|not permitted' 'mount -t tmpfs x /tmp'
denied 'mount, remount' 'denied|not permitted' 'mount -o remount,rw /proc/sys'
denied 'umount' 'denied|not permitted' 'umount /proc'
# Said to succeed (root emulation), and there is no node.
denied 'mknod' 'No such file' 'mknod /tmp/null c 1 3; cat /tmp/null'
denied 'hostname' 'not permitted|denied' 'hostname other'
denied 'namespaces' 'not permitted|denied' 'unshare -n true'
denied 'raw sockets' 'not permitted|denied' 'ping -c 1 127.0.0.1'
denied 'loopback down' 'not permitted|denied' 'ip link set lo down'
denied 'clock' EPERM 'helper syscall 227 0 b:16'
denied 'priority' 'denied|not permitted' 'renice -n -5 -p $$'
denied 'out of memory score' 'denied|not permitted|nvalid' \
	'echo -1000 >/proc/self/oom_score_adj'
denied 'kernel settings' 'ead-only' 'echo x >/proc/sys/kernel/hostname'
denied 'sysrq' 'ead-only|denied|nonexistent' 'echo h >/proc/sysrq-trigger'
denied 'sysfs' 'ead-only|denied' 'echo x >/sys/kernel/uevent_seqnum'
denied 'init: memory' 'denied|not permitted' 'dd if=/proc/1/mem of=/dev/null count=1'
denied 'init: descriptors' 'denied|not permitted' 'ls /proc/1/fd/'
denied 'init: root' 'denied|not permitted' 'ls /proc/1/root/'
denied 'init: working directory' 'denied|not permitted' 'ls /proc/1/cwd/'
denied 'init: program' 'denied|not permitted' 'echo >/proc/1/exe'
denied 'init: environment' 'denied|not permitted' 'cat /proc/1/environ'
if unshare -Urmnu sh -c 'mount -t tmpfs x /tmp && hostname other &&
	unshare -n true' 2>/dev/null; then
	ok 'outside, root of a namespace can mount and more' true
else
	skip 'outside, root of a namespace can mount and more' \
		'no user namespaces for us here'
fi
ok 'outside, one can look at an own process' sh -c \
	'sh -c "ls /proc/\$PPID/fd/ && ls -d /proc/\$PPID/root/" >/dev/null'
before=$(cat /proc/sys/kernel/hostname)
run bb -h inside -- cat /proc/sys/kernel/hostname
is 'its own host name' "$OUT" inside
is 'and not the host'"'"'s' "$(cat /proc/sys/kernel/hostname)" "$before"

# What tells about the host's kernel or other users reads as empty.
run bb sh -c 'for f in keys config.gz iomem kallsyms interrupts timer_list \
	kcore sched_debug; do cat /proc/$f 2>/dev/null; done | wc -c'
is 'masked files are empty' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" 0
ok 'outside one of them is not' sh -c '[ "$(cat /proc/interrupts /proc/keys |
	wc -c)" -gt 0 ]'
run bb cat /proc/self/mountinfo
unlike 'no path of the host in the mounts' "$OUT" \
	"$XDG_DATA_HOME|$T|llmbox-test"

# Signals: all that can be reached is the box.
sleep 86400 &
outside=$!
run bb sh -c "sleep 86400 & kill -KILL $outside; kill -KILL 1; kill -TERM 1
	kill -KILL -1; wait \$!; echo \$?"
is 'kill -1 reaches the box, but not its init' "$RC$OUT" 0137
ok 'and nobody outside' kill -0 "$outside"
kill "$outside"
run bb sh -c 'set -- /proc/[0-9]*; echo $#'
is 'it sees its own processes only' "$OUT" 2
ok 'outside there are more' sh -c 'set -- /proc/[0-9]*; [ $# -gt 2 ]'

# chroot(2) is allowed, and does not lead out of the box.
run bb sh -c 'mkdir -p /j/bin && cp /bin/busybox /j/bin/ && chroot /j \
	/bin/busybox sh -c "/bin/busybox ls /../../../etc" 2>&1'
unlike 'chroot: no way up' "$OUT" '^passwd$'
done_testing
