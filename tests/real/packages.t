#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Package tools in a box whose caller has one id, a range, or root's shifted ones:
# a package of our own, with owners that a one-id box has not.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/lib/box.sh"
[ -n "${DEBIAN-}" ] || skip_all 'there is no Debian tree'
need dpkg-deb

mkdir -p "$T/pkg/DEBIAN" "$T/pkg/usr/share/llmbox-test"
cat > "$T/pkg/DEBIAN/control" <<'CONTROL'
Package: llmbox-test
Version: 1
Architecture: all
Maintainer: nobody <nobody@localhost>
Description: a test
CONTROL
cat > "$T/pkg/DEBIAN/postinst" <<'POSTINST'
#!/bin/sh
set -e
useradd --system --no-create-home llmbox-test
chown llmbox-test /usr/share/llmbox-test/file
chown 33:33 /usr/share/llmbox-test
install -o 33 -g 33 -m 4750 /bin/true /usr/share/llmbox-test/true
POSTINST
chmod 755 "$T/pkg/DEBIAN/postinst"
echo text > "$T/pkg/usr/share/llmbox-test/file"
dpkg-deb --root-owner-group -b "$T/pkg" "$T/p.deb" >/dev/null

run box -r "$DEBIAN" -v "$T:/in:ro" -- sh -c '
dpkg -i /in/p.deb && dpkg --audit && cat /usr/share/llmbox-test/file'
is 'dpkg -i: status' "$RC" 0
like 'dpkg -i: the files are there' "$OUT" '^text$'
run box -r "$DEBIAN" -- sh -c '
useradd -m ann && su ann -s /bin/sh -c "echo in; id -un" && userdel ann'
is 'useradd, su, userdel' "$RC" 0
like 'su runs its command' "$OUT" '^in$'
run box -r "$DEBIAN" -- sh -c '
cd /tmp && : >f && tar -cf t --owner=501 --group=20 f && rm f && tar -xf t'
is 'tar -x of other owners' "$RC$ERR" 0
run box -r "$DEBIAN" -- apt-config dump APT::Sandbox::User
if is_root || has_range; then
	like 'apt drops its rights' "$OUT" '_apt'
else
	like 'apt stays root' "$OUT" '"root"'
fi
done_testing
