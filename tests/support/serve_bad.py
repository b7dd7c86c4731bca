"""serve_bad - cordon serve and clients that send nonsense, do not read, or go away.

SPDX-License-Identifier: MIT
"""
import json
import os
import socket
import subprocess
import time

import front
from front import CORDON, Serve, equal, ok, wait_for

work = os.path.realpath(".") + "/work"
os.makedirs(work + "/.git/hooks", exist_ok=True)


def memory(pid):
    """Its resident memory, KiB, at most so far."""
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM"))


# ---- invalid messages
s = Serve()
ok("error" not in s.start(work), "a session")
for text, want in [
    ("{nope", "protocol.malformed"), ("[1]", "protocol.malformed"), ('"x"', "protocol.malformed"),
    ("{} {}", "protocol.malformed"), ("{}", "protocol.invalid"), ("[" * 5000, "protocol.malformed"),
    ('{"type":"session.status"}', "protocol.invalid"), ('{"type":7,"request_id":"q"}', "protocol.invalid"),
    ('{"type":"session.status","request_id":"q","extra":1}', "protocol.invalid"),
    ('{"type":"session.status","request_id":"q","payload":[]}', "protocol.invalid"),
    ('{"type":"session.status","request_id":{},"payload":{}}', "protocol.invalid"),
    ('{"type":"session.status","request_id":"q","payload":{"x":1}}', "protocol.invalid"),
    ('{"type":"session.stop ","request_id":"q"}', "protocol.unknown-operation"),
    ('{"type":"fs.read","request_id":"q","payload":{"path":"a\\u0000b"}}', "protocol.malformed"),
    ('{"type":"fs.read","request_id":"q","payload":{"path":"a","offset":-1}}', "protocol.invalid"),
    ('{"type":"fs.read","request_id":"q","payload":{"path":"a","offset":1.5}}', "protocol.invalid"),
    ('{"type":"fs.read","request_id":"q","payload":{"path":"a","offset":1e300}}', "protocol.invalid"),
    ('{"type":"agent.execute","request_id":"q","payload":{"command":"x","terminal":{"columns":0,"rows":1}}}', "protocol.invalid"),
    ('{"type":"agent.execute","request_id":"q","payload":{"command":"' + "x" * 70000 + '"}}', "agent.busy"),
    ('{"type":"agent.execute","request_id":"q","payload":{"command":"x","env":{"A=b":"c"}}}', "protocol.invalid"),
    ('{"type":"agent.execute","request_id":"q","payload":{"command":"x","env":{"":"c"}}}', "protocol.invalid"),
    ('{"type":"agent.cancel","request_id":"q","payload":{"request_id":"nobody"}}', "agent.none"),
    ('{"type":"undo.rollback","request_id":"q","payload":{"steps":1000000}}', None),
]:
    n = len(s.order)
    s.raw(text + "\n")
    r = s.wait(lambda: next((m for m in s.order[n:] if m and m["type"] == "response"), None)) or {}
    got = r.get("error", {}).get("name")
    ok(got == want if want else got, f"{text[:70]}: {want or 'an error'}", r)
n = len(s.order)
s.raw(b"\xff\xfe\n" + b"   \n" + b'{"type":"fs.list","request_id":"\xff","payload":{}}\n')
ok(s.wait(lambda: len([m for m in s.order[n:] if m and m["type"] == "response"]) == 2), "bytes that are no text")
n = len(s.order)
s.raw(b"x" * (17 << 20) + b"\n")
r = s.wait(lambda: next((m for m in s.order[n:] if m and m["type"] == "response"), None))
equal((r["error"]["name"], r["error"]["data"]), ("protocol.too-long", {"limit": 16 << 20}), "a huge line: the limit is said")
equal(s.call("session.status")["state"], "idle", "and the next one is read")
rid = s.send("agent.execute", command="sleep 600")
s.raw(json.dumps({"type": "session.status", "request_id": rid}) + "\n")
ok(s.wait(lambda: rid in s.responses and s.responses[rid]["status"] == "error"), "an id that is still open is refused")
s.call("agent.cancel")

# ---- the session's own socket uses the same protocol
run = os.environ.get("XDG_RUNTIME_DIR", "")
run = run + "/cordon" if run else os.environ["HOME"] + "/.local/state/cordon/run"
c = socket.socket(socket.AF_UNIX)
c.connect(f"{run}/{s.call('session.status')['session']}.sock")
f = c.makefile("rw")
hello = json.loads(f.readline())
front.valid(front.PROTOCOL, "/$defs/hello", hello, "hello")
waits = s.send("fs.write", path=".git/hooks/pre-commit", content="x")


def over_socket(op, **payload):
    f.write(json.dumps({"type": op, "request_id": 1, "payload": payload}) + "\n")
    f.flush()
    while (m := json.loads(f.readline()))["type"] != "response":
        kind = {"event.fs_request": "fs_request", "event.fs_gone": "fs_gone", "event.audit": "audit", "event.net_request": "net_request",
                "event.rule": "rule"}[m["type"]]
        front.valid(front.PROTOCOL, "/$defs/" + kind, m, kind)
    front.valid(front.PROTOCOL, "/$defs/response", m, op)
    return m


ok(wait_for(lambda: over_socket("approval.list")["payload"]["requests"]), "what waits is listed over the socket")
front.valid(front.PROTOCOL, "/$defs/operations/approval.list/result", over_socket("approval.list")["payload"], "approval.list")
asked = over_socket("approval.list")["payload"]["requests"][0]["id"]
equal(over_socket("approval.answer", id=asked, allow=3)["error"]["name"], "protocol.invalid", "checked by the same schema")
equal(over_socket("session.stop")["error"]["name"], "protocol.unknown-operation", "what it does not offer")
equal(over_socket("approval.answer", id=asked, allow=True)["status"], "ok", "and answered there")
equal(s.answer(waits)["status"], "ok", "the write goes on")

