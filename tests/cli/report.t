#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report tells the truth about every ending, on one line, with all of its
# fields; --dry-run prints the plan and starts nothing.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need python3

# Each ending is run once; one python looks at all of the reports.
# ending NAME STATUS OPTION... -- COMMAND...
ending()
{
	ending_name=$1 ending_want=$2
	shift 2
	run box -r "$BUSYBOX" --report "$T/reports/$ending_name" "$@"
	is "$ending_name: status" "$RC" "$ending_want"
	[ "$ending_want" -lt 124 ] || [ "$ending_name" = signaled ] ||
		is "$ending_name: one line" \
			"$(grep -c '^llmbox: ' "$T/run.err")" 1
}

mkdir "$T/reports"
ending exited 0 -- true
ending failed 7 -- sh -c 'echo out; echo error >&2; exit 7'
ending signaled 143 -- helper signal 15
ending time 124 --timeout 200ms -- sleep 86400
ending lifetime 124 --lifetime 200ms -- sleep 86400
ending cpu 124 --cpu-time 1s -- helper spin
ending output 137 --output-limit 10 -- helper print 1000
ending disk 1 --disk 4m -- sh -c 'helper fill /f'
ending notfound 127 -- /no/such/program
ending notexec 126 -- /etc
ending option 125 --pids-limit none-such -- true
ending limit 125 --cpus 1 --best-effort pids -- true
ending volume 125 -v "$T/none:/v" -- true
ending user 125 -u nobody-knows -- true
ending workdir 125 -w /etc/passwd -- true
echo '{"limits": {"pids": -1}}' >"$T/bad.json"
ending policy 125 --policy "$T/bad.json" -- true
ending image 125 -r "$T/none.tar" -- true

mkfifo "$T/hold"
"$LLMBOX" run -r "$BUSYBOX" --report "$T/reports/cancelled" -- \
	sh -c 'echo up; cat' <"$T/hold" >"$T/out" 2>"$T/err" &
pid=$!
exec 3>"$T/hold"
wait_until grep -q up "$T/out"
kill -TERM "$pid"
RC=0
wait "$pid" || RC=$?
exec 3>&-
is 'cancelled: status' "$RC" 143
is 'cancelled: one line' "$(cat "$T/err")" 'llmbox: cancelled by SIGTERM'

cat >"$T/look.py" <<'PY'
import json, os, sys
want = {  # outcome, exit code, signal, limits hit, part of the message
    "exited": ("exited", 0, None, [], None),
    "failed": ("exited", 7, None, [], None),
    "signaled": ("signaled", 143, 15, [], None),
    "time": ("time", 124, 15, ["time"], "--timeout"),
    "lifetime": ("lifetime", 124, 15, ["lifetime"], "--lifetime"),
    "cpu": ("cpu_time", 124, 24, ["cpu_time"], "--cpu-time"),
    "output": ("output", 137, "any", ["output"], "--output-limit"),
    "disk": ("exited", 1, None, ["disk"], "--disk"),
    "notfound": ("setup", 127, None, [], "/no/such/program"),
    "notexec": ("setup", 126, None, [], "/etc is a directory"),
    "option": ("policy", 125, None, [], "--pids-limit"),
    "limit": ("policy", 125, None, [], "cpus"),
    "volume": ("setup policy", 125, None, [], "none"),
    "user": ("policy", 125, None, [], "nobody-knows"),
    "workdir": ("setup", 125, None, [], "/etc/passwd"),
    "policy": ("policy", 125, None, [], "bad.json:1:"),
    "image": ("setup", 125, None, [], "none.tar"),
    "cancelled": ("cancelled", 143, 15, [], "SIGTERM"),
}
fields = ["outcome", "exit_code", "signal", "signal_name", "message", "limits_hit", "wall_ms",
          "cpu_ms", "max_rss", "output", "changes", "isolation", "soft", "denied"]
number = 0
for name, (outcome, code, signal, limits, message) in want.items():
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as f:
        text = f.read()
    d = json.loads(text)
    wrong = []
    if text.count("\n") != 1 or not text.endswith("\n"):
        wrong.append("not one line")
    if list(d) != fields:
        wrong.append("fields %s" % list(d))
    if d["outcome"] not in outcome.split():
        wrong.append("outcome %s" % d["outcome"])
    if d["exit_code"] != code:
        wrong.append("exit_code %s" % d["exit_code"])
    if signal != "any" and d["signal"] != signal:
        wrong.append("signal %s" % d["signal"])
    if (d["signal"] is None) != (d["signal_name"] is None):
        wrong.append("signal_name %s" % d["signal_name"])
    if d["limits_hit"] != limits:
        wrong.append("limits_hit %s" % d["limits_hit"])
    if (message or "") not in (d["message"] or "") or (message is None) != (d["message"] is None):
        wrong.append("message %s" % d["message"])
    ran = d["outcome"] not in ("setup", "policy")
    if ran and not (d["max_rss"] > 0 and d["isolation"]["syscalls"] == "seccomp"):
        wrong.append("max_rss %s isolation %s" % (d["max_rss"], d["isolation"]))
    print("%s: %s" % (name, "; ".join(wrong) or "right"))
PY
run python3 "$T/look.py" "$T/reports"
is 'the reports were read' "$RC" 0
for name in exited failed signaled time lifetime cpu output disk notfound notexec \
	option limit volume user workdir policy image cancelled; do
	is "$name: the report" "$(sed -n "s/^$name: //p" "$T/run.out")" right
done

# ---- where it goes

echo 'what was there before, and it was longer than any report is, so that
a part of it would show if it were not cut' >"$T/old"
chmod 640 "$T/old"
run box -r "$BUSYBOX" --report "$T/old" -- true
is 'an old report is overwritten' "$(grep -c before "$T/old")" 0
run sh -c '"$@" 5>"$0"' "$T/five" "$LLMBOX" run -r "$BUSYBOX" --report fd:5 -- \
	sh -c 'ls /proc/self/fd; echo x >&5'
unlike 'fd:N is not the box'"'"'s' "$OUT" '^5$'
like 'fd:N has the report' "$(cat "$T/five")" '^\{"outcome":"exited"'
run box -r "$BUSYBOX" --report /dev/full -- true
like 'a report that cannot be written: says so' "$ERR" \
	'^llmbox: write the report to /dev/full: '

# ---- changes

run box -r "$BUSYBOX" --report "$T/report" -- \
	sh -c 'echo a >/new; echo b >>/etc/passwd; rm /etc/group'
is 'changes of the root' "$(json "$T/report" 'd["changes"]["root"]')" \
	'{"added": 1, "changed": 1, "removed": 1, "partial": false}'
is 'changes of the image: none' \
	"$(box -r "$BUSYBOX" -- sh -c 'ls /new; ls /etc/group' 2>/dev/null)" \
	/etc/group

# ---- --dry-run

run box -r "$BUSYBOX" --dry-run -v "$T/reports:/v:ro" -e SECRET_T=s3 \
	--timeout 5s -- sh -c 'echo started; echo x >/v/started'
is '--dry-run: status' "$RC" 0
is '--dry-run: nothing on stderr' "$ERR" ''
unlike '--dry-run: nothing was started' "$OUT" '^started$'
like '--dry-run: the plan as JSON' "$(json "$T/run.out" 'sorted(d)')" '^\["'
like '--dry-run: the command is in it' "$OUT" 'echo started'
run box --dry-run --pids-limit 0x -- true
is '--dry-run: a bad option all the same' "$RC" 125
run box --dry-run -v "$T/none:/v" -- true
is '--dry-run: a missing source all the same' "$RC" 125
done_testing
