#!/bin/bash
# net_hosts - the cost of a connection, with a host behind a veth: prints "NAME NATIVE CORDON" lines.
# SPDX-License-Identifier: MIT
#
# usage: net_hosts.sh    run by net.sh with `cordon` and `base` set; medians in microseconds, MB/s, seconds a GB
# shellcheck source=tests/support/hosts.sh
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
end_all() { # the servers are children of the subshells that were sent to the background
	local p
	for p in $(jobs -p); do
		pkill -P "$p"
		kill "$p"
	done
}
trap end_all EXIT
trap 'exit 1' INT TERM
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
def reach(where):
    """The script outside takes the relay's processor time."""
    open(where, "w").close()
    while not os.path.exists(where + ".seen"): time.sleep(0.01)
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
print("dns", median(dns, 2000))
print("connect", median(connect, 1000))
s = socket.create_connection((HOST, 7)); s.setsockopt(6, 1, 1)
def rtt(): s.send(b"x"); s.recv(9)
print("rtt", median(rtt, 5000))
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); d.connect((HOST, 7))
def udp(): d.send(b"x"); d.recv(9)
print("udp", median(udp, 5000))
reach("1"); print("send", send()); reach("2"); print("receive", receive()); reach("3")
t = time.perf_counter(); open_ones = []
def one(): open_ones.append(socket.create_connection((HOST, 7), timeout=20))
ts = [threading.Thread(target=one) for i in range(500)]
[x.start() for x in ts]; [x.join() for x in ts]
for c in open_ones: c.send(b"x")
print("many", (time.perf_counter() - t) * 1e3 if sum(len(c.recv(9)) for c in open_ones) == 500 else -1)
E2
touch 1.seen 2.seen 3.seen
python3 client.py 192.0.2.2 >native
rm -f 1* 2* 3*
# shellcheck disable=SC2154 # net.sh's
"$cordon" run --headless --allow-domain good.example --allow-domain 203.0.113.7 -- python3 client.py 127.0.0.53 >inside 2>err &
run=$!
took=()
for i in 1 2 3; do # ticks of the relay before each transfer, and after the last
	wait_for 30 test -e $i || exit 1
	took+=("$(awk '{ print $14 + $15 }' "/proc/$(named_below $run cordon-relay)/stat")")
	touch $i.seen
done
wait $run || exit 1
paste -d" " native inside | cut -d" " -f1,2,4
awk -v a="${took[0]}" -v b="${took[1]}" -v c="${took[2]}" -v hz="$(getconf CLK_TCK)" \
	'BEGIN { printf "cpu_send 0 %.2f\ncpu_receive 0 %.2f\n", (b - a) / hz / 1.074, (c - b) / hz / 1.074 }'
