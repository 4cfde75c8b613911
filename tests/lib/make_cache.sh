#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_cache.sh DIR: the root filesystems and hostile files that the tests use,
# once for a build tree. What can't be made is left out, and the tests that
# need it say so.
#
# Expects the static helper at DIR/../lib/helper. The archives name no time,
# owner or place, so that two runs give the same bytes.
set -eu
cache=$1
src=$(cd "$(dirname "$0")" && pwd)
helper=$cache/../lib/helper
rm -rf "$cache"
mkdir -p "$cache"

# pack TREE ARCHIVE
pack()
{
	tar --sort=name --mtime=@1700000000 --owner=0 --group=0 \
		--numeric-owner --format=gnu -C "$1" -cf "$2" .
	chmod -R u+rwx "$1"
	rm -rf "$1"
}

# base TREE: what both roots have.
base()
{
	mkdir -p "$1/bin" "$1/dev" "$1/etc" "$1/home" "$1/proc" "$1/root" \
		"$1/sys" "$1/tmp" "$1/usr" "$1/var"
	chmod 755 "$1" "$1"/*
	chmod 1777 "$1/tmp"
	chmod 700 "$1/root"
	cp "$helper" "$1/bin/helper"
	chmod 755 "$1/bin/helper"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh \
		nobody:x:65534:65534:nobody:/nonexistent:/bin/false \
		'someone:x:1000:1000:Some One:/home:/bin/sh' >"$1/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:65534: someone:x:1000: \
		>"$1/etc/group"
	chmod 644 "$1/etc/passwd" "$1/etc/group"
}

umask 022
base "$cache/helper"
pack "$cache/helper" "$cache/helper.tar"

busybox=$(command -v busybox || true)
# Debian's "busybox" package has a dynamic one, which runs in no other root.
if [ -n "$busybox" ] && ! ldd "$busybox" >/dev/null 2>&1; then
	base "$cache/busybox"
	ln -s bin "$cache/busybox/sbin"
	ln -s ../bin "$cache/busybox/usr/bin"
	cp "$busybox" "$cache/busybox/bin/busybox"
	chmod 755 "$cache/busybox/bin/busybox"
	for applet in $("$busybox" --list); do
		[ "$applet" = busybox ] ||
			ln -s busybox "$cache/busybox/bin/$applet"
	done
	pack "$cache/busybox" "$cache/busybox.tar"
	with_busybox="--busybox $busybox"
else
	echo 'make_cache: no static busybox (Debian: busybox-static)' >&2
	with_busybox=
fi

if command -v python3 >/dev/null 2>&1; then
	# shellcheck disable=SC2086 # none or two words
	python3 "$src/make_inputs.py" --out "$cache/inputs" $with_busybox
else
	echo 'make_cache: no python3: tests of damaged input are skipped' >&2
fi
