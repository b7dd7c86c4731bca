#!/bin/bash
# safeguard - a step that deletes or overwrites too much is held in the console: every answer, and every end.
# SPDX-License-Identifier: MIT
# drives: allow-command
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mark=$(new_mark)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
agent="exec bash --noprofile --rcfile rc -i"
fill() { # - 200 files that were there before
	rm -rf "$dir/many" && mkdir "$dir/many"
	(cd "$dir/many" && seq -f 'f%03g' 200 | xargs touch)
}
count() { find "$dir/many" -type f 2>/dev/null | wc -l; }
count_is() { [ "$(count)" = "$1" ]; }
console() { # OPTIONS - a shell in the console
	start 130 40 "$dir" "$CORDON run $1 -- sh -c '$agent' $mark"
	sees 'ready>' "a shell in the console ($1)"
}
leave() { # the shell ends, then cordon
	type_text 'exit' && keys Enter
	sees 'ended with' "the shell ends"
	keys C-] q
	wait_for 15 test -s "$TEST_TMP/status"
}
cordons() { pgrep -f -- "^$CORDON run .*$mark"; } # the keeper and its helpers, too

# Held at the limit, and denied.
fill
before=$(tree "$dir")
console ""
type_text 'rm -rf many; echo status=$?' && keys Enter
sees '\? HELD delete rm -rf many' "rm -rf is held and announced"
ok "49 files are gone, no more" count_is 151
keys Enter Space y a d C-u
is "$(count)" 151 "what is typed goes to the agent and answers nothing"
keys C-] a
sees 'HELD 1 of 1' "the dialog"
sees 'deleted +49: many/f' "says what is gone"
keys i
sees 'waiting +1 call: delete many/f' "and what waits"
keys y Enter Space
is "$(count)" 151 "y, Enter and Space do not allow"
press_until 'stopped and rolled back' "d denies, and the human is told" d
sees 'status=137' "the command was ended"
same "$(tree "$dir")" "$before" "everything is back as it was"
keys C-] s
sees 'undone' "the step is listed as undone"
# Redo restores the step.
keys r
sees 'goes away +many/' "redo shows it"
keys Escape
loses 'goes away' "and is closed"
keys C-] t

# Another step continues while one is held; undo says why it cannot run.
type_text 'clear; (rm -rf many; echo ended) & sleep 0.2; echo $((6*7)) >other.txt; wait' && keys Enter
sees '\? HELD delete.* answers' "held again" # the list has the first one, too
sees 'other.txt +\+1' "another step goes on, and is kept"
keys C-] u
sees 'held by a safeguard' "undo says that an answer is needed first"
keys Escape
loses 'held by a safeguard' "Esc closes that"
keys C-] a
sees 'HELD 1 of' "the dialog"
press_until 'this step goes on|ended' "a allows" a
sees 'ended' "it goes on to its end"
ok "all of them are gone" count_is 0
leave
undo_whole "$dir" >/dev/null 2>&1 || while cordon_in "$dir" undo >/dev/null 2>&1; do :; done
same "$(tree "$dir")" "$before" "and undo has them all"

# This command line, until the session ends.
fill
before=$(tree "$dir")
console ""
type_text 'rm -rf many; echo one-$?' && keys Enter
sees '\? HELD delete' "held"
keys C-] a
sees 'HELD 1 of 1' "the dialog"
press_until 'one-0' "A c allows it" A c
keys C-] t
fill
type_text 'rm -rf many; echo two-$?' && keys Enter
sees 'two-0' "the same command line is not asked about again"
fill
type_text 'rm -r many; echo three-$?' && keys Enter
sees '\? HELD delete.* answers' "another one is"
keys C-] V
sees '\+ ALLOW .*command line to delete more, for this session: rm -rf many' "the answer that counts on is listed"
keys x
sees 'Taken back' "and can be taken back"
sees '- over' "then it is over"
keys q
keys C-] a
press_until 'three-0' "the other is allowed for its step" a
keys C-] t
fill
type_text 'clear; rm -rf many; echo four-$?' && keys Enter
sees '\? HELD delete rm -rf many.* answers' "and the first one is asked about again"

