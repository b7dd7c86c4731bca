#!/bin/bash
# vm_mine - what a human wrote while a guest's step ran, or after it, stays: at a safeguard's rollback, and at a model's undo and redo.
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
export -f human
export dir agent
(cd "$TEST_TMP" && PYTHONPATH=$tree/tests/support timeout 200 python3 -B - >"$out" 2>&1 <<'P'
import os, subprocess
import mcp_client
from front import done, equal, ok
folder = os.environ["dir"]
read = lambda name: open(f"{folder}/{name}").read()
human = lambda: subprocess.run(["bash", "-c", "human"], check=True)
c = mcp_client.Client(cwd=folder)
c.initialize()
c.tool("execute_command", command=os.environ["agent"])
human()
r = c.tool("undo")
ok("undo.conflict" in r["error"] and any(n in r["error"] for n in ("place", "save", "new", "made/mine")), "undo is refused, and names a file", r)
equal(read("theirs"), "one\ntwo\nagent\n", "nothing was undone")
c.tool("execute_command", command="echo agent >after")
ok("steps" in c.tool("undo") and not os.path.exists(folder + "/after"), "a later step is undone")
human()
with open(folder + "/after", "w") as f:
    f.write("HUMAN\n")
r = c.tool("redo")
ok("after" in r["error"] and read("after") == "HUMAN\n", "a redo over an edit is refused, and names it", r)
equal(c.close(), 0, "the session ends")
done()
P
)
is "$?" 0 "MCP: what a model may do: $(grep -A4 '^not ok' "$out" | head -n 20)"
all_is_there "MCP"
done_testing
