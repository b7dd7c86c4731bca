#!/bin/bash
# far_hosts - the time of a connection to a host that is 60 ms away each way: prints "far NATIVE CORDON", milliseconds.
# SPDX-License-Identifier: MIT
#
# usage: far_hosts.sh    run by net.sh with `cordon` and `base` set; the medians of 9 connections
# shellcheck source=tests/support/hosts.sh
. "$(realpath "$(dirname "$0")/../support/hosts.sh")"
support=$(realpath "$(dirname "$0")/../support")
hosts_enter "$@"
# shellcheck disable=SC2154 # net.sh's
TEST_TMP=$base/far
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do [ $SECONDS -lt $end ] && sleep 0.05 || return 1; done
}
skip_all() { exit 1; }
mkdir -p "$TEST_TMP/work" && cd "$TEST_TMP/work" || exit 1
far_start
trap 'kill $(jobs -p)' EXIT
cp "$support/far.py" .
nine=$(printf 'open-poll/4,%.0s' 1 2 3 4 5 6 7 8)open-poll/4
median() { awk '$2 == "ok" { print $3 }' | sort -n | sed -n 5p; }
python3 far.py try open/4 >/dev/null
native=$(python3 far.py try "$nine" | median)
# shellcheck disable=SC2154
inside=$("$cordon" run --headless --allow-domain 203.0.113.7 -- python3 far.py try "$nine" 2>/dev/null | median)
echo "far $native $inside"
