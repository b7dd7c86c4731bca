"""serve_test - every operation and event of cordon serve once, each message checked by its schema.

SPDX-License-Identifier: MIT
"""
import glob
import json
import os
import signal
import socket

import front
from front import Serve, equal, ok, wait_for

work, other = "work", "other"
for d in (work, other):
    os.makedirs(d, exist_ok=True)
work, other = os.path.realpath(work), os.path.realpath(other)
open(other + "/lib.h", "w").write("int lib;\n")
os.makedirs(work + "/.git/hooks")


def write(path, text, how="w"):
    with open(os.path.join(work, path), how) as f:
        f.write(text)


# ---- before a session
s = Serve("--log-level", "debug")
equal(s.hello["version"], 1, "it greets with its version")
equal(sorted(s.hello["capabilities"]["operations"]), sorted(front.DEFS["operations"]), "and its operations")
equal(sorted(s.hello["capabilities"]["events"]), sorted(front.DEFS["events"]), "and its events")
equal(s.call("hello", version=1)["version"], 1, "hello of that version")
equal(s.call("hello", version=7), {"error": "protocol.version", "supported": [1]}, "another is refused with what is spoken")
equal(s.call("session.status")["state"], "none", "no session runs")
equal(s.call("agent.execute", command="true"), {"error": "session.none"}, "so there is nothing to run in")
equal(s.start(work + "/nowhere"), {"error": "session.directory"}, "a directory that there is not")
equal(s.start(work, vm_mode="persistent", backend="native"), {"error": "session.unsupported"}, "what this backend has not")
equal(s.start({"path": work, "access": "read_only"}), {"error": "session.directory"}, "nothing that can be worked in")
equal(s.call("session.stop"), {"error": "session.none"}, "nothing to stop")
equal(s.call("session.reset"), {"error": "session.none"}, "nor to reset")

for i in (0, -1, 1000000000000000, 5000000000000001, 2**53 - 1, 1 - 2**53):
    s.raw('{"type":"session.status","request_id":%d}\n' % i)
    equal(s.answer(i)["status"], "ok", f"the id {i} comes back as it came")
for i in ("9007199254740992", "9007199254740993", "1795881370576312345", "1e300", "0.5"):
    n = len(s.order)
    s.raw('{"type":"session.status","request_id":%s}\n' % i)
    ok(s.wait(lambda: len(s.order) > n) and s.order[n]["request_id"] is None and s.order[n]["error"]["name"] == "protocol.invalid", f"{i} is refused", s.order[n:])

# ---- a session
r = s.start({"path": work, "label": "main", "access": "read_write"}, {"path": other, "access": "read_only"},
            network_policy="none", agent={"command": ["sh", "-c", 'echo "agent: $0"; echo $0 >prompt.txt']},
            limits={"max_steps": 50}, settings={"approval.timeout": "0"})
equal(r.get("state"), "idle", "it starts")
equal([(d["label"], d["access"]) for d in r.get("directories", [])], [("main", "read_write"), ("other", "read_only")],
      "with its directories")
equal(s.start(work), {"error": "session.exists"}, "a second one is refused")
ok(s.event("audit", lambda p: p["kind"] == "exec"), "what runs is told")

# ---- commands
rid = s.send("agent.execute", command="echo one; touch a b; echo two >&2; exit 3")
r = s.answer(rid)["payload"]
equal((r["exit_code"], r["paths"]), (3, 2), "a command has its exit status and step")
step = r["step_id"]
equal((s.output(rid, "stdout"), s.output(rid, "stderr")), (b"one\n", b"two\n"), "and its output by stream")
done = s.event("step_completed", lambda p: p["step_id"] == step)
equal((done["affected_paths"], done["exit_code"], done["request_id"]), (["a", "b"], 3, rid), "its step is told")
kinds = [m["type"] for m in s.order if m and (m.get("request_id") == rid or m.get("payload", {}).get("request_id") == rid)]
equal((kinds[-2:], kinds[0]), (["event.step_completed", "response"], "event.terminal_output"), "in that order")
r = s.run("mkdir -p x/y; (echo 1 >x/y/1; echo 2 >x/y/2) | cat; sh -c 'echo 3 >x/3'")
equal(s.event("step_completed", lambda p: p["step_id"] == r["step_id"])["affected_paths"],
      ["x", "x/3", "x/y", "x/y/1", "x/y/2"], "one command is one step, whatever it runs")
