#!/bin/bash
# vm_network - a guest's network: asked about by name, opened by rules; the guest's root cannot bypass it.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/vm.sh"
. "$(dirname "$0")/../support/hosts.sh"
need python3 ip unshare nsenter dig
[ -c /dev/net/tun ] || skip_all "no /dev/net/tun here"
hosts_enter "$@"
dir=$(new_folder work)
hosts_start
vm_settings ""

cat >"$dir/guest.py" <<'E2'
"""Each check is a line of the file "said". Those that are asked about come in the order of their answers."""
import errno, fcntl, os, socket, struct, subprocess, sys, time

said = open("said", "w", buffering=1)


def say(name, value):
    said.write(f"{name}: {value}\n")
    print(f"{name}: {value}", flush=True)


def code(f, *a):
    try:
        return f(*a)
    except socket.gaierror:
        return "no such name"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))


def tcp(host, port=7, wait=100):
    s = socket.create_connection((host, port), timeout=wait)
    s.sendall(b"ping")
    return s.recv(9).decode()


def udp(host, port=7, n=4, wait=60):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(wait)
    s.connect((host, port))
    s.send(bytes(n))
    return len(s.recv(65535))


def bulk():
    s = socket.create_connection(("203.0.113.7", 9))
    for i in range(64):
        s.sendall(bytes(1 << 16))
    s.shutdown(socket.SHUT_WR)
    return s.recv(99).decode()


# Opened by rules
say("address by name", code(tcp, "two.example"))
say("address of a range", code(tcp, "10.9.9.9"))
say("IPv6", code(tcp, "2001:db8:1::7"))
say("IPv6 by name", code(tcp, "six.example"))
say("refused there", code(tcp, "10.9.9.9", 8))
say("4 MiB", code(bulk))
say("datagram", code(udp, "10.9.9.9"))
say("datagram of IPv6", code(udp, "2001:db8:1::7"))
say("datagram, large", code(udp, "10.9.9.9", 7, 60000))
say("denied by a rule", code(tcp, "denied.example"))
say("the resolver by TCP", subprocess.run(["dig", "+short", "+tcp", "two.example"], capture_output=True, text=True).stdout.split()[:1])
# Asked about
say("allowed", code(tcp, "good.example"))
say("refused", code(tcp, "198.51.100.9", 80))
say("private", code(tcp, "169.254.169.254", 80))
say("datagram asked", code(udp, "198.51.100.9", 53))

# ---- its root: frames of its own. Nothing of it may arrive anywhere.
OWN, ROUTER, OTHER = "198.18.0.2", "198.18.0.1", "203.0.113.7"
MAC = bytes.fromhex("02636f726401")
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind(("eth0", 0))


def total(b):
    b += b"\0" * (len(b) % 2)
    s = sum(struct.unpack(f">{len(b) // 2}H", b))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def ip(proto, data, to=OTHER, own=OWN, options=b"", moved=0, length=None):
    def head(c):
        n = 20 + len(options) + len(data) if length is None else length
        return struct.pack(">BBHHHBBH4s4s", 0x40 | (5 + len(options) // 4), 0, n, 1, moved, 64, proto, c,
                           socket.inet_aton(own), socket.inet_aton(to)) + options
    return head(total(head(0))) + data


def syn(to=OTHER, own=OWN, port=7, from_port=5000, flags=2):
    def seg(c):
        return struct.pack(">HHIIBBHHH", from_port, port, 1, 0, 0x50, flags, 1000, c, 0)
    pseudo = socket.inet_aton(own) + socket.inet_aton(to) + struct.pack(">HH", 6, 20)
    return seg(total(pseudo + seg(0)))


def send(packet, kind=0x0800, mac=MAC):
    raw.send(b"\x02\x63\x6f\x72\x64\x02" + mac + struct.pack(">H", kind) + packet)


def datagram(port=7, data=b"attack"):
    return struct.pack(">HHHH", 5000, port, 8 + len(data), 0) + data


for i in range(3):
    send(ip(17, datagram(), "10.9.9.9"), mac=b"\x02\0\0\0\0\7")  # somebody else's MAC
    send(ip(6, syn("10.9.9.9"), "10.9.9.9"), mac=b"\x02\0\0\0\0\7")
    for own in ("198.18.0.1", "192.0.2.1", "127.0.0.1", "10.9.9.8"):  # somebody else's address
        send(ip(17, datagram(), "10.9.9.9", own))
        send(ip(6, syn("10.9.9.9", own), "10.9.9.9", own))
    for to in ("127.0.0.1", "127.0.0.53", "0.0.0.0", "255.255.255.255", "224.0.0.1", OWN):
        send(ip(6, syn(to, port=4444), to))
        send(ip(17, datagram(4444), to))
    send(ip(17, datagram(), "10.9.9.9", options=b"\x83\x07\x04\xcb\x00\x71\x07\x00"))  # a source route
    send(ip(17, datagram(), "10.9.9.9", moved=0x2000))  # fragments
    send(ip(17, datagram(), "10.9.9.9", moved=0x0010))
    send(ip(17, datagram(), "10.9.9.9", length=2000))
    send(ip(47, b"\0" * 40, "10.9.9.9"))  # another protocol
    send(b"\x00\x07\x08\x00" + ip(17, datagram(), "10.9.9.9"), 0x8100)  # a VLAN
    # ARP: the router's address is ours; a question for the host's gets no answer.
    arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 2) + MAC + socket.inet_aton(ROUTER) + bytes(6) + socket.inet_aton(ROUTER)
    send(arp, 0x0806)
    send(b"\x60\0\0\0\0\x20\x3a\xff" + socket.inet_pton(socket.AF_INET6, "fe80::1") +
         socket.inet_pton(socket.AF_INET6, "ff02::1") + b"\x88" + bytes(31), 0x86dd)  # a neighbour's advertisement
