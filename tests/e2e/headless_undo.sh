#!/bin/bash
# headless_undo - log, diff, undo and redo of headless runs.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir -p src/deep empty
printf 'one\ntwo\nthree\n' >a.txt
printf 'int main(void) { return 0; }\n' >src/main.c
ln -s a.txt link
ln a.txt hard
mkfifo pipe
printf '\0\1\2' >binary
chmod 4751 binary
touch -d '2001-02-03 04:05:06.789' src/deep src/main.c
setfattr -n user.note -v kept src/main.c 2>/dev/null
setfacl -m u:1:r a.txt 2>/dev/null
in_folder . true # a store in the folder is made here, so that the step does not change the folder's time
t0=$(tree .)

in_folder . sh -c 'echo four >>a.txt; rm src/main.c; mkdir new; echo n >new/n; chmod 600 binary'
t1=$(tree .)
in_folder . sh -c 'mv a.txt moved.txt; rm -rf src link hard pipe empty; ln -s nowhere link'
t2=$(tree .)
isnt "$t1" "$t0" "the first run changed the folder"
isnt "$t2" "$t1" "the second one too"

steps() { "$CORDON" log --json | grep -c '"undone": *false'; }
is "$(steps)" 2 "two steps in the log"
like "$("$CORDON" log)" "mv a.txt moved.txt" "the log shows their commands"
json=$("$CORDON" log --json)
is "$(printf '%s\n' "$json" | wc -l)" 2 "two lines of JSON"
ok "each is JSON" python3 -c 'import json,sys; [json.loads(l) for l in sys.argv[1].splitlines()]' "$json"
like "$("$CORDON" diff)" "moved.txt" "diff shows the newest step"
like "$("$CORDON" diff)" "rename from a.txt" "a rename as a rename"
d1=$("$CORDON" diff 1)
like "$d1" $'\n\\+four' "an added line"
like "$d1" "old mode" "a mode change"
like "$d1" "deleted file" "a deleted file"
like "$("$CORDON" diff 1..2 --stat)" "moved.txt" "a range of steps, as statistics"
unlike "$("$CORDON" diff 1 new)" "four" "only the paths that were asked for"

same "$("$CORDON" undo --dry-run >/dev/null && tree .)" "$t2" "--dry-run changes nothing"
ok "undo" "$CORDON" undo
same "$(tree .)" "$t1" "the second step is gone, exactly"
ok "undo" "$CORDON" undo
same "$(tree .)" "$t0" "the first step is gone, exactly"
"$CORDON" undo >"$TEST_TMP/out" 2>&1
isnt "$?" 0 "nothing left to undo"
like "$(cat "$TEST_TMP/out")" "^cordon: " "and it says so"
is "$(steps)" 0 "undone steps are told from the others"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t1" "the first step is back, exactly"
ok "redo" "$CORDON" redo
same "$(tree .)" "$t2" "the second step is back, exactly"
ok "undo -n 2" "$CORDON" undo -n 2
same "$(tree .)" "$t0" "both at once"
ok "redo brings back both" "$CORDON" redo
same "$(tree .)" "$t2" "in one go"

# A new step drops the steps to redo.
"$CORDON" undo >/dev/null
in_folder . sh -c 'echo x >x'
"$CORDON" redo >/dev/null 2>&1
isnt "$?" 0 "no redo after a new step"

# Single files.
ok "one path of a step" "$CORDON" undo --step 1 -- src/main.c
is "$(cat src/main.c)" "int main(void) { return 0; }" "it is back"
ok "the other changes stay" grep -q four a.txt
t=$(tree .)

# A run without changes leaves no step.
before=$(steps)
in_folder . ls >/dev/null
is "$(steps)" "$before" "a run without changes is no step"

# An external edit is never overwritten silently.
in_folder . sh -c 'echo agent >shared; echo agent >other'
echo human >>shared
t=$(tree .)
out=$("$CORDON" undo 2>&1)
isnt "$?" 0 "undo stops at a path that somebody else changed"
like "$out" shared "which is named"
same "$(tree .)" "$t" "and nothing was touched"
ok "--force goes on" "$CORDON" undo --force
ok "the files are gone" test ! -e shared -a ! -e other
echo mine >other
like "$("$CORDON" redo 2>&1)" "--force \(undo brings back what is replaced\)" "a redo that stops says what brings that file back"
rm other
ok "redo" "$CORDON" redo
is "$(cat shared)" "$(printf 'agent\nhuman')" "what --force replaced comes back"

# Metadata alone: no content to show, and no error.
in_folder . sh -c 'chmod 700 other; python3 -c "import os; os.utime(\"shared\", (1, 2))"'
like "$("$CORDON" diff 2>&1)" "new mode 100700" "a mode and times alone"
unlike "$("$CORDON" diff 2>&1)" "no longer|changed since" "are no change of the content"
"$CORDON" undo >/dev/null

# From a subdirectory, and from elsewhere.
mkdir -p sub
ok "a step in a directory below" in_folder . sh -c 'echo s >sub/s'
like "$("$CORDON" log)" "sub/s" "is one"
ok "undo from a directory below" cordon_in sub undo
ok "worked" test ! -e sub/s

