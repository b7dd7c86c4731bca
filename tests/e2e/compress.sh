#!/bin/bash
# compress - undo data is compressed while a session runs, and can still be undone.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
seq 1 60000 >text
truncate -s 8m sparse
printf 'end' >>sparse
for i in $(seq 30); do seq 1 9000 >"some$i"; done
t0=$(tree .)
in_folder . sh -c 'for f in *; do echo more >>$f; done'
t1=$(tree .)
store=$(ls -d "$HOME"/.local/state/cordon/work-* 2>/dev/null)
[ -d "$store/steps" ] || store=$dir/.cordon
start_in . sleep 600
ok "a session compresses what an earlier one left" wait_for 60 sh -c "ls $store/steps/1/obj/*.z"
ok "the store is sound meanwhile" "$CORDON" journal verify
like "$("$CORDON" diff 1 -- text)" "\\+more" "a diff reads it"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "undo" wait_for 20 "$CORDON" undo
same "$(tree .)" "$t0" "everything is as it was, exactly"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t1" "and back"
ok "the store is sound" "$CORDON" journal verify
done_testing