# Leaving while it is held ends the whole session, keeps the step and restores the terminal.
keys C-] q
sees 'still runs' "leaving asks"
leaves "Q ends the program"
terminal_is_sane "after leaving"
ok "nothing of it is left" wait_for 10 sh -c "! pgrep -f -- '^$CORDON run .*$mark' >/dev/null"
# Files that fill has just made outside may be noted as external edits, which undo does not cross.
ok "what it did can be undone" cordon_in "$dir" undo --force
ok "and is" count_is 200

# No answer in time.
fill
before=$(tree "$dir")
console "--set safeguard.timeout=15"
type_text 'rm -rf many; echo status=$?' && keys Enter
sees '\? HELD delete' "held"
keys C-] a
sees 'Denied by itself in' "the dialog counts down"
sees 'status=137' "then it is denied" 45
sees 'nobody answered in time' "which is said"
loses '\? HELD' "and it is asked no more"
is "$("$CORDON" pending)" "" "elsewhere neither"
same "$(tree "$dir")" "$before" "and taken back"
keys C-] t
leave

# Changes that cannot be captured are held, too: the limit is raised, or the step continues without undo.
head -c 300k /dev/urandom >"$dir/large"
large=$(sha256sum <"$dir/large")
console "--set journal.step-size=100k"
type_text 'echo more >>large; echo status=$?' && keys Enter
sees '\? HELD lose echo|\? HELD lose' "a write beyond journal.step-size is held"
keys C-] a
sees 'cannot be undone: 300' "the dialog says what would be lost"
sees 'raise the limit' "and offers to raise the limit"
press_until 'stopped and rolled back' "d stops it" d
same "$(sha256sum <"$dir/large")" "$large" "nothing was written"
keys C-] t
type_text 'clear' && keys Enter
type_text 'echo more >>large; echo status=$?' && keys Enter
sees '\? HELD lose.* answers' "held again"
keys C-] a
sees 'raise the limit' "the dialog"
press_until 'status=0' "a raises it" a
leave
isnt "$(sha256sum <"$dir/large")" "$large" "it was written"
ok "undo" cordon_in "$dir" undo
same "$(sha256sum <"$dir/large")" "$large" "undo has it"
console "--set journal.step-size=100k"
type_text 'echo more >>large; echo status=$?' && keys Enter
sees '\? HELD lose' "held"
keys C-] a
sees 'without undo' "the dialog"
press_until 'status=0' "A c goes on without undo" A c
leave
like "$(cordon_in "$dir" log | sed -n 2p)" "unprotected from here: write .large" "and the step says so"
rm "$dir/large"

# A run that is one step ends as a whole.
fill
before=$(tree "$dir")
console "--steps one"
type_text 'echo made >made; rm -rf many; echo status=$?' && keys Enter
sees '\? HELD delete' "a run of one step is held"
keys C-] a
sees 'ends the agent' "the dialog says what a denial ends"
press_until 'ended by signal 9' "d ends the agent" d
sees 'stopped and rolled back|- undone' "and rolls all of it back"
same "$(tree "$dir")" "$before" "everything is as it was"
keys C-] q
ended "q leaves" 137

# SIGTERM while it is held.
console ""
type_text 'rm -rf many' && keys Enter
sees '\? HELD delete' "held"
kill -TERM "$(cordon_of "^$CORDON run .*$mark")"
ended "SIGTERM ends it" 143
ok "undo" cordon_in "$dir" undo
same "$(tree "$dir")" "$before" "nothing is lost"

# SIGKILL while it is held: the next start rolls the step back.
console ""
type_text 'rm -rf many' && keys Enter
sees '\? HELD delete' "held"
cordons | xargs kill -KILL
ok "SIGKILL of all of it" wait_for 10 sh -c "! pgrep -f -- '^$CORDON run .*$mark' >/dev/null"
ok "the next start brings it back" in_folder "$dir" true
same "$(tree "$dir")" "$before" "nothing is lost"
ok "not even what it did" cordon_in "$dir" redo
ok "redo has it" count_is 151
done_testing
