#!/bin/bash
# console - the real console in a terminal: from the first command to undo and a clean way out.
# SPDX-License-Identifier: MIT
# drives: undo redo
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
printf 'one\ntwo\nthree\n' >"$dir/file.txt"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
mkdir -p "$dir/.git/hooks"
before=$(tree "$dir")
agent="exec bash --noprofile --rcfile rc -i"

start 130 40 "$dir" "$CORDON run -- sh -c '$agent'"
sees 'ready>' "the agent's shell is in the pane"
sees 'native' "the status shows the backend"
sees '\?.*help|help.*\?' "the hints bar shows how to get help"

type_text 'echo four >>file.txt' && keys Enter
sees '\+?file\.txt' "what it touches shows in the list"
sees 'echo four|file\.txt.*1|1 .*file' "and there is a step"
type_text 'rm file.txt; sh -c "echo x >u.tmp; rm u.tmp; echo made >new.txt"' && keys Enter
sees 'new\.txt' "the next command shows too"
sees '= u\.tmp +as before' "a file that the step made and deleted is as before"
ok "the file is gone" wait_for 10 test ! -e "$dir/file.txt"
type_text 'sh -c "echo x >t.tmp; rm t.tmp"' && keys Enter
sees '= t\.tmp +as before' "and so is one of a command that leaves nothing"

# Help
keys C-] '?'
sees 'Send the prefix key|prefix' "help lists the keys"
keys Escape
loses 'Send the prefix key' "Esc closes it"
sees 'ready>' "back at the pane"

# Approval: a change of a protected path is held and asked about; keys count only after half a second; y, Enter and
# Space never allow.
type_text 'echo evil >.git/hooks/post-checkout; echo status=$?' && keys Enter
sees '\? ASK.*post-checkout' "a protected path is asked about"
ok "nothing is there yet" test ! -e "$dir/.git/hooks/post-checkout"
keys C-] a
sees 'ALLOW writing .*post-checkout' "it is shown"
keys y Enter Space
ok "y, Enter and Space do not allow" test ! -e "$dir/.git/hooks/post-checkout"
press_until 'status=1' "d denies" d
ok "nothing was made" test ! -e "$dir/.git/hooks/post-checkout"
keys C-] t
type_text 'clear; echo good >.git/hooks/post-merge; echo status=$?' && keys Enter
sees '\? ASK.*post-merge' "asked again for another path"
keys C-] a
press_until 'status=0' "a allows" a
is "$(cat "$dir/.git/hooks/post-merge" 2>/dev/null)" good "it was written"

# Steps: open one, look at the diff
keys C-] s
sees 'rm file\.txt|echo four' "the steps list"
keys Home Enter
sees 'file\.txt|post-merge|new\.txt' "a step opens"
keys Escape

# Undo everything with preview and confirmation
keys C-] s
keys Home
press_until 'comes back +file\.txt' "undo shows what will change" u
t=$(content "$dir")
keys y Enter
same "$(content "$dir")" "$t" "nothing happens without the confirming key"
press_until 'undone' "U does it" U
ok "the file is back" wait_for 10 test -e "$dir/file.txt"
loses 'comes back' "the dialog closes"
sees 'rolled back [0-9]+ steps [(][0-9, ]+[)]' "the list says which steps"
keys C-] r
sees 'goes away +file\.txt' "redo shows what will change"
redone() { keys U && wait_for 1 test ! -e "$dir/file.txt"; }
ok "redo takes it away again" wait_for 20 redone
loses 'goes away' "the dialog closes"
sees 'brought back [0-9]+ steps [(][0-9, ]+[)]' "of the redo, too"
like "$(cordon_in "$dir" audit | grep -E ' (undo|redo) ')" "rolled back [0-9]+ steps .*brought back [0-9]+ steps" "as does the audit log"

# One file of a step
keys Home Down Down Enter
sees 'deleted file mode' "the step that removed it opens"
press_until 'comes back +file\.txt' "restore shows what will change" r
ok "and changes nothing yet" test ! -e "$dir/file.txt"
press_until 'Restored, as a step' "U does it" U
loses '╔═' "the dialog closes"
is "$(tail -n 1 "$dir/file.txt" 2>/dev/null)" four "the file is back as it was before the step"
ok "what the step made stays" test -e "$dir/new.txt"
keys Escape
sees 'undo --step' "the restore is a step of its own"
like "$(cordon_in "$dir" audit | grep ' undo ' | tail -n 1)" "restored, as step [0-9]+: undo --step" "which the audit log names"
press_until 'nothing to (re)?do' "nothing more to redo: it says so" r
keys Escape C-] t

# A file that has another name now is not as before.
type_text 'mkdir dir; echo 1 >dir/x' && keys Enter
ok "a file in a directory" wait_for 10 test -e "$dir/dir/x"
type_text 'sh -c "echo more >>dir/x; mv dir moved"' && keys Enter
sees '  echo more .* [+]1$' "a step writes it and moves the directory"
sees '  write +dir/x' "which the activity says"
ok "and no more" screen_lacks '= dir/x'

# The agent ends: the console stays for review; cordon's exit status is the agent's.
type_text 'exit 7' && keys Enter
sees 'x ended with 7' "the console stays when the agent has ended"
ok "and the program runs on" test ! -s "$TEST_TMP/status"
keys C-] q
ended "the exit status is the agent's" 7
terminal_is_sane "after q"
ok "the command line sees the same history" sh -c "cd '$dir' && '$CORDON' log | grep -q ."
undo_whole "$dir" >/dev/null 2>&1 || while cordon_in "$dir" undo >/dev/null 2>&1; do :; done
same "$(tree "$dir" | grep -v ' ./rc ')" "$(printf '%s\n' "$before" | grep -v ' ./rc ')" "and can take all of it back"
done_testing
