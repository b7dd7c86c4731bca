#!/bin/bash
# undo - SIGKILL during undo and redo: the folder is in one state or the other, never between.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
RANDOM=${CRASH_SEED:-42}
dir=$(new_folder work)
cd "$dir" || exit 1
for d in $(seq 15); do
	mkdir -p "d$d" && for f in $(seq 40); do echo "$d $f" >"d$d/f$f"; done
done
before=$(tree .)
"$CORDON" run --headless -- bash -c 'for i in 1 3 5; do rm -rf d$i; done; for i in 2 4 6; do sed -i s/1/one/ d$i/*; done
	for i in 7 8 9; do mv d$i m$i; done; chmod 700 d10 d11/*; mkdir new; for i in $(seq 300); do echo $i >new/$i; done'
after=$(tree .)
isnt "$after" "$before" "there is something to undo"
verb=undo
rounds=$(rounds 40)
for round in $(seq "$rounds"); do
	if ! killed 7 $verb; then
		fail "round $round: starts after SIGKILL of $verb" "$out"
		break
	fi
	now=$(tree .)
	if [ "$now" = "$before" ]; then
		verb=redo
	elif [ "$now" = "$after" ]; then
		verb=undo
	else
		fail "round $round: after SIGKILL of $verb" "$(diff <(echo "$before") <(echo "$now"))"
		break
	fi
done
is "$round" "$rounds" "every kill left one state or the other"
if [ $verb = undo ]; then ok "undo works" "$CORDON" undo; fi
same "$(tree .)" "$before" "the state before"
ok "redo works" "$CORDON" redo
same "$(tree .)" "$after" "the state after"
done_testing
