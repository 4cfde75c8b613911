#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Policies that other people's tools took for something else (make_inputs.py):
# each is right, or refused with its place, and then nothing runs.
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$INPUTS/PJ-04-good.json" 'is python3 installed?'

for file in "$INPUTS"/PJ-*.json; do
	name=${file##*/}
	run "$LLMBOX" policy check "$file"
	case $name in
	PJ-03-suffix.json | PJ-04-good.json | PJ-04-crlf.json)
		is "$name: right" "$RC$OUT$ERR" 0
		continue
		;;
	esac
	is "$name: refused" "$RC" 1
	like "$name: with its place" "$OUT$ERR" "$name:[0-9]+:[0-9]+: "
	run box --policy "$file" -- sh -c 'echo ran'
	is "$name: nothing runs" "$RC$OUT" 125
done
like 'a misspelt key: the near match' \
	"$("$LLMBOX" policy check "$INPUTS/PJ-01-unknown-top.json" 2>&1)" \
	'netwrok.*did you mean "network"'
for file in /dev/null "$T" "$T/missing.json"; do
	run box --policy "$file" -- sh -c 'echo ran'
	is "--policy ${file##*/}: never an empty policy" "$RC$OUT" 125
done
done_testing
