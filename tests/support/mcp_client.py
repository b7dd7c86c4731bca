"""mcp_client - lines to and from cordon mcp; every answer is checked.

SPDX-License-Identifier: MIT
"""
import json
import subprocess
import threading
import time

import jsonschema

import front
from front import CORDON, ROOT

MCP = json.load(open(ROOT + "/core/api/mcp.json"))
TOOLS = {t["name"]: t for t in MCP["tools"]}
PROTOCOL, CAPABILITIES, SERVER = ("io.modelcontextprotocol/" + n for n in ("protocolVersion", "clientCapabilities", "serverInfo"))


class Client:
    """Lines to and from a server; every answer is checked."""

    def __init__(self, *args, sock=None, cwd=None):
        self.n, self.messages, self.news, self.modern, self.caps = 0, [], threading.Condition(), False, {}
        self.sent, self.version = {}, "2025-11-25"
        if sock:
            self.process, self.into, self.out = None, sock.makefile("wb"), sock.makefile("rb")
        else:
            self.process = subprocess.Popen([CORDON, "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd)
            self.into, self.out = self.process.stdin, self.process.stdout
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.out:
            m = json.loads(line)
            front.exact(line, m)
            if isinstance(m, dict) and m.get("jsonrpc") != "2.0":
                front.bad.append(f"no JSON-RPC: {line!r}")
            self.record(m)
            with self.news:
                self.messages.append(m)
                self.news.notify_all()
        with self.news:
            self.messages.append(None)
            self.news.notify_all()

    def record(self, m):
        """For the schemas of its revision: answers by their request's, the rest by the session's."""
        version, method = self.sent.get(m.get("id") if isinstance(m, dict) and "method" not in m else None, (None, None))
        if method == "initialize" and "result" in m:
            version = m["result"]["protocolVersion"]
        version = version or ("2026-07-28" if self.modern else self.version)
        front.record((version, method, json.dumps(m)[:60]), revision=version, method=method, value=m)

    def raw(self, text):
        self.into.write(text if isinstance(text, bytes) else text.encode() + b"\n")
        self.into.flush()

    def wait(self, condition, seconds=front.WAIT):
        end = time.monotonic() + seconds
        with self.news:
            while True:
                for m in self.messages:
                    if m is not None and condition(m):
                        return m
                if not self.news.wait(max(0, end - time.monotonic())):
                    return {}

    def send(self, method, modern=None, **params):
        self.n += 1
        meta = params.pop("_meta", {})
        if self.modern if modern is None else modern:
            meta = {PROTOCOL: "2026-07-28", CAPABILITIES: self.caps, **meta}
        if meta:
            params["_meta"] = meta
        version = "2026-07-28" if PROTOCOL in meta else self.version
        self.sent[self.n] = (version, method)
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}))
        return self.n

    def answer(self, i, seconds=front.WAIT):
        return self.wait(lambda m: isinstance(m, dict) and m.get("id") == i and type(m["id"]) is type(i) and "method" not in m, seconds)

    def call(self, method, **params):
        """Returns the result, or the error's code."""
        m = self.answer(self.send(method, **params))
        if "result" not in m:
            return m.get("error", {}).get("code")
        r = m["result"]
        if self.modern and (r.get("resultType") not in ("complete", "input_required") or r["_meta"][SERVER]["name"] != "cordon"):
            front.bad.append(f"{method}: {r}")
        cached = method.endswith("/list") or method in ("server/discover", "resources/read")
        if self.modern and cached != ("ttlMs" in r and "cacheScope" in r):
            front.bad.append(f"{method}: cache hints: {r}")
        return r

    def check(self, name, r):
        """Checks structuredContent by the tool's own schema."""
        if r.get("isError") or "structuredContent" not in r:
            return {"error": " ".join(c["text"] for c in r.get("content", []))}
        front.record(name, schema=TOOLS[name]["outputSchema"], value=r["structuredContent"])
        for e in jsonschema.Draft202012Validator(TOOLS[name]["outputSchema"]).iter_errors(r["structuredContent"]):
            front.bad.append(f"{name}: {e.message[:200]} {r}")
        texts, value = [t["text"] for t in r["content"]], r["structuredContent"]
        if name == "execute_command":
            same = texts[0] == (value["stdout"] or texts[0]) and f"exit code {value['exit_code']}" in texts[-1]
        elif "diff" in value or value.get("encoding") == "utf-8":
            same = texts[0] == value.get("diff", value.get("content")) or (texts[0].startswith("the") and not value.get("diff", value.get("content")))
        else:
            same = json.loads(texts[0]) == value
        if not same:
            front.bad.append(f"{name}: the text is not the same: {r}")
        return r["structuredContent"]

    def tool(self, tool_name, **arguments):
        r = self.call("tools/call", name=tool_name, arguments=arguments)
        return self.check(tool_name, r) if isinstance(r, dict) else {"code": r}

    def initialize(self, version="2025-11-25", **caps):
        r = self.call("initialize", protocolVersion=version, capabilities=caps, clientInfo={"name": "t", "version": "1"})
        self.version = r["protocolVersion"]
        self.raw('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return r["protocolVersion"]

    def close(self):
        self.into.close()
        return self.process.wait(front.WAIT)