equal(s.run("true")["step_id"], None, "a command that changes nothing has none")
equal(s.run("kill -9 $$")["exit_code"], 137, "a signal is 128 and its number")
equal(s.run("pwd; echo $X", cwd="x", env={"X": "5"})["out"], f"{work}/x\n5\n", "in a directory, with variables")
rid = s.send("agent.execute", argv=["printf", "%s|", "a b", "$c", "\u00fc"])
s.answer(rid)
equal(s.output(rid), "a b|$c|\u00fc|".encode(), "arguments without a shell")
rid = s.send("agent.execute", command="printf 'x\\377y'; printf '\\303'; sleep 0.1; printf '\\274'")
s.answer(rid)
equal(s.output(rid), b"x\xffy\xc3\xbc", "bytes that are no UTF-8 come whole, split characters too")
equal(s.run("cat lib.h", directory="other")["out"], "int lib;\n", "in another directory")
ok(s.run("touch x", directory=1)["exit_code"] != 0, "that is read only")
equal(s.call("agent.execute", command="true", argv=["true"]), {"error": "protocol.invalid"}, "command or arguments")
equal(s.call("agent.execute", command="true", directory="nope"), {"error": "session.directory"}, "no such directory")

# ---- input, terminal, queue, cancel
rid = s.send("agent.execute", command="cat; echo end", stdin=True)
equal(s.call("agent.input", data="hello "), {}, "input")
equal(s.call("agent.input", data="d29ybGQK", encoding="base64", end=True, request_id=rid), {}, "and its end")
s.answer(rid)
equal(s.output(rid), b"hello world\nend\n", "are read")
equal(s.call("agent.input", data="x"), {"error": "agent.none"}, "nobody is there for more")
rid = s.send("agent.execute", command="stty size; read x; stty size; echo got $x", terminal={"columns": 90, "rows": 20})
ok(s.wait(lambda: b"20 90" in s.output(rid)), "a terminal has the size it was given")
equal(s.call("agent.resize", columns=70, rows=10), {}, "resize")
s.call("agent.input", data="key\n")
s.answer(rid)
ok(b"10 70" in s.output(rid) and b"got key" in s.output(rid), "counts", s.output(rid))
first = s.send("agent.execute", command="sleep 60")
ok(s.wait(lambda: s.call("session.status")["state"] == "running"), "a long command runs")
second = s.send("agent.execute", command="echo second")
equal(s.call("agent.execute", command="true", when_busy="refuse"), {"error": "agent.busy"}, "another is refused if asked")
r = s.call("session.status")
equal((r["command"], r["queued"]), ("sleep 60", 1), "or waits")
equal(s.call("agent.input", data="x"), {"error": "agent.no-input"}, "it takes no input")
third = s.send("agent.execute", command="echo third")
equal(s.call("agent.cancel", request_id=third), {}, "what waits is taken off")
equal(s.answer(third)["error"]["name"], "agent.cancelled", "and says so")
equal(s.call("agent.cancel"), {}, "what runs is ended")
r = s.answer(first)["payload"]
equal((r["exit_code"], r["cancelled"]), (143, True), "by SIGTERM")
equal(s.answer(second)["payload"]["exit_code"], 0, "then the next one has its turn")
for ms in (100, 1000, 10000, 60000):  # until it was deaf in time
    r = s.run("trap '' TERM; : >deaf; sleep 600 & wait; sleep 600", timeout_ms=ms)
    if os.path.exists(work + "/deaf"):
        break
