#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command on another kernel: Debian's cloud kernel, in a virtual machine
# that is gone afterwards.
#
#   vm.sh [-u USER] [-m MIB] [-c CPUS] [-t SECONDS] [-o DIR] -- COMMAND [ARG]...
#
#   -u USER   as USER, made in the machine if need be, in a control group that
#             is delegated to it; else as root
#   -m MIB    memory (1024)
#   -c CPUS   processors (1)
#   -t SECS   ends the machine after that time (300)
#   -o DIR    what is written below DIR stays; all other writes are lost
#
# $VM is the directory that make_vm.sh prints; the caller is root, for
# virtiofsd. The command sees the host's tree, read-only below an overlay, so
# that what was built here runs there; HOME, TMPDIR and XDG_RUNTIME_DIR lie on
# an ext4 of its own in /vm, as its root is no place for an overlay's upper
# layer. Its working directory is the caller's, its stdin empty, its environment
# a login's and what it was given by env(1). It has pure control groups v2 with
# all controllers and no network but loopback.
#
# The exit status is the command's; 124 after -t, 125 where the machine failed,
# with what it said on stderr. LLMBOX_VM_ACCEL=kvm uses the processor instead of
# emulating one, where that works.
#
# In this order: an initramfs with busybox, the modules that the devices need,
# guest_init.sh (what pid 1 does), guest_run.sh (what runs the command) and
# copies of what every test executes; virtiofsd for / and DIR; qemu. Output
# comes over virtio-serial ports, the status last. The machine ends before this
# script, by -t even where this script is killed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
user=root
memory=1024
cpus=1
seconds=300
out=

usage()
{
	sed -n 's/^#   \(vm\.sh .*\)/usage: \1/p' "$0" >&2
	exit 125
}

while getopts u:m:c:t:o: option; do
	case $option in
	u) user=$OPTARG ;;
	m) memory=$OPTARG ;;
	c) cpus=$OPTARG ;;
	t) seconds=$OPTARG ;;
	o) out=$(cd "$OPTARG" && pwd) || exit 125 ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
: "${VM:?the directory that make_vm.sh prints}"

work=$(mktemp -d "${TMPDIR:-/tmp}/llmbox-vm.XXXXXX") || exit 125
servers=
machine=

