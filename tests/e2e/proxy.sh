#!/bin/bash
# proxy - without namespaces hosts are reached through a proxy, under the same rules, and only so.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
need curl
hosts_need
hosts_enter "$@"
BACKEND=landlock
use_backend
"$CORDON" doctor --json | grep '"backend":"landlock","whole"' | grep -q '"starts":true' || skip_all "no Landlock that is new enough"
dir=$(new_folder work)
cd "$dir" || exit 1
hosts_start
run() { plain "$CORDON" run --headless "$@"; }
quiet() { run "$@" 2>/dev/null; }
web=(--allow-domain good.example)
arrived() { tail -n +"$((mark + 1))" "$HOSTS/packets" | grep -v ' 53$' || true; }
asked() { tail -n +"$((names + 1))" "$HOSTS/names"; }

# A client of HTTP and SOCKS that prints the answers.
cat >ask.py <<'P'
import base64, os, socket, struct, sys, urllib.parse
proxy = urllib.parse.urlparse(os.environ["HTTPS_PROXY"])
auth = "Proxy-Authorization: Basic " + base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode() + "\r\n"
def dial(): return socket.create_connection((proxy.hostname, proxy.port), timeout=60)
def whole(s):
    got = b""
    try:
        while True:
            d = s.recv(65536)
            if not d: return got
            got += d
    except OSError as e: return got + b" " + type(e).__name__.encode()
def connect(target, say=b"ping"):
    s = dial(); s.sendall(f"CONNECT {target} HTTP/1.1\r\n{auth}\r\n".encode() + say)
    head = b""
    while b"\r\n\r\n" not in head:
        d = s.recv(65536)
        if not d: break
        head += d
    code = head.split(b" ")[1].decode()
    if code != "200":
        return code + " " + next((l.split(b": ", 1)[1].decode() for l in head.split(b"\r\n") if l.startswith(b"X-Cordon-Reason")), "")
    body = head.split(b"\r\n\r\n", 1)[1]
    while len(body) < len(say): body += s.recv(65536)
    return body.decode()
def raw(data, end=True):
    s = dial(); s.sendall(data)
    if end: s.shutdown(socket.SHUT_WR)
    return whole(s)
def socks(host, port, secret=None, kind=None, say=b"ping", ways=b"\5\1\2", command=1):
    s = dial(); s.sendall(ways)
    if s.recv(2) != b"\5\2": return "no way"
    secret = secret or proxy.password
    s.sendall(b"\1" + bytes([len(proxy.username)]) + proxy.username.encode() + bytes([len(secret)]) + secret.encode())
    if s.recv(2) != b"\1\0": return "wrong secret"
    at = kind or (b"\3" + bytes([len(host)]) + host.encode())
    s.sendall(b"\5" + bytes([command]) + b"\0" + at + struct.pack(">H", port))
    r = s.recv(10)
    if len(r) < 2 or r[1]: return "reply %d" % (r[1] if len(r) > 1 else -1)
    s.sendall(say); return s.recv(100).decode()
P

# ---- the environment names it, and no two runs have the same secret
one=$(quiet -- printenv HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy)
like "$(printf '%s\n' "$one" | head -n 1)" '^http://cordon:[0-9a-f]{32}@127\.0\.0\.1:[0-9]+$' "it is named in the environment"
is "$(printf '%s\n' "$one" | sort -u | wc -l)" 1 "by six names the same one"
isnt "$(quiet -- printenv HTTP_PROXY)" "$(printf '%s\n' "$one" | head -n 1)" "with another secret each time"
is "$(quiet -- printenv NO_PROXY no_proxy | sort -u)" "localhost,127.0.0.1,::1" "the loopback device is not asked through it"
is "$(plain "$CORDON" run --headless --backend native -- printenv HTTP_PROXY 2>/dev/null)" "" "with namespaces there is none"

# ---- without a rule
mark
like "$(quiet -- curl -s -o /dev/null -w '%{http_code} %header{x-cordon-reason}' http://good.example/ 2>&1)" \
	"^403 connecting to good.example:80 was refused: no rule" "a refusal says why"
