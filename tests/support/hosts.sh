# shellcheck shell=bash
# hosts - a small internet for the test that sources this: this process's own network namespace plays the host's;
# another one behind a veth has servers (hosts.py).
# SPDX-License-Identifier: MIT
#
# Call `hosts_folder "$@"` first: it starts the script anew in namespaces of its own, sets the backend and enters $dir, a
# new working folder. Or `hosts_enter "$@"`, which leaves the last two out. Then `hosts_start`.
# Or `far_start`: the servers of far.py, 60 ms away each way.
# plain COMMAND...   without the capabilities for making namespaces, like an ordinary user
# own_loopback "$@"  instead of all that: the script anew, plain, with a loopback device of its own, on whose ports
#                    nobody else listens

hosts_enter() {
	[ -z "${HOSTS_INSIDE:-}" ] || return 0
	local how=(-n -m)
	[ "$(id -u)" = 0 ] || how+=(-U --map-current-user --keep-caps)
	HOSTS_INSIDE=1 exec unshare "${how[@]}" "$0" "$@"
}

hosts_need() {
	need python3 ip unshare nsenter setpriv
	unshare -n true 2>/dev/null || [ "$(id -u)" != 0 ] || skip_all "no network namespaces here"
}
hosts_folder() {
	hosts_need
	need_sandbox
	hosts_enter "$@"
	use_backend
	dir=$(new_folder work)
	cd "$dir" || exit 1
}

plain() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		setpriv --inh-caps=-all --ambient-caps=-all -- "$@"
	fi
}

own_loopback() {
	[ -z "${HOSTS_PLAIN:-}" ] || return 0
	hosts_need
	need_sandbox
	hosts_enter "$@"
	ip link set lo up
	export HOSTS_PLAIN=1
	plain "$0" "$@"
	exit
}

hosts_start() {
	HOSTS=$TEST_TMP/hosts
	mkdir -p "$HOSTS/www" && echo hello >"$HOSTS/www/index.html"
	unshare -n sleep 600 &
	servers=$!
	wait_for 5 sh -c '[ "$(readlink /proc/$$/ns/net)" != "$(readlink /proc/'"$servers"'/ns/net)" ]'
	ip link add e0 type veth peer name e1 netns "$servers"
	ip addr add 192.0.2.1/24 dev e0 && ip -6 addr add 2001:db8:1::1/64 dev e0 nodad
	ip link set lo up && ip link set e0 up
	local a
	for a in 192.0.2.2/24 203.0.113.7/32 10.9.9.9/32 169.254.169.254/32; do
		there ip addr add "$a" dev e1
	done
	there ip -6 addr add 2001:db8:1::7/64 dev e1 nodad
	there ip link set lo up && there ip link set e1 up
	ip route add default via 192.0.2.2
	# A host that never answers, not even with an error.
	ip neigh add 192.0.2.77 lladdr 02:00:00:00:00:77 dev e0
	echo "nameserver 192.0.2.2" >"$HOSTS/resolv.conf"
	mount --bind "$HOSTS/resolv.conf" "$(realpath /etc/resolv.conf)"
	there python3 "$(dirname "${BASH_SOURCE[0]}")/hosts.py" "$HOSTS" &
	wait_for 10 test -e "$HOSTS/ready" || skip_all "the test's servers do not start"
}
far_start() {
	HOSTS=$TEST_TMP/hosts
	mkdir -p "$HOSTS"
	unshare -n sleep 600 &
	servers=$!
	unshare -n sleep 600 &
	local between=$! support
	support=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
	for ns in $servers $between; do
		wait_for 5 sh -c '[ "$(readlink /proc/$$/ns/net)" != "$(readlink /proc/'"$ns"'/ns/net)" ]'
	done
	ip link add e0 type veth peer name w0 netns "$between"
	there ip link add e1 type veth peer name w1 netns "$between"
	# IPv6 sends no packets of its own on the cable.
	nsenter -t "$between" -n sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
		ip link set w0 up && ip link set w1 up'
	there sh -c 'cd /proc/sys/net && echo 1 >ipv6/conf/all/forwarding && echo 0 >ipv6/icmp/ratelimit'
	ip link set lo up && ip link set e0 up && there ip link set lo up && there ip link set e1 up
	ip addr add 192.0.2.1/24 dev e0 && ip -6 addr add 2001:db8:1::1/64 dev e0 nodad
	there ip addr add 192.0.2.2/24 dev e1 && there ip -6 addr add 2001:db8:1::2/64 dev e1 nodad
	there ip addr add 203.0.113.7/32 dev lo && there ip addr add 203.0.113.8/32 dev lo
	there ip -6 addr add 2001:db8:2::7/128 dev lo && there ip -6 addr add 2001:db8:2::8/128 dev lo
	there ip -6 route add blackhole 2001:db8:2::9
	there ip -6 route add unreachable 2001:db8:2::10
	ip route add default via 192.0.2.2 && ip -6 route add default via 2001:db8:1::2
	nsenter -t "$between" -n python3 "$support/wire.py" "$HOSTS/wire" w0 w1 60 203.0.113.8 400 2001:db8:2::8 400 \
		203.0.113.10 icmp1 203.0.113.11 icmp0 &
	there python3 "$support/far.py" serve "$HOSTS" &
	wait_for 10 test -e "$HOSTS/ready" -a -e "$HOSTS/wire" || skip_all "the test's servers do not start"
}
# named_below PID NAME - the descendants of PID of that name.
named_below() {
	local p
	for p in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || echo "$p"
		named_below "$p" "$2"
	done
}
there() { nsenter -t "$servers" -n "$@"; }

# mark - marks the present end of $HOSTS/packets and $HOSTS/names: $mark and $names lines. All connections are closed
# by then, and a datagram that is sent last has arrived.
mark() {
	wait_for 5 none_open
	marked_by=$((${marked_by:-20000} + 1))
	echo >"/dev/udp/192.0.2.2/$marked_by"
	wait_for 20 grep -qx "17 192.0.2.2 $marked_by" "$HOSTS/packets"
	mark=$(grep -nx "17 192.0.2.2 $marked_by" "$HOSTS/packets" | cut -d: -f1) names=$(wc -l <"$HOSTS/names")
}
none_open() { ! awk '$4 ~ /^(01|02|03|04|05|08|09|0B)$/ { print }' /proc/net/tcp /proc/net/tcp6 | grep -q .; }
