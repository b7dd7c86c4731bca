#!/bin/bash
# undo_moment - an external write to a file as soon as a redo has restored it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox

dir=$(new_folder work)
in_folder "$dir" sh -c 'echo agent >made'

# The write may come before or after the redo has checked the file: it is an edit in either case.
missed=0
for _ in 1 2 3 4 5 6; do
	cordon_in "$dir" undo --force >/dev/null || missed=1
	(until [ -e "$dir/made" ]; do :; done && echo human >>"$dir/made") &
	cordon_in "$dir" redo >/dev/null || missed=1
	wait $!
	cordon_in "$dir" undo >/dev/null 2>&1 && missed=2
	tail -n 1 "$dir/made" | grep -q human || missed=3
done
is "$missed" 0 "an edit at the moment of a redo is never undone unasked"
like "$(cordon_in "$dir" undo --dry-run)" "made.*CONFLICT" "and --dry-run shows it"
done_testing
