#!/bin/bash
# undo_words - arguments of `cordon undo`: one meaning for each number, and a plan while a session runs.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
refused() { # ARGUMENTS STATUS REGEX NAME
	local out
	# shellcheck disable=SC2086 # several words
	out=$(cordon_in "$dir" undo $1 2>&1)
	is "$?" "$2" "undo $1: is refused"
	like "$out" "^cordon: $3" "$4"
	is "$(wc -l <<<"$out")" 1 "in one line"
}
steps() { cordon_in "$dir" log --json | wc -l; }

refused "-n 1" 1 ".* has no steps: there is nothing to undo" "with no history there is nothing"
for n in 1 2 3 4; do
	ok "step $n" in_folder "$dir" sh -c "echo $n >f$n"
done
is "$(steps)" 4 "four steps"

# ---- what is refused ------------------------------------------------------------------------------
refused 3 125 "undo 3: say which you mean: .-n 3. .* 3 steps, .--step 3. .* step 3 alone" "a bare number names both readings"
refused 1 125 "undo 1: say which you mean: .-n 1. undoes the newest step, .--step 1. undoes step 1 alone" "one step is one"
refused -3 125 "undo 3: say which you mean: .-n 3. .* 3 steps, .--step 3. .* step 3 alone" "nor is a sign a minus"
refused "-n -3" 125 "undo 3: say which you mean: .-n 3. " "a count with a sign names both readings"
refused "--step -2" 1 "there is no step -2: type 2, as .cordon log. and the console show it" "a step with the wrong sign"
refused "--to -2" 1 "there is no step -2: type 2, " "back to one"
out=$(cordon_in "$dir" diff -2 2>&1)
like "$out" "^cordon: there is no step -2: type 2, " "the diff of one"
out=$(cordon_in "$dir" diff 1..-2 2>&1)
like "$out" "^cordon: there is no step -2: type 2, " "or of a range to one"
refused "-n 9" 1 "undo -n 9: there are only 4 steps to undo" "more than there are: how many there are"
refused "-n 0" 125 "option '-n': '0' is not a count" "no steps"
refused "-n x" 125 "option '-n': 'x' is not a count" "no number"
refused "-n" 125 "option '-n': needs a value: -n N" "no value"
refused "-n 1 --to 2" 125 "-n and --to: .*one of them" "two ways to say which"
refused "--turn --step 2" 125 "--turn and --step: .*one of them" "nor --turn with another"
refused "--step 2 --merge" 125 "--step: .*whole steps" "a merge of one step"
refused "--to 9" 1 "there is no step 9" "a step that is not there"
refused "--to 4" 1 "step 4 is the newest" "back to the newest"
refused "--turn" 1 "--turn: step 4 was made without a console.*use -n or --to" "a headless run has no turns"
refused "f1" 125 "'f1': not an option.*--step STEP -- PATH" "a path without a step"
refused "-- f1" 125 "paths are of one step" "nor behind --"
out=$(cordon_in "$dir" redo 2 2>&1)
like "$out" "^cordon: '2': redo takes no number" "redo takes none"
out=$(cordon_in "$dir" redo -2 2>&1)
like "$out" "^cordon: '-2': redo takes no number" "with a sign, too"
out=$(cordon_in "$dir" redo -n 2 2>&1)
like "$out" "^cordon: '-n': redo takes no number.* a second redo" "and -n, which says what to do"
out=$(cordon_in "$dir" redo --all-places 2>&1)
like "$out" "^cordon: unknown option '--all-places'" "nor --all-places"
is "$(steps)" 4 "nothing was undone"

# ---- meanings -------------------------------------------------------------------------------------
audited() { cordon_in "$dir" audit --json | sed -nE 's/.*"event":"(undo|redo)".*"detail":"([^"]*)".*/\2/p' | tail -n 1; }
like "$(cordon_in "$dir" undo)" "^undone: step 4, 1 path" "undo: the newest"
like "$(audited)" "^rolled back step 4: " "the audit log names it"
like "$(cordon_in "$dir" undo -n 2)" "^undone: steps 3 2, 2 paths" "-n 2: the newest two"
like "$(audited)" "rolled back 2 steps .3, 2.$" "of which the audit log names both"
ok "redo" cordon_in "$dir" redo
like "$(audited)" "brought back 2 steps .3, 2.$" "of the redo, too"
like "$(cordon_in "$dir" undo --to 2)" "^undone: step 3, 1 path" "--to 2: what is newer than step 2"
ok "redo" cordon_in "$dir" redo
like "$(cordon_in "$dir" undo --step 2)" "^restored: as before step 2, 1 path, by step 5$" "--step 2: that alone"
like "$(audited)" "^restored, as step 5: undo --step 2" "the audit log has its own number"
ok "its file is gone, the newer one is not" test ! -e "$dir/f2" -a -e "$dir/f3"
like "$(cordon_in "$dir" undo --dry-run)" "^M +changes +[.][[:space:]]" "the folder's own times have a name in the plan"
like "$(cordon_in "$dir" undo)" "^undone: step 5, " "as a step that can be undone"
like "$(audited)" "^rolled back step 5: undo --step 2" "which the audit log does not call a restore"
like "$(cordon_in "$dir" undo --step 3)" "^undone: step 3, 1 path" "--step of the newest is an undo"
ok "which redo brings back" cordon_in "$dir" redo
ok "all" test -e "$dir/f1" -a -e "$dir/f2" -a -e "$dir/f3"

# ---- while a session runs -------------------------------------------------------------------------
start_in "$dir" sh -c 'echo x >running; while [ ! -e stop ]; do sleep 0.1; done'
ok "a session runs" wait_for 20 test -e "$dir/running"
out=$(cordon_in "$dir" undo --dry-run 2>&1)
is "$?" 0 "undo --dry-run works beside it"
like "$out" "^D  goes away   f3" "and says what would change"
out=$(cordon_in "$dir" undo --dry-run --step 2 2>&1)
like "$out" "^D  goes away   f2" "of one step, too"
cordon_in "$dir" undo >/dev/null 2>&1
isnt "$?" 0 "undo itself does not"
touch "$dir/stop"
wait "$pid"
done_testing
