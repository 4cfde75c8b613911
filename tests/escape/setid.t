#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Setuid and setgid bits: a box never sets them on a writable volume, where they
# would be the host's whatever the mount says; the calls succeed, and elsewhere
# in the box the bits are there.
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
	run box --identity "$identity" -r "$BUSYBOX" $allow -v "$V:/v" -w /v \
		-- sh -c "$1"
}

# No bit on the volume, as the host sees it; then it is emptied.
clean()
{
	is "$1: no bit outside" "$(find "$V" ! -type d -perm /6000)" ''
	rm -rf "${V:?}"/*
}

if is_root; then
	identities=shifted
elif has_range; then
	identities='one range'
else
	identities=one
	skip_range 'a range of ids'
fi
identity=auto

cp /bin/busybox "$V/own"
chmod 4755 "$V/own"
like 'outside, the bit can be set' "$(ls -l "$V/own")" '^-rws'
rm "$V/own"

# ---- the calls, on the volume and elsewhere

# An architecture without the older calls has those with a directory instead;
# -100 is AT_FDCWD. FILE is there, NEW is not.
case $(uname -m) in
x86_64)
	fchmod=91 fchmodat=268 openat=257 mknodat=259
	older='90 s:FILE MODE
2 s:NEW 0101 MODE
85 s:NEW MODE
133 s:NEW 010MODE 0'
	;;
*)
	fchmod=52 fchmodat=53 openat=56 mknodat=33
	older=
	;;
esac
cat > "$T/calls" <<CALLS
$older
$fchmodat -100 s:FILE 0MODE
452 -100 s:FILE 0MODE 0
$openat -100 s:NEW 0101 0MODE
$mknodat -100 s:NEW 010MODE 0
CALLS
sed -i '/^$/d; s/FILE MODE/FILE 0MODE/; s/0101 MODE/0101 0MODE/
	s/NEW MODE/NEW 0MODE/' "$T/calls"
# On the volume, then elsewhere: the result, and the mode of the file.
cat > "$T/each.sh" <<'SCRIPT'
umask 0
while read -r call; do
	for dir in /v/d /tmp/d; do
		rm -rf $dir
		mkdir $dir
		case $call in
		*FILE*) : > $dir/file ;;
		esac
		helper syscall $(echo "$call" | sed "s,FILE,$dir/file,
			s,NEW,$dir/new,; s,MODE,$1,")
		stat -c %a $dir/*
	done | tr '\n' ' '
	echo "$call"
done < /v/calls
SCRIPT
every_call()
{
	for mode in 4755 2755 6711; do
		cp "$T/calls" "$T/each.sh" "$V"
		box_rw "sh each.sh $mode"
		is "$identity, $mode: all calls were made" \
			"$(echo "$OUT" | wc -l)" "$(grep -c . "$T/calls")"
		is "$identity, $mode: they set the bits elsewhere only" \
			"$(echo "$OUT" |
			grep -vE "^[0-9]+ ${mode#?} [0-9]+ $mode ")" ''
		clean "$identity, $mode"
	done
}
for identity in $identities; do
	every_call
done
identity=auto

box_rw ": > a; : > /tmp/a; helper syscall $fchmod 3 04755 3<a
	helper syscall $fchmod 3 06755 3</tmp/a; ls -l /tmp/a"
like 'fchmod' "$(echo "$OUT" | tr '\n' ' ')" '^0 0 -rwsr-sr-x'
clean fchmod
box_rw ": > a; : > /tmp/a; helper syscall 452 3 s: 04755 0x1000 3<a
	helper syscall 452 3 s: 04711 0x1000 3</tmp/a; ls -l /tmp/a
	ln -s /tmp/a /tmp/l; helper syscall 452 -100 s:/tmp/l 04755 0x100"
like 'fchmodat2 of a descriptor, and of a link itself' \
	"$(echo "$OUT" | tr '\n' ' ')" '^0 0 -rws--x--x.*EOPNOTSUPP'
clean fchmodat2
box_rw 'helper tmpfile /v /v/a 4755; helper tmpfile /tmp /tmp/a 4755
	ls -l a /tmp/a'
like 'O_TMPFILE and linkat' "$(echo "$OUT" | tr '\n' ' ')" \
	'^0 0 -rwsr-xr-x.*/tmp/a -rwxr-xr-x'
clean O_TMPFILE
box_rw 'helper create a 4755 one; helper create a 4755 two; cat a
	ln -s a l; helper create l 6755 three; cat a
	helper create /tmp/a 4755 four; cat /tmp/a; helper create /etc 4755'
is 'open gives a descriptor that writes' "$(echo "$OUT" | tr '\n' ' ')" \
	'3 3 two3 three3 fourEISDIR '
clean open
box_rw 'mkdir d; chmod 2775 d; ls -ld d; chmod 6755 d; ls -ld d'
is "a directory's setgid bit stays: it gives no right" \
	"$(echo "$OUT" | cut -c 1-10 | tr '\n' ' ')" 'drwxrwsr-x drwxr-sr-x '
box_rw 'helper syscall 437 -100 x 0 24'
like 'openat2, whose mode is in memory, is not there' "$OUT" ENOSYS
rm -rf "${V:?}"/*

# ---- what it fails with is what the call fails with

box_rw "helper syscall $fchmodat -100 0 04755
	helper syscall $fchmodat -100 s:/none 04755
	helper syscall $fchmodat 77 s:x 04755
	helper syscall $fchmod 77 04755
	: > f; helper syscall $fchmodat -100 s:f/x 04755
	ln -s loop loop; helper syscall $fchmodat -100 s:loop 04755
	helper syscall $mknodat -100 s:f 0104755 0
	helper syscall $mknodat -100 s:/ 0104755 0
	helper syscall $openat -100 s:f 0301 04755
	helper syscall $openat -100 s:new/ 0101 04755
	helper syscall $openat -100 s: 0101 04755
	helper syscall $fchmodat -100 s:$(printf %4095s '' | tr ' ' x) 04755"
is 'errors' "$(echo "$OUT" | tr '\n' ' ')" \
	'EFAULT ENOENT EBADF EBADF ENOTDIR ELOOP EEXIST EEXIST EEXIST EISDIR ENOENT ENAMETOOLONG '
clean errors

# ---- programs

if [ -x /usr/bin/install ] && [ -x /usr/bin/tar ]; then
	# The host's own, of GNU.
	# shellcheck disable=SC2086
	run box $allow -v "$V:/v" -w /v -- sh -c '
		install -m 4755 /usr/bin/true a && cp -p a b &&
		install -m 4755 /usr/bin/true /tmp/a && cp -p /tmp/a c &&
		cp -p /tmp/a /tmp/b &&
		tar -cf /tmp/t -C /tmp a && tar -xpf /tmp/t && mkdir /tmp/x &&
		tar -xpf /tmp/t -C /tmp/x && chmod u+s a b && ls -l /tmp/?/a /tmp/a /tmp/b'
	is 'install, cp -p, tar and chmod: status' "$RC" 0
	is 'elsewhere their files have the bit' \
		"$(echo "$OUT" | grep -c '^-rws')" 3
	is 'all files are on the volume' \
		"$(find "$V" -type f -perm 0755 | wc -l)" 3
	clean 'install, cp -p, tar'
else
	skip 'install, cp -p, tar' 'install and tar are not there'
fi
box_rw 'cp /bin/busybox /tmp/a; chmod 4755 /tmp/a; cp -p /tmp/a a
	tar -cf /tmp/t -C /tmp a; mkdir t; tar -xpf /tmp/t -C t && ls t'
is "busybox's, which gives open all bits" "$OUT" a
clean busybox

# ---- whose rights count

box_rw 'mkdir /tmp/d; : > /tmp/d/f; chmod 0700 /tmp/d; : > /tmp/f
	chmod 0666 /tmp/f; mkdir /tmp/r /tmp/r/tmp; : > /tmp/r/tmp/f
	cp /bin/helper /tmp/r
	chroot /tmp/r /helper syscall '"$fchmodat"' -100 s:/tmp/f 04755
	chroot /tmp/r /helper syscall '"$fchmodat"' -100 s:../../../tmp/f 04711
	ls -l /tmp/f /tmp/r/tmp/f'
like 'a path counts from the root of the caller' \
	"$(echo "$OUT" | tr '\n' ' ')" \
	'^0 0 -rw-rw-rw-.*/tmp/f -rws--x--x.*/tmp/r/tmp/f'
other_user()
{
	if [ "$identity" = one ]; then
		inapplicable 'one: another user' 'there is none'
		return
	fi
	box_rw "mkdir /tmp/d; : > /tmp/d/f; chmod 0700 /tmp/d
		: > /tmp/f; chmod 0666 /tmp/f
		su someone -c '
		helper syscall $fchmodat -100 s:/tmp/f 04666
		helper syscall $fchmodat -100 s:/tmp/d/f 04666
		helper create /etc/x 4755
		helper create /tmp/d/f 4755
		: > /tmp/own; helper syscall $fchmodat -100 s:/tmp/own 06755
		umask 027; helper create /tmp/new 4777
		ls -l /tmp/own /tmp/new'"
	like "$identity: another user has the rights of that user" \
		"$(echo "$OUT" | tr '\n' ' ')" \
		'^EPERM EACCES EACCES EACCES 0 3 -rwsr-x---.*someone.*/tmp/new -rwsr-sr-x.*/tmp/own'
}
for identity in $identities; do
	other_user
done
identity=auto

# ---- /proc is the notifier's own where it looks

box_rw "for f in mem environ fd/1 cwd/x status; do
		helper create /proc/self/\$f 4644 x
	done; : > g; helper syscall $fchmodat -100 s:/proc/self/root/v/g 04755
	helper syscall $fchmodat -100 s:/proc/self/cwd/g 04755
	helper syscall $fchmodat -100 s:/proc/thread-self/mem 04755"
is "not by /proc's links" "$(echo "$OUT" | tr '\n' ' ')" \
	'EPERM EPERM EPERM ELOOP EPERM ELOOP ELOOP EPERM '
clean '/proc'
box_rw ": > g; : > /tmp/g
	helper syscall $fchmodat -100 s:/proc/self/fd/3 04755 3<g
	helper syscall $fchmodat -100 s:/proc/self/fd/3 04711 3</tmp/g
	helper syscall $fchmodat -100 s:/proc/self/fd/4 04711; ls -l /tmp/g"
like "but a descriptor's is the caller's" "$(echo "$OUT" | tr '\n' ' ')" \
	'^0 0 ELOOP -rws--x--x'
clean '/proc/self/fd'

# ---- races

box_rw 'mkdir /tmp/a; : > /tmp/a/f; : > f
	helper race memory /v/f /tmp/a/f 3000; ln -s /v /tmp/b
	helper race swap /tmp/a /tmp/b 3000; ls -lL /tmp/a/f /tmp/b/f'
like 'the path changes meanwhile' "$(echo "$OUT" | head -n 1)" '[1-9]'
like 'a directory is exchanged with a link to the volume' \
	"$(echo "$OUT" | sed -n 2p)" '[1-9]'
like 'and the one elsewhere has the bits' "$OUT" '^-rwsr-sr-x'
clean races

# ---- what is a volume, and what is not

mkdir "$V/sub" "$T/o" "$T/hidden"
: > "$T/o/lower"
# shellcheck disable=SC2086
run box -r "$BUSYBOX" $allow -v "$V:/v" -v "$T/o:/v/sub" --tmpfs /v/t \
	-v "$T/o:/over:overlay" --tmpfs /t --tmpfs /s:1m -w /v -- sh -c '
	for d in /v /v/sub /v/t /over /t /s /dev/shm /run /tmp /etc; do
		: > $d/f; chmod 4755 $d/f
	done
	chmod 4755 /over/lower; chmod 4755 /v/sub/lower
	find / -xdev -perm -4000; find /v /over /t /s /dev/shm /run /tmp -perm -4000'
is 'bits are on what is the box'\''s own, and nothing else' \
	"$(echo "$OUT" | sort -u | tr '\n' ' ')" \
	'/dev/shm/f /etc/f /over/f /over/lower /run/f /s/f /t/f /tmp/f /v/t/f '
is 'neither on the lower of an overlay' "$(find "$T/o" -perm /6000)" ''
clean 'many mounts'
box_rw 'cp /bin/busybox /tmp/a; chmod 4755 /tmp/a; mv /tmp/a a; ls a
	cp /bin/busybox /tmp/b; chmod 4755 /tmp/b; ln /tmp/b b; ls b'
is 'moved onto a volume, not linked' "$OUT" a
clean 'mv and ln'

# ---- the notifier itself

box_rw ': > f; chmod 4755 f
	n=$(grep -l llmbox-notify /proc/[0-9]*/comm); n=${n%/comm}; n=${n#/proc/}
	for f in mem environ maps fd cwd root/v; do
		cat /proc/$n/$f >/dev/null 2>&1 && echo $f
		ls /proc/$n/$f/ >/dev/null 2>&1 && echo $f
	done
	grep -c . /proc/$n/status >/dev/null && kill -TERM $n && chmod 4711 f &&
	kill -KILL $n && chmod 4755 f; echo $?; chmod 0711 f; echo $?'
is 'nothing of it can be seen, and without it calls fail' \
	"$(echo "$OUT" | tr '\n' ' ')" '1 0 '
like 'as on a kernel without them' "$ERR" 'not implemented'
clean 'killed'
box_rw ': > f; chmod 4755 f; n=$(grep -l llmbox-notify /proc/[0-9]*/comm)
	n=${n%/comm}; kill -STOP ${n#/proc/}; chmod 4755 f & echo end'
is 'stopped it does not hold the end' "$RC $OUT" '0 end'
clean 'stopped'
box_rw 'helper descriptors'
unlike 'the command has no descriptor of it' "$OUT" '[3-9][a-z]'

# Another sandbox around this one has the only listener there can be.
# shellcheck disable=SC2086
run "$DEGRADE" listener=EBUSY -- "$LLMBOX" run -r "$BUSYBOX" $allow \
	-v "$V:/v" -w /v -- sh -c ': > f; chmod 4755 f; echo $?; chmod 755 f; echo $?
	helper create /tmp/a 4755'
is 'where there is no listener, the calls are refused' \
	"$(echo "$OUT" | tr '\n' ' ')" '1 0 EPERM '
clean 'no listener'

# ---- a sandbox in the box

box_rw ': > f; helper filtered /bin/chmod 4755 f; echo $?'
is 'a filter of its own, and one listener only' \
	"$(echo "$OUT" | tr '\n' ' ')" 'EBUSY 0 '
clean 'filtered'
box_rw 'helper landlocked /bin/helper create /tmp/a 755
	helper landlocked /bin/helper create /tmp/a 4755
	helper landlocked /bin/chmod 4755 /etc/passwd; echo $?'
if [ "$(echo "$OUT" | head -n 1)" = EACCES ]; then
	is 'rules of Landlock in the box hold' \
		"$(echo "$OUT" | tr '\n' ' ')" 'EACCES EPERM 0 '
else
	inapplicable 'rules of Landlock in the box hold' 'no Landlock here'
fi

# ---- policies

cat > "$T/allow.json" <<'JSON'
{ "mounts": [ { "source": "v", "target": "/v", "access": "rw" } ],
  "syscalls": { "allow": [ "@file" ] } }
JSON
# shellcheck disable=SC2086
run box --policy "$T/allow.json" -r "$BUSYBOX" $allow -- \
	sh -c ': > /v/f; chmod 4755 /v/f && ls -l /v/f'
like 'a policy that allows the calls' "$OUT" '^-rwxr-xr-x'
clean 'allowed'
sed 's/"allow"/"deny"/; s/@file/fchmodat", "fchmodat2", "chmod/' \
	"$T/allow.json" > "$T/deny.json"
# shellcheck disable=SC2086
run box --policy "$T/deny.json" -r "$BUSYBOX" $allow -- \
	sh -c ': > /v/f; chmod 4755 /v/f'
isnt 'one that denies them' "$RC" 0
clean 'denied'
# shellcheck disable=SC2086
run box --policy "$T/allow.json" -r "$BUSYBOX" $allow -u someone -- \
	sh -c 'id -u; : > /v/f; chmod 4755 /v/f && ls -l /v/f
		chmod 4755 /bin/busybox'
like 'another user of the policy: the volume is its own' \
	"$(echo "$OUT" | tr '\n' ' ')" '^1000 -rwxr-xr-x'
clean 'another user'

run box -r "$BUSYBOX" -- sh -c 'cp /bin/busybox /tmp/a && chmod 4755 /tmp/a &&
	ls -l /tmp/a && grep -l notify /proc/[0-9]*/comm'
like 'without a writable volume the box has the bits for itself' "$OUT" '^-rws'
unlike 'and no notifier' "$OUT" comm
done_testing
