"""vm_guest - one guest for many commands of a shell test, each as `cordon run` would run it.

  vm_guest.py serve SOCKET FOLDER [SETTING=VALUE...]   a session of cordon serve; says "ready" once the guest is there
  vm_guest.py run SOCKET COMMAND...                    in that guest, with this standard input and output and error
  vm_guest.py call SOCKET OPERATION JSON               an operation of the API: prints its answer, fails where that is an error

A command's status is that of the client. What is asked about is denied, as it is headless.
SPDX-License-Identifier: MIT
"""
import array
import base64
import json
import os
import signal
import socket
import sys
import threading

BOOT = 600  # seconds: it is emulated
PART = 48 << 10


def client(path, *words):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    fds = array.array("i", [0, 1, 2])
    s.sendmsg([json.dumps(words).encode() + b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    said = s.makefile().readline()
    sys.exit(int(said) if said else 125)


class Guest:
    def __init__(self, folder, settings):
        from front import Serve
        self.serve = Serve()
        r = self.serve.answer(self.serve.send(
            "session.start", working_directories=[{"path": folder}], backend="vm", network_policy="none",
            settings=dict(s.split("=", 1) for s in settings)), BOOT)
        if r["status"] != "ok":
            sys.exit(f"the guest does not start: {r}")
        threading.Thread(target=self.deny, daemon=True).start()

    def deny(self):
        done = 0
        while True:
            with self.serve.news:
                while len(self.serve.events) <= done:
                    self.serve.news.wait()
                event = self.serve.events[done]
            done += 1
            if event["type"] == "event.approval_requested":
                self.serve.send("approval.answer", id=event["payload"]["id"], allow=False)
            elif event["type"] == "event.safeguard_triggered":
                self.serve.send("safeguard.confirm", safeguard_id=event["payload"]["safeguard_id"], action="deny")

    def feed(self, rid, fd):
        """Waits until its end, or until the command has ended."""
        while True:
            data = os.read(fd, PART)
            done = self.serve.call("agent.input", request_id=rid, data=base64.b64encode(data).decode(),
                                   encoding="base64", end=not data)
            if not data or "error" in done:
                break
        os.close(fd)

    def put(self, rid, n, fds):
        """Returns its output from the n-th event on, and the number of events."""
        events = self.serve.events[n:]
        for e in events:
            p = e["payload"]
            if e["type"] != "event.terminal_output" or p["request_id"] != rid:
                continue
            data = base64.b64decode(p["data"]) if p["encoding"] == "base64" else p["data"].encode()
            while data:
                data = data[os.write(fds[p["stream"] == "stderr"], data):]
        return n + len(events)

    def run(self, argv, fds):
        serve, n = self.serve, len(self.serve.events)
        rid = serve.send("agent.execute", argv=argv, stdin=True)
        threading.Thread(target=self.feed, args=(rid, fds[0]), daemon=True).start()
        while True:
            ended = serve.wait(lambda: serve.responses.get(rid) or len(serve.events) > n, BOOT)
            answer = serve.responses.get(rid)
            n = self.put(rid, n, fds[1:])
            if answer or not ended:
                break
        for fd in fds[1:]:
            os.close(fd)
        if answer and answer["status"] == "ok":
            return answer["payload"]["exit_code"]
        print("# no end:", argv, answer, file=sys.stderr)
        return 125


    def call(self, op, payload, fds):
        r = self.serve.answer(self.serve.send(op, **json.loads(payload)), BOOT)
        os.write(fds[1], (json.dumps(r.get("payload", r.get("error"))) + "\n").encode())
        for fd in fds:
            os.close(fd)
        return int(r["status"] != "ok")


def stop(guest):
    status = guest.serve.close()
    print("cordon serve ended with", status, file=sys.stderr)
    return 1 if status is None else abs(status)


def serve(path, folder, *settings):
    guest = Guest(folder, settings)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(stop(guest)))
    print("ready", flush=True)
    while True:
        s, _ = listener.accept()
        text, fds, _, _ = socket.recv_fds(s, 1 << 16, 3)
        do, *words = json.loads(text)
        status = guest.run(words, fds) if do == "run" else guest.call(*words, fds)
        s.sendall(f"{status}\n".encode())
        s.close()


if sys.argv[1] == "serve":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    serve(*sys.argv[2:])
client(sys.argv[2], sys.argv[1], *sys.argv[3:])
