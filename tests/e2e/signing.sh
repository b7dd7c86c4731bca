#!/bin/bash
# signing - if git signs commits with keys that are not inside, the start says so, and a setting makes it continue
# without.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
dir=$(new_folder work)
cd "$dir" || exit 1
git config --global user.name t && git config --global user.email t@example.org
git init -q . && git commit -q --allow-empty -m first
commits() { # OPTIONS... - prints how many there are afterwards
	"$CORDON" run --headless "$@" -- git commit -q --allow-empty -m next >said 2>&1
	git rev-list --count HEAD
}
is "$(commits)" 2 "nothing is signed, and a commit works"
is "$(cat said)" "" "without a word"
git config --global commit.gpgsign true
is "$(commits)" 2 "signed by gpg it fails"
like "$(cat said)" "signs commits here with gpg.*git.signing=off" "the start says why, and what helps"
is "$(commits --set git.signing=off)" 3 "which does"
unlike "$(cat said)" "signs" "and says nothing more"
unlike "$(git cat-file commit HEAD)" gpgsig "the commit is not signed"
git config commit.gpgsign no
is "$(commits):$(cat said)" "4:" "the repository's own setting comes last"
git config --unset commit.gpgsign
git config gpg.format ssh
is "$(commits)" 4 "signed by SSH it fails, too"
like "$(cat said)" "with an SSH key.*--ssh-agent" "which has another way out"
git worktree add -q ../linked -b linked 2>/dev/null
like "$(cd ../linked && "$CORDON" run --headless -- true 2>&1)" "with an SSH key" "a linked worktree has the settings of its repository"
(cd "$(new_folder plain)" && "$CORDON" run --headless -- true) >said 2>&1
is "$(cat said)" "" "a folder without a repository hears nothing"
done_testing
