#!/bin/bash
# board - all sessions on one screen: states, answers to the right session, opening one and returning, ending.
# SPDX-License-Identifier: MIT
# drives: new-session replay-session show-recordings undo-turn
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
run_in() { # NAME DIR COMMAND [OPTION]: a session in a terminal of its own
	tmux_ new-session -d -s "$1" -x 100 -y 30 -c "$2" "env -u TMUX $CORDON run ${4:-} -- $3; exec sleep 600"
}
field() { "$CORDON" sessions --all --json | sed -n "\\,$1\",s/.*\"$2\":\"*\\([^\",]*\\).*/\\1/p"; } # FOLDER FIELD
state_is() { [ "$(field "$1" state)" = "$2" ]; }

like "$("$CORDON" attach --undo --read-only x 2>&1)" "--undo needs a console that may change" "who looks on undoes nothing"
out=$("$CORDON" board 2>&1 </dev/null)
is "$?" 125 "without a terminal there is no board"
like "$out" "cordon sessions lists them" "and it says what to do"

# Two folders of the same name, whose agents ask the same; one folder whose name attacks the screen.
evil=$TEST_TMP/$'x\e[2Jz\n* 1234 idle'
mkdir -p "$TEST_TMP/one/alpha" "$TEST_TMP/two/alpha" "$evil"
asks="sh -c 'mkdir -p .git/hooks; echo x >.git/hooks/post-merge; echo over; exec cat'"
start 150 40 "$dir" 'exec sleep 600'
run_in one "$TEST_TMP/one/alpha" "$asks"
run_in two "$TEST_TMP/two/alpha" "$asks"
run_in evil "$evil" cat
beta=$(new_folder beta)
notes=$(new_folder notes)
printf '[rule "t"]\n\tallow = write %s/**\n' "$notes" >"$TEST_TMP/allows"
run_in beta "$beta" "sh -c 'seq 5 >lines; seq 7 >$notes/lines; exec cat'" "--config $TEST_TMP/allows"
edits=$(new_folder edits)
run_in edits "$edits" "sh -c 'echo agents >file; echo agents >other; exec cat'"
slow=$(new_folder slow)
run_in slow "$slow" cat
gone=$(new_folder gone)
run_in gone "$gone" "sh -c 'echo a >a; exec cat'"
ok "one asks" wait_for 30 state_is one/alpha asks
ok "another asks for the same" wait_for 30 state_is two/alpha asks
ok "the others rest" wait_for 40 state_is /slow idle
ok "so does another" wait_for 40 state_is /beta idle
ok "and a third" wait_for 40 state_is /gone idle
ok "and a fourth" wait_for 40 state_is /edits idle
like "$(cordon_in / attach 2>&1 </dev/null)" "several sessions run: name one of .*$(field /slow id) \\([^,]*/slow\\)" "attach names each by ID and folder"
slow_pid=$(field /slow pid)
attach_plain() { # DIR [SESSION] - what it prints until it shows a file of beta; it would go on until the session ends
	(cd "$1" && exec "$CORDON" attach --plain ${2:+"$2"} >"$TEST_TMP/plain" 2>&1 </dev/null) &
	wait_for 60 grep -q lines "$TEST_TMP/plain"
	kill $!
	cat "$TEST_TMP/plain"
}
like "$(attach_plain "$beta")" 'lines' "without a name it takes the session of this folder"
kill -STOP "$slow_pid"
kill -KILL "$(field /gone pid)"
ok "a session whose process stands still is hung" wait_for 15 state_is /slow hung
ok "one that was killed has ended" wait_for 15 state_is /gone ended
ok "the hung one keeps nobody waiting" timeout 60 "$CORDON" sessions --json
# On a busy machine a session may answer too late, and look hung for a moment.
all_answer() { out=$("$CORDON" sessions --json) && [ "$(grep -c '"state":"hung"' <<<"$out")" = 1 ]; }
wait_for 30 all_answer # not in ok(), which has a shell of its own
like "$(attach_plain / "$(field /beta id)")" 'lines' "attach to another does not wait for it"
like "$out" 'two/alpha".*"asked":\{"approve_id":"[0-9a-f]+-1","op":"[a-z]+","path":"[^"]*two/alpha/.git/hooks/post-merge","program":"[^"]*sh"' "JSON says what is asked"
like "$("$CORDON" sessions)" "$(field /slow id) .*slow: cat: (it is stopped: kill -CONT $slow_pid|no answer|too many connections wait for it)" "and the list says why it is hung"
like "$out" '/beta".*"added":5,"deleted":0\}' "and how many lines of the folder changed"
like "$out" '"folder":"[^"]*x\\u001b\[2Jz\\u000a\* 1234 idle"' "names are escaped there"

start_board() {
	tmux_ respawn-pane -k -t =t: -c "$dir" "env -u TMUX $CORDON board --theme mono; echo \$? >$TEST_TMP/status; stty -a >$TEST_TMP/stty; exec sleep 600"
}
start_board
sees '╔═ sessions' "cordon board shows the sessions"
sees ' [0-9a-f]{4} +\? 1 waits +.*one/alpha +sh .*sh wants to write .git/hooks/post-merge' "the question of one"
sees ' [0-9a-f]{4} +\? 1 waits +.*two/alpha +sh .*sh wants to write .git/hooks/post-merge' "and of the other"
sees ' [0-9a-f]{4} +idle +.*beta +sh +.*\+5 -0' "one that rests, and its lines"
sees ' [0-9a-f]{4} +hung +.*slow +cat' "the hung one, by its recording"
sees ' [0-9a-f]{4} +ended +.*gone +sh' "the dead one"
sees '[0-9a-f]{4} +idle +.*\\n\* 1234 idle +cat' "a name is escaped"
is "$(screen | grep -c '╔═ sessions')" 1 "and moves nothing on the screen"
choose_row() { keys / && type_text "$1" && keys Enter; }

