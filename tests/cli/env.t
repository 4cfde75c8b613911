#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environment is what the policy says and a short list, never the caller's;
# nothing of the caller's is in any process of the box or in argv (EN-01). A home,
# /etc's files, modes, time and language are right in any image, and odd
# surroundings matter only to who needs them.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

export SECRET_T=s3cr3t HOME="$T/odd home" USER=caller LOGNAME=caller
export LANG=xx_YY LD_PRELOAD='' TERM=odd-terminal TMPDIR="$T"

bb()
{
	box -r "$BUSYBOX" "$@"
}

run bb env
is 'nothing but the short list' "$(sed 's/=.*//' "$T/run.out" | sort | tr '\n' ' ')" \
	'HOME LANG LOGNAME PATH SHELL USER '
like 'HOME is the box user'"'"'s' "$OUT" '^HOME=/root$'
like 'USER is the box user'"'"'s' "$OUT" '^USER=root$'
like 'LANG knows UTF-8' "$OUT" '^LANG=C\.UTF-8$'
like 'PATH is the usual one' "$OUT" '^PATH=/usr/local/sbin:.*:/bin$'
run box env
is 'the host view: the same list' \
	"$(sed 's/=.*//' "$T/run.out" | sort | tr '\n' ' ')" \
	'HOME LANG LOGNAME PATH SHELL USER '

ok 'outside the secret is in the environment' \
	grep -qz SECRET_T "/proc/self/environ"
run bb sh -c 'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\0" "\n"'
unlike 'no process of the box has the secret' "$OUT" 's3cr3t'
unlike 'no process of the box has the caller'"'"'s' "$OUT" 'odd|caller'
unlike 'the supervisor'"'"'s arguments are not init'"'"'s' "$OUT" "$BUSYBOX"

# ---- -e, --env-file

run bb -e A=b -e EMPTY= -e 'SP= a b ' -e EQ=x=y=z -e SECRET_T -e NOT_SET_HERE \
	-e LANG=de -- env
like '-e NAME=VALUE' "$OUT" '^A=b$'
like '-e NAME=: empty' "$OUT" '^EMPTY=$'
like '-e: spaces stay' "$OUT" '^SP= a b $'
like '-e: the first = counts' "$OUT" '^EQ=x=y=z$'
like '-e NAME: the caller'"'"'s value' "$OUT" '^SECRET_T=s3cr3t$'
unlike '-e NAME that is not set: stays so' "$OUT" NOT_SET_HERE
like '-e: a default can be set' "$OUT" '^LANG=de$'
is '-e: and is there once' "$(grep -c ^LANG= "$T/run.out")" 1
run bb -e A=1 -e A=2 -- sh -c 'echo $A'
is '-e: the last one counts' "$OUT" 2
run bb -e HOME=/tmp -e USER=me -- sh -c 'echo $HOME $USER'
is '-e HOME, USER' "$OUT" '/tmp me'
run bb -e =x -- true
is '-e =x: status' "$RC" 125
run bb -e '' -- true
is '-e "": status' "$RC" 125
run bb -e "$(printf 'A=line one\nline two')" -- sh -c 'echo "$A"'
is '-e: a newline in a value' "$OUT" 'line one
line two'

printf '# a comment\nA=1\n\nB="not unquoted"\r\nSECRET_T\nE=x # y\n' >"$T/env"
run bb --env-file "$T/env" -e A=2 -- env
like '--env-file: later options win' "$OUT" '^A=2$'
like '--env-file: no quoting, no CR' "$OUT" '^B="not unquoted"$'
like '--env-file: a bare name' "$OUT" '^SECRET_T=s3cr3t$'
like '--env-file: # only at the start' "$OUT" '^E=x # y$'
printf 'LAST=without newline' >"$T/env2"
run bb --env-file "$T/env" --env-file "$T/env2" -- sh -c 'echo $LAST $A'
is '--env-file: two of them' "$OUT" 'without newline 1'

# A policy's values are in files that others may not read: not in argv either.
printf '{"env": {"TOKEN": "t0k3n"}, "env_pass": ["TERM"]}' >"$T/policy.json"
mkfifo "$T/go"
"$LLMBOX" run -r "$BUSYBOX" --policy "$T/policy.json" -- \
	sh -c 'echo $TOKEN $TERM; cat' <"$T/go" >"$T/out" &
pid=$!
exec 3>"$T/go"
wait_until test -s "$T/out"
is 'a policy'"'"'s env, and env_pass' "$(cat "$T/out")" 't0k3n odd-terminal'
unlike 'not in the supervisor'"'"'s argv' \
	"$(tr '\0' '\n' <"/proc/$pid/cmdline")" t0k3n
exec 3>&-
wait "$pid"

# ---- what is set makes sense for another user

