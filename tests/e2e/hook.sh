#!/bin/bash
# hook - `cordon hook`: messages of agents to a hook, and the answers.
# SPDX-License-Identifier: MIT
. tests/support/lib.sh
need_sandbox

program=$CORDON # the variable exists inside the sandbox as well

# Payloads as the agents send them, with more fields than cordon reads.
claude() { # COMMAND
	python3 - "$1" <<'P'
import json, sys
print(json.dumps({"session_id": "s", "transcript_path": "/t", "cwd": "/home/u/p", "hook_event_name": "PreToolUse",
  "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": sys.argv[1], "description": "x"}, "tool_use_id": "t"}))
P
}
field() { # NAME ; of Claude's answer on standard input
	python3 -c 'import json, sys; print(json.load(sys.stdin)["hookSpecificOutput"].get(sys.argv[1], ""))' "$1"
}

got=$(claude 'cat ~/.ssh/id_rsa' | env CORDON=1 "$program" hook | field permissionDecision)
is "$got" deny "claude is told not to read keys"
got=$(claude 'git reset --hard' | env CORDON=1 "$program" hook | field additionalContext)
case $got in *"undo has them"*) pass "inside, a discarding command goes on with a note" ;; *) fail "inside, a note" "$got" ;; esac
got=$(claude 'git reset --hard' | env -u CORDON "$program" hook | field permissionDecision)
is "$got" ask "without the sandbox its user is asked"
got=$(claude 'make test' | env CORDON=1 "$program" hook)
is "$got" '' "an ordinary command is not commented"
got=$(claude 'cat .env' | sed 's/PreToolUse/PostToolUse/' | env CORDON=1 "$program" hook)
is "$got" '' "nor is anything after it ran"

echo '{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Read","tool_input":{"file_path":"/p/.env"}}' |
	env CORDON=1 "$program" hook | field permissionDecision >"$TEST_TMP/got"
is "$(cat "$TEST_TMP/got")" deny "a tool that reads a file is told, too"

# codex: arguments are a list; the answer is an exit status only.
echo '{"hook_event_name":"PreToolUse","cwd":"/p","turn_id":"1","tool_name":"Bash","tool_input":{"command":["bash","-lc","cat .env"]}}' |
	env CORDON=1 "$program" hook --agent codex >"$TEST_TMP/out" 2>"$TEST_TMP/err"
is "$? $(wc -c <"$TEST_TMP/out")" '2 0' "codex: refused by status 2, nothing on standard output"
grep -q '.env.example' "$TEST_TMP/err" ; is $? 0 "with the words on standard error"
claude 'git push -f' | env CORDON=1 "$program" hook --agent codex >"$TEST_TMP/out" 2>&1
is "$? $(wc -c <"$TEST_TMP/out")" '0 0' "codex: of a note nothing is said"

# gemini: BeforeTool, JSON or nothing.
echo '{"hook_event_name":"BeforeTool","cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"git push -f"}}' |
	env CORDON=1 "$program" hook --agent gemini | python3 -c 'import json, sys; json.load(sys.stdin)["systemMessage"]'
is $? 0 "gemini: a note is a system message"

# Steps: each edit that an agent makes itself is a step, named by the edit.
dir=$(new_folder work)
cat >"$dir/agent.py" <<'P'
import json, subprocess
def hook(name, **more):
    r = subprocess.run(["HOOK", "hook"], input=json.dumps({"session_id": "s", "cwd": "DIR", "hook_event_name": name, **more}),
                       capture_output=True, text=True)
    assert (r.returncode, r.stdout, r.stderr) == (0, "", ""), r
def edit(tool, path):
    hook("PreToolUse", tool_name=tool, tool_input={"file_path": "DIR/" + path})
    open("DIR/" + path, "w").write("x")
    hook("PostToolUse", tool_name=tool, tool_input={"file_path": "DIR/" + path}, tool_response={})
open("DIR/before", "w").write("x")
hook("UserPromptSubmit", prompt="\nfix the \x1b[31mparser\nand more")
edit("Edit", "a.c"); edit("Write", "b.c")
hook("PostToolUse", tool_name="Write", tool_input={"file_path": "DIR/none"})
subprocess.run("echo 1 >made", shell=True, cwd="DIR")
hook("UserPromptSubmit", prompt="next")
edit("Edit", "a.c")
subprocess.run(["HOOK", "step", "begin", "mine"], capture_output=True)
edit("Edit", "c.c"); edit("Edit", "d.c")
subprocess.run(["HOOK", "step", "end"], capture_output=True)
P
sed -i "s|HOOK|$program|; s|HOOK|$program|; s|DIR|$dir|g" "$dir/agent.py"
out=$(cd "$dir" && "$program" run --headless --steps auto -- python3 agent.py 2>&1)
is "$?" 0 "an agent with hooks: $out"
is "$(cd "$dir" && "$program" log --json | python3 -c 'import json, sys
for line in reversed(sys.stdin.read().splitlines()): print(json.loads(line)["command"])')" 'agent.py: edit before
Edit a.c
Write b.c
echo 1 >made
Edit a.c
mine' "each edit is a step with its name; nothing splits a group"
# The least of several times of the processor: other programs do not matter.
each=$(python3 - "$program" <<'P'
import resource, subprocess, sys
told = b'{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Bash","tool_input":{"command":"make && git push"}}'
def used():
    subprocess.run([sys.argv[1], "hook"], input=told, stdout=subprocess.DEVNULL, check=True)
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime
all = [used() for i in range(21)]
print(int(min(b - a for a, b in zip(all, all[1:])) * 1e6))
P
)
ok "a hook takes $each us" test "$each" -gt 0 -a "$each" -lt 25000

# Bad input: one line, no crash, and never "not run".
for text in '' x '[]' '{' '"s"' "$(printf '{"a":%0.s' $(seq 2000))"; do
	printf %s "$text" | "$program" hook >"$TEST_TMP/out" 2>"$TEST_TMP/err"
	is "$? $(wc -l <"$TEST_TMP/err")" '1 1' "broken payload '${text:0:4}': one line, status 1"
done
echo '{"hook_event_name":"PreToolUse"}' | "$program" hook
is $? 0 "a payload without a tool is let go on"
echo '{"hook_event_name":"PreToolUse"}' | "$program" hook gemini 2>"$TEST_TMP/err"
isnt $? 0 "an agent without --agent in front is refused"
like "$(cat "$TEST_TMP/err")" 'hook: takes no arguments: usage: cordon hook \[--agent NAME\]' "with the usage"
done_testing
