#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What of the host a box sees and may change: volumes and -C in all their ways,
# read-only also below other mounts (EN-04), and where changes to the root go.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

# A writable volume of root's own needs a word more; not that of a user.
is_root && W=--allow-root-volume || W=
bb()
{
	# shellcheck disable=SC2086 # none or one word
	box -r "$BUSYBOX" $W "$@"
}

fresh()
{
	rm -rf "$T/v"
	mkdir -p "$T/v/sub"
	echo host >"$T/v/file"
	echo deep >"$T/v/sub/deep"
}
cd "$T" || exit 1

# ---- -v

fresh
run bb -v "$T/v:/v" -- sh -c 'cat /v/file /v/sub/deep; echo new >/v/new
	echo changed >/v/file; rm /v/sub/deep; stat -c %u:%g /v/file'
is 'rw by default' "$(printf '%s' "$OUT$ERR" | tr -s '\n\t ' ' ')" 'host deep 0:0'
is 'rw: what was written' "$(cat v/new v/file)" 'new
changed'
ok 'rw: what was removed' test ! -e v/sub/deep
is 'rw: new files are the owner'"'"'s' "$(stat -c %u v/new)" "$(id -u)"
fresh
run bb -v ./v:/v:ro -- sh -c 'cat /v/file; touch /v/new; echo x >/v/file
	rm /v/file; chmod 777 /v/file; mkdir /v/d; ln /v/file /v/l'
is 'ro: can be read' "$OUT" host
is 'ro: six refusals' "$(grep -c 'Read-only' "$T/run.err")" 6
run bb -v ./v:/v:overlay -- sh -c 'echo new >/v/new; rm -r /v/sub; cat /v/*'
is 'overlay: seen in the box' "$OUT" 'host
new'
is 'overlay: not outside' "$(ls v)" 'file
sub'
run bb -v ./v/file:/etc/one-file:ro -v ./v:/deep/er/v:ro -- \
	cat /etc/one-file /deep/er/v/file
is 'a file, and a place that is made' "$OUT" 'host
host'
run bb -v ./v:/v -v ./v/sub:/v/sub:ro -- sh -c 'touch /v/a; touch /v/sub/b'
ok 'ro below rw: above it can be written' test -e v/a
ok 'ro below rw: it cannot' test ! -e v/sub/b
run bb -v ./v/sub:/v/sub -v ./v:/v:ro -- sh -c 'touch /v/c; touch /v/sub/d'
ok 'rw below ro, in the other order' test -e v/sub/d -a ! -e v/c

# refused TEXT ARG...
refused()
{
	wanted=$1
	shift
	run bb "$@" -- sh -c 'echo started'
	is "$*: status" "$RC" 125
	is "$*: nothing started" "$OUT" ''
	like "$*: says why" "$ERR" "^llmbox: .*$wanted"
}

refused "$T/none" -v "$T/none:/v"
refused 'write \./v' -v v:/v
refused 'relative' -v ./v:relative
refused '' -v ./v
refused '' -v ./v:/v:rx
refused '' -v ./v:/
refused '' -v ./v:/proc
refused '' -v ./v:/dev
refused '' -v ./v:/v/../../etc
refused '' -v ./v:/a -v ./v/sub:/a
refused 'overlay' -v "$XDG_DATA_HOME:/d"
refused 'overlay' -v "$T:/t"
mkdir -p "$XDG_DATA_HOME/llmbox/below"
refused 'overlay' -v "$XDG_DATA_HOME/llmbox/below:/d"
ln -s "$XDG_DATA_HOME" "$T/innocent"
refused 'overlay' -v "$T/innocent:/d"
cp "$BUSYBOX" "$T/v/image.tar"
refused '' -v ./v:/v -r ./v/image.tar
echo '{}' >"$T/v/p.json"
refused '' -v ./v:/v --policy ./v/p.json
refused '' -v ./v:/v --report ./v/report
if is_root; then
	W=
	refused 'allow-root-volume' -v ./v:/v
	refused 'allow-root-volume' -C ./v:rw
	W=--allow-root-volume
	mkdir -m 755 "$T/owned"
	chown 12345:12346 "$T/owned"
	chmod 755 "$T"
	run box -r "$BUSYBOX" -v "$T/owned:/v" -- \
		sh -c 'echo x >/v/f; stat -c %u:%g /v/f; chmod 4755 /v/f
			chown 5:5 /v/f'
	is 'a user'"'"'s volume: root inside' "$OUT" '0:0'
	is 'a user'"'"'s volume: that user outside' \
		"$(stat -c %u:%g "$T/owned/f")" 12345:12346
	run box -r "$BUSYBOX" -u someone -v "$T/owned:/v" -- \
		sh -c 'echo y >/v/g && stat -c %u:%g /v/g'
	is 'a user'"'"'s volume, -u: that user inside' "$OUT" 1000:1000
	is 'a user'"'"'s volume, -u: outside' \
		"$(stat -c %u:%g "$T/owned/g")" 12345:12346
	chmod 700 "$T"
