"""same_test - one scenario through each way in: the STDIO API, MCP, MCP's socket, the console.

SPDX-License-Identifier: MIT
"""
import json
import os
import shlex
import signal
import socket
import subprocess
import time

import front
from front import CORDON, equal, ok, wait_for
from mcp_client import Client

top = os.path.realpath(".")
home = os.environ["HOME"]
os.makedirs(home + "/.config/cordon", exist_ok=True)
open(home + "/.config/cordon/config", "w").write("[safeguard]\n\tdeletes = 3\n")


def pending():
    out = subprocess.run([CORDON, "pending", "--json"], capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


class ByStdio:
    """Everything by JSON lines, answers too."""

    def __init__(self, folder):
        self.s = front.Serve()
        wait_for(lambda: "error" not in self.s.start(folder, network_policy="none"))
        self.pid = self.s.process.pid

    def begin(self, command):
        self.rid = self.s.send("agent.execute", command=command)

    def end(self):
        self.s.answer(self.rid)

    def answer(self, allow):
        kind = self.s.wait(lambda: next((e for e in self.s.events if e["type"] in ("event.approval_requested", "event.safeguard_triggered") and
                                         not e.get("answered")), None))
        kind["answered"] = True
        if kind["type"] == "event.safeguard_triggered":
            self.s.call("safeguard.confirm", safeguard_id=kind["payload"]["safeguard_id"], action="allow" if allow else "deny")
        else:
            self.s.call("approval.answer", id=kind["payload"]["id"], allow=allow)

    def undo(self, refused=False):
        return self.s.call("undo.rollback")

    def redo(self):
        return self.s.call("undo.redo")

    def close(self):
        self.s.close()


class ByMcp:
    """Everything by tools, the user is asked through the client."""

    def __init__(self, folder):
        self.c = self.connect(folder)
        self.c.initialize(elicitation={})
        self.asked = 0
        wait_for(lambda: "error" not in self.c.tool("get_session_status") and "error" not in self.c.tool("list_directory"))

    def connect(self, folder):
        c = Client("--network", "none", cwd=folder)
        self.pid, self.sock = c.process.pid, None
        return c

    def begin(self, command):
        self.call = self.c.send("tools/call", name="execute_command", arguments={"command": command})

    def end(self):
        self.c.answer(self.call)

    def answer(self, allow):
        self.asked += 1
        questions = lambda: [m for m in self.c.messages if m and m.get("method") == "elicitation/create"]
        wait_for(lambda: len(questions()) >= self.asked)
        self.c.raw(json.dumps({"jsonrpc": "2.0", "id": questions()[self.asked - 1]["id"], "result": {
            "action": "accept", "content": {"decision": "allow once" if allow else "deny"}}}))

    def undo(self, refused=False):
        return self.c.tool("undo")

    def redo(self):
        return self.c.tool("redo")

    def close(self):
        self.c.close()


class BySocket(ByMcp):
    """The same over --mcp-socket; somebody is attached, and another terminal answers."""

    def connect(self, folder):
        path = f"{top}/s{time.monotonic_ns()}.sock"
        self.server = subprocess.Popen([CORDON, "mcp", "--mcp-socket", path, "--network", "none"], cwd=folder, stdin=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.pid = self.server.pid
        wait_for(lambda: os.path.exists(path + ".token") and os.path.exists(path))
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
        c = Client(sock=sock)
        c.raw(json.dumps({"token": open(path + ".token").read()}))
        return c

    def answer(self, allow):
        wait_for(pending)
        subprocess.run([CORDON, "approve" if allow else "deny", str(pending()[0]["id"])], capture_output=True)

    def close(self):
        self.server.terminate()
        self.server.wait(front.WAIT)


class ByConsole:
    """A shell in the console's pane, and keys."""

    def __init__(self, folder):
        self.tmux = ["tmux", "-S", f"{top}/t{time.monotonic_ns()}", "-f", "/dev/null"]
        self.n = 0
        subprocess.run([*self.tmux, "new-session", "-d", "-x", "140", "-y", "40", "-c", folder,
                        f"echo $$ >{top}/console.pid; exec {CORDON} run --network none --set sandbox.set-env='PS1=ready> ' "
                        "--set sandbox.set-env=HISTFILE= -- bash --noprofile --norc -i", ";", "set", "-g", "status", "off", ";",
                        "set", "-g", "remain-on-exit", "on"],
                       env={**os.environ, "TERM": "xterm-256color"})
        if not ok(wait_for(lambda: "ready>" in self.screen()), "a shell in the console", self.screen()):
            front.done()
        client = open(top + "/console.pid").read().strip()
        self.pid = int(subprocess.run(["pgrep", "-P", client, "-x", "cordon"], capture_output=True, text=True).stdout.split()[0])

    def screen(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], capture_output=True, text=True).stdout

    def keys(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys])

    def press_until(self, there, *keys):
        """For keys that count only after half a second of quiet."""
        end = time.monotonic() + front.WAIT
        while not there() and time.monotonic() < end:
            self.keys(*keys)
            wait_for(there, 0.6)
        return there()

    def begin(self, command):
        self.n += 1
        self.keys("-l", f"clear; /bin/sh -c {shlex.quote(command)}; echo do''ne {self.n}")
        self.keys("Enter")

    def end(self):
        ok(wait_for(lambda: f"done {self.n}" in self.screen()), f"command {self.n} has ended", self.screen())

    def answer(self, allow):
        wait_for(pending)
        self.keys("C-]", "a")
        self.press_until(lambda: not pending(), "a" if allow else "d")
        self.keys("C-]", "t")

    def undo(self, refused=False):
        self.change("u", refused)

    def redo(self):
        self.change("r", False)

    def change(self, key, refused):
        shown, gone = (lambda: "╔" in self.screen()), (lambda: "╔" not in self.screen())
        self.keys("C-]", "s")
        self.keys("End", *(["k"] if refused else []))  # (the edit has its own row)
        self.press_until(shown, key)
        if refused:
            time.sleep(0.6)
            self.keys("U")
            time.sleep(0.2)
        self.press_until(gone, "q" if refused else "U")
        self.keys("C-]", "t")

    def close(self):
        self.keys("-l", "exit")
        self.keys("Enter")
        self.press_until(lambda: not os.path.exists(f"/proc/{self.pid}"), "C-]", "q")
        subprocess.run([*self.tmux, "kill-server"])