equal((r["exit_code"], r["timed_out"]), (137, True), "too long, and deaf to SIGTERM: killed")
equal(s.call("agent.cancel"), {"error": "agent.none"}, "nothing to cancel")
equal(s.run("sleep 100 & echo started")["out"], "started\n", "what stays in the background holds nobody up")

# ---- prompts
rid = s.send("agent.prompt", prompt="do it")
r = s.answer(rid)["payload"]
equal((s.output(rid), open(work + "/prompt.txt").read()), (b"agent: do it\n", "do it\n"), "the agent gets its prompt")
equal([e["payload"]["state"] for e in s.events if e["type"] == "event.turn"], ["began", "ended"], "that is a turn")
ok(s.event("agent_output"), "with output of its own kind")

# ---- files
r = s.call("fs.write", path="new/f.txt", content="\u00fcber\n", parents=True)
ok(r.get("step_id"), "a write is a step", r)
equal(s.event("step_completed", lambda p: p["step_id"] == r["step_id"])["kind"], "api", "of kind api")
equal(s.call("fs.write", path="new/f.txt", content="AP8=", encoding="base64", how="append")["paths"], 1, "append")
r = s.call("fs.read", path="new/f.txt")
equal((r["encoding"], r["content"], r["size"]), ("base64", "w7xiZXIKAP8=", 8), "read")
r = s.call("fs.read", path="new/f.txt", offset=2, length=3, encoding="utf-8")
equal((r["content"], r["truncated"]), ("ber", True), "a part of it")
equal(s.call("fs.read", path="new/f.txt", encoding="utf-8"), {"error": "fs.encoding"}, "what it is not")
equal(s.call("fs.write", path="new/f.txt", content="", how="create"), {"error": "fs.exists"}, "not over what is there")
equal(s.call("fs.write", path="q", content="!", encoding="base64"), {"error": "fs.encoding"}, "nor what is no base64")
equal(s.call("fs.read", path="nowhere"), {"error": "fs.not-found"}, "nothing there")
equal(s.call("fs.read", path="new"), {"error": "fs.kind"}, "a directory is no file")
equal(s.call("fs.write", path="lib.h", content="", directory="other"), {"error": "fs.denied"}, "nor is read only written to")
equal([(e["name"], e["type"]) for e in s.call("fs.list", path="new")["entries"]], [("f.txt", "file")], "list")
equal(s.call("fs.list", limit=1)["truncated"], True, "not all")
s.run("touch README readme 'a:b'; ln -s /etc/passwd out; ln -s gone dangling; touch $(printf 'n\\377')")
equal(sorted({w["kind"] for w in s.call("fs.status")["warnings"]}),
      ["case_collision", "dangling_symlink", "not_utf8", "reserved_name", "symlink_leaves"], "names that travel badly")
ok("n\udcff" in [e["name"] for e in s.call("fs.list")["entries"]], "bytes that are no UTF-8 survive")
equal(s.call("fs.read", path="n\udcff")["size"], 0, "both ways")

