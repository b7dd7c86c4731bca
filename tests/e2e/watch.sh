#!/bin/bash
# watch - edits during a session: reported live, a barrier in the history; and changes that are no edits.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir -p src/deep
echo old >src/a
echo notes >notes

# A session that runs $1, waits for end_session, and runs $2.
# shellcheck disable=SC2016
session() {
	local steps
	steps=$("$CORDON" audit --json 2>/dev/null | grep -c '"event":"step"')
	rm -f "$TEST_TMP/in" "$TEST_TMP/out"
	mkfifo "$TEST_TMP/in"
	"$CORDON" run --headless --steps auto -- sh -c 'sh -c "$1"; echo ready; read -r _; sh -c "$2"' \
		sh "$1" "$2" <"$TEST_TMP/in" >"$TEST_TMP/out" &
	pid=$!
	exec 3>"$TEST_TMP/in"
	wait_for 30 grep -q ready "$TEST_TMP/out"
	# Subdirectories are watched by now; else the post-images are used, which are made at the end of the step.
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	[ "$UID" != 0 ] || wait_for 20 listed src/deep # a user may not read that
	wait_for 20 committed $((steps + 1))
}
committed() { [ "$("$CORDON" audit --json 2>/dev/null | grep -c '"event":"step"')" -ge "$1" ]; }
# listed DIR - the keeper has begun to watch it, so its siblings were checked
listed() {
	grep -qs "^inotify .*ino:$(printf %x "$(stat -c %i "$1")") " "/proc/$keeper/fdinfo/"*
}
end_session() {
	echo >&3
	exec 3>&-
	wait "$pid"
}
edits() { "$CORDON" audit --json 2>/dev/null | grep '"external-edit"'; }

session 'echo agent >src/a' 'echo later >later'
echo human >>notes
wait_for 20 eval 'edits | grep -q notes' || note "no event"
end_session
like "$(edits)" "/notes" "an edit beside the session is told at once"
unlike "$(edits)" "src/a|later" "what the agent does is none"
log=$("$CORDON" log)
like "$log" "edited from outside: notes" "the history has a barrier"
like "$("$CORDON" log --json)" '"kind":"barrier".*"paths":\["notes"\]' "in JSON as well"
is "$("$CORDON" log --json | undocumented log)" "" "with members that --help names"
ok "what came after it is undone" "$CORDON" undo
ok "an edit of another path stops no undo" "$CORDON" undo
is "$(cat src/a) $(tail -n 1 notes)" "old human" "and stays as it is"
ok "redo" "$CORDON" redo

# If the paths meet it counts, even if the file looks as the step left it.
session 'echo agent >met' ''
cp -p met "$TEST_TMP/b" && echo human >met
wait_for 20 eval 'edits | grep -q met' || note "no event"
mkdir -p .git/logs && echo x >.git/index && echo x >.git/logs/HEAD && echo x >.DS_Store && echo x >.met.swp
wait_for 20 eval 'edits | grep -q .git' || note "no event"
cat "$TEST_TMP/b" >met && touch -r "$TEST_TMP/b" met
end_session
unlike "$(edits)" "index|logs|DS_Store|swp" "what git, editors and desktops note down is no edit"
t=$(tree .)
out=$("$CORDON" undo 2>&1)
is "$?" 1 "a rollback does not cross an edit of its path"
like "$out" "met.*changed from outside after step" "and says what was edited"
same "$(tree .)" "$t" "nothing was touched"
like "$("$CORDON" undo --dry-run)" "edited from outside after step.*met" "a dry run shows it"
mkdir -p "$HOME/.config/cordon"
printf '[undo]\n\texternal = warn\n' >"$HOME/.config/cordon/config"
ok "undo.external = warn: nothing is in the way" "$CORDON" undo
rm "$HOME/.config/cordon/config"
ok "of the rollback" test ! -e met
rm -rf .git .DS_Store .met.swp

# The user may change the list.
echo '*.mine' >"$HOME/.config/cordon/edits.ignore"
session 'echo agent >mine' ''
echo x >a.mine && echo x >.DS_Store
wait_for 20 eval 'edits | grep -q DS_Store' || note "no event"
end_session
like "$(edits)" "DS_Store" "a list of the user's takes the place of the shipped one"
unlike "$(edits)" "a.mine" "and counts"
echo 'a[b' >"$HOME/.config/cordon/edits.ignore"
out=$("$CORDON" run --headless -- true 2>&1)
is "$?" 125 "a bad one is refused"
like "$out" "^cordon: edits.ignore: line 1: 'a\[b': " "with its line"
rm "$HOME/.config/cordon/edits.ignore" a.mine .DS_Store
"$CORDON" undo >/dev/null

