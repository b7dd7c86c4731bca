"""mcp_undo_test - what a model may undo and redo by way of MCP, and what it is told of a safeguard.

SPDX-License-Identifier: MIT
"""
import json
import os
import socket
import subprocess

import front
import mcp_client
from front import CORDON, Serve, equal, ok

work = os.path.realpath(".") + "/work"
hook = work + "/.git/hooks/post-merge"
os.makedirs(os.path.dirname(hook))
seen = []  # questions


def write(name, text):
    with open(f"{work}/{name}", "w") as f:
        f.write(text)


def read(name):
    try:
        return open(f"{work}/{name}").read()
    except FileNotFoundError:
        return None


def client(**caps):
    c = mcp_client.Client("--set", "safeguard.deletes=5", cwd=work)
    c.initialize(**caps)
    return c


def answered(c, decision, name, **arguments):
    """The result of a tool whose one question is answered so."""
    n = len(c.messages)
    i = c.send("tools/call", name=name, arguments=arguments)
    q = c.wait(lambda m: m.get("method") == "elicitation/create" and m not in c.messages[:n])
    seen.append(q.get("params", {}).get("message"))
    c.raw(json.dumps({"jsonrpc": "2.0", "id": q.get("id"), "result": decision}))
    return c.check(name, c.answer(i).get("result", {}))


YES, NO = {"action": "accept", "content": {"decision": "allow once"}}, {"action": "decline"}

# ---- a human's edits
c = client()
for flag in ("force", "keep_mine", "merge", "cross"):
    for tool in ("undo", "redo"):
        ok("/" + flag in c.tool(tool, **{flag: True})["error"], f"{tool} has no {flag}")
c.tool("execute_command", command="echo agent >notes.txt")
write("notes.txt", "an hour of work\n")
r = c.tool("undo")
ok("undo.conflict" in r["error"] and "notes.txt" in r["error"] and "tell them" in r["error"] and "--" not in r["error"],
   "an edit stops undo, in words for a model", r)
equal(read("notes.txt"), "an hour of work\n", "and stays")
equal(c.tool("undo", dry_run=True)["conflicts"], 1, "a look at it is free")
os.remove(work + "/notes.txt")

# ---- protected files
c.close()
c = client(elicitation={})
answered(c, YES, "write_file", path=".git/hooks/post-merge", content="#!/bin/sh\n")
ok(read(".git/hooks/post-merge"), "a hook that the user allowed once")
ok("steps" in c.tool("undo") and not os.path.exists(hook), "may be undone")
r = answered(c, NO, "redo")
ok("fs.denied" in r["error"] and not os.path.exists(hook), "redo asks again: denied, it does not come back", r)
ok(seen[-1] and hook in seen[-1] and "redo of step" in seen[-1], "the question names file and reason", seen[-1])
ok("steps" in answered(c, YES, "redo") and os.path.exists(hook), "allowed, it does")
c.close()
c = client()
r = c.tool("execute_command", command="echo x >plain")
ok("steps" in c.tool("undo") and "steps" in c.tool("redo"), "what is not protected is not asked about")
r = c.tool("undo", steps=2)
ok("not one of yours" in r["error"], "an earlier session's step is not the model's", r)
ok(os.path.exists(hook) and read("plain") == "x\n", "and nothing was undone")
ok("not one of yours" in c.tool("undo", to=0).get("error", "") or "no step" in c.tool("undo", to=0)["error"], "nor by a number")

# ---- steps that the user undid, or restored
name = c.tool("execute_command", command="echo $CORDON_SESSION")["stdout"].strip()
c.tool("execute_command", command="echo y >theirs")
subprocess.run([CORDON, "undo", "--keep-mine"], cwd=work, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if not os.path.exists(work + "/theirs"):
    r = c.tool("redo")
    ok("only the user" in r["error"] and not os.path.exists(work + "/theirs"), "what the user undid stays undone", r)
c.close()

# ---- beside a front end: its steps are separate
path = os.path.realpath(".") + "/m.sock"
s = Serve("--mcp-socket", path)
s.start(work)
sock = socket.socket(socket.AF_UNIX)
sock.connect(path)
c = mcp_client.Client(sock=sock)
c.raw(json.dumps({"token": open(path + ".token").read()}))
c.initialize()
s.call("fs.write", path="front", content="front end\n")
ok("not one of yours" in c.tool("undo")["error"] and read("front"), "a step of the front end is not the model's")
c.tool("write_file", path="model", content="m\n")
ok("steps" in c.tool("undo"), "its own is")
ok("steps" in s.call("undo.redo") and "steps" in s.call("undo.rollback"), "the front end brings it back, and undoes it itself")
ok("only the user" in c.tool("redo")["error"] and not os.path.exists(work + "/model"), "then the model does not redo it")
r = s.call("undo.restore", step=s.call("undo.history")["steps"][0]["step_id"], paths=["front"])
ok("not one of yours" in c.tool("undo")["error"], "nor does it take back what was restored", r)
i = c.send("tools/call", name="write_file", arguments={"path": ".git/hooks/update", "content": "x"})
s.call("approval.answer", id=s.event("approval_requested")["id"], allow=True)
c.answer(i)
ok("steps" in c.tool("undo"), "a hook is undone")
i = c.send("tools/call", name="redo", arguments={})
p = s.event("approval_requested", lambda p: p["reason"].startswith("redo of step"), 30)
ok(p, "the front end is asked where the client cannot ask")
s.call("approval.answer", id=p["id"], allow=False)
ok(c.answer(i)["result"]["isError"] and not os.path.exists(work + "/.git/hooks/update"), "its denial counts")
i = c.send("tools/call", name="redo", arguments={})
p = s.event("approval_requested", lambda q: q["reason"].startswith("redo of step") and q["id"] != p["id"], 30)
c.raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}))
ok(s.event("approval_resolved", lambda q: q["id"] == p["id"]), "a call that is cancelled takes its question back")
s.close()

# ---- a safeguard
c = client()
c.tool("execute_command", command="mkdir many; cd many; touch 1 2 3 4 5 6 7 8")
i = c.send("tools/call", name="execute_command", arguments={"command": "rm -r many; echo went on"})
m = c.answer(i)["result"]
r = m["structuredContent"]
equal((r["rolled_back"], m["isError"], len(os.listdir(work + "/many"))), (True, True, 8), "a denied safeguard is told as such")
ok(any("every file" in n and "as it was" in n and "refused" in n for n in r["notes"]), "in words", r["notes"])
c.close()
c = client(elicitation={})
i = c.send("tools/call", name="execute_command", arguments={"command": "rm -r many"})
q = c.wait(lambda m: m.get("method") == "elicitation/create")
c.raw(json.dumps({"jsonrpc": "2.0", "id": q["id"], "result": NO}))
r = c.answer(i)["result"]["structuredContent"]
ok(any("the user was asked and said no" in n and "as it was" in n for n in r["notes"]), "a human's refusal, too", r["notes"])
c.close()
ok(not front.bad, "every message is as it must be", *front.bad)
front.done()
