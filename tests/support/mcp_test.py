"""mcp_test - cordon mcp in both eras of the protocol: tools, resources, questions, its socket.

SPDX-License-Identifier: MIT
"""
import json
import os
import socket
import subprocess
import threading
import time

import jsonschema

import front
import mcp_client
from front import CORDON, Serve, equal, ok, wait_for
from mcp_client import CAPABILITIES, MCP, PROTOCOL, TOOLS

work = os.path.realpath(".") + "/work"
os.makedirs(work + "/.git/hooks", exist_ok=True)
for t in MCP["tools"]:
    jsonschema.Draft202012Validator.check_schema(t["inputSchema"])
    jsonschema.Draft202012Validator.check_schema(t["outputSchema"])


class Client(mcp_client.Client):
    def __init__(self, *args, sock=None):
        super().__init__(*args, sock=sock, cwd=work)


# ---- the protocol's version
c = Client()
equal(c.call("tools/list"), -32602, "neither initialize nor _meta: both ways in are named")
equal(c.call("ping"), {}, "ping is always answered")
equal(c.call("tools/list", _meta={PROTOCOL: "1999-01-01", CAPABILITIES: {}}), -32022, "a version that is not spoken")
equal(c.wait(lambda m: m.get("error", {}).get("code") == -32022)["error"]["data"],
      {"supported": ["2026-07-28"], "requested": "1999-01-01"}, "with what is")
for meta in ({PROTOCOL: 7, CAPABILITIES: {}}, {PROTOCOL: "2026-07-28"}, {PROTOCOL: "2026-07-28", CAPABILITIES: []}):
    equal(c.call("tools/list", _meta=meta), -32602, f"_meta {meta}")
c.modern = True
equal(c.call("server/discover")["supportedVersions"], ["2026-07-28"], "server/discover")
equal([c.call(m) for m in ("ping", "initialize", "logging/setLevel", "prompts/list")], [-32601] * 4, "what that era has not")
equal([t["name"] for t in c.call("tools/list")["tools"]], list(TOOLS), "tools")
equal(c.call("tools/list", cursor="x"), -32602, "there is one page")
c.modern = False
equal([c.initialize(v) for v in ("2024-11-05", "2025-06-18", "2031-01-01")], ["2024-11-05", "2025-06-18", "2025-11-25"],
      "initialize echoes a version that is spoken, else names the newest")
for text, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
                   ('{"id":77,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                   ('{"jsonrpc":"2.0","id":78,"method":"ping","params":[]}', -32600)):
    n = len(c.messages)
    c.raw(text)
    ok(wait_for(lambda: len(c.messages) > n) and c.messages[n]["error"]["code"] == code, f"{text}: {code}", c.messages[n:])
c.raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}')
c.raw('{"jsonrpc":"2.0","id":"s","result":{}}')
for i in (5000000000000001, 2**53 - 1):
    c.raw('{"jsonrpc":"2.0","id":%d,"method":"ping"}' % i)
    equal(c.answer(i).get("result"), {}, f"the id {i}")
c.raw('{"jsonrpc":"2.0","id":12345678901234567,"method":"ping"}')
ok(c.wait(lambda m: m.get("error", {}).get("code") == -32600 and not m.get("id")), "one that cannot be kept is refused")
c.raw('{"jsonrpc":"2.0","id":"text","method":"ping"}')
equal(c.answer("text").get("result"), {}, "an id that is text")
equal(c.initialize("2025-06-18"), "2025-06-18", "a revision that differs")
ok(c.tool("get_session_status")["state"] and "resources" in c.call("resources/list"), "serves the same")
equal(c.initialize("2025-03-26"), "2025-03-26", "the revision with arrays")
c.raw('[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"b",'
      '"method":"nope"},{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"execute_command","arguments":{"command":"true"}}}]')
a = c.wait(lambda m: isinstance(m, list))
equal(sorted(m["id"] for m in a), ["a", "b", "c"], "are answered by one array")
equal(c.close(), 0, "end of input")

