"""vm_other - our guest with another file server: vm_other.py VIRTIOFSD DIR BASE FOLDER COMMAND...

DIR/argv is QEMU's command line of a run of ours, a line each; BASE the initramfs that all sessions share.
SPDX-License-Identifier: MIT
"""
import base64
import json
import os
import re
import socket
import subprocess
import sys

server, scratch, base, folder, *command = sys.argv[1:]
argv = open(scratch + "/argv").read().split("\n")[:-1]
started = []


def newc(name, data):
    head = "070701" + "".join(f"{n:08x}" for n in (0, 0o100600, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0))
    entry = head.encode() + name.encode() + b"\0"
    entry += b"\0" * (-len(entry) % 4) + data
    return entry + b"\0" * (-len(entry) % 4)


def serve(tag, path):
    at = f"{scratch}/{tag}.sock"
    listener = socket.socket(socket.AF_UNIX)
    if os.path.exists(at):
        os.unlink(at)
    listener.bind(at)
    listener.listen(1)
    started.append(subprocess.Popen([server, f"--fd={listener.fileno()}", "-o", f"source={path},cache=auto,sandbox=chroot", "-f"],
                                    pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL))
    return at


def port():
    ours, its = socket.socketpair()
    os.set_inheritable(its.fileno(), True)
    return ours, its


conf = "\0".join(["root", "", str(256 << 20), "cordon", "", "cordon0", "rw", folder]).encode() + b"\0"
first = open(base, "rb").read()
with open(scratch + "/initrd", "wb") as f:
    f.write(first + b"\0" * (-len(first) % 4) + newc("conf", conf) + newc("TRAILER!!!", b""))
ports = {name: port() for name in ("control", "tty", "console", "qmp")}
shares = {"fs0": serve("root", "/"), "fs1": serve("cordon0", folder)}
for i, word in enumerate(argv):
    if m := re.fullmatch(r"socket,id=(\w+),fd=\d+", word):
        argv[i] = f"socket,id={m[1]},path={shares[m[1]]}" if m[1] in shares else f"socket,id={m[1]},fd={ports[m[1]][1].fileno()}"
    elif word.startswith("/proc/self/fd/"):
        argv[i] = scratch + "/initrd"
qemu = subprocess.Popen(argv, pass_fds=[its.fileno() for ours, its in ports.values()], stdin=subprocess.DEVNULL)
started.append(qemu)
for ours, its in ports.values():
    its.close()
ports["console"][0].setblocking(False)
control = ports["control"][0]
control.settimeout(240)


def say(**message):
    control.sendall(json.dumps(message).encode() + b"\n")


status = 1
try:
    for line in control.makefile("rb"):
        said = json.loads(line)
        if said["type"] == "ready":
            say(type="exec", id=1, argv=command, env=["PATH=/usr/bin:/bin", "HOME=/tmp"], cwd=folder, uid=0, gid=0, tty=False)
            say(type="input", id=1, data="", end=True)
        elif said["type"] == "output":
            text = base64.b64decode(said["data64"]) if "data64" in said else said["data"].encode()
            (sys.stderr if said["stream"] == "stderr" else sys.stdout).buffer.write(text)
        elif said["type"] in ("step_completed", "exec_failed"):
            status = said.get("exit_code", said.get("status"))
            say(type="shutdown")
            break
    qemu.wait(10)
finally:
    for process in reversed(started):
        process.kill()
        process.wait()
sys.exit(status)
