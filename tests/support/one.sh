#!/bin/bash
# one - runs one test program: clean environment, own directory, time limit, nothing left behind.
# SPDX-License-Identifier: MIT
#
# usage: one.sh [as-user/|user-only/][NAME=VALUE/]FILE
#
# as-user (root runs it, too) and user-only: as an ordinary user, from the copy $TEST_BASE/tree, which test.sh makes.
# NAME=VALUE: with that, such as BACKEND=bwrap/tests/escape/git.sh. In a script "# timeout: N" says that it takes longer
# than 15 minutes; "# with: /dev/fuse" gives a user one where root alone may open the host's.
set -u
file=$1
: "${B:=release}"
tree=$PWD
by='' with=()
drop=() again=
while :; do
	case $file in
	as-user/* | user-only/*) by=${file%%/*} ;;
	[A-Z]*=*/*) with+=("${file%%/*}") ;;
	*) break ;;
	esac
	file=${file#*/}
done
if [ -z "${TEST_BASE:-}" ]; then # called by hand
	mkdir -p "build/$B/tmp"
	TEST_BASE=$PWD/build/$B/tmp
fi
# On a slow machine a test that root has run is left out in favour of those that have not run yet.
if [ "$by" = as-user ] && [ "$(date +%s)" -gt "${TEST_DEADLINE:-9999999999}" ]; then
	echo "1..0 # SKIP no time left to repeat as a user what root has run"
	exit 0
fi
tmp=$(mktemp -d "${TEST_HOMES:-$TEST_BASE}/t.XXXXXX") || exit 1

# A device of the same number that everyone may open; false: none is needed, or none can be made.
lend_fuse() {
	[ -c /dev/fuse ] && ! "${drop[@]}" test -w /dev/fuse || return 1
	# shellcheck disable=SC2046 # two words
	mknod -m 666 "$tmp.fuse" c $(stat -c '0x%t 0x%T' /dev/fuse) 2>/dev/null &&
		unshare -m mount --bind "$tmp.fuse" /dev/fuse 2>/dev/null
}
user=root
if [ "$(id -u)" != 0 ]; then
	user=$(id -un)
elif [ -n "$by" ]; then
	# The number needs no account, and none is made.
	uid=${TEST_UID:-12345}
	user=user
	tree=$TEST_BASE/tree
	drop=(setpriv --reuid="$uid" --regid="$uid" --clear-groups)
	[ "$by" = user-only ] || again=1 # half as many random points are enough
	chown "$uid:$uid" "$tmp"
	if grep -q '^# with: /dev/fuse' "$file" && lend_fuse; then
		# shellcheck disable=SC2016 # it is the inner shell's
		drop=(unshare -m sh -c 'mount --bind "$0" /dev/fuse && exec "$@"' "$tmp.fuse" "${drop[@]}")
	fi
fi
[[ $file == /* ]] || file=$tree/$file

limit=$(sed -n 's/^# timeout: //p' "$file" 2>/dev/null | head -n 1)
[ -z "${CORDON_TEST_THOROUGH:-}" ] || limit=14400
mkdir -m 700 "$tmp/home" && chown --reference="$tmp" "$tmp/home"

stray() { # processes with this test's mark; those inside a sandbox die with their keeper
	grep -lzsxF "TEST_TMP=$tmp" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx "$$"
}
end_strays() {
	local pids tries=0
	while pids=$(stray) && [ "$tries" -lt 20 ]; do
		# shellcheck disable=SC2086 # one word each
		kill -KILL $pids 2>/dev/null
		tries=$((tries + 1))
		sleep 0.05
	done
}
cleanup() {
	end_strays
	chmod -R u+rwX "$tmp" 2>/dev/null
	rm -rf "$tmp" "$tmp.fuse" "$tmp.times"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

more=("${with[@]}" ${again:+TEST_AGAIN=1}) # as set by make soak
for name in TEST_FEWER CRASH_ROUNDS CRASH_SEED FLOOD CORDON_TEST_THOROUGH BACKEND SESSIONS RACES DARWIN_ARCHS; do
	[ -z "${!name:-}" ] || more+=("$name=${!name}")
done
cd "$tree" || exit 1
# Programs on $PATH run inside in either mode, wherever this checkout is: the tests' tools, and a test's own in
# $TEST_TMP/bin. All other files of a test are behind the gate unless a rule grants them.
tools=$tree/build/$B/tests
path=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:$tools/support:$tools/escape:$tmp/bin
run() {
	timeout -k 5 "${limit:-900}" "${drop[@]}" env -i PATH="$path" HOME="$tmp/home" \
		USER="$user" LOGNAME="$user" SHELL=/bin/bash TERM=xterm-256color LC_ALL=C.UTF-8 TZ=UTC \
		TMPDIR="$tmp" TEST_TMP="$tmp" B="$B" CORDON="$tree/build/$B/cordon" TOOLS="$tools" \
		UPDATE="${UPDATE:-}" CMOCKA_MESSAGE_OUTPUT=TAP GIT_CONFIG_NOSYSTEM=1 "${more[@]}" "$file" </dev/null
}
if [ -n "${TEST_FAILED:-}" ]; then # a folder: what a test that fails has said is kept there
	run > >(exec cat >"$tmp.log") 2>&1 # through a pipe, because a test may truncate its output
	r=$?
	end_strays
	wait $!
	sed 's/^not ok \([0-9]* # SKIP\)/ok \1/' "$tmp.log" # which cmocka says of what is left out
	times >"$tmp.times" && { read -r && read -r usr sys; } <"$tmp.times" && echo "$usr $sys $1" >>"$TEST_FAILED.times"
	[ -z "${TEST_TAP:-}" ] || cp "$tmp.log" "$TEST_TAP/${1//\//_}" # make attacks
	if [ $r = 0 ]; then rm "$tmp.log"; else mv "$tmp.log" "$TEST_FAILED/${1//\//_}"; fi
else
	run
	r=$?
fi
[ $r = 124 ] && echo "not ok - timed out after ${limit:-900} s: $1"
exit $r
