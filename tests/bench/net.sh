# shellcheck shell=bash disable=SC2154
# net - the rows about connections: through the gate against directly, in namespaces of their own
# (net_hosts.sh); sourced by bench.sh.
# SPDX-License-Identifier: MIT

# net_number NAME KEY LIMIT - cordon's value; net_least: at least the limit; net_more: against native
net_of() { awk -v k="$1" -v c="$2" '$1 == k { printf "%.1f\n", $c }' "$base/net.found"; }
net_row() { # NAME NATIVE CORDON FOUND TARGET OK
	print_row "$1" "$2" "$3" "" "$4" "$5" "$(awk "BEGIN { print ($6) ? \"ok\" : \"FAIL\" }")"
}
net_number() { net_row "$1" "$(net_of "$2" 2)" "$(net_of "$2" 3)" "" "$3" "$(net_of "$2" 3) <= $3"; }
net_least() { net_row "$1" "$(net_of "$2" 2)" "$(net_of "$2" 3)" "" "$3" "$(net_of "$2" 3) >= $3"; }
net_more() {
	local more
	more=$(awk -v a="$(net_of "$2" 2)" -v b="$(net_of "$2" 3)" 'BEGIN { printf "%.1f", b - a }')
	net_row "$1" "$(net_of "$2" 2)" "$(net_of "$2" 3)" "$more" "$3" "$more <= $3"
}
rows_net() {
	wanted net || return 0
	print_row "" native cordon "" more target ""
	cordon=$cordon base=$base tests/bench/net_hosts.sh >"$base/net.found" 2>/dev/null || return 0
	net_number "net: a name that is known, us" dns 100
	net_number "net: connect by rule, us" connect 230
	net_more "net: round trip, us" rtt 20
	net_more "net: round trip of a datagram, us" udp 100
	net_least "net: to the host, MB/s" send 300
	net_least "net: from the host, MB/s" receive 300
	net_number "net: the relay's seconds a GB, to" cpu_send 1.5
	net_number "net: the relay's seconds a GB, from" cpu_receive 1.5
	cordon=$cordon base=$base tests/bench/far_hosts.sh >>"$base/net.found" 2>/dev/null &&
		net_more "net: connect to a host 60 ms away, ms" far 2
	net_number "net: 500 connections at once, ms" many 1000
}
