#!/bin/bash
# bench - cordon against native (and bwrap) in tmpfs: ratios of pairs of turns, with the targets.
# SPDX-License-Identifier: MIT
#
# ROUNDS=3      turns of each at least; a row takes 5 seconds for every two of them to know its ratio to 1 %
# ONLY='tar x'  a regex of rows
# MODE=dynamic  or static, where a row does not say which
#
# What reads is told in processor time, the rest by the clock: it wants a machine on which nothing else runs.
# `chrt -r 1` keeps others away from the start-up, no more: the real-time classes put a keeper and its caller
# on two processors, and an untar takes twice the processor time, by the laziest keeper as well.
# shellcheck disable=SC2154 # what the sourced ones assign
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${B:=release}" "${ROUNDS:=3}" "${ONLY:=.}" "${MODE:=dynamic}"
cordon=$PWD/build/$B/cordon tools=$PWD/build/$B/tests/bench
export LC_ALL=C.UTF-8 GIT_CONFIG_NOSYSTEM=1 CCACHE_DISABLE=1 # make is measured, not a cache
base=$(mktemp -d /dev/shm/cordon-bench.XXXXXX) || exit 1
mkdir -p "$base/tmp"
# Not below /dev, which inside is another directory.
HOME=$(mktemp -d "$PWD/build/$B/bench-home.XXXXXX") || exit 1
export HOME XDG_STATE_HOME=$base/state
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/cordon" && printf '[sandbox]\n\tmode = %s\n' "$MODE" >"$HOME/.config/cordon/config"
cleanup() {
	close_sessions
	[ -z "${gate:-}" ] || rm -rf "$gate"
	tmux -S "$base/tmux" kill-server 2>/dev/null
	umount "$base/mnt" 2>/dev/null
	chmod -R u+rwx "$base"
	rm -rf "$base" "$HOME"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
trap : PIPE # a session that has ended
git config --global user.name bench && git config --global user.email bench@example.org
git config --global init.defaultBranch main && git config --global gc.auto 0

# shellcheck source=/dev/null
{
	. tests/bench/measure.sh
	. tests/bench/workloads.sh
	. tests/bench/everyday.sh
	. tests/bench/journal.sh
	. tests/bench/pane.sh
	. tests/bench/record.sh
	. tests/bench/console.sh
	. tests/bench/gate.sh
	. tests/bench/net.sh
	. tests/bench/proxy.sh
	. tests/bench/one_call.sh
}

have_bwrap=$(command -v bwrap >/dev/null && bwrap --unshare-all --ro-bind / / true 2>/dev/null && echo yes)
sides="native inside"
[ -z "$have_bwrap" ] || sides="$sides bubble"
# row_trapped NAME LIMIT PREPARE COMMAND - the limit is cordon's over native; beside it, what the kernel
# takes for trapping
row_trapped() { versus "$@" native inside floor; }

echo "kernel $(uname -r), $(nproc) cores, $(id -un); $MODE mode; milliseconds, medians of turns in tmpfs"
echo "ratio+-half of what holds the true one in 95 of 100 (pairs)"
mkdir "$base/native" && make_native "$base/native" && cp "$tools"/{turns,calls} "$base/native" || exit 1
describe_tree "$base/native"
print_row "" native cordon bwrap ratio target ""
for side in inside bubble without floor; do cp -a "$base/native" "$base/$side"; done

if wanted "start-up"; then
	# shellcheck disable=SC2086 # one word each
	by_turns start $sides
	# shellcheck disable=SC2086
	show "start-up over native" 20 difference $sides
	if [ -n "$have_bwrap" ]; then
		by_turns start bubble inside
		show "start-up against bwrap" 2 ratio bubble inside
	fi
fi

# A history that has limits would end in the middle of what is measured.
limits=(--set journal.size=0 --set journal.step-size=0)
"$cordon" run --headless "${limits[@]}" -- true 2>/dev/null || limits=()

# ---- what reads
rows_reads() {
	wanted reads || return 0
	versus "reads: grep -r in a run of its own" 1.05 : 'grep -r "nobody greps for this" tree || :' native inside
	open_session native in_dir native && open_session inside in_dir inside "$cordon" run --headless --
	[ -z "$have_bwrap" ] || open_session bubble in_dir bubble "${bubbled[@]}"
	sleep 2 # a folder that is left alone is watched, each directory
	# shellcheck disable=SC2086 # one word each
	{
		reading "reads: grep -r" 1.05 'grep -r "nobody greps for this" tree/dir[0-3]' $sides
		reading "reads: find -ls" 1.05 'find tree/dir[0-3] -ls' $sides
		reading "reads: git status" 1.05 'git -C tree status --porcelain' $sides
	}
	close_sessions
}
rows_reads
# ---- what writes
print_row "" native cordon "trap only" ratio target ""
row_trapped "git add -A" 1.25 "$some_fresh" 'git -C fresh add -A'
row_trapped "sed -i on 600 files" 1.5 : 'sed -i s/return/RETURN/ csrc/*.c'
row_trapped "make -j2" 1.05 'make -s -C project clean' 'make -s -j2 -C project'
rows_everyday

print_row "" "native, us" "cordon, us" "trap, us" "" target ""
rows_calls
rows_pane
rows_record
rows_console
rows_gate
rows_net
print_row "" "no undo" cordon "" ratio target ""
rows_capture
print_row "" tinyproxy cordon "" ratio target ""
rows_proxy
print_row "" base cordon "" ratio target ""
rows_remove
rows_big
rows_reading
rows_memory
exit "$failed"
