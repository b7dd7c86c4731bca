#!/bin/bash
# commit - kept pieces of the review are committed by the user's git, and nothing else is.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
git config --global user.name 'A Human' && git config --global user.email human@example.org
git config --global init.defaultBranch main
export GIT_CEILING_DIRECTORIES=$TEST_TMP # this tree may be a repository
mkdir -p "$HOME/.config/cordon"
dir=$(new_folder work)
cd "$dir" || exit 1

commit() { cordon_in "$dir" commit "$@" </dev/null 2>&1; }
work() { in_folder "$dir" sh -c "$1" >/dev/null 2>&1; }
newest() { cordon_in "$dir" log --json | sed -n 's/^{"id":\(-\{0,1\}[0-9]\{1,\}\),.*/\1/p' | head -n 1; }
store() { dirname "$(find "$HOME/.local/state/cordon" -name steps)"; }
# keep NUMBER FILE... - keeps pieces of the newest step, like y in the review: a hunk's number, 0 for a file,
# 4294967295 for its mode
keep() {
	local number=$1
	shift
	for file; do printf 'is 1 %s %s 0 0 %s\n' "$(newest)" "$number" "$file"; done >>"$(store)/review"
}
mode=4294967295
begin() { # a repository with a.txt of 40 lines, and no history of cordon's
	cd / && rm -rf "${dir:?}" "$HOME/.local/state/cordon" && mkdir "$dir" && cd "$dir" || exit 1
	git init -q . && seq 40 >a.txt && git add a.txt && git commit -qm first
}
head_has() { git show HEAD:"$1" 2>/dev/null | grep -qx "$2"; }
head_lacks() { ! head_has "$1" "$2"; }

# Hunks, new files, removed ones, modes.
begin
echo old >gone.txt && git add gone.txt && git commit -qm second
work "sed -i 's/^5\$/five/; s/^35\$/thirty-five/' a.txt; echo new >b.txt; echo other >c.txt; rm gone.txt; chmod 755 a.txt"
like "$(commit --yes --message x)" 'keep changes in the review first' "nothing is kept, nothing is committed"
keep 2 a.txt
keep 0 b.txt gone.txt
echo mine >mine.txt && sed -i 's/^20$/mine/' a.txt
out=$(commit --yes --message 'kept alone')
is "$?" 0 "cordon commit"
like "$out" 'Author: A Human <human@example.org>' "it names the author first"
like "$out" 'a.txt +\| 2 \+-' "and what will be committed"
is "$(git log -1 --format='%s %an %ae %cn')" 'kept alone A Human human@example.org A Human' "the human is author and committer"
is "$(git show --format= --name-status HEAD)" $'M\ta.txt\nA\tb.txt\nD\tgone.txt' "the files that were kept"
ok "the hunk that was kept" head_has a.txt thirty-five
ok "not the other one" head_lacks a.txt five
ok "nor an edit of the human's" head_lacks a.txt mine
is "$(git ls-tree HEAD a.txt | cut -c1-6)" 100644 "nor the mode"
is "$(git status --short)" $' M a.txt\n?? c.txt\n?? mine.txt' "the rest is as it was"
keep $mode a.txt
keep 1 a.txt
ok "more is kept later" commit --yes --message more
is "$(git ls-tree HEAD a.txt | cut -c1-6):$(git show HEAD:a.txt | grep -cx 'five\|thirty-five')" 100755:2 "and committed then"
like "$(commit --yes --message again)" 'HEAD has all that you kept' "nothing is committed twice"
is "$(awk '{ print $2, $3 }' "$(store)/committed" | sort)" "$(printf '%s\n' '0 b.txt' '0 gone.txt' '1 a.txt' '2 a.txt' "$mode a.txt" | sort)" "the review is told what HEAD has"
is "$(git rev-list --count HEAD)" 4 "as git counts"

# Changes that the user staged stay staged and are not committed; so do those that the agent staged.
begin
work "sed -i 's/^5\$/five/' a.txt; echo agent >staged.txt; git add -A"
echo mine >mine.txt && git add mine.txt
keep 1 a.txt
ok "a commit beside staged files" commit --yes --message one
is "$(git show --format= --name-only HEAD)" a.txt "has what was kept"
is "$(git status --short)" $'A  mine.txt\nA  staged.txt' "staged files stay staged"

# Later changes of the same lines; pieces that were reverted or edited later.
begin
work "sed -i 's/^5\$/five/' a.txt"
keep 1 a.txt
work "sed -i 's/^five\$/FIVE/; s/^30\$/thirty/' a.txt"
keep 1 a.txt
ok "two steps change one line" commit --yes --message both
ok "the newest is committed" head_has a.txt FIVE
ok "without the next hunk" head_lacks a.txt thirty
keep 2 a.txt
sed -i 's/^thirty$/edited/' a.txt
out=$(commit --yes --message x)
is "$?" 1 "what you edited since you kept it is not committed"
like "$out" 'Left out: [12] of a.txt' "and named"
git revert -n HEAD >/dev/null 2>&1 || git checkout -q HEAD~1 -- a.txt
git commit -qm 'not that'
is "$(commit --yes --message x >/dev/null; git show HEAD:a.txt | grep -c FIVE)" 0 "what you reverted does not come back"