is "$(quiet -- curl -s -p -o /dev/null -w '%{http_connect}' http://good.example/)" 403 "of a tunnel, too"
is "$(quiet -- python3 -c 'from ask import *
print(connect("203.0.113.7:7")[:3], connect("169.254.169.254:80")[:3], connect("[2001:db8:1::7]:7")[:3], socks("good.example", 7))')" \
	"403 403 403 reply 2" "nor by address, nor by SOCKS"
is "$(arrived)" "" "nothing arrived"
is "$(asked)" "" "39: no name was asked for"
like "$(run -- curl -s http://good.example/ 2>&1)" "connecting to good.example:80 was refused.*allow = connect good.example:80" "and it is said in the end"
like "$(plain "$CORDON" audit --json | grep -c '"event":"deny".*good.example')" '^[1-9]' "the audit log has it"

# ---- with one
is "$(quiet "${web[@]}" -- curl -s http://good.example/)" hello "http"
is "$(quiet "${web[@]}" -- curl -s -p http://good.example/)" hello "a tunnel"
config=$HOME/.config/cordon/config
cp "$config" "$TEST_TMP/config"
printf '[network]\n\tbytes = good.example 10\n' >>"$config"
for how in -s -sp; do
	like "$(run "${web[@]}" -- sh -c "curl $how http://good.example/; sleep 2" 2>&1)" \
		'[0-9]+ B were sent to good.example:80: more than network.bytes = good.example 10' "bytes are counted: curl $how"
done
cp "$TEST_TMP/config" "$config"
# shellcheck disable=SC2016 # the proxy is known inside
is "$(quiet "${web[@]}" -- sh -c 'curl -s -x "socks5h://${HTTP_PROXY#http://}" http://good.example/')" hello "SOCKS"
mark
is "$(quiet "${web[@]}" --allow-domain local.example --allow-domain private.example --allow-domain metadata.example --allow-domain six.example --allow-domain two.example --allow-domain alias.example -- python3 -c 'from ask import *
for t in ("good.example:7", "GOOD.example.:7", "203.0.113.7:7", "six.example:7", "two.example:7", "alias.example:7"): print(connect(t))
for t in ("private.example:7", "metadata.example:80", "local.example:%d" % proxy.port, "10.9.9.9:7", "0x0a090909:7", "[::ffff:10.9.9.9]:7", "other.example:7"): print(connect(t)[:3])
print(socks("good.example", 7), socks("", 7, kind=b"\1" + socket.inet_aton("203.0.113.7")), socks("", 7, kind=b"\1" + socket.inet_aton("10.9.9.9")))
print(connect("good.example:81"), "|", connect("none.good.example:7"))')" "ping
ping
ping
ping
ping
ping
403
403
403
403
403
403
403
ping ping reply 2
502 the host refuses the connection | 502 there is no host of this name" "38: names, their addresses, other addresses, other forms"
unlike "$(arrived)" '(10\.9\.9\.9|169\.254)' "38: nothing arrived at private addresses"
is "$(quiet --allow-domain good.example:7 -- python3 -c 'from ask import *
print(connect("good.example:7"), connect("good.example:80")[:3])')" "ping 403" "at that port alone"
is "$(quiet --allow-domain moves.example -- python3 -c 'from ask import *
import time
print(connect("moves.example:7")); open("go", "w").close()
while not os.path.exists("moved"): time.sleep(0.02)
print(connect("moves.example:7")[:3])' &
	inside=$!
	wait_for 10 test -e go && touch "$HOSTS/moved" moved
	wait $inside)" "ping
403" "39: where a name leads is judged each time"

