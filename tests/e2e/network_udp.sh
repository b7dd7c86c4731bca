#!/bin/bash
# network_udp - datagrams and echo requests by host: granted ones work as outside, and no others leave.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap
# root and user: here bubblewrap does not start for every user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
need ping dig
hosts_folder "$@"
hosts_start
run() { plain "$CORDON" run --headless "$@"; }
quiet() { run "$@" 2>/dev/null; }
arrived() { tail -n +"$((mark + 1))" "$HOSTS/packets" | grep -v ' 53$' | sort -u; }
# Users of this group may ping outside, as distributions set it.
echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range 2>/dev/null ||
	echo "$(id -g) $(id -g)" >/proc/sys/net/ipv4/ping_group_range

cat >udp.py <<'E2'
import errno, os, socket, sys
def get(target, connected):
    host, port = target.rsplit(":", 1)
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(float(os.environ.get("WAIT", "60")))
    try:
        if connected:
            s.connect((host, int(port)))
        for i in range(2):
            if connected:
                s.send(b"ping")
            else:
                s.sendto(b"ping", (host, int(port)))
            d, peer = s.recvfrom(100)
            if peer[:2] != (socket.getaddrinfo(host, int(port))[0][4][:2]):
                return "from " + str(peer)
        return d.decode()
    except OSError as e:
        return "no such name" if isinstance(e, socket.gaierror) else errno.errorcode.get(e.errno, str(e))
for t in sys.argv[2:]:
    print(get(t, sys.argv[1] == "c"))
E2

# ---- without a rule nothing leaves, and it is said
mark
is "$(quiet -- python3 udp.py c 203.0.113.7:7 2001:db8:1::7:7 10.9.9.9:7)" "EHOSTUNREACH
EACCES
EHOSTUNREACH" "without a rule a datagram is refused, with an errno"
is "$(quiet -- env WAIT=2 python3 udp.py s 203.0.113.7:7)" "timed out" "who does not connect hears nothing, as behind a firewall"
quiet -- ping -c 1 -W 2 203.0.113.7 >out 2>&1
isnt "$?" 0 "an echo request is not answered by somebody else"
like "$(cat out)" "ilter|rohibited|100% packet loss" "but refused"
is "$(arrived)" "" "36: nothing arrived"
like "$(run -- python3 udp.py c 203.0.113.7:7 2>&1)" "connecting to 203.0.113.7:7 was refused: no rule.*allow = connect 203.0.113.7:7" \
	"the refusal is said, with the line that allows it"
like "$(cordon_in "$dir" audit --json | grep '"event":"deny".*203.0.113.7:7')" '"pid":[1-9]' "the audit log has it, and who it was"

# ---- with one it works as outside
opts=(--allow-domain good.example --allow-domain 203.0.113.7:7 --allow-domain 2001:db8:1::7)
for how in c s; do
	want=$(python3 udp.py $how 203.0.113.7:7 2001:db8:1::7:7)
	is "$(quiet "${opts[@]}" -- python3 udp.py $how 203.0.113.7:7 2001:db8:1::7:7)" "$want" "granted: as outside ($how)"