run bb -u someone -- env
like '-u: USER' "$OUT" '^USER=someone$'
like '-u: LOGNAME' "$OUT" '^LOGNAME=someone$'

# ---- a home that is there and can be written, in any image

# tree NAME: nothing but busybox in /bin
tree()
{
	mkdir -p "$T/$1/bin"
	cp "$(command -v busybox)" "$T/$1/bin/busybox"
	for tree_applet in sh cat ls stat id date env readlink sha256sum; do
		ln -s busybox "$T/$1/bin/$tree_applet"
	done
}

# pack NAME
pack()
{
	chmod 755 "$T/$1"
	tar --owner=0 --group=0 -C "$T/$1" -cf "$T/$1.tar" .
}

tree bare
pack bare
tree links
mkdir "$T/links/etc" "$T/links/usr" "$T/links/run"
ln -s ../run/systemd/resolve/stub-resolv.conf "$T/links/etc/resolv.conf"
ln -s /usr/hosts "$T/links/etc/hosts"
ln -s hostname "$T/links/etc/hostname"
ln -s /home/nowhere "$T/links/root"
echo 'the image has it' | tee "$T/links/usr/hosts" >"$T/links/etc/motd"
pack links
tree directories
mkdir -p "$T/directories/etc/resolv.conf" "$T/directories/etc/hosts/below" \
	"$T/directories/etc/hostname" "$T/directories/root/own"
pack directories
tree files
for name in etc root tmp run dev proc sys home; do
	echo 'a file' >"$T/files/$name"
done
pack files
tree linked
mkdir "$T/linked/usr" "$T/linked/usr/etc" "$T/linked/usr/tmp"
for name in etc tmp run; do
	ln -s "usr/$name" "$T/linked/$name"
done
ln -s /proc/self/root "$T/linked/root"
pack linked

cat >"$T/look.sh" <<'SH'
cd "$HOME" && echo x >"$HOME/file" && cat "$HOME/file"
[ -O "$HOME/file" ] && [ "$HOME" != / ] && echo own
for dir in /dev /dev/shm /run /tmp /etc /proc /sys; do
	stat -c '%F %a %n' $dir
done
for file in resolv.conf hosts hostname; do
	stat -c '%F %a' /etc/$file
	cat /etc/$file
done
SH
want='x
own
directory 755 /dev
directory 1777 /dev/shm
directory 755 /run
directory 1777 /tmp
directory 755 /etc
directory 555 /proc
directory 555 /sys
regular file 644
options attempts:1 timeout:1
regular file 644
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
127.0.1.1	named
regular file 644
named'
for image in bare links directories files linked; do
	for user in root 1234 1234:1234 nobody; do
		case $image-$user in
		*-nobody) continue ;; # has no /etc/passwd
		esac
		run box -r "$T/$image.tar" -u $user -h named -- \
			sh -c "$(cat "$T/look.sh")"
		is "$image, $user: home, modes and files of /etc" "$OUT" "$want"
	done
done
for user in root 1234 user nobody daemon; do
	run box -u $user -h named -- sh -c "$(cat "$T/look.sh")"
	is "the host view, $user: home, modes and files of /etc" \
		"$OUT" "$want"
done
for user in root someone nobody 1234; do
	run bb -u $user -h named -- sh -c "$(cat "$T/look.sh")"
	is "an image with accounts, $user: home, modes and files of /etc" \
		"$OUT" "$want"
done
run bb -u 1234 -- env
like 'no account: HOME' "$OUT" '^HOME=/tmp$'
run bb --read-only -- sh -c 'echo $HOME'
is '--read-only: root'"'"'s home stays' "$OUT" /root
run box -r "$T/directories.tar" -- ls /root
is 'a home that the image has is that one' "$(printf '%s' "$OUT")" 'own'
run box -r "$T/links.tar" -- cat /usr/hosts /etc/motd
is 'what links lead to is as the image has it' "$OUT" 'the image has it
the image has it'

# Also what a box wrote there is not in the image.
run box -r "$T/links.tar" -- sh -c 'echo changed >/etc/hosts
	echo changed >/etc/resolv.conf; echo changed >/usr/hosts; cat /etc/hosts'
is 'they can be changed in the box' "$OUT" changed
run box -r "$T/links.tar" -- sh -c 'cat /usr/hosts; cat /etc/hosts'
like 'and are as before in the next' "$OUT" 'the image has it'
unlike 'and nothing of the first is there' "$OUT" changed

# ---- time and language

tree zone
mkdir "$T/zone/etc"
# A zone of its own, two hours east, in the oldest format (tzfile(5)).
printf 'TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4\0\0\34\40\0\0EAS\0' \
	>"$T/zone/etc/localtime"
