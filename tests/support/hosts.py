#!/usr/bin/python3
"""hosts - a small internet for tests: nameserver, web, echo and a capture of what arrives.

usage: hosts.py DIR    runs in the network namespace of 192.0.2.2; DIR gets ready, names, queries, packets
"""
# SPDX-License-Identifier: MIT
import http.server, os, socket, struct, sys, threading, time

DIR = sys.argv[1]
NAMES = {
    "good.example": ["203.0.113.7"], "six.example": ["2001:db8:1::7"], "other.example": ["203.0.113.7"],
    "private.example": ["10.9.9.9"], "metadata.example": ["169.254.169.254"], "local.example": ["127.0.0.1"],
    "silent.example": ["192.0.2.77"], "moves.example": ["203.0.113.7"], "registry.npmjs.org": ["203.0.113.7"],
    "two.example": ["192.0.2.2", "203.0.113.7"],
    "brief.example": ["203.0.113.7"], "slow.example": ["203.0.113.7"], "service.example": [],
}
ALIASES = {"alias.example": "good.example"}
TTL = {"moves.example": 0, "brief.example": 1}
asked = open(DIR + "/names", "a", buffering=1)
raw = open(DIR + "/queries", "a", buffering=1)  # without their ids
packets = open(DIR + "/packets", "a", buffering=1)
up = threading.Semaphore(0)  # one for each reachable server


def wire(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"


def record(owner, kind, data):
    return wire(owner) + struct.pack(">HHIH", kind, 1, TTL.get(owner, 60), len(data)) + data


def answer(q, room):
    at, labels = 12, []
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]])
        at += 1 + q[at]
    name, kind, end = b".".join(labels).decode("latin-1").lower(), struct.unpack(">H", q[at + 1:at + 3])[0], at + 5
    found, known = [], name in NAMES or name in ALIASES or name in ("text.example", "large.example")
    real = ALIASES.get(name, name)
    if real != name:
        found.append(record(name, 5, wire(real)))
    addresses = list(NAMES.get(real, []))
    if name == "moves.example" and os.path.exists(DIR + "/moved"):
        addresses = ["10.9.9.9"]
    for ip in addresses:
        if kind == 28 and ":" in ip:
            found.append(record(real, 28, socket.inet_pton(socket.AF_INET6, ip)))
        if kind == 1 and ":" not in ip:
            found.append(record(real, 1, socket.inet_aton(ip)))
    if name == "service.example" and kind == 65:  # ALPN h2, and an address hint
        found.append(record(name, 65, struct.pack(">H", 1) + b"\0" + struct.pack(">HH", 1, 3) + b"\2h2"
                            + struct.pack(">HH", 4, 4) + socket.inet_aton("203.0.113.7")))
    if name == "text.example" and kind == 16:
        found.append(record(name, 16, b"\x05hello"))
    if name == "large.example" and kind == 1:
        found += [record(name, 1, socket.inet_aton(f"203.0.114.{i}")) for i in range(1, 101)]
    raw.write(q[2:].hex() + "\n")
    asked.write(f"{name} {kind}\n")  # its answer is final
    head = q[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, len(found), 0, 0) + q[12:end]
    whole = head + b"".join(found)
    if len(whole) > room:
        return q[:2] + struct.pack(">HHHHH", 0x8380, 1, 0, 0, 0) + q[12:end]
    return whole


def names_udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("192.0.2.2", 53))
    up.release()

    def late(q, peer):
        """Longer than the first try waits, and until DIR/hurry is there."""
        time.sleep(2.5)
        while not os.path.exists(DIR + "/hurry"):
            time.sleep(0.02)
        s.sendto(answer(q, 512), peer)
    while True:
        q, peer = s.recvfrom(4096)
        if b"\x04slow" in q:
            threading.Thread(target=late, args=(q, peer), daemon=True).start()
        else:
            s.sendto(answer(q, 512), peer)


def names_tcp():
    s = socket.create_server(("192.0.2.2", 53))
    up.release()
    while True:
        c, _ = s.accept()
        n = struct.unpack(">H", c.recv(2, socket.MSG_WAITALL))[0]
        r = answer(c.recv(n, socket.MSG_WAITALL), 65535)
        c.sendall(struct.pack(">H", len(r)) + r)
        c.close()


def echo(family, host, port):
    s = socket.create_server((host, port), family=family, backlog=512)
    up.release()

    def one(c):
        try:
            while True:
                d = c.recv(1 << 16)
                if not d:
                    break
                c.sendall(d)
        except OSError:
            pass
        c.close()
    while True:
        threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()


def datagrams(family, host, port):
    """Sends each back, from where it came; what is empty, too."""
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((host, port))
    up.release()
    while True:
        d, peer = s.recvfrom(65535)
        s.sendto(d, peer)


def discard():
    s = socket.create_server(("203.0.113.7", 9), backlog=64)
    up.release()
    while True:
        c, _ = s.accept()
        n = 0
        while True:
            d = c.recv(1 << 20)
            if not d:
                break
            n += len(d)
        c.sendall(str(n).encode())
        c.close()


def resets():
    s = socket.create_server(("203.0.113.7", 6))
    up.release()
    while True:
        c, _ = s.accept()
        c.recv(1)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()


def capture():
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    up.release()
    while True:
        frame, where = s.recvfrom(65535)
        kind = struct.unpack(">H", frame[12:14])[0]
        if where[0] == "lo" or where[2] == socket.PACKET_OUTGOING:
            continue
        if kind == 0x0800:
            p = frame[14:]
            at = (p[0] & 15) * 4
            port = struct.unpack(">H", p[at + 2:at + 4])[0] if p[9] in (6, 17) else 0
            packets.write(f"{p[9]} {socket.inet_ntoa(p[16:20])} {port}\n")
        elif kind == 0x86dd and frame[20] != 58 and frame[38] != 0xff:  # neighbours are looked for
            packets.write(f"{frame[20]} {socket.inet_ntop(socket.AF_INET6, frame[38:54])} "
                          f"{struct.unpack('>H', frame[56:58])[0]}\n")


def web(family, host):
    class Server(http.server.ThreadingHTTPServer):
        address_family = family
        request_queue_size = 256

        def handle_error(self, *a):
            """A client may go before it has asked."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *a):
            super().__init__(*a, directory=DIR + "/www")

        def log_message(self, *a):
            pass
    server = Server((host, 80), Handler)
    up.release()
    server.serve_forever()


SERVERS = ((capture, ()), (names_udp, ()), (names_tcp, ()), (discard, ()), (resets, ()),
           (echo, (socket.AF_INET, "203.0.113.7", 7)), (echo, (socket.AF_INET, "10.9.9.9", 7)),
           (echo, (socket.AF_INET, "169.254.169.254", 80)), (echo, (socket.AF_INET6, "2001:db8:1::7", 7)),
           (datagrams, (socket.AF_INET, "203.0.113.7", 7)), (datagrams, (socket.AF_INET, "10.9.9.9", 7)),
           (datagrams, (socket.AF_INET6, "2001:db8:1::7", 7)),
           (web, (socket.AF_INET, "203.0.113.7")), (web, (socket.AF_INET6, "2001:db8:1::7")))
for f, a in SERVERS:
    threading.Thread(target=f, args=a, daemon=True).start()
for _ in SERVERS:
    up.acquire()
open(DIR + "/ready", "w").close()
while os.getppid() != 1:
    time.sleep(0.2)
