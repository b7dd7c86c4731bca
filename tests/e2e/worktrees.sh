#!/bin/bash
# worktrees - git in a linked worktree, a submodule, a worktree of a bare repository: as outside, without a question.
# SPDX-License-Identifier: MIT
# also with: BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
use_backend
git config --global user.name t && git config --global user.email t@example.org
git config --global protocol.file.allow always && git config --global init.defaultBranch main
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
printf '[sandbox]\n\tenv = GIT_AUTHOR_DATE\n\tenv = GIT_COMMITTER_DATE\n' >>"$HOME/.config/cordon/config"

make_repo() { git init -q "$1" && (cd "$1" && echo 1 >a && git add a && git commit -qm 1); }
make_all() { # DIR - a repository with two worktrees, one with a submodule, a bare one with a worktree
	mkdir "$1" && cd "$1" || exit 1
	make_repo source && make_repo main
	(cd main && git worktree add -q ../linked -b linked && git worktree add -q ../other -b other)
	make_repo super && (cd super && git submodule --quiet add "$1/source" sub && git commit -qm sub)
	git clone -q --bare source store && git -C store worktree add -q ../ofbare -b ofbare
	git -C super/sub remote set-url origin ../../source
}
work='set -e; git status -s; echo 2 >b; git add b; git commit -qm 2; echo 3 >>b; git stash -q; git stash pop -q
	git commit -qm 3 b; git checkout -q -b side HEAD~1; echo s >s; git add s; git commit -qm s; git merge -q -m m @{-1}
	git checkout -q -; git rebase -q side; git fetch -q . side:fetched; git revert --no-edit HEAD >/dev/null
	git cherry-pick HEAD~1 >/dev/null; git tag t; git branch n; git log --format="%s %D"'
state() { # DIR - what another worktree of the repository sees
	(cd "$1" && git for-each-ref && git fsck && git reflog --format=%H && git status -s) 2>&1
}

make_all "$TEST_TMP/native"
make_all "$TEST_TMP/cordon"
for at in linked super/sub ofbare; do
	cd "$TEST_TMP/native/$at" || exit 1
	want=$(sh -c "$work" 2>&1)
	case $at in linked) from=../main ;; super/sub) from=. ;; *) from=../store ;; esac
	before=$(state "$TEST_TMP/cordon/$at" && cd "$TEST_TMP/cordon/$at" && state "$from")
	got=$(in_folder "$TEST_TMP/cordon/$at" sh -c "$work" 2>&1)
	is "$got" "$want" "$at: git says the same"
	is "$(state "$TEST_TMP/cordon/$at")" "$(state "$TEST_TMP/native/$at")" "$at: and left the same"
	ok "$at: undo" cordon_in "$TEST_TMP/cordon/$at" undo
	is "$(state "$TEST_TMP/cordon/$at" && cd "$TEST_TMP/cordon/$at" && state "$from")" "$before" "$at: brings all of it back"
	ok "$at: redo" cordon_in "$TEST_TMP/cordon/$at" redo
	is "$(state "$TEST_TMP/cordon/$at")" "$(state "$TEST_TMP/native/$at")" "$at: which is what git left"
	is "$(cordon_in "$TEST_TMP/cordon/$at" diff --stat | grep -cE 'objects|refs|logs|index|HEAD')" 0 "$at: the diff shows files of the project"
done

# Several agents at once, each in its own worktree, with its own undo.
cd "$TEST_TMP/cordon" || exit 1
in_folder linked sh -c "echo l >l; git add l; git commit -qm l; touch began; until [ -e go ]; do sleep 0.05; done; rm began go" &
first=$!
wait_for 20 [ -e linked/began ] || fail "the first session has begun"
ok "another session in another worktree, at the same time" in_folder other sh -c 'echo o >o; git add o; git commit -qm o'
touch linked/go && wait $first
ok "undo in the one" cordon_in linked undo
is "$(git -C other log -1 --format=%s)" o "leaves the other's commit"
ok "undo in the other" cordon_in other undo
is "$(git -C other log -1 --format=%s) $(git -C other status -s)" "1 " "takes it back"

# Files of another worktree, and files that git on the host would execute.
cd "$TEST_TMP/cordon" || exit 1
git -C main reset -q --hard && before=$(state main)
refused() { # NAME COMMAND
	local out
	out=$(in_folder linked sh -c "$2" 2>&1)
	like "$out" "ermission denied|was refused|not permitted" "refused: $1"
}
refused "the main worktree's HEAD" 'echo x >../main/.git/HEAD'
refused "its index" 'rm ../main/.git/index'
refused "its lock" 'touch ../main/.git/index.lock'
refused "its reflog" 'echo x >>../main/.git/logs/HEAD'
refused "a merge in it" 'echo x >../main/.git/MERGE_HEAD'
refused "another worktree" 'rm -r ../main/.git/worktrees/other'
refused "its HEAD" 'echo x >../main/.git/worktrees/other/HEAD'
refused "a hook" 'echo x >../main/.git/hooks/post-checkout'
refused "a setting that runs something" 'git config core.pager evil'
refused "a file beside the repository" 'echo x >../main/a'
is "$(state main)" "$before" "nothing of it has changed"
is "$(in_folder linked sh -c 'git gc -q; echo $?; git repack -adq; echo $?; git prune; echo $?' 2>&1)" $'0\n0\n0' "gc, repack and prune"
is "$(state main | grep -v dangling)" "$(grep -v dangling <<<"$before")" "leave the other worktrees' reflogs alone"
ok "undo takes them back" cordon_in linked undo
is "$(state main)" "$before" "which the others do not notice"
mkdir main/.git/worktrees/relative && echo ../../../../other/.git >main/.git/worktrees/relative/gitdir
refused "one that is named from its git directory on" 'echo x >../main/.git/worktrees/relative/HEAD'
rm -r main/.git/worktrees/relative
like "$(cordon_in linked why write ../main/.git/HEAD)" "another worktree" "why says whose it is"