# ---- undo
before = front.tree(work)
r = s.run("echo 1 >u; echo 2 >v; rm a")
h = s.call("undo.history", limit=2)
equal((h["steps"][0]["step_id"], h["steps"][0]["affected_paths"], h["more"]), (r["step_id"], ["a", "u", "v"], True), "history")
equal(sorted(f["path"] for f in s.call("undo.diff")["files"]), ["a", "u", "v"], "diff")
equal(s.call("undo.diff", step=r["step_id"], paths=["u"])["files"], [{"path": "u", "added": 1, "deleted": 0, "binary": False}], "of a path")
equal(s.call("undo.diff", step=9999), {"error": "undo.no-step"}, "of no step")
equal(s.call("undo.rollback", dry_run=True)["dry_run"], True, "a look at what a rollback would do")
r = s.call("undo.rollback")
equal((sorted(c["path"] for c in r["changes"]), front.tree(work) == before), (["a", "u", "v"], True), "rollback")
equal(s.call("undo.redo")["steps"], r["steps"], "redo")
equal(open(work + "/u").read(), "1\n", "brings it back")
equal(s.call("undo.restore", step=r["steps"][0], paths=["a"])["paths"], 1, "restore one path")
ok(os.path.exists(work + "/a") and os.path.exists(work + "/u"), "and only that")
equal(s.call("undo.restore", step=r["steps"][0], paths=["nowhere"])["error"], "undo.nothing", "nothing there to restore")
equal(s.call("undo.rollback", to=9999), {"error": "undo.no-step"}, "to a step that there is not")
equal(s.call("undo.restore", step=9999, paths=["a"]), {"error": "undo.no-step"}, "nor is one restored from there")
equal(s.call("undo.rollback", steps=9999), {"error": "undo.no-step"}, "nor are more undone than there are")
equal(s.call("undo.rollback", to=s.call("undo.history")["steps"][0]["step_id"]), {"error": "undo.nothing"}, "to the newest")
s.run("echo agent >u")
write("u", "mine\n")
ok(s.event("external_modification", lambda p: "u" in p["paths"]), "an edit from outside is told")
r = s.call("undo.rollback")
equal((r["error"], [c["path"] for c in r["changes"]]), ("undo.conflict", ["u"]), "and stops a rollback")
equal(open(work + "/u").read(), "mine\n", "which has changed nothing")
said = s.answer(s.send("undo.rollback", cross=True))["error"]
ok("use keep_mine" in said["message"] and "--" not in said["message"], "the refusal names members of a request", said["message"])
ok(said["data"]["barriers"] and all("goes past them" in b["message"] for b in said["data"]["barriers"]), "told to go past barriers, it says so of them", said["data"])
equal(s.call("undo.rollback", force=True)["conflicts"], 1, "unless it is forced")
equal(open(work + "/u").read(), "1\n", "then it is undone")
s.run("echo w >w")
write("z", "mine\n")
ok(s.event("external_modification", lambda p: "z" in p["paths"]), "another edit")
r = s.call("undo.rollback")
if r.get("error"):
    equal(r["error"], "undo.barrier", "stops it too")
    ok(s.call("undo.history")["barriers"], "and is in the history")
    ok("error" not in s.call("undo.rollback", cross=True), "unless it is crossed")
ok(not os.path.exists(work + "/w") and os.path.exists(work + "/z"), "what is not its business stays")

# ---- points of a review, as stored by a console
state = os.environ.get("XDG_STATE_HOME") or os.environ["HOME"] + "/.local/state"
[store] = glob.glob(state + "/cordon/work-*/lock")
with open(os.path.dirname(store) + "/review", "w") as f:
    f.write("rounds 2\npoint 1 1 1 1 1 7 a done\npoint 2 1 0 1 1 7 a%20b use%20one\npoint 0 0 0 1 1 7 a unsent\n")
equal(s.call("review.list"), {"points": [{"point": "2.1", "path": "a b", "line": 7, "step_id": 1, "text": "use one"}]},
      "points that were sent and are open")
for point in ("1.1", "0.0", "2.2", "../2.1"):
    equal(s.call("review.done", point=point), {"error": "review.no-point"}, f"{point} is none of them")
equal(s.call("review.done", point="2.1"), {}, "one is handled")
equal(s.call("review.list"), {"points": []}, "and listed no more")

