#!/bin/bash
# read_only - cordon attach --read-only: sees everything and changes nothing, not even a size.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
start 120 40 "$dir" "env -u TMUX $CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
tmux_ new-session -d -s look -x 90 -y 24 -c "$dir" \
	"env -u TMUX $CORDON attach --read-only; echo \$? >$TEST_TMP/status.look; exec sleep 600"
look() { tmux_ capture-pane -p -t =look: | sed 's/ *$//'; }
look_has() { look | grep -Eq -- "$1"; }
press() { tmux_ send-keys -t =look: "$@"; }
looks() { # REGEX NAME
	if wait_for 15 look_has "$1"; then pass "$2"; else fail "$2" "no line like: $1"; fi
}
looks 'ready>' "who looks on sees the agent's terminal"
type_text 'touch made; stty size' && keys Enter
sees '^[0-9]+ [0-9]+ ' "it has a size"
size=$(screen | grep -Eo '^[0-9]+ [0-9]+' | tail -n 1)
press 'touch evil' Enter
looks 'You look on: nothing goes to the agent' "keys do not get there"
type_text 'stty size' && keys Enter
sees_twice() { [ "$(screen | grep -c "^$size ")" = 2 ]; }
ok "and the terminal keeps its size" wait_for 15 sees_twice
press C-] s
looks 'touch made' "the steps are there"
press u
looks 'You look on: nothing is undone' "and are not undone"
type_text 'echo x >.git/hooks/a; echo over=$?' && keys Enter
ok "a request waits" wait_for 15 sh -c '"$0" pending --json | grep -q hooks/a' "$CORDON"
press C-] a
looks '\? ASK' "it is shown"
until_keys_count
looks_refused() { press a && wait_for 2 look_has 'Not possible: You look on'; }
ok "and not answered" wait_for 15 looks_refused
ok "it still waits" sh -c '"$0" pending --json | grep -q hooks/a' "$CORDON"
press Escape
press C-] q
ok "C-] q leaves" wait_for 15 test -s "$TEST_TMP/status.look"
is "$(cat "$TEST_TMP/status.look")" 0 "with 0"
ok "nothing was made" test ! -e "$dir/evil"
ok "nothing was undone" test -e "$dir/made"
"$CORDON" deny "$("$CORDON" pending | grep -Eo '^[0-9a-f]+-[0-9]+')"
sees 'over=1' "the session goes on"
done_testing
