#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command at a terminal of its own and says how it left the terminal.

ptyrun.py [--size ROWSxCOLS] [STEP]... -- COMMAND [ARG]...

Steps are done in order; without one the command is only waited for:
  expect:REGEX      read until the output since the last expect matches
  send:TEXT         type it; \\n, \\r, \\x03 and the like as in Python
  resize:ROWSxCOLS  SIGWINCH comes from the kernel
  kill:NAME         a signal to the command's process (kill:TERM)

The command is the foreground job of a parent that does what a shell does.
Afterwards it prints one line each:
  output: REPR      all that came to the terminal
  status: exit N | signal N | stopped
  termios: same | changed
  foreground: job | other    who owned the terminal when the command ended
  nonblock: no | yes         O_NONBLOCK left on the terminal
  size: ROWSxCOLS
and returns 0, or 1 where an expected text did not come ("missing: REGEX").
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

# Turns a hang into a failure; no test depends on its length.
PATIENCE = 120.0
END = b"\x1eptyrun-end\x1e"


def parse(argv):
    size, steps = (24, 80), []
    split = argv.index("--")
    options, command = argv[:split], argv[split + 1 :]
    while options:
        word = options.pop(0)
        if word == "--size":
            size = rows_cols(options.pop(0))
            continue
        kind, colon, value = word.partition(":")
        if not colon or kind not in ("expect", "send", "resize", "kill"):
            sys.exit("ptyrun: what is %r?" % word)
        steps.append((kind, value))
    if not command:
        sys.exit(__doc__)
    return size, steps, command


def rows_cols(text):
    rows, _, cols = text.partition("x")
    return int(rows), int(cols)


def set_size(fd, size):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))


def get_size(fd):
    return struct.unpack("HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8))[:2]


def job(command):
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as e:
        os.write(2, ("ptyrun: %s: %s\n" % (command[0], e)).encode())
    os._exit(127)


def leader(slave, tell, command):
    """The shell's part: session leader, parent of the job."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.dup2(tell, 3)
    os.closerange(4, 256)
    os.set_inheritable(3, False)
    pid = os.fork()
    if pid == 0:
        job(command)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    # On both sides, as shells do: whoever comes first, it is done when we go on.
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass
    os.tcsetpgrp(0, pid)
    os.write(3, b"%d\n" % pid)
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        text = "stopped"
    elif os.WIFSIGNALED(status):
        text = "signal %d" % os.WTERMSIG(status)
    else:
        text = "exit %d" % os.WEXITSTATUS(status)
    owner = "job" if os.tcgetpgrp(0) == pid else "other"
    os.write(3, ("%s\n%s\n" % (text, owner)).encode())
    # What the job wrote is in front of this in the terminal's buffer.
    os.write(1, END)
    if os.WIFSTOPPED(status):
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


class Session:
    def __init__(self, master, steps, pid):
        self.master, self.steps, self.pid = master, steps, pid
        self.output, self.seen, self.missing = b"", 0, None

    def read(self, deadline):
        """Some more output; False at the end."""
        if END in self.output:
            return False
        ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)

    def expect(self, regex):
        pattern = re.compile(regex.encode())
        deadline = time.monotonic() + PATIENCE
        while True:
            match = pattern.search(self.output, self.seen)
            if match:
                self.seen = match.end()
                return
            if not self.read(deadline):
                self.missing = regex
                return

    def do(self, kind, value):
        if kind == "expect":
            self.expect(value)
        elif kind == "send":
            os.write(self.master, value.encode().decode("unicode_escape").encode("latin-1"))
        elif kind == "resize":
            set_size(self.master, rows_cols(value))
        else:
            os.kill(self.pid, getattr(signal, "SIG" + value))

    def all(self):
        for kind, value in self.steps:
            self.do(kind, value)
            if self.missing is not None:
                return
        deadline = time.monotonic() + PATIENCE
        while self.read(deadline):
            pass
        if END not in self.output:
            self.missing = "the end of the command"


def main():
    size, steps, command = parse(sys.argv[1:])
    master, slave = pty.openpty()
    set_size(slave, size)
    before = termios.tcgetattr(slave)
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        leader(slave, tell, command)
    os.close(tell)
    told = os.fdopen(listen)
    session = Session(master, steps, int(told.readline()))
    session.all()
    if session.missing is not None:
        os.kill(session.pid, signal.SIGKILL)
    status, owner = told.readline().strip(), told.readline().strip()
    os.waitpid(child, 0)
    text = session.output.replace(END, b"").decode("utf-8", "backslashreplace")
    flags = fcntl.fcntl(slave, fcntl.F_GETFL)
    print("output: %r" % text)
    print("status: %s" % status)
    print("termios: %s" % ("same" if termios.tcgetattr(slave) == before else "changed"))
    print("foreground: %s" % owner)
    print("nonblock: %s" % ("yes" if flags & os.O_NONBLOCK else "no"))
    print("size: %dx%d" % get_size(slave))
    if session.missing is not None:
        print("missing: %s" % session.missing)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
