#!/bin/bash
# logs - tokens in command lines and secrets passed inside are starred in all records and outputs of a session.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
token=ghp_0123456789abcdefghij0123 mine=pass-271828
state=$HOME/.local/state/cordon
mkdir -p "$HOME/.config/cordon"
printf '[record]\n\tredact = "pass-[0-9]+"\n' >"$HOME/.config/cordon/config"
kept() { grep -rlaF -e "$token" -e "$mine" "$state" 2>/dev/null; }

# shellcheck disable=SC2016 # the inner shell's
command='echo 1 >"$1"; /bin/echo --token='$token' --password='$mine'; true'
is "$(in_folder "$dir" bash -c "$command" bash f1 | tail -n 1)" "--token=$token --password=$mine" "a command has its tokens"
is "$(in_folder "$dir" bash -c 'echo 2 >>"$1"' bash f1 $token; cat "$dir/f1")" $'1\n2' "as the only step of a run, too"
(cd "$dir" && "$CORDON" run --headless -v --steps auto -- bash -c "bash -c '$command' bash f2" >/dev/null 2>&1)
is "$(cat "$dir/f2")" 1 "and in a step of its own"
like "$(cordon_in "$dir" log)" "\*{${#token}}" "the history has stars"
like "$(cordon_in "$dir" audit)" "token=\*{${#token}} --password=\*{${#mine}}" "as has the audit log"
like "$(cordon_in "$dir" audit verify)" "none changed" "which is whole"
is "$(kept)" "" "no file that is kept has them"

# ---- programs that drive a session
out=$(printf '%s\n' '{"type":"session.start","request_id":1,"payload":{"working_directories":[{"path":"'"$dir"'"}]}}' \
	'{"type":"agent.execute","request_id":2,"payload":{"command":"bash -c '"'echo 3 >f3; : $token'"'","env":{"KEY":"'$token'"}}}' \
	'{"type":"undo.history","request_id":3}' | timeout 60 "$CORDON" serve --log-level trace 2>"$TEST_TMP/said")
is "$(cat "$dir/f3")" 3 "a command of the API"
like "$out" '"request_id":3.*echo 3' "is in its history"
unlike "$out" "$token" "without its token"
unlike "$(cat "$TEST_TMP/said")" "$token" "nor is that among the diagnostics"
is "$(kept)" "" "nor in a file"

printf '[record]\n\tredact = "a("\n' >"$HOME/.config/cordon/config"
out=$(in_folder "$dir" true 2>&1)
is "$?" 125 "what cannot be matched"
like "$out" "bad value 'a\(' for record.redact: not a regular expression" "is refused before anything runs"
done_testing