os.system("ip addr add 192.0.2.2/24 dev eth0; ip route add 127.0.0.53/32 via 198.18.0.1 dev eth0 onlink; ip addr del 127.0.0.1/8 dev lo")
say("the host's loopback", code(tcp, "198.18.0.1", 4444, 5))
say("as the host itself", code(udp, "192.0.2.1", 4444, 4, 3))
# A flood: the network and other connections stay alive.
begin = time.time()
for i in range(4000):
    send(ip(6, syn(port=1 + i % 60000, from_port=1 + i % 60000, flags=(2, 16, 18, 4)[i % 4]), OTHER))
    send(os.urandom(1 + i % 1400), mac=os.urandom(6))
say("after a flood", code(tcp, "10.9.9.9"))
say("all", "tried")
while not os.path.exists("killed"):
    time.sleep(0.2)
say("without it", code(tcp, "10.9.9.9", 7, 3))
E2
mark=$(new_mark)
rules=(--allow-domain two.example --allow-domain six.example --allow-domain 10.9.9.0/24 --allow-domain 2001:db8:1::/64
	--allow-domain 203.0.113.7:9)
printf '[rule "mine"]\n\tdeny = connect denied.example\n' >>"$HOME/.config/cordon/config"
# A service of the host's loopback, and one of its own address.
python3 -c 'import socket, threading
def serve(a):
    s = socket.create_server(a); s.accept(); open("'"$TEST_TMP"'/reached", "w").write(str(a))
def take(a):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(a); s.recvfrom(9); open("'"$TEST_TMP"'/reached", "w").write(str(a))
for h in ("127.0.0.1", "192.0.2.1"):
    threading.Thread(target=serve, args=((h, 4444),)).start(); threading.Thread(target=take, args=((h, 4444),)).start()
open("'"$TEST_TMP"'/listens", "w")' &
local_server=$!
wait_for 10 test -e "$TEST_TMP/listens"
start 130 40 "$dir" "$CORDON run --exit ${rules[*]} -- python3 guest.py $mark"
sees 'network asks . vm . emulated' "the status bar says that hosts are asked about"
has() { ok "$2" wait_for "${3:-60}" grep -qx "$1" "$dir/said"; }
has 'address by name: ping' "a name that a rule opens is dialled, at the address that answers" 90
has 'address of a range: ping' "an address of a range that a rule opens"
has 'IPv6: ping' "IPv6"
has 'IPv6 by name: ping' "IPv6 by name"
has 'refused there: ECONNREFUSED' "who does not listen refuses"
has '4 MiB: 4194304' "4 MiB arrive whole"
has 'datagram: 4' "a datagram, and its answer"
has 'datagram of IPv6: 4' "and by IPv6"
has 'datagram, large: 60000' "of 60 kB"
has 'denied by a rule: no such name' "a name that a rule closes"
has "the resolver by TCP: .'.*'." "names are looked up by TCP, too"
sees 'ASK connect +good.example:7' "a connection is asked about, by name and port"
unlike "$(cat "$HOSTS/names")" 'denied' "39: and a name that is closed did not leave"
keys C-] a
sees 'wants to connect to good.example:7' "the dialog shows the host"
like "$(screen)" 'python3|guest' "and who asks" || :
press_until 'allowed: ping' "allowed, it goes on where it was held" a
sees 'ASK connect +198.51.100.9:80' "an address without a name is asked about"
keys C-] a
press_until 'refused: ECONNREFUSED' "denied, it is refused" d
sees 'ASK connect +169.254.169.254:80' "a special address is asked about"
keys C-] a
press_until 'private: ECONNREFUSED' "and refused" d
sees 'ASK connect +198.51.100.9:53' "a datagram is asked about"
id=$(cd "$dir" && "$CORDON" pending --json | sed -n 's/.*"id":"*\([0-9]*\).*/\1/p' | head -n 1)
ok "cordon deny answers it" sh -c "cd '$dir' && '$CORDON' deny $id"
has 'datagram asked: EHOSTUNREACH' "and it is refused"
has 'the host.s loopback: ECONNREFUSED' "the router's address is not the host" 90
has "as the host itself: .*" "nor is one that the guest gives itself"
has 'after a flood: ping' "after a flood the network is there" 90
has 'all: tried' "the guest has tried all"
# The process that serves the network dies: the user is told, and the guest continues without network.
kill -KILL "$(vm_part cordon-frames "$mark")"
sees 'the guest has no network' "the end of its network is told"
touch "$dir/killed"
has 'without it: timed out' "nothing leaves any more"
ended "all of it has ended" 0
is "$(cat "$TEST_TMP/reached" 2>&1)" "cat: $TEST_TMP/reached: No such file or directory" "nothing reached the host's loopback, or the host"
unlike "$(cat "$HOSTS/packets")" '^(6|17) (169|224|255|0|127)\.' "36: nor places that nobody may reach"
kill "$local_server" "$servers"
audit=$(cordon_in "$dir" audit --json)
like "$audit" '"decision".*good.example:7.*allow' "the audit log has what was allowed"
like "$audit" '"decision".*169.254.169.254:80.*deny' "and what was denied"
done_testing