# ---- tools, in both versions
for modern in (False, True):
    era = "stateless: " if modern else "legacy: "
    c = Client()
    c.modern = modern
    if not modern:
        c.initialize()
    else:
        c.call("tools/list", _meta={"io.modelcontextprotocol/clientInfo": {"name": "an\033[2J editor"}})
    r = c.tool("execute_command", command="echo out; echo err >&2; printf '\\377' ; touch made; exit 4")
    equal((r["stdout"], r["stderr"], r["exit_code"], r["paths"]), ("out\n\ufffd", "err\n", 4, 1), era + "execute_command")
    listed = subprocess.run([CORDON, "sessions", "--json"], capture_output=True, text=True, timeout=60).stdout
    equal([json.loads(line)["agent"] for line in listed.splitlines()], ["an--2J-editor" if modern else "t"],
          era + "cordon sessions calls it by the client's name")
    # (the second line comes when the first has been told of, and not sooner than may be told again)
    i = c.send("tools/call", name="execute_command", _meta={"progressToken": "p"},
               arguments={"command": "echo line 1; until [ -e .told.swp ]; do sleep 0.02; done; sleep 0.15; echo line 2"})
    ok(c.wait(lambda m: m.get("method") == "notifications/progress"), era + "progress is told while a command runs")
    open(work + "/.told.swp", "w").close()
    ok(c.answer(i), era + "a command with progress")
    os.remove(work + "/.told.swp")
    progress = [m["params"] for m in c.messages if m and m.get("method") == "notifications/progress"]
    ok(len(progress) > 1 and all(p["progressToken"] == "p" for p in progress) and
       [p["progress"] for p in progress] == sorted({p["progress"] for p in progress}), era + "which grows", progress)
    ok(c.tool("write_file", path="f", content="one\n")["step_id"], era + "write_file is a step")
    equal(c.tool("read_file", path="f")["content"], "one\n", era + "read_file")
    r = c.call("tools/call", name="read_file", arguments={"path": "f"})
    equal([x["text"] for x in r["content"]], ["one\n"], era + "whose text is the file's")
    r = c.call("tools/call", name="execute_command", arguments={"command": "printf 'a\\tb\\n'; echo c >&2; exit 3"})
    equal([x["text"] for x in r["content"]], ["a\tb\n", "standard error:\nc\n", "exit code 3"], era + "a command's is its output")
    ok("fs.not-found" in c.tool("read_file", path="nowhere")["error"], era + "an error of a tool is its result")
    ok("/path" in c.tool("read_file", path=7)["error"], era + "so are wrong arguments")
    ok("/pth" in c.tool("read_file", path="f", pth="x")["error"], era + "and unknown ones")
    equal(c.call("tools/call", name="nope", arguments={}), -32602, era + "a tool that there is not")
    said = c.answer(c.send("tools/call", name="nope", arguments={}))["error"]["message"]
    ok("write_file" in said, era + "those that there are are named", said)
    equal(c.call("tools/call", name="undo", arguments=[]), -32602, era + "arguments that are none")
    ok("f" in [e["name"] for e in c.tool("list_directory")["entries"]], era + "list_directory")
    equal([f["path"] for f in c.tool("diff")["files"]], ["f"], era + "diff")
    equal(c.tool("get_undo_history", limit=1)["steps"][0]["affected_paths"], ["f"], era + "get_undo_history")
    equal(c.tool("get_session_status")["state"], "idle", era + "get_session_status")
    equal([x["path"] for x in c.tool("undo", steps=2)["changes"]], ["f", "made"], era + "undo")
    ok(not os.path.exists(work + "/f"), era + "it is undone")
    equal(len(c.tool("redo")["steps"]), 2, era + "redo")
    uris = [r["uri"] for r in c.call("resources/list")["resources"]]
    step = next(u for u in uris if u.endswith("/diff"))
    ok("+one" in c.call("resources/read", uri=step)["contents"][0]["text"], era + "the diff of a step is a resource")
    ok(json.loads(c.call("resources/read", uri=step[:-5])["contents"][0]["text"])["step_id"], era + "so is the step")
    equal(c.call("resources/read", uri="cordon://step/99999"), -32602 if modern else -32002, era + "what there is not")
    equal(len(c.call("resources/templates/list")["resourceTemplates"]), 2, era + "templates")
    i = c.send("tools/call", name="execute_command", arguments={"command": "touch started; sleep 60"})
    ok(wait_for(lambda: os.path.exists(work + "/started")), era + "a long command")
    c.raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}))
    r = c.tool("execute_command", command="echo next")
    equal((r["stdout"], c.answer(i, 0)), ("next\n", {}), era + "cancelled, it ends and nothing is said of it")
    r = c.tool("write_file", path=".git/hooks/pre-push", content="x")
    ok("refused" in r["error"] and "git on the host runs it" in r["error"], era + "nobody to ask: refused in words", r)
    r = c.tool("execute_command", command="echo x >.git/hooks/pre-push")
    ok(r["exit_code"] and "refused" in r["notes"][0], era + "a command's result says it too", r)
    ok(not os.path.exists(work + "/.git/hooks/pre-push"), era + "and it was not done")
    c.close()
    for name in ("started", "f", "made"):
        os.remove(f"{work}/{name}")

