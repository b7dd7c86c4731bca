#!/bin/bash
# worktree_run - cordon run --worktree: several agents on one repository; merge, conflict, drop.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
git config --global user.email a@b.example && git config --global user.name A && git config --global init.defaultBranch main
top=$TEST_TMP/app
mkdir "$top" && cd "$top" || exit 1
git init -q && seq 20 >lines && git add lines && git commit -qm first
first=$(git rev-parse HEAD)
run() { # NAME SCRIPT
	(cd "$top" && "$CORDON" run --headless --worktree="$1" -- sh -c "$2")
}
main_is() { # COMMIT: the main worktree is on it, and clean
	[ "$(git -C "$top" rev-parse HEAD)" = "$1" ] && [ -z "$(git -C "$top" status --porcelain)" ]
}

like "$("$CORDON" worktree list)" "There are none: cordon run --worktree" "list: none yet"
out=$(run one 'echo one >one && git add one && git commit -qm one && pwd' 2>"$TEST_TMP/said")
is "$out" "$top.one" "the agent works beside the repository"
like "$(cat "$TEST_TMP/said")" "cordon: worktree $top.one on branch cordon/one" "which is said"
is "$(git log --format=%s cordon/one | tr '\n' ' ')" "one first " "it has committed on its branch"
ok "the main worktree is as it was" main_is "$first"
like "$(cd "$top.one" && "$CORDON" log)" "git commit -qm one" "its changes are steps of its folder"
out=$(run one 'cat one; git branch --show-current')
is "$out" "one
cordon/one" "the same name goes on there"
out=$(cd "$top" && "$CORDON" run --headless --worktree -- sh -c 'pwd' 2>/dev/null)
is "$out" "$top.w1" "without a name one is made up"
out=$(cd "$top.w1" && "$CORDON" run --headless --worktree -- pwd 2>/dev/null)
is "$out" "$top.w1" "and kept by who is there"
out=$(cd "$top" && "$CORDON" run --headless --worktree=../evil -- true 2>&1)
is "$?" 125 "a name that is a path is refused"
like "$out" "a name has letters" "with words"
out=$(cd "$HOME" && GIT_CEILING_DIRECTORIES=$TEST_TMP "$CORDON" run --headless --worktree -- true 2>&1)
like "$out" "no git repository here" "outside a repository it says so"

# ---- an agent of the main worktree and one of a linked one, side by side
(cd "$top" && exec "$CORDON" run --headless -- sh -c 'touch here; until [ -e stop ]; do sleep 0.1; done; rm here stop') &
beside=$!
ok "an agent works in the main worktree" wait_for 15 test -e "$top/here"
out=$(run two 'seq 19 >lines && echo two >>lines && git commit -qam two && echo done' 2>&1)
like "$out" "done" "another one in a worktree of the same repository"
touch "$top/stop"
wait "$beside"

# ---- merge
left=$HOME/.local/state/cordon/git.999999999 # of a process that was killed
mkdir "$left" && touch "$left/index"
like "$(cd "$top" && "$CORDON" worktree list)" "one +1 commit ahead, 0 files not committed, no session" "list: what is ahead"
out=$(cd "$top" && "$CORDON" worktree merge one </dev/null 2>&1)
is "$?" 1 "merge asks"
like "$out" "add --yes" "and says how to do without"
ok "nothing was merged" main_is "$first"
out=$(cd "$top" && "$CORDON" worktree merge one --yes 2>&1)
is "$?" 0 "merge"
like "$out" "Commits: 1.*one" "shows what comes"
is "$(cat "$top/one")" one "and it is there"
is "$(find "$HOME/.local/state/cordon" -name 'git.*')" "" "nothing is left of it, nor of a merge that was killed"
echo more >"$top.one/more"
out=$(cd "$top" && "$CORDON" worktree merge one --yes 2>&1)
like "$out" "1 change there is not committed" "what is not committed is named"
like "$(cd "$top" && "$CORDON" worktree merge w1 --yes)" "Nothing to merge" "nothing to merge"

