#!/bin/bash
# interpose - the preload library: a program's loopback ports and addresses are the session's own.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
lib=$PWD/build/$B/interpose.so
[ -e "$lib" ] || skip_all "no preload library was built"
# The sanitizers' library must be the first one.
[ "$B" = release ] || skip_all "it is looked at in the release build"
own_loopback "$@"
map=$TEST_TMP/map
cd "$TEST_TMP" || exit 1

# The runtime's file, by the description of the format and not by our code for it.
cat >portmap.py <<'P'
import os, struct
SIZE = 24 + 4 * 65536
def make(path, base, count, seq=0, magic=0x4350524d, version=1, size=SIZE, **entries):
    m = bytearray(SIZE)
    struct.pack_into("=IIIIHHI", m, 0, magic, version, size, seq, base, count, 0)
    for named, mapped in entries.get("to", {}).items():
        struct.pack_into("=H", m, 24 + 2 * named, mapped)
        struct.pack_into("=H", m, 24 + 131072 + 2 * mapped, named)
    with open(path + ".new", "wb") as f: f.write(m)
    os.rename(path + ".new", path)
P
cat >calls.py <<'P'
import errno, socket, sys
def attempt(fn):
    try: return fn()
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
def real(port):  # whose listening socket is where, as the kernel has it
    rows = [l.split()[1] for t in ("tcp", "tcp6") for l in open("/proc/net/" + t) if l.split()[3] == "0A"]
    return sorted(r.split(":")[0] for r in rows if int(r.split(":")[1], 16) == port)
def serve(host, port, family=socket.AF_INET, at=None):
    def f():
        s = socket.socket(family); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((host, port)); s.listen()
        named = s.getsockname(); c = socket.socket(family); c.connect((host if host not in ("", "::") else "::1" if family == socket.AF_INET6 else "127.0.0.1", named[1]))
        a, _ = s.accept(); a.sendall(b"hi"); got = c.recv(5).decode(); peer = c.getpeername()
        r = "%s:%d peer %s:%d really %s %s" % (named[0], named[1], peer[0], peer[1], real(at or port), got)
        for x in (s, c, a): x.close()
        return r
    return attempt(f)
P
run() { LD_PRELOAD=$lib "$@" 2>&1; }

# ---- an address of its own
export LISTENING_LOOPBACK_DEVICE=127.0.0.77
is "$(run python3 -c 'from calls import *
print(serve("127.0.0.1", 46101)); print(serve("", 46102)); print(serve("::", 46103, socket.AF_INET6)); print(attempt(lambda: socket.socket().connect(("127.0.0.1", 46104))))')" \
	"127.0.0.1:46101 peer 127.0.0.1:46101 really ['4D00007F'] hi
127.0.0.1:46102 peer 127.0.0.1:46102 really ['4D00007F'] hi
::ffff:127.0.0.1:46103 peer ::ffff:127.0.0.1:46103 really ['0000000000000000FFFF00004D00007F'] hi
ECONNREFUSED" "device: bound and connected to there, and the program sees 127.0.0.1"
is "$(run python3 -c 'from calls import *
a, b = socket.socketpair(); a.sendall(b"x"); print(b.recv(1), attempt(lambda: socket.socket().bind(("203.0.113.1", 0))))')" \
	"b'x' EADDRNOTAVAIL" "what is not of the loopback device is left alone"
for bad in "" eth0 192.0.2.1; do
	is "$(LISTENING_LOOPBACK_DEVICE=$bad run python3 -c 'from calls import *
print(serve("127.0.0.1", 46105), attempt(lambda: socket.socket().connect(("127.0.0.1", 1))))')" "EACCES EACCES" "without an address ('$bad') it fails closed"
done
unset LISTENING_LOOPBACK_DEVICE

# ---- ports
export CORDON_PORT_MAP=$map
good() { python3 -c 'import sys; sys.path.insert(0, "."); from portmap import *
make(sys.argv[1], 46200, 8, to={3000: 46201, 3001: 46202})' "$map"; }
good
is "$(run python3 -c 'from calls import *
print(serve("127.0.0.1", 3000, at=46201)); print(serve("", 3001, at=46202)); print(serve("::1", 46203, socket.AF_INET6)); print(serve("127.0.0.1", 3002))
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()); t = socket.socket(); t.bind(("127.0.0.1", 0)); print(t.getsockname())')" \
	"127.0.0.1:3000 peer 127.0.0.1:3000 really ['0100007F'] hi
127.0.0.1:3001 peer 127.0.0.1:3001 really ['0100007F'] hi
::1:46203 peer ::1:46203 really ['00000000000000000000000001000000'] hi
EACCES
('127.0.0.1', 46200)
('127.0.0.1', 46203)" "ports: the map's, the window's, and no others"
damage() { # NAME CODE
	good
	python3 -c 'import sys; sys.path.insert(0, "."); from portmap import *
path = sys.argv[1]
'"$2" "$map"
	is "$(run python3 -c 'from calls import *
print(serve("127.0.0.1", 3000), attempt(lambda: socket.socket().connect(("127.0.0.1", 3000))), attempt(lambda: socket.socket().bind(("127.0.0.1", 0))))')" "EACCES EACCES EACCES" "it fails closed: $1"
}
damage "no file" 'os.unlink(path)'
damage "an empty file" 'os.truncate(path, 0)'
damage "a file that is cut short" 'os.truncate(path, SIZE - 1)'
damage "another version" 'make(path, 46200, 8, version=2, to={3000: 46201})'
damage "no such file at all" 'make(path, 46200, 8, magic=7, to={3000: 46201})'
damage "a writer that died" 'make(path, 46200, 8, seq=3, to={3000: 46201})'
damage "no window" 'make(path, 46200, 0, to={})'
damage "a link" 'os.rename(path, path + ".real"); os.symlink(path + ".real", path)'
good
python3 -c 'import sys; sys.path.insert(0, "."); from portmap import *
make(sys.argv[1], 46200, 8, to={3000: 22})' "$map"
is "$(run python3 -c 'from calls import *
print(serve("127.0.0.1", 3000))')" "EACCES" "it fails closed: an entry that leads out of the window"

# ---- while it is written
good
python3 -c 'import os, struct, sys, time
f = os.open(sys.argv[1], os.O_RDWR); seq, end = 0, time.time() + 2
while time.time() < end and not os.path.exists("enough"):
    for mapped in (46204, 46205):
        os.pwrite(f, struct.pack("=I", seq + 1), 12)
        os.pwrite(f, struct.pack("=H", mapped), 24 + 2 * 3005); os.pwrite(f, struct.pack("=H", 3005), 24 + 131072 + 2 * mapped)
        os.pwrite(f, struct.pack("=H", 0), 24 + 131072 + 2 * (46204 + 46205 - mapped))
        seq += 2; os.pwrite(f, struct.pack("=I", seq), 12); time.sleep(0.0002)' "$map" &
writer=$!
is "$(run python3 -c 'from calls import *
import collections, time
seen = collections.Counter()
while not seen:
    try: s = socket.socket(); s.bind(("127.0.0.1", 3005)); seen["bound"] += 1; s.close()
    except OSError: pass
for i in range(300):
    s = socket.socket()
    try: s.bind(("127.0.0.1", 3005)); seen["bound"] += 1
    except OSError as e: seen[e.errno] += 1
    s.close()
open("enough", "w").close()
print(sorted(k for k in seen))')" "['bound']" "a map that is being written is never read half"
wait $writer
done_testing