def runs(pid):
    """It has not ended, nor waits for its parent to ask how."""
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def rows(folder):
    """The audit log, without times, numbers of processes and the folder's name."""
    out = subprocess.run([CORDON, "audit", "--json"], cwd=folder, capture_output=True, text=True).stdout
    found = []
    for line in out.splitlines():
        r = json.loads(line)
        found.append({k: str(r.get(k)).replace(folder, "") for k in ("event", "step", "op", "path", "result", "detail")})
    return found


def scenario(name, make):
    folder = f"{top}/{name}/work"
    os.makedirs(folder + "/.git/hooks")
    make.folder = folder
    by = make(folder)

    def run(command, *answers):
        by.begin(command)
        for answer in answers:
            by.answer(answer)
        by.end()

    def settled(what, condition):
        ok(wait_for(condition), f"{name}: {what}", front.tree(folder))

    there = lambda path: os.path.lexists(f"{folder}/{path}")
    content = lambda path: open(f"{folder}/{path}").read() if there(path) else None
    run("mkdir d; echo 1 >d/1; echo 2 >2; ln -s 2 link; chmod 600 2")
    run("rm -r d; echo more >>2")
    settled("two commands", lambda: content("2") == "2\nmore\n" and not there("d"))
    by.undo()
    settled("undo", lambda: content("2") == "2\n" and there("d/1"))
    by.redo()
    settled("redo", lambda: content("2") == "2\nmore\n" and not there("d"))
    run("echo last >3")
    open(folder + "/3", "a").write("mine\n")
    settled("an edit beside it is told", lambda: any(r["event"] == "external-edit" for r in rows(folder)))
    by.undo(refused=True)
    settled("an undo that would lose an edit is refused", lambda: content("3") == "last\nmine\n")
    run("echo x >.git/hooks/pre-commit", False)
    run("echo x >.git/hooks/post-commit", True)
    settled("denied and allowed", lambda: there(".git/hooks/post-commit") and not there(".git/hooks/pre-commit"))
    run("mkdir m; touch m/1 m/2 m/3 m/4")
    run("rm -r m", False)
    settled("a safeguard holds a step, which is rolled back", lambda: len(os.listdir(folder + "/m")) == 4)
    by.begin("echo torn >torn; sleep 60")
    settled("a step is open", lambda: there("torn") and any(r["path"] == "/torn" for r in rows(folder)))
    parts = subprocess.run(["pgrep", "-P", str(by.pid)], capture_output=True, text=True).stdout.split()
    os.kill(by.pid, signal.SIGKILL)
    wait_for(lambda: not any(map(runs, parts)))
    wait_for(lambda: not pending() and subprocess.run([CORDON, "log"], cwd=folder, capture_output=True).returncode == 0)
    by = make(folder)
    settled("after a crash it is rolled back", lambda: not there("torn"))
    run("echo end >end")
    settled("and work goes on", lambda: there("end"))
    by.close()
    return front.tree(folder), rows(folder)


def comparable(found):
    """Without the programs that are the way in, and the one that is killed at once; steps apart: others may write when one is committed."""
    own = ("/cordon", "/bash", "/clear", "/sleep")
    kept = [r for r in found if not (r["event"] == "exec" and r["path"].endswith(own)) and r["event"] not in ("session-end", "ran", "turn", "traffic")]
    return [r for r in kept if r["event"] != "step"], [r for r in kept if r["event"] == "step"]


def refused(rows):
    return [r for r in rows if r["event"] == "undo" and "has changed since" in r["detail"]]


results = {}
for name, make in (("stdio", ByStdio), ("mcp", ByMcp), ("socket", BySocket), ("console", ByConsole)):
    began = time.monotonic()
    results[name] = scenario(name, make)
    print(f"# {name}: {time.monotonic() - began:.1f} s")
want, steps = comparable(results["stdio"][1])
ok(len(want) > 30 and len(refused(want)) == 1, "the audit log has it all", *want)
for name in ("mcp", "socket", "console"):
    tree, log = results[name]
    got, got_steps = comparable(log)
    if name == "console":  # it refuses by itself, with the plan on the screen
        want = [r for r in want if r not in refused(want)]
    equal(tree, results["stdio"][0], f"{name}: the same tree as by STDIO")
    ok(got == want, f"{name}: the same audit log", *(f"{a}\n{b}" for a, b in zip(got, want) if a != b), len(got), len(want))
    equal(got_steps, steps, f"{name}: the same steps")
front.done()
