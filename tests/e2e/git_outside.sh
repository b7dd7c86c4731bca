#!/bin/bash
# git_outside - the user's git beside an agent's: undo leaves the objects that it needs, and the refs that it wrote.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git
use_backend
git config --global user.name t && git config --global user.email t@example.org
git config --global init.defaultBranch main
export GIT_CEILING_DIRECTORIES=$TEST_TMP # this tree may be a repository
turn=0
begin() { # a repository in $top; the agent works in $dir
	turn=$((turn + 1)) && top=$(new_folder "app$turn") dir=${1:+$top.w1} && dir=${dir:-$top}
	cd "$top" && git init -q && seq 9 >a && git add a && git commit -qm first && git branch old
	[ "$dir" = "$top" ] || git worktree add -q "$dir" -b agent
}
whole() { # NAME: nothing is missing in the repository
	is "$(git -C "$top" fsck 2>&1 | grep -v '^dangling')" "" "$1: no object is missing"
}
agent='echo 2 >b; git add b; git commit -qm agent'

end_all() { # as a crash does
	kill -KILL "$pid" "$(pgrep -P "$pid" -x cordon-keeper)"
	wait 2>/dev/null
}

# ---- objects that refs from outside need
begin
in_folder "$dir" sh -c "$agent" >/dev/null 2>&1
ok "undo" cordon_in "$dir" undo
is "$(git count-objects | cut -d' ' -f1)" 3 "takes the objects away, too"
ok "redo" cordon_in "$dir" redo
git tag mine
ok "undo after a tag of the human's" cordon_in "$dir" undo
is "$(git log --format=%s mine | paste -sd ' ') $(git log --format=%s | paste -sd ' ')" "agent first first" "takes the commit from the branch"
whole "undo"
ok "redo" cordon_in "$dir" redo
is "$(git log --format=%s | paste -sd ' ')" "agent first" "brings it back"
ok "that step alone" cordon_in "$dir" undo --step 1
is "$(git log --format=%s mine | paste -sd ' ') $(git log --format=%s | paste -sd ' ')" "agent first first" "is taken from the branch"
whole "undo --step"

begin worktree
in_folder "$dir" sh -c "$agent" >/dev/null 2>&1
git merge -q agent
ok "undo in a worktree after a merge" cordon_in "$dir" undo
is "$(git log --format=%s | paste -sd ' ') $(git -C "$dir" log --format=%s | paste -sd ' ')" "agent first first" "takes the commit from the worktree's branch alone"
whole "undo in a worktree"

begin
in_folder "$dir" sh -c "$agent" >/dev/null 2>&1
echo 3 >c && git add c && git commit -qm mine
ok "undo --keep-mine after a commit on top" cordon_in "$dir" undo --keep-mine
is "$(git log --format=%s | paste -sd ' ')" "mine agent first" "leaves the branch"
whole "undo --keep-mine"

begin
start_in "$dir" sh -c "$agent; touch ready; until [ -e go ]; do sleep 0.05; done" >/dev/null 2>&1
wait_for 20 test -e "$dir/ready" || fail "the agent is ready"
git tag mine
end_all
in_folder "$dir" true >/dev/null 2>&1
is "$(git log --format=%s mine | paste -sd ' ') $(git log --format=%s | paste -sd ' ')" "agent first first" "recovery takes the commit from the branch"
whole "recovery"

# A repository that the agent made is removed as a whole.
turn=$((turn + 1)) && dir=$(new_folder "app$turn") && cd "$dir" || exit 1
in_folder "$dir" sh -c 'git init -q; echo 1 >a; git add a; git commit -qm 1' >/dev/null 2>&1
git tag mine
cordon_in "$dir" undo --force >/dev/null 2>&1
ok "of a repository that the step made no object stays" test ! -e .git/objects

# It stays as a whole if the user has used it, and external edits are to stay.
owned() { # NAME COMMAND - by the human, in a repository of the agent's own
	turn=$((turn + 1)) && top=$(new_folder "app$turn") && dir=$top && cd "$dir" || exit 1
	in_folder "$dir" sh -c "$agents" >/dev/null 2>&1
	eval "$2"
	log=$(git -C "$sub" log --format=%s --all) && refs=$(git -C "$sub" show-ref)
	out=$(cordon_in "$dir" undo --keep-mine 2>&1)
	like "$out" "the repository '.*\.git' stays" "$1: undo --keep-mine says that it stays"
	is "$(git -C "$sub" log --format=%s --all) $(git -C "$sub" show-ref)" "$log $refs" "$1: leaves each ref"
	is "$(git -C "$sub" fsck 2>&1 | grep -v '^dangling')" "" "$1: no object is missing"
}
sub=. agents='git init -q; echo 1 >a; git add a'
owned "a commit of what the agent staged" 'git commit -qm mine'
agents='git init -q; echo 1 >a; git add a; git commit -qm 1'
owned "a commit on top" 'echo 2 >mine; git add mine; git commit -qm mine'
agents='git init -q'
owned "the first commit" 'echo 2 >mine; git add mine; git commit -qm mine'
sub=s agents='git init -q s; cd s; echo 1 >a; git add a; git commit -qm 1'
owned "a branch in a directory below" 'git -C s checkout -qb mine'
cordon_in "$dir" redo --keep-mine >/dev/null 2>&1
is "$(git -C s fsck 2>&1) $(git -C s log --format=%s)" " 1" "redo leaves it whole, too"

# ---- refs of a repository outside the folder, which nothing watches
while_it_runs() { # SECONDS - the human's branch, from before the step's end on
	start_in "$dir" sh -c 'git pack-refs --all; touch ready; until [ -e go ]; do sleep 0.05; done; rm ready go' >/dev/null 2>&1
	wait_for 20 test -e "$dir/ready" || fail "the agent is ready"
	git branch mine && git pack-refs --all
	sleep "$1"
}
begin worktree
while_it_runs 0
touch "$dir/go" && wait
out=$(cordon_in "$dir" undo 2>&1)
is "$?" 1 "undo of a step in which packed-refs were edited outside is refused"
like "$out" "packed-refs.*CONFLICT" "and names them"
out=$(cordon_in "$dir" undo --step 1 -- "$top/.git/packed-refs" 2>&1)
is "$?" 1 "so is that path alone"
ok "undo --keep-mine" cordon_in "$dir" undo --keep-mine
ok "leaves the branch" git rev-parse -q --verify mine
begin worktree
while_it_runs 2.5 # the keeper looks every two seconds
end_all
in_folder "$dir" true >/dev/null 2>&1
ok "recovery leaves it, too" git rev-parse -q --verify mine
done_testing
