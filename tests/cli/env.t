#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environment is what the policy says and a short list, never the caller's;
# nothing of the caller's is in any process of the box or in argv (EN-01).
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
like '-u: HOME' "$OUT" '^HOME=/home$'
like '-u: USER' "$OUT" '^USER=someone$'
like '-u: LOGNAME' "$OUT" '^LOGNAME=someone$'
done_testing
