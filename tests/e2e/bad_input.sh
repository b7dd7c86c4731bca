#!/bin/bash
# bad_input - one clear line with a remedy, the right status, and no loss.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
echo kept >"$dir/file"

refuses() { # STATUS REGEX NAME COMMAND...
	local want=$1 regex=$2 name=$3 out r
	shift 3
	out=$("$@" 2>&1 </dev/null)
	r=$?
	is "$r" "$want" "$name: status"
	like "$out" "^cordon: .*$regex" "$name: says it"
	is "$(printf '%s\n' "$out" | wc -l)" 1 "$name: in one line"
}

refuses 125 "home" "the home directory as working folder" in_folder "$HOME" true
refuses 125 "/" "the root as working folder" in_folder / true
gone=$(new_folder gone)
refuses 125 "." "a working folder that is gone" bash -c "cd '$gone' && rmdir '$gone' && exec '$CORDON' run --headless -- true"
refuses 125 "HOME=/tmp/x: inside, /tmp is another directory" "a home that would not exist inside" bash -c "cd '$dir' && HOME=/tmp/x exec '$CORDON' run --headless -- true"
refuses 125 "no-such" "--rw of a path that is not there" cordon_in "$dir" run --headless --rw /no-such -- true
refuses 125 "backend" "an unknown backend" cordon_in "$dir" run --headless --backend teleport -- true
refuses 125 "nonsense" "an unknown key" cordon_in "$dir" run --headless --set nonsense.key=1 -- true
refuses 125 "sandbox" "a bad value" cordon_in "$dir" run --headless --set sandbox.processes=many -- true
refuses 125 "bad.conf:2" "a bad file, with its line" bash -c "printf '[sandbox]\n\tprocessez = 1\n' >'$TEST_TMP/bad.conf'
	cd '$dir' && exec '$CORDON' run --headless --config '$TEST_TMP/bad.conf' -- true"
refuses 125 "no-such.conf" "a file that is not there" cordon_in "$dir" run --headless --config "$TEST_TMP/no-such.conf" -- true
out=$(cordon_in "$dir" --headless no-such-command 2>&1)
is "$?" 127 "a command behind options is run: not found"
like "$out" "no-such-command" "and is named"
out=$(cordon_in "$dir" frobnicate 2>&1)
is "$?" 127 "a word that is no subcommand and no program: not found"
is "$out" "cordon: 'frobnicate': neither a subcommand of cordon nor a program: cordon --help lists the subcommands" "and says where the subcommands are"
like "$(cordon_in "$dir" lgo 2>&1)" "did you mean cordon log" "a slip is told the nearest"
is "$(cordon_in "$dir" log --help | sed -n '1,/^$/p')" "usage: cordon log [--json] [--all-places] [--turns | PATH...]
       cordon log --prune [--keep N] [--older-than DAYS] [--size BYTES] [--yes]
       cordon log --adopt
       cordon log --discard [--yes]" "each way to call a command is a line of its usage"
is "$(cordon_in "$dir" log --keep 3 2>&1)" "cordon: --keep, --older-than, --size: only with --prune, which removes steps" "log --keep without --prune is not ignored"
is "$(cordon_in "$dir" vm --help | sed -n '2,3p')" "       cordon vm list [--json]
       cordon vm reset" "also where the alternatives repeat its name"
ok "--help" sh -c "'$CORDON' --help | grep -q undo"
ok "run --help" sh -c "'$CORDON' run --help | grep -q -- --headless"
for word in --version -V version; do
	like "$("$CORDON" $word)" "^cordon [0-9]" "$word"
done
is "$("$CORDON" help)" "$("$CORDON" --help)" "help"
unlike "$("$CORDON" redo --help)" "undo the rest|after the step|redo brings" "help of redo has its own words"
is "$("$CORDON" help undo)" "$("$CORDON" undo --help)" "help of a subcommand"
ok "attach --help" sh -c "'$CORDON' attach --help"
like "$("$CORDON" log --help)" "--older-than DAYS
 {18}remove steps" "a long option has its own line"
