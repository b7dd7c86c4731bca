#!/bin/bash
# not_kept - a run whose step cannot be kept does not end as a success.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
in_folder "$dir" true # the store is made
store=$dir/.cordon
[ -d "$store" ] || store=$(echo "$HOME"/.local/state/cordon/work-*)
ok "there is a store" test -d "$store/steps"

mark=$(new_mark)
start_in "$dir" sh -c "echo precious >f; : $mark; while [ ! -e go ]; do sleep 0.05; done" 2>"$TEST_TMP/words"
ok "the command has begun" wait_for 20 test -s "$dir/f"
mv "$store/steps" "$store/away"
touch "$dir/go"
wait "$pid"
is "$?" 125 "the status is no success"
like "$(cat "$TEST_TMP/words")" "^cordon: keep step [0-9]+: .*No such file" "it is said what failed, and why"
like "$(cat "$TEST_TMP/words")" "copy what you need" "and what to do"
is "$(cat "$dir/f")" precious "the file is there until the next start"

mv "$store/away" "$store/steps"
in_folder "$dir" true
ok "then it is rolled back" test ! -e "$dir/f"
ok "redo" cordon_in "$dir" redo
is "$(cat "$dir/f")" precious "brings it again"
done_testing
