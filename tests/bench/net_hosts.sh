#!/bin/bash
# net_hosts - what a connection costs, against a host behind a veth: prints "NAME NATIVE CORDON" lines.
# SPDX-License-Identifier: MIT
#
# usage: net_hosts.sh    run by net.sh with `cordon` and `base` set; medians in microseconds, MB/s, seconds a GB
. "$(realpath "$(dirname "$0")/../support/hosts.sh")"
hosts_enter "$@"
# shellcheck disable=SC2154 # net.sh's
TEST_TMP=$base/net
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do [ $SECONDS -lt $end ] && sleep 0.05 || return 1; done
}
skip_all() { exit 1; }
mkdir -p "$TEST_TMP/work" && cd "$TEST_TMP/work" || exit 1
hosts_start
# shellcheck disable=SC2154 # hosts.sh's
trap 'kill $servers' EXIT
there python3 -c 'import socket
s = socket.create_server(("203.0.113.7", 10))
zero = bytes(1 << 20)
while True:
    c, _ = s.accept()
    try:
        for i in range(1024): c.sendall(zero)
    except OSError: pass
    c.close()' &
cat >client.py <<'E2'
import socket, sys, time, os, threading
HOST = "203.0.113.7"
def median(f, n):
    took = []
    for i in range(n):
        t = time.perf_counter(); f(); took.append(time.perf_counter() - t)
    return sorted(took)[n // 2] * 1e6
def relay_s():
    """Processor time of the relay, which the test's script names."""
    try: f = open("/proc/%s/stat" % open("relay").read().strip()).read().rsplit(")", 1)[1].split()
    except OSError: return 0
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
def send():
    s = socket.create_connection((HOST, 9)); d = bytes(1 << 20); t = time.perf_counter()
    for i in range(1024): s.sendall(d)
    s.shutdown(1); s.recv(100); return 1074 / (time.perf_counter() - t)
def receive():
    s = socket.create_connection((HOST, 10)); t = time.perf_counter(); b = bytearray(1 << 20)
    while s.recv_into(b): pass
    return 1074 / (time.perf_counter() - t)
q = b"\x12\x34\1\0\0\1\0\0\0\0\0\0\4good\7example\0\0\1\0\1"
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect((sys.argv[1], 53))
def dns(): u.send(q); u.recv(999)
def connect(): socket.create_connection((HOST, 7)).close()
dns(); connect()
open("started", "w").close()
while not os.path.exists("go"): time.sleep(0.02)
print("dns", median(dns, 2000))
print("connect", median(connect, 1000))
s = socket.create_connection((HOST, 7)); s.setsockopt(6, 1, 1)
def rtt(): s.send(b"x"); s.recv(9)
print("rtt", median(rtt, 5000))
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); d.connect((HOST, 7))
def udp(): d.send(b"x"); d.recv(9)
print("udp", median(udp, 5000))
cpu = relay_s(); print("send", send()); print("cpu_send", (relay_s() - cpu) / 1.074)
cpu = relay_s(); print("receive", receive()); print("cpu_receive", (relay_s() - cpu) / 1.074)
t = time.perf_counter(); open_ones = []
def one(): open_ones.append(socket.create_connection((HOST, 7), timeout=20))
ts = [threading.Thread(target=one) for i in range(500)]
[x.start() for x in ts]; [x.join() for x in ts]
for c in open_ones: c.send(b"x")
print("many", (time.perf_counter() - t) * 1e3 if sum(len(c.recv(9)) for c in open_ones) == 500 else -1)
E2
below() { # PID NAME - its descendants of that name
	local p
	for p in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || echo "$p"
		below "$p" "$2"
	done
}
touch go
python3 client.py 192.0.2.2 >native
rm go started
"$cordon" run --headless --allow-domain good.example --allow-domain 203.0.113.7 -- python3 client.py 127.0.0.53 >inside 2>err &
run=$!
wait_for 10 test -e started || exit 1
below $run cordon-relay >relay
touch go
wait $run || exit 1
paste -d" " native inside | cut -d" " -f1,2,4
