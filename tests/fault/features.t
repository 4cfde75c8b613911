#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HO-04: a host where one feature is missing or refused. Each time the box
# either works, and its report says what was lost, or nothing runs and one line
# names the feature. (make check-degraded runs much of the suite so.)
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

run box -r "$BUSYBOX" -- true
is 'the image is there' "$RC" 0

# degraded SPEC ARG...: llmbox run ARG... on such a host
degraded()
{
	degraded_spec=$1
	shift
	"$DEGRADE" "$degraded_spec" -- "$LLMBOX" run "$@"
}

# works SPEC
works()
{
	run degraded "$1" -r "$BUSYBOX" -- sh -c 'echo works'
	is "$1: works" "$RC $OUT" '0 works'
}

# stops SPEC REGEX
stops()
{
	run degraded "$1" -- sh -c 'echo started'
	is "$1: nothing runs" "$RC $OUT" '125 '
	is "$1: one line" "$(wc -l <"$T/run.err" | tr -d ' ')" 1
	like "$1: names it" "$ERR" "^llmbox: .*$2"
}

# Container engines' filters of today and of earlier years.
for spec in clone3=ENOSYS clone3=EPERM close_range=ENOSYS close_range=EPERM \
	keyctl=ENOSYS keyctl=EPERM memfd_create=ENOSYS memfd_create=EPERM \
	landlock_create_ruleset=ENOSYS landlock_create_ruleset=EPERM \
	statx=ENOSYS faccessat2=ENOSYS epoll_pwait2=ENOSYS kcmp=ENOSYS \
	getrandom=ENOSYS copy_file_range=ENOSYS renameat2=ENOSYS \
	socket:16=EPERM chroot=EPERM listener=EINVAL; do
	works $spec
done

filter='the system-call filter that llmbox was started under refuses'
for call in mount_setattr fsopen fsconfig fsmount open_tree move_mount mount \
	umount2 pivot_root sethostname capset seccomp pidfd_open; do
	stops $call=ENOSYS "$filter $call\\(2\\)"
done
for call in mount mount_setattr pidfd_open; do
	stops $call=EPERM "$filter $call\\(2\\)"
done
stops userns=EPERM "$filter user namespaces"
stops userns=ENOSPC 'too many user namespaces'
stops ns:0x08000000=EPERM "$filter ipc namespaces"
stops ns:0x20000000=EPERM "$filter pid namespaces"
stops ns:0x40000000=EPERM "$filter network namespaces"
stops ns:0x02000000=EPERM "$filter cgroup namespaces"
stops ioctl:0x8914=EPERM 'loopback up: perhaps refused by the system-call filter'
stops prctl:24=EPERM 'capabilities: .*filter'
# The image is unpacked with these.
store=$XDG_DATA_HOME
export XDG_DATA_HOME="$T/data2"
mkdir -m 700 "$XDG_DATA_HOME"
run degraded openat2=ENOSYS -r "$BUSYBOX" -- true
is 'openat2=ENOSYS: an import stops' "$RC" 125
like 'openat2=ENOSYS: names it' "$ERR" "^llmbox: .*$filter openat2\\(2\\)"
run degraded close_range=EPERM -r "$BUSYBOX" -- sh -c 'echo works'
is 'close_range=EPERM: an import works' "$RC $OUT" '0 works'
export XDG_DATA_HOME="$store"

# ---- what is lost is said, and can be insisted on

# held NAME: by which means, and whether it is soft
held()
{
	json "$T/report" "d['isolation']['$1'] + (' soft' if '$1' in d['soft'] else '')"
}

need python3
run degraded keyctl=EPERM --require keyring --report "$T/report" -- true
is 'no session keyring: required' "$RC" 0
is 'no session keyring: held by' "$(held keyring)" seccomp
run degraded memfd_create=ENOSYS -r "$BUSYBOX" --report "$T/report" -- true
is 'no memory files: the disk limit' "$(held disk)" 'rlimit soft'
run degraded memfd_create=ENOSYS -r "$BUSYBOX" --require disk -- true
is 'no memory files: disk is required' "$RC" 125
like 'no memory files: says so' "$ERR" '^llmbox: disk can.t be held for sure'
run degraded landlock_create_ruleset=ENOSYS --network host -- true
is 'no Landlock: the host network is refused' "$RC" 125
like 'no Landlock: says so' "$ERR" '^llmbox: network host .*Landlock'
run degraded landlock_create_ruleset=ENOSYS --network host \
	--best-effort network --report "$T/report" -- true
is 'no Landlock, accepted: runs' "$RC" 0
is 'no Landlock, accepted: the report' "$(held network) $(held landlock)" \
	'host soft none'
run degraded landlock_create_ruleset=ENOSYS --network host \
	--best-effort network --require landlock -- true
is 'no Landlock: it is required' "$RC" 125
done_testing
