"""acp_test - cordon run --stdio: an editor before it, an agent behind it.

SPDX-License-Identifier: MIT
"""
import hashlib
import json
import os
import subprocess
import threading
import time

import front
from front import CORDON, equal, ok, wait_for

work = os.path.realpath(".") + "/work"
os.makedirs(work + "/.git/hooks", exist_ok=True)

AGENT = r'''
import json, os, subprocess, sys
def say(m): sys.stdout.write(m if isinstance(m, str) else json.dumps(m) + "\n"); sys.stdout.flush()
def ask(method, **p):
    say({"jsonrpc": "2.0", "id": method, "method": method, "params": p})
    return json.loads(sys.stdin.readline())
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        open("initialize.json", "w").write(line)
        say({"jsonrpc": "2.0", "id": m["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    if m.get("method") == "session/prompt":
        text = m["params"]["prompt"][0]["text"]
        if text == "edit":
            open("edited", "w").write("x"); subprocess.run("echo 1 >one; sh -c 'echo 2 >two'", shell=True)
        if text == "hook":
            try: open(".git/hooks/pre-push", "w").write("x")
            except OSError as e: say({"jsonrpc": "2.0", "method": "session/update", "params": {"denied": str(e)}})
        if text == "tools":
            open("answers", "w").write(json.dumps([ask("fs/write_text_file", path="/etc/x", content="x"), ask("terminal/create", command="x"),
                                                   ask("session/request_permission")]))
        if text.startswith("ask "):
            for i, (method, params) in enumerate(json.loads(text[4:])):
                say({"jsonrpc": "2.0", "id": f"q{i}", "method": method, "params": params})
                if not params.get("later"): open("answers", "a").write(sys.stdin.readline())
        if text == "sly":
            say('{"jsonrpc":"2.0","id":1,"method":"session/update","method":"fs/read_text_file"}\n')
            say('{"jsonrpc":"2.0","id":2,"\\u006dethod":"fs\\/read_text_file"}\n')
            say('[{"jsonrpc":"2.0","id":3,"method":"terminal/create"}]\n')
            say('{"jsonrpc":"2.0","id":4,"method":"fs/read_text_file","x":' + "[" * 2000 + "]" * 2000 + "}\n")
            say('x\r{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file"}\n')
            say('\ufeff {"jsonrpc":"2.0","id":6,"method":"fs/read_text_file"}\n')
            say('{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file"} \r{}\n')
            say('{"jsonrpc":"2.0","id":8,"Method":"fs/read_text_file"}\n')
        say({"jsonrpc": "2.0", "id": m["id"], "result": {"stopReason": "end_turn"}})
'''
open(work + "/agent.py", "w").write(AGENT)


