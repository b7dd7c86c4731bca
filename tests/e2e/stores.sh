#!/bin/bash
# stores - several working folders, each with a history of its own; steps that span them.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
a=$(new_folder a)
b=$(new_folder b)
cd "$a" || exit 1
run() { "$CORDON" run --headless --rw "$a" --rw "$b" -- "$@"; }
trees() { tree "$a" && tree "$b"; }

echo a >"$a/f" && echo b >"$b/f" && echo x >"$a/x"
t0=$(trees)
run sh -c 'echo more >>"$1/f"; rm x; mkdir "$2/d"; echo new >"$2/d/new"; echo b2 >"$2/f"' sh "$a" "$b"
t1=$(trees)
isnt "$t1" "$t0" "a command in both folders"
is "$(cordon_in "$a" log --json | grep -c '"id":')" 1 "one step in the first"
is "$(cordon_in "$b" log --json | grep -c '"id":')" 1 "one in the other"
like "$(cordon_in "$a" log)" "also in $b" "which say of each other"
like "$(cordon_in "$b" log)" "also in $a" "both ways"
unlike "$(cordon_in "$b" diff)" "more" "diff shows one folder's part"
like "$(cordon_in "$b" diff)" "b2" "its own"
out=$(cordon_in "$b" undo --dry-run)
like "$out" "$a/x" "--dry-run names the paths of the other folder"
same "$(trees)" "$t1" "and changes nothing"
ok "undo in one" cordon_in "$b" undo
same "$(trees)" "$t0" "undoes both parts"
ok "redo in the other" cordon_in "$a" redo
same "$(trees)" "$t1" "redoes both"

# One history, with steps of a single folder in between.
in_folder "$b" sh -c 'echo alone >alone'
t2=$(trees)
is "$(cordon_in "$b" log --json | head -n 1 | grep -o '"id":[0-9]*')" '"id":2' "a step of one folder alone"
out=$(cordon_in "$a" undo 2>&1)
is "$?" 1 "a step cannot be undone where later steps stand on its other part"
like "$out" "^cordon: .*$b" "which is said"
same "$(trees)" "$t2" "nothing was touched"
ok "from where the newest step is, both can" cordon_in "$b" undo -n 2
same "$(trees)" "$t0" "both are undone"
ok "redo" cordon_in "$a" redo
same "$(trees)" "$t2" "in one go"
cordon_in "$b" undo -n 2 >/dev/null

# A conflict in one stops both; names between folders.
run sh -c 'echo agent >"$1/c"; echo agent >"$2/c"' sh "$a" "$b"
echo human >>"$b/c"
t=$(trees)
out=$(cordon_in "$a" undo 2>&1)
isnt "$?" 0 "an edit in one folder stops the undo in both"
like "$out" "$b/c" "it is named"
same "$(trees)" "$t" "nothing was touched"
ok "--force" cordon_in "$a" undo --force
ok "took both" test ! -e "$a/c" -a ! -e "$b/c"
echo r >"$a/r"
is "$(run python3 -c 'import os,sys
for f in (os.rename, os.link):
	try: f(sys.argv[1] + "/r", sys.argv[2] + "/r")
	except OSError as e: print(e.errno)' "$a" "$b")" "$(printf '18\n18')" "rename and link between them: EXDEV"
run mv "$a/r" "$b/r"
ok "so mv copies" test ! -e "$a/r" -a -e "$b/r"
ok "undo" cordon_in "$b" undo
ok "brings it back" test -e "$a/r" -a ! -e "$b/r"

# The other folder is missing, or another cordon has it.
run sh -c 'echo 1 >"$1/gone"; echo 1 >"$2/gone"' sh "$a" "$b"
mv "$a" "$a.away"
out=$(cordon_in "$b" undo 2>&1)
isnt "$?" 0 "undo stops where the other folder is gone"
like "$out" "$a" "and names it"
ok "--force takes this part alone" cordon_in "$b" undo --force
ok "worked" test ! -e "$b/gone" -a -e "$a.away/gone"
mv "$a.away" "$a"
like "$(cordon_in "$b" log)" "undone.*not undone in $a" "the log says where it is not undone"
like "$(cordon_in "$a" log)" "undone in $b" "and in the other folder where it is"
like "$(cordon_in "$a" log --json | head -n 1)" "\"undone\":false.*\"split\":\\[\"$b\"\\]" "--json, too"
is "$(cordon_in "$a" log --json | undocumented log)" "" "whose members --help names"
if command -v tmux >/dev/null; then
	start 150 40 "$a" "$CORDON run -- sh"
	sees 'steps' "a console in the folder that keeps its part"
	keys C-] s
	sees "step [0-9]+, undone in $b" "says where the step is undone, as the log does"
	sees '[0-9]  .* - in part' "and that it is in part"
	close_all
