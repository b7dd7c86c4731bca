"""left_open_test - what a process still has open when its step is undone is in some step from then on.

SPDX-License-Identifier: MIT
"""
import os
import subprocess

import front
from front import Serve, equal, ok

HUMAN = b"the human wrote this\n" * 1000
# Opens files in one step, and writes to them when it is told to; its own files are in no working folder.
HOLD = r"""
import mmap, os, sys, time
own, how, names = sys.argv[1], sys.argv[2], sys.argv[3:]
fds = [os.open(n, os.O_RDWR | os.O_CREAT) for n in names]
maps = [mmap.mmap(fd, 0) for fd in fds] if how == "map" else []
for fd in fds: os.pwrite(fd, b"opened", 0)
if how == "map":
    for fd in fds: os.close(fd)
open(own + ".up", "w").close()
n = 0
while True:
    n += 1
    while not os.path.exists(own + "." + str(n)): time.sleep(0.005)
    for m in maps: m[100:104] = b"EVIL"
    if not maps:
        for fd in fds: os.pwrite(fd, b"EVIL", 100)
    if how == "close":
        for fd in fds: os.close(fd)
        fds = []
    open(own + ".done" + str(n), "w").close()
"""


def cordon(*args):
    r = subprocess.run([front.CORDON, *args], cwd=s.work, capture_output=True, text=True)
    return r.returncode, r.stdout + r.stderr


def begin(name):
    s = Serve()
    s.work = os.path.realpath(".") + "/" + name
    os.makedirs(s.work)
    for f in "file", "other", "log":
        with open(s.work + "/" + f, "wb") as out:
            out.write(HUMAN)
    equal(s.start(s.work).get("state"), "idle", f"{name}: a session")
    return s


def hold(how, *names):
    s.holders = getattr(s, "holders", 0) + 1
    own = f"$TMPDIR/{s.holders}" if os.environ.get("BACKEND") == "landlock" else f"/tmp/{s.holders}"
    r = s.run(f"python3 - {own} {how} {' '.join(names)} <<'X' >/dev/null 2>&1 &\n{HOLD}\nX\n"
              f"while ! [ -e {own}.up ]; do sleep 0.01; done")
    s.own, s.told = own, 0
    return r["step_id"]


def tell():  # it writes
    s.told += 1
    r = s.run(f": >{s.own}.{s.told}; while ! [ -e {s.own}.done{s.told} ]; do sleep 0.01; done")
    equal(r.get("exit_code"), 0, "it writes once more")


def read(name):
    with open(s.work + "/" + name, "rb") as f:
        return f.read()


def back(name):
    """All is undone, the newest first, and whatever is in the way was said."""
    for _ in range(20):
        code, said = cordon("undo")
        if code and "nothing to undo" not in said:
            ok("has changed since" in said or "changed by a step that ran at the same time" in said, f"{name}: a conflict is named", said)
            code, said = cordon("undo", "--force")
        if code:
            break
    ok("nothing to undo" in said, f"{name}: all of it is undone", said)
    ok(read("file") == HUMAN, f"{name}: the file is the human's", cordon("log")[1])
    code, said = cordon("journal", "verify")
    equal(code, 0, f"{name}: the store is sound")


for how in "keep", "close", "map":
    for then in "nothing", "another step":
        name = f"{how}, {then}".replace(", ", "-").replace(" ", "-")
        s = begin(name)
        hold(how, "file")
        ok("error" not in s.call("undo.rollback"), f"{name}: the step is undone")
        ok(read("file") == HUMAN, f"{name}: the file is as it was")
        tell()
        ok(b"EVIL" in read("file"), f"{name}: and is written to")
        if then != "nothing":
            s.run("echo more >>file; echo more >>other")
        s.close()
        back(name)

# Who holds a file and does not write to it is in nobody's way.
s = begin("idle")
for i in range(3):
    s.run(f"echo {i} >>other")
hold("keep", "file")
for _ in range(4):
    ok("error" not in s.call("undo.rollback"), "idle: one step after the other is undone")
ok(read("file") == HUMAN and read("other") == HUMAN, "idle: all is as it was")
equal(len(s.call("undo.history")["undone"]), 4, "idle: all of them can be redone")
equal(s.call("undo.rollback").get("error"), "undo.nothing", "idle: there is nothing more to undo")
for _ in range(4):
    ok("error" not in s.call("undo.redo"), "idle: redo")
equal(len(s.call("undo.history")["steps"]), 4, "idle: nothing has come to the history")
s.close()

# A log that a step of before tells of, though it grows all the time, comes into no step for that.
s = begin("log")
hold("keep", "log")
s.run("echo 1 >>other")
s.run("echo 2 >>other")
for _ in range(2):
    r = s.call("undo.rollback", keep_mine=True)
    ok("error" not in r, "log: a step is undone, and what another one's file has grown by is kept", r)
    tell()
ok(read("other") == HUMAN, "log: both are")
equal([h["kind"] for h in s.call("undo.history")["steps"]], ["command"], "log: the one that opened it is there, and no other")
equal(s.call("undo.rollback").get("error"), "undo.conflict", "log: that it was written to since is a conflict")
s.close()
back("log")

# What is written before the next undo is a step, which a human who has looked before has not seen.
s = begin("between")
s.run("echo 1 >>other")
hold("keep", "file")
ok("error" not in s.call("undo.rollback"), "between: the step is undone")
tell()
r = s.call("undo.rollback")
ok("error" not in r, "between: what was written since is undone next", r)
ok(read("file") == HUMAN and read("other") != HUMAN, "between: that, and no more")
tell()
s.close()
back("between")
front.done()
