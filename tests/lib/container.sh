#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# container.sh ROOT PROC COMMAND...: runs a command in what a container engine
# makes of the tree ROOT (with busybox): namespaces, a root of its own, sysfs
# and a list of nodes in /dev; parts of /proc and /sys covered or read-only
# where PROC is masked, none of that where it is unmasked. As root the command
# runs as the tree's user someone, on an overlay as engines make it; started by
# an ordinary user it is root of a user namespace, as with rootless engines.
#
# The system-call profile is put on it from outside (tests/lib/degrade.c).
set -eu
root=$1 proc=$2
shift 2
if [ "${CONTAINER_INSIDE-}" != yes ]; then
	export CONTAINER_INSIDE=yes
	user=
	[ "$(id -u)" -eq 0 ] || user=-Ur
	# shellcheck disable=SC2086 # one word, or none
	exec unshare $user -m -p -f -n -i -u --propagation private \
		sh "$0" "$root" "$proc" "$@"
fi

# What the box is to find is a lower layer of its own overlay.
where=$root.mnt
mkdir -p "$where" "$root.rw"
mount -t tmpfs rw "$root.rw"
mkdir "$root.rw/u" "$root.rw/w"
mount -t overlay overlay "$where" \
	-o "lowerdir=$root,upperdir=$root.rw/u,workdir=$root.rw/w,userxattr" ||
	mount --bind "$root" "$where"
cd "$where"
mount -t proc -o nosuid,nodev,noexec proc proc
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
mount -t tmpfs -o mode=755 dev dev
mkdir dev/pts dev/shm old
for node in null zero full random urandom tty; do
	: >dev/$node
	mount --bind /dev/$node dev/$node
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 shm dev/shm
mount -t tmpfs -o mode=1777 tmp tmp
mount -t cgroup2 -o ro,nosuid,nodev,noexec cgroup sys/fs/cgroup 2>/dev/null ||
	:
if [ "$proc" = masked ]; then
	for file in keys kcore timer_list sched_debug; do
		[ ! -e proc/$file ] || mount --bind /dev/null proc/$file
	done
	for dir in proc/acpi proc/scsi sys/firmware; do
		[ ! -d $dir ] || mount -t tmpfs -o ro covered $dir
	done
	for part in bus fs irq sys sysrq-trigger; do
		[ -e proc/$part ] || continue
		mount --bind proc/$part proc/$part
		mount -o remount,bind,ro proc/$part
	done
fi
pivot_root . old
cd /
export PATH=/bin HOME=/home USER=someone
unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR
if [ "$(/bin/sed 's/ *\([0-9]*\) *\([0-9]*\).*/\1\2/' /proc/self/uid_map)" = 00 ]
then
	/bin/umount -l /old
	/bin/chown 1000:1000 /home
	# shellcheck disable=SC2016 # of the other shell
	exec /bin/su -m -s /bin/sh someone -- -c 'exec "$@"' sh "$@"
fi
/bin/umount -l /old
exec "$@"
