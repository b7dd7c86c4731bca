#!/bin/bash
# edits - external edits: refused, left out, merged, overwritten; redo restores all.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
dir=$(new_folder work)
has_step() { cordon_in "$1" log | grep -q "$2"; } # FOLDER COMMAND
cd "$dir" || exit 1
seq 1 20 >file
echo old >other

# Edited while cordon is not running: the post-images show it.
in_folder . sh -c 'sed -i s/^3$/AGENT/ file; echo new >other; echo made >made'
sed -i 's/^18$/HUMAN/' file
t=$(tree .)
out=$("$CORDON" undo 2>&1)
is "$?" 1 "a rollback over an edit is refused"
like "$out" "CONFLICT: changed by someone else" "the plan says so"
like "$out" "'file' has changed since.*--keep-mine.*--merge.*--force" "and what to do"
same "$(tree .)" "$t" "nothing was touched"

out=$("$CORDON" undo --keep-mine --dry-run)
like "$out" "=  stays +file" "--keep-mine would leave it"
like "$out" "other" "and undo the rest"
like "$("$CORDON" undo --keep-mine)" $'\nundone: step 1, 2 paths; 1 left as it is$' "--keep-mine"
is "$(sed -n 18p file) $(sed -n 3p file)" "HUMAN AGENT" "the edited file stays as it is"
is "$(cat other) $(test -e made || echo gone)" "old gone" "the rest is undone"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t" "brings the rest back"
isnt "$("$CORDON" undo 2>&1 >/dev/null)" "" "it is still the human's file"

out=$("$CORDON" undo --merge --dry-run)
like "$out" "M +changes +file +changed by someone else since: merged" "--merge would merge it"
like "$out" $'\n-AGENT\n\\+3\n' "the result is shown as a diff"
unlike "$out" "[-+]HUMAN" "in which the edit stays"
same "$(tree .)" "$t" "--dry-run writes nothing"
ok "--merge" "$CORDON" undo --merge
is "$(sed -n 18p file) $(sed -n 3p file)" "HUMAN 3" "the file has the edit and not the step"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t" "brings back what the merge replaced"
ok "--force" "$CORDON" undo --force
is "$(cat file)" "$(seq 1 20)" "goes over it"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t" "has it"

# Left as it is, and a new step: only that step captured the version before it.
has_saved() { "$CORDON" log | sed -n 's/.*rolled back: file (cordon redo --saved \([0-9]*\)).*/\1/p'; }
seq 1 20 >file
in_folder . sh -c 'sed -i s/^3$/AGENT/ file; echo new >other'
echo HUMAN >>file
ok "--keep-mine" "$CORDON" undo --keep-mine
is "$(has_saved)" "" "redo has the version from before the step"
in_folder . sh -c 'echo next >next'
isnt "$(has_saved)" "" "a new step saves it"
ok "redo --saved" "$CORDON" redo --saved "$(has_saved)"
is "$(cat "file.saved-$(has_saved)")" "$(seq 1 20)" "brings it back beside the file"
is "$(sed -n 3p file) $(tail -n 1 file) $(cat other)" "AGENT HUMAN new" "which stays"
rm file.saved-*

# Both sides changed the same lines.
in_folder . sh -c 'echo agent >other; printf "\0" >made'
echo human >other
echo human >made
t=$(tree .)
out=$("$CORDON" undo --merge 2>&1)
is "$?" 1 "--merge writes no conflict"
like "$out" "other.*no merge: both sides changed the same lines" "and says which"
like "$out" "made.*no merge: " "a binary file is none to merge"
same "$(tree .)" "$t" "nothing was touched"
ok "--merge --force" "$CORDON" undo --merge --force
like "$(cat other)" "<<<<<<< edited since.human.=======.new.>>>>>>> before the step" "writes markers"
is "$(cat made)" "made" "and goes over the rest"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t" "everything is back"
isnt "$("$CORDON" undo --force --keep-mine 2>&1)" "" "--force --keep-mine: one of them"
same "$(tree .)" "$t" "is refused"

