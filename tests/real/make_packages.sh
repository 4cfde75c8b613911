#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_packages.sh DEBIAN: prints the path of a directory with the packages of
# packages.txt and all that they depend on, some 370 MB, so that the tests
# need not download them for each identity. Filled the first time, by apt-get
# in a box; kept in ${LLMBOX_TEST_CACHE:-$HOME/.cache/llmbox-tests}. Prints
# nothing, and the reason on stderr, where they can't be had.
set -eu
debian=$1
cache=${LLMBOX_TEST_CACHE:-${HOME:?}/.cache/llmbox-tests}
names=${LLMBOX_SRC:?run it by make check-real}/tests/real/packages.txt
# What was asked for, in the order that it was in, decides which directory.
debs=$cache/debs-$(basename "$debian" .tar.zst)-$(cksum <"$names" |
	cut -d ' ' -f 1)

give_up()
{
	echo "make_packages: $*" >&2
	exit 0
}

[ -n "$debian" ] || give_up 'there is no Debian tree'
if [ -d "$debs" ]; then
	echo "$debs"
	exit
fi
exec 9>"$cache/lock" || give_up "can't write $cache"
flock 9
if [ -d "$debs" ]; then
	echo "$debs"
	exit
fi
work=$(mktemp -d "$cache/debs.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -m 755 "$work/debs"
mkdir -m 700 "$work/data" "$work/state"
set -- -v "$work/debs:/var/cache/apt/archives" -v "$names:/packages.txt:ro"
[ "$(id -u)" -ne 0 ] || set -- "$@" --allow-root-volume
XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state \
	"${LLMBOX:?run it by make check-real}" run -r "$debian" \
	--network host "$@" -- sh -c '
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q update
	apt-get -q install -y --no-install-recommends --download-only \
		$(cat /packages.txt)' 9>&- >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	give_up 'apt-get could not download the packages'
}
rm -rf "$work/debs/lock" "$work/debs/partial"
chmod 644 "$work/debs"/*.deb
mv "$work/debs" "$debs"
echo "$debs"