# ---- questions
rid = s.send("fs.write", path=".git/hooks/post-merge", content="#!/bin/sh\n")
p = s.event("approval_requested", lambda p: p["path"].endswith("post-merge"))
ok(p, "a protected write is asked about")
equal([a["id"] for a in s.call("approval.list")["requests"]], [p["id"]], "it is listed")
equal(s.call("approval.answer", id=4711, allow=True), {"error": "approval.unknown"}, "no such request")
equal(s.call("approval.answer", id=p["id"], allow=True, extent="tree"), {"error": "approval.impossible"}, "no such answer")
equal(s.call("approval.answer", id=p["id"], allow=True), {}, "allow it")
ok("payload" in s.answer(rid) and s.event("approval_resolved", lambda q: q["id"] == p["id"]), "it goes on")
row = s.event("audit", lambda row: row.get("id") == p["id"])
equal((row["decision"], row["scope"]), ("allow", "once"), "the audit event has request, decision and scope")
rid = s.send("fs.write", path=".git/hooks/pre-push", content="#!/bin/sh\n")
p = s.event("approval_requested", lambda p: p["path"].endswith("pre-push"))
s.call("approval.answer", id=p["id"], allow=False)
equal(s.answer(rid)["error"]["name"], "fs.denied", "a denial is an error with its code")

# ---- safeguards
s.run("mkdir many; cd many; touch $(seq 60)")
equal(s.call("safeguard.configure", delete_threshold=10, timeout_seconds=600), {}, "a threshold")
rid = s.send("agent.execute", command="rm -r many; echo survived")
p = s.event("safeguard_triggered")
equal((p["kind"], p["delete_count"], bool(p["sample_paths"])), ("delete", 9, True), "is met before it is crossed")
equal(s.call("safeguard.confirm", safeguard_id="sg_999", action="deny"), {"error": "approval.unknown"}, "no such one")
equal(s.call("safeguard.confirm", safeguard_id=p["safeguard_id"], action="deny"), {}, "denied")
r = s.answer(rid)["payload"]
equal((r["exit_code"], r["rolled_back"], len(os.listdir(work + "/many"))), (137, True, 60), "the command ends, all is back")
told = [m["payload"] for m in s.order if m and m["type"] == "event.step_completed" and m["payload"]["step_id"] == p["step_id"]]
equal([(e["rolled_back"], e["request_id"]) for e in told], [(True, rid)], "one event says so")
ok(next(i for i, m in enumerate(s.order) if m and m.get("payload") in told) < s.order.index(s.responses[rid]), "before the response")
ok(s.event("warning", lambda p: "rolled back" in p["message"]), "which is said")
rid = s.send("agent.execute", command="rm -r many; echo survived")
q = s.event("safeguard_triggered", lambda q: q["safeguard_id"] != p["safeguard_id"])
s.call("safeguard.confirm", safeguard_id=q["safeguard_id"], action="allow")
equal((s.answer(rid)["payload"]["exit_code"], os.path.exists(work + "/many")), (0, False), "allowed, it goes on")

# ---- limits
equal(s.call("undo.configure", max_log_size=1, max_steps=7), {}, "limits change")
rid = s.send("agent.execute", command="date >>limit")
q = s.event("safeguard_triggered", lambda q: q["kind"] == "beyond")
s.call("safeguard.confirm", safeguard_id=q["safeguard_id"], action="allow", remember=True)
equal(s.answer(rid)["payload"]["exit_code"], 0, "and count: what undo cannot keep is asked about")
ok(s.event("warning", lambda p: "history is full" in p["message"]), "which is said")
equal(s.call("undo.configure", max_log_size=0, max_steps=0), {}, "0 is none")

# ---- reset and stop
equal(s.run("touch /tmp/inside; ls /tmp")["out"].strip().split("\n").count("inside"), 1, "a file of the sandbox's own")
name = s.call("session.status")["session"]
r = s.call("session.reset")
ok(r.get("session") not in (None, name), "reset starts another session", r)
equal(s.run("ls /tmp/inside 2>/dev/null | wc -l")["out"].strip(), "0", "with nothing of the old one")
ok(s.call("undo.history")["steps"], "but its history")


