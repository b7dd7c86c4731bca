#!/bin/bash
# far - distant hosts: a connection takes one round trip, and ends as it does without a gate.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
hosts_folder "$@"
support=$(realpath "$(dirname "$0")/../support")
far_start
cp "$support/far.py" "$dir/"
rules=(--allow-domain 203.0.113.0/24 --allow-domain 192.0.2.89 --allow-domain 2001:db8::/32)
gated() { plain timeout 25 "$CORDON" run --headless "${rules[@]}" -- python3 far.py inside "$@" 2>"$TEST_TMP/gated.err"; }
native() { plain timeout 25 python3 far.py try "$@" 2>"$TEST_TMP/native.err"; }

# compare NAMES... - the same result, and at the same time up to 20 ms (100 on a busy machine); both are measured at
# the same moment, up to three times.
compare() {
	local try slack=20
	is_loaded && slack=100
	for try in 1 2 3; do
		native "$@" >"$TEST_TMP/native" &
		gated "$@" >"$TEST_TMP/gated"
		wait $!
		paste "$TEST_TMP/native" "$TEST_TMP/gated" | awk -F '\t' -v slack=$slack '
			{ late = $6 - $3; print (NF == 6 && $1 == $4 && $2 == $5 && late < slack && late > -slack ? "ok" : "no"), $0 }
		' >"$TEST_TMP/both$try"
		grep -q '^no' "$TEST_TMP/both$try" || break
	done
	[ -s "$TEST_TMP/both1" ] || fail "something came of it" "$(cat "$TEST_TMP/native.err" "$TEST_TMP/gated.err")"
	while IFS=$'\t' read -r name _; do
		name=${name#* }
		if cat "$TEST_TMP"/both? | grep -q "^ok $name	"; then
			pass "$name"
		else
			fail "$name" "      without a sandbox, with the gate
$(cat "$TEST_TMP"/both? | grep -h " $name	")"
		fi
	done <"$TEST_TMP/both1"
	rm -f "$TEST_TMP"/both?
}

# Addresses of the neighbours are resolved by then.
native open/4,open/6 slow/4,slow/6 >/dev/null
for v in 4 6; do
	compare "open/$v,open-poll/$v,closed/$v,closed-poll/$v,nohost/$v,nohost-poll/$v,nonet/$v,nonet-poll/$v"
	compare "slow/$v,slow-poll/$v,slow-closed/$v,slow-closed-poll/$v,silent/$v,time-out/$v,again/$v,shut-down/$v" \
		"resetting/$v,many/$v" "down/$v" "down-poll/$v" "gives-up/$v" "urgent/$v,after-reset/$v"
done
is "$(gated zero/4,zero-poll/4,zero/6,zero-poll/6 | cut -f 2 | uniq)" ECONNREFUSED "port 0 of any host: nobody listens there"
compare at-once/4 at-once/6 eyeballs/6
sent=$(gated packets/4,packets/6 | cut -f 2 | sort -n | tail -n 1)
if [ "$sent" -gt 0 ] && [ "$sent" -lt 20 ]; then
	pass "a first packet is sent once more, and not over and over"
else
	fail "a first packet is sent once more, and not over and over" "      packets: $sent"
fi
done_testing