# ---- a conflict is left to the human
seq 19 >"$top/lines" && echo mine >>"$top/lines" && git -C "$top" commit -qam mine
mine=$(git -C "$top" rev-parse HEAD)
echo unsaved >>"$top/lines"
like "$(cd "$top" && "$CORDON" worktree merge two --yes 2>&1)" $'overwritten by merge:\n {8}lines\n' "git's list of files in the way is legible"
git -C "$top" checkout -q lines
out=$(cd "$top" && "$CORDON" worktree merge two --yes 2>&1)
is "$?" 1 "a conflict is no success"
like "$out" "did not finish the merge in $top: resolve" "and is said"
like "$(git -C "$top" status --porcelain)" "UU lines" "git has it as always"
git -C "$top" merge --abort
ok "and takes it back" main_is "$mine"

# ---- the human's hooks run, and the agent's do not
printf '#!/bin/sh\ntouch "%s/hook"\n' "$TEST_TMP" >"$top/.git/hooks/post-merge" && chmod +x "$top/.git/hooks/post-merge"
run three 'mkdir -p .git/hooks 2>/dev/null; for d in .git/hooks "$(git rev-parse --git-common-dir)/hooks"; do
	printf "#!/bin/sh\ntouch %s/agent\n" "'"$TEST_TMP"'" >"$d/post-checkout" && chmod +x "$d/post-checkout"; done
	echo 3 >three; git add three; git commit -qm three' >/dev/null 2>&1
(cd "$top" && "$CORDON" worktree merge three --yes >/dev/null 2>&1)
ok "the human's hook ran" test -e "$TEST_TMP/hook"
(cd "$top" && "$CORDON" run --headless --worktree=four -- true >/dev/null 2>&1)
ok "a hook of the agent's did not" test ! -e "$TEST_TMP/agent"

# ---- a hook that the agent committed without a file of its name
mkdir "$top/.husky" && echo true >"$top/.husky/pre-commit" && git -C "$top" add .husky && git -C "$top" commit -qm hooks
git -C "$top" config core.hooksPath .husky
hooks=$(git -C "$top" rev-parse HEAD)
run seven 'blob=$(printf "#!/bin/sh\ntouch %s/escaped\n" "'"$TEST_TMP"'" | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100755,$blob,.husky/post-merge"
	commit=$(echo seven | git commit-tree -p HEAD "$(git write-tree)")
	git update-ref HEAD "$commit" && git update-index --skip-worktree .husky/post-merge' >/dev/null 2>&1
is "$(git -C "$top" log -1 --format=%s cordon/seven)" seven "an agent commits a hook by git's plumbing"
out=$(cd "$top" && "$CORDON" worktree merge seven --yes 2>&1)
is "$?" 1 "merge refuses it, --yes or not"
like "$out" "  \.husky/post-merge: git on the host runs it" "and names it"
like "$out" "then merge without --yes" "with the way out"
ok "nothing was merged" main_is "$hooks"
ok "nothing of it ran" test ! -e "$TEST_TMP/escaped"
git -C "$top" config --unset core.hooksPath

# ---- a guarded file that replaced objects leave out, and control characters in names
run nine 'echo 9 >nine; git add nine; shown=$(git write-tree)
	git update-index --add --cacheinfo "100644,$(echo evil | git hash-object -w --stdin),.envrc"; tree=$(git write-tree)
	git update-ref HEAD "$(echo nine | git commit-tree -p HEAD "$tree")"; git replace "$tree" "$shown"; git read-tree HEAD' >/dev/null 2>&1
out=$(cd "$top" && "$CORDON" worktree merge nine --yes 2>&1)
is "$?" 1 "merge refuses a guarded file in a tree that an agent replaced"
ok "nothing was merged" main_is "$hooks"
git -C "$top" update-ref -d "$(git -C "$top" for-each-ref --format='%(refname)' refs/replace)"
name=$(printf 'n\302\233\063m')
run ten "git config core.quotePath false; echo 10 >'$name'; git add .; git commit -qm '$name'; git -C '$top' checkout -q -b '$name'" >/dev/null 2>&1
git -C "$top" checkout -q -b "$name"
unlike "$(cd "$top" && printf 'y\n' | script -qec "$CORDON worktree merge ten" /dev/null)" "$name" "names are printed without their control characters"
ok "it is merged" test -e "$top/$name"
git -C "$top" config --unset core.quotePath
git -C "$top" checkout -q -