refuses 125 "one NAME" "two names for a restore point" cordon_in "$dir" mark a b
refuses 125 "'soon' is no count" "an age that is no number" cordon_in "$dir" stores --prune --older-than soon
refuses 125 "'undoo'.* did you mean cordon undo\?" "a subcommand with a slip" cordon_in "$dir" undoo
refuses 125 "'lgo'.* did you mean cordon log\?" "one with two letters exchanged" cordon_in "$dir" lgo
refuses 125 "'doctro'.* did you mean cordon doctor\?" "the last one of the list, too" cordon_in "$dir" doctro
for word in status list history; do refuses 125 "'$word'.* did you mean cordon log" "'$word', as other programs have" cordon_in "$dir" $word; done
for word in restore checkout revert; do refuses 125 "'$word'.* did you mean cordon undo --step STEP" "'$word'" cordon_in "$dir" $word; done
refuses 125 "did you mean cordon diff STEP\?" "'show', with its arguments" cordon_in "$dir" show 3
unlike "$(cordon_in "$dir" insidee --headless 2>&1)" "cordon inside" "a command that --help does not list is not proposed"
refuses 125 "-v log: .*cordon log --help" "a subcommand behind an option of run" cordon_in "$dir" -v log
refuses 125 "did you mean --headless" "an option with a slip" cordon_in "$dir" run --headles -- true
refuses 125 "--theme: of cordon run alone" "what only a console has, given to mcp" cordon_in "$dir" mcp --theme x
unlike "$("$CORDON" mcp --help)" " --(headless|stdio|steps|theme|keymap|record|exit|help)" "nor does its --help list it"
like "$("$CORDON" mcp --help)" " --rw .* --set " "but the options that are in force there"
refuses 125 "did you mean --stat" "of another command, too" cordon_in "$dir" diff --stats
refuses 125 "did you mean ui.mouse" "a key with a slip" cordon_in "$dir" run --headless --set ui.mous=true -- true
refuses 125 "unknown key foo: man cordon" "a key that is none" cordon_in "$dir" run --headless --set foo=bar -- true
is "$("$CORDON" pending 2>&1)" "cordon: nothing waits for an answer" "pending says that nothing waits"
is "$("$CORDON" pending 2>/dev/null)" "" "not to who reads the list"
is "$("$CORDON" pending --help 2>&1 >/dev/null)" "" "nor beside its help"

# The terminal
out=$(cd "$dir" && "$CORDON" run -- true 2>&1 </dev/null | cat)
like "$out" "^cordon: .*(terminal|--headless)" "no terminal: says --headless"

# Undo without anything to undo
fresh=$(new_folder fresh)
refuses 1 "undo" "nothing to undo" cordon_in "$fresh" undo
refuses 1 "redo" "nothing to redo" cordon_in "$fresh" redo
is "$(cordon_in "$fresh" log --json)" "" "an empty log"
refuses 1 "diff|step" "a step that is not there" cordon_in "$fresh" diff 99
for step in 0 0..1 1..0 -0; do
	refuses 1 "'$step': there is no such step" "a step that cannot be: diff $step" cordon_in "$fresh" diff $step
done
refuses 1 "'a..b': neither a file nor a range" "a range of words" cordon_in "$fresh" diff a..b
is "$(cd "$fresh" && find . | wc -l)" 1 "looking leaves nothing behind"
is "$(ls -d "$HOME/.local/state/cordon"/*/*fresh* 2>/dev/null)" "" "nor does a session begin"

refuses 125 "'--to': needs a value: --to STEP" "undo --to alone" cordon_in "$fresh" undo --to
refuses 125 "'--step': needs a value: --step STEP" "undo --step alone" cordon_in "$fresh" undo --step
refuses 125 "redo takes no number" "redo of a number" cordon_in "$fresh" redo 2

# Empty files have no lines to count.
numbers=$(new_folder numbers)
in_folder "$numbers" sh -c ': >empty; echo one >full'
is "$(cordon_in "$numbers" diff --stat | head -n 2)" "$(printf ' empty |     0\n full  |     1 +')" "diff --stat of an empty file"

# A variable with a socket's path is named as in rules.
refuses 125 "'.HOMES'.*no variable" "--allow-unix of what is not set" cordon_in "$dir" run --headless --allow-unix '$HOMES' -- true
python3 -c 'import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(600)' "$TEST_TMP/agent" &
listener=$!
ok "a socket listens" wait_for 10 test -S "$TEST_TMP/agent"
out=$(cd "$dir" && SSH_AUTH_SOCK=$TEST_TMP/agent "$CORDON" run --headless --allow-unix '$SSH_AUTH_SOCK' -- sh -c 'echo "at $SSH_AUTH_SOCK"' 2>/dev/null)
is "$out" "at $TEST_TMP/agent" "--allow-unix of its variable"
kill "$listener"

# Two at a time
start_in "$dir" sh -c 'echo up >&2; exec sleep 600' 2>"$TEST_TMP/up"
first=$pid
wait_for 10 grep -q up "$TEST_TMP/up"
refuses 125 "another cordon .process [0-9]+. works in this folder: undo in its console, by .cordon attach.; work beside it, by .cordon run --worktree.; or end it first$" "a folder that another cordon has" in_folder "$dir" true
refuses 1 "another cordon .process $first. works in this folder.*end it first" "undo of it" cordon_in "$dir" undo
refuses 1 "another cordon .process $first. works in this folder.*end it first" "a discard of its history" \
	cordon_in "$dir" log --discard --yes
kill "$first" && wait "$first" 2>/dev/null
ok "free again afterwards" in_folder "$dir" true

