#!/bin/bash
# git_words - the words about a step's changes of branches, stash and index; git's own files are behind a key.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox git
dir=$(new_folder work)
cat >"$HOME/.gitconfig" <<'E'
[user]
	name = u
	email = u@example.org
[init]
	defaultBranch = main
[advice]
	detachedHead = false
E

# told COMMAND - the words of the newest step about git after the command, without the number of files.
told() {
	in_folder "$dir" sh -c "$1" >/dev/null 2>&1
	cordon_in "$dir" diff | sed -n 's/^git: //p'
}
at() { git -C "$dir" rev-parse --short=7 "${1:-HEAD}"; }

is "$(told 'exec git init -q')" "new repository, on main" "git init"
printf '1\n' >"$dir/a" && printf '1\n' >"$dir/b"
is "$(told 'exec git add a b')" "index: 2 files staged: a, b" "git add"
is "$(told 'exec git commit -qm first')" "main: first commit: first" "the first commit"
one=$(at)
printf '2\n' >"$dir/a" && printf '2\n' >"$dir/b"
is "$(told 'exec git add -A')" "index: 2 files staged: a, b" "changed files are staged"
is "$(told 'exec git reset -q')" "index: 2 files unstaged: a, b" "git reset unstages them"
printf '22\n' >"$dir/a"
is "$(told 'exec git add a')" "index: 1 file staged: a" "one file is staged"
is "$(told 'exec git restore --staged a')" "index: 1 file unstaged: a" "git restore --staged"
is "$(told 'exec git commit -qam "second: more"')" "main: $one -> $(at), 1 commit: second: more" "git commit"
two=$(at)
in_folder "$dir" git commit -q --allow-empty -m x >/dev/null 2>&1
is "$(told 'exec git commit -q --allow-empty -m y')" "main: $(at HEAD^) -> $(at), 1 commit: y" "an empty commit"
three=$(at)
like "$(cordon_in "$dir" diff | tail -n 1)" "^and [0-9]+ files of git's own in .git: --all shows them" "how many files are behind it"
is "$(told 'exec git reset -q --hard HEAD~2')" "main: $three -> $two, 2 commits taken back" "git reset"
printf '3\n' >"$dir/a"
is "$(told 'exec git stash -q')" "stashed: WIP on main: $two second: more" "git stash"
is "$(told 'exec git stash drop -q')" "stash dropped: WIP on main: $two second: more" "git stash drop"
is "$(told 'exec git branch old HEAD^')" "new branch old at $one" "git branch"
is "$(told 'exec git checkout -q old')" "HEAD: main -> old" "git checkout"
is "$(told 'exec git merge -q main')" "old: $one -> $two, merge main: Fast-forward" "git merge"
is "$(told 'exec git checkout -q --detach')" "HEAD: old -> $two, detached" "a detached HEAD"
is "$(told 'exec git branch -D old')" "branch old gone, it was at $two" "git branch -D"
is "$(told 'exec git tag v1')" "new tag v1 at $two" "git tag"
is "$(told 'exec git rm -q --cached b')" "index: 1 file taken out: b" "git rm --cached"
like "$(cordon_in "$dir" diff 1.. | sed -n 's/^git: //p')" '[0-9]+ more changes of refs' "of a long range the first are told"

# Names and messages come from the agent: no control character reaches the terminal.
printf '4\n' >"$dir/a"
unlike "$(told 'exec git commit -qam "$(printf "x\033[31my")"')" $'\033' "a message is escaped"

# ---- in the log: the project's files, and git's own in a word
row() { cordon_in "$dir" log | sed -n '/^ *[0-9]/{p;q}' | cut -c 29-45 | sed 's/ *$//'; }
told 'echo 5 >c; git add c; git commit -qm c'
is "$(row)" "+1 commit" "a commit and its file"
like "$(cordon_in "$dir" log --json | head -n 1)" '"created":[4-7],"modified":4' "the JSON has all paths"
told 'git commit -q --allow-empty -m d'
is "$(row)" commit "a commit alone"
told 'git tag v2'
is "$(row)" git "something else of git's"
told 'mkdir -p e/f'
is "$(row)" "2 dirs" "directories alone"
told 'echo 6 >e/g; mv c e/c; rm b'
is "$(row)" "+1 -1 >1" "files without the directories"

# ---- in the console
git -C "$dir" checkout -q -f main
start 140 36 "$dir" "$CORDON run -- bash"
sees 'agent ━' "the console starts"
type_text 'git reset -q --soft HEAD~1' && keys Enter
sees "git main: $two -> $one" "the activity says it in place of the files"
keys C-] s
sees "^ git main: $two -> $one, 1 commit taken back" "so does the preview"
loses '\.git/logs' "git's own files are not in it"
keys Right
sees 'git main: [0-9a-f]{7} -> ' "and the rows of the step"
keys Enter
sees '> step .* git reset' "Enter opens it"
keys P
sees '\.git/logs/HEAD' "P shows git's own files"
keys P
loses '\.git/logs/HEAD' "P hides them"
keys q
keys C-] t
type_text 'exit' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "the console ends" 0
done_testing
