#!/bin/bash
# console_fork - F on a step: a second agent in a worktree whose files are as after that step.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox git
git config --global user.email a@b.example && git config --global user.name A && git config --global init.defaultBranch main
top=$TEST_TMP/app
git init -q "$top" && printf "PS1='ready> '\nHISTFILE=\n" >"$top/rc" && git -C "$top" add rc && git -C "$top" commit -qm first
mkdir "$top/conf" "$TEST_TMP/beside" && echo conf >>"$top/.git/info/exclude"
printf '[sandbox]\n\tset-env = FROM=file\n' >"$top/conf/c" # no worktree gets it: git ignores it
start 150 40 "$top" "env -u TMUX $CORDON run --config conf/c --ro ../beside --set 'sandbox.set-env=WORDS=two  words' --no-debug -- bash --noprofile --rcfile rc -i"
sees 'ready>' "an agent runs"
type_text 'sh -c "echo one >file"' && keys Enter
sees 'steps .*|echo one' "its first step"
type_text 'sh -c "echo two >file; echo more >more"; echo $((40+2))' && keys Enter
sees '^.*\b42\b' "its second step"
second_ended() { cordon_in "$top" log | grep -q 'echo two'; }
ok "both are over" wait_for 15 second_ended
keys C-] s
keys Home
select_first() { screen_has '─ step [0-9]+ echo one' || { keys k && false; }; }
ok "the first is selected" wait_for 10 select_first
act fork F
sees 'A git worktree whose files are as after step [0-9]+' "F asks for a name"
type_text 'side' && keys Enter
sees 'Command of cordon run \[' "and a command"
line="--ro $(realpath "$TEST_TMP")/beside --no-debug --config $(realpath "$top")/conf/c --set 'sandbox.set-env=WORDS=two  words' -- bash --noprofile --rcfile rc -i"
proposes() { screen | tr -d ' \n' | grep -qF "Commandofcordonrun[${1// /}]"; }
ok "and proposes the agent's, with its options and whole paths" wait_for 15 proposes "$line"
keys Enter
sees '━ > agent .* bash' "a second agent is there"
type_text 'echo "<$WORDS> $FROM" >words' && keys Enter
ok "which has the options of the first, and its file of settings" wait_for 15 grep -qsxF '<two  words> file' "$top.side/words"
ok "in a worktree" wait_for 15 test -e "$top.side/file"
is "$(cat "$top.side/file")" one "with the files of that step"
ok "and none of later ones" test ! -e "$top.side/more"
is "$(cat "$top/file")" two "the first agent's are as they were"
type_text 'exit' && keys Enter
sees 'ended' "it ends"
keys C-] q
sees 'echo two' "and the first agent's console is back"
keys F
sees 'A git worktree whose files' "F again"
keys Escape
loses 'A git worktree whose files' "Esc starts none"
ok "and makes none" test ! -e "$top.w1"
keys F
sees 'Its name' "again"
type_text 'side' && keys Enter
sees 'Command of cordon run' "the name is taken"
keys Enter
sees 'is there already.*' "which is said"
sees 'Enter goes back' "and can be read"
keys Enter
loses 'Enter goes back' "before the console is back"
keys F
sees 'Its name' "and again"
keys Enter
type_text "sh -c 'echo \"in  quotes\" >quoted'" && keys Enter
ok "a command is taken apart as a shell does it" wait_for 15 grep -qsxF 'in  quotes' "$top.w1/quoted"
sees 'ended' "and ends"
keys C-] q
sees 'echo two' "back again"
keys F
sees 'Its name' "once more"
keys Enter
type_text 'cat rc | sh' && keys Enter
sees 'not one command: put quotes' "more than a command is refused"
keys Enter
loses 'Enter goes back' "which can be read, too"
done_testing
