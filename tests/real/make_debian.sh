#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the path of a Debian root filesystem (minbase and python3-minimal), a
# .tar.zst of some 60 MB. Made by mmdebstrap from this machine's own mirror the
# first time, then kept in ${LLMBOX_TEST_CACHE:-$HOME/.cache/llmbox-tests}.
# Prints nothing, and the reason on stderr, where it can't be had; the tests
# that need it skip then.
set -eu
cache=${LLMBOX_TEST_CACHE:-${HOME:?}/.cache/llmbox-tests}
packages=python3-minimal,procps
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
# The number changes with the list of packages.
tarball=$cache/debian-${suite:-stable}-1.tar.zst

give_up()
{
	echo "make_debian: $*" >&2
	exit 0
}

if [ -s "$tarball" ]; then
	echo "$tarball"
	exit
fi
command -v mmdebstrap >/dev/null 2>&1 || give_up 'mmdebstrap is not installed'
mkdir -p "$cache" 2>/dev/null || give_up "can't make $cache"
exec 9>"$cache/lock"
flock 9
if [ -s "$tarball" ]; then
	echo "$tarball"
	exit
fi

# apt knows its mirror, in whichever form it is written down.
# shellcheck disable=SC2016 # apt's variables
mirror=$(apt-get indextargets \
	--format '$(CODENAME) $(ORIGIN) $(COMPONENT) $(REPO_URI)' \
	'Created-By: Packages' 2>/dev/null |
	awk -v suite="$suite" '$1 == suite && $2 == "Debian" && $3 == "main" {
		print $4
		exit
	}')
set --
[ -z "$mirror" ] || set -- "deb $mirror $suite main"
mmdebstrap --quiet --variant=minbase --include="$packages" "${suite:-stable}" \
	"$tarball.tmp.tar.zst" "$@" 9>&- >&2 ||
	give_up 'mmdebstrap failed'
mv "$tarball.tmp.tar.zst" "$tarball"
echo "$tarball"