# ---- asking the user through the client
c = Client()
c.initialize(elicitation={})
for decision, done in (({"action": "accept", "content": {"decision": "allow once"}}, True), ({"action": "decline"}, False),
                       ({"action": "accept", "content": {"decision": "deny"}}, False), ({"action": "accept"}, False)):
    name = f"{work}/.git/hooks/post-{c.n}"
    i = c.send("tools/call", name="write_file", arguments={"path": name, "content": "x"})
    q = c.wait(lambda m: m.get("method") == "elicitation/create" and name in m["params"]["message"])
    c.raw(json.dumps({"jsonrpc": "2.0", "id": q["id"], "result": decision}))
    c.answer(i)
    equal(os.path.exists(name), done, f"elicitation: {decision}")
i = c.send("tools/call", name="write_file", arguments={"path": ".git/hooks/held", "content": "x"})
ok(c.wait(lambda m: m.get("method") == "elicitation/create" and "/held" in m["params"]["message"]), "asked, and no answer")
equal((c.close(), os.path.exists(work + "/.git/hooks/held")), (0, False), "the client goes: that is no yes")

c = Client()
c.modern, c.caps = True, {"elicitation": {}}
args = {"path": ".git/hooks/applypatch", "content": "x"}
r = c.call("tools/call", name="write_file", arguments=args)
equal((r["resultType"], r["inputRequests"]["allow"]["method"]), ("input_required", "elicitation/create"), "stateless: input_required")
state = r["requestState"]
yes = {"allow": {"action": "accept", "content": {"decision": "allow once"}}}
for wrong in (dict(requestState=state[:-1] + ("0" if state[-1] != "0" else "1")), dict(requestState="v1.1.99999999999.00"), {},
              dict(requestState=state, arguments={**args, "content": "y"}), dict(requestState=state, name="read_file")):
    equal(c.call("tools/call", **{**dict(name="write_file", arguments=args, inputResponses=yes), **wrong}), -32602,
          f"another state, call or argument is refused: {list(wrong)}")
ok(not os.path.exists(work + "/.git/hooks/applypatch"), "and nothing was done")
r = c.call("tools/call", name="write_file", arguments=args, inputResponses=yes, requestState=state)
ok(c.check("write_file", r).get("step_id"), "the same call with the answer goes on", r)
equal(c.call("tools/call", name="write_file", arguments=args, inputResponses=yes, requestState=state), -32602, "once")
args = {"command": "for h in a b; do echo x >.git/hooks/post-$h || echo no $h; done"}
r = c.call("tools/call", name="execute_command", arguments=args)
r = c.call("tools/call", name="execute_command", arguments=args, inputResponses=yes, requestState=r["requestState"])
equal(r["resultType"], "input_required", "a command that asks twice")
r = c.call("tools/call", name="execute_command", arguments=args, inputResponses={"allow": {"action": "decline"}}, requestState=r["requestState"])
equal(c.check("execute_command", r)["stdout"], "no b\n", "is asked about twice")
c.close()

# ---- an attached console keeps it, another terminal answers
c = Client()
c.initialize()
name = c.tool("execute_command", command="echo $CORDON_SESSION")["stdout"].strip()
run = os.environ.get("XDG_RUNTIME_DIR") or os.environ["HOME"] + "/.local/state"
peer = socket.socket(socket.AF_UNIX)
peer.connect(f"{run}/cordon/run/{name}.sock" if "XDG_RUNTIME_DIR" not in os.environ else f"{run}/cordon/{name}.sock")
peer.makefile("r").readline()
i = c.send("tools/call", name="write_file", arguments={"path": ".git/hooks/fsmonitor", "content": "x"})
pending = lambda: subprocess.run([CORDON, "pending", "--json"], capture_output=True, text=True).stdout
ok(wait_for(pending), "held while somebody is attached")
subprocess.run([CORDON, "approve", str(json.loads(pending().splitlines()[0])["id"])], check=False)
ok("isError" in c.answer(i)["result"] and os.path.exists(work + "/.git/hooks/fsmonitor"), "cordon approve answers")
peer.close()
c.close()