# ---- what is malformed, and who has no secret
cat >bad.py <<'P'
from ask import *
ok = auth.encode()
for data in (b"GET / HTTP/1.1\r\n" + ok + b"\r\n", b"GET http://good.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT good.example:7 HTTP/1.1\r\nProxy-Authorization: Basic Y29yZG9uOng=\r\n\r\n",
        b"GET http://good.example/\r\nX: y HTTP/1.1\r\n" + ok + b"\r\n", b"CONNECT good.example\0.evil:7 HTTP/1.1\r\n" + ok + b"\r\n",
        b"CONNECT good.example%2e:7 HTTP/1.1\r\n" + ok + b"\r\n", b"CONNECT " + b"a" * 40000 + b":7 HTTP/1.1\r\n" + ok + b"\r\n",
        b"POST http://good.example/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n" + ok + b"\r\n",
        b"\x16\x03\x01junk", b"\x04\x01\x00\x50\x0a\x09\x09\x09\x00", b"\x05\x01\x00"):
    got = raw(data)
    print(got.split(b" ")[1].decode() if got.startswith(b"HTTP") else got)
print(socks("good.example", 7, secret="x" * 32), socks("good.example", 7, command=2), socks("a\0b", 7), socks("good.example", 0))
# One request a connection: later ones are not passed on to the first one's host.
got = raw(b"GET http://good.example/ HTTP/1.1\r\n" + ok + b"\r\nGET http://good.example/second HTTP/1.1\r\n" + ok + b"\r\n", end=False)
print(got.count(b"HTTP/1.1 "), b"hello" in got)
print(connect("good.example:7"))
P
mark
is "$(quiet "${web[@]}" -- python3 bad.py)" "400
407
407
400
400
400
431
400
400
400
b'\\x05\\xff'
wrong secret reply 4 reply 4 reply 4
1 True
ping" "40: what is malformed, doubtful or without the secret is refused, and the rest goes on"

# ---- past it
cat >past.py <<'P'
import ctypes, errno, fcntl, os, socket, struct, sys, threading, time
from ask import *
def attempt(name, fn):
    try: fn(); print("ALLOWED", name)
    except OSError: pass
tcp = lambda family=socket.AF_INET: socket.socket(family)
attempt("connect", lambda: tcp().connect(("203.0.113.7", 7)))
attempt("another port of this host", lambda: tcp().connect(("127.0.0.1", int(sys.argv[1]))))
attempt("its port elsewhere", lambda: tcp().connect(("192.0.2.1", proxy.port)))
attempt("IPv6", lambda: tcp(socket.AF_INET6).connect(("2001:db8:1::7", 7)))
attempt("mapped", lambda: tcp(socket.AF_INET6).connect(("::ffff:203.0.113.7", 7)))
attempt("fast open", lambda: tcp().sendto(b"leak", 0x20000000, ("203.0.113.7", 7)))
attempt("fast open by option", lambda: tcp().setsockopt(socket.IPPROTO_TCP, 30, 1))
attempt("bind", lambda: tcp().bind(("127.0.0.1", 3000)))
attempt("bind to all", lambda: tcp().bind(("", 4444)))
attempt("listen", lambda: tcp().listen())
attempt("interfaces", lambda: fcntl.ioctl(tcp(), 0x8912, struct.pack("iL", 0, 0)))
attempt("device", lambda: tcp().setsockopt(socket.SOL_SOCKET, 25, b"lo\0"))
for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 6, 17, 132, 262):
            if family == 1 or (family in (2, 10) and kind == 1 and protocol in (0, 6)): continue
            attempt("socket %d %d %d" % (family, kind, protocol), lambda: socket.socket(family, kind | socket.SOCK_CLOEXEC, protocol).close())
# A connected socket, connected again.
s = dial(); libc = ctypes.CDLL(None, use_errno=True)
if libc.connect(s.fileno(), struct.pack("=H", 0) + bytes(14), 16) == 0: print("ALLOWED AF_UNSPEC")
attempt("again", lambda: s.connect(("203.0.113.7", 7)))
attempt("listen then", lambda: s.listen())
attempt("send then", lambda: s.sendto(b"leak", 0x20000000, ("203.0.113.7", 7)))
# The address changes while the keeper reads the call.
def sa(ip, port): return struct.pack("=H", 2) + struct.pack(">H", port) + socket.inet_aton(ip) + bytes(8)
buf = ctypes.create_string_buffer(sa("127.0.0.1", proxy.port), 16); stop = False
def flip():
    while not stop: buf[0:16] = sa("203.0.113.7", 7); buf[0:16] = sa("127.0.0.1", proxy.port)
