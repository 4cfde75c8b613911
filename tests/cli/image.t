#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The image verbs as a user sees them.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'no static busybox'

run "$LLMBOX" image list
is 'an empty store: status' "$RC" 0
is 'an empty store: the head of a table' "$(echo "$OUT" | awk '{print $1, $2}')" \
	'NAME ID'
run "$LLMBOX" image list --json
is 'an empty store: an empty array' "$(json "$T/run.out" 'd')" '[]'

run "$LLMBOX" image import "$BUSYBOX"
is 'import: status' "$RC" 0
like 'import: prints name and id' "$OUT" '^busybox [0-9a-f]{64}$'
id=${OUT#* }
run "$LLMBOX" image import - other <"$BUSYBOX"
is 'import from standard input, the same archive' "$OUT" "other $id"
run "$LLMBOX" image list -q
is 'list -q: all names' "$(sort "$T/run.out" | tr '\n' ' ')" 'busybox other '
run "$LLMBOX" image list
is 'list: one row' "$(wc -l <"$T/run.out" | tr -d ' ')" 2
like 'list: names, id, size' "$OUT" \
	"^busybox,other  $(echo "$id" | cut -c1-12)  [0-9]+ MiB  20"
run "$LLMBOX" images -q
is 'images is image list' "$(sort "$T/run.out" | tr '\n' ' ')" 'busybox other '
run "$LLMBOX" image inspect other
is 'inspect: its id' "$(json "$T/run.out" 'd["id"]')" "$id"

run box -r other -- sh -c 'echo inside'
is 'a name runs' "$OUT" inside
run box -r othr -- true
is 'an unknown name: status' "$RC" 125
like 'an unknown name: the near one' "$ERR" "^llmbox: .*othr.*'other'"

run "$LLMBOX" image remove nothing busybox
is 'remove: one of two fails: status' "$RC" 125
like 'remove: names it' "$ERR" "^llmbox: .*nothing"
run "$LLMBOX" image list -q
is 'remove: the other one is gone' "$OUT" other
run "$LLMBOX" image remove other
is 'remove: status' "$RC" 0
run "$LLMBOX" image list --json
is 'remove: the last name takes the image' "$(json "$T/run.out" 'd')" '[]'

# An image of an archive that was only run has no name: prune removes it.
box -r "$BUSYBOX" -- true
run "$LLMBOX" image list -q
is 'run gives no name' "$OUT" ''
run "$LLMBOX" image prune
is 'prune: status' "$RC" 0
like 'prune: says what' "$OUT" '^1 removed, [0-9]+ MiB$'

head -c 100000 "$BUSYBOX" >"$T/cut.tar"
run "$LLMBOX" image import "$T/cut.tar"
is 'a cut archive: status' "$RC" 125
like 'a cut archive: named' "$ERR" "^llmbox: .*$T/cut.tar"
run "$LLMBOX" image list --json
is 'a cut archive: nothing in the store' "$(json "$T/run.out" 'd')" '[]'
run "$LLMBOX" image import "$T/none.tar"
is 'no such archive: status' "$RC" 125
done_testing
