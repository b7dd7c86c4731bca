#!/bin/bash
# console_dialogs - several requests, a note to the agent, an undo over an edit, a restore, a shell meanwhile.
# SPDX-License-Identifier: MIT
# drives: cancel (an undo is at work for a moment only: tests/screen/test_ui.c presses it then)
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
start 130 40 "$dir" "PS1='shell> ' bash --noprofile --norc -i"
sees 'shell>' "a shell"
seq 5 >"$dir/long"
type_text "$CORDON run -- bash --noprofile --rcfile rc -i" && keys Enter
sees 'ready>' "a session"
type_text 'clear; for i in applypatch-msg post-update; do echo >.git/hooks/$i & done; wait; echo done=$?' && keys Enter
sees '\? 2 waiting' "two requests"
keys C-] a
sees 'ALLOW writing' "the dialog"
act next-request n
act prev-request p
sees 'ALLOW writing' "either is looked at"
act note w
sees 'why, for the agent' "a note is typed"
type_text 'not yours' && keys Enter
press_until 'done=0' "with the denial" d
act paste-note C-] p
sees 'not yours' "the note is pasted into the agent's prompt"
keys C-] t C-c
type_text 'clear; seq 3 >mine' && keys Enter
sees 'seq 3 .*\+3' "a step, which has ended"
echo edited >>"$dir/mine"
sees '! +mine +! 1 edited' "an edit from outside"
act focus-steps C-] s
act bottom G
keys u
sees 'Rolls back|changed since' "its undo"
act force F
press_until '[Uu]ndone|at work|Rolled|rolled' "F goes over the edit" F
ok "the file is gone" wait_for 10 test ! -e "$dir/mine"
act suspend C-] C-z
sees 'Stopped' "the shell has the terminal"
type_text 'fg' && keys Enter
sees 'steps ━' "and gives it back"
keys C-] t
type_text 'clear; sed -i s/2/y/ long' && keys Enter
sees 'sed -i s/2/y/ long .*\+1 -1' "another step"
act focus-steps C-] s
act bottom G
act open Enter
sees '\+ y' "its diff"
act restore r
sees 'Restores 1 path' "what comes back is shown"
press_until 'brought back|Restored|restored' "and confirmed" U
ok "it is as it was" wait_for 10 sh -c "! grep -q y '$dir/long'"
keys Escape Escape C-] q Q
sees '^shell>$' "the shell again"
type_text 'exit' && keys Enter
ended "and it ends" 143
done_testing
