"""vm_serve_test - sessions of cordon serve whose commands run in a guest: three boots, one image.

SPDX-License-Identifier: MIT
"""
import json
import os

from front import Serve, done, equal, ok, tree

BOOT = 600  # seconds: it is emulated

os.makedirs("work")
work = os.path.realpath("work")
with open(work + "/kept", "w") as f:
    f.write("as it was\n")
s = Serve()


def call(op, **payload):
    r = s.answer(s.send(op, **payload), BOOT)
    return r.get("payload") or r["error"]


def run(command, **more):
    rid = s.send("agent.execute", command=command, **more)
    r = s.answer(rid, BOOT)
    return {**(r.get("payload") or r["error"]), "out": s.output(rid, "stdout").decode(), "err": s.output(rid, "stderr").decode()}


def start():
    return call("session.start", working_directories=[{"path": work}], backend="vm", vm_mode="persistent", network_policy="none")


# ---- a guest that keeps what it changes
before = tree(work)
equal(start().get("state"), "idle", "a session in a guest")
r = run("echo out; echo err >&2; cat /proc/1/cmdline; exit 3")
equal((r["out"], r["err"], r["exit_code"], r["step_id"]), ("out\n/init\0", "err\n", 3, None),
      "a command runs there, with its output, its status and no step")
r = run("mkdir d && echo new >d/f && rm kept && echo of the guest >/etc/of-the-guest && sh -c 'echo more >>d/f'")
equal((r["exit_code"], r["paths"]), (0, 3), "what it changes in the folder is one step")
first = r["step_id"]
ok(first, "that has a number", r)
equal((open(work + "/d/f").read(), os.path.exists(work + "/kept")), ("new\nmore\n", False), "the folder has it")
ok(not os.path.exists("/etc/of-the-guest"), "and the host nothing else")
after = tree(work)
rid = s.send("agent.execute", command="read x; stty size; echo got $x; head -c 300000 /dev/zero | tr '\\0' z",
             terminal={"columns": 90, "rows": 20})
ok(s.wait(lambda: s.call("session.status")["state"] == "running", BOOT), "a command on a terminal")
equal(s.call("agent.resize", columns=70, rows=10), {}, "takes a size")
equal(s.call("agent.input", data="keys\n"), {}, "and keys")
s.answer(rid, BOOT)
out = s.output(rid)
ok(b"10 70" in out and b"got keys" in out, "and has them", out[:200])
equal(out.count(b"z"), 300000, "all that it says arrives")
rid = s.send("agent.execute", command="wc -c; md5sum /etc/of-the-guest | wc -l", stdin=True)
equal(s.call("agent.input", data="x" * 200000, end=True, request_id=rid), {}, "input that is longer than a port takes at once")
s.answer(rid, BOOT)
equal(s.output(rid).split(), [b"200000", b"1"], "arrives, too")
rid = s.send("agent.execute", command="echo half >half; sleep 600")
ok(s.wait(lambda: os.path.exists(work + "/half"), BOOT), "a command that stays")
equal(s.call("agent.cancel", request_id=rid), {}, "is ended")
r = s.answer(rid, BOOT)["payload"]
equal((r["exit_code"], r["cancelled"], r["paths"]), (143, True, 1), "by a signal, with its step")
equal(call("fs.write", path="by-api", content="text\n").get("paths"), 1, "the API writes a file, which is a step")
equal(open(work + "/by-api").read(), "text\n", "through the guest")
s.raw("".join(json.dumps({"type": "fs.write", "request_id": f"w{i}", "payload": {"path": f"w{i}", "content": f"{i}"}}) + "\n" for i in range(50)))
equal({s.answer(f"w{i}", BOOT)["status"] for i in range(50)}, {"ok"}, "50 writes at once")
equal([open(f"{work}/w{i}").read() for i in range(50)], [f"{i}" for i in range(50)], "are all done")
equal(call("undo.rollback", steps=50).get("paths"), 50, "each as a step")
steps = call("undo.rollback", steps=2)
ok("error" not in steps and "name" not in steps, "the last two steps are undone", steps)
equal(tree(work), after, "exactly")
equal(run("ls; cat d/f")["out"], "d\nnew\nmore\n", "and the guest sees it")
ok("name" not in call("undo.rollback", steps=1), "and the first")
equal(tree(work), before, "the folder is as it was")
equal(s.call("session.stop"), {}, "the session ends")

# ---- the next ones
equal(start().get("state"), "idle", "another session in that folder")
equal(run("cat /etc/of-the-guest kept")["out"], "of the guest\nas it was\n", "has what the guest had written last")
equal(call("session.reset", forget_vm=True).get("state"), "idle", "a reset that throws it away")
r = run("cat /etc/of-the-guest; $CORDON_PROGRAM step begin mine", env={"CORDON_PROGRAM": os.environ["CORDON"]})
ok("No such file" in r["err"], "starts from the host's tree", r)
ok("is still open: it ends with its command" in r["err"], "and cordon step is answered inside", r)
equal(s.call("session.stop"), {}, "and ends")
equal(s.close(), 0, "cordon serve ends well")
done()