def zombies():
    """Counts the processes of s that have ended and nobody has waited for."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        n += state == "Z" and int(parent) == s.process.pid
    return n


for i in range(6):
    s.call("session.reset")
ok(wait_for(lambda: s.call("session.reset").get("session") and zombies() < 4), "keepers of earlier sessions are reaped", zombies())
equal(s.call("session.stop"), {}, "stop")
equal(s.call("session.status")["state"], "none", "nothing runs any more")

# ---- a step that undo cannot keep
with open(work + "/big.bin", "wb") as f:
    f.write(os.urandom(300000))
s.start(work, limits={"max_step_size": 100000})
rid = s.send("agent.execute", command="echo more >>big.bin; : of big.bin")
p = s.event("safeguard_triggered", lambda p: p["kind"] == "beyond" and "big.bin" in p["command"])
ok(p["count"] >= 300000, "what undo cannot keep is held", p)
s.call("safeguard.confirm", safeguard_id=p["safeguard_id"], action="allow", remember=True)
s.answer(rid)
p = s.event("step_completed", lambda p: "big.bin" in p["command"])
equal(p["incomplete"], True, "its event says that it is incomplete")
s.call("session.stop")
os.remove(work + "/big.bin")

# ---- another version's history, and interrupted steps
state = os.environ.get("XDG_STATE_HOME", os.environ["HOME"] + "/.local/state") + "/cordon"
version = next(os.path.join(t, "version") for t, _, f in os.walk(state) if "version" in f and "steps" in os.listdir(t))
old = open(version).read()
open(version, "w").write("1\n")
ok("error" not in s.start(work), "a history of another version does not keep a session from its start")
ok(s.event("undo_version_mismatch"), "it is told")
ok(s.event("warning", lambda p: "put aside" in p["message"]), "and put aside")
equal(s.call("undo.history")["steps"], [], "the session has a new one")
s.call("session.stop")
equal(s.call("undo.discard", path=work), {"error": "undo.failed"}, "one of this version is not thrown away")
s.start(work)
s.send("agent.execute", command="echo torn >torn; sleep 60")
ok(wait_for(lambda: os.path.exists(work + "/torn")), "a step is open")
equal(s.call("undo.discard", path=work), {"error": "session.exists"}, "nothing is discarded under a session")
os.kill(s.process.pid, signal.SIGKILL)
s.process.wait()
s2 = Serve()
ok(wait_for(lambda: "error" not in s2.start(work) or s2.call("session.status")["state"] == "idle"), "after a kill")
ok(s2.event("recovery", lambda p: p.get("paths") == 1), "it is told what was rolled back")
ok(not os.path.exists(work + "/torn"), "and it is")
r = s2.run("touch of-this-session")
s2.run("sleep 300 & disown; exec true")
told = [m["payload"]["step_id"] for m in s2.order if m and m["type"] == "event.step_completed" and m["payload"]["step_id"]]
equal(told, [r["step_id"]], "no step of an earlier session is told as if it ended now")
s2.call("session.stop")
open(version, "w").write("1\n")
equal(s2.call("undo.discard", path=work), {}, "a history of another version is thrown away")
s2.start(work)
equal(s2.call("undo.history")["steps"], [], "and a new one begins")
equal(s2.close(), 0, "the end of input is the end")

# ---- the agent that dies
s3 = Serve()
s3.start(work)
s3.run("kill -9 $PPID")
pairs = [(s3.send("agent.execute", command="true"), s3.send("session.status")) for i in range(100)]
ok(all(s3.answer(a) and s3.answer(b) for a, b in pairs), "whatever is asked meanwhile is answered")
after = [m for m in s3.order if m["type"] == "response"]
after = after[[bool(m.get("error")) for m in after].index(True):]
equal({m["payload"]["state"] for m in after if "state" in m.get("payload", {})}, {"error"}, "from the first refusal on the status says so")
ok(s3.event("error", lambda p: p["fatal"]), "when what runs commands is killed, that is told")
equal(s3.run("true").get("error"), "session.ended", "and nothing runs any more")
equal(s3.call("session.status")["state"], "error", "which the status says")
ok("error" not in s3.start(work), "another session can begin")
s3.close()

# ---- the end of input, and a question without anyone to answer
s6 = Serve()
s6.start(work)
rid = s6.send("fs.write", path=".git/hooks/post-update", content="x")
later = s6.send("agent.execute", command="echo x >.git/hooks/post-update; echo $?")
ok(s6.event("approval_requested"), "a question waits")
s6.process.stdin.close()
equal(s6.answer(rid, 20)["error"]["name"], "fs.denied", "at the end of input it is denied")
ok(s6.answer(later, 20)["status"] == "ok" and not os.path.exists(work + "/.git/hooks/post-update"), "what was asked for is done, further questions denied")
equal(s6.close(), 0, "and the end comes")

# ---- a question about a connection
s4 = Serve()
equal(s4.start(work, network_policy="ask").get("network_policy"), "ask", "a session that asks for each host")
rid = s4.send("agent.execute", command="""python3 -c 'import socket; socket.create_connection(("203.0.113.7", 443))'""")
p = s4.event("net_request")
equal((p["op"], p["addr"], p["port"], p["is_loopback"]), ("connect", "203.0.113.7", 443, False), "a connection waits")
equal(s4.call("approval.list")["requests"][0]["id"], p["id"], "as a request")
# The session's socket sends the same, after as many requests as its hello counts.
run = os.environ.get("XDG_RUNTIME_DIR", "")
run = run + "/cordon" if run else os.environ["HOME"] + "/.local/state/cordon/run"
with socket.socket(socket.AF_UNIX) as c:
    c.connect(f"{run}/{s4.call('session.status')['session']}.sock")
    lines = c.makefile()
    told = [json.loads(lines.readline()) for i in range(3)]
for m, name in zip(told, ("hello", "fs_request", "net_request")):
    front.valid(front.PROTOCOL, "/$defs/" + name, m, name)
equal((told[0]["pending"], told[1]["type"], told[1]["id"]), (1, "event.fs_request", p["id"]), "the socket tells the request")
equal(told[2], {"type": "event.net_request", **p}, "and the connection that it is about")
equal(s4.call("approval.answer", id=p["id"], allow=False), {}, "which is denied")
equal(s4.answer(rid)["payload"]["exit_code"], 1, "then it fails")
ok(b"PermissionError" in s4.output(rid, "stderr"), "with EACCES", s4.output(rid, "stderr"))
s4.close()

# ---- an address of the loopback device is exchanged
s5 = Serve()
equal(s5.start(work, network_policy="open", settings={"network.strategy": "rewire-port"}).get("network_policy"), "open", "a session in the host's network")
s5.send("agent.execute", command="""python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 3000))'""")
p = s5.event("net_rewrite")
equal((p["op"], p["from"], p["to"]["addr"], p["to"]["port"] != 3000), ("bind", {"addr": "127.0.0.1", "port": 3000}, "127.0.0.1", True),
      "listening at a port that is not its own goes to one that is")
s5.close()

ok(sum(e["payload"]["time_us"] % 10 == 0 for e in s.events if e["type"] == "event.audit"), "some numbers end in 0: none has an exponent")
ok(any(e.get("request_id") for e in s.log) and any(e["component"] == "session" for e in s.log), "diagnostics name requests")
equal(sorted({"control", "undo", "file_watcher", "safeguard", "approval", "stdio_api", "session", "fs_backend"} - {e["component"] for e in s.log}), [],
      "every component has its say")
ok(any(e.get("step_id") and e.get("session") for e in s.log if e["component"] == "control"), "lines about a step name it and the session")
ok(not front.bad, "every message is as its schema says", *front.bad)
equal(sorted(set(front.DEFS["operations"]) - front.seen_operations), [], "every operation was answered")
macos = {"event.xpc_connect", "event.xpc_sandbox_violation"}  # only seen on a Mac
equal(sorted(set(front.DEFS["events"]) - macos - front.seen_events), [], "every event was seen")
front.done()
