#!/bin/bash
# console_actions - each action of the views does what its description says, in the real program.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mkdir "$dir/src"
printf 'int one;\n\n\n\n\n\n\n\n\nint two;\n' >"$dir/src/a.c"
printf "PS1='ready> '\n" >"$dir/rc"
printf '#!/bin/sh\necho "edited $*" >%s/edited\n' "$TEST_TMP" >"$TEST_TMP/editor"
chmod +x "$TEST_TMP/editor"
start 130 40 "$dir" "env -u TMUX EDITOR=$TEST_TMP/editor $CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text "sed -i 's/int/long/' src/a.c; seq 60 >src/z" && keys Enter
sees ' 2 +seq 60.* \+60' "two steps, which have ended"

# the diff
act diff-session C-] d
sees 'everything since the session began' "everything since the session began"
sees 'a\.c +\+2 -2' "with counts"
act side-by-side '|'
sees 'int one; +│ +1 \+ long one' "old and new beside each other"
act side-by-side '|'
act next-hunk n
act next-hunk n
sees '^ *\S* *\S*.*@@ -7' "the next hunk"
act prev-hunk p
act fold f
sees 'lines folded' "a fold"
act fold f
act fold-all F
sees 'src/a.c.*lines folded' "every file folded"
act fold-all F
act wrap w
sees 'Long lines are wrapped' "wrapped"
act wrap w
act blanks W
sees 'Changes of blanks alone are left out' "blanks"
act blanks W
act files t
sees 'files' "the list of files has the keys"
act files t
act next-file Tab
act prev-file S-Tab
keys '/' && type_text 'two' && keys Enter
sees 'long two' "a search"
act copy y
sees 'Copied the hunk as a patch' "a hunk is copied"
act copy-file Y
sees "Copied the file's diff" "a file is copied"
act export e
sees 'Written to ~/cordon-steps-1-on.patch' "a patch is written"
like "$(cat "$HOME/cordon-steps-1-on.patch")" '\+long one;' "with the change"
act diff-turn D
sees 'in this turn|Nothing says' "this turn"
act back Esc
act focus-steps C-] s
act top g
act mark m
sees 'Step 1 is marked' "a step is marked"
act diff-mark M
sees 'from the marked step on' "everything since the mark"
keys Escape
keys C-] s g j
act open Enter
sees '> step 1' "one step"
sees '1 \+ long one' "its diff"
act edit E
ok "the editor opens the file" wait_for 10 test -s "$TEST_TMP/edited"
sees '> step 1' "and the console is back"
mv "$dir/src/a.c" "$dir/src/b.c" && ln -s /etc/passwd "$dir/src/a.c"
keys E
sees 'lies behind a link' "a link in its place is not followed"
mv "$dir/src/b.c" "$dir/src/a.c"
keys '/' && type_text 'two' && keys Enter
act restore-hunk R
sees 'Restored, as a step' "one hunk is restored"
is "$(cat "$dir/src/a.c")" "$(printf 'long one;\n\n\n\n\n\n\n\n\nint two;')" "and no other"
keys Escape

# activity
keys C-] l
act details o
sees 'activity: one row' "details of a row"
keys y Escape
act level L
sees "project and decisions" "another level"
keys L L L

# layouts
act layout C-] Space
sees 'Layout: lists at the right' "a layout"
act border-left C-] Left
act border-left C-] Left
act border-up C-] Up
act border-right C-] Right
act border-down C-] Down
keys C-] Space
sees 'Layout: lists below' "another"
act hide C-] x
loses '─ activity' "a pane is hidden"
keys C-] l
sees 'activity' "and comes back"
act zoom C-] z
act zoom C-] z

# the rest
act palette C-] :
sees 'do ═' "the palette"
type_text 'resou' && keys Enter
sees '> resources' "finds resources"
sees 'written' "with its graphs"
keys q
act help C-] '?'
act describe '?'
keys C-] a
sees 'C-\] a: List the requests' "a key is described"
keys Escape C-] c j
sees 'themes' "themes"
keys Escape
act paste-note C-] p
sees 'ready> The user restored step 3' "the agent can be told of what its human took back"
keys C-u C-] p
sees 'There is nothing to tell' "once"
keys C-] t
type_text 'echo 1 >.envrc' && keys Enter
sees '\? ASK write .envrc' "a question"
keys C-] a
choose s '\[session\]' "answered for the session"
press_until 'Allowed' "allowed" a
keys C-] t
type_text 'echo $$ >pid' && keys Enter
ok "the shell has a process" wait_for 10 test -s "$dir/pid"
act restart C-] R
sees 'start anew' "a restart asks"
rm "$dir/pid"
act end-agent Q
loses 'start anew' "the agent is started anew"
sees 'ready>' "in another session"
sees 'earlier|sed -i' "which has the steps of the one before"
type_text 'echo $$ >pid' && keys Enter
ok "and runs" wait_for 15 test -s "$dir/pid"
type_text 'echo 2 >.envrc' && keys Enter
ok "where what was answered for the session is not asked again" wait_for 15 grep -q 2 "$dir/.envrc"
sees 'edit pid +\+1' "which is a step"
type_text 'exit' && keys Enter
sees 'bash has ended' "it ends"
keys C-] q
ended "cordon, too" 0
sees '^[12] steps?, 2 files changed \(\+2 -1\)[.] cordon diff, cordon undo, cordon replay$' "and says what the session left"

start 100 24 "$dir" "$CORDON run --exit -- sh -c 'touch empty; sleep 1'"
ended "a step without lines" 0
sees '^1 step, 1 file changed[.] ' "is counted without them"
done_testing
