#!/bin/bash
# kill - SIGKILL of cordon, keeper or agent at random times: the folder is in the last committed state.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
rounds=$(rounds 40)
RANDOM=${CRASH_SEED:-20261121}
dir=$(new_folder work)
cd "$dir" || exit 1

mkdir "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/churn" <<'E'
# changes of every kind, for as long as it is let
i=0
: >began && echo up >&2
while :; do
	i=$((i + 1))
	mkdir -p d$((i % 7))/e && echo $i >d$((i % 7))/e/f$i && echo $i >>log
	mv d$((i % 7))/e/f$i d$(((i + 3) % 7)) 2>/dev/null
	rm -rf d$(((i + 5) % 7))
	ln -sf log link; ln -f log hard; chmod $((600 + i % 8)) log
	cp base/f$((i % 20)) new && mv new base/f$(((i + 1) % 20)); rm -f base/f$((i % 20))
	touch -d 2001-01-01 base log
done
E
mkdir base && for i in $(seq 0 19); do head -c $((i * 3000)) /dev/urandom >"base/f$i"; done
setfattr -n user.x -v kept base/f3 2>/dev/null
"$CORDON" run --headless -- sh -c 'echo committed >committed; echo 0 >log'
committed=$(tree .)

for round in $(seq "$rounds"); do
	mark=$(new_mark)
	: >"$TEST_TMP/up"
	"$CORDON" run --headless -- bash -c ": $mark; . '$TEST_TMP/bin/churn'" 2>"$TEST_TMP/up" >/dev/null &
	pid=$!
	if ! wait_for 10 grep -qx up "$TEST_TMP/up"; then
		fail "round $round: starts after the last crash" "$(cat "$TEST_TMP/up")"
		break
	fi
	# a random time in the first half second is intended
	sleep "0.$((RANDOM % 40 + 10))"
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	case $((round % 4)) in
	0) who=keeper && kill -KILL "$keeper" ;;
	1) who=cordon && kill -KILL "$pid" ;;
	2) who=both && kill -KILL "$pid" "$keeper" ;;
	3) who=agent && pkill -KILL -f "^bash -c : $mark" ;;
	esac 2>/dev/null
	wait "$pid" 2>/dev/null
	if ! wait_for 10 none_marked "$mark"; then
		fail "round $round: SIGKILL of $who leaves no process" "$(ps -o pid,args -p "$(marked "$mark" | paste -sd,)")"
		marked "$mark" | xargs -r kill -KILL 2>/dev/null
	fi
	if [ "$who" = agent ]; then # the command ended: its changes are a step
		out=$("$CORDON" undo 2>&1) || note "undo: $out"
	elif [ $((RANDOM % 2)) = 0 ]; then # killed again during the recovery
		"$CORDON" run --headless -- true "$mark" 2>/dev/null &
		sleep "0.00$((RANDOM % 9))"
		kill -KILL $! $(pgrep -P $!) 2>/dev/null
		wait $! 2>/dev/null
		wait_for 10 none_marked "$mark"
	fi
	if ! out=$("$CORDON" run --headless -- true 2>&1); then
		fail "round $round: starts after SIGKILL of $who" "$out"
		break
	fi
	now=$(tree .)
	if [ "$now" != "$committed" ]; then
		fail "round $round: as committed, after SIGKILL of $who" "$(diff <(echo "$committed") <(echo "$now"))"
		break
	fi
done
is "$round" "$rounds" "$rounds crashes, each recovered to the last committed state"
ok "the step from before is still there" sh -c "'$CORDON' log | grep -q committed"
ok "and can be undone" "$CORDON" undo
ok "worked" test ! -e committed
is "$(grep -cF "$TEST_TMP" /proc/self/mounts)" 0 "no mount is left"
out=$("$CORDON" audit verify 2>&1)
is "$?" 0 "the audit log verifies: $out"
done_testing
