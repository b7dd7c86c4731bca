#!/bin/bash
# undo_many - more paths than fit one frame between cordon and its keeper: all of them are counted.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
n=20000
"$CORDON" run --headless --set journal.step-size=0 -- \
	sh -c "mkdir -p a-directory/with-a-long-name/that-fills-the-frame-soon && cd a-directory/* &&
		cd * && seq -f 'a-file-with-a-long-name-%.0f' $n | xargs touch"
out=$("$CORDON" undo --dry-run)
like "$out" "and [0-9]+ more paths" "a dry run says that there is more than it lists"
shown=$(grep -c '^D' <<<"$out")
rest=$(sed -n 's/^ *and \([0-9]*\) more paths/\1/p' <<<"$out")
is $((shown + rest)) $((n + 3)) "and how much"
out=$("$CORDON" undo)
like "$out" ", $((n + 3)) paths" "undo counts all of them"
is "$(ls -A)" "" "and takes them all back"
like "$("$CORDON" redo)" ", $((n + 3)) paths" "so does redo"
is "$(find . -type f | wc -l)" $n "and brings them"
for f in $(find . -type f | head -n 100); do echo mine >"$f"; done
out=$("$CORDON" undo 2>&1)
is $? 1 "with files that a human has changed since it stops"
is "$(grep -c CONFLICT <<<"$out")" 40 "and names some of them"
like "$out" "and $((n + 3 - 40)) more paths: --dry-run lists them" "and says where the others are"
is "$("$CORDON" undo --dry-run | grep -c CONFLICT)" 100 "which is true"
done_testing
