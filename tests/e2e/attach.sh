#!/bin/bash
# attach - a second console in another terminal sees what the first one sees, and answers.
# SPDX-License-Identifier: MIT
# drives: keep-mine
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/tmux.sh"
need tmux python3
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
	until_keys_count
	until "$@" || [ $n -ge 30 ]; do
		tmux_ send-keys -t =u: "$key"
		wait_for 1 "$@"
		n=$((n + 1))
	done
	ok "$name" "$@"
}

mkdir -p "$HOME/.config/cordon"
printf '[console]\n\tcopy-command = cat >%s\n' "$TEST_TMP/copied" >"$HOME/.config/cordon/config"
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
tmux_ send-keys -t =u: g y
ok "console.copy-command counts there, too" wait_for 10 test -s "$TEST_TMP/copied"
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
choose s '\[session\]' "an answer for the session" u
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
# Undo and redo there are the session's own: its keeper plans and performs them.
keys C-] t
type_text 'clear; sh -c "echo mine >doc; echo two >other"; echo done-$((40 + 1))' && keys Enter
sees 'done-41' "a command writes a file"
sees_there 'echo mine >doc' "its step is listed there"
there_plan() { # KEY REGEX NAME
	tmux_ send-keys -t =u: C-] s
	press_there "$1" "$3" there "$2"
}
there_plan u 'Rolls back step ' "u previews it there"
ok "with the path" there 'doc +goes away|goes away +doc'
press_there U "U undoes it" test ! -e "$dir/doc"
sees_there 'Rolled back; .* brings it back' "which is said there"
keys C-] s
sees ' echo mine >doc.*undone' "the session's own console shows it"
there_plan r 'Brings back step ' "r previews the redo"
press_there U "U does it" test -e "$dir/doc"
sees_there '[+] Redone' "which is said there, too"
is "$(cat "$dir/doc")" mine "all of it is back"
echo human >>"$dir/doc"
sees_there '! +doc +! 1 edited' "an edit of a human's is a row there"
tmux_ send-keys -t =u: s
tmux_ send-keys -t =u: Enter
sees_there 'edited from outside after step' "that opens"
tmux_ send-keys -t =u: Escape
there_plan u 'doc +changed since|changed since' "an edit of a human's stops it"
ok "U is not offered" sh -c "! tmux -S '$tmux_socket' capture-pane -p -t =u: | grep -q 'U undo'"
tmux_ send-keys -t =u: U
sees_there 'keeps the edits' "a choice comes first"
press_there K "K keeps the edit" there 'stays as it is'
press_there U "then U undoes the rest" test ! -e "$dir/other"
is "$(tail -n 1 "$dir/doc")" human "the edit is still there"
# One runs: it can be stopped there.
keys C-] t
type_text 'clear; sh -c "echo x >long; sleep 300"; echo over-$((40 + 3))' && keys Enter
sees_there 'sleep 300' "a command that runs"
there_plan u 'stop it' "u asks whether to stop it"
press_there S "it is stopped" screen_has 'over-43'
sees_there 'Rolls back step ' "then comes the plan"
press_there U "U undoes it" test ! -e "$dir/long"
type_text 'clear; touch one; touch two' && keys Enter
sees_there 'touch two' "a turn of two steps"
there_plan T 'Rolls back 2 steps' "T is about the whole turn"
tmux_ send-keys -t =u: q
# What no console sends is refused, and changes nothing.
for run in "${XDG_RUNTIME_DIR:-/nonexistent}/cordon" "$HOME/.local/state/cordon/run"; do
	for sock in "$run"/*.sock; do [ ! -S "$sock" ] || break 2; done
done
before=$(content "$dir")
cat >"$TEST_TMP/client.py" <<'P'
import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
f = s.makefile("rw", encoding="utf-8", errors="surrogateescape")
def say(**line):
    f.write(json.dumps(line) + "\n"); f.flush()
    seen = []
    while not seen or seen[-1]["type"] != "reply":
        got = json.loads(f.readline())
        if got["type"] in ("reply", "event.plan", "event.job"): seen.append(got)
    return seen
def wait(type):
    while True:
        got = json.loads(f.readline())
        if got["type"] == type: return got
for bad in ({}, {"request": 0, "kind": "undo", "n": 1}, {"request": 1, "kind": "rm", "n": 1},
            {"request": 1, "kind": "undo", "n": 0}, {"request": 1, "kind": "undo", "n": -1},
            {"request": 1, "kind": "undo", "n": 1e30}, {"request": 1, "kind": "restore", "step": 1},
            {"request": 1, "kind": "restore", "step": 0, "path": "a"},
            {"request": 1, "kind": "restore", "step": 1, "path": ""},
            {"request": 1, "kind": "restore", "step": 1, "path": "a\0b"}):
    print("plan", say(type="cmd.plan", **bad)[-1]["ok"])
print("undo", say(type="cmd.undo", request=2, plan=1)[-1]["ok"], say(type="cmd.undo", request=2)[-1]["ok"])
say(type="cmd.plan", request=7, kind="undo", n=1)
print("planned", "error" not in wait("event.plan"))
print("undo", say(type="cmd.undo", request=8, plan=6)[-1]["ok"])
say(type="cmd.plan", request=9, kind="restore", step=1, path="../../etc/passwd")
print("outside", "error" in wait("event.plan"))
print("undo", say(type="cmd.undo", request=8, plan=7)[-1]["ok"], say(type="cmd.cancel")[-1]["ok"])
P
is "$(timeout 60 python3 "$TEST_TMP/client.py" "$sock" 2>&1 | sort | uniq -c | sed 's/^ *//' | tr '\n' ',')" \
	"1 outside True,10 plan False,1 planned True,1 undo False,1 undo False False,1 undo False True," "bad commands are refused"