# A store of another version; a damaged one. Found by its files: version, lock, steps.
in_folder "$dir" sh -c 'echo more >>file; echo second >second'
store=$(find "$HOME/.local/state/cordon" -maxdepth 1 -name "$(basename "$dir")-*")
ok "there is a store" test -f "$store/version"
cp -a "$store" "$TEST_TMP/store.good"
sed -i '1s/[0-9]*$/77/' "$store/version"
refuses 1 "it has format 77, and this one reads format [0-9]+:.*discard" "undo with a store of another format" cordon_in "$dir" undo
echo 999 >"$store/version"
refuses 1 "discard" "undo with a store of another version" cordon_in "$dir" undo
is "$(cat "$dir/file")" "$(printf 'kept\nmore')" "nothing lost"
out=$(in_folder "$dir" true 2>&1)
is "$?" 0 "a session starts without that history"
like "$out" "put aside.*another version" "and says so"
is "$(cordon_in "$dir" log --json 2>/dev/null)" "" "with an empty one"
refuses 1 "another version" "which this version does not take over" cordon_in "$dir" log --adopt
is "$(cat "$dir/file")" "$(printf 'kept\nmore')" "and nothing lost"

rm -rf "$store" && cp -a "$TEST_TMP/store.good" "$store"
find "$store/steps" -type f | while read -r f; do
	head -c 200 /dev/urandom | dd of="$f" conv=notrunc bs=1 seek=8 status=none
done
out=$(cordon_in "$dir" undo 2>&1)
isnt "$?" 0 "undo with a damaged store stops"
like "$out" "^cordon: " "and says so"
is "$(cat "$dir/file")" "$(printf 'kept\nmore')" "nothing lost"
chmod 0 "$dir/file" 2>/dev/null
out=$(in_folder "$dir" sh -c 'echo x >new' 2>&1)
like "$? $out" '^(0|125)' "a run either starts or is refused in words"

# A full disk below the folder and the store: the call fails with ENOSPC, the rest stays undoable.
if [ "$(id -u)" = 0 ] && mkdir -p "$TEST_TMP/small" && mount -t tmpfs -o size=4m none "$TEST_TMP/small" 2>/dev/null; then
	mkdir "$TEST_TMP/small/work"
	head -c 1500000 /dev/urandom >"$TEST_TMP/small/work/big"
	in_folder "$TEST_TMP/small/work" true # its store cannot be on another file system: it is here
	t=$(tree "$TEST_TMP/small/work") big=$(sha256sum <"$TEST_TMP/small/work/big")
	out=$(in_folder "$TEST_TMP/small/work" sh -c 'echo 1 >a; echo x >>big; cp big b1; cp big b2; cp big b3; cp big b4; true' 2>&1)
	like "$out" "No space left" "the program sees ENOSPC"
	is "$(head -c 1500000 "$TEST_TMP/small/work/big" | sha256sum)" "$big" "and has lost nothing"
	log=$(cordon_in "$TEST_TMP/small/work" log)
	dd if=/dev/zero of="$TEST_TMP/small/filler" bs=4k status=none 2>/dev/null
	ok "what costs but a record can be done" in_folder "$TEST_TMP/small/work" rm a
	ok "and undone" cordon_in "$TEST_TMP/small/work" undo
	sleep 3 # opened for writing soon after a change, it might count as an external edit
	out=$(in_folder "$TEST_TMP/small/work" sh -c ': >big' 2>&1)
	like "$out" "cordon: the disk or the quota of the undo store .* is full.*--prune" "a line says why the rest is refused"
	is "$(cordon_in "$TEST_TMP/small/work" log | grep -v undone)" "$log" "and no step goes for it"
	rm "$TEST_TMP/small/filler"
	out=$(cordon_in "$TEST_TMP/small/work" undo 2>&1)
	r=$?
	if [ $r != 0 ]; then # no room to restore: one line says so, and it is finished when there is room
		like "$out" "^cordon: .*No space left" "undo on the full disk says why it cannot"
		is "$(head -c 1500000 "$TEST_TMP/small/work/big" | sha256sum)" "$big" "and loses nothing"
		mount -o remount,size=32m "$TEST_TMP/small"
		cordon_in "$TEST_TMP/small/work" run --headless -- true 2>/dev/null
		[ "$(tree "$TEST_TMP/small/work")" = "$t" ] || ok "undo when there is room" cordon_in "$TEST_TMP/small/work" undo
	fi
	same "$(tree "$TEST_TMP/small/work")" "$t" "everything is back"
	umount -l "$TEST_TMP/small"
else
	skip "a full disk" "only root can make one"
fi

# Another user's folder
if [ "$(id -u)" != 0 ]; then
	out=$(cd /etc && "$CORDON" run --headless -- true 2>&1)
	like "$? $out" '^125 cordon: ' "a folder that belongs to somebody else"
fi

# Options that belong together with --
is "$(in_folder "$dir" echo --headless -v)" "--headless -v" "options after the command are the command's"
done_testing