# A worktree that the agent added is in the folder, one that the user adds meanwhile is not.
in_folder linked git worktree add -q wt2 -b wt2
in_folder linked sh -c 'cd wt2 && echo 2 >two && git add two && git commit -qm two'
is "$(git -C linked/wt2 log -1 --format=%s)" two "the agent's own worktree is its own in the next session"
in_folder linked sh -c 'echo >ready; until [ -e added ]; do sleep 0.05; done; echo x >../main/.git/worktrees/late/HEAD' >late.out 2>&1 &
wait_for 60 [ -e linked/ready ]
git -C main worktree add -q ../late -b late
touch linked/added && wait $!
like "$(cat late.out)" "ermission denied|was refused" "a worktree that is added during a session is another's"
is "$(git -C late log -1 --format=%s)" "$(git -C main log -1 --format=%s)" "and works"

# A .git that leads to another place.
strange() { # NAME TARGET
	rm -rf odd && mkdir odd && echo "gitdir: $2" >odd/.git
	local out
	out=$(cd odd && "$CORDON" run --headless -- sh -c "git status; echo x >'$2/planted'" 2>&1)
	like "$out" "does not name this folder|not a git repository" "$1: is not taken in"
	ok "$1: nothing is written there" [ ! -e "$2/planted" ]
}
strange "to /etc" /etc
strange "to another repository" "$TEST_TMP/cordon/super/.git"
strange "to another's worktree" "$TEST_TMP/cordon/main/.git/worktrees/other"
strange "to itself" "$TEST_TMP/cordon/odd/.git"
mkdir -p fake/worktrees/odd && echo "$TEST_TMP/cordon/odd/.git" >fake/worktrees/odd/gitdir &&
	echo "$TEST_TMP/cordon/super/.git" >fake/worktrees/odd/commondir
strange "by a made-up worktree whose repository is another" "$TEST_TMP/cordon/fake/worktrees/odd"
ln -s loop loop
strange "to a loop" "$TEST_TMP/cordon/loop"
if [ "$(id -u)" = 0 ]; then
	cp -r main foreign && (cd foreign && git worktree add -q ../odd2 -b odd2) && chown -R 4711 foreign
	out=$(cd odd2 && "$CORDON" run --headless -- true 2>&1)
	like "$out" "does not name this folder|belongs" "another user's repository is not taken in"
fi
# The history before the start is rewritten: branches of the repository, and of a submodule.
make_all "$TEST_TMP/rewritten"
amend='git commit -q --amend --allow-empty -m "$0"'
for at in linked super/sub ofbare; do
	cd "$TEST_TMP/rewritten/$at" || exit 1
	branch=$(git branch --show-current)
	like "$(in_folder . sh -c "$amend" evil 2>&1)" "branch '$branch' no longer leads to [0-9a-f]{10}" "$at: rewritten history is said"
	unlike "$(in_folder . git commit -q --allow-empty -m more 2>&1)" 'no longer' "$at: a further commit is not"
done
cd "$TEST_TMP/rewritten/super" || exit 1
like "$(in_folder . sh -c "cd sub && $amend" worse 2>&1)" "submodule 'sub': branch 'main' no longer leads" "that of a submodule in the folder, too"
like "$(in_folder . sh -c "i=0; while [ \$i -lt 99 ]; do mkdir -p .git/modules/\$i/objects; cp .git/HEAD .git/modules/\$i/; i=\$((i + 1)); done
	cd sub && $amend" hidden 2>&1)" "submodule 'sub': branch|could not check whether git history was rewritten" "nor is it silent among many others"

# A rule that denies reading the repository keeps it out, even for its worktree.
make_repo "$TEST_TMP/closed" && git -C "$TEST_TMP/closed" worktree add -q "$TEST_TMP/open" -b open
printf '[rule "closed"]\n\tdeny = read %s/closed/**\n' "$TEST_TMP" >>"$HOME/.config/cordon/config"
cd "$TEST_TMP/open" || exit 1
out=$(in_folder . sh -c 'git log --format=subject:%s; cat ../closed/.git/config; echo x >../closed/.git/x' 2>&1)
unlike "$out" 'subject:1|repositoryformatversion' "a rule that denies reading keeps a repository out"
like "$out" "repository $TEST_TMP/closed/.git of a worktree is not taken in" "with a line that says so"
ok "nothing is written there" [ ! -e ../closed/.git/x ]
like "$("$CORDON" why read ../closed/.git/config)" '^deny' "cordon why says the same"
done_testing