# ---- a tree whose bytes an agent replaced: git does not compare them with the tree's name
run eleven 'mkdir sub; echo 11 >sub/ok; git add sub; git commit -qm a; shown=$(git rev-parse HEAD:sub)
	echo evil >sub/evil; git add sub; git commit -qm b; tree=$(git rev-parse HEAD:sub); cd "$(git rev-parse --git-common-dir)/objects" || exit
	rm -f "${tree%"${tree#??}"}/${tree#??}"; cp "${shown%"${shown#??}"}/${shown#??}" "${tree%"${tree#??}"}/${tree#??}"' >/dev/null 2>&1
unlike "$(git -C "$top" ls-tree -r --name-only cordon/eleven)" evil "an agent hides a file of its commit from git"
main=$(git -C "$top" rev-parse HEAD)
out=$(cd "$top" && "$CORDON" worktree merge eleven --yes 2>&1)
is "$?" 125 "merge refuses the commit"
like "$out" "does not read the files that commit [0-9a-f]{12} was made with" "with words"
ok "nothing was merged" main_is "$main"

# ---- an object of the start that is missing: git cannot show the difference, and could merge it
echo 12 >"$top/twelve" && git -C "$top" add twelve && git -C "$top" commit -qm twelve && main=$(git -C "$top" rev-parse HEAD)
run twelve 'echo 13 >twelve; blob=$(git rev-parse HEAD:twelve); git commit -qam a
	git update-index --add --cacheinfo "100644,$(echo evil | git hash-object -w --stdin),.envrc"
	git update-ref HEAD "$(echo b | git commit-tree -p HEAD "$(git write-tree)")"; echo evil >e; git read-tree HEAD; git update-index --skip-worktree .envrc
	rm e; cd "$(git rev-parse --git-common-dir)/objects"; rm -f "${blob%"${blob#??}"}/${blob#??}"' >/dev/null 2>&1
out=$(cd "$top" && "$CORDON" worktree merge twelve --yes 2>&1)
isnt "$?" 0 "merge refuses what git does not show"
like "$out" "git does not show what cordon/twelve changes" "with words"
ok "nothing was merged" main_is "$main"
git -C "$top" hash-object -w "$top/twelve" >/dev/null

# ---- the same between the look and the merge, by an agent that still runs
run thirteen 'mkdir sub2; echo 13 >sub2/ok; git add sub2; git commit -qm a
	git update-index --add --cacheinfo "100644,$(echo evil | git hash-object -w --stdin),sub2/.envrc"
	git update-ref HEAD "$(echo b | git commit-tree -p HEAD "$(git write-tree)")"; git update-index --skip-worktree sub2/.envrc' >/dev/null 2>&1
object() { git -C "$top" rev-parse "$1" | sed "s,^..,$top/.git/objects/&/,"; }
true_=$(object cordon/thirteen:sub2) && cp "$true_" "$TEST_TMP/true" && cp "$(object cordon/thirteen~:sub2)" "$TEST_TMP/shown"
mkdir -p "$TEST_TMP/wrapped"
cat >"$TEST_TMP/wrapped/git" <<A
#!/bin/sh
case " \$* " in *" diff "*) cp -f "$TEST_TMP/shown" "$true_" ;; *" merge "*) cp -f "$TEST_TMP/true" "$true_" ;; esac
exec $(command -v git) "\$@"
A
chmod +x "$TEST_TMP/wrapped/git"
main=$(git -C "$top" rev-parse HEAD)
out=$(cd "$top" && PATH=$TEST_TMP/wrapped:$PATH "$CORDON" worktree merge thirteen --yes 2>&1)
is "$?" 1 "a guarded file that was not shown is no success"
like "$out" "  sub2/\.envrc: direnv runs it" "it is named"
like "$out" "reset --merge ORIG_HEAD takes the merge back" "with the way back"
git -C "$top" reset -q --merge ORIG_HEAD
ok "which works" main_is "$main"

# ---- a program of git's name that an agent left on the human's PATH
mkdir -p "$top/src" && in_folder "$top" sh -c 'mkdir -p .venv/bin
	printf "#!/bin/sh\ntouch %s\n" "'"$TEST_TMP"'/planted" >.venv/bin/git; chmod +x .venv/bin/git' >/dev/null 2>&1