# The next command rolls back a step that ended with cordon, and says so.
interrupted() { # in a folder of its own, with a step before it
	dir=$(new_folder "$1") && cd "$dir" || exit 1
	in_folder . sh -c 'echo kept >kept'
	start_in . sh -c 'echo lost >lost; exec sleep 600' 2>/dev/null
	wait_for 10 test -s lost
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	wait_for 10 has_ended "$keeper"
}
said='a step was interrupted when cordon ended: 1 path is back as it was before it'
for command in 'undo --dry-run' 'undo' 'run --headless -- true'; do
	interrupted "${command//[ \/]/_}"
	# shellcheck disable=SC2086 # several words
	like "$("$CORDON" $command 2>&1)" "^cordon: $said" "cordon $command tells of it"
	is "$(echo lost*)" 'lost*' "and it is so"
	is "$(cat kept)" kept "the step before it is not undone with it"
done

# A step that continued without protection is restored in part: the report of its rollback must say so.
dir=$(new_folder unprotected) && cd "$dir" || exit 1
head -c 40000 /dev/zero >large
echo old >small
(exec "$CORDON" run --headless --set journal.size=20000 -- sh -c 'echo new >small; rm large; echo up >up; exec sleep 600') 2>/dev/null &
pid=$!
wait_for 10 test -s up
keeper=$(pgrep -P "$pid" -x cordon-keeper)
kill -KILL "$pid"
wait "$pid" 2>/dev/null
wait_for 10 has_ended "$keeper"
out=$("$CORDON" run --headless -- true 2>&1)
like "$out" "a step was interrupted" "an unprotected step that was interrupted is rolled back"
is "$(cat small) $(echo *)" "old small up" "as far as it was protected"
like "$out" "step 1 is not back as a whole: unprotected from here: unlink 'large'" "and the rest is told"
unlike "$("$CORDON" run --headless -- true 2>&1)" "not back" "once"

# An undo that was killed is finished, or reverted.
dir=$(new_folder killed) && cd "$dir" || exit 1
in_folder . sh -c 'echo first >first'
in_folder . sh -c 'for i in $(seq 8000); do echo $i >$i; done'
for _ in $(seq 100); do
	"$CORDON" undo >/dev/null 2>&1 &
	pid=$!
	# Waits until the first or last file is removed. In memory that is faster than a look at the processes.
	while [ -e 7990 ] && [ -e 1 ] && kill -0 "$pid" 2>/dev/null; do :; done
	pkill -KILL -P "$pid" -x cordon-keeper
	wait "$pid" 2>/dev/null
	left=$(find . -maxdepth 1 -name '[0-9]*' | wc -l)
	[ "$left" = 0 ] || break
	"$CORDON" redo >/dev/null 2>&1 || "$CORDON" redo >/dev/null # of one that was at its very end, too
done
out=$("$CORDON" undo 2>&1)
is "$?" 1 "an undo that comes upon it is refused"
like "$out" "^cordon: an undo was interrupted when cordon ended: it is finished now" "it tells what it has finished"
like "$out" "repaired first, and nothing else was undone" "and that it did no more"
is "$(find . -maxdepth 1 -name '[0-9]*' | wc -l)" 0 "so it is"
is "$(cat first)" first "the step before it is still there"
out=$("$CORDON" undo --dry-run 2>&1)
like "$out" "^D +goes away +first" "a dry run says what the next one would do"
unlike "$out" interrupted "and all else was told once"

# An undo request means the history before the repair: another step is undone only on the next request.
for command in undo redo 'undo --force'; do
	interrupted "again ${command#* }"
	# shellcheck disable=SC2086 # several words
	out=$("$CORDON" $command 2>&1)
	is "$?" 1 "$command after a step was interrupted is refused"
	like "$out" "repaired first.*\`cordon ${command%% *}\` again" "it says that all is as before that step"
	is "$(cat lost kept 2>/dev/null)" kept "and so it is"
	# shellcheck disable=SC2086
	ok "$command, asked again" "$CORDON" $command
done

# The output of --raw is a patch of just these files: no name refers to another file.
dir=$(new_folder names) && cd "$dir" || exit 1
odd=$'x\n--- a/victim\n+++ b/victim\n@@ -1 +1 @@\n-safe\n+taken\ny'
echo safe >victim
mkdir -p "${odd%/*}" && printf 'one\n' | tee ' two words' $'q"uote\\' $'bad\377' "$odd" >/dev/null
cp -r . ../before
in_folder . sh -c 'find . -type f ! -name victim -exec sh -c "echo two >>\"\$1\"" sh {} \;'
"$CORDON" diff --raw >"$TEST_TMP/raw.patch"
t=$(content .)
ok "a patch of odd names applies" env GIT_CEILING_DIRECTORIES="$TEST_TMP" sh -c 'cd ../before && git apply "$TEST_TMP/raw.patch"'
same "$(content ../before)" "$t" "to those files, and no others"

# No file of cordon's is visible in the folder.
cd "$TEST_TMP/work" || exit 1
ok "git status does not see a store" sh -c 'git init -q . && ! git status --porcelain | grep -q cordon'
done_testing
