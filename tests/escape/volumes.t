#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a writable volume must not let a box do to the host.
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'

allow=
is_root && allow=--allow-root-volume
V=$T/v
mkdir -m 755 "$V"

# box_rw COMMAND: in the volume, as the box's root
box_rw()
{
	# shellcheck disable=SC2086
	run box -r "$BUSYBOX" $allow -v "$V:/v:rw" -w /v -- sh -c "$1"
}

# ---- setuid and setgid bits would be the host's, whatever the mount says

cp /bin/busybox "$V/own"
chmod 4755 "$V/own"
like 'outside, the bit can be set' "$(ls -l "$V/own")" '^-rws'
rm "$V/own"

box_rw 'cp /bin/busybox a; chmod 4755 a'
isnt 'chmod u+s fails' "$RC" 0
like 'and says why' "$ERR" 'not permitted'
box_rw 'cp /bin/busybox b; chmod 2755 b'
isnt 'chmod g+s fails' "$RC" 0
box_rw 'cp -p /bin/busybox c && chmod 0755 c && echo fine'
is 'other modes are fine' "$OUT" fine

# open(O_CREAT), mknod, fchmodat2 and openat2 with the bits. AT_FDCWD is -100.
case $(uname -m) in
x86_64)
	open='2 d 0101 04755' creat='85 d 04755' mknod='133 d 0104755 0'
	chmod='90 own 04755'
	;;
*)
	open='56 -100 d 0101 04755' creat=$open mknod='33 -100 d 0104755 0'
	chmod='53 -100 own 04755'
	;;
esac
for call in "$open" "$creat" "$mknod" "$chmod" '452 -100 own 04755 0'; do
	box_rw ": > own; helper syscall $call"
	like "call $call is refused" "$OUT" 'EPERM|ENOENT|EFAULT'
done
box_rw 'helper syscall 437 -100 x 0 24'
like 'openat2, whose mode is in memory, is not there' "$OUT" ENOSYS
is 'no file on the host has such a bit' \
	"$(find "$V" -perm /6000 | wc -l)" 0

run box -r "$BUSYBOX" -- sh -c 'cp /bin/busybox /tmp/a && chmod 4755 /tmp/a'
is 'without a writable volume the box has them for itself' "$RC" 0

# ---- capabilities of files

if is_root && command -v setcap >/dev/null 2>&1; then
	box_rw 'grep CapBnd /proc/self/status'
	is 'no SETFCAP beside a volume of root' \
		"$((0x$(echo "$OUT" | awk '{print $2}') >> 31 & 1))" 0
else
	inapplicable 'no SETFCAP beside a volume of root' 'needs host root and setcap'
fi

# ---- llmbox's own files

H=$T/home
mkdir -p "$H/in"
config="$XDG_CONFIG_HOME"
export XDG_CONFIG_HOME="$H/.config"
# shellcheck disable=SC2086
run box -r "$BUSYBOX" $allow -v "$H:/h:rw" -- true
is 'a volume over the place of a policy to come is refused' "$RC" 125
like 'and says what it would hold' "$ERR" "llmbox's own files"
# shellcheck disable=SC2086
run box -r "$BUSYBOX" $allow -v "$H/in:/h:rw" -- true
is 'a directory beside it is allowed' "$RC" 0
run box -r "$BUSYBOX" -v "$H:/h:overlay" -- true
is 'as overlay it is' "$RC" 0
export XDG_CONFIG_HOME="$config"

echo '{}' > "$H/in/policy.json"
ln -s "$H/in/policy.json" "$T/link.json"
# shellcheck disable=SC2086
run box --policy "$T/link.json" -r "$BUSYBOX" $allow -v "$H/in:/h:rw" -- true
is 'a policy that a link leads into the volume is refused' "$RC" 125
like 'by its name' "$ERR" link.json
done_testing