threading.Thread(target=flip, daemon=True).start()
for i in range(300):
    s = tcp(); libc.connect(s.fileno(), buf, 16)
    try:
        if s.getpeername() != ("127.0.0.1", proxy.port): print("ALLOWED", s.getpeername())
    except OSError: pass
    s.close()
stop = True
print("done")
P
python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 7790)); s.settimeout(600)
open("listening", "w").close()
while True:
    c, _ = s.accept(); open("reached", "w").close(); c.sendall(b"from the host"); c.close()' 2>/dev/null &
local_server=$!
wait_for 20 test -e listening
mark
is "$(quiet -- python3 past.py 7790)" "done" "36, 37, 41: no socket leads past it"
is "$(arrived)" "" "nothing arrived"
ok "41: the host's own server heard nothing" test ! -e reached
like "$(run -- python3 -c 'import socket; socket.create_connection(("127.0.0.1", 7790))' 2>&1)" \
	"connecting to 127.0.0.1:7790 was refused: it is a service of this host's loopback.*allow = connect 127.0.0.1:7790" \
	"which is said, with the rule that opens it"
is "$(quiet --allow-domain 127.0.0.1:7790 -- python3 -c 'import socket
print(socket.create_connection(("127.0.0.1", 7790)).recv(20).decode())')" "from the host" "a rule about an address of the loopback device opens that"
kill "$local_server"
# A process outside is not served, even with the secret.
quiet "${web[@]}" -- sh -c 'printenv HTTPS_PROXY >url; until [ -e tried ]; do sleep 0.02; done' &
inside=$!
wait_for 10 test -s url
is "$(HTTPS_PROXY=$(cat url) python3 -c 'from ask import *
print(connect("good.example:7"))')" "403 this proxy serves programs inside the sandbox alone" "40: a secret that is known outside opens nothing"
touch tried
wait "$inside"

# ---- real programs
if command -v wget >/dev/null; then
	is "$(quiet "${web[@]}" -- wget -qO- http://good.example/)" hello wget
fi
if command -v git >/dev/null; then
	(cd "$HOSTS/www" && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git update-server-info)
	is "$(quiet "${web[@]}" -- sh -c 'git clone -q http://good.example/r/.git c && git -C c log --format=%s')" first "git over http"
fi
if command -v openssl >/dev/null; then
	there sh -c 'cd "$1/www" && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=good.example -addext subjectAltName=DNS:good.example -keyout ../key -out ../cert 2>/dev/null
		exec openssl s_server -quiet -WWW -accept 203.0.113.7:443 -key ../key -cert ../cert' sh "$HOSTS" >/dev/null 2>&1 &
	tls=$!
	wait_for 10 sh -c "there() { nsenter -t $servers -n \"\$@\"; }; there ss -ltn 2>/dev/null | grep -q ':443 ' || there grep -q ':01BB 00000000:0000 0A' /proc/net/tcp"
	cp "$HOSTS/cert" .
	is "$(quiet "${web[@]}" -- curl -s --cacert cert https://good.example/index.html)" hello "https"
	kill "$tls"
fi
if python3 -c 'import pip' 2>/dev/null; then
	mkdir -p "$HOSTS/www/simple/tiny" wheel/tiny-1.dist-info
	echo 'print("tiny")' >wheel/tiny.py
	printf 'Metadata-Version: 2.1\nName: tiny\nVersion: 1\n' >wheel/tiny-1.dist-info/METADATA
	printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >wheel/tiny-1.dist-info/WHEEL
	printf 'tiny.py,,\ntiny-1.dist-info/METADATA,,\ntiny-1.dist-info/WHEEL,,\ntiny-1.dist-info/RECORD,,\n' >wheel/tiny-1.dist-info/RECORD
	(cd wheel && python3 -m zipfile -c "$HOSTS/www/simple/tiny/tiny-1-py3-none-any.whl" tiny.py tiny-1.dist-info)
	is "$(quiet "${web[@]}" -- sh -c 'python3 -m pip install -q --no-input --disable-pip-version-check --target got --trusted-host good.example --index-url http://good.example/simple tiny >&2; python3 got/tiny.py')" tiny "pip"