cleanup()
{
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$machine$servers" ] || kill $machine $servers 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 125' HUP INT TERM

die()
{
	echo "vm: $*" >&2
	cat "$work"/*.log >&2
	exit 125
}

# vm_run COMMAND...: a program of the directory, with its libraries.
vm_run()
{
	LD_LIBRARY_PATH=$VM/usr/lib/x86_64-linux-gnu:$VM/lib/x86_64-linux-gnu \
		exec "$@"
}

# first FILE...: the first that can be executed.
first()
{
	for first_file; do
		[ ! -x "$first_file" ] || break
	done
	echo "$first_file"
}

# words WORD...: for a shell to read again.
words()
{
	for word; do
		printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
	done
	echo
}

# list_common: the files of the programs that tests start again and again. Read
# through virtiofs at each start, they cost several times as much.
list_common()
{
	dpkg -L bash coreutils dash findutils gawk grep libacl1 libattr1 \
		libc-bin libc6 libgmp10 libmpfr6 libpcre2-8-0 libpython3.11-minimal \
		libreadline8 libselinux1 libsigsegv2 libtinfo6 mawk \
		python3.11-minimal sed tar util-linux 2>/dev/null |
		grep -E '^/(usr/)?(s?bin|lib(64)?)/' | grep -v /gconv/ |
		xargs -d '\n' realpath -q | sort -u |
		while read -r file; do
			[ ! -f "$file" ] || echo "${file#/}"
		done
}

make_initramfs()
{
	root=$work/initramfs
	kernel=$(cd "$VM/lib/modules" && ls)
	# The machine's devices and root; then what a kernel loads by itself when
	# a program asks for it, which needs a modprobe of the host.
	wanted='virtio_pci virtio_blk virtio_console virtiofs overlay
		nfnetlink vsock'
	modules=lib/modules/$kernel
	mkdir -p "$root/bin" "$root/$modules"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for module in $wanted; do
		sed -n "s,:, ,; \\,/$module\\.ko,p" "$VM/$modules/modules.dep"
	done | tr ' ' '\n' | sort -u |
		(cd "$VM/$modules" && busybox cpio -o -H newc) 2>/dev/null |
		(cd "$root/$modules" && busybox cpio -idm) 2>/dev/null
	cp "$VM/$modules"/modules.* "$root/$modules/"
	echo "$wanted" >"$root/modules"
	cp "$here/guest_init.sh" "$root/init"
	cp "$here/guest_run.sh" "$root/"
	{
		words cd "$PWD"
		printf 'exec '
		words "$@"
	} >"$root/command"
	{
		printf 'VM_USER='
		words "$user"
		printf 'VM_OUT='
		words "$out"
	} >"$root/settings"
	chmod 755 "$root/init"
	list_common | (cd / && busybox cpio -o -H newc) \
		>"$root/common.cpio" 2>/dev/null
	(cd "$root" && find . | busybox cpio -o -H newc) \
		>"$work/initrd" 2>/dev/null
}

# share TAG DIR OPTION...: sets $devices too.
share()
{
	share_tag=$1
	share_dir=$2
	shift 2
	(vm_run "$virtiofsd" --socket-path="$work/$share_tag.sock" \
		-o source="$share_dir" -o sandbox=chroot -o xattr "$@") \
		>"$work/$share_tag.log" 2>&1 &
	servers="$servers $!"
	rounds=0
	until [ -S "$work/$share_tag.sock" ]; do
		rounds=$((rounds + 1))
		[ $rounds -lt 500 ] || die "virtiofsd does not start"
		sleep 0.02
	done
	devices="$devices
		-chardev socket,id=$share_tag,path=$work/$share_tag.sock
		-device vhost-user-fs-pci,chardev=$share_tag,tag=$share_tag"
}

# port NUMBER FILE
port()
{
	devices="$devices -chardev file,id=port$1,path=$2
		-device virtserialport,chardev=port$1,nr=$1"
}

make_initramfs "$@" || die 'no initramfs'
truncate -s 16G "$work/disk" || die 'no disk'
/sbin/mke2fs -q -F -t ext4 -E lazy_itable_init=1,nodiscard -O ^has_journal \
	"$work/disk" >"$work/mke2fs.log" 2>&1 || die 'no file system'

devices='-device virtio-serial-pci'
virtiofsd=$(first "$VM/usr/libexec/virtiofsd" "$VM/usr/lib/qemu/virtiofsd" \
	/usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd)
share root / -o cache=always
[ -z "$out" ] || share out "$out" -o cache=none

# A fifo that is open for both ways lets nobody wait for its other end; with
# this one closed, cat(1) ends with qemu.
mkfifo "$work/1" "$work/2"
: >"$work/status"
exec 8<>"$work/1" 9<>"$work/2"
cat <"$work/1" 8>&- 9>&- &
cats=$!
cat <"$work/2" >&2 8>&- 9>&- &
cats="$cats $!"
port 1 "$work/1"
port 2 "$work/2"
port 3 "$work/status"

qemu=$(first "$VM/usr/bin/qemu-system-x86_64" /usr/bin/qemu-system-x86_64)
# shellcheck disable=SC2086 # a list of words
(vm_run timeout -k 5 "$seconds" "$qemu" -L "$VM/usr/share/qemu" \
	-L "$VM/usr/share/seabios" -nodefaults -no-user-config -display none \
	-no-reboot -M "q35,accel=${LLMBOX_VM_ACCEL:-tcg}" -cpu max \
	-smp "$cpus" -m "$memory" \
	-object "memory-backend-memfd,id=memory,size=${memory}M,share=on" \
	-numa node,memdev=memory \
	-kernel "$VM/boot/vmlinuz-$kernel" -initrd "$work/initrd" -append \
	'console=ttyS0 quiet loglevel=3 panic=-1 cgroup_no_v1=all mitigations=off' \
	-serial "file:$work/console.log" \
	-drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
	$devices 8>&- 9>&-) </dev/null >"$work/qemu.log" 2>&1 &
machine=$!
ended=0
wait $machine || ended=$?
machine=
exec 8>&- 9>&-
# shellcheck disable=SC2086
wait $cats
if [ $ended -eq 124 ] || [ $ended -eq 137 ]; then
	echo "vm: ended after $seconds seconds" >&2
	exit 124
fi
status=$(cat "$work/status")
[ -n "$status" ] || die 'the machine gave no status'
exit "$status"
