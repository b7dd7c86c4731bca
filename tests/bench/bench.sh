#!/bin/bash
# bench - cordon against native (and bwrap) in tmpfs: medians of alternating runs, with the targets.
# SPDX-License-Identifier: MIT
#
# ROUNDS=5      runs of each; rows that take seconds have three at most
# ONLY='untar'  a regex of rows
# MODE=dynamic  or static, where a row does not say which
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${B:=release}" "${ROUNDS:=5}" "${ONLY:=.}" "${MODE:=dynamic}"
cordon=$PWD/build/$B/cordon tools=$PWD/build/$B/tests/bench
export LC_ALL=C.UTF-8 GIT_CONFIG_NOSYSTEM=1
base=$(mktemp -d /dev/shm/cordon-bench.XXXXXX) || exit 1
mkdir -p "$base/home" "$base/tmp"
export HOME=$base/home XDG_STATE_HOME=$base/state
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/cordon" && printf '[sandbox]\n\tmode = %s\n' "$MODE" >"$HOME/.config/cordon/config"
cleanup() {
	rm -rf "${gate:-$base}"
	tmux -S "$base/tmux" kill-server 2>/dev/null
	umount "$base/mnt" 2>/dev/null
	chmod -R u+rwx "$base"
	rm -rf "$base"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
heavy=$((ROUNDS < 3 ? ROUNDS : 3))
git config --global user.name bench && git config --global user.email bench@example.org
git config --global init.defaultBranch main && git config --global gc.auto 0

# shellcheck source=/dev/null
{
	. tests/bench/measure.sh
	. tests/bench/workloads.sh
	. tests/bench/journal.sh
	. tests/bench/pane.sh
	. tests/bench/gate.sh
}

have_bwrap=$(command -v bwrap >/dev/null && bwrap --unshare-all --ro-bind / / true 2>/dev/null && echo yes)
sides="native inside"
[ -z "$have_bwrap" ] || sides="$sides bubble"
# row NAME LIMIT PREPARE COMMAND - native, in cordon, in bwrap; the limit is cordon's over native
# shellcheck disable=SC2086 # one word each
row() { versus "$@" $sides; }
# row_trapped NAME LIMIT PREPARE COMMAND - the same, with what the kernel takes for trapping beside it
row_trapped() { versus "$@" native inside floor; }

echo "kernel $(uname -r), $(nproc) cores, $(id -un); $MODE mode; milliseconds, medians of $ROUNDS alternating runs in tmpfs"
mkdir "$base/native" && make_native "$base/native" || exit 1
describe_tree "$base/native"
print_row "" native cordon bwrap ratio target ""
for side in inside bubble without floor; do cp -a "$base/native" "$base/$side"; done

# shellcheck disable=SC2086 # one word each
zero $sides without floor
n=$(cat "$base/zero.native") i=$(cat "$base/zero.inside") b=$(cat "$base/zero.bubble" 2>/dev/null || echo -)
over=$(awk -v n="$n" -v i="$i" 'BEGIN { printf "%.1f", i - n }')
print_row "start-up over native" "$n" "$i" "$b" "+$over" "+20" "$(verdict "$over" 20)"
if [ -n "$have_bwrap" ]; then
	print_row "start-up against bwrap" "" "$i" "$b" "$(ratio "$i" "$b")" 2 "$(verdict "$(ratio "$i" "$b")" 2)"
fi

# A history that has limits would end in the middle of what is measured.
limits=(--set journal.size=0 --set journal.step-size=0)
"$cordon" run --headless "${limits[@]}" -- true 2>/dev/null || limits=()

# ---- what reads
row "grep -r" 1.05 : 'grep -r "nobody greps for this" tree || :; grep -r "nobody greps for that" tree || :'
settled "grep -r, every directory watched" 1.05 'grep -r "nobody greps for this" tree || :; grep -r "nobody greps for that" tree || :'
row "find -ls" 1.05 : 'find tree -ls; find tree -ls'
row "git status" 1.05 'git -C tree status' 'for i in 1 2 3 4 5; do git -C tree status --porcelain; done'
# ---- what writes
print_row "" native cordon "trap only" ratio target ""
ROUNDS=$heavy row_trapped "git add -A" 1.25 'rm -rf fresh; tar -xf tree.tar --one-top-level=fresh; git -C fresh init -q .' 'git -C fresh add -A'
row_trapped "untar of 4333 files" 2.2 'rm -rf out; mkdir out' 'tar -xf tree.tar -C out'
row_trapped "rm -rf of them" 2.0 'rm -rf out; mkdir out; tar -xf tree.tar -C out' 'rm -rf out'
row_trapped "sed -i on 600 files" 1.5 : 'sed -i s/return/RETURN/ csrc/*.c'
ROUNDS=$heavy row_trapped "make -j2" 1.05 'make -s -C project clean' 'make -s -j2 -C project'

rows_pane
rows_gate
print_row "" "no undo" cordon "" ratio target ""
rows_capture
rows_remove
rows_big
rows_reading
rows_memory
# shellcheck disable=SC2154 # of measure.sh
exit "$failed"
