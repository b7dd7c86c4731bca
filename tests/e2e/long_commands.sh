#!/bin/bash
# long_commands - a command that is too long to be stored is marked as cut, wherever it is shown.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1

# told TEXT... - commands in the audit log that match all of these
told() { "$CORDON" audit --json | sed -n 's/.*"event":"exec".*"command":"\(.*\)","prev".*/\1/p' | grep -F -- "$1"; }
cat >"$TEST_TMP/commands" <<'X'
touch $(seq -f f%g 300)
touch a b
sh -c "$(printf ': %05000d; touch seen' 0)"
sh -c ': short; touch c'
env -i "$(printf 'A=%08200d' 0)" touch d
X
"$CORDON" run --headless --steps auto -- bash -s <"$TEST_TMP/commands" || fail "a run"
ok "all of them ran" test -e f300 -a -e b -a -e seen -a -e c -a -e d
like "$(told 'touch f1 f2')" ' f255 \.\.\.$' "words beyond the 256th are not kept, which shows"
is "$(told 'touch a b')" "touch a b" "of a short command nothing is left out"
like "$(told ': 0000')" '^sh -c : 0+ \.\.\.$' "a word that is too long"
is "$(told ': short')" "sh -c : short; touch c" "and one that is not"
like "$(told 'env -i A=0')" '^env -i A=0+ .*\.\.\.$' "what comes behind a word that is too long"
label() { "$CORDON" log --json | sed -n 's/.*"command":"\([^"]*\)".*/\1/p' | grep -F -- "$1"; }
like "$(label 'touch f1')" ' f255 \.\.\.$' "the step's name says so, too"
is "$(label 'touch a b')" "touch a b" "that of a short one does not"
ok "the log verifies" "$CORDON" audit verify
done_testing
