#!/bin/bash
# console_keys - keys that move in lists and in the agent's text, and every key of a replay, in the real program.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
cat >"$dir/rc" <<'END'
PS1='ready> '
HISTFILE=
END
mkdir -p "$HOME/.config/cordon" "$dir/.git/hooks"
printf '[console]\n\tcopy-command = cat >%s\n' "$TEST_TMP/copied" >"$HOME/.config/cordon/config"
copied() { [ "$(cat "$TEST_TMP/copied" 2>/dev/null)" = "$1" ]; }
# copies TEXT NAME - waits until the clipboard has the text.
copies() {
	wait_for 10 copied "$1"
	is "$(cat "$TEST_TMP/copied" 2>/dev/null)" "$1" "$2"
	rm -f "$TEST_TMP/copied"
}
start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"

# ---- the agent's text ----
type_text 'clear; seq 5 >long; printf "  one two-three four\\n"; seq 100' && keys Enter
sees '^100 ' "it has printed"
act scroll C-] '['
sees 'lines back|copy' "copy mode"
act search / && type_text 'one two' && keys Enter
act line-text '^'
act select v
act word-end e
act copy y
copies one "a word, from the start of the text"
act scroll C-] '['
act search / && type_text 'one two' && keys Enter
act line-end '$'
act word-prev b
act select v
act line-end '$'
act copy y
copies four "the last word"
act scroll C-] '['
act search / && type_text 'one two' && keys Enter
act line-start 0
act word-next w
act word-next w
act select v
act right l
act right l
act left h
act copy y
copies tw "two letters of the second word"
act scroll C-] '['
act search / && type_text 'one two' && keys Enter
act select-lines V
act down j
act copy y
copies $'  one two-three four\n1' "two whole lines"
act scroll C-] '['
act search / && type_text 'one two' && keys Enter
act line-start 0
act right l
act right l
act select-block C-v
act down j
act up k
act right l
act copy y
copies on "a rectangle"
act scroll C-] '['
act top g
act search / && type_text '^9' && keys Enter
act search / && type_text '9' && keys Enter
act search-next n
act search-prev N
sees 'match ' "matches have numbers"
act page-up PageUp
act page-down PageDown
act bottom G
act back Esc
act send-prefix C-] C-]
sees '\^\]|ready>' "the prefix itself reaches the shell"
keys C-c

# ---- lists ----
type_text 'clear; sed -i s/1/x/ long; touch a b c; rm a' && keys Enter
sees 'rm a .*1 file' "more has happened"
act focus-audit C-] l
act redraw C-l
sees '━ > activity' "drawn anew"
act top g
sees '1 of [0-9]+' "the first row"
act down j
sees '2 of [0-9]+' "the second"
act up k
sees '1 of [0-9]+' "the first again"
act page-down PageDown
loses ' 1 of [0-9]+' "a page further"
act page-up PageUp
act bottom G
act filter '&' && type_text 'touch' && keys Enter
sees 'filter: touch' "a filter"
act back Esc
loses 'filter: touch' "goes"
act focus-next Tab
sees '━ > steps' "the next pane"
act focus-prev S-Tab
sees '━ > activity' "and the one before"
act focus-terminal C-] t
sees '━ > agent' "the agent"
act show-log C-] e
sees '> log' "the log"
act back q
act show-resources C-] m
sees '> resources' "the resources"
sees 'memory +[0-9]' "are measured each second"
act copy y
ok "are copied" wait_for 10 grep -q '^memory ' "$TEST_TMP/copied"
act back q
act show-rules C-] V
sees 'your answers' "the answers"
act back q
act show-connections C-] n
sees '═ connections' "the connections"
act sort s
act back q
act show-sessions C-] w
sees '═ sessions' "the sessions"
act back q
rm -f "$TEST_TMP/copied"
act show-themes C-] c
sees '═ themes' "the themes"
act copy y
ok "a theme's name is copied" wait_for 10 test -s "$TEST_TMP/copied"
act back q

# ---- the mouse: what is pressed, what is dragged over ----
mouse() { type_text "$(printf '\033[<%s;%s;%s%s' "$1" "$2" "$3" "$4")"; }
rm -f "$TEST_TMP/copied"
act focus-audit C-] l
act top g
mouse 0 90 2 M
mouse 32 110 2 M
mouse 0 110 2 m
sees 'copies what is selected' "dragging selects in a list"
act copy y
ok "and y copies it" wait_for 10 test -s "$TEST_TMP/copied"
row=$(screen | grep -nE '(write|A|M) +long' | head -n 1 | cut -d: -f1)
until screen_has '━ > step' || [ "${n:=0}" -ge 20 ]; do # two clicks may come too late for a double one
	mouse 0 90 "$row" M && mouse 0 90 "$row" m && mouse 0 90 "$row" M && mouse 0 90 "$row" m
	wait_for 1 screen_has '━ > step'
	n=$((n + 1))
done
sees '━ > step' "a double click opens"
act back q
sees '━ > activity' "the list"
sees ' o details' "the bar has its keys again"
column=$(screen | sed -n 's/o details.*//p' | tail -n 1 | wc -m)
mouse 0 "$((column + 1))" 39 M && mouse 0 "$((column + 1))" 39 m
sees 'activity: one row' "the bar's words are pressed"
keys Escape

act focus-terminal C-] t
type_text 'clear; echo evil >.git/hooks/post-merge; echo status=$?' && keys Enter
sees '\? ASK.*post-merge' "something waits"
act focus-approvals C-] a
press_until 'status=1' "and is denied" d
type_text 'clear; echo last words; exit' && keys Enter
sees '^last words' "it says something"
sees 'has ended|ended with' "it ends"
act quit C-] q
ended "the console" 0

# ---- a replay ----
at() { screen | sed -n 's/^ [=>] \([0-9:]*\) .*/\1/p' | tail -n 1; }
start 130 40 "$dir" "$CORDON replay"
sees '/ [0-9]+:[0-9][0-9]' "a replay"
act pause Space
sees '^ = ' "stands still"
act seek-end '$'
sees 'last words' "its end"
act seek-start 0
loses 'last words' "its beginning"
act next-step '}'
sees 'step 1' "the first step"
act next-step '}'
sees 'step [2-9]' "the second"
act prev-step '{'
sees 'step 1' "and back"
act next-turn ')'
sees 'turn [0-9]' "a line that was sent"
act prev-turn '('
sees 'turn 1|no turn before' "the one before"
act next-mark ']'
act prev-mark '['
act next-approval '>'
sees 'approval [0-9]' "the request"
act seek-end '$'
act prev-approval '<'
sees 'approval [0-9]' "from the other side"
act next-frame .
act prev-frame ,
sees '^ = ' "it stands still"
act faster +
sees 'Speed: x2' "faster"
act slower -
sees 'Speed: x1' "slower"
act slower -
sees 'Speed: x0.5' "and slower"
act normal-speed =
sees 'Speed: x1' "as it was"
act idle-limit i
sees 'as long as they were' "pauses"
act seek-start 0
act seek-far-forward S-Right
act seek-far-back S-Left
act seek-forward Right
act seek-back Left
act idle-limit i
sees 'Pauses are cut' "after all that" # which is on the screen with the time that it led to
is "$(at)" 0:00 "a minute and five seconds, there and back"
act seek-time : && type_text '100%' && keys Enter
sees 'last words' "a time is typed"
act quit q
ended "the replay" 0
done_testing
