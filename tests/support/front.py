"""front - TAP, and a client of cordon's machine interfaces that checks every message by its schema.

SPDX-License-Identifier: MIT
"""
import base64
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time

try:
    import jsonschema
except ImportError:  # only needed for schemas
    jsonschema = None

TRANSCRIPT = open(os.path.abspath("transcript"), "w")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORDON = os.environ["CORDON"]
PROTOCOL = json.load(open(ROOT + "/core/api/protocol.json"))
DEFS = PROTOCOL["$defs"]
WAIT = 120  # seconds until an expected message is given up

# ---- TAP ------------------------------------------------------------------------------------------

_tests = _failed = 0


def ok(good, name, *diagnostics):
    global _tests, _failed
    _tests += 1
    _failed += not good
    print(f"{'ok' if good else 'not ok'} {_tests} - {name}")
    if not good:
        for line in "\n".join(map(str, diagnostics)).splitlines()[:40]:
            print("# " + line[:400])
    sys.stdout.flush()
    return good


def equal(got, want, name):
    return ok(got == want, name, f"got:  {got!r}", f"want: {want!r}")


def skip(name, why):
    global _tests
    _tests += 1
    print(f"ok {_tests} - {name} # SKIP {why}")


def done():
    judge()
    print(f"1..{_tests}")
    sys.exit(1 if _failed else 0)


def wait_for(condition, seconds=WAIT):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# ---- schemas --------------------------------------------------------------------------------------

seen_operations, seen_events, seen_errors, bad = set(), set(), set(), []
_validators, _written = {}, {}
_writing = threading.Lock()


def record(key, **entry):
    """For ajv, which judges once more at the end: enough of each kind, not all of a flood."""
    line = json.dumps(entry)
    with _writing:
        _written[key] = _written.get(key, 0) + 1
        if _written[key] <= 500 and len(line) < 1 << 20:
            TRANSCRIPT.write(line + "\n")


def judge():
    """What ajv says, and the published schemas of MCP; where they could be fetched."""
    with _writing:
        TRANSCRIPT.close()
    if not os.path.isdir(ROOT + "/build/npm/node_modules"):
        print("# ajv is not here: validated by jsonschema alone")
        return
    out = subprocess.run(["node", ROOT + "/tests/support/validate.js", ROOT + "/build/npm", TRANSCRIPT.name],
                         capture_output=True, text=True)
    said = json.loads(out.stdout) if out.returncode == 0 else {"bad": [out.stderr], "seen": {}}
    ok(not said["bad"], f"ajv says the same of {said['seen']}", *said["bad"])


def valid(document, pointer, value, what):
    """Checks a value by the schema at a place of a document; what is wrong goes to `bad`."""
    key = (id(document), pointer)
    record(key, document=ROOT + "/core/api/" + ("protocol.json" if document is PROTOCOL else "mcp.json"), pointer=pointer, value=value)
    if key not in _validators:
        schema = {"$ref": document["$id"] + "#" + pointer}
        resolver = jsonschema.RefResolver(document["$id"], document)
        _validators[key] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    for error in _validators[key].iter_errors(value):
        bad.append(f"{what}: {error.message[:200]} at {list(error.absolute_path)}: {json.dumps(value)[:300]}")


# ---- the client -----------------------------------------------------------------------------------


def exact(line, message):
    """Every number is written out: readers that decode into 64 bits take no exponent."""
    numbers = re.sub(rb'"(?:[^"\\]|\\.)*"', b'""', line)
    if re.search(rb"[0-9][eE]|NaN|Infinity", numbers):
        bad.append(f"a number with an exponent: {message}")


