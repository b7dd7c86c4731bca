#!/bin/bash
# stuck - a stopped keeper: the processes inside end with cordon all the same.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)

agents() { pgrep -f "^sh -c : the agent of $mark;"; }
none_inside() { ! agents; }
# One that leads a terminal's session, and one that does not.
agent() { # MARK
	echo ": the agent of $1; (setsid sh -c ': the agent of $1; sleep 300' &); echo >up; sleep 300"
}
# stop_keeper NAME - stops the keeper of $pid, a cordon that runs the above.
stop_keeper() {
	wait_for 10 test -e "$dir/up"
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	kill -STOP "$keeper"
	isnt "$(agents)" "" "$1: there is an agent, and its keeper is stuck"
	rm -f "$dir/up"
}

for backend in $("$CORDON" doctor --json | sed -n 's/^{"backend":"\([a-z]*\)",.*"starts":true.*/\1/p' | grep -vx vm); do # a boot takes seconds: vm.sh
	mark=$(new_mark)
	(cd "$dir" && exec "$CORDON" run --headless --backend "$backend" -- sh -c "$(agent "$mark")") >/dev/null 2>&1 &
	pid=$!
	stop_keeper "$backend"
	kill -KILL "$pid" && wait "$pid" 2>/dev/null
	ok "$backend: 49: cordon is killed, and it ends" wait_for 10 none_inside
	kill -CONT "$keeper"
	ok "$backend: the keeper ends once it can" wait_for 10 none_marked "$mark"

	mark=$(new_mark)
	agent "$mark" >"$TEST_TMP/agent"
	start 100 30 "$dir" "exec '$CORDON' run --backend $backend -- sh -c \"\$(cat '$TEST_TMP/agent')\""
	wait_for 10 test -e "$dir/up"
	pid=$(host_of "^$CORDON run --backend $backend -- sh -c : the agent of $mark;")
	stop_keeper "$backend, console"
	kill -TERM "$pid"
	ok "$backend: 49: the console is left, and it ends" wait_for 10 none_inside
	kill -CONT "$keeper"
	ok "$backend: and so do the others" wait_for 10 none_marked "$mark"
	ok "$backend: the next session starts" cordon_in "$dir" run --headless --backend "$backend" -- true
done
done_testing
