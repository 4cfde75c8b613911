#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A package with setuid programs beside a writable volume: it installs, its
# programs have their bits in the box, and nothing on the volume has one.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/lib/box.sh"
[ -n "${DEBIAN-}" ] || skip_all 'there is no Debian tree'
need dpkg-deb

allow=
is_root && allow=--allow-root-volume
V=$T/v
P=$T/pkg
mkdir -m 755 "$V"
mkdir -p "$P/DEBIAN" "$P/usr/bin" "$P/var/local/llmbox-test"
cat > "$P/DEBIAN/control" <<'CONTROL'
Package: llmbox-test-setid
Version: 1
Architecture: all
Maintainer: nobody <nobody@localhost>
Description: a test
CONTROL
echo 'a program' > "$P/usr/bin/llmbox-test"
cp "$P/usr/bin/llmbox-test" "$P/usr/bin/llmbox-test-group"
chmod 4755 "$P/usr/bin/llmbox-test"
chmod 2755 "$P/usr/bin/llmbox-test-group" "$P/var/local/llmbox-test"
dpkg-deb --root-owner-group -b "$P" "$V/p.deb" >/dev/null

# shellcheck disable=SC2086
run box -r "$DEBIAN" $allow -v "$V:/v" -w /v -- sh -c '
dpkg -i p.deb && dpkg --audit && dpkg -V llmbox-test-setid &&
stat -c "%a %n" /usr/bin/llmbox-test* /var/local/llmbox-test &&
dpkg-deb -x p.deb x && cp -a /usr/bin/llmbox-test . &&
rm /usr/bin/su && cp -p llmbox-test /usr/bin/su && apt-get --version'
is 'dpkg -i: status' "$RC" 0
like 'the bits are there' "$(echo "$OUT" | tr '\n' ' ')" \
	'4755 /usr/bin/llmbox-test 2755 /usr/bin/llmbox-test-group 2755 /var'
ok 'the volume has the files' test -f "$V/x/usr/bin/llmbox-test"
is 'and no bit' "$(find "$V" ! -type d -perm /6000)" ''
done_testing