else
	inapplicable 'volumes of other owners' 'needs the host root'
fi

# ---- -C

fresh
run bb -C ./v -- sh -c 'pwd; cat file; echo new >new; echo x >file; rm -r sub'
is '-C: the same path, and there' "$OUT" "$T/v
host"
is '-C: the source is untouched' "$(ls v; cat v/file)" 'file
sub
host'
like '-C: the last line counts' "$(tail -n 1 "$T/run.err")" \
	"^llmbox: [34] files changed in $T/v \(1 added, 1 changed, [12] removed\), not kept; use -C $T/v:rw"
is '-C: it is the only line' "$(wc -l <"$T/run.err" | tr -d ' ')" 1
run bb -C ./v -- true
is '-C: no change, no line' "$ERR" ''
run bb -q -C ./v -- touch new
is '-C -q: no line' "$ERR" ''
run bb -C ./v:ro -- sh -c 'cat file; touch new'
is '-C ro: read' "$OUT" host
like '-C ro: not written' "$ERR" 'Read-only'
run bb -C ./v:rw -- touch new
ok '-C rw: written' test -e v/new
is '-C rw: no line' "$ERR" ''
(cd v && "$LLMBOX" run -r "$BUSYBOX" -C . -- pwd) >"$T/out"
is '-C .' "$(cat "$T/out")" "$T/v"
run box -C ./v -- sh -c 'pwd; cat file'
is '-C on the host view' "$OUT" "$T/v
host"
run bb -C ./v -w /tmp -- pwd
is '-C with -w' "$OUT" /tmp
mkdir "$T/home"
HOME=$T/home
export HOME
refused '/' -C /
refused '[Hh]ome' -C "$HOME"
refused "$T/none" -C "$T/none"
refused '' -C "$T/v/file"
# ---- EN-04: other mounts below

if is_root && unshare -m true 2>/dev/null; then
	mkdir -p "$T/m"
	cat >"$T/mounted.sh" <<'SH'
mount -t tmpfs a "$1/m" && mkdir "$1/m/sub" &&
	mount -t tmpfs -o nosuid,nodev,noexec b "$1/m/sub" || exit 9
shift
exec "$@"
SH
	run unshare -m sh "$T/mounted.sh" "$T" "$LLMBOX" run -r "$BUSYBOX" \
		-v "$T/m:/m:ro" -- sh -c 'touch /m/a; touch /m/sub/b; ls -R /m'
	is 'ro, mounts below: both refused' \
		"$(grep -c 'Read-only\|Permission' "$T/run.err")" 2
	unlike 'ro, mounts below: nothing was made' "$OUT" '^[ab]$'
else
	inapplicable 'ro, mounts below' 'needs the host root'
fi
cat >"$T/mounted.sh" <<'SH'
mount -t tmpfs a "$1/m" && mkdir "$1/m/sub" &&
	mount -t tmpfs -o nosuid,nodev,noexec b "$1/m/sub" || exit 9
