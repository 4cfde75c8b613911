#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root emulation: what names an id that the box has not succeeds and does
# nothing; what names one that it has is real.
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'

# The ids that a box has, and the first that it has not.
if is_root; then
	has=33 other=65536 identity=shifted
else
	has=0 other=33 identity=one
fi

bb()
{
	box --identity "$identity" -r "$BUSYBOX" -- sh -c "$1"
}

run bb ": >f; chown $other:$other f && chown -h $other f && stat -c %u:%g f"
is 'chown to an id that is not there says success' "$RC" 0
is 'and the owner stays' "$OUT" 0:0
run bb ": >f; chown $has:$has f && stat -c %u:%g f"
is 'chown to one that is there is real' "$OUT" "$has:$has"
run bb ': >f; chmod 4755 f; chown 0:0 f; stat -c %a f'
is 'and clears set-id bits' "$OUT" 755
run bb "mkdir d; cd d; : >f; tar -cf ../t f; rm f
printf '%s' '' >/dev/null; tar -xf ../t && stat -c %u f"
is 'tar unpacks' "$OUT" 0
run bb 'mknod n c 1 3; echo $?; mknod b b 8 0; echo $?; ls n b 2>&1 | wc -l'
is 'nodes of devices are said to be made, and are not' \
	"$(echo "$OUT" | tr '\n' ' ')" '0 0 2 '
run bb 'mkfifo p && ls -l p'
like 'a FIFO is made' "$OUT" '^p'
run box -r "$BUSYBOX" -- helper syscall 499
like 'the filter is there' "$OUT" ENOSYS

case $(uname -m) in
x86_64) setuid=105 setgroups=116 setresuid=117 ;;
*) setuid=146 setgroups=159 setresuid=147 ;;
esac
run bb "helper syscall $setuid $other; helper syscall $setresuid 0 0 $other
id -u"
is 'set*id to an id that is not there says success, and stays root' \
	"$(echo "$OUT" | tr '\n' ' ')" '0 0 0 '
run bb "helper syscall $setgroups 0 0"
is 'setgroups succeeds' "$OUT" 0
if ! is_root; then
	run box --identity one -r "$BUSYBOX" -u 1000 -- sh -c ': >/tmp/f; chown 33 /tmp/f'
	isnt 'nothing is pretended to another user than root' "$RC" 0
fi
run box --identity $identity -r "$BUSYBOX" --policy /dev/stdin -- \
	sh -c ': >f; chown 5:5 f' <<'JSON'
{ "syscalls": { "deny": ["@chown"] } }
JSON
isnt 'what a policy denies is not pretended' "$RC" 0
run box --identity $identity -r "$BUSYBOX" --policy /dev/stdin -- \
	sh -c ": >f; chown $other f; echo \$?" <<'JSON'
{ "syscalls": { "allow": ["@chown"] } }
JSON
is 'what it allows is pretended as before' "$OUT" 0
done_testing
