#!/bin/bash
# network_names - a connection that is allowed by name serves that name alone: TLS's server name and HTTP's Host.
# SPDX-License-Identifier: MIT
# also with: BACKEND=landlock
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
need openssl curl
hosts_folder "$@"
hosts_start
pki=$TEST_TMP/pki
mkdir "$pki"
for name in good other; do
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name.example" \
		-addext "subjectAltName=DNS:$name.example" -keyout "$pki/$name.example.key" -out "$pki/$name.example.crt" 2>/dev/null
done
cat "$pki"/*.crt >"$dir/ca.pem"
there python3 "$(dirname "$0")/../support/tls_hosts.py" "$pki" 203.0.113.7 443 &
wait_for 20 test -e "$pki/ready" || skip_all "no server"
run() { plain "$CORDON" run --headless "$@"; }
quiet() { run "$@" 2>/dev/null; }

# ---- a client of its own, as the bytes matter
cat >say.py <<'P'
import base64, os, socket, ssl, struct, sys, time, urllib.parse
def dial(host, port):
    proxy = os.environ.get("HTTPS_PROXY")
    p = urllib.parse.urlparse(proxy)
    s = socket.create_connection((p.hostname, p.port) if proxy else (host, port), timeout=60)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not proxy: return s
    auth = base64.b64encode(f"{p.username}:{p.password}".encode()).decode()
    s.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nProxy-Authorization: Basic {auth}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head: head += s.recv(1)
    return s
def heard(s, n=1):
    """What comes before the end, or that nothing does. After a reset that send() has met, recv() meets a plain end."""
    got = b""
    try:
        while len(got) < n:
            d = s.recv(65536)
            if not d: break
            got += d
    except OSError: pass
    return got or b"refused"
def say(s, *pieces):
    try:
        for i, p in enumerate(pieces):
            if isinstance(p, tuple): s.send(p[0], socket.MSG_OOB)
            else: s.sendall(p)
            if len(pieces) > 1 and i % 16 == 0: time.sleep(0.002) # so that many arrive alone
    except OSError: pass
    return s
def hello(name, **options):
    c = ssl.create_default_context(); c.set_alpn_protocols(["http/1.1"])
    if options.get("old"): c.maximum_version = ssl.TLSVersion.TLSv1_2
    c.check_hostname = name is not None
    c.verify_mode = ssl.CERT_NONE if name is None else c.verify_mode
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    try: c.wrap_bio(into, out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError: pass
    return out.read()
def records(h, n): return b"".join(h[:3] + struct.pack(">H", len(p)) + p for p in (h[5:][i:i + n] for i in range(0, len(h) - 5, n)))
def each(b): return [b[i:i + 1] for i in range(len(b))]
def tls(*pieces):
    got = heard(say(dial("good.example", 443), *pieces))
    return "server hello" if got[:1] == b"\x16" else "alert" if got[:1] == b"\x15" else got.decode("latin-1")
def web(*pieces):
    return heard(say(dial("good.example", 80), *pieces)).split(b"\r\n")[0].decode("latin-1")
GET = b"GET / HTTP/1.1\r\nConnection: close\r\nHost: %s\r\n\r\n"
WARNING = b"\x15\3\1\0\2\1\x5a"
def both(name):
    h = hello(name); g = GET % (name.encode())
    yield "whole", tls(h)
    yield "TLS 1.2", tls(hello(name, old=True))
    yield "byte by byte", tls(*each(h))
    yield "in records of 40", tls(records(h, 40))
    yield "in records of 1, in pieces", tls(*[records(h, 1)[i:i + 7] for i in range(0, 6 * len(h), 7)])
    yield "HTTP", web(g)
    yield "HTTP byte by byte", web(*each(g))
    yield "of a whole URL", web(b"GET http://%s:80/ HTTP/1.1\r\nConnection: close\r\nHost: good.example\r\n\r\n" % name.encode())
    yield "of other case", web((GET % name.upper().encode()).replace(b"Host:", b"hOST:").replace(b".EXAMPLE", b".EXAMPLE:80"))
    yield "late", web(b"GET / HTTP/1.1\r\nConnection: close\r\n" + b"A: b\r\n" * 60, b"Host: %s\r\n" % name.encode(), b"\r\n")
P
cat >both.py <<'P'
import sys
from say import *
for what, got in both(sys.argv[1]): print(what + ":", got)
P
want=$(python3 both.py good.example)
is "$(python3 both.py other.example)" "$want" "outside the server answers to both names"
unlike "$want" "refused|alert" "in each of these forms"
opts=(--allow-domain good.example)
is "$(quiet "${opts[@]}" -- python3 both.py good.example)" "$want" "inside it answers to the allowed name"
is "$(run "${opts[@]}" -- python3 both.py other.example 2>"$TEST_TMP/err")" "$(cut -d: -f1 <<<"$want" | sed 's/$/: refused/')" "and to no other"
like "$(cat "$TEST_TMP/err")" "connecting to other.example:443 was refused: .*good.example:443.*allow = connect other.example:443" \
	"which is said, with both names and the rule that allows it"
like "$(cordon_in "$dir" audit --json | grep '"event":"deny".*other.example:443')" "a connection to good.example:443 names it" "the audit log has both"
is "$(grep -c "^other.example" "$pki/requests" 2>/dev/null)" 0 "the server served nothing there"
is "$(quiet "${opts[@]}" --allow-domain other.example -- python3 both.py other.example)" "$want" "unless a rule allows it, too"
is "$(quiet --allow-network -- python3 both.py other.example)" "$want" "or all hosts"
printf '[rule "mine"]\n\tdeny = connect other.example\n' >>"$HOME/.config/cordon/config"
cat >address.py <<'P'
from say import *
for name in ("good.example", "other.example"): print(heard(say(dial("203.0.113.7", 443), hello(name)))[:1])
P
cat >urgent.py <<'P'
from say import *
for name in (b"good.example", b"other.example"): print(heard(say(dial("203.0.113.7", 80), (b"x",), GET % name))[:4])
P
is "$(quiet --allow-domain 203.0.113.7 -- python3 address.py)" "b'\\x16'
b'r'" "a rule that denies a name denies it at an allowed address"
if [ "${BACKEND:-}" != landlock ]; then # whose proxy does not see such bytes apart
	is "$(quiet --allow-domain 203.0.113.7 -- python3 urgent.py)" "b'HTTP'
b'refu'" "also after a byte out of band"
fi
use_backend

# ---- programs
is "$(quiet "${opts[@]}" -- curl -sS --cacert ca.pem https://good.example/)" "hello from good.example, 0 bytes" "curl"
is "$(quiet "${opts[@]}" -- sh -c 'curl -s --cacert ca.pem --connect-to other.example:443:good.example:443 https://other.example/; test $? != 0 && echo failed')" \
	failed "curl for another name at that address"

# ---- other forms of another name
cat >forms.py <<'P'
from say import *
def echo(*pieces): return heard(say(dial("good.example", 7), *pieces)).split()[0].decode("latin-1")
def host(*lines): return b"GET / HTTP/1.1\r\nConnection: close\r\n" + b"".join(l + b"\r\n" for l in lines) + b"\r\n"
a, b = hello("good.example"), hello("other.example")
print("a warning before", tls(WARNING + b))
print("a warning within", tls(records(b, 90)[:95] + WARNING + records(b, 90)[95:]))
long = b"\1\1\0\0\3\3" + bytes(33) + b"\0\2\x13\1\1\0\xff\xd0\0\x15\xff\0" + bytes(65300)  # padding before the name
print("a long hello", tls(b[:3] + b"\x40\0" + long[:16384], *[b[:3] + b"\x40\0" + long[i:i + 16384] for i in (16384, 32768)]))
print("this one", echo(host(b"Host: good.example")))
print("after empty lines", echo(b"\r\n\n" + host(b"Host: other.example")))
print("two hosts", echo(host(b"Host: good.example", b"Host: other.example")))
print("folded", echo(host(b"Host:", b" other.example")))
print("a blank", echo(host(b"Host : other.example")))
print("no name", echo(host(b"Host: a/b")))
print("own method", echo(host(b"Host: other.example").replace(b"GET", b"anything")))
print("without CR", echo(host(b"Host: other.example").replace(b"\r", b"")))
# Its first bytes may pass, as a server acts on a whole head only.
all = heard(say(dial("good.example", 7), host(*[b"A: " + bytes(60).replace(b"\0", b"a")] * 800, b"Host: other.example")), 1 << 20)
print("beyond 32 KiB", "passed" if b"other" in all else "refused")
P
is "$(quiet "${opts[@]}" -- python3 forms.py)" "a warning before refused
a warning within refused
a long hello refused
this one GET
after empty lines refused
two hosts refused
folded refused
a blank refused
no name refused
own method refused
without CR refused
beyond 32 KiB refused" "no form of a hello or a head gets past"
if [ "${BACKEND:-}" != landlock ]; then
	is "$(quiet "${opts[@]}" -- python3 -c 'from say import *
b = hello("other.example")
print(tls((b"x",), b), tls(b[:40], (b[40:41],), b[41:]))')" "refused refused" "nor with bytes out of band"
fi

# ---- what must pass: no name, an address, other protocols; and nothing waits
cat >pass.py <<'P'
from say import *
print("no server name", tls(hello(None)))
print("an address", web(GET % b"203.0.113.7:80"))
print("no Host", web(b"GET / HTTP/1.0\r\n\r\n"))
s = dial("good.example", 7)
for word in (b"\r\n", b"G", b"ET /", b" HTTP/1.1\r\nHost", b": good.exam"):
    say(s, word); assert heard(s, len(word)) == word, word
s = dial("good.example", 7); say(s, b"\x16\3\1\2\0\1"); assert len(heard(s, 6)) == 6
for word in (b"\x16", b"\x16\3\1\2\0\2", b"PING", b"\0\0\0\x08\4\xd2\x16\x2f", b"SSH-2.0-a\r\n", b"EHLO a\r\n", b"*1\r\n$4\r\nPING\r\n",
             b"\xff\xfb\1", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"CONNECT other.example:443 HTTP/1.1\r\nHost: other.example\r\n\r\n",
             b"A" * 40000, b"PUT " + bytes(range(1, 10)) * 4000):
    s = dial("good.example", 7); say(s, word)
    got = heard(s, len(word)); assert got == word, (word[:20], len(got))
    big = bytes(range(256)) * 200; say(s, big); assert heard(s, len(big)) == big, word[:20]
h = hello("good.example"); s = dial("good.example", 7)
for i in range(0, len(h), 50): say(s, h[i:i + 50]); assert heard(s, len(h[i:i + 50])) == h[i:i + 50]
s = dial("good.example", 7); say(s, h[:50]); s.shutdown(socket.SHUT_WR); assert heard(s, 51) == h[:50]
print("each at once")
P
is "$(run "${opts[@]}" -- python3 pass.py 2>&1)" "no server name alert
an address HTTP/1.1 200 OK
no Host HTTP/1.1 200 OK
each at once" "other protocols pass, and each byte at once"
kill "$servers"
done_testing
