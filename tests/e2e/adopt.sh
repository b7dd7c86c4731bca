#!/bin/bash
# adopt - a renamed folder finds its history again; a copy, a clone or another folder never does.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
a=$(new_folder a)
mkfifo "$TEST_TMP/hold"
[ "$(stat -c %W "$a")" != 0 ] || skip_all "this file system does not tell when a directory was made"
log() { cordon_in "$1" log 2>&1; }

# ---- renamed
echo 1 >"$a/f"
in_folder "$a" sh -c 'echo 2 >>f; mkdir d'
mv "$a" "$a.new"
out=$(log "$a.new")
like "$out" "No steps yet" "a folder that was renamed has no history of its own"
like "$out" "cordon: .*renamed.* $a: .*--adopt" "but is told of the one under its old name"
is "$(cordon_in "$a.new" log --json 2>/dev/null)" "" "not among the JSON"
cp -a "$a.new" "$a.copy"
unlike "$(log "$a.copy")" "adopt" "a copy of it is not"
out=$(cordon_in "$a.copy" log --adopt 2>&1)
is "$?" 1 "and cannot have it"
like "$out" "^cordon: no history" "in words"
ok "--adopt" cordon_in "$a.new" log --adopt
like "$(log "$a.new")" "echo 2 >>f" "takes it over"
like "$(cordon_in "$a.new" audit --json)" '"event":"touch"' "with the audit log"
ok "undo" cordon_in "$a.new" undo
is "$(cat "$a.new/f"; ls "$a.new")" "$(printf '1\nf')" "works under the new name"
ok "and redo" cordon_in "$a.new" redo
out=$(cordon_in "$a.new" log --adopt 2>&1)
is "$?" 1 "there is nothing more to take over"
mkdir "$a"
is "$(log "$a")" "No steps yet in $a." "another directory under the old name begins anew"
rmdir "$a"
mv "$a.new" "$a"
ok "back again" cordon_in "$a" log --adopt
ok "undo there" cordon_in "$a" undo
is "$(cat "$a/f")" 1 "works as well"
ok "redo" cordon_in "$a" redo

# ---- undone, redone or inspected before the rename was noticed: an empty history is none
mv "$a" "$a.new"
for how in undo redo 'undo --dry-run' 'undo --to 1' diff 'diff 1' 'journal verify' 'journal dump'; do
	# shellcheck disable=SC2086 # words
	out=$(cordon_in "$a.new" $how 2>&1)
	is "$?" 1 "$how under the new name does nothing"
	like "$out" "^cordon: .*renamed.* '$a': .*--adopt" "and says where the history is"
done
in_folder "$a.new" true
like "$(log "$a.new")" "renamed.* $a: .*--adopt" "after a run that changed nothing, too"
(cd "$a.new" && exec "$CORDON" run --headless -- sh -c 'echo; read -r x' <"$TEST_TMP/hold" >"$TEST_TMP/runs") &
exec 9>"$TEST_TMP/hold"
wait_for 10 test -s "$TEST_TMP/runs"
out=$(cordon_in "$a.new" log --adopt 2>&1)
is "$?" 1 "not while somebody works there"
exec 9>&- && wait $!
ok "--adopt" cordon_in "$a.new" log --adopt
like "$(log "$a.new")" "echo 2 >>f" "has it all"
ok "undo" cordon_in "$a.new" undo
ok "redo" cordon_in "$a.new" redo
mv "$a.new" "$a"
ok "and back" cordon_in "$a" log --adopt

# ---- changed by a step before the rename was noticed
mv "$a" "$a.new"
out=$(cd "$a.new" && "$CORDON" run --headless -- sh -c 'echo 3 >>f' 2>&1)
like "$(cordon_in "$a.new" audit --json)" "was renamed and begins a new history" "a run there says so"
ok "--adopt" cordon_in "$a.new" log --adopt
is "$?" 0 "they change places: nothing is thrown away"
like "$(log "$a.new")" "echo 2 >>f" "the old one is there"
unlike "$(log "$a.new")" "echo 3 >>f" "and the new one is not"
ok "--adopt" cordon_in "$a.new" log --adopt
like "$(log "$a.new")" "echo 3 >>f" "takes the other back"
ok "--adopt" cordon_in "$a.new" log --adopt
like "$(log "$a.new")" "echo 2 >>f" "and again"

# ---- replaced
mkdir "$a" && in_folder "$a" sh -c 'echo x >x' && mv "$a" "$a.away" && cp -a "$a.away" "$a"
out=$(log "$a")
like "$out" "cordon: .*another directory" "a directory in the place of another is told apart"
like "$out" "echo x" "the history is listed all the same"
out=$(cordon_in "$a" undo 2>&1)
is "$?" 1 "but nothing is undone there"
like "$out" "--adopt" "unless the human says that the files are the same"
ok "the right one takes it away" cordon_in "$a.away" log --adopt
like "$(log "$a")" "No steps yet in $a." "and the other has none"

