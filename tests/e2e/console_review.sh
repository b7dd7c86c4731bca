#!/bin/bash
# console_review - pieces of a turn are kept, reverted and commented, and the agent is told.
# SPDX-License-Identifier: MIT
# drives: keep-hunk keep-all take-back take-back-now bring-back comment send-review review-scope show-review commit-kept blame
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/obeys.sh"
need_sandbox python3 git
dir=$(new_folder work)
has() { grep -q "$1" "$dir/$2"; }
lacks() { ! grep -q "$1" "$dir/$2"; }

printf '#!/bin/sh\nsed -i "1s/$/, edited/" "$1"\n' >"$TEST_TMP/bin/editor" && chmod +x "$TEST_TMP/bin/editor"
git config --global user.name 'A Human' && git config --global user.email human@example.org
git config --global core.editor "$TEST_TMP/bin/editor"
seq 40 >"$dir/a.txt" && git -C "$dir" init -q . && git -C "$dir" add a.txt && git -C "$dir" commit -qm first
begins 110 40
says 'number the lines'
works "sed -i 's/^5\$/five/; s/^35\$/thirty-five/' a.txt; echo new >b.txt; echo x >\"\$(printf 'c\\033[31m')\""

act() { keys "$@"; }
act C-] v
sees 'review  0 of 4 done  number the lines' "the review is of the turn"
sees 'a.txt  \+2 -2' "it lists the files"
sees 'c\\x1b\[31m' "a hostile name is escaped"
act n j j j j j b
sees 'a.txt:5: step [0-9]+, .*number the lines' "b tells which step and prompt wrote a line"
act p
act j b
sees 'a.txt:2: older than the history' "or that it is older"
act y
sees '\+ kept  @@ -2,7' "y keeps a hunk, which folds away"
sees 'review  1 of 4' "and counts"
act u
sees 'neither kept nor taken back' "u says that the next one is still open"
act r
sees 'x taken back  @@ -32,7' "r takes the next one back"
ok "which is as before" has '^35$' a.txt
ok "the kept one stays" has '^five$' a.txt
act p
act u
sees 'review  1 of 4' "u brings it back"
sees 'a.txt: brought back' "and says so"
ok "in the file, too" wait_for 10 has thirty-five a.txt
act r
sees 'review  2 of 4' "and taken back again"
ok "it is as before" wait_for 10 has '^35$' a.txt
sees 'b.txt  \+1' "the next file"
act c
sees 'comment:' "c asks for a comment"
type_text 'use a better name' && keys Enter
sees '> use a better name  \(not sent\)' "which shows"
act s
sees 'message for the agent' "s shows the message"
sees '1.1 b.txt(:1)?: use a better name' "with numbers"
sees 'When a point is handled, run: cordon review done 1.1' "and how to answer"
sees 'I took back what you changed in a.txt' "and what was taken back"
sees '^ s send   q back' "and its keys alone" 15
act s
sees '1.1 b.txt(:1)?: use a better name' "pasted into the agent's prompt"
loses 'message for the agent' "the review closes"
loses 's pastes this' "and so does its message"
keys C-u
act C-] v
sees '> 1.1 use a better name' "it stays in the diff, with its number"
unlike "$(screen)" '\+ kept' "what was kept is not listed again"
act F
sees '\+ kept' "but with F"
act Y
sees 'review  4 of 4' "Y keeps the rest"
tmux_ set -g remain-on-exit off # its pane closes
act C
sees 'Commit this' "C asks before it commits what was kept"
sees 'a.txt +\| 2 \+-' "and shows it"
keys y Enter
sees '\(Enter\)' "git has committed"
keys Enter
sees 'review  4 of 4' "the review is back"
is "$(git -C "$dir" log -1 --format='%s %an')" 'number the lines, edited A Human' "with the prompt, edited, as its message"
is "$(git -C "$dir" show HEAD:a.txt | grep -c 'five\|thirty-five')" 1 "and the kept hunk alone"
sees '\+ committed  @@ -2,7' "what is in HEAD now says so"
act F
loses '\+ (kept|committed)' "F folds it away"
act q
loses 'review  4' "q closes it"

like "$(cordon_in "$dir" report)" 'Turn 1, .*
number the lines
.*sed -i .*
### Undone and redone
.*hunk' "the report has the turn, its commands and what was taken back"

# Edited meanwhile: no external edit is overwritten.
says 'again'
works "sed -i 's/^20\$/twenty/' a.txt"
is_logged() { cordon_in "$dir" log | grep -q "$1"; }
ok "its step has ended" wait_for 20 is_logged twenty
sed -i 's/^twenty$/mine/' "$dir/a.txt"
act C-] v
sees 'review  0 of 1 done  again' "the next turn"
act n
act r
sees 'was edited (in these lines since|from outside)' "an edited hunk is not taken back"
ok "the edit stays" has '^mine$' a.txt
act q
loses 'review  0' "closed"

# While the agent works.
order Stop
sees "did $n" "a hook that tells when the turn is over"
sees 'Turn 2: 1 file; C-\] v reviews it' "a line offers the review"
says 'more'
works "sed -i 's/^10\$/ten/; s/^30\$/thirty/' a.txt"
act C-] v
sees 'review  0 of 2 done  more' "the turn under way"
act n
act r
sees '\? waits to be taken back' "what is taken back waits"
sees '1 waits' "and is counted"
ok "the agent's line stays" has '^ten$' a.txt
act R
sees 'x taken back' "R does not wait"
ok "the other hunk is as before" wait_for 10 has '^30$' a.txt
ok "the first one still waits" has '^ten$' a.txt
order Stop
ok "the turn is over: it is taken back" wait_for 20 has '^10$' a.txt
sees 'review  2 of 2' "and shows"
act t
sees 'all since the session began' "t reviews the whole session"
act q
loses 'review  ' "closed"
keys C-] q
sees '╔═' "q asks"
close_all

