#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /dev has what programs expect and no device of the host (EN-02).
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

bb()
{
	box -r "$BUSYBOX" "$@"
}

want='fd full null ptmx pts random shm stderr stdin stdout tty urandom zero '
run bb ls /dev
is 'the list' "$(sort "$T/run.out" | tr '\n' ' ')" "$want"
run box ls /dev
is 'the host view: the same list' "$(sort "$T/run.out" | tr '\n' ' ')" "$want"
run bb find / -xdev -type b
is 'no block devices' "$OUT" ''

run bb sh -c 'echo lost >/dev/null; wc -c </dev/null
	head -c 5 /dev/zero | tr "\0" z; echo
	head -c 16 /dev/urandom | wc -c; head -c 16 /dev/random | wc -c
	echo x >/dev/full'
is 'null, zero, urandom, random' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" '0 zzzzz 16 16'
like 'full' "$ERR" 'No space left'
isnt 'full: status' "$RC" 0
run bb sh -c 'echo a >/dev/stdout; echo b >/dev/stderr
	echo c | cat /dev/stdin; echo d | cat /dev/fd/0; echo e >/dev/fd/1'
is '/dev/stdout, stdin, fd' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" 'a c d e'
is '/dev/stderr' "$ERR" b
# The caller's file comes through a pipe, which can be opened by name.
echo 'from a file' >"$T/in"
box -r "$BUSYBOX" -- sh -c 'cat /dev/stdin; echo more >/dev/stdout' \
	<"$T/in" >"$T/out"
is 'a file as standard input and output' "$(cat "$T/out")" 'from a file
more'
run bb sh -c ': </dev/tty'
isnt 'no terminal: /dev/tty cannot be opened' "$RC" 0

run bb sh -c 'echo x >/dev/newfile; echo $?; cat /dev/newfile 2>/dev/null
	echo y >/dev/shm/file && cat /dev/shm/file; stat -c %a /dev/shm /tmp'
unlike 'no device appears from a name' "$OUT" '^b|^c'
like '/dev/shm can be written' "$OUT" '^y$'
is '/dev/shm and /tmp are for all users' "$(tail -n 2 "$T/run.out" | tr '\n' ' ')" \
	'1777 1777 '
run bb -u someone -- sh -c 'echo y >/dev/shm/file && echo z >/tmp/file &&
	echo q >/dev/null && echo ok'
is 'also for another user' "$OUT" ok

# A real program's needs, on the host's own interpreters.
if command -v bash >/dev/null; then
	run box bash -c 'cat <(echo a); echo b | tee >(cat >/dev/null)'
	is 'bash: process substitution' "$(printf '%s' "$OUT" | tr -s '\n\t ' ' ')" 'a b'
	box bash -c 'cat <(echo a); echo b | cat /dev/stdin
		echo c >/dev/stderr; echo d >/dev/stdout' \
		>"$T/out" 2>"$T/err" </dev/null
	is 'bash: into files' "$(tr '\n' ' ' <"$T/out")$(cat "$T/err")" 'a b d c'
else
	skip 'bash: process substitution' 'bash is not installed'
fi
if [ -x /usr/bin/python3 ]; then
	for user in root user 1234; do
		run box -u $user /usr/bin/python3 -c '
import multiprocessing, os, tempfile, socket
lock = multiprocessing.Lock()
with lock:
    master, slave = os.openpty()
    os.write(slave, b"x")
    print(os.read(master, 1).decode(), os.isatty(slave), os.ttyname(slave))
    print(os.path.exists(os.ttyname(slave)))
'
		is "python, $user: status" "$RC" 0
		like "python, $user: locks in shared memory, a pty" "$OUT" \
			'^x True /dev/pts/[0-9]+$'
		like "python, $user: the pty has its name" "$OUT" '^True$'
	done
else
	skip 'python: locks, ptys' 'python3 is not installed'
fi

# What an image has there is not what the box has.
mkdir -p "$T/tree/bin" "$T/tree/dev/shm"
cp "$(command -v busybox)" "$T/tree/bin/busybox"
for applet in sh ls stat cat; do
	ln -s busybox "$T/tree/bin/$applet"
done
echo 'a file' | tee "$T/tree/dev/null" "$T/tree/dev/sda" >"$T/tree/dev/shm/old"
ln -s /etc/nowhere "$T/tree/dev/tty"
tar -C "$T/tree" -cf "$T/tree.tar" .
run box -r "$T/tree.tar" -- ls /dev
is 'an image with its own /dev: the list' \
	"$(sort "$T/run.out" | tr '\n' ' ')" "$want"
run box -r "$T/tree.tar" -- sh -c 'echo lost >/dev/null; cat /dev/null
	ls /dev/shm; stat -c "%F" /dev/null /dev/tty'
is 'an image with its own /dev: what they are' "$OUT" \
	'character special file
character special file'

# The host's devices are only looked at through bind mounts.
before=$(stat -c '%a %u %g' /dev/null)
run bb sh -c 'chmod 000 /dev/null; chown 1:1 /dev/null; rm -f /dev/null; true'
is 'the host'"'"'s /dev/null is as it was' "$(stat -c '%a %u %g' /dev/null)" \
	"$before"
done_testing
