#!/bin/bash
# all - make bench: every row as the calling user, in tmpfs; then the rows that users wait for as other users, and on
# ext4.
# SPDX-License-Identifier: MIT
#
# ONLY='tar x'  a regex of rows, for each of them
# EXT4=DIR      a directory on ext4; without it the build's, where that is on one
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${B:=release}" "${EXT4:=$PWD/build/$B}"
export B
usual='start-up|reads|tar x|cp -a|rsync|rm -rf of them|git|sqlite|single calls|large:'
status=0

pass() { # NAME=VALUE... - one run of bench.sh
	echo
	env "$@" tests/bench/bench.sh || status=1
}
pass
if [ "$(id -u)" = 0 ]; then
	pass AS=user ONLY="${ONLY:-$usual}"
	[ ! -c /dev/fuse ] || pass AS=fuse ONLY="${ONLY:-$usual}"
else
	echo "what root would measure is left out"
fi
if [ "$(df --output=fstype "$EXT4" | tail -n 1)" = ext4 ]; then
	pass BASE="$EXT4" ONLY="${ONLY:-$usual}"
else
	echo "what ext4 costs is left out: $EXT4 is on another file system, see EXT4"
fi
exit $status
