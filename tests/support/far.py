#!/usr/bin/python3
"""far - connections to hosts that are far away: the servers, and a client that says what became of each.

usage: far.py serve DIR         in the far network: DIR gets ready and log (what a connection came to)
       far.py try NAME...       for each: NAME, what connect() gave, and after how many milliseconds
       far.py inside NAME...    the same with another neighbour that is down: one is looked for by all who want it
"""
# SPDX-License-Identifier: MIT
import errno, os, select, socket, struct, sys, threading, time

HOSTS = {
    4: {"open": "203.0.113.7", "slow": "203.0.113.8", "silent": "203.0.113.9", "nohost": "203.0.113.10",
        "nonet": "203.0.113.11", "down": "192.0.2.88"},
    6: {"open": "2001:db8:2::7", "slow": "2001:db8:2::8", "silent": "2001:db8:2::9", "nohost": "2001:db8:2::10",
        "nonet": "2001:db8:2::11", "down": "2001:db8:1::88"},
}
if sys.argv[1] == "inside":
    HOSTS[4]["down"], HOSTS[6]["down"] = "192.0.2.89", "2001:db8:1::89"
OPEN, CLOSED, RESETTING, COUNTING = 80, 81, 82, 83
IN_PROGRESS = (errno.EINPROGRESS, errno.EWOULDBLOCK)


# ---- servers

def serve(where):
    log = open(where + "/log", "a", buffering=1)

    def one(c, port):
        c.settimeout(2)
        got = b""
        try:
            if port == RESETTING:
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif port == COUNTING:
                c.settimeout(20)
                while True:
                    part = c.recv(100)
                    got += part
                    if not part:
                        break
                c.sendall(b"%d" % len(got) + b"abc")
                c.send(b"X", socket.MSG_OOB)
                c.sendall(b"def")
            else:
                got = c.recv(100)
                c.sendall(b"echo " + got)
            log.write(f"{port} bytes {len(got)}\n")
        except TimeoutError:
            log.write(f"{port} idle\n")
        except OSError as e:
            log.write(f"{port} {errno.errorcode.get(e.errno)}\n")
        c.close()

    def listen(s, port):
        while True:
            threading.Thread(target=one, args=(s.accept()[0], port), daemon=True).start()

    for family, any_host in ((socket.AF_INET, ""), (socket.AF_INET6, "::")):
        for port in (OPEN, RESETTING, COUNTING):
            s = socket.create_server((any_host, port), family=family, backlog=128)
            threading.Thread(target=listen, args=(s, port), daemon=True).start()
    open(where + "/ready", "w").close()
    threading.Event().wait()


# ---- the client

def new(version):
    return socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET)


def code(e):
    return errno.errorcode.get(e, str(e)) if e else "ok"


def blocking(s, to):
    return code(s.connect_ex(to))


def finish(s, seconds=30):
    """The end of a connection that is under way."""
    p = select.poll()
    p.register(s, select.POLLOUT)
    if not p.poll(seconds * 1000):
        return "never"
    return code(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


def polling(s, to):
    s.setblocking(False)
    e = s.connect_ex(to)
    return finish(s) if e in IN_PROGRESS else code(e)


def limited(seconds):
    def run(s, to):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(seconds), int(seconds % 1 * 1e6)))
        return code(s.connect_ex(to))
    return run


def limited_then_there(s, to):
    first = limited(0.2)(s, to)
    return first + " " + finish(s)


def again(s, to):
    """A second connect() while the first one is under way."""
    s.setblocking(False)
    first = s.connect_ex(to)
    second = s.connect_ex(to)
    s.setblocking(True)
    return code(first) + " " + code(second) + " " + code(s.connect_ex(to))


def shut_down(s, to):
    threading.Timer(0.3, lambda: s.shutdown(socket.SHUT_RDWR)).start()
    return code(s.connect_ex(to))


def eyeballs(s, to):
    """IPv6 first, where nobody answers; a quarter of a second later IPv4."""
    other = new(4)
    for one in (s, other):
        one.setblocking(False)
    s.connect_ex(to)
    select.select([], [s], [], 0.25)
    other.connect_ex((HOSTS[4]["open"], OPEN))
    ready = select.select([], [s, other], [], 20)[1]
    return "IPv4 " + finish(other) if ready == [other] else "another one"


def at_once(s, to):
    """How long a loop stands still for a connection that it only begins."""
    s.setblocking(False)
    return code(s.connect_ex(to))