done
is "$want" "ping
ping" "which is an answer"
is "$(quiet --allow-domain good.example -- python3 udp.py c good.example:7)" ping "by name"
mark
is "$(quiet --allow-domain good.example:7 -- python3 udp.py c good.example:9 10.9.9.9:7)" "EHOSTUNREACH
EHOSTUNREACH" "at that port alone"
is "$(arrived)" "" "36: nothing arrived elsewhere"
is "$(quiet --allow-domain private.example -- python3 udp.py c private.example:7)" EHOSTUNREACH "38: a name opens no private address"
is "$(quiet --allow-domain 10.0.0.0/8 -- python3 udp.py c private.example:7 10.9.9.9:7)" "no such name
ping" "a rule about addresses does"
cat >like.py <<'E2'
import errno, os, socket, struct, time
def code(f):
    try: return f()
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
def udp(family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(60); return s
def refused(host="203.0.113.7"):
    s = udp(socket.AF_INET6 if ":" in host else socket.AF_INET); s.connect((host, 8)); s.send(b"x"); return s.recv(9)
print("refused", code(refused), code(lambda: refused("2001:db8:1::7")))
def sizes():
    s = udp(); s.connect(("203.0.113.7", 7)); got = []
    for n in (0, 1, 1399, 1472, 9000, 60000):
        d = os.urandom(n); s.send(d); got.append(s.recv(65535) == d)
    return got
print("sizes", code(sizes))
def many():
    socks = []
    for i in range(100):
        s = udp(); s.sendto(b"%d" % i, ("203.0.113.7", 7)); socks.append(s)
    return all(s.recv(9) == b"%d" % i for i, s in enumerate(socks))
print("100 sockets", code(many))
def segments():
    s = udp(); s.setsockopt(socket.IPPROTO_UDP, 103, 1000); s.connect(("203.0.113.7", 7)); s.send(bytes(4500))
    return sorted(len(s.recv(9999)) for i in range(5))
print("UDP_SEGMENT", code(segments))
def two():
    s = udp(); got = []
    for host in ("203.0.113.7", "192.0.2.1"):
        s.sendto(host.encode(), (host, 7))
    return s.recvfrom(99)
print("by one socket", code(two))
def mapped():
    s = udp(socket.AF_INET6); s.sendto(b"m", ("::ffff:203.0.113.7", 7)); return s.recvfrom(9)[1][0]
print("mapped", code(mapped))
def row():
    s = udp(); s.connect(("203.0.113.7", 7)); got = 0
    for i in range(2000):
        s.send(b"%d" % i); got += s.recv(9) == b"%d" % i
    return got
print("in a row", code(row))
def long():
    s = udp(); s.connect(("203.0.113.7", 7)); return s.send(bytes(65508))
print("too long", code(long))
E2
opts=(--allow-domain 203.0.113.7 --allow-domain 2001:db8:1::7)
want=$(python3 like.py)
is "$(quiet "${opts[@]}" -- python3 like.py)" "$want" "datagrams behave as they do outside"
like "$want" "refused ECONNREFUSED ECONNREFUSED" "which is what was meant to be compared"

# ---- programs
said() { sed 's/time=[0-9.]* ms//; s/time [0-9]*ms//; /^rtt/d; s/ ttl=[0-9]*//'; }
for host in 203.0.113.7 2001:db8:1::7; do
	want=$(ping -n -c 2 -i 0.05 -W 60 $host | said)
	is "$(quiet "${opts[@]}" -- ping -n -c 2 -i 0.05 -W 60 $host | said)" "$want" "ping $host"
done
is "$(quiet --allow-domain good.example -- ping -n -c 1 -W 60 good.example | said)" "$(ping -n -c 1 -W 60 good.example | said)" "ping by name"
like "$(quiet --allow-domain 192.0.2.2 -- dig +short good.example @192.0.2.2)" "^203.0.113.7$" "dig asks a server that was granted"
unlike "$(quiet -- dig +short +tries=1 +time=1 good.example @192.0.2.2 2>&1)" "203.0.113.7" "and no other"
like "$(quiet --allow-domain good.example -- dig +short good.example)" "^203.0.113.7$" "dig asks the resolver inside"

# ---- hostile packets: swapped while looked at, in a flood, to everywhere
cat >flood.py <<'E2'
import socket
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for i in range(3000):
    for s, to in ((u, ("10.9.%d.%d" % (i >> 8, i & 255), 7)), (u, ("203.0.113.7", 1000 + i)), (u, ("255.255.255.255", 9)),
                  (u, ("224.0.0.251", 5353)), (u, ("198.18.0.1", 7)), (six, ("2001:db8:1::7", 9 + i)), (six, ("ff02::fb", 5353))):
        try: s.sendto(b"leak", to)
        except OSError: pass
print("sent")
E2
mark
# A datagram that comes while the flood is queued may be lost with it.
is "$(quiet --allow-domain 203.0.113.7:7 -- sh -c 'python3 flood.py; export WAIT=1; for i in $(seq 60); do
	python3 udp.py c 203.0.113.7:7 | grep ping && break; done')" "sent
ping" "after a flood what is granted still works"
is "$(arrived)" "17 203.0.113.7 7" "36: nothing of the flood arrived"

# ---- a flow that is asked about, answered from another terminal
id_of() { # HOST - of the question that waits about it
	cordon_in "$dir" pending --json | python3 -c 'import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if sys.argv[1] in m["path"]:
        print(m["session"].rsplit("-", 1)[1] + "-" + str(m["id"]))' "$1"
}
is_asked() { [ -n "$(id_of "$1")" ]; }
WAIT=120 plain "$CORDON" run --stdio -- python3 udp.py c asked.example:7 good.example:7 >out 2>err </dev/null &
inside=$!
ok "it is asked about by name, though it only has an address" wait_for 30 is_asked asked.example:7
cordon_in "$dir" deny "$(id_of asked.example:7)" >/dev/null
ok "so is the next" wait_for 30 is_asked good.example:7
cordon_in "$dir" approve "$(id_of good.example:7)" >/dev/null
wait "$inside"
is "$(cat out)" "EHOSTUNREACH
ping" "and goes on as it was answered"
kill "$servers"
done_testing
