#!/usr/bin/python3
"""api - requests of cordon serve per second, and the memory that a stopped reader costs.

SPDX-License-Identifier: MIT

usage: tests/bench/api.py [build/release/cordon]
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

CORDON = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "build/release/cordon")
REQUESTS, BYTES, PAUSE = 100000, 10**9, 10


def memory(pid):
    """Its resident memory, MiB, at most so far."""
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")) / 1024


def start(folder):
    p = subprocess.Popen([CORDON, "serve", "--log-level", "error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    ask(p, {"type": "session.start", "request_id": 0, "payload": {"working_directories": [{"path": folder}], "audit": False}})
    while json.loads(p.stdout.readline())["type"] != "response":
        pass
    return p


def ask(p, message):
    p.stdin.write(json.dumps(message).encode() + b"\n")
    p.stdin.flush()


def requests(folder):
    p = start(folder)
    lines = b"".join(b'{"type":"session.status","request_id":%d}\n' % i for i in range(REQUESTS))
    began = time.monotonic()
    threading.Thread(target=lambda: (p.stdin.write(lines), p.stdin.flush())).start()
    for _ in range(REQUESTS):
        line = p.stdout.readline()
    passed = time.monotonic() - began
    assert json.loads(line)["request_id"] == REQUESTS - 1
    print(f"session.status, pipelined         {REQUESTS / passed:9.0f} a second")
    began = time.monotonic()
    for i in range(20000):
        ask(p, {"type": "session.status", "request_id": i})
        p.stdout.readline()
    print(f"session.status, one after another {20000 / (time.monotonic() - began):9.0f} a second")
    p.stdin.close()
    p.wait()


def output(folder, pause):
    p = start(folder)
    idle = memory(p.pid)
    began = time.monotonic()
    ask(p, {"type": "agent.execute", "request_id": 1, "payload": {"command": f"head -c {BYTES} /dev/zero | tr '\\0' x"}})
    got = lost = 0
    paused = not pause
    for line in p.stdout:
        if line.startswith(b'{"type":"event.terminal_output"'):
            got += line.count(b"x", line.index(b'"data":'))
            if not paused:
                paused = True
                time.sleep(pause)
        elif b"output_dropped" in line:
            lost += json.loads(line)["payload"]["bytes"]
        elif line.startswith(b'{"type":"response"'):
            break
    passed = time.monotonic() - began
    assert got + lost == BYTES, (got, lost)
    print(f"1 GB of output, reader stops {pause:2} s   {passed:6.1f} s, {lost / 1e6:.0f} MB dropped and said, "
          f"{memory(p.pid) - idle:.1f} MiB more memory than idle ({idle:.1f})")
    p.stdin.close()
    p.wait()


with tempfile.TemporaryDirectory(dir=os.path.expanduser("~")) as folder:
    requests(folder)
    output(folder, 0)
    output(folder, PAUSE)
