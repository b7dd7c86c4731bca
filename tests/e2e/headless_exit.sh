#!/bin/bash
# headless_exit - exit statuses and their messages.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
touch "$dir/plain"
printf '#!/does/not/exist\n' >"$dir/bad-script" && chmod +x "$dir/bad-script"

run() { # STATUS NAME COMMAND... ; leaves $out and $err
	local want=$1 name=$2
	shift 2
	out=$(cd "$dir" && "$CORDON" run --headless "$@" 2>"$TEST_TMP/err" </dev/null)
	is "$?" "$want" "$name"
	err=$(cat "$TEST_TMP/err")
}
one_line() { is "$(printf '%s' "$err" | grep -c '^cordon: ')" 1 "$1: one line that begins with cordon:" &&
	is "$(printf '%s\n' "$err" | wc -l)" 1 "$1: and nothing else"; }

run 0 "true" -- true
is "$err" "" "nothing on stderr"
run 1 "false" -- false
run 42 "a status" -- sh -c 'exit 42'
run 255 "the highest status" -- sh -c 'exit 255'
run 143 "128+15 for SIGTERM" -- sh -c 'kill -TERM $$'
run 137 "128+9 for SIGKILL" -- sh -c 'kill -KILL $$'
run 139 "128+11 for SIGSEGV" -- sh -c 'kill -SEGV $$'
run 127 "not found" -- no-such-command-here
one_line "not found"
like "$err" "'no-such-command-here'.*: install it, or say its path" "it is named, with what to do"
run 127 "a line for a shell in one word" -- 'echo a > b'
like "$err" ": a line for a shell is run by sh -c" "it is told so"
run 126 "not executable" -- ./plain
one_line "not executable"
run 126 "a directory" -- /usr
mkdir "$HOME/elsewhere" && cp /bin/true "$HOME/elsewhere/program"
run 0 "a program that is named, wherever it lies" --set sandbox.read-gate=trap -- "$HOME/elsewhere/program"
ln -s "$HOME/elsewhere/program" "$dir/link"
run 126 "one where nothing is granted, by a link of the folder, without FUSE" --set sandbox.read-gate=trap -- ./link
like "$err" "link' cannot be executed: .*where reading is granted .*--ro DIR" "with why, and what to do"
run 126 "a script without its interpreter" -- ./bad-script
run 127 "an absolute path that is not there" -- /no/such/file
run 0 "-- ends the options" -- sh -c 'exit 0' --headless
run 125 "an unknown option" --no-such-option -- true
one_line "an unknown option"
like "$err" no-such-option "it is named"
run 125 "no command" --
one_line "no command"

# A caller's signal reaches the command, whose status is returned.
(cd "$dir" && exec "$CORDON" run --headless -- sh -c 'trap "exit 7" TERM; echo up; while :; do sleep 0.1; done') \
	>"$TEST_TMP/up" &
pid=$!
wait_for 10 grep -q up "$TEST_TMP/up"
kill -TERM "$pid"
wait "$pid"
is "$?" 7 "SIGTERM is passed on, and what the command makes of it comes back"

# Processes that run after the command's end are killed: nothing is left behind.
mark=$(new_mark)
run 0 "a command that leaves processes behind" -- sh -c "setsid sh -c ': $mark; sleep 300' & exit 0"
ok "they are gone" wait_for 5 none_marked "$mark"

# Used by other programs like a plain command.
is "$(cd "$dir" && seq 3 | xargs -n1 "$CORDON" run --headless -- echo n | tr '\n' ' ')" "n 1 n 2 n 3 " "below xargs"
(cd "$dir" && "$CORDON" run --headless -- true <&- >&- 2>&-)
is "$?" 0 "with 0, 1 and 2 closed"
# A closed descriptor is never reused for a file of cordon's own, although the next open would get its number.
(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo x' >&- 2>/dev/null)
is "$?" 1 "with 1 closed a write fails as outside"
err=$(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo x; readlink /proc/self/fd/0; cat' <&- 2>&1 >"$TEST_TMP/out")
is "$? $(cat "$TEST_TMP/out")" "1 x
/dev/null" "with 0 closed no file of cordon's stands there"
like "$err" "Bad file descriptor" "and a read fails as outside"
(cd "$dir" && setsid -w "$CORDON" run --headless -- sh -c 'exit 3' </dev/null >/dev/null 2>&1)
is "$?" 3 "in a session without a terminal"
done_testing
