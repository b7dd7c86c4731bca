#!/bin/bash
# safeguard - SIGKILL while a denied step is ended and rolled back: the folder is as before the step.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
rounds=$(rounds 30)
RANDOM=${CRASH_SEED:-20261122}
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir a a/b && for i in $(seq 300); do echo "$i" >"a/f$i" && echo "$i" >"a/b/f$i"; done
before=$(tree .)
late=0 undone=0

for round in $(seq "$rounds"); do
	mark=$(new_mark)
	"$CORDON" run --headless --set safeguard.deletes=$((RANDOM % 500 + 100)) -- \
		sh -c ": $mark; echo up >&2; echo new >new; mv a/b c; rm -rf a c; echo late >late" \
		>/dev/null 2>"$TEST_TMP/up" &
	pid=$!
	wait_for 10 grep -qx up "$TEST_TMP/up" || fail "round $round: starts"
	# a random time in its few dozen milliseconds: deleting, ending, rolling back
	sleep "0.0$((RANDOM % 9))$((RANDOM % 9))"
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	case $((round % 3)) in
	0) kill -KILL "$keeper" ;;
	1) kill -KILL "$pid" ;;
	2) kill -KILL "$pid" "$keeper" ;;
	esac 2>/dev/null || late=$((late + 1))
	wait "$pid" 2>/dev/null
	wait_for 10 none_marked "$mark" || fail "round $round: no process is left"
	# An exiting process has no arguments by which it can be found, and still holds the lock.
	if ! wait_for 10 "$CORDON" run --headless -- true; then
		fail "round $round: starts after SIGKILL" "$("$CORDON" run --headless -- true 2>&1)"
		break
	fi
	now=$(tree .)
	if [ "$now" != "$before" ]; then
		fail "round $round: as before the step" "$(diff <(echo "$before") <(echo "$now"))"
		break
	fi
	# The step's changes so far are not lost: redo restores them, and undo reverts them again.
	if "$CORDON" redo >/dev/null 2>&1; then
		undone=$((undone + 1))
		"$CORDON" undo >/dev/null 2>&1
		now=$(tree .)
		[ "$now" = "$before" ] || fail "round $round: redo and undo" "$(diff <(echo "$before") <(echo "$now"))"
	fi
done
is "$round" "$rounds" "$rounds times killed ($late too late), $undone times redone and undone"
isnt "$undone" 0 "redo has what was rolled back"
ok "the audit log verifies" "$CORDON" audit verify
done_testing