# A created file and its later edits; a rename; a link; binary.
begin
work "echo 1 >made.txt; ln -s a.txt link; head -c 3000 /dev/zero >zero"
keep 0 made.txt link zero
work "echo 2 >>made.txt; git mv a.txt moved.txt; echo five >>moved.txt"
keep 0 moved.txt
ok "created, renamed, a link, binary" commit --yes --message all
is "$(git show HEAD:made.txt)" 1 "without an edit that was not kept"
is "$(git ls-tree HEAD link | cut -c1-6) $(git show HEAD:link)" '120000 a.txt' "a link is a link"
is "$(git cat-file -s HEAD:zero)" 3000 "bytes are bytes"
is "$(git ls-tree --name-only HEAD | paste -sd ' ')" 'link made.txt moved.txt zero' "a rename removes the old name"
ok "with its edit" head_has moved.txt five

# A turn alone; the prompt is the message; a co-author.
printf '[commit]\n\tco-author = Claude <noreply@example.org>\n' >"$HOME/.config/cordon/config"
begin
work "echo 1 >one.txt"
keep 0 one.txt
work "echo 2 >two.txt"
keep 0 two.txt
like "$(commit --yes)" 'no prompt is known' "without a prompt, --message is needed"
ok "the newest turn alone" commit --turn --yes --message two
is "$(git show --format= --name-only HEAD)" two.txt "has its files"
is "$(git log -1 --format=%B | paste -sd ' ')" 'two  Co-authored-by: Claude <noreply@example.org> ' "a setting names the agent"
rm "$HOME/.config/cordon/config"

# The user's hooks may refuse, change files, and see the index.
begin
printf '#!/bin/sh\ngit diff --cached --name-only >"$PWD/../seen"; pwd >>"$PWD/../seen"; [ ! -e ../refuse ]\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
work "sed -i 's/^5\$/five/' a.txt; echo new >b.txt"
keep 1 a.txt
touch ../refuse
out=$(commit --yes --message x)
is "$?:$(git rev-list --count HEAD)" 1:1 "a hook that fails: git commits nothing"
is "$(cat ../seen)" $'a.txt\n'"$dir" "it saw what was to be committed, in its own directory"
rm ../refuse
ok "and may pass later" commit --yes --message x
is "$(git status --short)" '?? b.txt' "the index is right"
printf '#!/bin/sh\necho formatted >>b.txt; git add b.txt\n' >.git/hooks/pre-commit
keep 0 b.txt
ok "a hook that formats" commit --yes --message formatted
is "$(git show HEAD:b.txt | paste -sd ' ') $(git status --short)" 'new formatted ' "what it adds is committed, the index too"
printf '#!/bin/sh\necho "$(cat "$1") by hook" >"$1"\n' >.git/hooks/commit-msg && chmod +x .git/hooks/commit-msg
rm .git/hooks/pre-commit
work "echo c >c.txt" && keep 0 c.txt
ok "a hook that edits the message" commit --yes --message text
is "$(git log -1 --format=%s)" 'text by hook' "does"
rm .git/hooks/commit-msg

# An agent commits after the last look at HEAD, before git looks: its commit stays.
begin
mkdir -p "$TEST_TMP/wrapped"
cat >"$TEST_TMP/wrapped/git" <<A
#!/bin/sh
git=$(command -v git)
case " \$* " in
*" commit "*)
	[ -e "$TEST_TMP/raced" ] || (
		unset GIT_INDEX_FILE
		cd "$dir" || exit
		echo agent >theirs.txt && \$git add theirs.txt && \$git commit -qm theirs theirs.txt
		touch "$TEST_TMP/raced"
	)
	;;
esac
exec \$git "\$@"
A
chmod +x "$TEST_TMP/wrapped/git"
work "echo new >b.txt" && keep 0 b.txt
out=$(PATH=$TEST_TMP/wrapped:$PATH commit --yes --message mine)
is "$?" 1 "a commit beside an agent's"
like "$out" 'the branch moved as git began: nothing is committed' "is none"
is "$(git log --format=%s | paste -sd ' ') $(git show HEAD:theirs.txt)" 'theirs first agent' "the agent's stays"
ok "and the next one" commit --yes --message mine
is "$(git log --format=%s | paste -sd ' ') $(git show HEAD:theirs.txt)" 'mine theirs first agent' "goes on top of it"

