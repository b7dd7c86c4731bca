#!/usr/bin/python3
"""wire - a long cable between two interfaces: every frame arrives at the other one some time later.

usage: wire.py READY A B MS [ADDRESS MS | ADDRESS icmpN]...

A frame from A to an IPv4 or IPv6 ADDRESS takes so much longer; or (IPv4) the ICMP error of type 3 and code N
answers it: a kernel would send one of these a second.
"""
# SPDX-License-Identifier: MIT
import collections, select, socket, struct, sys, time

SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 15, 23
HEAD = 10  # of virtio: a frame's checksum may be missing, and a frame may be several


def open_end(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.bind((name, 3))
    s.setblocking(False)
    return s


def bytes_of(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def target(frame):
    kind, ip = frame[HEAD + 12:HEAD + 14], frame[HEAD + 14:]
    return ip[16:20] if kind == b"\x08\x00" else ip[24:40] if kind == b"\x86\xdd" else None


def with_sum(head, at):
    total = sum(struct.unpack(f">{len(head) // 2}H", head))
    total = (total & 0xffff) + (total >> 16)
    return head[:at] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + head[at + 2:]


def refusal(frame, code):
    ip = frame[HEAD + 14:]
    error = with_sum(struct.pack(">BBHI", 3, code, 0, 0) + ip[:28], 2)
    head = with_sum(struct.pack(">BBHIBBH", 0x45, 0, 20 + len(error), 0, 64, 1, 0) + ip[16:20] + ip[12:16], 10)
    return bytes(HEAD) + frame[HEAD + 6:HEAD + 12] + frame[HEAD:HEAD + 6] + b"\x08\x00" + head + error


ready, a, b, ms = sys.argv[1:5]
marked = [(bytes_of(sys.argv[i]), sys.argv[i + 1]) for i in range(5, len(sys.argv), 2)]
more = {to: float(how) / 1000 for to, how in marked if not how.startswith("icmp")}
refused = {to: int(how[4:]) for to, how in marked if how.startswith("icmp")}
ends = [open_end(a), open_end(b)]
lines = collections.defaultdict(collections.deque)  # by direction and delay: each in the order of time
open(ready, "w").close()
while True:
    now = time.monotonic()
    for (i, _), line in lines.items():
        while line and line[0][0] <= now:
            try:
                ends[not i].send(line.popleft()[1])
            except OSError:
                pass  # lost
    due = [line[0][0] for line in lines.values() if line]
    wait = max(0, min(due) - time.monotonic()) if due else None
    for s in select.select(ends, [], [], wait)[0]:
        i = ends.index(s)
        try:
            while True:
                frame = s.recv(1 << 17)
                to = target(frame) if i == 0 else None
                extra, way = more.get(to, 0), i
                if to in refused:
                    frame, extra, way = refusal(frame, refused[to]), float(ms) / 1000, 1
                lines[way, extra].append((time.monotonic() + float(ms) / 1000 + extra, frame))
        except BlockingIOError:
            pass
