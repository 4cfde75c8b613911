#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HO-01: a host without user namespaces: one sentence that names the cause,
# llmbox's own status, and nothing is run without its walls.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need unshare

run box -r "$BUSYBOX" -- true
is 'the image is there' "$RC" 0
if ! unshare -Urm true 2>/dev/null; then
	skip 'no more user namespaces' 'none can be made here at all'
	done_testing
fi
# A namespace of our own, in which we may lower the limit for all below it.
cat >"$T/without.sh" <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces || exit 9
unshare -U true 2>/dev/null && exit 8
exec "$@"
SH
run unshare -Ur sh "$T/without.sh" "$LLMBOX" run --identity one -r "$BUSYBOX" \
	--report "$T/report" -- sh -c 'echo started'
is 'max_user_namespaces 0: status' "$RC" 125
is 'max_user_namespaces 0: nothing was started' "$OUT" ''
is 'max_user_namespaces 0: one line' "$(wc -l <"$T/run.err" | tr -d ' ')" 1
like 'max_user_namespaces 0: the cause' "$ERR" \
	'^llmbox: .*user namespace.*max_user_namespaces'
like 'max_user_namespaces 0: the report' "$(cat "$T/report")" \
	'"outcome":"setup".*"exit_code":125'
done_testing
