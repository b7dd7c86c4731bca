#!/bin/bash
# worktree_fill - files that are copied into a new worktree: uncommitted ones, ignored ones, a step's.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
git config --global user.email a@b.example && git config --global user.name A && git config --global init.defaultBranch main
top=$TEST_TMP/app
mkdir "$top" && cd "$top" || exit 1
git init -q
mkdir sub dir
seq 20 >lines && echo s >sub/file && echo gone >gone && echo staged >staged && echo mode >mode && echo d >dir/file && echo t >turns
printf 'node_modules\n*.log\n.env\ncache\n' >.gitignore
git add . && git commit -qm first
first=$(git rev-parse HEAD)
new() { (cd "$top" && "$CORDON" run --headless "$@" -- true 2>&1); } # OPTIONS

# ---- changes that are not committed
is "$(new --with-changes)" "cordon: --with-changes needs --worktree" "--with-changes alone is refused"
echo 21 >>lines && echo two >staged && git add staged && echo three >staged
rm gone && rm -r sub && chmod +x mode && mkdir -p deep/er && echo new >deep/er/new && ln -s /etc/passwd link && ln -s "$HOME" out
rm -r dir && ln -s /tmp dir && rm turns && mkdir turns && echo in >turns/file
mkdir -p st && echo 1 >st/x && git add st && git commit -qm st && first=$(git rev-parse HEAD) && rm -r st && ln -s lines st && git add st
git init -q nested && echo n >nested/file
echo secret >.env && echo log >x.log && mkfifo pipe
printf 'e\n' >$'esc\e[2Jape'
index=$(sha256sum <.git/index)
files() { tree "$top" | grep -v "\./\.git[ /]"; }
before=$(files)
out=$(new --worktree=one --with-changes)
is "$?" 0 "a worktree with changes is made"
is "$(sha256sum <.git/index)" "$index" "the main worktree's index is as it was"
is "$(files)" "$before" "and so are its files"
one=$top.one
is "$(tail -n 1 "$one/lines") $(cat "$one/staged")" "21 three" "changed files came along, staged or not"
ok "a deleted one is not there, nor its directory" test ! -e "$one/gone" -a ! -e "$one/sub"
ok "a mode came along" test -x "$one/mode"
is "$(cat "$one/deep/er/new")" new "an untracked file came along"
is "$(readlink "$one/link") $(readlink "$one/out") $(readlink "$one/dir")" "/etc/passwd $HOME /tmp" "links are links"
is "$(cat "$one/turns/file")" in "a file that became a directory"
ok "nothing was written through a link" test ! -e /tmp/file
ok "ignored files did not" test ! -e "$one/x.log" -a ! -e "$one/.env"
ok "nor a repository of its own, nor a pipe" test ! -e "$one/nested" -a ! -e "$one/pipe"
is "$(readlink "$one/st")" lines "a link whose directory git has deleted, staged"
like "$out" 'not copied: nested'$'\n' "what is left out is named, and that alone"
unlike "$out" $'\e' "names are escaped"
is "$(cat "$one"/esc*)" e "such a file came along"
is "$(git -C "$one" rev-parse HEAD)" "$first" "it begins at HEAD"
out=$(new --worktree=one --with-changes)
is "$?" 125 "into one that is there nothing is brought"
like "$out" "is there already" "with words"
out=$(new --worktree=..x --with-changes)
like "$out" "a name has letters" "a name that is none is refused"

# ---- ignored files
mkdir -p node_modules/a/.git web/node_modules cache && echo a >node_modules/a/index.js && echo h >node_modules/a/.git/config
echo w >web/node_modules/w && echo c >cache/c && echo SECRET >node_modules/.env && echo k >node_modules/k
ln .env node_modules/alias && ln node_modules/k node_modules/k2
ln -s ../../../../etc node_modules/up && chmod +x node_modules/k && ln -s a node_modules/b
out=$(new --worktree=two --set worktree.copy=node_modules --set 'worktree.copy=*.log' --set worktree.copy=.env)
is "$?" 0 "a worktree with ignored files"
two=$top.two
is "$(cat "$two/node_modules/a/index.js" "$two/web/node_modules/w" "$two/x.log")" $'a\nw\nlog' "directories at any depth, and files by a pattern"
ok "with their modes" test -x "$two/node_modules/k"
is "$(readlink "$two/node_modules/up") $(readlink "$two/node_modules/b")" "../../../../etc a" "links are not followed"
ok "no secret, named or not" test ! -e "$two/.env" -a ! -e "$two/node_modules/.env"
ok "nor a hard link to one" test ! -e "$two/node_modules/alias"
is "$(cat "$two/node_modules/k2")" k "other hard links are files"
ok "no git directory" test ! -e "$two/node_modules/a/.git"
ok "nothing else that is ignored" test ! -e "$two/cache"
ok "and nothing that is not committed" test ! -e "$two/deep"
like "$out" "not copied: .*\\.env" "secrets are named as left out"
out=$(new --worktree=three --set worktree.copy=web/node_modules/ --set 'worktree.copy=c*/')
ok "a slash at the end changes nothing" test -e "$top.three/cache/c"
ok "a path with a slash is that path alone" test -e "$top.three/web/node_modules/w" -a ! -e "$top.three/node_modules"
mkdir -p .cordon && printf '[worktree]\n\tcopy = cache\n' >.cordon/config
new --worktree=four >/dev/null
ok "a setting of the project does not count" test ! -e "$top.four/cache"
rm -r .cordon

