#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which ids a box has: what each identity promises, why one can't be had, and
# that nothing of a range stays behind.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'

bb()
{
	box -r "$BUSYBOX" "$@"
}

# On one line.
flat()
{
	printf '%s\n' "$1" | tr '\n' ' '
}

# kind ARG...: the identity that a plan has, with the reason for it
kind()
{
	"$LLMBOX" run --dry-run "$@" -- true >"$T/plan" || return
	json "$T/plan" '"%s:%s" % (d["identity"]["kind"],
		d["identity"].get("reason", ""))'
}

# ---- what is refused, with a cure
if is_root; then
	for identity in one range; do
		run bb --identity $identity -- true
		is "host root, $identity: status" "$RC" 125
		like "host root, $identity: why, and what to do" "$ERR" \
			'host root into the box.*--identity shifted'
	done
	is 'host root: auto' "$(kind)" shifted:
	for what in 'a range' 'what a range leaves'; do
		inapplicable "$what" 'host root has the shifted map'
	done
	done_testing
fi
run bb --identity shifted -- true
is 'shifted for an ordinary user: status' "$RC" 125
like 'shifted for an ordinary user: why' "$ERR" 'needs host root'
like 'one id can be asked for' "$(kind --identity one)" '^one:asked for$'

# Started without new privileges, set-user-ID programs have no effect.
if command -v setpriv >/dev/null 2>&1; then
	run setpriv --no-new-privs "$LLMBOX" run --identity range \
		-r "$BUSYBOX" -- true
	is 'a range under no_new_privs: status' "$RC" 125
	like 'a range under no_new_privs: why, and the cure' "$ERR" \
		'no_new_privs.*\(start|no range of|not installed'
	run setpriv --no-new-privs "$LLMBOX" run -r "$BUSYBOX" -- id -u
	is 'auto under no_new_privs: a box of one id' "$RC $OUT" '0 0'
else
	skip 'a range under no_new_privs' 'setpriv is not installed'
fi
run bb -u 70000:70000 -- id -u
is 'auto for an id above a range: one id' "$RC $OUT" '0 70000'

if ! has_range; then
	run bb --identity range -- true
	is 'no range: status' "$RC" 125
	like 'no range: why, and the cure' "$ERR" \
		'^llmbox: identity range: .*\((as root: |start it )'
	like 'no range: auto is one id, with the reason' "$(kind)" '^one:.+'
	run bb --verbose -- true
	like 'no range: verbose says so' "$ERR" 'identity one: '
	inapplicable 'what a range is' 'the caller has none'
	done_testing
fi

# ---- what a range is
is 'auto takes it' "$(kind)" range:
run bb --report "$T/report" -- true
is 'the report names it' "$(json "$T/report" 'd["isolation"]["identity"]')" \
	range
run bb -- sh -c 'cat /proc/self/uid_map'
uids=$OUT
like 'root: all ids are there' "$uids" '^ +1 +1 +65535$'
run bb -- sh -c ': >f; chown 33:34 f && stat -c %u:%g f; chown 65535 f; echo $?
	chown 65536 f; echo $?; stat -c %u f'
is 'a chown is real, above the range it is pretended' "$(flat "$OUT")" \
	'33:34 0 0 65535 '
run bb -- su someone -s /bin/sh -c 'id -u; : >/tmp/f; stat -c %u /tmp/f
	touch /etc/f 2>/dev/null || echo no; chown 0 /tmp/f 2>/dev/null || echo no'
is 'su becomes another user, who has no rights over root' \
	"$(flat "$OUT")" '1000 1000 no no '
run bb -- sh -c 'sleep 1000 & su someone -s /bin/sh -c "kill $! 2>/dev/null" ||
	echo refused; kill $!'
is 'nor over its processes' "$(flat "$OUT")" 'refused '

# ---- outside, the users differ
mkdir -m 777 "$T/volume"
: >"$T/volume/mine"
me=$(id -u):$(id -g)
for user in 0:0 1000:1000 5:6; do
	run bb -u $user -v "$T/volume:/v" -- sh -c 'stat -c %u:%g /v/mine
		echo >>/v/mine && : >/v/made && stat -c %u:%g /v/made; rm /v/x 2>/dev/null
		id -u'
	is "user $user: the caller's files are its own" "$(flat "$OUT")" \
		"$user $user ${user%:*} "
	is "user $user: and its files are the caller's" \
		"$(stat -c %u:%g "$T/volume/made")" "$me"
	rm -f "$T/volume/made"
done
run bb -v "$T/volume:/v" -- su someone -s /bin/sh -c ': >/v/other'
is 'another user can make files where the mode lets it' "$RC" 0
other=$(stat -c %u "$T/volume/other")
isnt 'and they are a subordinate id outside' "$other" "$(id -u)"
ok 'of those that no account has' [ "$other" -gt 65535 ]
run bb -u 5:6 -v "$T/volume:/v" -- stat -c %u:%g /v/other
is 'which is the same user in a box of another user' "$OUT" 1000:1000
run bb -u 1000:1000 -v "$T/volume:/v" -- stat -c %u:%g /v/other
is 'and nobody where the caller has its place' "$OUT" 65534:65534
rm -f "$T/volume/other"

