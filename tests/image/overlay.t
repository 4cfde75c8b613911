#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The image is a lower directory: whatever the box does to it, the next box has
# it as it was (OV-03), also where llmbox's own files lie on a filesystem that
# can't carry an upper directory (OV-02).
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

bb()
{
	box -r "$BUSYBOX" "$@"
}

# In the box's words, so that a stored tree's owners don't matter.
picture='find / -xdev \( -path /tmp -o -path /run -o -path /proc -o -path /dev \
	-o -path /sys \) -prune -o -exec stat -c "%n %F %a %u:%g %s %Y" {} + |
	grep -v " directory \|^/etc/\(host\|resolv\)" | sort; cat /bin/helper /etc/passwd | md5sum'
run bb sh -c "$picture"
is 'a picture of the image: status' "$RC" 0
before=$OUT
like 'a picture of the image: files' "$before" '^/bin/busybox regular file'

for writes in memory disk; do
	run bb --writes $writes -- sh -c 'rm -rf /etc; mkdir /etc
		ls -A /etc | wc -l; touch /etc/new; ls -A /etc'
	is "$writes: /etc made anew is empty" "$(printf '%s' "$OUT$ERR" | tr -s '\n\t ' ' ')" '0 new'
	run bb --writes $writes -- sh -c 'cd /etc && rm passwd &&
		mkdir passwd && rmdir passwd && echo x >passwd && cat passwd &&
		ls -A /etc | grep -c passwd'
	is "$writes: a file to a directory and back" "$(printf '%s' "$OUT$ERR" | tr -s '\n\t ' ' ')" 'x 1'
	run bb --writes $writes -- sh -c 'ln /bin/busybox /h && echo more >>/h &&
		tail -c 5 /h; mv /home /house && ls -d /house; chmod 700 /var
		chown 1000 /var 2>/dev/null; rm -r /root /usr; : >/bin/helper
		mv /bin/sh /bin/hs; ln -s nowhere /bin/sh; echo done'
	is "$writes: hard link, rename, modes, truncation" "$(printf '%s' "$OUT$ERR" | tr -s '\n\t ' ' ')" \
		'more /house done'
	run bb sh -c "$picture"
	is "$writes: the next box has the image as it was" "$OUT" "$before"
done
run bb sh -c 'mkdir /d && touch /d/f && rm -r /d && mkdir /d && ls -A /d | wc -l'
is 'a directory deleted and made again' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" 0
run bb sh -c 'setfattr -n user.overlay.opaque -v y /etc 2>/dev/null; ls /etc/passwd'
is 'no attribute of the box steers its overlay' "$OUT" /etc/passwd

# A lower directory with another mount below it: what is there is left out or
# seen, and never a reason not to start in silence.
if is_root && unshare -m true 2>/dev/null; then
	mkdir "$T/tree"
	tar -C "$T/tree" -xf "$BUSYBOX"
	cat >"$T/mounted.sh" <<'SH'
mount -t tmpfs a "$1/home" && echo hidden >"$1/home/file" || exit 9
dir=$1
shift
"$@" -- sh -c 'echo up; ls /home; echo x >/home/new; echo $?'
ls "$dir/home"
SH
	run unshare -m sh "$T/mounted.sh" "$T/tree" "$LLMBOX" run -r "$T/tree"
	like 'a mount below the lower tree: it starts' "$OUT" '^up$'
	is 'a mount below the lower tree: not written through' \
		"$(tail -n 1 "$T/run.out")" file
else
	inapplicable 'a mount below the lower tree' 'needs the host root'
fi

# OV-02: state and store on an overlay.
need unshare
cat >"$T/overlaid.sh" <<'SH'
mount -t tmpfs t "$1/o" && cd "$1/o" && mkdir l u w m &&
	mount -t overlay -o lowerdir=l,upperdir=u,workdir=w,userxattr o m || exit 9
mkdir -m 700 m/data m/state m/runtime
export XDG_DATA_HOME="$1/o/m/data" XDG_STATE_HOME="$1/o/m/state" \
	XDG_RUNTIME_DIR="$1/o/m/runtime"
shift
"$@" --writes memory -- sh -c 'echo memory >/f; cat /f'
"$@" --writes disk -- sh -c 'echo disk >/f; cat /f'
echo "$?"
"$@" -- sh -c 'ls /f 2>/dev/null | wc -l'
SH
mkdir -p "$T/o"
chmod 711 "$T"
if is_root; then
	run unshare -m sh "$T/overlaid.sh" "$T" "$LLMBOX" run -r "$BUSYBOX"
else
	run unshare -Urm sh "$T/overlaid.sh" "$T" "$LLMBOX" run \
		--identity one -r "$BUSYBOX"
fi
if [ "$RC" -eq 9 ]; then
	skip 'state on an overlay' 'no overlay can be mounted here'
elif ! has_tmpfs_xattrs; then
	is 'state on an overlay: refused, as memory is no way out' \
		"$(sed -n 1p "$T/run.out")" 125
	like 'state on an overlay: the cure is named' "$ERR" XDG_STATE_HOME
else
	is 'state on an overlay: memory works' "$(sed -n 1p "$T/run.out")" \
		memory
	like 'state on an overlay: disk works, or is refused' \
		"$(sed -n 2,3p "$T/run.out" | tr '\n' ' ')" '^disk 0|^125'
	is 'state on an overlay: nothing is written to the image' \
		"$(tail -n 1 "$T/run.out" | tr -d ' ')" 0
fi
done_testing
