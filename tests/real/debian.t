#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A whole Debian tree as users have it: unpacked once, started warm, with its
# own loader, interpreters and package tools.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/lib/box.sh"
[ -n "${DEBIAN-}" ] || skip_all 'there is no Debian tree'
need strace

debian()
{
	box -r "$DEBIAN" -- "$@"
}

# An archive that may still be written to is not taken for known.
is_settled()
{
	[ $(($(date +%s) - $(stat -c %Z "$DEBIAN"))) -gt 3 ]
}
wait_until is_settled

run debian cat /etc/debian_version
is 'cold: status' "$RC" 0
like 'cold: it is Debian' "$OUT" '^[0-9a-z]'

before=$("$LLMBOX" image list)
run strace -o "$T/trace" -P "$DEBIAN" "$LLMBOX" run -r "$DEBIAN" -- true
is 'warm: status' "$RC" 0
like 'warm: the archive is looked at' "$(cat "$T/trace")" '^(openat|.*stat)'
unlike 'warm: and not read' "$(cat "$T/trace")" \
	'^(p?read(64|v)?|mmap|sendfile|splice)\('
is 'warm: no new image' "$("$LLMBOX" image list)" "$before"

run debian python3 -c 'import sys; print(sys.version_info[0])'
is 'python3: status' "$RC" 0
is 'python3: output' "$OUT" 3
run debian sh -c 'echo "$0" | tr a-z A-Z; exit 7' text
is 'sh: status' "$RC" 7
is 'sh: output' "$OUT" TEXT
run debian bash -c 'cat <(echo a); echo b | cat /dev/stdin; echo c >/dev/stderr'
is 'bash: process substitution and /dev/stdin' "$OUT" 'a
b'
is 'bash: /dev/stderr' "$ERR" c
run debian dpkg --audit
is 'dpkg: the database is whole' "$RC$OUT" 0
run debian dpkg-query -W -f='${Status}\n' python3-minimal
is 'dpkg: knows its packages' "$OUT" 'install ok installed'
run debian sh -c 'rm -rf /etc && mkdir /etc && ls -A /etc | wc -l'
is 'overlay: a directory can be replaced' "$OUT" 0
run debian cat /etc/debian_version
is 'overlay: and the image has not changed' "$RC" 0
run debian python3 -c '
import threading
t = threading.Thread(target=print, args=("ok",))
t.start()
t.join()'
is 'threads' "$OUT" ok
run debian ps -o pid= -p 1
is 'ps: the box has its own process 1' "${OUT##* }" 1
run "$LLMBOX" image import "$DEBIAN" debian
is 'import: status' "$RC" 0
run box -r debian -- cat /etc/debian_version
is 'by name: status' "$RC" 0
done_testing