pack zone
run box -r "$T/zone.tar" -- sha256sum /etc/localtime
is 'the image'"'"'s own /etc/localtime' "${OUT%% *}" \
	"$(sha256sum <"$T/zone/etc/localtime" | sed 's/ .*//')"
run box -r "$T/bare.tar" -- sh -c 'ls /etc; echo "${TZ-unset}"'
is 'none where the image has none' "$(printf '%s' "$OUT" | tr '\n' ' ')" \
	'hostname hosts resolv.conf unset'
run env TZ=Asia/Tokyo "$LLMBOX" run -r "$BUSYBOX" -- sh -c 'echo "${TZ-unset}"'
is 'TZ is not passed' "$OUT" unset
run env TZ=Asia/Tokyo "$LLMBOX" run -e TZ -r "$BUSYBOX" -- sh -c 'echo "$TZ"'
is 'but with -e' "$OUT" Asia/Tokyo
if [ -e /etc/localtime ]; then
	run box sha256sum /etc/localtime
	is 'the host view: the host'"'"'s /etc/localtime' "${OUT%% *}" \
		"$(sha256sum </etc/localtime | sed 's/ .*//')"
else
	inapplicable 'the host view: /etc/localtime' 'this host has none'
fi

# ---- odd surroundings: the host view needs none of them

cannot=$T/nowhere/x
: >"$T/nowhere"
for set in HOME= HOME=relative HOME="$cannot" HOME=/dev/null HOME=/proc \
	XDG_STATE_HOME="$cannot" XDG_DATA_HOME="$cannot" \
	XDG_RUNTIME_DIR="$cannot" XDG_CONFIG_HOME="$cannot" TMPDIR="$cannot" \
	TMPDIR=; do
	case $set in
	XDG_STATE_HOME*) is_root && continue ;; # its id block is recorded there
	esac
	run env "$set" "$LLMBOX" run -- sh -c 'echo works'
	is "$(printf '%s' "$set" | sed "s,$T,,"): works" "$RC $OUT" '0 works'
done
run env -i "$LLMBOX" run -- sh -c 'echo works'
is 'an empty environment: works' "$RC $OUT" '0 works'
run env TMPDIR="$cannot" "$LLMBOX" run -r "$BUSYBOX" -- sh -c 'echo works'
is 'TMPDIR, an image: works' "$RC $OUT" '0 works'
run env XDG_DATA_HOME="$cannot" "$LLMBOX" run -r "$BUSYBOX" -- echo started
is 'no store, an image: nothing runs' "$RC $OUT" '125 '
like 'no store, an image: why, and the cure' "$ERR" \
	'^llmbox: .*/nowhere/x/llmbox: Not a directory \(set .*XDG_DATA_HOME'
run env XDG_STATE_HOME="$cannot" "$LLMBOX" run -r "$BUSYBOX" --writes disk -- \
	echo started
is 'no state, writes on disk: nothing runs' "$RC $OUT" '125 '
like 'no state, writes on disk: why, and the cure' "$ERR" \
	'^llmbox: .*/nowhere/x.*: Not a directory \(set .*XDG_STATE_HOME'
if is_root; then
	inapplicable 'no home, an image' "root's store does not depend on HOME"
else
	run env -u XDG_DATA_HOME -u HOME "$LLMBOX" run -r "$BUSYBOX" -- \
		echo started
	is 'no home, an image: nothing runs' "$RC $OUT" '125 '
	like 'no home, an image: why' "$ERR" '^llmbox: .*HOME.*is set'
	run env -u XDG_DATA_HOME HOME=/ "$LLMBOX" run -r "$BUSYBOX" -- \
		echo started
	is 'a home that is not ours, an image: nothing runs' "$RC $OUT" '125 '
	like 'a home that is not ours, an image: why, and the cure' "$ERR" \
		'^llmbox: make directory //?[.]local/share/llmbox: .* \(set HOME'
fi

# The host's /tmp, in which nobody can write.
if is_root; then
	alone='unshare -m --propagation private'
else
	alone='unshare -Urm --propagation private'
fi
if $alone true 2>/dev/null; then
	for options in ro mode=0; do
		# By descriptors: they may lie below /tmp themselves.
		# shellcheck disable=SC2086 # words
		run $alone sh -c 'exec 3<"$1" 4<"$XDG_STATE_HOME"
			mount -t tmpfs -o "$2" tmp /tmp && cd / &&
			XDG_STATE_HOME=/proc/self/fd/4 exec /proc/self/fd/3 \
				run -- sh -c "echo works >/tmp/x; cat /tmp/x"' \
			sh "$LLMBOX" $options
		is "the host's /tmp with $options: works" "$RC $OUT" '0 works'
	done
else
	skip "the host's /tmp" 'no namespaces can be made here'
fi
done_testing
