#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# policy check, show and schema, and how options and files come together.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"

echo '{"limits": {"memory": "64m", "time": "5m"}, "user": "1000"}' \
	>"$T/good.json"
run "$LLMBOX" policy check "$T/good.json"
is 'a good file: status' "$RC" 0
is 'a good file: silent' "$OUT$ERR" ''

cat >"$T/bad.json" <<EOF
{
  "limits": {"memroy": "64m", "time": -1},
  "usr": "x"
}
EOF
run "$LLMBOX" policy check "$T/bad.json"
is 'a bad file: status' "$RC" 1
is 'a bad file: each error has a line' "$(wc -l <"$T/run.err" | tr -d ' ')" 3
like 'a bad file: a place and a near name' "$ERR" \
	"^llmbox: $T/bad.json:2:14: .*memroy.*memory"
like 'a bad file: the number' "$ERR" "^llmbox: $T/bad.json:2:39: "
like 'a bad file: the other key' "$ERR" "^llmbox: $T/bad.json:3:3: .*usr.*user"

python3 -c 'import json
print(json.dumps({"x%d" % i: 1 for i in range(30)}))' >"$T/many.json"
run "$LLMBOX" policy check "$T/many.json"
is 'many errors: 20 are told, and how many more' \
	"$(wc -l <"$T/run.err" | tr -d ' ')" 21
like 'many errors: how many more' "$ERR" '10 more'

run "$LLMBOX" policy check "$T/none.json"
is 'a missing file: status' "$RC" 1
like 'a missing file: named' "$ERR" "$T/none.json"
run "$LLMBOX" policy check "$T"
is 'a directory: status' "$RC" 1

run "$LLMBOX" policy schema
is 'schema: status' "$RC" 0
# shellcheck disable=SC2016
is 'schema: an object of known version' "$(json "$T/run.out" \
	'"2020-12" in d["$schema"]')" true

show()
{
	run "$LLMBOX" policy show "$@"
	is "show $*: status" "$RC" 0
}
show
is 'show: valid JSON' "$(json "$T/run.out" 'type(d).__name__')" dict
default=$OUT
show --policy "$T/good.json"
isnt 'show: a file makes a difference' "$OUT" "$default"
like 'show: the origin' "$OUT" "$T/good.json"
file_only=$OUT

# Options come on top, wherever they stand.
show -m 128m --policy "$T/good.json"
before=$OUT
show --policy "$T/good.json" -m 128m
is 'an option before and after the file' "$before" "$OUT"
isnt 'an option overrides the file' "$OUT" "$file_only"
like 'the option is its origin' "$OUT" '"-m"'

LLMBOX_POLICY=$T/good.json run "$LLMBOX" policy show
is 'LLMBOX_POLICY names the file' "$OUT" "$file_only"
mkdir -p "$XDG_CONFIG_HOME/llmbox"
cp "$T/good.json" "$XDG_CONFIG_HOME/llmbox/policy.json"
show
like 'the configuration directory has one' "$OUT" \
	"$XDG_CONFIG_HOME/llmbox/policy.json"
echo '{' >"$XDG_CONFIG_HOME/llmbox/policy.json"
run "$LLMBOX" policy show
is 'a broken one is an error: status' "$RC" 125
is 'a broken one is an error: no fall back' "$OUT" ''
rm -r "$XDG_CONFIG_HOME/llmbox"

# Never from the working directory.
mkdir "$T/work"
cp "$T/bad.json" "$T/work/policy.json"
cp "$T/bad.json" "$T/work/llmbox.json"
here=$(cd "$T/work" && "$LLMBOX" policy show)
is 'no file of the working directory counts' "$here" "$default"

# -e and --env-file
SECRET_T=s3 run "$LLMBOX" policy show -e A=b -e SECRET_T -e NOT_SET_T
like 'env: a value' "$OUT" '"A": "b"'
like 'env: NAME passes the value of the caller' "$OUT" '"SECRET_T": "s3"'
unlike 'env: what is not set stays so' "$OUT" 'NOT_SET_T'
printf '# comment\n\n  B=x y\nC=#1\r\nSECRET_T\n' >"$T/env"
SECRET_T=s4 run "$LLMBOX" policy show --env-file "$T/env"
like 'env file: blanks inside stay' "$OUT" '"B": "x y"'
like 'env file: DOS line ends' "$OUT" '"C": "#1"'
like 'env file: NAME alone' "$OUT" '"SECRET_T": "s4"'

show --allow example.org:443
like '--allow implies the allow-list' "$OUT" '"allowlist"'
show --read-only
like '--read-only is --writes none' "$OUT" '"--read-only"'
show --ulimit nofile=100:200
like '--ulimit' "$OUT" '100'
done_testing
