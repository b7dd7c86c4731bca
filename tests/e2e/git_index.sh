#!/bin/bash
# git_index - git refreshes its index at each look: that is not an edit, and undo does not ask about it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
dir=$(new_folder work)
export GIT_CONFIG_GLOBAL=$TEST_TMP/gitconfig
git config --file "$GIT_CONFIG_GLOBAL" user.name me
git config --file "$GIT_CONFIG_GLOBAL" user.email me@example.org
git -C "$dir" init -q -b main
seq 100 >"$dir/one" && seq 50 >"$dir/two"
git -C "$dir" add one && git -C "$dir" commit -qm first
index() { sha256sum <"$dir/.git/index"; }
# A shell's prompt does this all day: entries stay; times of files and git's cache of them change.
refresh() {
	local before
	before=$(index)
	touch -d '2001-02-03' "$dir/one"
	git -C "$dir" status >/dev/null
	[ "$(index)" != "$before" ] && touch -d '2011-02-03' "$dir/one" && git -C "$dir" status >/dev/null
}
step() { cordon_in "$dir" run --headless -- "$@" >/dev/null 2>&1; }
staged() { git -C "$dir" diff --cached --name-only | tr '\n' ' '; }

for version in 2 4; do
	git -C "$dir" update-index --index-version $version
	ok "a step stages a file (index version $version)" step git add two
	is "$(staged)" 'two ' 'it is staged'
	ok 'the index is refreshed from outside' refresh
	ok 'the step is undone, and nothing is asked' cordon_in "$dir" undo
	is "$(staged)" '' 'it is not staged any more'
	ok 'refreshed again' refresh
	ok 'redo does not ask, either' cordon_in "$dir" redo
	is "$(staged)" 'two ' 'it is staged again'
	ok 'refreshed again' refresh
	ok 'a second step stages another' step sh -c 'echo three >three; git add three'
	ok 'refreshed' refresh
	ok 'both steps are undone at once, though it was refreshed between them' cordon_in "$dir" undo -n 2
	is "$(staged)" '' 'nothing is staged'
done
ok 'a step stages a file' step git add two
refresh
echo mine >"$dir/mine" && git -C "$dir" add mine
out=$(cordon_in "$dir" undo 2>&1) && fail 'somebody stages another file: undo stops' "$out"
like "$out" '\.git/index' 'somebody stages another file: undo stops and names the index'
is "$(staged)" 'mine two ' 'and changes nothing'
git -C "$dir" rm -q --cached mine
ok 'taken out again, it is as the step left it' cordon_in "$dir" undo
ok 'a step stages a file' step git add two
git -C "$dir" update-index --assume-unchanged one
cordon_in "$dir" undo >/dev/null 2>&1 && fail 'a flag that somebody set is an edit, too'
pass 'a flag that somebody set is an edit, too'
done_testing
