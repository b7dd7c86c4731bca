#!/bin/bash
# console_edits - an external edit is shown between the steps, can be opened, and is merged by an undo.
# SPDX-License-Identifier: MIT
# drives: merge
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
printf '%s\n' one two three four five six foo >"$dir/file"

start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text "sed -i s/foo/bar/ file" && keys Enter
sees 'sed -i s/foo/bar/ file .*\+1 -1' "a command changes a file"
printf '%s\n' one 2 three four five six bar >"$dir/file"
sees '! +file +! 1 edited' "an edit from outside shows between the steps"
keys C-] s
keys End Enter
sees '2 - two' "opened, what was there before"
sees '2 \+ 2' "and what is there now"
keys q
sees 'Enter open' "back to the list"
keys k
press_until 'edited since by you or another program' "an undo of the step says what is in the way" u
sees '! [0-9:]+ after step 1: file' "and where in the history"
press_until 'merges what both' "M asks for the merge" M
keys U
sees 'what the merge will write' "U shows its result"
sees '7 - bar' "what goes"
sees '7 \+ foo' "what comes"
ok "and nothing is written yet" grep -qx bar "$dir/file"
press_until 'undone' "U once more writes it" U
ok "both sides' work is there" wait_for 10 grep -qx foo "$dir/file"
is "$(sed -n 2p "$dir/file")" 2 "the human's too"
loses '╔═' "the dialogs close"
keys C-] t
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
is "$(cat "$dir/file")" "$(printf '%s\n' one 2 three four five six foo)" "and so it stays"
done_testing