# ---- what this run hides, by options that are not in the settings yet
echo private >private.txt && printf '[sandbox]\n\thide = %s/private.txt\n' "$top" >"$HOME/hides"
new --worktree=hide1 --with-changes --hide "$top/private.txt" >/dev/null
ok "--hide hides the file from the copy" test -e "$top.hide1/deep/er/new" -a ! -e "$top.hide1/private.txt"
new --worktree=hide2 --with-changes --config "$HOME/hides" >/dev/null
ok "so does a file of settings" test -e "$top.hide2/deep/er/new" -a ! -e "$top.hide2/private.txt"
rm private.txt

# ---- a repository that says that its files lie elsewhere
mkdir -p "$TEST_TMP/else/where" && echo private >"$TEST_TMP/else/private" && mv .git "$TEST_TMP/kept.git"
git init -q . && git add lines && git commit -qm x && git config core.worktree "$TEST_TMP/else"
out=$(new --worktree=five --with-changes)
is "$?" 125 "such a one is refused"
like "$out" "git does not tell whose files these are|no git repository here" "with words"
ok "nothing was copied" test ! -e "$top.five"
rm -r .git && mv "$TEST_TMP/kept.git" .git

# ---- the files of a step
base=$TEST_TMP/base
mkdir "$base" && cd "$base" || exit 1
git init -q && echo 0 >a && echo 0 >kept && mkdir d && echo 0 >d/x && echo 0 >swap1 && echo 1 >swap2 && git add . && git commit -qm base
step() { "$CORDON" run --headless -- sh -c "$1"; }
fork() { (cd "$base" && "$CORDON" run --headless "--worktree=$1" "--from-step=$2" -- true 2>&1); } # NAME STEP
newest() { "$CORDON" log --json | sed -n '1s/.*"id":\([0-9]*\).*/\1/p'; }
tree_of() { (cd "$1" && find . -path ./.git -prune -o -type f -printf '%P %m ' -exec cat {} \; -o -type l -printf '%P -> %l\n' | LC_ALL=C sort); }
out=$(fork none 1)
is "$?" 125 "without a history there is no fork"
like "$out" "has no steps" "with words"
steps=() wants=()
remember() { steps+=("$(newest)"); wants+=("$(tree_of "$base")"); }
step 'echo 1 >a; echo new >new; chmod 755 kept; ln -s a link'
remember
step 'mv d e; echo 2 >e/x; echo y >e/y'
remember
step 'rm a new; mv swap1 t; mv swap2 swap1; mv t swap2; mkdir -p m/n; echo 3 >m/n/o; rm link; mkdir link; echo l >link/l'
remember
step 'git add . && git commit -qm more && mv e d && rm -r m && echo 4 >a'
remember
for i in 0 1 2 3; do
	out=$(fork "s$i" "${steps[i]}")
	is "$(tree_of "$base.s$i")" "${wants[i]}" "the files as after step ${steps[i]}"
done
unlike "$out" "not copied" "nothing is left out"
is "$(tree_of "$base")" "${wants[3]}" "the folder itself is as it was"
out=$(fork more 999)
is "$?" 125 "a step that is none"
like "$out" "there is no step 999" "is said"
ok "before anything is made" test ! -e "$base.more"

# ---- names that a session guards: making room for them asks nothing, and gives an agent's file no such name
mkdir .vscode && echo '{}' >.vscode/c && git add .vscode && git commit -qm vscode
step 'mkdir v && echo evil >v/tasks.json'
guarded=$(newest)
step 'rm v/tasks.json && rmdir v && mv .vscode v'
out=$(fork room "$guarded")
ok "a file gets no guarded name by a directory that was moved" test ! -e "$base.room/.vscode/tasks.json"
like "$out" "not copied: .*" "which is said"
rm -r v && git checkout -q .vscode
"$CORDON" run --headless --set "approval.command=true" -- sh -c 'echo evil >.envrc'
guarded=$(newest)
is "$(cat .envrc)" evil "a guarded file that was allowed"
step 'rm .envrc'
out=$(fork envrc "$guarded")
ok "does not come back from a step" test ! -e "$base.envrc/.envrc"
like "$out" "not copied: .*\\.envrc" "which is said"

echo mine >kept
is "$("$CORDON" worktree fork "${steps[0]}" mine 2>&1)" "cordon: not copied: .envrc, .vscode
cordon: worktree $base.mine on branch cordon/mine" "cordon worktree fork makes one"
is "$(cat "$base.mine/kept" "$base.mine/a")" $'mine\n1' "an edit of the human's that no later step met is there"
is "$("$CORDON" worktree fork x 2>&1)" "cordon: 'x' is no step: a step has a number, as in cordon log" "a word is no step"
out=$("$CORDON" worktree fork "${steps[0]}" again -- sh -c 'exit 3' 2>&1 </dev/null)
is "$?" 125 "with a command it needs a terminal, as cordon run"
like "$out" "terminal" "and says so"
ok "before it has made anything" test ! -e "$base.again"
is "$(git -C "$base" branch --list cordon/again)" "" "not even a branch"
(exec "$CORDON" run --headless -- sh -c 'touch here; sh -c "echo x >running; until [ -e stop ]; do sleep 0.1; done"; rm -f stop here running') &
beside=$!
ok "a step runs" wait_for 15 test -e running
out=$(fork busy "${steps[0]}")
like "$out" "still runs: fork when it has ended" "no fork while a step runs"
touch stop
wait "$beside"
done_testing
