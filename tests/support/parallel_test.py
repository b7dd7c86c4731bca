"""parallel_test - many requests in one write(), over the STDIO API, MCP and its socket.

SPDX-License-Identifier: MIT
"""
import json
import os
import socket

import front
import mcp_client
from front import Serve, equal, ok

N = 50
work = os.path.realpath(".") + "/work"
os.makedirs(work + "/.git/hooks", exist_ok=True)


def line(op, rid, **payload):
    return json.dumps({"type": op, "request_id": rid, "payload": payload}) + "\n"


def steps_of(answers):
    return len({a["payload"]["step_id"] for a in answers if a["status"] == "ok"} - {None})


def texts(prefix, n=N):
    return [open(f"{work}/{prefix}{i}").read() if os.path.exists(f"{work}/{prefix}{i}") else None for i in range(n)]


# ---- the STDIO API
path = os.path.realpath(".") + "/mcp.sock"
s = Serve("--mcp-socket", path)
s.start(work)
s.raw("".join(line("fs.write", f"a{i}", path=f"a{i}", content=f"{i}" * (i + 1)) for i in range(N)) +
      line("agent.execute", "after", command="cat a49 | wc -c"))
equal(steps_of([s.answer(f"a{i}") for i in range(N)]), N, "50 writes in one write() are 50 steps")
equal(texts("a"), [f"{i}" * (i + 1) for i in range(N)], "with their content")
s.answer("after")
equal(s.output("after"), b"100\n", "a command behind them finds it")
s.raw(line("agent.execute", "long", command="until [ -e ended ]; do sleep 0.02; done") +
      "".join(line("fs.write", f"b{i}", path=f"b{i}", content="b") for i in range(N)))
equal({s.answer(f"b{i}")["status"] for i in range(N)}, {"ok"}, "beside a command they do not wait for it")
equal(texts("b"), ["b"] * N, "and are done")
s.call("fs.write", path="ended", content="")
equal(s.answer("long")["status"], "ok", "which ends")
s.raw(line("fs.write", "hook", path=".git/hooks/post-merge", content="#!/bin/sh\n") +
      "".join(line("fs.write", f"c{i}", path=f"c{i}", content="c" if i else "") for i in range(N)) +
      line("agent.execute", "behind", command="cat", stdin=True) +
      line("agent.input", "in", request_id="behind", data="kept", end=True) +
      line("agent.input", "late", request_id="behind", data="more") +
      "".join(line("fs.read", f"d{i}", path="a1") for i in range(N)))
p = s.event("approval_requested")
equal({s.answer(f"d{i}")["status"] for i in range(N)}, {"ok"}, "behind a write that is held reads go on")
ok(not s.responses.get("c0"), "and writes wait")
s.call("approval.answer", id=p["id"], allow=True)
equal({s.answer(r)["status"] for r in ["hook", "behind", *(f"c{i}" for i in range(N))]}, {"ok"}, "until it is answered")
equal(texts("c"), [""] + ["c"] * (N - 1), "one without content, too")
equal((s.answer("in")["status"], s.output("behind")), ("ok", b"kept"), "input of a command that waits is kept")
equal(s.answer("late")["error"]["name"], "agent.no-input", "after its end there is none")
s.raw("".join(line("fs.read", f"e{i}", path="a1") for i in range(10000)) + "".join(line("agent.execute", f"f{i}", command="true") for i in range(300)))
equal({s.answer(r, 120)["status"] for r in [*(f"e{i}" for i in range(10000)), *(f"f{i}" for i in range(300))]}, {"ok"}, "thousands wait for their turn")

# ---- MCP
def call(i, name, **arguments):
    return json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": name, "arguments": arguments}})


def calls(c, prefix, over):
    c.raw("\n".join([call(f"{prefix}{i}", "write_file", path=f"{prefix}{i}", content=prefix) for i in range(N)] +
                    [call(prefix, "execute_command", command=f"ls {prefix}* | wc -l")]))
    done = [c.answer(f"{prefix}{i}").get("result", {}) for i in range(N)]
    equal(len({r.get("structuredContent", {}).get("step_id") for r in done if r.get("isError") is False}), N, f"{over}: 50 calls are 50 steps")
    equal(texts(prefix), [prefix] * N, f"{over}: each is done")
    equal(c.answer(prefix).get("result", {}).get("structuredContent", {}).get("stdout"), f"{N}\n", f"{over}: a command behind them finds all")


sock = socket.socket(socket.AF_UNIX)
sock.connect(path)
c = mcp_client.Client(sock=sock)
c.raw(json.dumps({"token": open(path + ".token").read()}))
c.initialize()
calls(c, "g", "MCP socket")
s.close()
c = mcp_client.Client(cwd=work)
c.initialize()
calls(c, "h", "MCP")
c.close()
ok(not front.bad, "every message is as it must be", *front.bad)
front.done()