same "$(content "$dir")" "$before" "and nothing is undone by them"
tmux_ send-keys -t =u: q
tmux_ send-keys -t =u: C-] q
ok "leaving it ends nothing" wait_for 15 test -s "$TEST_TMP/attached"
is "$(cat "$TEST_TMP/attached")" 0 "and is no failure"
type_text 'clear; echo still-$((40 + 2))' && keys Enter
sees 'still-42' "the session goes on"
has_line() { grep -q "$1" "$TEST_TMP/plain"; }
ok "as lines, too: what was done" wait_for 10 has_line 'done: write .*after$'
ok "what asks" wait_for 10 has_line 'asks: write .*pre-push (cordon pending'
ok "and what was decided" wait_for 10 has_line 'decided: allow writing .*post-merge'
ok "without any escape" sh -c "! grep -q '$(printf '\033')' '$TEST_TMP/plain'"
kill "$plain" 2>/dev/null

# The agent's end is told there; what it left can be undone until the session's own console closes.
type_text 'clear; echo last >last' && keys Enter
ok "the last step" wait_for 10 test -s "$dir/last"
tmux_ kill-session -t =u 2>/dev/null
tmux_ new-session -d -s u -x 100 -y 30 -c "$dir" "$CORDON attach; exec sleep 600"
sees_there 'activity' "another console"
type_text 'exit 3' && keys Enter
sees_there 'The agent ended with 3' "hears that the agent has ended"
sees_there 'x ended with 3' "and how"
there_plan u 'Rolls back step ' "u previews the last step there"
press_there U "U undoes it" test ! -e "$dir/last"
keys C-] q
ended "its own console closes" 3
sees_there 'The session has ended' "which is said there"

# Two folders: one list of steps, and undo of both.
one=$(new_folder one) two=$(new_folder two)
printf "PS1='ready> '\nHISTFILE=\n" >"$one/rc"
start 100 30 "$one" "$CORDON run --rw $two -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session of two folders"
tmux_ new-session -d -s u -x 100 -y 30 -c "$two" "$CORDON attach; exec sleep 600"
sees_there 'activity' "is found from the second"
type_text "clear; sh -c 'echo a >a; echo b >$two/b; echo done-\$((40 + 4))'" && keys Enter
sees 'done-44' "a step in both"
sees_there 'echo a >a' "is listed there"
there_plan u 'Rolls back step ' "u previews it"
ok "with the paths of both" there "$two/b|two/b"
press_there U "U undoes it" test ! -e "$one/a" -a ! -e "$two/b"
there_plan r 'Brings back step ' "r previews the redo"
press_there U "U does it" test -e "$one/a" -a -e "$two/b"
sees_there '[+] Redone' "all of it"
echo human >>"$two/b"
sees_there '! +.*two/b +! 1 edited' "an edit in the second is a row there"
there_plan u 'changed since' "and stops the undo"
press_there K "K keeps the edit" there 'stays as it is'
press_there U "U undoes the rest" test ! -e "$one/a"
is "$(tail -n 1 "$two/b")" human "the edit is still there"

# ---- what it is not told
start 100 30 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
type_text 'clear; mkdir many; for i in {1..2500}; do : >many/$i; done; echo made-all' && keys Enter
sees '^made-all' "much happens" 60
tmux_ new-session -d -s u -x 100 -y 30 -c "$dir" "$CORDON attach; exec sleep 600"
sees_there 'write +many/' "another terminal comes later"
tmux_ send-keys -t =u: l g
sees_there '[0-9]+ rows left out here' "and says that there was more"
tmux_ send-keys -t =u: q
sees_there 'C-\] q leaves this console' "q closes nothing more, and says what does"
tmux_ send-keys -t =u: C-] t
sees_there "The agent's terminal is in *$" "where the agent's terminal would be it says where that is"
tmux_ send-keys -t =u: x
sees_there "takes keys in the session's own console. C-\] l: activity" "and a key typed there says where to go"
tmux_ kill-session -t =u
type_text exit && keys Enter
sees 'has ended' "it ends"
keys C-] q
ended "and the console with it" 0
done_testing