out=$(cd "$top/src" && PATH=$top/.venv/bin:$PATH "$CORDON" worktree list 2>&1)
like "$out" "commits? ahead" "worktree list works in a subfolder"
ok "with the git of the system" test ! -e "$TEST_TMP/planted"
rm -r "$top/.venv" "$top/src"

# ---- a tag of the branch's name
run eight 'echo 8 >eight; git add eight; git commit -qm eight; git tag cordon/eight HEAD~' >/dev/null 2>&1
(cd "$top" && "$CORDON" worktree merge eight --yes >/dev/null 2>&1)
is "$(git -C "$top" log -1 --format=%s)" eight "what was shown is merged, not a tag of that name"

# ---- drop
(cd "$top.two" && exec "$CORDON" run --headless -- sh -c 'touch here; until [ -e stop ]; do sleep 0.1; done') &
beside=$!
ok "a session runs in it" wait_for 15 test -e "$top.two/here"
touch "$top.two/stop"
wait "$beside"
echo '*.ignored' >>"$top/.git/info/exclude"
touch "$top.two/only.ignored"
run two 'git config status.showUntrackedFiles no; git update-index --assume-unchanged lines' >/dev/null 2>&1
echo mine >>"$top.two/lines" && echo mine >"$top.two/mine"
out=$(cd "$top" && "$CORDON" worktree drop two </dev/null 2>&1)
is "$?" 1 "drop asks"
like "$out" "\?\? mine" "names files that a setting of the agent's hides from git status"
like "$out" "not to look at these.*  lines" "and files that its index hides"
like "$out" "Ignored by git, and removed as well:.*only.ignored" "names what git ignores"
like "$out" "Commits that are not merged: 1.*two.*3 changes not committed" "names what would go"
ok "nothing is gone" test -e "$top.two/lines"
mkfifo "$TEST_TMP/answer"
(cd "$top" && exec script -qfec "$CORDON worktree drop two" /dev/null) <"$TEST_TMP/answer" >"$TEST_TMP/asked" 2>&1 &
beside=$!
exec 9>"$TEST_TMP/answer"
ok "it asks at a terminal" wait_for 20 grep -q 'y/N' "$TEST_TMP/asked"
echo mine >"$top.two/late"
echo y >&9
wait "$beside"
exec 9>&-
like "$(cat "$TEST_TMP/asked")" "has changed since you were asked" "a file that comes before the answer stops it"
ok "and stays" test -e "$top.two/late"
two=$(git -C "$top" rev-parse cordon/two)
out=$(cd "$top" && "$CORDON" worktree drop two --yes 2>&1)
is "$?" 0 "drop"
like "$out" "git branch NAME ${two:0:12}" "says how the commits come back"
ok "the directory has gone" test ! -e "$top.two"
ok "and the branch" sh -c '! git -C "$0" rev-parse -q --verify cordon/two' "$top"
ok "the commit has not" git -C "$top" cat-file -e "$two"
# The worktree has another `.git`: git is not run in it.
(cd "$top" && "$CORDON" run --headless --worktree=six -- true >/dev/null 2>&1)
git init -q "$TEST_TMP/evil" && git -C "$TEST_TMP/evil" config core.fsmonitor "touch $TEST_TMP/fsmonitor; false"
echo "gitdir: $TEST_TMP/evil/.git" >"$top.six/.git"
for verb in drop merge; do
	out=$(cd "$top" && "$CORDON" worktree "$verb" six --yes 2>&1)
	like "$out" "there is none" "a worktree whose .git leads elsewhere is not touched: $verb"
done
out=$(cd "$top" && "$CORDON" run --headless --worktree=six -- true 2>&1)
isnt "$?" 0 "nor does an agent start there"
ok "its settings were not obeyed" test ! -e "$TEST_TMP/fsmonitor"
mkdir "$top.five" && git -C "$top" branch cordon/five
out=$(cd "$top" && "$CORDON" worktree drop five --yes 2>&1)
like "$out" "there is none" "a directory that is no worktree is left alone"
ok "it is there" test -d "$top.five"
done_testing
