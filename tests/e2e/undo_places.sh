#!/bin/bash
# undo_places - an undo leaves an agent's own folder alone, unless the user asks for all places.
# SPDX-License-Identifier: MIT
# drives: all-places
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
own=$HOME/.claude/projects/p
mkdir -p "$own"
echo 0 >"$own/s.jsonl"
echo one >"$dir/file"
log_is() { [ "$(tr -d '\n' <"$own/s.jsonl")" = "$1" ]; }
file_is() { [ "$(cat "$dir/file")" = "$1" ]; }

start 130 40 "$dir" "$CORDON run --profile claude -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text "clear; sh -c 'echo 1 >>~/.claude/projects/p/s.jsonl; echo two >file; echo t >~/.claude/projects/p/t; rm ~/.claude/projects/p/t'"
keys Enter
sees '(write|A|M) +file' "a step changes the folder, and what the agent notes down"
ok "both" wait_for 10 log_is 01
keys C-] s
press_until 'changes back +file' "the preview has the file" u
sees '1 outside the folder stays' "and says that the note stays"
press_until 'undone' "U does it" U
ok "the file is back" wait_for 10 file_is one
ok "the note stays" log_is 01
loses '╔═' "the dialogs close"
press_until 'changes +file' "redo" r
press_until '\+1 -1$' "U does it" U
ok "the file is as the step left it" wait_for 10 file_is two
ok "the note, too" log_is 01
loses '╔═' "the dialogs close"

# With the key of the preview everything is undone: in place, outside the folder, while the session runs.
press_until 'changes back +file' "the preview again" u
press_until 'changes back .*s\.jsonl' "P takes the other places along" P
press_until 'undone' "U does it" U
ok "the file is back" wait_for 10 file_is one
ok "so is the note" wait_for 10 log_is 0
loses '╔═' "the dialogs close"
press_until 'changes +file' "redo" r
press_until '\+1 -1$' "U does it" U
ok "brings back both" wait_for 10 log_is 01
ok "the file" wait_for 10 file_is two
loses 'interrupted' "nothing was interrupted"

# A step without changes in this folder is not the one to undo.
keys C-] t
type_text "clear; sh -c 'echo 2 >>~/.claude/projects/p/s.jsonl'"
keys Enter
ok "a step that notes something down, and no more" wait_for 10 log_is 012
sees "echo 2 >>.*outside" "shows"
keys C-] s
press_until 'changes back +file' "u in the list is about the newest that changed the folder" u
keys q
loses '╔═' "the dialog closes"
keys j
press_until 'This step changed nothing in the project, only files elsewhere: P undoes those' "chosen, its own preview says so" u
like "$(cordon_in "$dir" log)" 'echo 2 .*outside the folder' "so does the log"
unlike "$(cordon_in "$dir" log)" 'echo two .*outside the folder' "of no other step"
like "$(cordon_in "$dir" log)" ' ~1 1 outside +echo 1 .*echo two' "though it counts a command's files there"
sees 'P other places too +q cancel' "and offers them"
unlike "$(screen)" 'U do it' "and nothing to confirm"
keys P
sees 'changes back .*s\.jsonl' "P shows them"
sees 'U do it +P leave other places' "with U"
keys q
loses '╔═' "the dialog closes"
keys C-] t
press_until 'changes back +file' "C-] u is about the step before" C-] u
press_until 'undone' "U does it" U
ok "the file is back" wait_for 10 file_is one
ok "the notes stay" log_is 012
loses '╔═' "the dialogs close"
keys C-] t
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0

# From a shell.
ok "redo" cordon_in "$dir" redo
ok "the file again" file_is two
out=$(cordon_in "$dir" undo --dry-run)
like "$out" 's.jsonl   outside the folder: stays as it is \(--all-places undoes it\)' "undo --dry-run says what stays"
diff=$(cordon_in "$dir" diff)
like "$diff" '[+]two' "diff shows the newest step that changed the folder, as undo takes it"
unlike "$diff" 's\.jsonl.*[+]2' "and not the later one that changed only notes"
like "$(cordon_in "$dir" undo)" '; 1 left as it is \(1 outside the folder\)$' "undo says where the others are"
ok "the file is back" file_is one
ok "the notes stay" log_is 012

# The temporary file of a save elsewhere is gone, and no part of it stays.
saves() { (cd "$dir" && "$CORDON" run --headless --profile claude -- sh -c "$1"); }
ok "a step begins to save" saves 'echo 1 >~/.claude/projects/p/x.tmp.7; echo 1 >f1'
ok "the next one ends it" saves 'mv ~/.claude/projects/p/x.tmp.7 ~/.claude/projects/p/x; echo 2 >f2'
out=$(cordon_in "$dir" undo --dry-run)
like "$out" 'projects/p/x   outside the folder: stays' "what was saved stays"
unlike "$out" 'x\.tmp\.7' "the file that carried it is not listed"
ok "both are undone" cordon_in "$dir" undo -n 2
ok "here" test ! -e "$dir/f1" -a ! -e "$dir/f2"
is "$(cat "$own/x")" 1 "and not elsewhere"

# A new step, in a run without a console.
noted() { (cd "$dir" && "$CORDON" run --headless --profile claude -- sh -c 'echo 3 >>~/.claude/projects/p/s.jsonl; echo three >file'); }
ok "another step" noted
ok "which notes something down" log_is 0123
like "$(cordon_in "$dir" undo)" $'\nTo undo what lies outside, too: cordon redo, then cordon undo --all-places$' "undo says how to undo that"
ok "the note stays" log_is 0123
ok "redo" cordon_in "$dir" redo
ok "undo --all-places" cordon_in "$dir" undo --all-places
ok "takes the file back" file_is one
ok "and the note" log_is 012
ok "redo" cordon_in "$dir" redo
ok "brings back the file" file_is three
ok "and the note" log_is 0123
mkdir -p "$HOME/.config/cordon"
printf '[undo]\n\thome = true\n' >"$HOME/.config/cordon/config"
ok "undo, with undo.home = true" cordon_in "$dir" undo
ok "is of all places" log_is 012

# ---- what an agent notes down ends no redo ----------------------------------------------------------
rm -f "$HOME/.config/cordon/config"
notes() { cordon_in "$dir" run --headless --profile claude -- sh -c "echo $1 >>~/.claude/projects/p/s.jsonl"; }
for n in 1 2 3; do ok "step $n" cordon_in "$dir" run --headless -- sh -c "echo $n >n$n"; done
ok "two are undone, one after the other" cordon_in "$dir" undo
ok "the other" cordon_in "$dir" undo
ok "the agent writes its notes" notes a
ok "again" notes b
ok "redo brings the one back" cordon_in "$dir" redo
ok "it is there, the other is not" test -e "$dir/n2" -a ! -e "$dir/n3"
ok "notes once more" notes c
ok "redo brings the other back" cordon_in "$dir" redo
ok "both are there" test -e "$dir/n2" -a -e "$dir/n3"
ok "and can be undone again" cordon_in "$dir" undo -n 2
ok "they are gone" test -e "$dir/n1" -a ! -e "$dir/n2" -a ! -e "$dir/n3"
like "$(tr -d '\n' <"$own/s.jsonl")" 'abc$' "the notes are all there"
ok "a step that changes the folder ends it" cordon_in "$dir" run --headless -- touch new
cordon_in "$dir" redo >/dev/null 2>&1 && fail "nothing can be redone then"
pass "nothing can be redone then"
done_testing