# The agent has replaced the bytes of HEAD's tree: its other entries would be committed unseen.
begin
mkdir sub && echo 1 >sub/one && git add sub && git commit -qm sub
work 'echo evil >sub/evil; git add sub; evil=$(git write-tree); git reset -q; evil=$(git rev-parse "$evil:sub"); tree=$(git rev-parse HEAD:sub)
	file() { echo ".git/objects/${1%"${1#??}"}/${1#??}"; }; rm -f "$(file "$tree")"; cp "$(file "$evil")" "$(file "$tree")"; rm sub/evil; echo b >b.txt'
keep 0 b.txt
like "$(git ls-tree -r --name-only HEAD)" sub/evil "an agent adds a file to a tree of HEAD"
out=$(commit --yes --message mine)
is "$?" 1 "no commit takes it up"
like "$out" 'does not read the files that commit [0-9a-f]{12} was made with' "which is said"
is "$(git rev-list --count HEAD)" 2 "nothing is committed"
begin

# Signed, if git signs.
if ssh-keygen -q -t ed25519 -N '' -f "$HOME/key" 2>/dev/null; then
	git config --global gpg.format ssh && git config --global user.signingkey "$HOME/key.pub" && git config --global commit.gpgsign true
	work "echo d >d.txt" && keep 0 d.txt
	ok "signed" commit --yes --message signed
	like "$(git cat-file commit HEAD)" gpgsig "as git would"
	git config --global --unset commit.gpgsign
fi

# Files that an agent may plant: filters, ignored files, nested repositories, guarded names, a moved branch.
begin
git config --global filter.upper.clean 'tr a-z A-Z' && git config --global filter.upper.smudge 'tr A-Z a-z'
work "echo '*.txt filter=upper' >.gitattributes; echo text >t.txt; echo '*.log' >.gitignore; echo l >x.log; git init -q sub; echo s >sub/s.txt"
keep 0 t.txt x.log sub/s.txt
out=$(commit --yes --message x)
is "$(git show HEAD:t.txt)" text "attributes of the agent's choose no filter"
is "$(git show --format= --name-only HEAD)" t.txt "what git ignores is left out, and what is in another repository"
like "$out" 'Left out: 1 of sub/s.txt' "which is named"
keep 0 .gitattributes
work "echo more >u.txt" && keep 0 u.txt
ok "attributes that were kept" commit --yes --message y
is "$(git show HEAD:u.txt)" MORE "count"
git config --global --unset filter.upper.clean
begin
work 'sed "s/^20$/evil/" a.txt >other; git replace "$(git rev-parse HEAD:a.txt)" "$(git hash-object -w other)"; rm other
	sed -i "s/^5$/five/; s/^20$/evil/" a.txt'
keep 1 a.txt
ok "a commit beside an object that an agent replaced" commit --yes --message x
is "$(git --no-replace-objects show --format= HEAD | grep '^[+-][^+-]' | paste -sd ' ')" '-5 +five' "has what was kept alone"
begin
name=$(printf 'n\302\233\063m')
work "git config core.quotePath false; echo 1 >'$name'"
keep 0 "$name"
out=$(commit --yes --message x)
unlike "$out" "$name" "control characters of a name are not printed"
is "$(git show --format= --name-only -z HEAD | tr -d '\0')" "$name" "it is committed"
begin
mkdir .vscode && echo '{}' >.vscode/settings.json
(cd "$dir" && "$CORDON" run --headless --approve all -- sh -c 'mkdir -p .vscode; echo "{ }" >.vscode/settings.json; echo p >plain') >/dev/null 2>&1
keep 0 plain
if cordon_in "$dir" log --json | grep -q '"modified":[1-9]\|"created":[2-9]'; then
	git add -f .vscode && git commit -qm v
	keep 1 .vscode/settings.json
	keep 0 .vscode/settings.json
	out=$(commit --yes --message x)
	like "$?:$out" 'An agent may change these only if you allow it' "guarded names are shown"
fi

# Before the first commit; below the top of the repository; no repository; a merge under way.
begin
rm -rf .git && git init -q .
work "echo 1 >first.txt" && keep 0 first.txt
ok "the first commit" commit --yes --message root
is "$(git ls-tree --name-only HEAD):$(git status --short)" 'first.txt:?? a.txt' "has what was kept"
begin
mkdir sub && seq 9 >sub/s.txt && git add . && git commit -qm sub
top=$dir dir=$dir/sub
work "sed -i 's/^5\$/five/' s.txt"
printf 'is 1 %s 1 0 0 s.txt\n' "$(newest)" >"$(store)/review"
ok "in a directory of the repository" commit --yes --message below
dir=$top
ok "its file is committed" head_has sub/s.txt five
is "$(git status --short)" '' "and nothing else"
begin
rm -rf .git
work "echo 1 >first.txt" && keep 0 first.txt
like "$(commit --yes --message x)" 'in no git repository' "without a repository"
begin
git checkout -qb side && echo s >s.txt && git add . && git commit -qm s && git checkout -q main && echo m >m.txt && git add . && git commit -qm m
git merge -q --no-commit side >/dev/null 2>&1
work "echo 1 >first.txt" && keep 0 first.txt
like "$(commit --yes --message x)" 'under way' "not into a merge"
is "$(find "$HOME/.local/state/cordon" -name 'commit.*')" '' "no file is left behind"
done_testing
