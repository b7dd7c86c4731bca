#!/bin/bash
# git - ordinary work with git inside: nothing is refused, and nothing is asked about.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
dir=$(new_folder work)
cd "$dir" || exit 1
git config --global user.name t && git config --global user.email t@example.org
git config --global protocol.file.allow always && git config --global init.defaultBranch main
git config --global advice.detachedHead false
git init -q . && echo a >a && git add a && git commit -qm a
git init -q source && (cd source && echo s >s && git add s && git commit -qm s)
git -C source branch other
printf '%s\n' /source /clone /bare.git /sha >.git/info/exclude

works() { # NAME COMMANDS - inside, from the folder; ends with 0, and nothing is refused
	local out r
	out=$(in_folder "$dir" sh -ec "$2" 2>&1)
	r=$?
	if [ $r = 0 ] && [[ $out != *" was refused"* ]]; then pass "$1"; else fail "$1" "exit status $r: $out"; fi
}
works "add and commit" 'echo b >b; git add -A; git commit -qm b; echo c >>b; git commit -qm c b'
works "branches, checkout, a rebase" 'git checkout -q -b f; echo f >f; git add f; git commit -qm f; git checkout -q main
	echo d >d; git add d; git commit -qm d; git rebase -q main f'
works "an interactive rebase" 'GIT_SEQUENCE_EDITOR="sed -i s/pick/reword/" GIT_EDITOR=true git rebase -q -i HEAD~1'
works "one that stops, and goes on" 'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i HEAD~2
	echo more >>b; git commit -qam more; git rebase --continue'
works "a rebase by patches" 'git checkout -q main; git rebase -q --apply f'
works "stash" 'echo e >>a; git stash -q; git stash pop -q; git commit -qam e'
works "merge and cherry-pick" 'git checkout -q -b m1; echo 1 >m; git add m; git commit -qm m1; git checkout -q -b m2 HEAD~1
	echo 2 >n; git add n; git commit -qm m2; git merge -q -m x m1; git checkout -q main; git cherry-pick m1'
works "a conflict" 'git checkout -q -b c1; echo 1 >a; git commit -qam c1; git checkout -q -b c2 HEAD~1; echo 2 >a
	git commit -qam c2; git merge c1 || true; echo 3 >a; git add a; git commit -qm c3; git checkout -q main'
works "patches by mail" 'git format-patch -q -1 -o p; git reset -q --hard HEAD~1; git am -q p/*.patch; rm -r p'
works "bisect" 'git bisect start -q HEAD HEAD~2; git bisect reset'
works "tags, notes, branches that are renamed" 'git tag x; git tag -a -m y y; git notes add -m x; git branch -m m2 m3/x'
works "a clone of a place here" 'git clone -q ./source clone; cd clone; echo z >z; git add z; git commit -qm z
	git checkout -q -b other origin/other'
works "a bare clone" 'git clone -q --bare ./source bare.git'
works "a remote that is added, led elsewhere, renamed and removed" 'git remote add mine https://example.org/a.git
	git remote set-url mine https://example.org/b.git; git remote rename mine ours; git remote remove ours'
works "fetch and pull" 'git fetch -q ./source; cd clone; git fetch -q; git checkout -q main; git pull -q --rebase'
works "a split index" 'git update-index --split-index; echo q >q; git add q; git commit -qm q; git rm -q q; git commit -qm q2
	git update-index --no-split-index'
works "every version of the index" 'git update-index --index-version 4; echo r >r; git add r; git update-index --index-version 3
	git add -N . ; git update-index --index-version 2; git commit -qam r'
works "index extensions" 'git -c index.threads=4 -c feature.manyFiles=true add .; git update-index --untracked-cache; git status -s'
works "a sparse checkout and a sparse index" 'mkdir -p x/y w; echo 1 >x/y/z; echo 1 >w/v; git add x w; git commit -qm x
	git sparse-checkout set --cone --sparse-index x; git status -s; git sparse-checkout disable'
works "a repository of other hashes" 'git init -q --object-format=sha256 sha; cd sha; echo 1 >1; git add 1; git commit -qm 1'
works "a worktree: add, work, move, remove" 'git worktree add -q wt -b wtb; cd wt; echo 1 >inwt; git add inwt; git commit -qm w; cd ..
	git worktree list; git merge -q wtb; git worktree remove wt; git worktree add -q --detach sub/wt; git worktree prune
	git worktree remove --force sub/wt'
works "worktrees where agents put them" 'git worktree add -q .claude/worktrees/x -b wtx; cd .claude/worktrees/x; echo 1 >1; git add 1
	git commit -qm 1; cd ../../..; git worktree remove .claude/worktrees/x; rmdir .claude/worktrees .claude'
