#!/bin/bash
# attach - a second console in another terminal sees what the first one sees, and answers.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/tmux.sh"
need tmux
need_sandbox
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
there() { # REGEX - the other console's screen
	tmux_ capture-pane -p -t =u: | grep -Eq -- "$1"
}
sees_there() { # REGEX NAME
	if wait_for 15 there "$1"; then pass "$2"; else fail "$2" "no line like: $1
$(tmux_ capture-pane -p -t =u:)"; fi
}
# Keys that count only after a while: again and again, until TEST says that they did.
press_there() { # KEY NAME TEST...
	local key=$1 name=$2 n=0
	shift 2
	until "$@" || [ $n -ge 30 ]; do
		tmux_ send-keys -t =u: "$key"
		wait_for 1 "$@"
		n=$((n + 1))
	done
	ok "$name" "$@"
}

out=$("$CORDON" attach 2>&1) && fail "no session" "$out"
like "$out" "no session runs: start one" "without a session it says so"
start 100 30 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
type_text 'clear; echo zero >.git/hooks/post-applypatch; echo status=$?' && keys Enter
sees '\? ASK.*post-applypatch' "and waits for an answer, before anything else has happened"
tmux_ new-session -d -s u -x 100 -y 30 -c "$dir" "$CORDON attach; exec sleep 600"
sees_there '\? ASK.*post-applypatch' "the other terminal shows what waits, though nothing moves any more"
tmux_ send-keys -t =u: a
press_there d "and answers" screen_has 'status=1'
tmux_ kill-session -t =u
type_text 'touch before && echo made' && keys Enter
sees '^made' "it has changed something"
tmux_ new-session -d -s u -x 100 -y 30 -c "$dir" "$CORDON attach; echo \$? >$TEST_TMP/attached; exec sleep 600"
sees_there 'activity' "the other terminal shows it"
sees_there 'write +before|touch before' "and begins with what already happened"
ok "and no numbers that it does not know" sh -c "! tmux -S '$tmux_socket' capture-pane -p -t =u: | grep -q 'mem '"
"$CORDON" attach --plain >"$TEST_TMP/plain" 2>&1 &
plain=$!
type_text 'clear; touch after' && keys Enter
sees_there 'after' "and what happens now"
tmux_ send-keys -t =u: s
sees_there 'touch before' "the steps from before, too"

type_text 'clear; echo one >.git/hooks/post-merge; echo status=$?' && keys Enter
sees_there '\? ASK.*post-merge' "a request is announced there"
tmux_ send-keys -t =u: a
sees_there 'ALLOW writing .*post-merge once' "it can be looked at there"
press_there a "and answered: the call goes on" screen_has 'status=0'
ok "it has performed" test -s "$dir/.git/hooks/post-merge"

type_text 'clear; echo two >.git/hooks/pre-push; echo status=$?' && keys Enter
sees_there '\? ASK.*pre-push' "the next"
keys C-] a
press_until 'status=1' "what the session's own console answers" d
gone_there() { ! there 'ASK.*pre-push.*answers'; } # the row of the activity stays
ok "is no question there any more" wait_for 15 gone_there

type_text 'clear; echo three >.git/hooks/post-rewrite; echo status=$?' && keys Enter
sees_there '\? ASK.*post-rewrite' "a third"
tmux_ send-keys -t =u: a
press_there s "an answer for the session" there '\[session\]'
press_there a "is given there, and counts here" screen_has 'status=0'
tmux_ send-keys -t =u: v
sees_there 'ALLOW +writing .*post-rewrite, for this session' "it is listed there"
tmux_ send-keys -t =u: x
sees_there '- over' "and taken back there"
type_text 'clear; echo four >.git/hooks/post-rewrite; echo status=$?' && keys Enter
sees '\? ASK.*post-rewrite.* answers' "so it is asked again" # the list has the question before, too
keys C-] a
press_until 'status=1' "and denied" d

tmux_ send-keys -t =u: q
tmux_ send-keys -t =u: u
sees_there "Undo works in the session's own console, not here" "undo is not done there"
tmux_ send-keys -t =u: U
sees_there "x Undo works in the session's own console, not here" "its key says so, too"
ok "and is not offered" sh -c "! tmux -S '$tmux_socket' capture-pane -p -t =u: | grep -q 'U do it'"
tmux_ send-keys -t =u: q
tmux_ send-keys -t =u: C-] q
ok "leaving it ends nothing" wait_for 15 test -s "$TEST_TMP/attached"
is "$(cat "$TEST_TMP/attached")" 0 "and is no failure"
type_text 'clear; echo still-$((40 + 2))' && keys Enter
sees 'still-42' "the session goes on"
has_line() { grep -q "$1" "$TEST_TMP/plain"; }
ok "as lines, too: what was done" wait_for 10 has_line 'done: write .*after$'
ok "what asks" has_line 'asks: write .*pre-push (cordon pending'
ok "and what was decided" has_line 'decided: allow writing .*post-merge'
ok "without any escape" sh -c "! grep -q '$(printf '\033')' '$TEST_TMP/plain'"
kill "$plain" 2>/dev/null
done_testing