fi
ok "redo of this part" cordon_in "$b" redo
unlike "$(cordon_in "$a" log && cordon_in "$b" log)" "undone in" "with that both folders keep it"
unlike "$(cordon_in "$a" log --json)" '"split"' "--json says nothing"
start_in "$a" sh -c 'echo up; until test -e go; do sleep 0.05; done' >"$TEST_TMP/up"
wait_for 20 grep -q up "$TEST_TMP/up"
out=$(cordon_in "$b" undo 2>&1)
isnt "$?" 0 "undo stops while another cordon has the other folder"
like "$out" "process $pid\\)" "whose process is named"
: >"$a/go"
wait "$pid"

# More folders than allowed.
many=()
for i in $(seq 9); do many+=(--rw "$(new_folder "m$i")"); done
out=$("$CORDON" run --headless "${many[@]}" -- true 2>&1)
is "$?" 125 "nine folders are refused"
is "$(wc -l <<<"$out")" 1 "in one line"
ok "eight are not" "$CORDON" run --headless --rw "$a" "${many[@]:0:14}" -- true
out=$("$CORDON" run --headless --rw "$a" --rw "$b" --rw "$b/." -- true 2>&1)
is "$?" 125 "the same folder twice"
like "$out" "^cordon: .*twice" "one line says so"
mkdir -p "$b/d"
out=$("$CORDON" run --headless --rw "$a" --rw "$b" --rw "$b/d" -- true 2>&1)
is "$?" 125 "one inside another"
like "$out" "one holds the other" "says which to name"

