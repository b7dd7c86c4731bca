#!/bin/bash
# sessions - cordon alone shows the last run here, or offers to attach; cordon sessions lists the running ones.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
like "$("$CORDON" sessions)" "^No session runs" "cordon sessions: none"
is "$("$CORDON" sessions --json)" "" "--json: none"
out=$("$CORDON" sessions all 2>&1)
is "$?" 125 "it takes no arguments"
like "$out" "^cordon: sessions: takes no arguments" "and says so"
out=$(cordon_in "$dir" 2>&1)
is "$?" 125 "cordon alone without a terminal shows how it is used"

start 130 40 "$dir" "SHELL=/bin/bash $CORDON"
sees '━ > agent .* /bin/bash ━' "cordon alone opens the console with the shell"
out=$("$CORDON" sessions)
like "$out" "[0-9a-f]{4} +[0-9:]{8} +(working|idle) +0 +.*/work: /bin/bash" "cordon sessions has it: ID, since when, how many requests wait, folder, command"
like "$("$CORDON" sessions --json)" '^\{"session":"[^"]+","id":"[0-9a-f]+","state":"(working|idle)","folder":"[^"]*/work","branch":"","command":"/bin/bash","agent":"bash","prompt":"","pid":[0-9]+,"since_us":[0-9]+,"until_us":0,"pending":0,"asked":null,"added":0,"deleted":0\}$' "as JSON"
is "$("$CORDON" sessions --json | undocumented sessions)" "" "whose members --help names"
type_text 'exit' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0

start 130 40 "$dir" "$CORDON run --theme mono -- bash --noprofile --norc"
sees '━ > agent .* bash --noprofile --norc ━' "a session with another command"
# In a subdirectory of this folder.
tmux_ new-session -d -s other -x 100 -y 30 -c "$dir" "$CORDON; exec sleep 600"
other() { tmux_ capture-pane -p -t =other: | grep -q -- "$1"; }
ok "cordon alone offers to attach" wait_for 15 other "A session is open here: bash --noprofile --norc"
tmux_ send-keys -t =other: Enter
ok "and does" wait_for 15 other "The agent's terminal is in the session's own console\|activity"
# The list in the console: from here Enter opens a pane beside it, from an attached console it switches to the session.
second=$(new_folder second)
tmux_ new-session -d -s second -x 100 -y 30 -c "$second" "env -u TMUX $CORDON run -- sh; exec sleep 600"
two() { [ "$("$CORDON" sessions --json | wc -l)" = 2 ]; }
ok "a second session runs" wait_for 15 two
idle() { [ "$("$CORDON" sessions --json | grep -c '"state":"idle"')" = 2 ]; }
ok "both are said to be idle once nothing moves" wait_for 30 idle
choose_row() { # SESSION TEXT - selects the row with this text in the list of that terminal, and goes there
	tmux_ send-keys -t "=$1:" / && tmux_ send-keys -t "=$1:" -l "$2" && tmux_ send-keys -t "=$1:" Enter Enter
}
keys C-] w
sees '╔═ sessions' "C-] w lists the sessions"
sees ' [0-9a-f]{4} +idle +.*second +sh' "and what each does"
keys q
tmux_ send-keys -t =second: 'mkdir -p .git/hooks; echo x >.git/hooks/post-merge' Enter
asking() { "$CORDON" sessions --json | grep second | grep -q '"state":"asks"'; }
ok "one asks" wait_for 15 asking
keys C-] w
sees '\? 1 waits +.*second +sh +.*write .*post-merge' "which the list says first"
ok "above the others" test "$(screen | grep -E '(second|work) +(sh|bash)' | head -n 1 | grep -c second)" = 1
keys q
"$CORDON" deny "$("$CORDON" pending | grep -Eo -- '[0-9a-f]+-[0-9]+' | head -n 1)" >/dev/null 2>&1
ok "it is denied" wait_for 15 sh -c '! "$0" sessions --json | grep -q asks' "$CORDON"
keys C-] w
sees '╔═ sessions' "the list again"
sees '^.*\*[0-9a-f]{4} .*/work +bash' "this one is marked"
sees '   [0-9a-f]{4} .*second +sh' "the other is there"
choose_row t second # the order depends on what each does
panes() { [ "$(tmux_ list-panes -t =t: | wc -l)" = "$1" ]; }
ok "Enter opens a pane for it, in tmux" wait_for 15 panes 2
beside() { tmux_ capture-pane -p -t =t:.1 | grep -q 'activity'; }
ok "which is a console of that session" wait_for 15 beside
tmux_ send-keys -t =t:.1 C-] w
marked() { tmux_ capture-pane -p -t =t:.1 | grep -q '\*[0-9a-f]* .*/second *sh'; }
ok "and not of another" wait_for 15 marked
tmux_ kill-pane -t =t:.1
ok "it is closed" wait_for 15 panes 1
there() { tmux_ capture-pane -p -t =second: | grep -q "$1"; }
tmux_ send-keys -t =second: C-] w
ok "in a console that knows of no tmux" wait_for 15 there '   [0-9a-f]* .*/work *bash'
choose_row second /work
goes_there() { tmux_ send-keys -t =second: C-] w && wait_for 1 there '\*[0-9a-f]* .*/work *bash'; } # once it is there
ok "Enter goes there: the other session goes on alone" wait_for 15 goes_there
ok "both run" two
tmux_ send-keys -t =second: q
keys q
loses '╔═' "q closes the list"
tmux_ send-keys -t =other: C-] w
ok "in an attached console it is listed, too" wait_for 15 other '\*[0-9a-f]* .*/work *bash'
choose_row other second
lists_there() { tmux_ send-keys -t =other: C-] w && wait_for 1 other '\*[0-9a-f]* .*second *sh'; } # once it is there
ok "Enter goes there" wait_for 15 lists_there
ok "the one that nobody shows is ended" kill "$("$CORDON" sessions --json | sed -n '/second/s/.*"pid":\([0-9]*\).*/\1/p')"
tmux_ kill-session -t =second
tmux_ kill-session -t =other
type_text 'exit' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0

start 130 40 "$dir" "$CORDON"
sees '━ > agent .* bash --noprofile --norc ━' "cordon alone opens what ran here last, with its options"
type_text 'exit' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
start 130 40 "$(new_folder elsewhere)" "SHELL=/bin/sh $CORDON"
sees '━ > agent .* /bin/sh ━' "which another folder does not know"
done_testing
