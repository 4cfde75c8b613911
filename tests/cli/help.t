#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help that was asked for goes to stdout with status 0, and comes from the
# tables: every verb that the list names has its own help.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"

run "$LLMBOX" --version
is 'version: status' "$RC" 0
like 'version: name and number' "$OUT" '^llmbox [0-9]+\.[0-9]+'
is 'version: nothing on stderr' "$ERR" ''

for how in help --help -h; do
	run "$LLMBOX" "$how"
	is "$how: status" "$RC" 0
	like "$how: usage" "$OUT" '^Usage: llmbox COMMAND'
	is "$how: nothing on stderr" "$ERR" ''
done
verbs=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]* \{0,1\}[a-z]*\).*/\1/p' \
	"$T/run.out")
like 'the list has run' "$verbs" '^run *$'
like 'the list has image import' "$verbs" '^image import$'

echo "$verbs" >"$T/verbs"
while read -r verb; do
	# shellcheck disable=SC2086
	run "$LLMBOX" $verb --help
	is "$verb --help: status" "$RC" 0
	like "$verb --help: usage" "$OUT" "^Usage: llmbox $verb \[OPTION\]"
	is "$verb --help: nothing on stderr" "$ERR" ''
	is "$verb --help: at most 80 columns" \
		"$(awk 'length > 80' "$T/run.out")" ''
	cp "$T/run.out" "$T/first"
	# shellcheck disable=SC2086
	run "$LLMBOX" help $verb
	ok "help $verb: the same" cmp -s "$T/first" "$T/run.out"
	# shellcheck disable=SC2086
	run "$LLMBOX" $verb -h
	ok "$verb -h: the same" cmp -s "$T/first" "$T/run.out"
done <"$T/verbs"

run "$LLMBOX" image --help
is 'help of a group: status' "$RC" 0
like 'help of a group: its verbs' "$OUT" '^  image list '
unlike 'help of a group: no others' "$OUT" '^  policy'

run "$LLMBOX" run -q -m 1g -h
like '-h at the end of options is help' "$OUT" '^Usage: llmbox run'

run "$LLMBOX" help nothing
is 'help for an unknown verb: status' "$RC" 125
is 'help for an unknown verb: stdout' "$OUT" ''

if [ -e /dev/full ]; then
	RC=0
	"$LLMBOX" help >/dev/full 2>"$T/err" || RC=$?
	is 'help that cannot be written: status' "$RC" 125
	like 'help that cannot be written: says so' "$(cat "$T/err")" \
		'^llmbox: write to standard output: '
else
	skip 'help that cannot be written' 'there is no /dev/full'
fi
RC=0
"$LLMBOX" help >&- 2>&- <&- || RC=$?
is 'closed descriptors are /dev/null' "$RC" 0
done_testing
