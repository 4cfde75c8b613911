#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What lies on a volume beside files and directories: sockets of the host,
# fifos, devices, set-user-ID files, the host's /proc. Each gives nothing in the
# box, and does outside.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need python3
is_root && allow=--allow-root-volume || allow=
V=$T/v
mkdir -p "$V/deep/er"

host_box()
{
	# shellcheck disable=SC2086 # none or one word
	box $allow "$@"
}

# ---- sockets

cat >"$T/listen.py" <<'PY'
import os, socket, sys
socks = []
for path in sys.argv[1:]:
    kind = socket.SOCK_DGRAM if path.endswith('dgram') else socket.SOCK_STREAM
    s = socket.socket(socket.AF_UNIX, kind)
    os.chdir(os.path.dirname(path)) # names of sockets are short
    s.bind(os.path.basename(path))
    os.chmod(os.path.basename(path), 0o777)
    if kind == socket.SOCK_STREAM:
        s.listen()
    socks.append(s)
print('up', flush=True)
sys.stdin.read()
PY
cat >"$V/connect.py" <<'PY'
import os, socket, sys
os.chdir(sys.argv[1])
for path in sys.argv[2:]:
    kind = socket.SOCK_DGRAM if path.endswith('dgram') else socket.SOCK_STREAM
    s = socket.socket(socket.AF_UNIX, kind)
    try:
        s.connect(path)
        print(path, 'reached')
    except OSError as e:
        print(path, e.strerror)
PY
mkfifo "$T/in"
python3 "$T/listen.py" "$V/sock" "$V/deep/er/sock" "$V/deep/dgram" \
	<"$T/in" >"$T/listen.out" &
exec 8>"$T/in"
wait_until grep -q up "$T/listen.out"
names='sock deep/er/sock deep/dgram'
# shellcheck disable=SC2086 # words
run python3 "$V/connect.py" "$V" $names
is 'sockets: outside they answer' "$(grep -c reached "$T/run.out")" 3
for access in ro rw overlay; do
	# shellcheck disable=SC2086
	run host_box -v "$V:/v:$access" -- python3 /v/connect.py /v $names
	is "sockets, $access: none is reached" \
		"$(grep -c refused "$T/run.out")$(grep -c reached "$T/run.out")" 30
done
run host_box -v "$V:/v" -- python3 -c '
import os, socket, sys
os.chdir("/v")
for name in ("mine", "deep/mine"):
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen()
    c = socket.socket(socket.AF_UNIX); c.connect(name)
    os.unlink(name)
try: os.rename("sock", "s2"); print("renamed")
except OSError as e: print(e.strerror)
try: os.link("sock", "s3"); print("linked")
except OSError as e: print(e.strerror)
print("own ones work")'
is 'sockets: the box has its own there, and the others stay covered' "$OUT" \
	'Device or resource busy
Invalid cross-device link
own ones work'
run host_box -v "$V/sock:/s" -- true
is 'a socket is no volume' "$RC" 125
like 'and that is said' "$ERR" 'is a socket'
exec 8>&-
wait

# ---- fifos

mkfifo "$V/fifo"
write='import os
try: os.open("fifo", os.O_RDWR | os.O_NONBLOCK); print("opened")
except OSError as e: print(e.strerror)'
run sh -c "cd '$V' && python3 -c '$write'"
is 'a fifo can be written outside' "$OUT" opened
run host_box -v "$V:/v:ro" -w /v -- python3 -c "$write"
like 'not on a read-only volume' "$OUT" 'Read-only|Permission'
run host_box -v "$V:/v" -w /v -- python3 -c "$write"
is 'on a writable one it can' "$OUT" opened

# ---- what can be entered but not listed

if is_root; then
	mkdir "$V/closed"
	python3 "$T/listen.py" "$V/closed/sock" </dev/null >/dev/null
	echo secret >"$V/closed/.env"
	chmod 666 "$V/closed/.env"
	chmod 711 "$V/closed"
	chown 12345 "$V/closed"
	chmod 755 "$T"
	run host_box -v "$V:/v:ro" -- sh -c 'cat /v/closed/.env; ls -A /v/closed'
	is 'a directory that can be entered but not listed is empty' "$OUT" ''
	chmod 700 "$T"
	rm -r "$V/closed"
else
	inapplicable 'a directory that can be entered but not listed' \
		'needs the host root'
fi

# ---- devices and set-user-ID files

if is_root && mknod "$V/null" c 1 3 2>/dev/null &&
	(: >"$V/null") 2>/dev/null; then
	mknod "$V/disk" b 7 0
	chmod 666 "$V/null" "$V/disk"
	for access in ro rw overlay; do
		run host_box -v "$V:/v:$access" -- sh -c 'cat /v/null
			(: >/v/null); cat /v/disk'
		is "devices, $access: none opens" \
			"$(grep -c 'Permission denied' "$T/run.err")" 3
	done
	rm "$V/null" "$V/disk"
else
	inapplicable 'devices' 'needs a host root that can make and open them'
fi
if is_root; then
	cp "$(command -v id)" "$V/setuid"
	chown 12345 "$V/setuid"
	chmod 4755 "$V/setuid"
	chmod 755 "$T"
	run setpriv --reuid=65534 "$V/setuid" -u
	is 'set-user-ID: outside it has its effect' "$OUT" 12345
	for access in ro rw overlay; do
		run box -u 1000 --allow-root-volume -v "$V:/v:$access" -- \
			sh -c '/v/setuid -u; id -u'
		is "set-user-ID, $access: none in the box" "$OUT" '1000
1000'
	done
	chmod 700 "$T"
	rm "$V/setuid"
else
	inapplicable 'set-user-ID files' 'needs the host root'
fi

# ---- the host's /proc

run host_box -v /proc:/p:ro -- true
is 'the host'"'"'s /proc is no volume' "$RC" 125
like 'and that is said' "$ERR" 'processes'
cat >"$T/mounted.sh" <<'SH'
mkdir "$1/proc" && mount -t proc p "$1/proc" || exit 9
ls -d "$1"/proc/[0-9]* | wc -l
shift
exec "$@"
SH
if is_root; then
	run unshare -m sh "$T/mounted.sh" "$V" "$LLMBOX" run -v "$V:/v:ro" -- \
		sh -c 'ls -A /v/proc | wc -l'
else
	run unshare -Urmpf sh "$T/mounted.sh" "$V" "$LLMBOX" run -v "$V:/v:ro" \
		--identity one -- sh -c 'ls -A /v/proc | wc -l'
fi
if [ "$RC" -eq 9 ]; then
	skip 'a /proc below a volume' 'proc can not be mounted here'
else
	isnt 'a /proc below a volume: outside it has processes' \
		"$(sed -n 1p "$T/run.out" | tr -d ' ')" 0
	is 'a /proc below a volume is empty' \
		"$(sed -n 2p "$T/run.out" | tr -d ' ')" 0
fi
rmdir "$V/proc"
done_testing
