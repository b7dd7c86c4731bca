#!/bin/bash
# layers - a working folder in a lower layer of an overlay, as in a container's image.
# SPDX-License-Identifier: MIT
# root only: it mounts
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
[ "$(id -u)" = 0 ] || skip_all "only root mounts"
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -m "$0"
layers=$TEST_TMP/layers
mkdir -p "$layers/lower/work/d" "$layers/upper" "$layers/tmp" "$layers/all"
echo one >"$layers/lower/work/one" && echo two >"$layers/lower/work/d/two"
mount -t overlay cordon -o "lowerdir=$layers/lower,upperdir=$layers/upper,workdir=$layers/tmp" "$layers/all" 2>/dev/null ||
	skip_all "no overlay is mounted here"
dir=$layers/all/work HOME=$layers/all/home
mkdir "$HOME" && use_backend

# At its first change a file is copied up, and so is each directory above it: the birth times that the overlay reports
# are different afterwards.
t0=$(content "$dir")
ok "a first session" in_folder "$dir" sh -c 'echo more >>d/two; sleep 0.3; echo again >>d/two; mv one first'
t1=$(content "$dir")
ok "a second one takes the folder for the same" in_folder "$dir" sh -c 'rm first; echo new >d/new; chmod 600 d/two'
unlike "$(cordon_in "$dir" log)" "outside" "nothing is taken for somebody else's"
ok "undo" cordon_in "$dir" undo
same "$(content "$dir")" "$t1" "brings back what was before the second"
ok "undo of the first" cordon_in "$dir" undo
same "$(content "$dir")" "$t0" "brings back what the layer has"
ok "redo" cordon_in "$dir" redo
same "$(content "$dir")" "$t1" "brings back what the first did"
# A file that a step made is removed and another one written externally. It gets the same inode number, and the overlay
# reports no birth time.
number_of() { stat -c %i "$dir/mine"; }
# shellcheck disable=SC2016
in_folder "$dir" sh -c 'echo a >mine; echo >made; while [ ! -e go ]; do sleep 0.05; done; rm mine; echo >d/new' &
pid=$!
wait_for 30 test -e "$dir/made"
was=$(number_of)
rm "$dir/mine" && echo "the human's" >"$dir/mine"
again=$(number_of)
touch "$dir/go"
wait "$pid"
if [ "$was" = "$again" ]; then
	like "$(cordon_in "$dir" undo 2>&1)" "CONFLICT" "what has a number of the step's is not the step's own"
	like "$(grep -rl "the human's" "$layers/upper")" "." "its bytes are kept"
else
	skip "a number is given out again" "this file system does it later"
fi
done_testing
