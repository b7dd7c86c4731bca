#!/usr/bin/env python3
"""agent_api - answers as a model would to Claude Code, Codex, Gemini CLI and opencode, for tests.

usage: agent_api.py PORTFILE LOG

Speaks just enough of Anthropic's Messages, OpenAI's Responses and Gemini's generateContent, streamed. A prompt in
PROMPTS is answered with its tool calls, one after the other, then with "All done: PROMPT". Which call is next
follows from the conversation alone: how many results stand behind the prompt. Anything else gets one word.
LOG has a line for each request and what was called.
"""
import http.server
import itertools
import json
import os
import sys

PROMPTS = {
    "fix the greeting": ["read", "edit", "write", "shell"],
    "add a licence": ["licence"],
}
COMMAND = "mkdir -p out && python3 greet.py > out/result.txt"
PATCH = """apply_patch <<'EOF'
*** Begin Patch
*** Update File: greet.py
@@
-print("helo")
+print("hello")
*** End Patch
EOF"""


NUMBERS = itertools.count(1)  # agents take messages of one id for parts of one


def add_file(name, text):
    return f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {name}\n+{text}\n*** End Patch\nEOF"


def calls(cwd):
    """Each call for each agent: {what: {agent: (tool, arguments)}}."""
    greet, notes, licence = (os.path.join(cwd, n) for n in ("greet.py", "NOTES.md", "LICENSE"))
    old, new = 'print("helo")', 'print("hello")'
    files = {"write": (notes, "the greeting is fixed"), "licence": (licence, "do what you like")}
    table = {
        "read": {
            "claude": ("Read", {"file_path": greet}),
            "opencode": ("read", {"filePath": greet}),
            "gemini": ("read_file", {"file_path": greet}),
            "codex": ("exec_command", {"cmd": "cat greet.py"}),
        },
        "edit": {
            "claude": ("Edit", {"file_path": greet, "old_string": old, "new_string": new}),
            "opencode": ("edit", {"filePath": greet, "oldString": old, "newString": new}),
            "gemini": ("replace", {"file_path": greet, "old_string": old, "new_string": new,
                                   "instruction": "fix the greeting"}),
            "codex": ("exec_command", {"cmd": PATCH}),
        },
        "shell": {
            "claude": ("Bash", {"command": COMMAND, "description": "run it"}),
            "opencode": ("bash", {"command": COMMAND, "description": "run it"}),
            "gemini": ("run_shell_command", {"command": COMMAND, "description": "run it"}),
            "codex": ("exec_command", {"cmd": COMMAND}),
        },
    }
    for what, (path, text) in files.items():
        table[what] = {
            "claude": ("Write", {"file_path": path, "content": text + "\n"}),
            "opencode": ("write", {"filePath": path, "content": text + "\n"}),
            "gemini": ("write_file", {"file_path": path, "content": text + "\n"}),
            "codex": ("exec_command", {"cmd": add_file(os.path.basename(path), text)}),
        }
    return table


def prompt_in(text):
    return next((p for p in PROMPTS if p in text), None)


def last_prompt(messages):
    """(prompt, results behind it) of [(text of the user or None, results)]. Agents may repeat a prompt later, in
    reminders: its first place counts."""
    prompts = [prompt_in(text or "") for text, _ in messages]
    prompt = next((p for p in reversed(prompts) if p), None)
    if not prompt:
        return None, 0
    return prompt, sum(n for _, n in messages[prompts.index(prompt):])


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self, text):
        with open(sys.argv[2], "a") as f:
            f.write(text + "\n")

    def do_GET(self):
        self.note("GET " + self.path)
        self.reply({"data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        path = self.path.split("?")[0]
        if "REQUESTS" in os.environ:
            with open(os.environ["REQUESTS"], "a") as f:
                f.write(json.dumps({"path": self.path, "body": request}) + "\n")
        if path.endswith("/messages"):
            self.answer_messages(request)
        elif path.endswith("/responses"):
            self.answer_responses(request)
        elif "GenerateContent" in path or "generateContent" in path:
            self.answer_gemini(request, "stream" in path)
        else:
            self.note("POST " + self.path)
            self.reply({"input_tokens": 10, "totalTokens": 10})

    def reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events, named=True):
        """Server-sent events, then the connection's end."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for e in events:
            if named:
                self.wfile.write(f"event: {e['type']}\n".encode())
            self.wfile.write(f"data: {json.dumps(e)}\n\n".encode())
        self.close_connection = True

    def next_call(self, agent, messages, tools):
        """(tool, arguments), or the words that end the turn."""
        prompt, done = last_prompt(messages) if tools else (None, 0)
        if not prompt:
            return "Title"
        if done >= len(PROMPTS[prompt]):
            self.note(f"{agent} done {prompt}")
            return "All done: " + prompt
        what = PROMPTS[prompt][done]
        self.note(f"{agent} {what}")
        return calls(os.environ["FOLDER"])[what][agent]

    def answer_messages(self, request):
        messages = []
        for m in request.get("messages", []):
            parts = m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
            text = "".join(p.get("text", "") for p in parts) if m["role"] == "user" else None
            messages.append((text, sum(p["type"] == "tool_result" for p in parts)))
        tools = [t.get("name") for t in request.get("tools", [])]
        answer = self.next_call("claude" if "Read" in tools else "opencode", messages, "Read" in tools or "read" in tools)
        number = next(NUMBERS)
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
        if isinstance(answer, str):
            block, stop = {"type": "text", "text": ""}, "end_turn"
            delta = {"type": "text_delta", "text": answer}
        else:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer[0], "input": {}}
            stop, delta = "tool_use", {"type": "input_json_delta", "partial_json": json.dumps(answer[1])}
        if not request.get("stream"):
            whole = dict(block, text=answer) if isinstance(answer, str) else dict(block, input=answer[1])
            self.reply(dict(message, content=[whole], stop_reason=stop))
            return
        self.stream([
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ])

    def answer_responses(self, request):
        messages = []
        for m in request.get("input", []):
            text = None
            if m.get("role") == "user":
                text = "".join(p.get("text", "") for p in m["content"])
            messages.append((text, m.get("type") == "function_call_output"))
        answer, number = self.next_call("codex", messages, request.get("tools")), next(NUMBERS)
        if isinstance(answer, str):
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": answer, "annotations": []}]}
        else:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": answer[0],
                    "arguments": json.dumps(answer[1]), "status": "completed"}
        done = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item],
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                          "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
        self.stream([
            {"type": "response.created", "response": {"id": f"resp_{number}", "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ])

    def answer_gemini(self, request, streams):
        messages = []
        for m in request.get("contents", []):
            text = "".join(p.get("text", "") for p in m["parts"]) if m.get("role") == "user" else None
            messages.append((text, sum("functionResponse" in p for p in m["parts"])))
        tools = [f["name"] for t in request.get("tools", []) for f in t.get("functionDeclarations", [])]
        answer = self.next_call("gemini", messages, "read_file" in tools)
        if isinstance(answer, str):
            schema = request.get("generationConfig", {}).get("responseMimeType") == "application/json"
            part = {"text": json.dumps({"complexity_score": 10, "complexity_reasoning": "", "reasoning": "",
                                        "next_speaker": "user", "model_choice": "flash"}) if schema else answer}
        else:
            part = {"functionCall": {"name": answer[0], "args": answer[1]}}
        chunk = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}
        if streams:
            self.stream([chunk], named=False)
        else:
            self.reply(chunk)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # an agent that ends resets its connections


server = Server(("127.0.0.1", 0), Api)
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