fi
if command -v npm >/dev/null; then
	mkdir -p package && echo '{"name":"tiny","version":"1.0.0","main":"i.js"}' >package/package.json && echo 'console.log("tiny")' >package/i.js
	tar czf "$HOSTS/www/tiny.tgz" package
	echo '{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny","version":"1.0.0","dist":{"tarball":"http://good.example/tiny.tgz"}}}}' >"$HOSTS/www/tiny"
	is "$(quiet "${web[@]}" -- sh -c 'npm install --silent --no-audit --no-fund --no-update-notifier --registry http://good.example tiny >&2; node node_modules/tiny')" tiny "npm"
fi

# ---- many at a time, and one that waits
cat >many.py <<'P'
import asyncio
from ask import *
async def one(i):
    r, w = await asyncio.open_connection(proxy.hostname, proxy.port)
    w.write(f"CONNECT good.example:7 HTTP/1.1\r\n{auth}\r\n".encode()); await r.readuntil(b"\r\n\r\n")
    w.write(b"%d" % i); d = await r.read(10); w.close()
    return d == b"%d" % i
async def all(n): return sum(await asyncio.gather(*[one(i) for i in range(n)]))
print(asyncio.run(all(300)))
s = dial(); s.sendall(f"CONNECT 203.0.113.7:9 HTTP/1.1\r\n{auth}\r\n".encode()); s.recv(100)
s.sendall(bytes(5000000)); s.shutdown(socket.SHUT_WR); print(s.recv(20).decode())
P
is "$(quiet "${web[@]}" -- python3 many.py)" "300
5000000" "300 at once, and a half-closed one"
plain "$CORDON" run --stdio -- python3 -c 'from ask import *
import threading
t = threading.Thread(target=lambda: print(connect("good.example:7"), flush=True)); t.start()
print(connect("other.example:7"), flush=True); t.join()' >"$TEST_TMP/out" 2>/dev/null &
inside=$!
id_of() { "$CORDON" pending | sed -n "s/^ *\([^ ]*\)  connect to $1.*/\1/p"; }
both_wait() { [ -n "$(id_of good.example)" ] && [ -n "$(id_of other.example)" ]; } # the command names both, too
wait_for 10 both_wait
like "$("$CORDON" pending)" "connect to good.example:7" "a question waits for an answer"
ok "another is answered first" "$CORDON" deny "$(id_of other.example)"
wait_for 20 grep -q 403 "$TEST_TMP/out"
ok "and then this one" "$CORDON" approve "$(id_of good.example)"
wait "$inside"
is "$(cat "$TEST_TMP/out")" "403 connecting to other.example:7 was refused: the human denied it
ping" "who waits holds up nobody"

# ---- what is left when it dies
quiet "${web[@]}" -- python3 -c 'from ask import *
import time
s = dial(); s.sendall(f"CONNECT good.example:7 HTTP/1.1\r\n{auth}\r\n".encode()); s.recv(100); open("up", "w").close()
try: print("closed" if not s.recv(1) else "data")
except OSError: print("closed")
print(connect("good.example:7"))' >"$TEST_TMP/out" &
inside=$!
wait_for 10 test -e up
is "$(sed -n 's/^\(Seccomp\|NoNewPrivs\|CapBnd\):\t//p' "/proc/$(named_below $$ cordon-proxy)/status" | tail -n 2 | tr '\n' ' ')" "1 2 " "it starts nothing and reaches no other process"
kill -9 "$(named_below $$ cordon-proxy)"
wait "$inside"
is "$(cat "$TEST_TMP/out")" "closed
ping" "without its proxy a connection ends, and a later one starts another"
is "$(named_below $$ cordon-proxy)" "" "nothing is left running"
kill "$servers"
done_testing