# Another session, on a small terminal.
begins 80 24
act C-] v
sees 'review  2 of 2 done  more' "the next session knows it"
sees 'x taken back' "as it was left"
act q
loses 'review  2' "closed"
close_all

# A whole file and its later changes; a mode beside an edit.
begins 110 40
says 'third'
works 'seq 20 >c.txt'
works "sed -i 's/^10\$/ten/' c.txt; chmod 755 c.txt"
act C-] v
sees 'review  0 of 3 done  third' "a mode is a piece beside the hunk"
act n n n r
sees 'x taken back  mode and owner' "which is taken back"
is "$(stat -c %a "$dir/c.txt") $(grep -c ten "$dir/c.txt")" '644 1' "alone"
act n
act y
sees '\+ kept  @@' "the later hunk is kept"
act r
sees 'you kept a later change of this file' "so the file is not taken back with it"
ok "it stays" has ten c.txt
act n
act u
act p
act r
sees 'x taken back  created' "the file is taken back"
sees 'review  3 of 3' "with its later hunk"
ok "it is gone" [ ! -e "$dir/c.txt" ]
act p
act u
sees 'c.txt: brought back' "u brings it back"
ok "with its later hunk" has ten c.txt

# After an undo of the revert the piece is open again, and keys work.
act n
act r
sees 'x taken back  @@' "the hunk is taken back"
act q
loses 'review  ' "closed"
like "$(cordon_in "$dir" log)" 'undo hunk 1 of step [0-9]+ -- c.txt' "the step has the hunk in its name"
act C-] u
sees 'changes back +c.txt' "its undo"
act U
ok "brings it back" wait_for 10 has ten c.txt
loses '╔═' "the dialog closes"
act C-] v
sees 'review  1 of 3 done  third' "the piece is open again"
act n n
act y
sees '\+ kept  @@' "and can be kept"
act u
act p
act n
act r
sees 'x taken back  @@' "or taken back again"
ok "in the file, too" wait_for 10 lacks ten c.txt

# While a step is open, nothing is reverted.
order run 'touch open; sleep 4'
ok "a command runs" wait_for 10 [ -e "$dir/open" ]
act n u
sleep 2.5
ok "u waits for its end" lacks ten c.txt
ok "which brings the hunk back" wait_for 20 has ten c.txt
unlike "$(cordon_in "$dir" audit)" 'still running' "no try is on record"

# A revert that waits for the end of the agent's turn is done when the agent has ended.
order Stop
act q
sees "did $n" "a hook that tells when the turn is over"
says 'last'
works 'echo last >>a.txt'
act C-] v
sees 'review  0 of 1 done  last' "its change"
act n r
sees '\? waits to be taken back' "waits"
order exit
sees 'x taken back' "and is taken back when the agent ends"
ok "in the file, too" lacks last a.txt
close_all
# Committed by git itself: cordon commit finds that, which changes no file that the session watches.
begins 110 40
says 'plain'
works 'echo plain >p.txt'
act C-] v
sees 'review  0 of 1 done  plain' "a new file"
act Y
sees 'review  1 of 1' "is kept"
act F
edits=$(cordon_in "$dir" audit --json | grep -c '"external-edit".*/refs/heads/')
git -C "$dir" add p.txt && git -C "$dir" commit -qm plain
is_seen() { [ "$(cordon_in "$dir" audit --json | grep -c '"external-edit".*/refs/heads/')" -gt "$edits" ]; }
ok "the user commits it" wait_for 20 is_seen
like "$(cordon_in "$dir" commit --yes 2>&1)" 'HEAD has all that you kept' "cordon commit has nothing to do"
sees '\+ committed' "the review says so, without a key"
close_all

# A line with a NUL, beyond the bytes that identify binary files, and one that a diff cuts.
begins 110 40
says 'nul'
works "{ printf '%09000d\\n' 0; printf 'x\\000y\\n'; } >d.txt"
act C-] v
sees 'review  0 of 1 done  nul' "a file with a NUL"
act n j b
sees 'd.txt:1: step [0-9]+, .*nul' "b knows a cut line"
act j b
sees 'd.txt:2: step [0-9]+, .*nul' "and one with a NUL"
close_all

# A session with two folders: a line of the other one.
other=$(new_folder other)
begins 110 40 --rw "$other"
says 'both'
works "echo one >e.txt"
works "mkdir $other/sub; printf 'two\\nthree\\n' >$other/sub/b.txt"
act C-] v
sees 'sub/b.txt  \+2' "a file of the other folder"
act / && type_text 'three' && keys Enter
act b
sees 'sub/b.txt:2: step [0-9]+, .*both' "b knows its step and prompt"
close_all
like "$(cordon_in "$other" blame sub/b.txt:2)" 'step +[0-9]+,.*printf' "as cordon blame does there"

[ "$failed" = 0 ] || cordon_in "$dir" audit | grep -E '  (undo|external-edit|step) ' | sed 's/^/# /'
done_testing
