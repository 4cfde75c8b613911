#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nothing of the caller's gets in by a descriptor: leaked ones are closed, files
# on 0-2 can't be opened again with other rights, directories are refused.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'

bb()
{
	box -r "$BUSYBOX" "$@"
}

# Leaked: a directory of the host, a file, a pipe (CVE-2024-21626).
mkdir "$T/dir"
echo secret >"$T/dir/file"
exec 7<"$T/dir" 8<"$T/dir/file" 9>"$T/dir/out"
run bb helper descriptors
is 'only 0 to 2' "$(printf '%s' "$OUT" | tr -d 'a-z?')" '0 1 2 '
run bb -w /proc/self/fd/7 -- ls
isnt 'no working directory by a descriptor' "$OUT" file
run bb sh -c 'cat /proc/self/fd/7/file /dev/fd/8 <&8; echo x >&9'
is 'none can be read' "$OUT" ''
ok 'outside: a leaked directory can be walked' cat /proc/self/fd/7/file
is 'outside: a leaked file can be read' "$(cat <&8)" secret
run bb sh -c 'for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null; done'
unlike 'no process of the box has one of the host' "$OUT" "$T"
exec 7<&- 8<&- 9>&-

# Files on 0-2 come through pipes: reading is not writing, appending is not
# truncating, and there is no name of the host to be seen.
echo input >"$T/in"
echo 'line one' >"$T/log"
box -r "$BUSYBOX" -- sh -c 'read x; echo "read $x"; echo evil >/proc/self/fd/0
	: >/proc/self/fd/1; readlink /proc/self/fd/0 /proc/self/fd/1
	truncate -s 0 /proc/self/fd/1' <"$T/in" >>"$T/log" 2>"$T/err"
is 'standard input cannot be written' "$(cat "$T/in")" input
is 'a log that is appended to cannot be cut' "$(sed -n 1,2p "$T/log")" \
	'line one
read input'
unlike 'names are pipes'"'"', not files'"'" "$(cat "$T/log")" "$T"
sh -c 'echo evil >/proc/self/fd/0' <"$T/in"
is 'outside: it can be written' "$(cat "$T/in")" evil
run sh -c '"$@" <"$0"' "$T/dir" "$LLMBOX" run -r "$BUSYBOX" -- ls -l /proc/self/fd/0/
is 'a directory as standard input: status' "$RC" 125
like 'a directory as standard input: says so' "$ERR" '^llmbox: .*directory'

# Closed ones: nothing opened later may take their places.
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	eval "\"\$LLMBOX\" run -r \"\$BUSYBOX\" --report \"\$T/report\" -- \
		sh -c 'cat; echo out; echo err >&2' </dev/null >\"\$T/out\" \
		2>\"\$T/err\" $closed"
	is "closed: $closed" "$?" 0
	like "closed: $closed: the report is whole" "$(cat "$T/report")" \
		'^\{.*"outcome":"exited".*}$'
done

# Overwriting the program through /proc (CVE-2019-5736).
before=$(cksum <"$LLMBOX")
run bb sh -c 'for p in 1 self; do echo x >/proc/$p/exe; done
	cp /bin/sh /tmp/sh; printf "#!/proc/self/exe\n" >/tmp/s; chmod 755 /tmp/s
	/tmp/s; ls -l /proc/1/exe; cat /proc/1/exe | wc -c'
is 'llmbox is what it was' "$(cksum <"$LLMBOX")" "$before"
like 'and cannot be read through init' "$OUT" '^0$'

# The supervisor is not in the box's view of processes.
run bb sh -c 'for p in /proc/[0-9]*; do tr "\0" " " <$p/cmdline; echo; done'
unlike 'no supervisor' "$OUT" "$LLMBOX"

# A socket's other end keeps its flags: the caller's pipe is not left changed.
if command -v python3 >/dev/null; then
	run python3 -c '
import fcntl, os, subprocess, sys
r, w = os.pipe()
before = fcntl.fcntl(w, fcntl.F_GETFL), fcntl.fcntl(r, fcntl.F_GETFL)
subprocess.run(sys.argv[1:] + ["true"], stdout=w, stdin=r)
print(before == (fcntl.fcntl(w, fcntl.F_GETFL), fcntl.fcntl(r, fcntl.F_GETFL)))
' "$LLMBOX" run -r "$BUSYBOX" --output-limit 1000 --
	is 'pipes are left as they were' "$OUT" True
else
	skip 'pipes are left as they were' 'python3 is not installed'
fi
done_testing
