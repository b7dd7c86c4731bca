#!/bin/bash
# console_undo - undo in the console while a command runs: the command is named, and can be stopped first.
# SPDX-License-Identifier: MIT
# drives: confirm stop step-alone
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
PATH=$(dirname "$CORDON"):$PATH
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
echo one >"$dir/file"
before=$(tree "$dir")

start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text 'sh -c "echo two >file; (trap \"\" TERM; sleep 600) & sleep 700"' && keys Enter
ok "a command changes a file and goes on" wait_for 20 grep -q two "$dir/file"
sees 'steps .*|echo two' "its step shows"

# From another terminal: it names the session that has the folder, and where to undo.
out=$(cordon_in "$dir" undo 2>&1)
is "$?" 1 "cordon undo from elsewhere is refused"
like "$out" "^cordon: another cordon \(process [0-9]+\).*console" "and says who has the folder, and where to undo"

keys C-] s
keys End
press_until "echo two.*\(process [0-9]+\) is still running" "undo names the command and its process" u
ok "nothing has happened" grep -q two "$dir/file"
keys q
loses "is still running" "it may go on"
ok "it does" grep -q two "$dir/file"
press_until "is still running" "asked again" u
press_until 'changes back +file' "S stops it, and the plan shows" S
press_until 'undone' "U does it" U
ok "the file is back" wait_for 10 grep -q one "$dir/file"
loses '╔═' "the dialogs close"
keys C-] t
sees 'Killed|Stopped' "the shell saw its command end"

# An agent continues after its command was stopped: its next command is asked about again.
type_text 'clear; sh -c "echo first >file; sleep 600"; sh -c "echo second >other; sleep 600"' && keys Enter
ok "the first of two commands" wait_for 20 grep -q first "$dir/file"
keys C-] s
keys End
press_until "echo first.*is still running" "is named" u
until_keys_count
keys S # once: another one, should the next question be there late, would stop that as well
sees "echo second.*is still running" "stopped, the next one is" 30
ok "which was left running" wait_for 10 grep -q second "$dir/other"
press_until 'goes away +other' "stopped too, the plan is of both" S
until_keys_count
both_undone() { keys U && wait_for 1 test ! -e "$dir/other" && grep -q one "$dir/file"; }
ok "and U undoes them" wait_for 20 both_undone
loses '╔═' "the dialogs close"
keys C-] t

# A step begun by a process inside counts as running, too.
type_text 'clear; cordon step begin together; echo three >file; sh -c "echo x >x"' && keys Enter
ok "a group of commands" wait_for 20 test -s "$dir/x"
keys C-] s
keys End
press_until "step 'together' is still open" "is named" u
press_until 'goes away +x' "S closes it" S
until_keys_count
undone() { keys U && wait_for 1 test ! -e "$dir/x"; }
ok "U undoes it" wait_for 20 undone
loses '╔═' "the dialogs close"
keys C-] t
type_text 'clear; cordon step end; echo status=$?' && keys Enter
sees 'no step is open' "and it is no longer open"

# A step that was undone before a newer step stays undone when the newer one is undone, too.
for n in a b c; do
	type_text "clear; sh -c 'echo $n >$n.txt'" && keys Enter
	sees "echo $n >$n.txt +(\+1|1 path)" "a step: $n"
	[ $n = a ] || { keys C-] u && sees "goes away +$n.txt" "an undo of $n"; }
	[ $n = a ] || press_until "echo $n >$n.txt +- undone" "U does it" U
	[ $n = a ] || loses '╔═' "the dialogs close"
	keys C-] t
done
sees 'echo b >b.txt +- undone' "the step before the newest is listed as undone"

# The diff beside the list needs descriptors of the history, and memory: both are released with the focus.
reads_history() { find "/proc/$(session_pid)/fd" -lname '*/steps/*' -o -lname '*/redo/*' | grep -q .; }
reads_nothing() { ! reads_history; }
if [ "$(id -u)" = 0 ]; then
	keys C-] s
	ok "the list of steps shows a diff" wait_for 15 reads_history
	keys C-] t
	ok "which is closed when the agent has the focus" wait_for 15 reads_nothing
else
	skip "the diff is closed" "only root may look at the console's descriptors"
fi
keys C-] s
keys End k
press_until 'no redo brings it back' "which is not promised to come back" u
keys k
press_until 'Rolls back step [0-9]+: 1 path' "an undo of the one before is of that alone" u
press_until 'echo a >a.txt +- undone' "and works" U
loses '╔═' "the dialogs close"
keys C-] t
type_text 'exit 0' && keys Enter
sees 'x ended with 0|ended' "the shell ends"
keys C-] q
ended "cordon too" 0
same "$(tree "$dir")" "$before" "everything is as it was"

# A protected file that was moved away is restored as another file than the one that the agent still holds. No history
# of the session is pruned.
mkdir -p "$dir/.git/hooks" && echo human >"$dir/.git/hooks/pre-commit"
start 130 40 "$dir" "$CORDON run --set journal.steps=2 -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane, with a history of two steps"
type_text "clear; sh -c 'mv .git/hooks/pre-commit x'; exec 9<>x" && keys Enter
sees "mv .git/hooks/pre-commit x" "a hook is moved away"
for n in 1 2 3; do
	type_text "clear; sh -c 'echo $n >n$n'" && keys Enter
	sees "echo $n >n$n +(\+1|1 path)" "a step: $n"
done
keys C-] s
keys Home /
type_text 'mv .git' && keys Enter
press_until 'comes back +.git/hooks/pre-commit' "all of it is to be undone" u
press_until 'mv .git/hooks/pre-commit x +- undone' "U does it" U
ok "the hook is back" wait_for 10 test -s "$dir/.git/hooks/pre-commit"
sees 'new file at .*pre-commit' "and it is said that it is a new file"
keys C-] t
type_text 'clear; echo EVIL >&9; echo wrote' && keys Enter
sees '^.?wrote' "the agent writes to what it holds"
is "$(cat "$dir/.git/hooks/pre-commit")" human "the hook is the human's"
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0

# An older step alone: the newer one, in another file, stays.
dir=$(new_folder alone)
start 130 40 "$dir" "$CORDON run -- bash --noprofile --norc"
for n in 1 2; do
	type_text "clear; sh -c 'echo $n >n$n'" && keys Enter
	sees "echo $n >n$n +\+1" "a step: $n"
done
keys C-] s
keys Home /
type_text 'echo 1' && keys Enter
press_until 'Rolls back 2 steps .*' "undo takes the newer one, too" u
sees 'Step [0-9]+ alone: o' "unless a key says so"
press_until 'Undoes step [0-9]+ alone, as a new step' "the plan has the one step" o
press_until '- undid step [0-9]+ alone \(step [0-9]+\)' "U does it" U
is "$(ls "$dir")" n2 "its file is gone, the newer one is not"
loses '╔═' "the dialog closes"
keys End
press_until 'Rolls back step [0-9]+: ' "the newest step is that undo" u
press_until '- undone' "which can be undone" U
ok "the file is back" wait_for 10 test -e "$dir/n1"
keys C-] t
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
done_testing
