#!/usr/bin/env python3
# keys - how fast a console answers on a terminal: keys.py WHAT COMMAND...
# SPDX-License-Identifier: MIT
"""WHAT: echo, a median in milliseconds from a key to its echo by cat; busy, the same from two keys to
cordon's help while a command prints without end (the longest of 20); first, from the start to the
first frame (a median); idle, percent of a core of the process and all below it, in ten seconds."""
import fcntl, os, pty, select, signal, statistics, struct, sys, termios, time

WAIT = 20


class Terminal:
    def __init__(self, command):
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = b""

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        data = os.read(self.fd, 65536)
        # Answers the queries that a terminal gets at the start.
        if b"\033]11;?" in data:
            os.write(self.fd, b"\033]11;rgb:0000/0000/0000\033\\")
        self.seen = (self.seen + data)[-200000:]
        return True

    def until(self, words, seconds=WAIT):
        end = time.perf_counter() + seconds
        while words not in self.seen:
            left = end - time.perf_counter()
            if left <= 0 or not self.read(left):
                sys.exit(f"keys: {words!r} did not come; the last was {self.seen[-300:]!r}")

    def quiet(self, seconds=0.3):
        while self.read(seconds):
            pass

    def ask(self, keys, words):
        self.seen = b""
        began = time.perf_counter()
        os.write(self.fd, keys)
        self.until(words)
        return (time.perf_counter() - began) * 1000

    def end(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def echo(command):
    t = Terminal(command)
    t.until(b"ready")
    t.quiet()
    # A letter that occurs in no sequence, so it is the echo; each is erased again.
    took = []
    for _ in range(150):
        took.append(t.ask(b"Q", b"Q"))
        os.write(t.fd, b"\x7f")
        t.quiet(0.02)
    t.end()
    return statistics.median(took)


def busy(command):
    t = Terminal(command)
    t.until(b"yyy")
    took = []
    for _ in range(20):
        took.append(t.ask(b"\x1d?", "\u2554".encode()))
        os.write(t.fd, b"q")  # an Esc could be read together with the next key, as Alt and that key
        end = time.perf_counter() + 0.15
        while time.perf_counter() < end:
            t.read(0.05)
    t.end()
    return max(took)


def first(command):
    took = []
    for _ in range(9):
        t = Terminal(command)
        t.until(b"\033[?2026l")
        took.append((time.perf_counter() - t.began) * 1000)
        t.end()
    return statistics.median(took)


def ticks(pid):
    total = 0
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        total = int(fields[11]) + int(fields[12])
        for child in open(f"/proc/{pid}/task/{pid}/children").read().split():
            total += ticks(child)
    except OSError:
        pass
    return total


def idle(command):
    t = Terminal(command)
    t.until(b"ready")
    settled = time.perf_counter() + 2
    while time.perf_counter() < settled:
        t.read(0.2)
    before, end = ticks(t.pid), time.perf_counter() + 10
    while time.perf_counter() < end:
        t.read(max(0, end - time.perf_counter()))
    used = (ticks(t.pid) - before) / os.sysconf("SC_CLK_TCK")
    t.end()
    return used / 10 * 100


print(f"{globals()[sys.argv[1]](sys.argv[2:]):.2f}")