shift
exec "$@"
SH
mkdir -p "$T/m"
if ! is_root && unshare -Urm true 2>/dev/null; then
	run unshare -Urm sh "$T/mounted.sh" "$T" "$LLMBOX" run -r "$BUSYBOX" \
		-v "$T/m:/m:ro" -- sh -c 'touch /m/a; touch /m/sub/b; ls -R /m'
	unlike 'ro, mounts below, locked flags: never writable' "$OUT" '^[ab]$'
else
	inapplicable 'ro, mounts below, locked flags' 'for an ordinary user'
fi

# What can't be done with a mount below is told by its name. as_mounter runs
# llmbox where a proc is mounted at $T/m/proc.
mkdir -p "$T/m/proc"
cat >"$T/mounted.sh" <<'SH'
mount -t proc p "$1/m/proc" || exit 9
shift
exec "$@"
SH
as_mounter()
{
	if is_root; then
		unshare -m sh "$T/mounted.sh" "$T" "$LLMBOX" run "$@"
	else
		unshare -Urmpf sh "$T/mounted.sh" "$T" "$LLMBOX" run \
			--identity one "$@"
	fi
}
if is_root; then
	# shellcheck disable=SC2086 # none or one word
	run as_mounter -r "$BUSYBOX" $W -v "$T/m:/m:rw" -- true
else
	run as_mounter -r "$BUSYBOX" -v "$T/m:/m:overlay" -- true
fi
if [ "$RC" -eq 9 ]; then
	skip 'a mount below that can not be taken' 'proc can not be mounted'
else
	is 'a mount below that can not be taken: status' "$RC" 125
	like 'a mount below that can not be taken is named' "$ERR" \
		"$T/m/proc.* mounted in it \\(proc\\).*use access ro"
	run as_mounter -r "$BUSYBOX" -v "$T/m:/m:ro" -- ls -A /m/proc
	is 'and with access ro it is there' "$RC$OUT" 0
fi

# Targets are what the image's links make of them.
mkdir -p "$T/linked/real/b" "$T/w1" "$T/w2/b"
tar -C "$T/linked" -xf "$BUSYBOX"
ln -s real "$T/linked/a"
tar -C "$T/linked" --owner=0 --group=0 -cf "$T/linked.tar" .
echo 1 >"$T/w1/f"
for second in /real /real/b /a; do
	run box -r "$T/linked.tar" -v "$T/w1:/a/b:ro" -v "$T/w2:$second:ro" \
		-- cat /a/b/f
	case $second in
	/a) is 'nested targets by one name' "$OUT$RC" 10 ;;
	*)
		is "$second covers /a/b: refused" "$RC" 125
		like "$second covers /a/b: named" "$ERR" 'on /a/b'
		;;
	esac
done

# ---- --tmpfs, --read-only, --writes

run bb --tmpfs /scratch:1m --tmpfs /more -- sh -c 'echo x >/scratch/f
	cat /scratch/f; touch /more/g && df -k /scratch | tail -n 1'
like '--tmpfs' "$OUT" '^x$'
like '--tmpfs: its size' "$OUT" ' 1024 .* /scratch$'
run bb --tmpfs relative -- true
is '--tmpfs relative: status' "$RC" 125
run bb --read-only -- sh -c 'touch /x; touch /etc/x; touch /tmp/x && echo tmp
	touch /dev/shm/x && echo shm'
is '--read-only: the root' "$(grep -c 'Read-only' "$T/run.err")" 2
run bb --read-only -v ./v:/not/there:ro -w /not/here -- \
	sh -c 'pwd; ls -d /not/there'
is '--read-only: places are made all the same' "$OUT" '/not/here
/not/there'
run bb --writes none -- touch /x
isnt '--writes none' "$RC" 0
run bb --writes disk -- sh -c 'echo kept >/file; rm -r /etc; cat /file'
is '--writes disk' "$RC$OUT" 0kept
is '--writes disk: nothing is left' "$(find "$XDG_STATE_HOME/llmbox/scratch" \
	"$XDG_RUNTIME_DIR" -mindepth 1)" ''
run bb -- sh -c 'ls /file; ls -d /etc'
is 'and the image is as it was' "$OUT" /etc
done_testing