# ---- the socket, beside the STDIO API
path = os.path.realpath(".") + "/mcp.sock"
s = Serve("--mcp-socket", path)
ok(wait_for(lambda: any(path in e["message"] and path + ".token" in e["message"] for e in list(s.log))), "the paths are named on standard error")
equal([oct(os.stat(p).st_mode & 0o777) for p in (path, path + ".token")], ["0o600"] * 2, "both for their owner alone")



def first_token():
    """What stands in the token's file as soon as that is there."""
    here = os.path.realpath(".") + "/first.sock"
    server = subprocess.Popen([CORDON, "mcp", "--mcp-socket", here], cwd=work, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + front.WAIT
    token = None
    while token is None and time.monotonic() < end:
        try:
            token = open(here + ".token").read()
        except FileNotFoundError:
            pass
    server.terminate()
    server.wait(front.WAIT)
    return token


here = os.path.realpath(".") + "/piped.sock"
server = subprocess.Popen([CORDON, "mcp", "--mcp-socket", here], cwd=work, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
ok(wait_for(lambda: os.path.exists(here + ".token")), "a server that was given a pipe")
c = socket.socket(socket.AF_UNIX)
c.connect(here)
server.stdin.close()
try:
    server.wait(0.5)
except subprocess.TimeoutExpired:
    pass
equal(server.poll(), None, "stays for its connection")
c.close()
equal((server.wait(20), os.path.exists(here)), (0, False), "and ends with the last one")
equal({len(first_token() or "") for _ in range(20)}, {64}, "whoever waits for the token finds it whole")


def connect(token):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    client = Client(sock=sock)
    client.raw(json.dumps({"token": token}))
    return client


c = connect("x" * 64)
ok(c.wait(lambda m: m.get("error", {}).get("code") == 1008), "another token is refused")
sock = socket.socket(socket.AF_UNIX)
sock.settimeout(20)
sock.connect(path)
sock.sendall(b'{"token":"y"}\n' + json.dumps({"token": open(path + ".token").read()}).encode() + b'\n{"jsonrpc":"2.0","id":6,"method":"ping"}\n')
got = b""
while piece := sock.recv(4096):
    got += piece
ok(b"1008" in got and b'"id":6' not in got and got.count(b"\n") == 1, "one try: the connection ends", got)
c = connect(open(path + ".token").read())
c.initialize()
ok("session.none" in c.tool("execute_command", command="true")["error"], "the front end starts the session")
s.start(work)
equal(c.tool("execute_command", command="echo both >both")["paths"], 1, "then its tools work")
listed = subprocess.run([CORDON, "sessions", "--json"], capture_output=True, text=True, timeout=60).stdout
equal([json.loads(line)["command"] for line in listed.splitlines()], ["cordon serve"], "cordon sessions calls it by what started it")
ok(s.event("step_completed"), "and the STDIO API hears of their steps")
i = c.send("tools/call", name="write_file", arguments={"path": ".git/hooks/update", "content": "x"})
p = s.event("approval_requested")
s.call("approval.answer", id=p["id"], allow=True)
ok(not c.answer(i)["result"]["isError"], "what is asked there the front end answers")
s.call("safeguard.configure", delete_threshold=2)
c.tool("execute_command", command="touch s1 s2 s3")
i = c.send("tools/call", name="execute_command", arguments={"command": "rm s1 s2 s3"})
p = s.event("safeguard_triggered")
s.call("safeguard.confirm", safeguard_id=p["safeguard_id"], action="deny")
ok(c.answer(i) and os.path.exists(work + "/s1"), "so are its safeguards")
s.close()
ok(not os.path.exists(path) and not os.path.exists(path + ".token"), "socket and token go with it")
ok(not front.bad, "every message is as it must be", *front.bad)
front.done()