# A commit of the user's, as words.
git init -q . && git add src && git -c user.name=u -c user.email=u@x commit -qm first
session 'echo agent >mine' ''
branch=$(git symbolic-ref --short HEAD)
# Again until it is seen: directories below .git may be watched later than src.
commits() {
	git -c user.name=u -c user.email=u@x commit -qam second --allow-empty
	"$CORDON" log | grep -q "commit from outside"
}
wait_for 20 commits || note "no event"
end_session
like "$("$CORDON" log)" "commit from outside: git branch $branch" "the user's commit is named as one"
unlike "$("$CORDON" log)" "COMMIT_EDITMSG" "without git's files"
rm -rf .git
"$CORDON" undo >/dev/null

# Written repeatedly, faster than events are judged; replaced, renamed, made again.
# shellcheck disable=SC2016
session 'i=0; while [ $i -lt 300 ]; do echo $i >again; echo $i >>again; cp again again2
	mv -f again2 again3; cp again3 again2; mv -f again again4; mv -f again2 again; i=$((i+1)); done' ''
end_session
unlike "$(edits)" "/again" "nor is what the agent writes many times"
"$CORDON" undo >/dev/null

# Opened several times and closed one after the other, and files that never had a name.
cat >several.py <<'P'
import os
for i in range(20):
    files = [open("src/" + n, "a") for n in ("a", "c", "a", "c", "a")]
    for f in files:
        f.write("agent\n")
        f.close()
    fd = os.open("src", os.O_TMPFILE | os.O_WRONLY)
    os.write(fd, b"x")
    os.fchmod(fd, 0o600)
    os.close(fd)
P
# shellcheck disable=SC2016
session 'python3 several.py' 'python3 several.py'
end_session
is "$(edits | grep '/src/')" "" "nor is a file of the agent's that is closed several times, or has no name"
ok "and all of it is undone" "$CORDON" undo
rm several.py

# One of two names is removed at once, while the close event for the other is still queued.
echo old >name
session 'ln name second; echo agent >second; rm name' ''
end_session
is "$(edits | grep '/second')" "" "nor is a file of which another name is removed"
ok "and all of it is undone" "$CORDON" undo
is "$(cat name) $(test -e second || echo gone)" "old gone" "by the name that it had"
rm name

# Overlapping commands: each begins while the others' close events are still queued.
# shellcheck disable=SC2016
"$CORDON" run --headless --steps auto -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
	sh -c "echo agent >beside$i; until [ -e end ]; do sleep 0.1; done" & done
	until [ -e beside9 ]; do sleep 0.1; done; sleep 0.5; touch end; wait'
is "$(edits | grep '/beside')" "" "nor what commands write that run at the same time"
ok "and all of it is undone" undo_whole .
rm -f beside* end

# Directories that the agent exchanges and writes into.
cat >exchange.py <<'P'
import ctypes, os, random
exchange = ctypes.CDLL(None).renameat2
random.seed(1)
for i in range(64):
    os.makedirs(f"many/{i % 8}/{i // 8}")
for i in range(400):
    a, b = ("many/" + "/".join(str(random.randrange(8)) for _ in range(random.randint(1, 2))) for _ in "ab")
    exchange(-100, a.encode(), -100, b.encode(), 2)
    for d in a, b:
        if os.path.isdir(d):
            open(f"{d}/f{i % 50}", "w").write("agent")
P
session 'python3 exchange.py' ''
end_session
is "$(edits | grep '/many')" "" "nor what it writes in directories that it exchanges"
ok "and all of it is undone" "$CORDON" undo
ok "completely" test ! -e many
rm exchange.py

