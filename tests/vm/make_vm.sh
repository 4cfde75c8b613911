#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a directory with what vm.sh needs and the machine may not have: qemu,
# virtiofsd, their libraries, and the kernel of Debian's cloud images with its
# modules. Fetched by this machine's own apt and only unpacked, never installed,
# the first time; then kept in ${LLMBOX_TEST_CACHE:-$HOME/.cache/llmbox-tests}.
# Prints nothing, and the reason on stderr, where it can't be had; the tests
# that need it skip then.
set -eu
cache=${LLMBOX_TEST_CACHE:-${HOME:?}/.cache/llmbox-tests}

give_up()
{
	echo "make_vm: $*" >&2
	exit 0
}

[ "$(uname -m)" = x86_64 ] || give_up 'only for x86_64 so far'
command -v apt-get >/dev/null 2>&1 || give_up 'no apt-get here'
command -v busybox >/dev/null 2>&1 || give_up 'busybox is not installed'
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
# The number changes with the list of packages.
parts=$cache/vm-${suite:-stable}-1

if [ -d "$parts" ]; then
	echo "$parts"
	exit
fi
mkdir -p "$cache" 2>/dev/null || give_up "can't make $cache"
exec 9>"$cache/lock-vm"
flock 9
if [ -d "$parts" ]; then
	echo "$parts"
	exit
fi

# The libraries are those that an installation would add.
list_packages()
{
	LC_ALL=C apt-get -s install --no-install-recommends qemu-system-x86 \
		"$(apt-cache search --names-only '^virtiofsd$' |
			sed 's/ .*//;q' | grep . || echo qemu-system-common)" |
		awk '$1 == "Inst" { print $2 }'
	# The package without a version names the one that has the kernel.
	apt-cache depends --important linux-image-cloud-amd64 |
		awk '$1 == "Depends:" && $2 ~ /^linux-image/ { print $2 }'
}

rm -rf "$parts.tmp"
mkdir -p "$parts.tmp/deb" "$parts.tmp/root"
cd "$parts.tmp/deb"
packages=$(list_packages 2>/dev/null)
case $packages in
*linux-image*) ;;
*) give_up "apt has no linux-image-cloud-amd64: apt-get update?" ;;
esac
# shellcheck disable=SC2086 # a list of words
apt-get -q download -o APT::Sandbox::User=root $packages >&2 9>&- ||
	give_up 'apt-get download failed: apt-get update?'
for package in *.deb; do
	dpkg-deb -x "$package" "$parts.tmp/root"
done
for modules in "$parts.tmp/root/lib/modules"/*; do
	busybox depmod -b "$parts.tmp/root" "${modules##*/}"
done
mv "$parts.tmp/root" "$parts"
rm -rf "$parts.tmp"
echo "$parts"