# A directory of a group that is not mapped: a capability does not count there.
group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
if [ -n "$group" ]; then
	mkdir -m 700 "$T/grouped" "$T/grouped/in"
	chgrp "$group" "$T/grouped"
	run bb -u 1000:1000 -v "$T/grouped/in:/v" -- sh -c ': >/v/f && echo made'
	is 'a source below a directory that is the group of nobody' "$OUT" made
else
	inapplicable 'a source below a directory of another group' \
		'the caller has one group only'
fi

# ---- limits are of all users together
run bb --pids-limit 20 -- sh -c 'for u in 1 2 3 4 5; do
	echo u$u:x:$u:$u::/:/bin/sh >>/etc/passwd
done
for u in 1 2 3 4 5; do
	su u$u -s /bin/sh -c "for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & done" \
		2>/dev/null
done; set -- /proc/[0-9]*; echo $#'
ok 'pids: the limit holds for five users together' [ "$OUT" -le 36 ]
ok 'pids: which could start some' [ "$OUT" -ge 20 ]

# ---- nothing stays
scratch=$XDG_STATE_HOME/llmbox/scratch
for user in 0:0 1000:1000; do
	run bb -u $user --writes disk -- sh -c 'mkdir -p /tmp/x; id -u'
	is "user $user, writes on disk: runs" "$RC" 0
	is "user $user, writes on disk: nothing is left" \
		"$(find "$scratch" -mindepth 1 | wc -l)" 0
done
run bb --writes disk -- sh -c 'mkdir -p /d/e && : >/d/e/f &&
	chown -R 33:33 /d && chmod -R a-rwx /d && echo made'
is 'directories of other users without any mode' "$OUT" made
is 'nothing is left of them' "$(find "$scratch" -mindepth 1 | wc -l)" 0

# ---- images
store=$XDG_DATA_HOME/llmbox
run "$LLMBOX" image import - base <"$BUSYBOX"
is 'import' "$RC" 0
for user in 0:0 1000:1000 5:6; do
	run box -u $user -r base -- sh -c 'stat -c %u:%g / /etc/passwd; id -u'
	is "user $user: the image's files are root's" "$(flat "$OUT")" \
		"0:0 0:0 ${user%:*} "
done
run box -u someone -r base -- id -u
is 'a user by name' "$OUT" 1000
run box --identity one -r base -- stat -c %u:%g /etc/passwd
is 'one id, of the same image' "$OUT" 0:0
run "$LLMBOX" image list --json
is 'the list has one image' "$(json "$T/run.out" 'len(d)')" 1
is 'with a tree for each' "$(json "$T/run.out" \
	'" ".join(sorted(t["layout"] + t.get("user", "") for t in d[0]["trees"]))')" \
	'one range0:0 range1000:1000 range5:6'
run "$LLMBOX" image remove base
is 'remove' "$RC $ERR" '0 '
is 'removes all of them' "$(find "$store/images" "$store/tmp" -mindepth 1)" ''

# Owners come through a copy as they were unpacked.
mkdir -p "$T/root/bin" "$T/root/home/someone" "$T/root/var/mail"
tar -C "$T/root" -xf "$BUSYBOX"
printf 'hello' >"$T/root/home/someone/file"
ln "$T/root/home/someone/file" "$T/root/home/someone/again"
ln -s file "$T/root/home/someone/link"
mkfifo "$T/root/var/mail/fifo"
truncate -s 1m "$T/root/var/mail/hole"
chmod 2775 "$T/root/var/mail"
chmod 4755 "$T/root/bin/helper"
tar -C "$T/root" --owner=0 --group=0 --exclude=./home/someone \
	--exclude=./var/mail -cf "$T/own.tar" .
tar -C "$T/root" --owner=1000 --group=1000 -rf "$T/own.tar" ./home/someone
tar -C "$T/root" --owner=7 --group=8 -rf "$T/own.tar" ./var/mail
picture='find / -xdev \( -path /tmp -o -path /run -o -path /proc -o -path /dev \
	-o -path /sys \) -prune -o -exec stat -c "%n %F %a %u:%g %h %s %Y" {} + |
	grep -v "^/etc\|^/ " | sort; cat /home/someone/file'
run box -r "$T/own.tar" -- sh -c "$picture"
direct=$OUT
like 'unpacked: owners' "$direct" '^/var/mail directory 2775 7:8'
"$LLMBOX" image import "$T/own.tar" own >/dev/null
for user in 7:8 1000:1000; do
	run box -u $user -r own -- sh -c "$picture"
	is "copied for $user: as it was unpacked" "$OUT" "$direct"
done
run box -u 1000:1000 -r own -- sh -c 'cd /home/someone && echo more >>file && echo written'
is "the user's own files are its own" "$OUT" written
"$LLMBOX" image remove own
run "$LLMBOX" image prune
is 'prune' "$RC" 0
is 'prune removes all' "$(find "$store/images" "$store/tmp" -mindepth 1)" ''

# What a killed import left is swept.
mkdir "$store/tmp/0123" "$store/tmp/0123/tree"
run unshare --map-root-user --map-auto sh -c \
	"cd $store/tmp/0123/tree && mkdir -p a/b && chown -R 33:33 a && chmod 0 a"
if [ "$RC" -eq 0 ]; then
	run "$LLMBOX" image prune
	is 'what a killed import left' "$RC $(ls "$store/tmp")" '0 '
else
	skip 'what a killed import left' 'unshare has no --map-auto'
fi
done_testing
