#!/bin/bash
# prompts - agent.prompts: either the agent's own prompts or cordon's alone; offered once.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mkdir -p "$TEST_TMP/bin" "$HOME/.config/cordon"
for agent in claude codex gemini opencode; do
	printf '#!/bin/sh\necho "given: $*."\ncat >/dev/null\n' >"$TEST_TMP/bin/$agent" && chmod +x "$TEST_TMP/bin/$agent"
done
settings() { printf '[agent]\n' >"$HOME/.config/cordon/config" && printf '\tprompts = %s\n' "$@" >>"$HOME/.config/cordon/config"; }
given() { (cd "$dir" && "$CORDON" run --headless -- "$@" </dev/null 2>&1); }

is "$(given claude)" "given: ." "an agent asks by itself"
settings cordon
like "$(given claude)" '^given: --allowedTools=Bash,Edit,' "claude is told not to"
like "$(given codex)" ' --ask-for-approval=never\.' "so is codex"
is "$(given gemini)" "given: --approval-mode=yolo." "and gemini"
is "$(given opencode)" "given: --auto." "and opencode"
is "$(given gemini --approval-mode plan)" "given: --approval-mode plan." "but for a mode that the human gives"
is "$(given sh -c 'echo $#')" 0 "another program is given nothing"
settings cordon 'claude own'
is "$(given claude)" "given: ." "one agent can be left out"
is "$(given opencode)" "given: --auto." "alone"
settings 'gemini cordon'
is "$(given opencode)$(given gemini)" "given: .given: --approval-mode=yolo." "or be the only one"
printf '[agent]\n\tprompts = cordon\n' >"$dir/.cordon.conf"
like "$(given claude)" 'may not set agent.prompts' "a project cannot say so"
rm "$dir/.cordon.conf" "$HOME/.config/cordon/config"

start 80 24 "$dir" "$CORDON run -- claude"
sees '- claude asks, too\. To be asked once: ' "the first start offers it"
sees '- agent\.prompts = claude cordon ' "in whole, on a small terminal"
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
start 150 30 "$dir" "$CORDON run -- claude"
sees 'given: \.' "the agent again"
unlike "$(screen)" 'agent.prompts' "the next one does not"
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
settings 'claude cordon'
start 150 30 "$dir" "$CORDON run -- claude"
sees 'claude asks nothing by itself' "where cordon alone asks, the first row says it"
sees '│ claude without prompts │' "and the status bar, all the time"
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
done_testing