class Editor:
    def __init__(self, *options):
        self.process = subprocess.Popen([CORDON, "run", "--stdio", *options, "--", "python3", "agent.py"], cwd=work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.errors = [], []
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        self.send(0, "initialize", protocolVersion=1, clientCapabilities={"fs": {"readTextFile": True, "writeTextFile": True},
                                                                        "terminal": True, "session": {"x": 1}})

    def send(self, i, method, **params):
        self.raw(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}) + "\n")

    def raw(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def answer(self, i, seconds=front.WAIT):
        wait_for(lambda: self.has(i), seconds)
        return self.has(i)

    def has(self, i):
        return next((m for m in map(json.loads, list(self.lines)) if isinstance(m, dict) and m.get("id") == i and "method" not in m), None)

    def prompt(self, i, text):
        self.send(i, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": text}])

    def close(self):
        self.process.stdin.close()
        return self.process.wait(front.WAIT)


def steps():
    out = subprocess.run([CORDON, "log", "--json"], cwd=work, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.strip()]


e = Editor()
equal(e.answer(0)["result"]["protocolVersion"], 1, "initialize")
equal(json.load(open(work + "/initialize.json"))["params"]["clientCapabilities"],
      {"fs": {"readTextFile": False, "writeTextFile": False}, "session": {"x": 1}, "terminal": False},
      "the editor's files and terminals are not offered, the rest is")
e.prompt(1, "edit")
equal(e.answer(1)["result"], {"stopReason": "end_turn"}, "a turn")
ok(wait_for(lambda: any(s["command"] == "edit" for s in steps())), "is a step, named by its prompt", steps())
step = next(s for s in steps() if s["command"] == "edit")
ok(all(os.path.exists(f"{work}/{f}") for f in ("edited", "one", "two")), "its changes")
e.prompt(2, "hook")
pending = lambda: subprocess.run([CORDON, "pending", "--json"], capture_output=True, text=True).stdout
ok(wait_for(pending), "a question waits")
equal(e.answer(2, 0.3), None, "so does the agent")
subprocess.run([CORDON, "approve", str(json.loads(pending().splitlines()[0])["id"])], check=False)
ok(e.answer(2) and os.path.exists(work + "/.git/hooks/pre-push"), "until another terminal answers")
e.prompt(3, "tools")
ok(wait_for(lambda: any(b"request_permission" in line for line in list(e.lines))), "what is the editor's to answer passes")
e.send("session/request_permission", "x")
ok(e.answer(3), "and the turn ends")
equal([a.get("error", {}).get("code") for a in json.load(open(work + "/answers"))[:2]], [-32601] * 2,
      "what it would do outside the sandbox is answered with an error")
e.prompt(4, "sly")
ok(e.answer(4), "an agent that tries anyway")
ok(not any(b"fs" in line or b"terminal" in line for line in list(e.lines)), "gets none of it through", *e.lines)
ok(wait_for(lambda: any(b"outside the sandbox" in line for line in list(e.errors))), "which is said on standard error")
equal(e.close(), 0, "the end of the editor is the agent's")
r = subprocess.run([CORDON, "undo", "--step", str(step["id"]), "--", "."], cwd=work, capture_output=True, text=True)
ok(not any(os.path.exists(f"{work}/{f}") for f in ("edited", "one", "two")), "a turn is taken back as a whole", r, steps())

# (the agent sends before its editor does)
open(work + "/early.py", "w").write('''
import sys
print('{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file"}\\n{"jsonrpc":"2.0","method":"later"}', flush=True)
open("spoke", "w").close()
sys.stdout.write(sys.stdin.readline().replace('"id":0,', ""))
''')
p = subprocess.Popen([CORDON, "run", "--stdio", "--", "python3", "early.py"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ok(wait_for(lambda: os.path.exists(work + "/spoke")), "an agent that speaks first")
out, _ = p.communicate(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n', timeout=front.WAIT)
ok(b"fs/" not in out and b"later" in out and b"initialize" in out, "what comes before initialize is looked at, too", out)

e = Editor("--set", "acp.editor-tools=on")
e.answer(0)
equal(json.load(open(work + "/initialize.json"))["params"]["clientCapabilities"]["terminal"], True, "acp.editor-tools = on offers them")
e.prompt(1, "sly")
ok(wait_for(lambda: any(b"fs" in line for line in list(e.lines))), "and lets them through")
e.close()

# ---- acp.editor-tools = ask: such a request is a question
def pending():
    out = subprocess.run([CORDON, "pending", "--json"], capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def asked(what):
    ok(wait_for(lambda: any(q["path"] == what for q in pending())), "asked: " + what, pending())
    return next((q for q in pending() if q["path"] == what), {"id": 0})


def settle(verb, question, *options):
    return subprocess.run([CORDON, verb, str(question["id"]), *options], capture_output=True, text=True)


def seen(e, method):
    return [m for m in (json.loads(line) for line in list(e.lines) if line.startswith(b"{")) if m.get("method") == method]


def answers():
    return [json.loads(line) for line in open(work + "/answers")] if os.path.exists(work + "/answers") else []


def ask(e, i, *requests):
    if os.path.exists(work + "/answers"):
        os.remove(work + "/answers")
    e.prompt(i, "ask " + json.dumps(requests))


os.makedirs(work + "/docs", exist_ok=True)
home = os.environ["HOME"]
os.makedirs(home + "/.ssh", exist_ok=True)
open(home + "/.ssh/id", "w").write("secret")
open(home + "/notes", "w").write("notes")
e = Editor("--set", "acp.editor-tools=ask")
e.answer(0)
equal(json.load(open(work + "/initialize.json"))["params"]["clientCapabilities"]["fs"], {"readTextFile": True, "writeTextFile": True},
      "acp.editor-tools = ask offers the editor's tools")
read = lambda path, **more: ["fs/read_text_file", {"sessionId": "s", "path": path, **more}]
ask(e, 1, read(home + "/notes", line=2), read(home + "/notes"), read(home + "/.ssh/id"))
q = asked(home + "/notes")
ok("outside the sandbox" in q["reason"] and q["kind"] == "read" and not seen(e, "fs/read_text_file"), "it waits, and says where it would be done", q)
ok("for once or session" in settle("approve", q, "--scope", "user").stderr, "no rule can be made of the answer")
equal(settle("approve", q).returncode, 0, "allowed, in another terminal")
ok(wait_for(lambda: seen(e, "fs/read_text_file")), "it reaches the editor")
equal(seen(e, "fs/read_text_file")[0]["params"], {"sessionId": "s", "path": home + "/notes", "line": 2}, "as the agent sent it")
e.raw(json.dumps({"jsonrpc": "2.0", "id": "q0", "result": {"content": "notes"}}) + "\n")
settle("deny", asked(home + "/notes"))
ok(e.answer(1), "the turn ends")
equal([a.get("result") or a["error"]["code"] for a in answers()], [{"content": "notes"}, 4002, 4002],
      "the editor's answer; an error where it was denied; and one where a rule hides it, unasked")
ok("own tools" in answers()[1]["error"]["message"], "the agent is told what to do instead", answers())
os.makedirs(home + "/.config/cordon", exist_ok=True)
open(home + "/.config/cordon/config", "w").write('[rule "t"]\n\tdeny = read ~/closed\n')
ask(e, 9, read(home + "/closed"))
ok(e.answer(9) and not pending(), "a rule that comes during the session")
equal([a.get("error", {}).get("code") for a in answers()], [4002], "denies at once")
os.symlink(home + "/notes", work + "/link")
ask(e, 2, read(work + "/link"), read(work + "/link"), ["fs/write_text_file", {"path": work + "/docs/a", "content": "x"}],
    ["fs/write_text_file", {"path": work + "/docs/b", "content": "x"}])
q = asked(home + "/notes")
equal(q["via"], work + "/link", "a link is asked about as what it leads to")
settle("approve", q)
ok(wait_for(lambda: len(seen(e, "fs/read_text_file")) == 2), "allowed")
e.raw('{"jsonrpc":"2.0","id":"q0","result":{"content":""}}\n')
q = asked(home + "/notes")
os.remove(work + "/link")
os.symlink(home + "/.ssh/id", work + "/link")
settle("approve", q)
q = asked(work + "/docs/a")
ok("undo does not cover" in q["reason"], "a write is told to be beyond undo", q)
equal(len(seen(e, "fs/read_text_file")), 2, "a link that was changed meanwhile is not followed")
settle("approve", q, "--scope", "session", "--extent", "dir")
ok(wait_for(lambda: len(seen(e, "fs/write_text_file")) == 1), "an answer for the session")
e.raw('{"jsonrpc":"2.0","id":"q2","result":{}}\n')
ok(wait_for(lambda: len(seen(e, "fs/write_text_file")) == 2), "holds for the next file")
e.raw('{"jsonrpc":"2.0","id":"q3","result":{}}\n')
ok(e.answer(2), "the turn ends")
run = {"command": "npm", "args": ["test", "a b"], "cwd": work, "env": [{"name": "CI", "value": "1"}], "later": True}
ask(e, 3, ["terminal/output", {"terminalId": "t1"}], ["terminal/create", run], ["$/cancel_request", {"requestId": "q1"}],
    ["terminal/create", {**run, "later": False}], ["terminal/output", {"terminalId": "t1"}], ["terminal/release", {"terminalId": "t1"}],
    ["terminal/kill", {"terminalId": "t1"}], ["fs/delete", {"path": work + "/x"}], read("notes"), read(work + "/../x"))
q = asked(f"cd {work} && CI=1 npm test 'a b'")
ok(wait_for(lambda: len(pending()) == 1), "a request that its agent cancels waits no more", pending())
q = asked(f"cd {work} && CI=1 npm test 'a b'")
settle("approve", q)
ok(wait_for(lambda: seen(e, "terminal/create")), "a command line is allowed as it was shown")
e.raw('{"jsonrpc":"2.0","id":"q3","result":{"terminalId":"t1"}}\n')
for i, method in ((4, "terminal/output"), (5, "terminal/release")):
    ok(wait_for(lambda m=method: seen(e, m)), method + " of a terminal that was allowed passes")
    e.raw(json.dumps({"jsonrpc": "2.0", "id": f"q{i}", "result": {}}) + "\n")
ok(e.answer(3), "the turn ends")
codes = [(a["id"], a["error"]["code"] if "error" in a else 0) for a in answers()]
equal([c for _, c in codes], [4002, -32800, 0, 0, 0, 4002, 4002, 4002, 4002],
      "of another terminal, of one that is released, and what cordon does not know: refused")
n = len(e.lines)
e.prompt(4, "sly")
ok(e.answer(4), "an agent that tries anyway")
ok(not any(b"fs" in line or b"terminal" in line for line in list(e.lines)[n:]), "gets none of it through", *e.lines[n:])
ok(not pending(), "nor asked about", pending())
rows = [json.loads(line) for line in subprocess.run([CORDON, "audit", "--json"], cwd=work, capture_output=True, text=True).stdout.splitlines()]
ok(any(r["event"] == "decision" and "npm test" in str(r.get("path")) for r in rows), "questions and answers are in the audit log")
ask(e, 5, ["fs/write_text_file", {"path": home + "/later", "content": "x"}])
q = asked(home + "/later")
equal(e.close(), 0, "a question that is open does not keep the session")

# ---- bytes that are not ACP pass unchanged
data = os.urandom(3 << 20) + b'\n[fs/ \\u0020]\n{"a":\n[1,\r\n2]}\n{ no end'
for name, options in (("bytes", []), ("bytes with the tools on", ["--set", "acp.editor-tools=on"])):
    r = subprocess.run([CORDON, "run", "--stdio", *options, "--", "cat"], cwd=work, input=data, capture_output=True, timeout=front.WAIT)
    equal((hashlib.sha256(r.stdout).hexdigest(), r.returncode), (hashlib.sha256(data).hexdigest(), 0), name + " come back as they were")
r = subprocess.run([CORDON, "run", "--stdio", "--", "echo", '[INFO] fs/x {"method":"fs/read"}'], cwd=work, stdin=subprocess.DEVNULL,
                   capture_output=True, text=True)
equal(r.stdout, '[INFO] fs/x {"method":"fs/read"}\n', "nothing is lost where no editor speaks")
began = time.monotonic()
r = subprocess.run(f"head -c 100000000 /dev/zero | tr '\\0' 'x' | {CORDON} run --stdio -- cat | (sleep 1; wc -c)", shell=True, cwd=work,
                   capture_output=True, text=True, timeout=front.WAIT)
equal(r.stdout.strip(), "100000000", f"100 MB through it, and a reader that waits ({time.monotonic() - began:.1f} s)")
equal(subprocess.run([CORDON, "run", "--stdio", "--", "sh", "-c", "kill -9 $$"], cwd=work, stdin=subprocess.DEVNULL).returncode, 137, "exit status")
equal(subprocess.run([CORDON, "run", "--stdio", "--", "nothing-there"], cwd=work, stdin=subprocess.DEVNULL, capture_output=True).returncode, 127, "no such command")
equal(subprocess.run([CORDON, "run", "--stdio", "--headless", "--", "true"], cwd=work, capture_output=True).returncode, 125, "not with --headless")
p = subprocess.Popen([CORDON, "run", "--stdio", "--", "sh", "-c", "head -c 100 >early; echo {}; until [ -e die ]; do sleep 0.02; done; kill -9 $$"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for m in ({"jsonrpc": "2.0", "method": "x"}, {"jsonrpc": "2.0", "method": "x", "params": ["x" * (8 << 20)]}):
    p.stdin.write(json.dumps(m).encode() + b"\n")
p.stdin.flush()
open(work + "/die", "w").close()
ok(wait_for(lambda: p.poll() == 137), "an agent that dies with much that it has not read ends the session", p.poll())
p.kill()

# (messages without a reader, from an agent that causes many)
open(work + "/flood.py", "w").write('''
import sys
sys.stdin.readline()
for i in range(3000):
    sys.stdout.write('{"jsonrpc":"2.0","method":"fs/read_text_file"}\\n')
print('{"jsonrpc":"2.0","method":"later"}', flush=True)
sys.stdin.readline()
''')
p = subprocess.Popen([CORDON, "run", "--stdio", "--", "python3", "flood.py"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
p.stdin.flush()
got = []
threading.Thread(target=lambda: got.append(p.stdout.readline()), daemon=True).start()
ok(wait_for(lambda: got and b"later" in got[0]), "standard error that nobody reads stops nobody", got)
p.stdin.close()
ok(wait_for(lambda: p.poll() is not None), "and the session ends", p.poll())
p.kill()
p = subprocess.Popen([CORDON, "run", "--stdio", "--", "sh", "-c", "trap 'echo got; exit 5' TERM; echo up; sleep 600 & wait"], cwd=work,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdout.readline()
p.terminate()
equal((p.stdout.read(), p.wait(front.WAIT)), (b"got\n", 5), "a signal is the agent's")
front.done()
