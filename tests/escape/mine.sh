#!/bin/bash
# mine - external edits during a step stay when the step is rolled back: by an abort, a safeguard, after a crash.
# SPDX-License-Identifier: MIT
# also with: BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/mine.sh"
need_sandbox python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
use_backend
PATH=$(dirname "$CORDON"):$PATH
out=$TEST_TMP/out turn=0 tree=$PWD

begin() {
	turn=$((turn + 1)) && dir=$(new_folder "work$turn")
	before_agent
}
# The agent writes, says "ready" and waits; the external edits are seen; then it continues.
edit_meanwhile() {
	wait_for 20 test -e "$dir/ready" || fail "the agent is ready"
	human
	wait_for 20 edits_are_seen || fail "the edits are seen"
	touch "$dir/go"
}
one_more() { in_folder "$dir" sh -c 'echo more >more' >/dev/null 2>&1; }

# ---- those inside abort it
begin
in_folder "$dir" sh -c "cordon step begin x; $agent; $waits; cordon step abort; cordon step end" >"$out" 2>&1 &
edit_meanwhile
wait
like "$(cat "$out")" "'(made/mine|new|place|save)' and others were edited from outside" "an abort is refused, and says why"
all_is_there "abort"
like "$(cat "$dir/theirs")" "agent" "abort: nothing was rolled back"
one_more
all_is_there "abort, and one more change"

# ---- a safeguard
begin
(cd "$dir" && seq 6 | xargs touch)
(cd "$dir" && exec "$CORDON" run --headless --steps auto --set safeguard.deletes=3 -- \
	sh -c "sh -c '$agent; $waits; rm 1 2 3 4 5 6'; :") >"$out" 2>&1 &
edit_meanwhile
wait
all_is_there "safeguard"
is "$(cat "$dir/theirs")" $'one\ntwo' "safeguard: the rest is rolled back"
is "$(cd "$dir" && echo [1-6])" "1 2 3 4 5 6" "safeguard: what was deleted is back"
are_named "$(cat "$out")" "the run"
are_named "$(cordon_in "$dir" log)" "the log"
one_more
all_is_there "safeguard, and one more change"

# ---- a crash; the edits come before it, and after it
says_so() { cordon_in "$dir" log | grep -q "interrupted when cordon ended.*echo agent"; }
crash() { # SECONDS - from the crash to the edits; 0: they came first
	begin
	start_in "$dir" sh -c "$agent; $waits" >/dev/null 2>&1
	wait_for 20 test -e "$dir/ready" || fail "the agent is ready"
	[ "$1" != 0 ] || { human && wait_for 20 edits_are_seen; }
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	kill -KILL "$pid" "$keeper"
	wait 2>/dev/null
	[ "$1" = 0 ] || { sleep "$1" && human; }
	ok "crash: the log says that a step waits" wait_for 10 says_so
	in_folder "$dir" true >"$out" 2>&1
	all_is_there "crash"
	is "$(cat "$dir/theirs")" $'one\ntwo' "crash: the rest is rolled back"
	are_named "$(cat "$out")" "the run"
	are_named "$(cordon_in "$dir" log)" "the log"
	one_more
	all_is_there "crash, and one more change"
}
crash 0
crash 4

# ---- undo, redo, one step alone
refused() { # NAME ARGUMENTS...
	local name=$1
	shift
	cordon_in "$dir" "$@" >"$out" 2>&1 && fail "$name is refused"
	like "$(cat "$out")" "(place|save|new|made/mine)" "$name is refused, and names a file"
	all_is_there "$name"
}
begin
in_folder "$dir" sh -c "$agent; $waits" >/dev/null 2>&1 &
edit_meanwhile
wait
for name in place save new; do
	refused "one path of a step, edited while it ran: $name" undo --step 1 -- "$name"
done
ok "paths that were not edited come back" cordon_in "$dir" undo --step 1 -- theirs made
is "$(cat "$dir/theirs")" $'one\ntwo' "as they were before"
is "$(ls "$dir/made")" "mine" "in a directory of the agent's the human's file alone stays"
all_is_there "one path of a step"

begin
in_folder "$dir" sh -c "$agent" >/dev/null 2>&1
human
refused "undo" undo
refused "one step alone" undo --step 1 -- place save new made
ok "undo --keep-mine" cordon_in "$dir" undo --keep-mine
all_is_there "undo --keep-mine"
is "$(cat "$dir/theirs")" $'one\ntwo' "undo --keep-mine: the rest is undone"
echo "HUMAN" >>"$dir/theirs"
cordon_in "$dir" redo >"$out" 2>&1 && fail "redo is refused"
like "$(cat "$out")" "'theirs' has changed since" "redo is refused, and names a file"
ok "redo --keep-mine" cordon_in "$dir" redo --keep-mine
all_is_there "redo --keep-mine"
one_more
all_is_there "redo --keep-mine, and one more change"

# ---- undo and redo by a model's tools, which have no force
begin
model_undoes
one_more
all_is_there "MCP, and one more change"

# ---- what is replaced by force outlasts the redo
brought() { # NAME - the folder has all of it again, be it beside
	like "$(cat "$dir"/place*)" "HUMAN in place" "$1: what was written in place is back"
	like "$(cat "$dir"/save*)" "HUMAN save" "$1: what was saved over it is back"
	like "$(cat "$dir"/new*)" "HUMAN in new" "$1: what was added to the agent's file is back"
	is "$(cat "$dir/made/mine")" "HUMAN made" "$1: what was put into the agent's directory is back"
}
number() { cordon_in "$dir" log | sed -n 's/.*cordon redo --saved \([0-9]*\)).*/\1/p'; }
begin
in_folder "$dir" sh -c "$agent" >/dev/null 2>&1
human
ok "undo --force" cordon_in "$dir" undo --force
is "$(number)" "" "nothing is saved as long as redo has it"
ok "redo" cordon_in "$dir" redo
all_is_there "undo --force, and redo"
one_more
is "$(number)" "" "nor once it is back"
ok "undo --force again" cordon_in "$dir" undo -n 2 --force
one_more
isnt "$(number)" "" "one more change, and it is saved"
are_named "$(cordon_in "$dir" log | grep saved)" "the log"
ok "redo --saved" cordon_in "$dir" redo --saved "$(number)"
brought "redo --saved"
isnt "$(cat "$dir/place")" "HUMAN in place" "what lies there is not replaced"
ok "one path alone" cordon_in "$dir" redo --saved "$(number)" -- made/mine
is "$(cat "$dir/made/mine.saved-$(number)")" "HUMAN made" "comes beside what is there"

# ---- edits that nobody could tell from the session's own: moments after the crash
begin
start_in "$dir" sh -c "$agent; $waits" >/dev/null 2>&1
wait_for 20 test -e "$dir/ready" || fail "the agent is ready"
keeper=$(pgrep -P "$pid" -x cordon-keeper)
kill -KILL "$pid" "$keeper"
wait 2>/dev/null
wait_for 10 has_ended "$keeper"
human
one_more
one_more
n=$(number)
[ -z "$n" ] || cordon_in "$dir" redo --saved "$n" >/dev/null
brought "a moment after a crash"

done_testing
