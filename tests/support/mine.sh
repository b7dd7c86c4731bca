# shellcheck shell=bash
# mine - for tests of rollbacks: an agent's changes in $dir, external edits meanwhile, and checks that these stay.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # of the script that includes this one

# The agent's changes, and the external edits of them: in place, by a save over the file, in a file and in a directory
# that the agent made. "theirs" is the agent's alone.
before_agent() { (cd "$dir" && printf 'one\ntwo\n' | tee place save theirs >/dev/null); }
agent='for f in place save theirs new; do echo agent >>$f; done; mkdir made; echo agent >made/own'
# It says that it waits, and continues when it gets the order.
waits='touch ready; while [ ! -e go ]; do sleep 0.05; done'
human() {
	echo "HUMAN in place" >>"$dir/place"
	sed 's/one/HUMAN save/' "$dir/save" >"$dir/.save.swp" && mv "$dir/.save.swp" "$dir/save"
	echo "HUMAN in new" >>"$dir/new"
	echo "HUMAN made" >"$dir/made/mine"
}
edits_are_seen() { grep -qas /place "$HOME/.local/state/cordon/"*/open/*/edited; } # by the keeper
all_is_there() { # NAME
	like "$(cat "$dir/place")" "HUMAN in place" "$1: what was written in place is there"
	like "$(cat "$dir/save")" "HUMAN save" "$1: what was saved over it is there"
	like "$(cat "$dir/new")" "HUMAN in new" "$1: what was added to the agent's file is there"
	is "$(cat "$dir/made/mine")" "HUMAN made" "$1: what was put into the agent's directory is there"
}
are_named() { # TEXT NAME
	for f in place save new made/mine; do
		like "$1" "$f" "$2 names $f"
	done
}
# model_undoes - undo and redo by a model's tools, which cannot force, in $dir. The script sets $tree and $out.
model_undoes() {
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
}
