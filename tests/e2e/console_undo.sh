#!/bin/bash
# console_undo - undo in the console while a command runs: it is named and stopped first, if one likes.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/tmux.sh"
need tmux
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

# From another terminal: who has it, and where it can be undone.
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

# A step that those inside have begun counts as running too.
type_text 'clear; cordon step begin together; echo three >file; sh -c "echo x >x"' && keys Enter
ok "a group of commands" wait_for 20 test -s "$dir/x"
keys C-] s
keys End
press_until "step 'together' is still open" "is named" u
press_until 'goes away +x' "S closes it" S
undone() { keys U && wait_for 1 test ! -e "$dir/x"; }
ok "U undoes it" wait_for 20 undone
loses '╔═' "the dialogs close"
keys C-] t
type_text 'clear; cordon step end; echo status=$?' && keys Enter
sees 'no step is open' "and it is no longer open"
type_text 'exit 0' && keys Enter
sees 'x ended with 0|ended' "the shell ends"
keys q
ended "cordon too" 0
same "$(tree "$dir")" "$before" "everything is as it was"
done_testing
