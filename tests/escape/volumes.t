#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a writable volume must not let a box do to the host; setid.t has more.
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
