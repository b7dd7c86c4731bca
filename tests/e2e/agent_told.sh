#!/bin/bash
# agent_told - an agent is told once what the user undid, denied or stopped: by its hook, or else by a key.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3 git
dir=$(new_folder work)
mkdir "$TEST_TMP/bin" "$TEST_TMP/orders"
# An agent that obeys a file: "N run COMMAND", or "N EVENT", an event of its hook, whose answer it prints.
cat >"$TEST_TMP/agent" <<'A'
#!/usr/bin/env python3
import json, os, subprocess, time
def hook(name):
    event = {"hook_event_name": name, "cwd": os.getcwd()}
    if "Tool" in name:
        event.update(tool_name="Bash", tool_input={"command": "make"})
    elif name != "typed":
        event.update(prompt="go on")
    r = subprocess.run(["CORDON", "hook", "--agent", "AGENT"], text=True, capture_output=True, input=json.dumps(event))
    if not r.stdout.startswith("{"):
        return r.stdout
    out = json.loads(r.stdout)["hookSpecificOutput"]
    assert out["hookEventName"] == name, out
    return out.get("additionalContext", "")
print("ready", flush=True)
done = 0
while True:
    time.sleep(0.05)
    n, what, *rest = open("ORDERS/now").read().split(" ", 2)
    if int(n) <= done:
        continue
    done, said = int(n), ""
    if what == "run":
        subprocess.run(rest[0].strip(), shell=True, stderr=subprocess.DEVNULL)
    else:
        said = hook(what.strip())
    print(f"did {n} [" + said.strip().replace("\n", "|") + "]", flush=True)
A
n=0
gives() { # WORDS...
	n=$((n + 1))
	echo "$n $*" >"$TEST_TMP/orders/new" && mv "$TEST_TMP/orders/new" "$TEST_TMP/orders/now"
}
order() {
	gives "$@"
	wait_for 20 has_done || note "still at work: $*"
}
# The text on the terminal, without line wraps.
did() { screen | tr -d '\n' | grep -o "did $n \[.*" | sed 's/\].*/]/'; }
has_done() { did | grep -q ']'; }
begins() { # NAME
	sed "s|CORDON|$CORDON|; s|AGENT|$1|; s|ORDERS|$TEST_TMP/orders|" "$TEST_TMP/agent" >"$TEST_TMP/bin/$1"
	chmod +x "$TEST_TMP/bin/$1"
	echo "$n none" >"$TEST_TMP/orders/now"
	start 200 45 "$dir" "$CORDON run --ro $TEST_TMP/orders -- $TEST_TMP/bin/$1"
	sees ready "$1 begins"
	keys C-] z
}
# The bar may still show the undo before, so the file is checked.
undone() { keys U && wait_for 1 grep -qx mine "$dir/kept.txt"; }
undoes() {
	keys C-] u
	sees '╔═ undo' "its human looks at an undo"
	until_keys_count
	ok "and does it" wait_for 20 undone
	loses '╔═' "the dialogs close"
}
git -C "$dir" init -q
printf 'mine\n' >"$dir/kept.txt"
for agent in codex gemini claude; do
	submit=UserPromptSubmit tool=PostToolUse
	[ $agent != gemini ] || submit=BeforeAgent tool=AfterTool
	begins $agent
	order $submit
	is "$(did)" "did $n []" "$agent: nothing happened, nothing is told"
	order "run echo new >kept.txt; echo x >\"\$(printf 'a\\033[31mb')\""
	undoes
	order $submit
	like "$(did)" 'The user rolled back step [0-9]+ ' "its next prompt says what the human undid"
	like "$(did)" 'kept\.txt' "and names the files"
	like "$(did)" 'a\\x1b\[31mb' "a hostile name is escaped"
	order $submit
	is "$(did)" "did $n []" "once"
	order "run echo again >kept.txt"
	undoes
	unlike "$(screen)" 'tells the agent' "no key is offered where a hook tells"
	order $tool
	like "$(did)" 'The user rolled back' "after a tool, too"
	close_all
done

begins claude
gives run "echo new >kept.txt; sleep 600"
ok "a command runs" wait_for 20 grep -q new "$dir/kept.txt"
keys C-] s
keys End
press_until 'is still running' "undo names it" u
press_until 'changes back' "its human stops it" S
press_until 'Rolled back' "and undoes it" U
keys C-] t
ok "the agent goes on" wait_for 20 has_done
order PreToolUse
like "$(did)" "The user stopped '.*The user rolled back step" "before a tool, claude hears of both"
gives run "echo x >.git/hooks/post-checkout"
sees '\? ASK' "a request waits"
keys C-] a
sees '╔═ . ASK' "it asks for more"
press_until "$(printf 'did %s ' $n)" "which its human denies" d
order PostToolUse
like "$(did)" 'The user denied: [a-z]+ .*/\.git/hooks/post-checkout' "and it hears of that"
close_all

# Without a hook.
begins gemini
order "run echo new >kept.txt"
keys C-] u
press_until 'Rolled back.*C-\] p tells the agent' "a key is offered" U
keys C-] p
sees 'The user rolled back step' "it pastes the words"
keys C-] p
sees 'There is nothing to tell' "once"
order BeforeAgent
is "$(did)" "did $n []" "and no hook tells of it again"
close_all
done_testing