# A redo meets an edit as well.
"$CORDON" undo --keep-mine >/dev/null
in_folder . sh -c 'echo again >again'
"$CORDON" undo >/dev/null
echo human >again
isnt "$("$CORDON" redo 2>&1)" "" "a redo over an edit"
is "$(cat again)" "human" "is refused"
ok "redo --keep-mine" "$CORDON" redo --keep-mine
is "$(cat again)" "human" "leaves it"

# By a name that no step has used.
echo old >linked
ln linked name
in_folder . sh -c 'echo agent >>linked; rm linked'
echo human >>name
like "$("$CORDON" undo --dry-run)" "linked +CONFLICT: .*by another name of the file" "the plan says by what name"
like "$("$CORDON" undo 2>&1)" "'linked' has changed since by another name" "and so does the refusal"
is "$(tr '\n' ' ' <name)" "old agent human " "the edit stays"

# One command creates a file, and removes it after an edit: nothing of it is left, and the step has the edit.
turn=0
for edit in 'echo HUMAN >>f' 'echo HUMAN >.f && mv .f f'; do
	for remove in 'rm f' 'mv f g; rm g' 'echo again >f; rm f'; do
		turn=$((turn + 1))
		at=$(new_folder "removed$turn")
		(cd "$at" && exec "$CORDON" run --headless -- \
			sh -c "echo made >f; until [ -e $TEST_TMP/go$turn ]; do sleep 0.05; done; $remove") >/dev/null 2>&1 &
		ok "the file is made ($edit; $remove)" wait_for 20 test -s "$at/f"
		sleep 0.3
		(cd "$at" && eval "$edit")
		sleep 0.5
		touch "$TEST_TMP/go$turn"
		wait $!
		like "$(cordon_in "$at" undo 2>&1)" "CONFLICT: changed by someone else" "an undo asks"
		ok "undo --keep-mine" cordon_in "$at" undo --keep-mine
		in_folder "$at" sh -c 'echo next >next'
		n=$(cordon_in "$at" log | sed -n 's/.*rolled back: .*(cordon redo --saved \([0-9]*\)).*/\1/p')
		ok "redo --saved" cordon_in "$at" redo --saved "${n:-0}"
		like "$(cd "$at" && cat [fg])" "HUMAN" "has the edit"
	done
done

