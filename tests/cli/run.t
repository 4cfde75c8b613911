#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What run makes of its own options: the notes, the report, --json, --dry-run,
# and the directory of a run that writes to disk.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"

run box -- sh -c 'echo hello; exit 3'
is 'the status is the command'"'"'s own' "$RC" 3
is 'its output' "$OUT" hello
is 'nothing is said' "$ERR" ''

run box sh -c 'echo "$#:$*"' x -q --json -- y
is 'behind the command all is its own' "$OUT" '4:-q --json -- y'

# -C: the source stays as it is, and the last line says so.
mkdir "$T/project"
cd "$T/project" || exit 1
echo one >one
echo two >two
here=$(pwd -P)
run box -C . sh -c 'pwd; echo x >new; echo x >>one; rm two'
is '-C: status' "$RC" 0
is '-C: works at the same path' "$OUT" "$here"
is '-C: the changes are counted' "$ERR" "llmbox: 3 files changed in $here \
(1 added, 1 changed, 1 removed), not kept; use -C $here:rw to keep changes"
is '-C: the source is untouched' "$(ls; cat one)" "one
two
one"
run box -C . sh -c ': >new'
like '-C: one file' "$ERR" '^llmbox: 1 file changed in .*\(1 added, 0 '
run box -C . true
is '-C: no change, no note' "$ERR" ''
run box -q -C . sh -c 'echo x >new'
is '-C -q: no note' "$ERR" ''
run box -C .:ro sh -c 'echo x >new'
isnt '-C :ro can not be written' "$RC" 0
unlike '-C :ro: no note' "$ERR" 'not kept'
if is_root; then
	run box --allow-root-volume -C .:rw sh -c 'echo x >new'
else
	run box -C .:rw sh -c 'echo x >new'
fi
is '-C :rw: status' "$RC" 0
is '-C :rw: silent' "$ERR" ''
is '-C :rw: kept' "$(cat new)" x
run box -C /
is '-C / is refused' "$RC" 125
HOME=$here run box -C . true
is '-C of the home directory is refused' "$RC" 125
like '-C of the home directory: says so' "$ERR" 'home directory'

# The report.
run box --report "$T/report" -C . sh -c 'echo x >other; exit 5'
is 'report: outcome' "$(json "$T/report" 'd["outcome"]')" exited
is 'report: exit code' "$(json "$T/report" 'd["exit_code"]')" 5
is 'report: changes' "$(json "$T/report" 'd["changes"]["project"]["added"]')" 1
is 'report: one line' "$(wc -l <"$T/report" | tr -d ' ')" 1
box --report fd:7 true 7>"$T/report7"
is 'report to a descriptor' "$(json "$T/report7" 'd["outcome"]')" exited
run box --report fd:7 sh -c ': >&7' 7>"$T/report7"
isnt 'the command does not have that descriptor' "$RC" 0
ln -s "$T/elsewhere" "$T/link"
box --report "$T/link" sh -c 'exit 0'
is 'report through a link of the caller' \
	"$(json "$T/elsewhere" 'd["outcome"]')" exited
run box --report "$here/report" -C . sh -c 'cat report; echo x >report'
is 'report: the box sees it empty, and can only change its own' \
	"$(json "$here/report" 'd["outcome"]')" exited
rm "$here/report"
if [ -e /dev/full ]; then
	run box --report /dev/full sh -c 'exit 6'
	is 'a report that cannot be written: the status stays' "$RC" 6
	like 'a report that cannot be written: a line' "$ERR" \
		'^llmbox: write the report to /dev/full: '
else
	skip 'a report that cannot be written' 'there is no /dev/full'
fi
# Nobody reads: EPIPE, not the death of llmbox.
python3 - "$LLMBOX" <<'EOF'
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
p = subprocess.run([sys.argv[1], "run", "--report", "fd:%d" % w,
                    "sh", "-c", "exit 7"], pass_fds=[w],
                   stderr=subprocess.DEVNULL)
sys.exit(0 if p.returncode == 7 else 1)
EOF
is 'a report that nobody reads: the status stays' $? 0

# --json
run box --json -- sh -c 'echo out; echo err >&2; exit 4'
is 'json: status' "$RC" 4
is 'json: stdout' "$(json "$T/run.out" 'd["stdout"]')" 'out'
is 'json: stderr' "$(json "$T/run.out" 'd["stderr"]')" 'err'
is 'json: one line' "$(wc -l <"$T/run.out" | tr -d ' ')" 1
run box --json -- /no/such/file
is 'json of what is not found: status' "$RC" 127
is 'json of what is not found: exit code' \
	"$(json "$T/run.out" 'd["exit_code"]')" 127
like 'json of what is not found: stderr has the line' "$ERR" \
	'^llmbox: .*/no/such/file'

# --dry-run
run box --dry-run --timeout 5m -- sh -c 'touch ran'
is 'dry run: status' "$RC" 0
is 'dry run: a plan' "$(json "$T/run.out" 'd["limits"]["time_ms"]')" 300000
ok 'dry run: nothing ran' test ! -e ran
run box --verbose true
like 'verbose: the identity' "$ERR" '^llmbox: identity (one|range|shifted)'
like 'verbose: the guarantees' "$ERR" '^llmbox: pids: '

# A limit of llmbox: one line that names it.
run box --timeout 200ms sleep 1000
is 'timeout: status' "$RC" 124
like 'timeout: names limit and option' "$ERR" '^llmbox: time 0.2s .*--timeout'
is 'timeout: one line' "$(wc -l <"$T/run.err" | tr -d ' ')" 1

# --writes disk
need_file "$BUSYBOX" 'no static busybox'
scratch=$XDG_STATE_HOME/llmbox/scratch
[ -e "$scratch" ] || (umask 077 && mkdir -p "$scratch")
run box --writes disk -r "$BUSYBOX" -- sh -c \
	'mkdir -p a/b; chmod 0 a; echo x >/f; cat /f'
is 'writes disk: works' "$OUT" x
is 'writes disk: nothing is left' "$(ls "$scratch")" ''
# As if a killed llmbox had left it: the next start, whatever it is, sweeps.
mkdir -p "$scratch/0123456789abcdef/upper/d"
chmod 0 "$scratch/0123456789abcdef/upper"
run box true
is 'left-overs are swept' "$(ls "$scratch")" ''
# One in use is locked, and stays.
mkdir -m 700 "$scratch/fedcba9876543210"
if command -v flock >/dev/null; then
	flock "$scratch/fedcba9876543210" "$LLMBOX" run true
	is 'what is in use stays' "$(ls "$scratch")" fedcba9876543210
	run box true
	is 'and goes when it is not' "$(ls "$scratch")" ''
else
	skip 'what is in use stays' 'flock(1) is not installed'
fi
done_testing
