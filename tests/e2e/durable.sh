#!/bin/bash
# durable - journal.durable with many processes at once: nothing is lost, mixed up or left out.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
seq 1 50 | while read -r i; do
	echo "old $i" >"old$i"
	echo "gone $i" >"gone$i"
done
in_folder . true
t0=$(tree .)

# Eight processes; what each is told must be so.
# shellcheck disable=SC2016
"$CORDON" run --headless --set journal.durable=true -- sh -c '
	for p in 1 2 3 4 5 6 7 8; do (
		for i in $(seq $p 8 50); do
			echo "new $i" >new$i && [ "$(cat new$i)" = "new $i" ] || echo "new$i" >>bad
			chmod 600 old$i || echo "chmod $i" >>bad
			rm gone$i && [ ! -e gone$i ] || echo "rm $i" >>bad
			echo "saved $i" >tmp$i && mv tmp$i old$i || echo "mv $i" >>bad
			mkdir same 2>/dev/null && echo $p >>made
		done
	) & done; wait'
is "$?" 0 "the run"
is "$(cat bad 2>/dev/null)" "" "every call had its effect"
is "$(wc -l <made)" 1 "of many that make one directory one does"
is "$(cat old* | sort -u | grep -c saved)" 50 "all were saved"
is "$(find . -name "new*" | wc -l) $(find . -name "gone*" | wc -l)" "50 0" "all were made, all are gone"
t1=$(tree .)
ok "undo" "$CORDON" undo
same "$(tree .)" "$t0" "the folder is what it was"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t1" "and what it became"
ok "the store is sound" "$CORDON" journal verify
done_testing
