#!/bin/bash
# hook - `cordon hook`: what agents send to a hook, and what they are answered.
# SPDX-License-Identifier: MIT
. tests/support/lib.sh

program=$CORDON # whose name is a variable of the sandbox, too

# Payloads as the agents send them, with more fields than are read.
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

# codex: arguments as a list; told by exit status alone.
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

# Bad input: a line, no crash, and never "not run".
for text in '' x '[]' '{' '"s"' "$(printf '{"a":%0.s' $(seq 2000))"; do
	printf %s "$text" | "$program" hook >"$TEST_TMP/out" 2>"$TEST_TMP/err"
	is "$? $(wc -l <"$TEST_TMP/err")" '1 1' "broken payload '${text:0:4}': one line, status 1"
done
echo '{"hook_event_name":"PreToolUse"}' | "$program" hook
is $? 0 "a payload without a tool is let go on"
done_testing