def many(s, to):
    """Twenty at the same place: some begin while others are there already."""
    got, list_of = [], [new(6 if ":" in to[0] else 4) for _ in range(20)]
    for one in list_of:
        one.setblocking(False)
        one.connect_ex(to)
        time.sleep(0.01)
    ends = [finish(one) for one in list_of]
    for i, one in enumerate(list_of):
        one.setblocking(True)
        if ends[i] == "ok":
            one.sendall(b"%d" % i)
    for i, one in enumerate(list_of):
        got.append(ends[i] == "ok" and one.recv(100).decode() == f"echo {i}")
    return f"{sum(got)} of 20"


def packets(s, to):
    """How many leave the sandbox for one connection."""
    def sent():
        return int(next(line for line in open("/proc/net/dev") if "eth0:" in line).split(":")[1].split()[9])
    before = sent()
    return str(sent() - before) if blocking(s, to) == "ok" else "failed"


def gives_up(s, to):
    """The next caller gets a connection of its own."""
    s.setblocking(False)
    s.connect_ex(to)
    time.sleep(0.1)
    s.close()
    time.sleep(3)
    other = new(6 if ":" in to[0] else 4)
    other.connect(to)
    other.sendall(b"hi")
    return other.recv(100).decode()


def talk(s, to):
    """Nothing is lost where the server resets."""
    s.connect(to)
    try:
        return repr(s.recv(10))
    except OSError as e:
        return code(e.errno)


def urgent(s, to):
    s.connect(to)
    s.sendall(b"a" * 10)
    s.send(b"!", socket.MSG_OOB)
    s.sendall(b"b" * 10)
    s.shutdown(socket.SHUT_WR)
    got = b""
    while part := s.recv(100):
        got += part
    return got.decode()


def after_reset(s, to):
    """The server closes, hears more, and resets: which write fails, and how."""
    s.connect(to)
    s.sendall(b"hi")
    s.recv(100)
    for i in range(1, 9):
        time.sleep(0.4)
        try:
            s.sendall(b"more")
        except OSError as e:
            return f"{i} {code(e.errno)}"
    return "none"


CASES = {
    "open": (blocking, "open", OPEN), "open-poll": (polling, "open", OPEN),
    "slow": (blocking, "slow", OPEN), "slow-poll": (polling, "slow", OPEN),
    "closed": (blocking, "open", CLOSED), "closed-poll": (polling, "open", CLOSED),
    "slow-closed": (blocking, "slow", CLOSED), "slow-closed-poll": (polling, "slow", CLOSED),
    "nohost": (blocking, "nohost", OPEN), "nohost-poll": (polling, "nohost", OPEN),
    "nonet": (blocking, "nonet", OPEN), "nonet-poll": (polling, "nonet", OPEN),
    "down": (blocking, "down", OPEN), "down-poll": (polling, "down", OPEN),
    "silent": (limited(0.3), "silent", OPEN), "time-out": (limited_then_there, "slow", OPEN),
    "again": (again, "slow", OPEN), "shut-down": (shut_down, "silent", OPEN),
    "zero": (blocking, "open", 0), "zero-poll": (polling, "open", 0),
    "resetting": (talk, "open", RESETTING), "after-reset": (after_reset, "open", OPEN),
    "at-once": (at_once, "slow", OPEN), "many": (many, "slow", OPEN), "gives-up": (gives_up, "slow", OPEN),
    "packets": (packets, "slow", OPEN), "urgent": (urgent, "open", COUNTING), "eyeballs": (eyeballs, "silent", OPEN),
}


def attempt(name):
    case, version = name.rsplit("/", 1)
    how, host, port = CASES[case]
    s = new(int(version))
    began = time.monotonic()
    try:
        got = how(s, (HOSTS[int(version)][host], port))
    except OSError as e:
        got = "failed: " + code(e.errno)
    return f"{name}\t{got}\t{(time.monotonic() - began) * 1000:.1f}"


if sys.argv[1] == "serve":
    serve(sys.argv[2])
# Slow cases run at the same time: "a,b" are tried one after another, in parallel with the others.
rows = {}


def group(names):
    rows[names] = [attempt(name) for name in names.split(",")]


attempt("closed/4")  # attempts that begin with the first connection have begun
threads = [threading.Thread(target=group, args=(names,)) for names in sys.argv[2:]]
for t in threads:
    t.start()
for t in threads:
    t.join()
for names in sys.argv[2:]:
    print("\n".join(rows[names]))
