#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that drop their rights or restore owners, in each identity that the
# caller can have, and what becomes of the caller's own groups.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'
need tar python3

mkdir "$T/in"
echo text >"$T/in/npm"
echo text >"$T/in/far"
echo text >"$T/in/www"
mkdir "$T/give"
# Owners that packages for npm, nvm and yarn have been seen with.
tar -C "$T/in" -cf "$T/give/owners.tar" --owner=501 --group=20 npm
tar -C "$T/in" -rf "$T/give/owners.tar" --owner=302912903 --group=1234567 far
tar -C "$T/in" -rf "$T/give/owners.tar" --owner=33 --group=33 www
chmod -R a+rX "$T/give"

bb()
{
	box --identity "$identity" -r "$BUSYBOX" -v "$T/give:/give:ro" -- \
		sh -c "$1"
}

owners()
{
	if [ "$identity" = one ]; then
		npm=0:0 www=0:0 nobody=0
	else
		npm=501:20 www=33:33 nobody=65534
	fi
	run bb 'tar -xf /give/owners.tar && stat -c %u:%g npm far www'
	is "$identity: tar -x as root keeps the owners there are" \
		"$RC$(echo "$OUT" | tr '\n' ' ')" "0$npm 0:0 $www "
	run bb 'tar -xof /give/owners.tar && stat -c %u:%g www'
	is "$identity: and none if it is told so" "$RC$OUT" 00:0
	run bb 'cp -p /give/owners.tar f && cp -a /give d && ls d f >/dev/null'
	is "$identity: cp -a from a volume" "$RC" 0
	run bb 'su nobody -s /bin/sh -c "id -u"'
	is "$identity: su runs its command" "$RC$OUT" 0$nobody
	run bb 'echo "ann:x:33:33::/:/bin/sh" >>/etc/passwd; su - ann -c "id -u"'
	is "$identity: su - too, to a user made inside" \
		"$RC$OUT" "0${www%:*}"
	run bb 'start-stop-daemon -S -c nobody -x /bin/id -- -u'
	is "$identity: start-stop-daemon -c" "$RC$OUT" "0$nobody"
}

# As the methods of apt do it. The host's python3 in the host's /usr.
drops()
{
	run box --identity "$identity" -- python3 -c '
import os
os.setgroups([0])
os.setegid(65534)
os.seteuid(100)
print(os.geteuid(), os.getegid())'
	if [ "$identity" = one ]; then
		is "$identity: a drop of rights is said to succeed" \
			"$RC$OUT" '00 0'
	else
		is "$identity: a drop of rights is real" "$RC$OUT" '0100 65534'
	fi
}

if is_root; then
	identities=shifted
elif has_range; then
	identities='one range'
else
	identities=one
	skip_range 'a range of ids'
fi
for identity in $identities; do
	owners
	drops
done

# ---- groups of the caller

# A directory that only a second group of the caller may look into. Only root
# can make one and be such a caller.
if ! is_root; then
	inapplicable 'groups of the caller' 'only root can be in any group'
	done_testing
fi
caller=61234
group=61235
mkdir -p "$T/bin" "$T/home" "$T/shared/project"
cp "$LLMBOX" "$T/bin/llmbox"
cp "$BUSYBOX" "$T/home/busybox.tar"
echo text >"$T/shared/project/file"
chown -R $caller:$caller "$T/home"
chown -R root:$group "$T/shared"
chmod 750 "$T/shared"
chmod 770 "$T/shared/project"
chmod 711 "$T" "$T/bin"

as_caller()
{
	setpriv --reuid="$caller" --regid="$caller" --groups="$1" env -i \
		HOME="$T/home" PATH="$PATH" "$T/bin/llmbox" run \
		-r "$T/home/busybox.tar" -v "$T/shared/project:/m:rw" -- \
		sh -c 'cat /m/file; id -G; echo >/m/made'
}
run as_caller $group
is 'one: the volume is there, and its group counts' \
	"$(echo "$OUT" | tr '\n' ' ')" 'text 0 65534 '
is 'one: writing too' "$RC" 0
is 'one: what was made belongs to the caller' \
	"$(stat -c %u:%g "$T/shared/project/made")" $caller:$caller
run as_caller $caller
isnt 'one: without the group there is no volume' "$RC" 0
like 'and the error names it' "$ERR" 'shared/project'
run box -r "$BUSYBOX" -- id -G
is 'shifted: the caller has no groups inside' "$OUT" 0
done_testing
