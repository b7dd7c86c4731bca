#!/bin/bash
# vm_mine - external edits during a guest's step, or after it, stay: at a safeguard's rollback, at a model's undo and
# redo.
# SPDX-License-Identifier: MIT
# not in CI: vm.sh, vm_contract.sh and vm_cases.sh look at each part of it; each boot takes long
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/mine.sh"
need python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
. "$(dirname "$0")/../support/vm.sh"
vm_settings '[safeguard]
	deletes = 3'
tree=$PWD out=$TEST_TMP/out

# ---- a safeguard rolls the step back
dir=$(new_folder safeguard)
before_agent
(cd "$dir" && seq 6 | xargs touch)
in_folder "$dir" sh -c "sh -c '$agent; $waits; rm 1 2 3 4 5 6'; :" >"$out" 2>&1 &
wait_for 120 test -e "$dir/ready" || fail "the agent is ready" "$(cat "$out")"
human
wait_for 20 edits_are_seen || fail "the edits are seen"
touch "$dir/go"
wait
all_is_there "safeguard"
is "$(cat "$dir/theirs")" $'one\ntwo' "safeguard: the rest is rolled back"
is "$(cd "$dir" && echo [1-6])" "1 2 3 4 5 6" "safeguard: what was deleted is back"
are_named "$(cat "$out")" "the run"
are_named "$(cordon_in "$dir" log)" "the log"

# ---- undo and redo by a model's tools
dir=$(new_folder mcp)
before_agent
model_undoes
done_testing