works "a worktree beside the repository, of a bare one, of a submodule" 'git init -q beside/repo; cd beside/repo; echo 1 >1; git add 1; git commit -qm 1
	git worktree add -q ../w -b w; (cd ../w; echo 2 >2; git add 2; git commit -qm 2); git worktree move ../w ../v; (cd ../v; git status -s)
	git submodule add -q ../../source sm; git -C sm worktree add -q ../../smw -b smw; (cd ../smw; echo 3 >3; git add 3; git commit -qm 3); cd ..
	git clone -q --bare repo r.git; git -C r.git worktree add -q ../main2 -b main2; (cd main2; echo 4 >4; git add 4; git commit -qm 4); cd ..
	rm -rf beside'
mkdir many && git clone -q --bare source many/.bare && echo 'gitdir: ./.bare' >many/.git
works "and where the git directory has another name" 'cd many; git worktree add -q m -b m; cd m; echo 1 >1; git add 1; git commit -qm 1'
rm -rf many
works "a configuration of the kernel's" 'echo CONFIG_X=y >.config.new; mv .config.new .config; echo CONFIG_Y=y >>.config; ln .config .config.old; rm .config*'
! python3 -c 'import venv' 2>/dev/null || works "a virtual environment" 'python3 -m venv --without-pip .venv; .venv/bin/python -c "import sys"; rm -r .venv'
works "a submodule: add, update, deinit" 'git submodule add -q ./source sm; git commit -qm sm; git -C sm log --oneline
	git submodule deinit -q -f sm; git submodule update -q --init sm; (cd sm; echo 1 >1; git add 1; git commit -qm 1; git checkout -q other)
	git submodule update -q; git rm -qf sm; git commit -qm gone'
fails() { ! "$@"; }
# A linked worktree as the working folder.
git init -q "$TEST_TMP/m" && git -C "$TEST_TMP/m" commit -q --allow-empty -m a && git -C "$TEST_TMP/m" worktree add -q "$TEST_TMP/lw" -b lw
out=$(cd "$TEST_TMP/lw" && "$CORDON" run --headless --rw "$TEST_TMP/m/.git" -- sh -ec 'echo 1 >1; git add 1; git commit -qm 1' 2>&1)
is "$?:$out" "0:" "which it is, without a word"
(cd "$TEST_TMP/lw" && "$CORDON" undo >/dev/null)
is "$(git -C "$TEST_TMP/lw" log --oneline | wc -l)" 1 "and undone it is as a whole"

# A file that is written in place and is not harmless is asked about; its writer's next change waits for the answer.
git init -q --bare asked.git && git -C source push -q ../asked.git HEAD:refs/heads/main
in_answer() { # ANSWERER COMMANDS
	(cd "$dir" && "$CORDON" run --headless --set approval.command="$1" -- sh -c "$2") >"$TEST_TMP/out" 2>&1
}
ok "a worktree in a bare repository, allowed" in_answer true 'git -C asked.git worktree add inner -b inner && git -C asked.git/inner log'
ok "which git of the host takes" git -C asked.git/inner status
ok "and one that is denied" fails in_answer false 'git -C asked.git worktree add inner2 -b inner2'
ok "a gitfile is there before its writer goes on" in_answer true 'mkdir gf; echo "gitdir: /etc" >gf/.git; mkdir gf/next; cat gf/.git'
ok "and is not, where it is denied" fails in_answer false 'mkdir gf2; echo "gitdir: /etc" >gf2/.git; mkdir gf2/next; cat gf2/.git'
ok "while the call that waited is done" test -d gf2/next
rm -rf asked.git gf gf2
before=$(content .)
works "a worktree again" 'git worktree add -q wt2; echo 1 >wt2/1'
ok "it can be undone" "$CORDON" undo
same "$(content .)" "$before" "as if it had never been"
works "gc and maintenance" 'git gc -q; git gc -q --prune=now; git maintenance run --task=commit-graph --task=incremental-repack'
works "clean, reset, checkout" 'echo x >new; git clean -qfd; echo x >a; git reset -q --hard; echo x >a; git checkout -q .; git restore a'
works "rerere and other settings" 'git config rerere.enabled true; git config pull.rebase true; git config --unset rerere.enabled'
works "a new repository, and its end" 'git init -q fresh; cd fresh; git remote add origin https://example.org/x.git; cd ..; rm -rf fresh clone'
is "$(git status -s)" "" "and the host sees a clean tree"

# A part of a checkout: git does not work there, and a line says why.
mkdir part
like "$(in_folder "$dir/part" true 2>&1)" \
	"^cordon: git finds no repository here: start in $dir, or add --ro $dir to look only\$" "a part says so"
is "$(cd part && "$CORDON" run --headless --ro "$dir" -- git status --short --branch 2>&1)" "## $(git branch --show-current)" \
	"with --ro git can look"
unlike "$(cd part && "$CORDON" run --headless --rw "$dir" -- git commit -q --allow-empty -m part 2>&1)" "." "with --rw it works"
is "$(git log -1 --format=%s)" part "the commit is there"
unlike "$(in_folder "$dir" true 2>&1)" "no repository" "a whole one has no such line"
rmdir part
ok "that git finds whole" git fsck --no-progress
done_testing