# ---- many requests
# (a line of requests is written while another thread reads)
n, began = 20000, time.monotonic()
lines = "".join(f'{{"type":"session.status","request_id":"m{i}"}}\n' for i in range(n))
check, s.check = s.check, lambda m: None
s.raw(lines)
ok(s.wait(lambda: f"m{n - 1}" in s.responses, 600), "20 000 requests at once are answered")
front_rate = n / (time.monotonic() - began)
s.check = check
print(f"# {front_rate:.0f} session.status a second, with this reader")
equal([k for k in s.responses if k and k.startswith("m")], [f"m{i}" for i in range(n)], "in their order")
equal(s.close(), 0, "end of input")

# ---- a reader that stops
s = Serve()
s.start(work, audit=False)
rid = s.send("agent.execute", command="echo; until [ -e go ]; do sleep 0.02; done; i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/zero | tr '\\0' x; i=$((i+1)); done; touch done")
s.event("terminal_output")
s.reading.clear()
open(work + "/go", "w").close()
began = time.monotonic()
ok(wait_for(lambda: os.path.exists(work + "/done")), "what runs does not wait for a reader that has stopped")
print(f"# ended after {time.monotonic() - began:.1f} s without a reader")
s.reading.set()
r = s.answer(rid)
equal(r["status"], "ok", "who reads again gets the response")
lost = sum(e["payload"]["bytes"] for e in s.events if e["type"] == "event.warning" and e["payload"]["kind"] == "output_dropped")
got = len(s.output(rid))
equal((got + lost, lost > 0), (60000001, True), "and hears to the byte what was dropped")
ok(memory(s.process.pid) < 60000, "memory is bounded", memory(s.process.pid))
rid = s.send("agent.execute", command="head -c 30000000 /dev/zero | tr '\\0' y")
s.answer(rid, 600)
equal(len(s.output(rid)), 30000000, "who reads gets everything")
s.close()

# ---- a client that disconnects
for how, stays in (("end", False), ("continue", True)):
    name = f"{work}/after-{how}"
    p = subprocess.Popen([CORDON, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for op, payload in (("session.start", {"working_directories": [{"path": work}], "on_disconnect": how, "audit": False}),
                        ("agent.execute", {"command": f"touch began-{how}; until [ -e go-{how} ]; do sleep 0.02; done; touch after-{how}"})):
        p.stdin.write(json.dumps({"type": op, "request_id": op, "payload": payload}).encode() + b"\n")
        p.stdin.flush()
    ok(wait_for(lambda: os.path.exists(f"{work}/began-{how}")), f"on_disconnect {how}: a command runs")
    p.stdout.close()
    p.stdin.close()
    if stays:
        open(f"{work}/go-{how}", "w").close()
    ok(p.wait(front.WAIT) is not None, "the client goes away, and so does cordon")
    equal(os.path.exists(name), stays, "after its end" if stays else "with the command")
equal(subprocess.run([CORDON, "serve", "--on-disconnect", "x"], capture_output=True).returncode, 125, "no such word")
for how, args in (("option", ["--on-disconnect", "continue"]), ("setting", []), ("mcp", [])):
    config = os.environ["HOME"] + "/.config/cordon/config"
    os.makedirs(os.path.dirname(config), exist_ok=True)
    open(config, "w").write("[api]\n\ton-disconnect = continue\n" if how == "setting" else "")
    p = subprocess.Popen([CORDON] + (["mcp", "--on-disconnect", "continue"] if how == "mcp" else ["serve", *args]), cwd=work, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    command = f"touch began-{how}; until [ -e go-{how} ]; do sleep 0.02; done; touch after-{how}"
    lines = [{"type": "session.start", "request_id": 1, "payload": {"working_directories": [{"path": work}], "audit": False}},
             {"type": "agent.execute", "request_id": 2, "payload": {"command": command}}] if how != "mcp" else [
             {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "execute_command", "arguments": {"command": command}}}]
    p.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    p.stdin.flush()
    ok(wait_for(lambda h=how: os.path.exists(f"{work}/began-{h}")), f"on-disconnect by {how}: a command runs")
    p.stdout.close()
    p.stdin.close()
    open(f"{work}/go-{how}", "w").close()
    ok(p.wait(front.WAIT) is not None and os.path.exists(f"{work}/after-{how}"), "goes on to its end without its client")
s = Serve()
s.start(work)
for how in ("end", "continue"):
    equal(s.call("undo.history")["steps"] != [], True, f"its step is kept ({how})")
s.close()
out = subprocess.run([CORDON, "serve"], input=json.dumps(
    {"type": "session.start", "request_id": 1, "payload": {"working_directories": [{"path": work}]}}) + "\n" + json.dumps(
    {"type": "agent.execute", "request_id": 2, "payload": {"command": "sleep 0.3; echo late"}}),
    capture_output=True, text=True, timeout=front.WAIT).stdout
ok('"late\\u000a"' in out and '"request_id":2,"status":"ok"' in out, "a script on standard input is done to its end", out[-600:])
p = subprocess.Popen([CORDON, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
p.stdout.readline()
p.terminate()
equal(p.wait(front.WAIT), 143, "SIGTERM ends it")
ok(not front.bad, "every message is as its schema says", *front.bad)
front.done()
