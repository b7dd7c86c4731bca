#!/bin/bash
# vm_death - whichever part of a virtual machine's session dies, everything ends soon and nothing is lost.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/vm.sh"
. "$(dirname "$0")/../support/mine.sh"
vm_settings ''
dir=$(new_folder work)
echo kept >"$dir/kept"
before=$(tree "$dir")

# begin COMMAND - a session whose program has removed a file and made one, and continues.
begin() {
	mark=$(new_mark)
	: >"$TEST_TMP/out"
	(cd "$dir" && exec "$CORDON" run --headless --steps auto -- \
		sh -c "sh -c '${program:-}rm kept; echo new >made; echo up; sleep 600 & wait'; : $mark" </dev/null >"$TEST_TMP/out" 2>"$TEST_TMP/err") &
	session=$!
	wait_for 90 grep -q up "$TEST_TMP/out" || fail "a session runs" "$(cat "$TEST_TMP/err")"
}
over() { # NAME SECONDS
	ok "$1: nothing is left after $2 s" wait_for "$2" none_marked "$mark"
	wait "$session" 2>/dev/null
	status=$?
	for _ in 1 2 3; do # if the start repairs first, that is all it does
		[ ! -e "$dir/kept" ] || [ -e "$dir/made" ] || break
		(cd "$dir" && "$CORDON" undo) >/dev/null 2>&1
	done
	same "$(tree "$dir")" "$before" "$1: and everything can be had back"
}

begin
kill -KILL "$(vm_part cordon-fs "$mark")"
over "the file server" 2
is "$status" 125 "which is told by the status"
like "$(cat "$TEST_TMP/err")" "^cordon: the virtual machine's file server has ended" "and in words"

begin
kill -KILL "$(vm_part cordon-monitor "$mark")"
over "the monitor" 2
isnt "$status" 0 "which is no success"

begin
kill -KILL "$(vm_part cordon-keeper "$mark")"
over "the keeper" 2
isnt "$status" 0 "which is no success"

begin
kill -KILL "$session"
over "cordon" 2

# A user edits a file before, and the repair leaves it as it is. The edit comes after the last sign of life.
before_agent
program="$agent; " begin
human && wait_for 20 edits_are_seen
kill -KILL "$(vm_part cordon-keeper "$mark")"
ok "nothing is left" wait_for 20 none_marked "$mark"
wait "$session" 2>/dev/null
(cd "$dir" && "$CORDON" undo) >"$TEST_TMP/out" 2>&1
all_is_there "a crash"
is "$(cat "$dir/theirs")" $'one\ntwo' "a crash: the rest is rolled back"
are_named "$(cat "$TEST_TMP/out")" "the repair"
(cd "$dir" && rm -r made new save place theirs)
before=$(tree "$dir")

# During the boot.
for part in cordon-fs cordon-monitor cordon-keeper; do
	mark=$(new_mark)
	(cd "$dir" && exec "$CORDON" run --headless -- sh -c ": $mark" </dev/null >/dev/null 2>"$TEST_TMP/err") &
	session=$!
	wait_for 30 vm_part cordon-monitor "$mark" >/dev/null
	wait_for 30 vm_part "$part" "$mark" >/dev/null
	kill -KILL "$(vm_part "$part" "$mark")"
	over "$part while it boots" 2
	isnt "$status" 0 "which is no success"
done

# A guest that panics or reboots has ended; so has one that its root shuts down.
panics='echo 1 >/proc/sys/kernel/sysrq; rm kept; echo new >made; sync; echo c >/proc/sysrq-trigger; sleep 60'
mark=$(new_mark)
(cd "$dir" && exec "$CORDON" run --headless --steps auto -- sh -c "$panics; : $mark" </dev/null >/dev/null 2>"$TEST_TMP/err") &
session=$!
if wait_for 90 test -e "$dir/made"; then pass "a guest runs"; else fail "a guest runs" "$(cat "$TEST_TMP/err")"; fi
over "a kernel that panics" 10
is "$status" 125 "which is told by the status"
like "$(cat "$TEST_TMP/err")" 'virtual machine has switched itself off.*panic' "and its last words"

# And one whose root kills all but pid 1, while the user writes to a file that it reads.
echo "short" >"$dir/read"
kills='cat read >first; echo told >ready; until [ -e go ]; do :; done; cat read >second; (kill -KILL -1); sleep 600'
mark=$(new_mark)
(cd "$dir" && exec "$CORDON" run --headless --steps auto -- sh -c "$kills; : $mark" </dev/null >/dev/null 2>"$TEST_TMP/err") &
session=$!
if wait_for 90 test -s "$dir/ready"; then pass "a guest has read a file"; else fail "a guest has read a file" "$(cat "$TEST_TMP/err")"; fi
seq 2000 >"$dir/read" && : >"$dir/go"
ok "all that its root kills ends it" wait_for 60 none_marked "$mark"
wait "$session"
is "$?" 137 "as SIGKILL does"
is "$(cat "$dir/first")" short "what it read at first"
same "$(cat "$dir/second")" "$(seq 2000)" "and after the human had changed it: all of that"
done_testing
