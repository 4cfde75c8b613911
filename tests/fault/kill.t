#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SG-01: llmbox, the box's init or llmbox's caller is killed at 200 moments,
# from the first instruction to after the end: no process of the box and no
# mount is left, and no file after the next start.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need python3

run box -r "$BUSYBOX" -- true
is 'the image is there' "$RC" 0
cat >"$T/kill.py" <<'PY'
"""Moments come from a seeded generator: a fraction of the time that a start
takes here, measured by the runs before. Processes are known by an argument of their
own in /proc/PID/cmdline, and those that have none (init) by having been seen
below the one that was killed; mounts by /proc/self/mountinfo.
"""
import os, random, signal, subprocess, sys, time

llmbox, busybox, state = sys.argv[1:]
rounds = 200
generator = random.Random(20240229)
mark = "llmbox-kill-%d" % os.getpid()


def marked():
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % name, "rb") as f:
                words = f.read()
            with open("/proc/%s/stat" % name) as f:
                zombie = f.read().rsplit(")", 1)[1].split()[0] in "ZX"
        except OSError:
            continue
        if not zombie and mark.encode() in words and int(name) != os.getpid():
            found.add(int(name))
    return found


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def descendants(pid):
    """All that may be seen now, also before they have their arguments."""
    found, queue = set(), [pid]
    while queue:
        for child in children(queue.pop()):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def start_time(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return None if fields[0] in "ZX" else fields[19]
    except OSError:
        return None


def mounts():
    with open("/proc/self/mountinfo") as f:
        return len(f.readlines())


def has_begun(pid):
    """llmbox below its caller, after exec: a caller that ends before is one that
    nobody can know of."""
    try:
        return (os.path.samefile("/proc/%d/exe" % pid, llmbox)
                and any(int(fd) > 2 for fd in os.listdir("/proc/%d/fd" % pid)))
    except OSError:
        return False


def gone(pids):
    """Waits; False where one is still there after a long while."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not marked() and all(start_time(p) != t for p, t in pids.items()):
            return True
        time.sleep(0.001)
    return False


def box(who, writes, i):
    script = "helper daemon %s-%d; echo up; exec helper wait %s-%d" % (mark, i, mark, i)
    command = [llmbox, "run", "-r", busybox, "--writes", writes, "--", "sh", "-c", script]
    if who == "caller":
        command = ["sh", "-c", '"$@"; exit $?', mark] + command
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            stdin=subprocess.DEVNULL)


before, took, left, leaks = mounts(), 0.05, [], 0
stages = {"early": 0, "up": 0}
for i in range(rounds):
    who = ("llmbox", "init", "caller")[i % 3]
    writes = "disk" if i % 5 == 0 else "memory"
    fraction = generator.random() * 1.3
    began = time.monotonic()
    p = box(who, writes, i)
    if fraction > 1:
        p.stdout.readline()
        took = 0.8 * took + 0.2 * (time.monotonic() - began)
        stages["up"] += 1
    else:
        while time.monotonic() - began < fraction * took:
            pass
        stages["early"] += 1
    while who == "caller" and p.poll() is None and not any(map(has_begun, children(p.pid))):
        pass
    seen = descendants(p.pid)
    target = p.pid
    if who == "init":
        # The supervisor's youngest child is init, or outer on the way to it.
        target = max(children(p.pid), default=p.pid)
    pids = {pid: start_time(pid) for pid in seen | {p.pid}}
    pids = {pid: t for pid, t in pids.items() if t}
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while who == "init" and p.poll() is None:
        # It was outer, with its work done: then the box goes on, rightly.
        for pid in children(p.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.001)
    p.wait()
    p.stdout.close()
    if not gone(pids):
        left.append((i, who, fraction, sorted(marked())))
        for pid in marked():
            os.kill(pid, signal.SIGKILL)
    if mounts() != before:
        leaks += 1
print("left: %s" % left)
print("mounts: %d" % leaks)
print("early and late: %s" % all(n > rounds // 10 for n in stages.values()))
subprocess.run([llmbox, "run", "-r", busybox, "--writes", "disk", "--", "true"], check=True)
files = [os.path.join(d, f) for d, dirs, files in os.walk(os.path.join(state, "llmbox", "scratch"))
         for f in dirs + files]
print("files: %s" % files)
PY
# At its end a build with sanitizers starts a child that searches for leaks, and
# spins for ever if that is killed: it is not one of ours.
run env ASAN_OPTIONS=detect_leaks=0 python3 "$T/kill.py" "$LLMBOX" "$BUSYBOX" "$XDG_STATE_HOME"
is '200 kills: it went to its end' "$RC" 0
like '200 kills: no process is left' "$OUT" '^left: \[\]$'
like '200 kills: no mount is left' "$OUT" '^mounts: 0$'
like '200 kills: before and after the command began' "$OUT" \
	'^early and late: True$'
like '200 kills: no file after the next start' "$OUT" '^files: \[\]$'
# The way such a test can be blind: outside a box the daemon stays.
"$LLMBOX_BUILD/tests/lib/helper" daemon "outside-$$"
find_outside()
{
	pid=$(grep -lz "^outside-$$\$" /proc/[0-9]*/cmdline 2>/dev/null |
		sed -n '1s,/proc/\([0-9]*\)/.*,\1,p')
	[ -n "$pid" ]
}
ok 'outside a daemon outlives its parent' wait_until find_outside
[ -z "$pid" ] || kill -KILL "$pid"

# Cancelled, while the command runs. (INT and QUIT are ignored in what a shell
# puts in the background: the terminal's tests have them.)
for signal in HUP TERM; do
	mkfifo "$T/hold"
	"$LLMBOX" run -r "$BUSYBOX" --report "$T/report" -- \
		sh -c "helper daemon $T/box; echo up; cat" \
		<"$T/hold" >"$T/out" 2>"$T/err" &
	pid=$!
	exec 3>"$T/hold"
	wait_until grep -q up "$T/out"
	kill -s "$signal" "$pid"
	RC=0
	wait "$pid" || RC=$?
	exec 3>&-
	rm "$T/hold"
	: >"$T/out"
	case $signal in
	HUP) is "$signal: status" "$RC" 129 ;;
	*) is "$signal: status" "$RC" 143 ;;
	esac
	is "$signal: one line" "$(cat "$T/err")" \
		"llmbox: cancelled by SIG$signal"
	like "$signal: the report" "$(cat "$T/report")" '"outcome":"cancelled"'
	is "$signal: nothing is left" \
		"$(grep -lz "^$T/box\$" /proc/[0-9]*/cmdline 2>/dev/null)" ''
done
done_testing
