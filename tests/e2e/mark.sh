#!/bin/bash
# mark - restore points: named, undone to, kept from pruning, removed.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
step() { cordon_in "$dir" run --headless -- sh -c "$1" >/dev/null 2>&1 || fail "a step" "$1"; }
ids() { cordon_in "$dir" log --json | sed -n 's/^{"id":\(-\{0,1\}[0-9]\{1,\}\),.*/\1/p' | wc -l; }

out=$(cordon_in "$dir" mark first 2>&1)
is "$?" 1 "a folder without history has no moment to go back to: $out"
step 'echo 1 >a'
ok "a moment gets a name" cordon_in "$dir" mark 'before the rewrite'
before=$(tree "$dir")
out=$(cordon_in "$dir" diff --since-mark 'before the rewrite' 2>&1)
like "$out" "nothing has changed since 'before the rewrite'" "nothing has changed yet"
step 'echo 2 >a' && step 'echo 3 >b'
out=$(cordon_in "$dir" mark)
like "$out" 'before the rewrite  2 steps since' "the list has it"
is "$(cordon_in "$dir" mark --json | sed 's/"time_us":[0-9]*/T/')" '{"name":"before the rewrite","after":1,T,"steps":2}' "as JSON"
out=$(cordon_in "$dir" mark 'before the rewrite' 2>&1)
is "$?" 1 "a name is given once: $out"
out=$(cordon_in "$dir" mark "$(printf 'a\033[31m')" 2>&1)
is "$?" 1 "no name has control characters"
out=$(cordon_in "$dir" diff --since-mark 'before the rewrite')
like "$out" '\+2.*\+3' "the diff since then is of both steps"
like "$out" '-1' "and of the state before"
ok "undo goes back" cordon_in "$dir" undo --to-mark 'before the rewrite'
is "$(tree "$dir")" "$before" "to that moment"
out=$(cordon_in "$dir" undo --to-mark 'before the rewrite' 2>&1)
is "$?" 1 "there is no more to undo: $out"
ok "redo brings it back" cordon_in "$dir" redo
is "$(cat "$dir/b")" 3 "all of it"
out=$(cordon_in "$dir" undo --to-mark other 2>&1)
like "$out" "no restore point 'other'" "another name is refused"

# Pruning: steps newer than the oldest mark stay, whatever the limit.
mkdir -p "$HOME/.config/cordon"
printf '[journal]\n\tsteps = 2\n' >"$HOME/.config/cordon/config"
for i in 1 2 3 4; do step "echo $i >c"; done
is "$(ids)" 6 "six steps since the mark stay where the limit is two"
out=$(cordon_in "$dir" log --prune --keep 0 --yes 2>&1)
is "$(ids)" 6 "nor does one remove them by hand: $out"
ok "undo goes back over all of them" cordon_in "$dir" undo --to-mark 'before the rewrite'
is "$(tree "$dir")" "$before" "to that moment"
ok "redo" cordon_in "$dir" redo
ok "it is removed" cordon_in "$dir" mark --remove 'before the rewrite'
out=$(cordon_in "$dir" mark --remove 'before the rewrite' 2>&1)
is "$?" 1 "once"
step 'echo 5 >c'
is "$(ids)" 3 "then the limit counts, where a session begins"

# While a session uses the folder.
cordon_in "$dir" run --headless -- sh -c 'echo 6 >c; until [ -e go ]; do sleep 0.05; done; echo 7 >c' >/dev/null 2>&1 &
run=$!
ok "a session runs" wait_for 20 grep -q 6 "$dir/c"
ok "a moment is named meanwhile" cordon_in "$dir" mark 'while it runs'
touch "$dir/go"
wait $run
like "$(cordon_in "$dir" mark)" 'while it runs' "it is there after the session"
head -c 300 /dev/urandom >"$(dirname "$(find "$HOME/.local/state/cordon" -name marks | head -n 1)")/marks"
step 'echo 8 >c'
like "$(cordon_in "$dir" mark 2>&1)" 'restore points of' "a damaged file is named"
done_testing