# ---- the answer goes to the one that was shown
tag=$(field two/alpha id)
choose_row two/alpha
act focus-approvals a
sees "\\? ASK - session $tag" "a shows the question"
sees 'folder +.*/two/alpha' "and whose it is"
keys Enter Space y
sees "\\? ASK - session $tag" "Enter, Space and y answer nothing"
pending_is() { [ "$(field "$1" pending)" = "$2" ]; }
ok "nothing was answered" wait_for 10 pending_is two/alpha 1
press_until '\+ Allowed: once' "a again allows it, once the question was there for half a second" a
ok "that one goes on" wait_for 10 test -s "$TEST_TMP/two/alpha/.git/hooks/post-merge"
ok "the other still waits" wait_for 10 state_is one/alpha asks
ok "and has nothing" test ! -e "$TEST_TMP/one/alpha/.git/hooks/post-merge"
choose_row one/alpha
keys a
sees "\\? ASK - session $(field one/alpha id)" "the other's question"
"$CORDON" deny "$(field one/alpha id)-1"
press_until 'x Not done: ' "another terminal was faster: the answer is refused" a
ok "it was denied" test ! -e "$TEST_TMP/one/alpha/.git/hooks/post-merge"
loses '\? ASK' "the dialog closes"

# ---- there and back
choose_row /beta
keys Enter
sees '━ > agent .*sh -c' "Enter goes there"
keys C-] q
sees 'let it go on' "leaving asks"
keys d
sees '╔═ sessions' "detaching comes back"
ok "it goes on" wait_for 15 state_is /beta idle

# ---- what a session has changed, and undo of its last turn
choose_row /beta
act diff-session d
sees "everything since session $(field /beta id) began" "d shows what has changed since the session began"
keys u
sees 'another session: go there' "where nothing can be undone"
keys q
sees '╔═ sessions' "q comes back"
choose_row /gone
keys d
sees "everything since session $(field /gone id) began" "also of one that has ended"
keys q
choose_row /slow
keys u
sees 'does not answer: only its own process' "one that is hung cannot undo"
choose_row /gone
keys u
sees 'It has ended: cordon undo --turn' "nor one that has ended"
choose_row /beta
act undo-turn u
sees 'goes away +lines' "u shows the plan of that session's own process"
keys q
sees '╔═ sessions' "to close it comes back to the list"
is "$(cat "$beta/lines")" "$(seq 5)" "and nothing was undone"
echo mine >"$edits/file"
choose_row /edits
keys u
sees 'edited since by you' "what the human edited is named in the plan of another"
keys U
sees 'keeps the edits' "and not confirmed as it is"
is "$(cat "$edits/file" "$edits/other")" "mine
agents" "nothing is undone"
press_until 'leaves files that you or another program edited' "K leaves it" K
press_until 'Rolled back|left as' "U undoes the rest" U
ok "which goes" wait_for 10 test ! -e "$edits/other"
is "$(cat "$edits/file")" mine "the edit stays"
loses '╔═' "the result stands in that session"
keys C-] q
sees 'let it go on' "leaving asks"
keys d
sees '╔═ sessions' "and comes back to the list"

choose_row /beta
act end-agent x
sees 'end session' "x asks"
sees 'Stays: its files as they are; its steps' "and says what stays"
press_until 'The session ends' "Q ends it" Q
ok "it has ended" wait_for 30 state_is /beta ended
sees ' [0-9a-f]{4} +ended +.*beta +sh +.*\+5 -0' "which the board says"
choose_row /beta
keys r
sees 'Space pause' "r shows its recording"
keys q
sees '╔═ sessions' "and comes back"
act show-recordings R
sees '╔═ recordings' "R lists the recordings"
sees " $tag +[A-Z][a-z]+ [0-9 ]+ [0-9:]+ +[0-9]+:[0-9]+ +[0-9]+ .*two/alpha +sh " "with begin, length, turns, folder, command"
sees '\\n\* 1234 idle' "escaped"
choose_row beta
keys Enter
sees 'Space pause' "Enter plays one"
keys q
sees '╔═ recordings' "and comes back"
keys q
loses '╔═ recordings' "q closes the list"
choose_row /slow
keys x
sees 'end session' "to end one that is hung"
press_until 'Telling it' "is said to it" Q
keys Escape
sees ' [0-9a-f]{4} +hung' "which holds nothing up: the board goes on"
keys n
sees 'Folder \[.*/(slow|beta|edits)\]:' "n asks for a folder"
type_text "$beta" && keys Enter
sees 'Command of cordon run \[' "and a command"
type_text "cat" && keys Enter
sees '━ > agent .* cat ━' "and starts it"
keys C-] q
sees 'let it go on' "leaving asks"
keys d
sees '╔═ sessions' "then the board is back"
keys q
ended "q leaves" 0
terminal_is_sane "afterwards"
kill -CONT "$slow_pid"
done_testing