class Serve:
    """cordon serve, and what it has said."""

    def __init__(self, *args, env=None, cwd=None):
        self.process = subprocess.Popen([CORDON, "serve", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, cwd=cwd)
        self.n, self.events, self.responses, self.order, self.log = 0, [], {}, [], []
        self.operations, self.reading = {}, threading.Event()
        self.reading.set()
        self.news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        self._log_reader.start()
        self.hello = self.wait(lambda: self.order and self.order[0])

    def _read(self):
        for line in iter(self._line, b""):
            self.reading.wait()
            message = json.loads(line)
            exact(line, message)
            self.check(message)
            with self.news:
                self.order.append(message)
                if message["type"] == "response":
                    self.responses[message["request_id"]] = message
                elif message["type"].startswith("event."):
                    self.events.append(message)
                self.news.notify_all()
        with self.news:
            self.order.append(None)
            self.news.notify_all()

    def _line(self):
        try:
            return self.process.stdout.readline()
        except ValueError:  # closed meanwhile
            return b""

    def _read_log(self):
        for line in self.process.stderr:
            try:
                entry = json.loads(line)
                valid(PROTOCOL, "/$defs/log", entry, "log")
                self.log.append(entry)
            except ValueError:
                bad.append(f"standard error: {line!r}")

    def check(self, message):
        kind = message["type"]
        if kind == "hello":
            valid(PROTOCOL, "/$defs/hello", message, kind)
        elif kind == "response":
            valid(PROTOCOL, "/$defs/response", message, kind)
            op = self.operations.get(message["request_id"])
            if message["status"] == "error":
                error = message["error"]
                seen_errors.add(error["name"])
                if DEFS["errors"].get(error["name"], {}).get("code") != error["code"]:
                    bad.append(f"error {error} is not in the list")
            elif op:
                seen_operations.add(op)
                valid(PROTOCOL, f"/$defs/operations/{op}/result", message["payload"], op)
        else:
            seen_events.add(kind)
            valid(PROTOCOL, "/$defs/event", message, kind)
            if kind not in DEFS["events"]:
                bad.append(f"{kind} is not in the list")
            else:
                valid(PROTOCOL, f"/$defs/events/{kind}", message["payload"], kind)

    def wait(self, condition, seconds=WAIT):
        end = time.monotonic() + seconds
        with self.news:
            while not (found := condition()):
                if not self.news.wait(max(0, end - time.monotonic())):
                    return None
            return found

    def raw(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def send(self, op, **payload):
        self.n += 1
        rid = str(self.n)
        self.operations[rid] = op
        valid(PROTOCOL, "/$defs/request", {"type": op, "request_id": rid, "payload": payload}, op)
        if op in DEFS["operations"]:
            valid(PROTOCOL, f"/$defs/operations/{op}/payload", payload, op)
        self.raw(json.dumps({"type": op, "request_id": rid, "payload": payload}) + "\n")
        return rid

    def answer(self, rid, seconds=WAIT):
        return self.wait(lambda: self.responses.get(rid), seconds) or {"status": "none", "error": {"name": "no answer"}}

    def call(self, op, **payload):
        """The result, or {"error": name}."""
        r = self.answer(self.send(op, **payload))
        return r["payload"] if r["status"] == "ok" else {"error": r["error"]["name"], **r["error"].get("data", {})}

    def event(self, kind, where=lambda p: True, seconds=WAIT):
        """The first such event, waited for; its payload."""
        return self.wait(lambda: next((e["payload"] for e in self.events
                                       if e["type"] == "event." + kind and where(e["payload"])), None), seconds)

    def output(self, rid, stream=None):
        parts = [e["payload"] for e in self.events if e["type"] in ("event.terminal_output", "event.agent_output") and
                 e["payload"]["request_id"] == rid and stream in (None, e["payload"]["stream"])]
        return b"".join(base64.b64decode(p["data"]) if p["encoding"] == "base64" else p["data"].encode()
                        for p in parts)

    def run(self, command, **more):
        """A command: its result with what it said."""
        rid = self.send("agent.execute", command=command, **more)
        r = self.answer(rid)
        result = r.get("payload") or {"error": r["error"]["name"]}
        return {**result, "out": self.output(rid).decode(errors="replace")}

    def start(self, *dirs, **more):
        return self.call("session.start", working_directories=[d if isinstance(d, dict) else {"path": d}
                                                               for d in dirs], **more)

    def close(self):
        """The exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            status = self.process.wait(WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        self._log_reader.join(WAIT)
        return status


def tree(path):
    """Every path below, with its type, mode and content."""
    found = {}
    for top, dirs, files in os.walk(path):
        for name in dirs + files:
            full = os.path.join(top, name)
            st = os.lstat(full)
            content = open(full, "rb").read() if name in files and not os.path.islink(full) else None
            found[os.path.relpath(full, path)] = (st.st_mode, content)
    return found
