#!/bin/bash
# lock - undo.external = lock: other programs may read the folder, but not write in it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir -p src/deep
echo old >src/a
echo old >src/deep/b
lock=(--set undo.external=lock)

if [ "$(id -u)" != 0 ]; then
	out=$("$CORDON" run --headless "${lock[@]}" -- sh -c 'echo ran' 2>&1)
	is "$?" 125 "without the privilege nothing starts"
	like "$out" "^cordon: .*undo.external = lock.*root.*barrier" "and it is said what to do"
	done_testing
	exit
fi

# The result for an external program, with the current lock.
try() { (eval "$1") 2>/dev/null && echo yes || echo no; }
appeared() { [ "$(try 'echo x >>src/made/deep/f')" = no ]; }

mkfifo "$TEST_TMP/in"
"$CORDON" run --headless "${lock[@]}" -- sh -c '
	echo agent >src/a; mkdir -p src/made/deep; echo agent >src/made/deep/f; cat src/deep/b
	echo ready; read -r _; echo later >>src/a; cat src/made/deep/f' <"$TEST_TMP/in" >"$TEST_TMP/out" 2>"$TEST_TMP/err" &
pid=$!
exec 3>"$TEST_TMP/in"
wait_for 30 grep -q ready "$TEST_TMP/out"
is "$(cat src/a)" agent "the agent writes, and others read"
is "$(try 'echo human >>src/a')" no "an edit in place is refused"
is "$(try ': >src/deep/b')" no "so is truncation, at any depth"
is "$(try 'printf x | dd of=src/deep/b conv=notrunc status=none')" no "and writing without it"
is "$(try 'python3 -c "import threading as t
def w():
    try: open(\"src/a\", \"a\").close(); print(1)
    except PermissionError: print(0)
x = t.Thread(target=w); x.start(); x.join()" | grep -q 1')" no "from any thread"
is "$(try 'python3 -c "open(\"src/a\").read()"')" yes "reading is not"
is "$(try 'grep -rq old src')" yes "nor listing"
ok "a directory that the agent made is locked soon" wait_for 10 appeared
is "$(try 'echo x >>"$TEST_TMP/elsewhere"')" yes "other places are open"
is "$(cat src/a) $(cat src/deep/b)" "agent old" "nothing was changed"
echo >&3
exec 3>&-
wait "$pid"
is "$?" 0 "the session ends well"
like "$(cat "$TEST_TMP/out")" "agent$" "the agent was not locked out"
is "$(tail -n 1 src/a)" later "to its end"
is "$(try 'echo human >>src/deep/b')" yes "the lock ends with the session"
ok "undo" "$CORDON" undo --force
is "$(cat src/a)" old "as before"

# Whichever process dies, the folder is opened again.
for who in cordon-keeper cordon-lock; do
	: >"$TEST_TMP/out"
	"$CORDON" run --headless "${lock[@]}" -- sh -c 'echo ready; sleep 600' >"$TEST_TMP/out" 2>/dev/null &
	pid=$!
	wait_for 30 grep -q ready "$TEST_TMP/out"
	is "$(try 'echo human >>src/a')" no "locked once more"
	keeper=$(pgrep -P "$pid" cordon-keeper)
	if [ "$who" = cordon-lock ]; then
		kill -KILL "$(pgrep -P "$keeper" cordon-lock)"
	else
		kill -KILL "$keeper"
	fi
	opened() { [ "$(try 'echo human >>src/a')" = yes ]; }
	ok "open again after the end of $who" wait_for 10 opened
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
done
done_testing