# A folder and one below it, in two sessions: the files would have two histories.
mkdir -p "$a/sub"
in_folder "$a" sh -c 'echo 1 >made; echo 2 >made'
mkfifo "$TEST_TMP/nested"
(cd "$a" && exec "$CORDON" run --headless -- sh -c 'echo; read -r x' <"$TEST_TMP/nested" >"$TEST_TMP/outer") &
exec 9>"$TEST_TMP/nested"
wait_for 10 test -s "$TEST_TMP/outer"
out=$(cd "$a/sub" && "$CORDON" run --headless -- true 2>&1)
is "$?" 125 "a folder inside that of a session is refused"
like "$out" "^cordon: .*another cordon .process [0-9]+. works in '$a', which holds '$a/sub'.*end it first" "in words"
exec 9>&- && wait $!
(cd "$a/sub" && exec "$CORDON" run --headless -- sh -c 'echo; read -r x' <"$TEST_TMP/nested" >"$TEST_TMP/inner") &
exec 9>"$TEST_TMP/nested"
wait_for 10 test -s "$TEST_TMP/inner"
out=$(cd "$a" && "$CORDON" run --headless -- true 2>&1)
is "$?" 125 "so is one around it"
like "$out" "'$a/sub', which lies in '$a'" "in words"
ok "a session elsewhere is not" in_folder "$(new_folder "${a##*/}-2")" sh -c 'echo 1 >f'
echo outside >"$a/outside"
for what in undo redo 'undo --step 1 -- made'; do
	# shellcheck disable=SC2086 # words
	out=$(cordon_in "$a" $what 2>&1)
	isnt "$?" 0 "$what around it is refused"
	like "$out" "'$a/sub', which lies in '$a'" "in words"
done
ok "what is only read is not" cordon_in "$a" log
[ "$(id -u)" != 0 ] || {
	other=$(new_folder bound)
	out=$(unshare -m sh -c 'mount --bind "$0" "$1" && cd "$1/sub" && exec "$2" run --headless -- true' "$a" "$other" "$CORDON" 2>&1)
	isnt "$?" 0 "nor is one below a bind mount's path run"
	like "$out" "'$a/sub', which is the same directory as '$other/sub'" "in words"
}
exec 9>&- && wait $!
for where in "$a" "$a/sub"; do
	(cd "$where" && exec "$CORDON" run --headless -- sh -c 'echo; read -r x' <"$TEST_TMP/nested" >"$TEST_TMP/each") &
	exec 9>"$TEST_TMP/nested"
	wait_for 10 test -s "$TEST_TMP/each"
	kill -KILL $! && wait $! 2>/dev/null
	exec 9>&-
	ok "after a kill -9 in ${where##*/} the next one runs" in_folder "$([ "$where" = "$a" ] && echo "$a/sub" || echo "$a")" true
done
ok "one after the other they run" in_folder "$a" true
rm -rf "$a/sub"

# A folder that is only read.
ro=$(new_folder ro) && echo look >"$ro/f"
out=$("$CORDON" run --headless --ro "$ro" -- sh -c 'cat "$1/f"; echo x >>"$1/f"; rm "$1/f"; mkdir "$1/d"' sh "$ro" 2>&1)
like "$out" ^look "--ro: visible inside, though it lies below /tmp"
is "$(grep -c 'Read-only file system' <<<"$out")" 3 "never writable"
is "$(cat "$ro/f")" look "it is as it was"
is "$(cordon_in "$ro" log --json)" "" "and has no history"
like "$(cordon_in "$a" audit --json | grep -F "$ro/f")" '"errno":30' "what was refused is in the audit log, as EROFS"
out=$("$CORDON" run --headless --rw "$b" --ro "$b/d" -- true 2>&1)
is "$?" 125 "not inside a working folder"
like "$out" "^cordon: --ro" "one line says so"

# The history belongs to the directory, not to its name.
c=$(new_folder c) && echo 1 >"$c/f"
in_folder "$c" sh -c 'echo 2 >>f; mkdir d'
mv "$c" "$c.moved" && mkdir "$c" && printf '1\n2\n' >"$c/f"
out=$(cordon_in "$c" undo 2>&1)
isnt "$?" 0 "undo refuses a directory that took the place of another"
like "$out" "^cordon: .*another directory.*--adopt" "and says what to do"
is "$(cat "$c/f")" "$(printf '1\n2')" "nothing was written there"
ok "a session begins anew" in_folder "$c" sh -c 'echo 3 >>f'
ok "undo" cordon_in "$c" undo
is "$(cat "$c/f")" "$(printf '1\n2')" "in the new one"
mv "$c" "$c.other" && mv "$c.moved" "$c"
ok "the right one is back: --adopt" cordon_in "$c" log --adopt
ok "undo" cordon_in "$c" undo
is "$(cat "$c/f"; ls "$c")" "$(printf '1\nf')" "works"
rm -rf "$c" && mv "$c.other" "$c"
ok "--discard" cordon_in "$c" log --discard --yes
ok "starts anew" in_folder "$c" sh -c 'echo 3 >>f'

# A store that cannot be made or has no room.
if [ "$(id -u)" = 0 ]; then
	tight() { # OPTIONS COMMAND...: with a tmpfs of these options for folder and store
		local options=$1
		shift
		unshare -m sh -c 'mount -t tmpfs -o "$0" none "$1" && mkdir -p "$1/w" "$1/state" && echo kept >"$1/w/f" &&
			eval "$2" && cd "$1/w" && export XDG_STATE_HOME="$1/state" && shift 2 && "$@"; r=$?; cat f; exit $r' \
			"$options" "$(new_folder mnt)" "$@" 2>&1
	}
	out=$(tight size=1m 'mount -o remount,ro "$1"' "$CORDON" run --headless -- true)
	is "$?" 125 "a folder and a store on a read-only file system: status"
	like "$out" "^cordon: .*$TEST_TMP/mnt/state.*Read-only" "one line says which"
	out=$(tight size=64k 'head -c 1m /dev/zero >"$1/fill" 2>/dev/null; true' "$CORDON" run --headless -- sh -c 'echo x >f')
	isnt "$?" 0 "a full file system"
	like "$out" "cordon: .*No space left" "is named"
	like "$out" "kept" "and nothing is lost"
else
	skip "a store on a read-only or full file system" "takes mounts"
fi
out=$(cordon_in "$a" undo --step 4711 -- f 2>&1)
isnt "$?" 0 "a step that does not exist"
like "$out" "^cordon: .*no step 4711" "is named"

# ---- several folders, in whatever order two starts name them
start() { # FOLDER... - in the first of them
	local args=() f
	for f; do args+=(--rw "$TEST_TMP/$f"); done
	(cd "$TEST_TMP/$1" && exec "$CORDON" run --headless "${args[@]}" -- true)
}
for f in order-one order-two order-three order-four; do
	in_folder "$(new_folder $f)" true
done
# Both have the lock of their first folder, and wait for one that another process holds.
state=$HOME/.local/state/cordon
exec 7<"$(echo "$state"/order-three-*/lock)" 8<"$(echo "$state"/order-four-*/lock)"
flock 7 && flock 8
start order-one order-three order-two >"$TEST_TMP/first" 2>&1 7<&- 8<&- & first=$!
start order-two order-four order-one >"$TEST_TMP/second" 2>&1 7<&- 8<&- & second=$!
sleep 0.4
exec 7<&- 8<&-
wait $first
first=$?
wait $second
second=$?
# A session waits for a second: on a busy machine the other one may have worked for longer.
told=$(cat "$TEST_TMP/first" "$TEST_TMP/second")
like "$first $second" '^(0 [0-9]+|[0-9]+ 0)$' "of two starts that name two folders in another order one has both: $told"
waits_for() { [ "$1" = 0 ] || { [ "$1" = 125 ] && [[ $told == *"another cordon (process "* ]]; }; }
ok "the other waits for it" waits_for $((first + second))
done_testing
