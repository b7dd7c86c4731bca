#!/bin/bash
# bench - cordon against native (and bwrap): ratios of pairs of turns, with the targets.
# SPDX-License-Identifier: MIT
#
# ROUNDS=3      turns of each at least; a row takes 5 seconds for every two of them to know its ratio to 1 %
# ONLY='tar x'  a regex of rows
# MODE=dynamic  or static, where a row does not say which
# BASE=DIR      a directory of the file system that is measured; without it /dev/shm, which is a tmpfs
# AS=user       root: run all as an ordinary user, who cannot open /dev/fuse; AS=fuse: who can
#
# Rows that read are measured in processor time, the others by the clock: no other program should run.
# `chrt -r 1` is only used for start-ups: the real-time classes put a keeper and its caller on two processors, and an
# untar takes twice the processor time, with the simplest keeper as well.
# shellcheck disable=SC2154 # what the sourced ones assign
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${B:=release}" "${ROUNDS:=3}" "${ONLY:=.}" "${MODE:=dynamic}"
cordon=$PWD/build/$B/cordon tools=$PWD/build/$B/tests/bench
export LC_ALL=C.UTF-8 GIT_CONFIG_NOSYSTEM=1 CCACHE_DISABLE=1 # make is measured, not a cache
: "${BASE:=/dev/shm}" "${AS:=}"

# as_user [fuse] - runs this bench as a user without an account; with a device of the same number as /dev/fuse
as_user() {
	local to=(setpriv --reuid=12345 --regid=12345 --clear-groups)
	[ "$(id -u)" = 0 ] || { echo "only root can run as another user: AS=$AS" >&2 && return 1; }
	BASE=$(mktemp -d "$BASE/bench.XXXXXX") && chown 12345:12345 "$near" "$BASE" || return
	if [ "$AS" = fuse ]; then
		# shellcheck disable=SC2046 # two words
		mknod -m 666 "$near.fuse" c $(stat -c '0x%t 0x%T' /dev/fuse) || return
		# shellcheck disable=SC2016 # it is the inner shell's
		to=(unshare -m sh -c 'mount --bind "$0" /dev/fuse && exec "$@"' "$near.fuse" "${to[@]}")
	fi
	"${to[@]}" test -x "$cordon" || { echo "an ordinary user cannot reach $cordon" >&2 && return 1; }
	B=$B ROUNDS=$ROUNDS ONLY=$ONLY MODE=$MODE BASE=$BASE AS="" NEAR=$near "${to[@]}" tests/bench/bench.sh
	set -- $?
	rmdir "$BASE"
	return "$1"
}

# Beside the build: not below /dev, which is another directory inside.
near=${NEAR:-$(mktemp -d "$PWD/build/$B/bench.XXXXXX")} || exit 1
if [ -n "$AS" ]; then
	as_user
	status=$?
	rm -rf "$near" "$near.fuse"
	exit $status
fi
base=$(mktemp -d "$BASE/cordon-bench.XXXXXX") && mkdir -p "$base/tmp" "$near/home" || exit 1
export HOME=$near/home XDG_STATE_HOME=$base/state
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/cordon" && printf '[sandbox]\n\tmode = %s\n' "$MODE" >"$HOME/.config/cordon/config"
cleanup() {
	close_sessions
	[ -z "${gate:-}" ] || rm -rf "$gate"
	tmux -S "$base/tmux" kill-server 2>/dev/null
	umount "$base/mnt" 2>/dev/null
	chmod -R u+rwx "$base"
	rm -rf "$base" "${near:?}"/*
	[ -n "${NEAR:-}" ] || rmdir "$near"
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
	. tests/bench/large.sh
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
# row_trapped NAME LIMIT PREPARE COMMAND - the limit is for cordon against native; beside it, the kernel's share
row_trapped() { versus "$@" native inside floor; }

fuse=without
[ ! -w /dev/fuse ] || fuse=with
[ "$(id -u)" = 0 ] && who=root || who="an ordinary user"
echo "kernel $(uname -r), $(nproc) cores, $who $fuse /dev/fuse, $(df --output=fstype "$base" | tail -n 1); $MODE mode; milliseconds, medians of turns"
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

# A history with limits would be pruned in the middle of a measurement.
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
rows_large
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
