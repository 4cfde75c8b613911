#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash # as near to busybox as it knows
# Process 1 of vm.sh's machine, from the initramfs: puts the root together as a
# system's own start would, and hands over to guest_run.sh. An error ends the
# machine without a status, which vm.sh reports with what the console says.
set -eu
PATH=/bin
export PATH
/bin/busybox --install -s /bin
trap 'poweroff -f' EXIT
# shellcheck source=/dev/null # vm.sh writes it
. /settings

mkdir -p /proc /sys /dev /host /top /root /run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
xargs modprobe -a </modules

# The host's tree; nothing that is written reaches it.
mount -t virtiofs -o ro root /host
mount -t tmpfs -o mode=755 tmpfs /top
mkdir /top/upper /top/work
(cd /top/upper && cpio -idm 2>/dev/null) </common.cpio
rm /common.cpio
mount -t overlay -o lowerdir=/host,upperdir=/top/upper,workdir=/top/work \
	overlay /root

mount --move /dev /root/dev
mount --move /proc /root/proc
mount --move /sys /root/sys
mkdir -p /root/dev/pts /root/dev/shm /root/vm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /root/dev/pts
mount -t tmpfs -o mode=1777 tmpfs /root/dev/shm
mount -t tmpfs -o mode=755 tmpfs /root/run
ln -s /proc/self/fd /root/dev/fd
for number in 0:stdin 1:stdout 2:stderr; do
	ln -s "/proc/self/fd/${number%:*}" "/root/dev/${number#*:}"
done
chmod 666 /root/dev/ptmx /root/dev/tty

mount -t ext4 /root/dev/vda /root/vm
mkdir -m 1777 /root/vm/tmp
mkdir /root/vm/home
if [ -n "$VM_OUT" ]; then
	mount -t virtiofs out "/root$VM_OUT"
fi

mount -t cgroup2 cgroup /root/sys/fs/cgroup
ifconfig lo 127.0.0.1 up

mkdir /root/run/vm
cp /bin/busybox /settings /command /guest_run.sh /root/run/vm/
trap - EXIT
exec switch_root /root /bin/sh /run/vm/guest_run.sh
