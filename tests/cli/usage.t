#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A wrong command line: status 125, one line on stderr that names what is wrong
# and what to do, nothing on stdout, nothing started.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"

# fails REGEX ARG...
fails()
{
	wanted=$1
	shift
	run "$LLMBOX" "$@"
	is "$*: status" "$RC" 125
	is "$*: nothing on stdout" "$OUT" ''
	is "$*: one line" "$(wc -l <"$T/run.err" | tr -d ' ')" 1
	like "$*: says what" "$ERR" "^llmbox: $wanted"
}

fails "a command is missing .*llmbox help"
fails "unknown command 'imgae'; did you mean 'image'\?" imgae
fails "unknown command 'image lsit'; did you mean 'list'\?" image lsit
fails "unknown command 'frobnicate' " frobnicate
fails "unknown command 'mcp'" mcp
fails "image needs one of import, " image
fails "unknown option '--foo' before the command" --foo run true
fails "unknown option '--memroy'; did you mean '--memory'\? .*try 'llmbox run --help'" \
	run --memroy 1g true
fails "unknown option '--mem' " run --mem 1g true
fails "unknown option '-Z'" run -Z true
fails "unknown option '-d'" run -d true
fails "option '--memory' needs a value: SIZE" run --memory
fails "option '--json' takes no value" run --json=1 true
fails "run: an argument is missing .*usage: llmbox run" run
fails "run: an argument is missing" run -q --
fails "policy check: an argument is missing" policy check
fails "unexpected argument 'b'" policy check a b
fails "option '-q' after an argument" image import x -q
fails "unexpected argument 'x'" policy schema x
fails "no completions for 'csh'" completion csh
fails ".*-m.*" run -m 12potatoes true
fails ".*-m.*" run -m= true
fails ".*--network.*" run --network sometimes true
fails ".*SRC.*|.*write .*\./data.*" run -v data:/data true
fails "--allow means --network allowlist, not none" \
	run --allow example.org --network none true
fails "--allow means --network allowlist, not host" \
	run --network host --allow example.org true
fails "read $T/none .*No such file" run --env-file "$T/none" true
printf 'A=1\n# fine\n\n=3\n' >"$T/env"
fails "$T/env:4: " run --env-file "$T/env" true
printf 'A=1\0B=2\n' >"$T/env"
fails "$T/env:1: a NUL byte" run --env-file "$T/env" true
fails "--report $T/no/dir: No such file" run --report "$T/no/dir" true
fails "--report fd:2.*above 2" run --report fd:2 true
fails "--report fd:x.*above 2" run --report fd:x true
fails "--report fd:99: Bad file" run --report fd:99 true

RC=0
"$LLMBOX" run --report fd:3 true 3</dev/null 2>"$T/err" || RC=$?
is 'a report descriptor that is only read: status' "$RC" 125
like 'a report descriptor that is only read: says so' "$(cat "$T/err")" \
	'^llmbox: --report fd:3: not open for writing'

# What is wrong reaches the report and --json too.
run "$LLMBOX" run --memroy --report "$T/report" --json -- true
is 'a wrong option: status' "$RC" 125
is 'a wrong option: the report' "$(json "$T/report" 'd["outcome"]')" policy
is 'a wrong option: its exit code' "$(json "$T/report" 'd["exit_code"]')" 125
like 'a wrong option: its message' "$(json "$T/report" 'd["message"]')" memroy
is 'a wrong option: --json' "$(json "$T/run.out" 'd["outcome"]')" policy
is 'a wrong option: one line of JSON' "$(wc -l <"$T/run.out" | tr -d ' ')" 1
is 'a wrong option: no output' "$(json "$T/run.out" 'd["stdout"]')" ''

run "$LLMBOX" run --report "$T/report" -m potato -- true
is 'a wrong value: the report' "$(json "$T/report" 'd["outcome"]')" policy
echo '{"limits": {"memroy": "1g"}}' >"$T/policy.json"
run "$LLMBOX" run --report "$T/report" --policy "$T/policy.json" -- true
is 'a wrong policy: status' "$RC" 125
is 'a wrong policy: the report' "$(json "$T/report" 'd["outcome"]')" policy
like 'a wrong policy: the place' "$ERR" "^llmbox: $T/policy.json:1:[0-9]*: "
run "$LLMBOX" run --report "$T/report" -r "$T/none.tar" -- true
is 'no such archive: status' "$RC" 125
is 'no such archive: the report' "$(json "$T/report" 'd["outcome"]')" setup
like 'no such archive: named' "$ERR" "^llmbox: .*$T/none.tar"

# Control bytes of an argument must not reach the terminal.
run "$LLMBOX" "$(printf 'a\033[31mb')"
like 'control bytes come escaped' "$ERR" 'a\\033\[31mb'
done_testing
