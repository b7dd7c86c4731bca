#!/bin/bash
# moment - from a row and from a diff to the recording at that moment: in a session, attached, in a replay.
# SPDX-License-Identifier: MIT
# drives: moment
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
shell="bash --noprofile --rcfile rc -i"
panes() { tmux_ list-panes -t =t: | wc -l; }
panes_are() { [ "$(panes)" = "$1" ]; }

# ---- on the console's own terminal ----
start 130 36 "$dir" "env -u TMUX $CORDON run -- $shell"
sees 'ready>' "a session runs"
type_text 'clear; echo "first words"; seq 1 >one' && keys Enter
sees '^first words' "it writes a file"
sees '(write|A|M) .*one' "which is a row"
type_text 'clear; echo "later words"; seq 2 >two' && keys Enter
sees '^later words' "and another"
sees '(write|A|M) .*two' "which is another row"
keys C-] l / && type_text 'write one' && keys Enter o
sees 'activity: one row' "details of the first"
keys m
sees '= [0-9]+:[0-9]+ / ' "the recording, which stands still"
sees '^first words' "at that moment"
loses 'later words' "and no later"
keys q
sees 'activity: one row' "leaving it leads back to the row"
keys Escape C-] s g Enter
sees '> step 1' "a step"
keys m
sees '= [0-9]+:[0-9]+ / ' "its diff leads to the recording, too"
sees '^first words' "at the moment it was written"
keys q
sees '> step 1' "and back"
keys Escape C-] t
# A recent row is waited for.
type_text 'clear; echo "newest words"; seq 3 >three' && keys Enter
sees '(write|A|M) .*three' "a row that is new"
keys C-] l G o m
sees '= [0-9]+:[0-9]+ / ' "is shown in the recording as well"
sees '(write|A|M) .*three' "which has it"
keys q
sees 'activity: one row' "and back"
keys Escape C-] t
type_text 'exit' && keys Enter
sees 'has ended' "the agent ends"
keys C-] q
ended "and the console" 0

# ---- beside it, in tmux ----
start 130 60 "$dir" "$CORDON run -- $shell"
tmux_ set -g remain-on-exit off
sees 'ready>' "a session in tmux"
type_text 'clear; echo "beside words"; seq 4 >four' && keys Enter
sees '(write|A|M) .*four' "writes a file"
keys C-] l G o
sees 'activity: one row' "details"
keys m
ok "a pane is made for the recording" wait_for 10 panes_are 2
sees '= [0-9]+:[0-9]+ / ' "which shows it"
keys z
sees '^beside words' "with what was on the screen"
keys q
ok "it goes by itself" wait_for 10 panes_are 1
tmux_ split-window -t =t: "env -u TMUX HOME=$HOME $CORDON attach"
sees '(write|A|M) .*four' "another console of the session"
keys C-] l G o
sees 'activity: one row' "details there"
keys m
sees '= [0-9]+:[0-9]+ / ' "lead to the same recording"
keys q
sees 'activity: one row' "and back"
keys Escape C-] q
sees 'let it go on' "leaving it ends nothing"
keys d
ok "it is left" wait_for 10 panes_are 1
keys Escape C-] t
type_text 'exit' && keys Enter
sees 'has ended' "the agent ends"
keys C-] q
ended "and the console, too" 0

# ---- not recorded ----
start 130 36 "$dir" "$CORDON run --set record.enabled=false -- $shell"
sees 'ready>' "a session without a recording"
type_text 'seq 5 >five' && keys Enter
sees '(write|A|M) .*five' "writes a file"
keys C-] l G o m
sees 'not recorded \(record.enabled\)' "there is nothing to go to, and why"
keys Escape C-] q Q
ended "it is left" 143

# ---- in a replay ----
start 130 36 "$dir" "$CORDON replay"
sees '/ [0-9]+:[0-9][0-9]' "the newest recording"
keys Space '$'
sees 'beside words' "its end"
keys s G Enter
sees '> step ' "a diff"
keys j j m
sees 'goes back' "leads to its moment"
sees '━ > agent' "in the agent's pane"
loses 'new file mode' "where the diff has gone"
keys Escape
sees '> step ' "and Esc back to the diff"
keys Escape l G o
sees 'activity: one row' "details of a row"
keys m
sees 'goes back' "lead there, too"
keys Escape
sees 'activity: one row' "and back"
keys Escape q
ended "it is left" 0

# ---- --at ----
session=$(basename "$(find "$HOME/.local/state/cordon/recordings" -name '*.cast.zst' | sort | tail -n 1)" .cast.zst)
start 130 36 "$dir" "$CORDON replay --at 100% $session"
sees '= ([0-9]+:[0-9]+) / \1' "--at begins there, and stands still"
sees 'has ended|beside words' "at the end"
keys q
ended "it is left" 0
for bad in x 1:x @ @x @1.x 50%%; do
	out=$(cordon_in "$dir" replay --at "$bad" "$session" 2>&1) && fail "--at $bad" "$out"
	like "$out" "--at '$bad': no time: say" "--at $bad is refused"
done
out=$(cordon_in "$dir" replay --at 1 --headless 2>&1) && fail "--at --headless" "$out"
like "$out" 'leave one out' "--at and --headless are not both"
done_testing
