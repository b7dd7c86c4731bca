#!/bin/bash
# chaos - trapped calls with random arguments: the keeper survives, the host is unchanged, undo restores the folder.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
use_backend
dir=$(new_folder work)
outside=$(new_folder outside)
echo mine >"$outside/file" && mkdir -p "$HOME/.local" # for the store
cd "$dir" || exit 1
git init -q . && echo a >a && mkdir d && echo e >d/e
before=$(tree .) host=$(tree "$outside" && ls -A "$HOME")
seed=${CHAOS_SEED:-$RANDOM}
out=$(timeout -s KILL 600 "$CORDON" run --headless -- "$TOOLS/escape/chaos" "$seed" "${CHAOS_SECONDS:-6}" 2>/dev/null)
is "$?" 0 "10: the keeper lives, seed $seed"
is "$out" alive "10: and serves to the end"
same "$(tree "$outside" && ls -A "$HOME")" "$host" "10: nothing outside has changed"
ok "10: the undo store is sound" "$CORDON" journal verify
ok "10: the audit log is whole" "$CORDON" audit verify
# All at once: overlapping steps changed the same files, and can only be undone by force.
n=$("$CORDON" log --json | grep -c '"undone":false')
isnt "$n" 0 "10: there is something to undo"
ok "10: all of it is undone" "$CORDON" undo -n "$n" --force
same "$(tree .)" "$before" "10: undo brings the folder back, seed $seed"
done_testing