# One command changes a file, the user saves it, the command changes it again: neither undo nor redo has the user's
# version.
at=$(new_folder between)
in_folder "$at" sh -c 'echo before | tee f >g; chmod 640 g'
start_in "$at" sh -c 'echo a >f; echo a >g; touch ready; until [ -e go ]; do sleep 0.05; done; echo b >f; echo c >f; rm g'
ok "the command has changed it" wait_for 20 test -e "$at/ready"
saves() { # COMMAND FILE - until the running step has a note of it
	(cd "$at" && eval "$1") && sleep 0.2
	grep -aq "0/$2" "$HOME"/.local/state/cordon/between-*/open/*/edited
}
ok "the session sees an edit in place" wait_for 20 saves 'echo HUMAN F >f' f
ok "and a save over the file" wait_for 20 saves 'echo HUMAN G >.g && chmod 640 .g && mv .g g' g
touch "$at/go"
wait "$pid"
is "$(cat "$at/f")" "c" "the command has written it again"
row=$(cordon_in "$at" log | grep 'overwrote what you had edited')
n=$(sed -n 's/.*(cordon redo --saved \([0-9]*\)).*/\1/p' <<<"$row")
like "$row" "step 2 .*: .*f.*g|step 2 .*: .*g.*f" "the log names both files"
like "$(cordon_in "$at" log --json)" "\"saved\":$n,\"step\":2,\"overwritten\":true" "so does its JSON"
like "$(cordon_in "$at" undo 2>&1)" "'f' has changed since.*cordon redo --saved $n" "the refusal of an undo names the way"
ok "redo --saved" cordon_in "$at" redo --saved "$n"
is "$(cat "$at/f.saved-$n" "$at/g")" $'HUMAN F\nHUMAN G' "has your versions"
is "$(stat -c %a "$at/g")" 640 "with their permissions"
rm "$at/f.saved-$n" "$at/g"
ok "undo --force" cordon_in "$at" undo --force
is "$(cat "$at/f" "$at/g")" $'before\nbefore' "brings back what was before the command"
in_folder "$at" sh -c 'echo next >next'
ok "redo --saved -- PATH" cordon_in "$at" redo --saved "$n" -- f
is "$(cat "$at/f.saved-$n")" "HUMAN F" "has your version after another step, too"

# The same while the command has the files open, two of which it made, or under names that the user gave them (only the
# user's own close reports a save there); with another directory in the place of theirs; and with a user's file in a
# directory that the command makes and removes.
at=$(new_folder held)
in_folder "$at" sh -c 'mkdir d swap was; for f in cut gone over d/below moved swap/f was/f mark; do echo before >$f; done'
start_in "$at" bash -c 'exec 5>>cut 6>>gone 7>>over; echo a >&5; echo a >&6; echo a >&7
	exec 8>born 9>dying; echo a >&8; echo a >&9; mv was is
	mkdir made; echo a >d/below; echo a >moved; echo a >swap/f; echo a >mark; touch ready; until [ -e go ]; do sleep 0.05; done
	echo b >cut; echo b >born; rm gone dying; echo b >new; mv new over; echo b >d2/below; echo b >moved2
	echo b >swap/f; rm -r made was; echo b >mark'
ok "the command has changed them" wait_for 20 test -e "$at/ready"
sleep 0.2 # then no file that the command made is new
(cd "$at" && mv d d2 && mv moved moved2
	for f in cut born gone dying over d2/below moved2 made/mine; do echo "HUMAN $f" >$f; done
	mkdir was && echo "HUMAN was/f" >was/f
	mkdir new && echo "HUMAN swap/f" >new/f && mv swap old && mv new swap)
saves() { # FILE - until the running step has a note of it, and so of all before it
	echo MARK >"$at/$1" && sleep 0.2
	grep -aq "0/$1" "$HOME"/.local/state/cordon/held-*/open/*/edited
}
ok "the session sees your saves" wait_for 20 saves mark
touch "$at/go"
wait "$pid"
n=$(cordon_in "$at" log | sed -n 's/.*(cordon redo --saved \([0-9]*\)).*/\1/p')
ok "redo --saved" cordon_in "$at" redo --saved "${n:-0}"
for f in cut born over d2/below moved2 swap/f; do
	is "$(cat "$at/$f.saved-$n")" "HUMAN $f" "has your version of $f"
done
is "$(cat "$at"/{gone,dying,made/mine,was/f})" $'HUMAN gone\nHUMAN dying\nHUMAN made/mine\nHUMAN was/f' \
	"has those that the command has removed"

# The command renames the directory of a file that it made and you edited.
at=$(new_folder carried)
start_in "$at" sh -c 'mkdir d; echo a >d/f; touch ready; until [ -e go ]; do sleep 0.05; done; mv d e'
ok "the command has made a file" wait_for 20 test -e "$at/ready"
saves() { # until the running step has a note of it
	echo HUMAN >"$at/d/f" && sleep 0.2
	grep -aq 0/d/f "$HOME"/.local/state/cordon/carried-*/open/*/edited
}
ok "the session sees your save" wait_for 20 saves
touch "$at/go"
wait "$pid"
like "$(cordon_in "$at" undo 2>&1)" "'e/f' has changed since" "an undo asks about the file by its new name"
is "$(cat "$at/e/f")" HUMAN "and leaves it"

# Between two steps that are undone together, in place, by a save over it, and in a directory that the second step
# renames: the undo replaced your version after the agent's.
at=$(new_folder two)
in_folder "$at" sh -c 'mkdir d; for f in same over d/in left; do echo before >$f; done'
in_folder "$at" sh -c 'for f in same d/in left; do echo a >$f; done; echo a >n; mv n over; mkdir made'
(cd "$at" && for f in same d/in; do echo "HUMAN $f" >$f; done; echo "HUMAN over" >.n && mv .n over)
echo "HUMAN made/mine" >"$at/made/mine"
in_folder "$at" sh -c 'mv d e; echo b >made/mine; echo b >same; echo b >e/in; echo b >left; echo b >n; mv n over'
ok "undo -n 2 --force" cordon_in "$at" undo -n 2 --force
in_folder "$at" sh -c 'echo next >next'
n=$(cordon_in "$at" log | sed -n 's/.*(cordon redo --saved \([0-9]*\)).*/\1/p')
ok "redo --saved" cordon_in "$at" redo --saved "${n:-0}"
for f in same over; do
	is "$(cat "$at/$f.saved-$n" "$at/$f.saved-$n-2")" $'b\n'"HUMAN $f" "has the agent's version and yours of $f"
done
is "$(cat "$at/e/in" "$at/e/in.saved-$n-2")" $'b\nHUMAN d/in' "also where a directory was renamed after your save"
is "$(cat "$at/made/mine" "$at/made/mine.saved-$n-2")" $'b\nHUMAN made/mine' "and in a new directory"
is "$(find "$at" -maxdepth 1 -name "*.saved-*" | wc -l)" 4 "and no others"

# The same if the agent's version is gone or a link, and if the undo leaves the files.
for how in --force --keep-mine; do
	at=$(new_folder "two$how")
	in_folder "$at" sh -c 'for f in kept gone link; do echo before >$f; done'
	in_folder "$at" sh -c 'for f in kept gone link; do echo a >$f; done'
	(cd "$at" && for f in kept gone link; do echo "HUMAN $f" >$f; done)
	in_folder "$at" sh -c 'echo b >kept; rm gone; rm link; ln -s kept link'
	ok "undo -n 2 $how" cordon_in "$at" undo -n 2 $how
	in_folder "$at" sh -c 'echo next >next'
	n=$(cordon_in "$at" log | sed -n 's/.*(cordon redo --saved \([0-9]*\)).*/\1/p')
	ok "redo --saved" cordon_in "$at" redo --saved "${n:-0}"
	for f in kept gone link; do
		like "$(cat "$at/$f.saved-$n"*)" "HUMAN $f" "has your version of $f"
	done
done

# Bytes of the agent never reach a protected name between conflict markers.
at=$(new_folder guarded)
git -C "$at" init -q && cp "$at/.git/config" config
in_folder "$at" sh -c 'mv .git/config moved; echo "[agent]" >>moved' >/dev/null 2>&1
echo '[human]' >>"$at/moved"
like "$(cordon_in "$at" undo --merge 2>&1)" "of a protected file" "a protected file gets no conflict markers"
ok "undo --merge --force" cordon_in "$at" undo --merge --force
same "$(cat "$at/.git/config")" "$(cat config)" "brings it back as it was"

# In a directory that the running step has created or moved: right after the file was created, before its directory
# could be listed, and a while later.
turn=0
for made in 'mkdir d; echo agent >d/f' 'mkdir -p d/e; echo agent >d/f' 'mkdir c d; echo agent >c/f; rm -r d; mv c d' \
	'mkdir d; rm -r d; mkdir d; echo agent >d/f' 'mkdir c d; mv -T c d; echo agent >d/f'; do
	for pause in 0 0.5; do
		turn=$((turn + 1))
		at=$(new_folder "made$turn")
		(cd "$at" && exec "$CORDON" run --headless --steps one -- \
			sh -c "$made; touch ready; until [ -e go ]; do sleep 0.05; done") >/dev/null 2>&1 &
		ok "the directory is made ($made)" wait_for 20 test -e "$at/ready"
		sleep "$pause"
		echo HUMAN >>"$at/d/f" && touch "$at/go"
		wait $!
		isnt "$(cordon_in "$at" undo 2>&1 >/dev/null)" "" "an undo asks"
		is "$(cat "$at/d/f")" $'agent\nHUMAN' "the edit stays"
	done
done

# Right before a step: the edit is not a part of the step, whose change is restored alone.
mkdir before && seq 1 20 >before/file
(cd before && exec "$CORDON" run --headless --steps auto -- \
	sh -c 'sh -c "echo first >first"; until [ -e go ]; do sleep 0.01; done; sed -i s/^3$/AGENT/ file; :') >"$TEST_TMP/out" 2>&1 &
ok "a step has begun" wait_for 20 has_step before first
sed -i 's/^18$/HUMAN/' before/file && touch before/go
wait $!
like "$(cordon_in before log)" "edited from outside: file" "the edit is in the history"
ok "the step after it is undone" cordon_in before undo
is "$(sed -n 18p before/file) $(sed -n 3p before/file)" "HUMAN 3" "and the edit stays"
done_testing