# ---- made again: removed and cloned, restored, wiped
n=$(new_folder n) && echo 1 >"$n/f"
in_folder "$n" sh -c 'echo 2 >>f; echo new >g'
cp -a "$n" "$n.backup"
again() { rm -rf "$n" && cp -a "$n.backup" "$n"; }
again
out=$(cd "$n" && "$CORDON" run --headless -- sh -c 'echo ran; echo x >x' 2>&1)
is "$?" 0 "a session starts in a folder that was made anew"
like "$out" "ran" "and runs"
is "$(grep -c "put aside.*--adopt" <<<"$out")" 1 "one line says that the old history is put aside"
out=$(cd "$n" && "$CORDON" run --headless -- true 2>&1)
unlike "$out" "aside" "once"
out=$(log "$n")
unlike "$out" "echo 2 >>f" "the old steps are not its own"
like "$out" "put aside.*--adopt" "but are told of"
ok "undo" cordon_in "$n" undo
is "$(ls "$n")" "$(printf 'f\ng')" "of the new one"
ok "--adopt" cordon_in "$n" log --adopt
like "$(log "$n")" "echo 2 >>f" "takes the old one over"
ok "undo" cordon_in "$n" undo
is "$(cat "$n/f"; ls "$n")" "$(printf '1\nf')" "as its files are those of then"
ok "redo" cordon_in "$n" redo
is "$(cat "$n/f" "$n/g")" "$(printf '1\n2\nnew')" "redo"
again
echo edited >"$n/f"
ok "--adopt" cordon_in "$n" log --adopt
out=$(cordon_in "$n" undo 2>&1)
is "$?" 1 "what differs from what the step left"
like "$out" "f" "is a conflict"
is "$(cat "$n/f")" edited "and stays"
for i in 1 2 3 4 5 6; do
	again
	in_folder "$n" sh -c "echo $i >h"
done
store=$(find "$HOME/.local/state/cordon" -maxdepth 1 -name "$(basename "$n")-*")
is "$(find "$store/aside" -mindepth 1 -maxdepth 1 | wc -l)" 3 "no more than three are kept aside"
again
in_folder "$n" true
again
out=$(cd "$n" && "$CORDON" run --headless -- true 2>&1)
unlike "$out" "aside" "one without a step goes without a word"

# ---- killed while it is set aside, or adopted
in_folder "$n" sh -c 'echo 8 >h'
again
rm -rf "$store/aside" && mkdir -p "$store/aside/5" && mv "$store/steps" "$store/state" "$store/aside/5"
ok "a start goes on" in_folder "$n" true
ok "with the same one" test -e "$store/aside/5/version" -a -e "$store/aside/5/steps"
ok "--adopt" cordon_in "$n" log --adopt
like "$(log "$n")" "echo 8 >h" "which is whole"

# ---- a step that changed another folder too
c=$(new_folder c) d=$(new_folder d)
(cd "$c" && "$CORDON" run --headless --rw "$c" --rw "$d" -- sh -c "echo 1 >f; echo 1 >$d/f")
mv "$d" "$d.new"
out=$(cordon_in "$d.new" log --adopt 2>&1)
is "$?" 1 "a folder whose steps have parts elsewhere is not taken over"
like "$out" "^cordon: step 1 changed other folders.*$d'" "in words"
mv "$d.new" "$d"
ok "back under its name all is as before" cordon_in "$c" undo
is "$(cat "$c/f" "$d/f" 2>/dev/null)" "" "in both"

# ---- a store in the folder moves with it
if shm=$(mktemp -d /dev/shm/cordon-adopt.XXXXXX 2>/dev/null); then
	trap 'rm -rf "$shm"' EXIT
	b=$(new_folder b)
	export XDG_STATE_HOME=$shm
	in_folder "$b" sh -c 'echo y >y'
	ok "it lies there" test -e "$b/.cordon/version"
	mv "$b" "$b.new" && cp -a "$b.new" "$b.copy"
	out=$(log "$b.copy")
	unlike "$out" "adopt" "the copy's is a stranger's"
	like "$out" "discard" "and can be thrown away"
	out=$(in_folder "$b.copy" true 2>&1)
	is "$?" 0 "or a session puts it aside"
	like "$out" "put aside" "and says so"
	out=$(cordon_in "$b.copy" log --adopt 2>&1)
	is "$?" 1 "never taken over: it may be a clone of a stranger's"
	like "$(log "$b.new")" "renamed.*--adopt" "the renamed folder's is its own"
	out=$(in_folder "$b.new" true 2>&1)
	is "$?" 0 "a session begins there, too"
	like "$out" "--adopt" "one line says how to go back"
	ok "--adopt" cordon_in "$b.new" log --adopt
	ok "undo" cordon_in "$b.new" undo
	is "$(ls "$b.new")" "" "works"
fi
done_testing
