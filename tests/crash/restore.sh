#!/bin/bash
# restore - SIGKILL during a restore: all of it or nothing, and it can be undone.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
RANDOM=${CRASH_SEED:-7}
rounds=$(rounds 25)
dir=$(new_folder work)
cd "$dir" || exit 1
for d in $(seq 12); do
	mkdir -p "d$d/e" && for f in $(seq 30); do echo "$d $f" >"d$d/f$f" && echo "$f" >"d$d/e/f$f"; done
done
"$CORDON" run --headless -- bash -c 'for i in 1 3 5; do rm -rf d$i; done; for i in 2 4 6; do sed -i s/1/one/ d$i/f*; done
	for i in 7 8; do mv d$i/e d$i/m; done; chmod 700 d10 d11/f*; mkdir new; for i in $(seq 100); do echo $i >new/$i; done'
id=$("$CORDON" log --json | grep -o '"id":[0-9]*' | head -n 1 | cut -d: -f2)
after=$(tree .)
paths=(d1 d2 d3 d4 d5 d6 d10 d11 new)
ok "a restore" "$CORDON" undo --step "$id" -- "${paths[@]}"
restored=$(content .)
ok "can be undone" "$CORDON" undo
same "$(tree .)" "$after" "and all is as before it"
isnt "$(content .)" "$restored" "it did something"

whole=0 none=0
for round in $(seq "$rounds"); do
	if ! killed 10 undo --step "$id" -- "${paths[@]}"; then
		fail "round $round: starts after SIGKILL" "$out"
		break
	fi
	if [ "$(tree .)" = "$after" ]; then
		none=$((none + 1))
		continue
	fi
	whole=$((whole + 1))
	if [ "$(content .)" != "$restored" ]; then
		fail "round $round: neither all of it nor nothing" "$(diff <(echo "$restored") <(content .))"
		break
	fi
	if ! out=$("$CORDON" undo 2>&1) || [ "$(tree .)" != "$after" ]; then
		fail "round $round: undone" "$out
$(diff <(echo "$after") <(tree .))"
		break
	fi
done
is "$round" "$rounds" "$rounds kills: $whole were restored whole, $none not at all"
ok "the store is sound" "$CORDON" journal verify
done_testing
