"""documents_test - the recorded session is replayed; messages as documents of the project write them run as they stand.

SPDX-License-Identifier: MIT

The example is core/api/example.ndjson: {"from": "client" or "cordon", "message": ...} a line. UPDATE=1 records it anew.
"""
import json
import os
import subprocess

import front
from front import equal, ok, skip

EXAMPLE = front.ROOT + "/core/api/example.ndjson"
FOLDER = "/home/me/project"  # of the example
work = os.path.abspath("project")
os.mkdir(work)

# ---- the example ----------------------------------------------------------------------------------


def settled(value, key=""):
    """Replaces values that differ between runs by one value."""
    if isinstance(value, dict):
        return {k: settled(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v, key) for v in value]
    if isinstance(value, str):
        value = value.replace(work, FOLDER)
    if key in ("pid", "waited_us") or key.endswith("_us") and value:
        return {"pid": 4711, "waited_us": 0}.get(key, 1795914000000000)
    return {"session": "20261129-010000-1a2b", "filesystem_backend": "system-calls",
            "program": "/usr/bin/cp", "version": "0.2.0"}.get(key, value) if isinstance(value, str) else value


class Player:
    """Sends the client's lines, each after all lines that the example expects before it."""

    def __init__(self):
        self.process = subprocess.Popen([front.CORDON, "serve", "--log-level", "error"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd=work)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).replace(FOLDER, work).encode() + b"\n")
        self.process.stdin.flush()

    def next(self):
        return settled(json.loads(self.process.stdout.readline()))


def example():
    with open(EXAMPLE) as f:
        return [json.loads(line) for line in f]


def check(message, sender):
    kind = "request" if sender == "client" else message["type"] if message["type"] in ("hello", "response") else "event"
    front.valid(front.PROTOCOL, "/$defs/" + kind, message, kind)


def replay():
    player, wrong, written = Player(), [], []
    for line in example():
        if line["from"] == "client":
            player.send(line["message"])
            got = line["message"]
        else:
            got = player.next()
        if got != line["message"]:
            wrong += [f"want: {json.dumps(line['message'])}", f"got:  {json.dumps(got)}"]
        check(got, line["from"])
        written.append(json.dumps({"from": line["from"], "message": got}))
    player.process.stdin.close()
    equal(player.process.wait(front.WAIT), 0, "the recorded session ends well")
    if os.environ.get("UPDATE"):
        with open(EXAMPLE, "w") as f:
            f.write("\n".join(written) + "\n")
    ok(not wrong or os.environ.get("UPDATE"), "and says again what was recorded", *wrong)


replay()

# ---- the schema, as clients use it ----------------------------------------------------------------
AJV = front.ROOT + "/build/npm/node_modules/ajv/dist/2020"
PROGRAM = """
const Ajv = require(process.argv[1]).default;
const check = new Ajv({strict: true, strictRequired: false, allowUnionTypes: true}).compile(JSON.parse(require("fs").readFileSync(process.argv[2])));
const request = (type, payload) => check({type, request_id: "1", payload});
console.log(JSON.stringify([request("agent.execute", {command: "make"}), request("agent.execute", {foo: 1}),
    request("session.statu"), request("session.status"), check({type: "fs.read", request_id: "1"}),
    check([1]), check("hello"), check({type: "event.terminal", payload: {}}), check({type: "event.turn", payload: {turn: 1, state: "began"}})]));
"""
if os.path.exists(AJV + ".js"):
    out = subprocess.run(["node", "-e", PROGRAM, AJV, front.ROOT + "/core/api/protocol.json"], capture_output=True, text=True)
    equal(out.stdout.strip(), "[true,false,false,true,false,false,false,false,true]", "ajv compiles it in its strict mode: a request is what its type says")
else:
    skip("ajv compiles it in its strict mode", "ajv is not here: make test fetches it")

# ---- the documents' own names and examples --------------------------------------------------------
s = front.Serve()
for folder in ("p", "lib"):
    os.mkdir(folder)
# "network_policy": "open" needs no network to begin; persistent asks for a machine that may not be here.
r = s.call("session.start", working_directories=[
    {"path": os.path.abspath("p"), "label": "project", "access": "read_write"},
    {"path": os.path.abspath("lib"), "label": "shared-lib", "access": "read_only"}], network_policy="open", vm_mode="ephemeral")
equal([d["label"] for d in r.get("directories", [])], ["project", "shared-lib"], "session.start")
equal(s.call("undo.configure", max_log_size_bytes=1073741824, max_step_count=2, max_single_step_size_bytes=209715200), {}, "undo.configure")
equal(s.call("safeguard.configure", delete_threshold=2, timeout_seconds=30), {}, "safeguard.configure")
s.call("agent.execute", command="touch a b c d")
rid = s.send("agent.execute", command="rm a b c d")
held = s.event("safeguard_triggered")
ok({"step_id", "safeguard_id", "delete_count", "sample_paths", "message"} <= set(held), "event.safeguard_triggered", held)
equal(s.call("safeguard.confirm", safeguard_id=held["safeguard_id"], action="allow"), {}, "safeguard.confirm")
equal(s.answer(rid)["status"], "ok", "lets it go on")
s.call("session.stop")
equal(s.start(os.path.abspath("p"), network_policy="disabled").get("network_policy"), "none", "network_policy: disabled")
s.call("session.stop")

# allowlist: TEST-NET-3 leads nowhere: the dial fails or takes time, but nothing forbids it.
CONNECT = """python3 -c '
import errno, socket, sys
for host in sys.argv[1:]:
    s = socket.socket()
    s.settimeout(1)
    try:
        s.connect((host, 9))
        print(host, "allowed")
    except OSError as e:
        print(host, "denied" if e.errno in (errno.EACCES, errno.EPERM) else "allowed")
' 203.0.113.7 198.51.100.7"""
equal(s.start(os.path.abspath("p"), network_policy="allowlist", network_allowlist=["203.0.113.0/24"]).get("network_policy"), "ask", "network_policy: allowlist")
rid = s.send("agent.execute", command=CONNECT)
equal(s.answer(rid)["status"], "ok", "a command that connects ends without an answer of anybody")
equal(s.output(rid).split(b"\n")[:2], [b"203.0.113.7 allowed", b"198.51.100.7 denied"], "only what the list names is allowed")
ok(not [e for e in s.events if e.get("type") == "event.net_request"], "and nothing is asked")
s.raw('{"type":"fs.read","request_id":"payload","payload":{"x":1,"path":"a"}}\n{"type":"fs.read","request_id":"message","payload":{"path":"a"},"x":1}\n')
equal((s.answer("payload")["error"]["data"]["path"], s.answer("message")["error"]["data"]["path"]), ("/payload/x", "/x"),
      "an error's path tells a member of the payload from one of the message")
s.close()
ok(not front.bad, "every message is as it must be", *front.bad)
front.done()