# Exchanged directories: an edit in one of them is reported by its current name.
mkdir -p ex/one ex/two && echo 1 >ex/one/a && echo 2 >ex/two/a
# shellcheck disable=SC2016
session 'python3 -c "import ctypes
ctypes.CDLL(None).renameat2(-100, b\"ex/one\", -100, b\"ex/two\", 2)"' ''
is "$(cat ex/one/a ex/two/a)" "2
1" "two directories change places"
told() { # PATH - after another edit of it
	echo human >>"$1"
	edits | grep -q "/$1"
}
for path in ex/one/a ex/two/a; do
	ok "and an edit of $path is told" wait_for 20 told $path
done
end_session
"$CORDON" undo --force >/dev/null
rm -r ex

# The file that the running step has changed as well, saved as editors do, and in place.
session 'echo agent >src/a; echo agent >src/deep/b; echo agent >mine; sleep 2' ''
printf 'human\n' >src/.a.new && mv src/.a.new src/a
echo human >>src/deep/b
# within the keeper's delay: it checks when all of that is over
keeper=$(pgrep -P "$pid" cordon-keeper)
kill -STOP "$keeper"
echo x >src/.x
touch -d @5 src/.x
rm src/.x
kill -CONT "$keeper"
end_session
out=$("$CORDON" undo --dry-run)
like "$out" "CONFLICT[^"$'\n'"]*" "edits of what a running step changed are conflicts"
like "$out" "src/a +CONFLICT" "a file that was replaced"
like "$out" "src/deep/b +CONFLICT" "a file that was written in place"
unlike "$out" "mine +CONFLICT|src/.x" "what was not edited is none, nor is what came and went"
"$CORDON" undo --force >/dev/null

# Faster than the keeper can read: the queue overflows while the keeper is stopped.
session 'echo agent >src/a; echo agent >src/taken' ''
keeper=$(pgrep -P "$pid" cordon-keeper)
max=$(cat /proc/sys/fs/inotify/max_queued_events)
if [ -n "$keeper" ] && [ "$max" -le 65536 ]; then
	kill -STOP "$keeper"
	python3 - "$max" <<'P'
import os, sys
for i in range(int(sys.argv[1]) // 2 + 50):
    open("notes", "a").close()
    os.utime("src/deep", (i, i))
    os.utime("notes", (i, i))
P
	echo human >src/deep/new
	echo human >src/a
	rm src/taken
	kill -CONT "$keeper"
	found() { edits | grep -q "/$1"; }
	ok "an edit whose event was lost is found by looking again" wait_for 20 found src/deep/new
	ok "so is one of what a step had changed" wait_for 20 found src/a
	ok "and that something has gone" wait_for 20 found src/taken
else
	skip "overflow" "no keeper to stop, or a queue too long to fill"
fi
end_session

# Directories are read when the machine is idle; while the agent works, a few at a time.
mkdir -p many/{1..40}/{1..40}
watches() { cat "/proc/$keeper/fdinfo/"* 2>/dev/null | grep -c '^inotify wd'; }
watches_reach() { [ "$(watches)" -ge "$1" ]; }
began=${EPOCHREALTIME/./}
# shellcheck disable=SC2016
"$CORDON" run --headless -- sh -c 'until [ -e many/rest ]; do :; done; until [ -e many/end ]; do sleep 0.1; done' &
pid=$!
wait_for 30 pgrep -P "$pid" cordon-keeper
keeper=$(pgrep -P "$pid" cordon-keeper)
if [ -n "$keeper" ] && [ -r "/proc/$keeper/fdinfo/0" ]; then
	wait_for 30 watches_reach 20
	n=$(watches) ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	ok "slowly while the agent is busy ($n in $ms ms)" [ "$n" -le $((ms + 100)) ]
	: >many/rest
	ok "all of them in the end" wait_for 30 watches_reach 1640
else
	skip "pace" "the keeper cannot be looked at"
fi
: >many/rest
: >many/end
wait "$pid"

# A directory is listed after it is watched: a lock of git's that was made in it in between, and is still open, belongs
# to the processes inside.
own=.git/worktrees/w
mkfifo "$TEST_TMP/go"
"$CORDON" run --headless -- sh -c "mkdir -p $own/later/last; exec 4>$own/index.lock; read -r _
	echo x >&4; exec 4>&-; rm $own/index.lock && touch removed" <"$TEST_TMP/go" >"$TEST_TMP/out" 2>&1 &
pid=$!
exec 3>"$TEST_TMP/go"
wait_for 30 test -e "$own/index.lock"
keeper=$(pgrep -P "$pid" cordon-keeper)
if [ "$UID" = 0 ]; then
	ok "a new directory is watched, and what is in it" wait_for 30 listed "$own/later/last"
else
	skip "a new directory is watched, and what is in it" "a user may not look at the keeper"
fi
echo >&3
exec 3>&-
wait "$pid"
ok "a lock that lay in it while it was listed stays the agent's" test -e removed
is "$(cat "$TEST_TMP/out")" "" "and nobody is told of a program outside"

# More directories than the limit for watches: reported, with the setting.
mkdir -p many/1/2 many/3
told() { grep -q 'seen at once in 3 directories only: raise undo.watched-directories' "$TEST_TMP/out"; }
mkfifo "$TEST_TMP/end"
"$CORDON" run --headless --set undo.watched-directories=3 -- sh -c 'read -r _' <"$TEST_TMP/end" >"$TEST_TMP/out" 2>&1 &
pid=$!
exec 3>"$TEST_TMP/end"
ok "a tree of more directories than undo.watched-directories is told of, with the setting to raise" wait_for 30 told
exec 3>&-
wait "$pid"
done_testing
