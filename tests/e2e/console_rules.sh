#!/bin/bash
# console_rules - the rules view shows the settings' rules: an answer is removed from its file, other rules name
# theirs.
# SPDX-License-Identifier: MIT
# drives: revoke
# with: /dev/fuse
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
config=$HOME/.config/cordon/config
mkdir -p "${config%/*}"
printf '[rule "mine"]\n\tdeny = read ~/private/**\n[rule "answer of 2026-01-02T03:04:05Z"]\n\tallow = read ~/notes/**\n' >"$config"
mkdir "$HOME/notes" && echo noted >"$HOME/notes/x"
printf "PS1='ready> '\n" >"$dir/rc"
start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text "cat $HOME/notes/x" && keys Enter
sees '^noted' "an answer of an earlier session counts"
keys C-] V
sees 'rule +deny read ~/private/\*\*.*config:2' "a rule that somebody wrote, with file and line"
sees 'answer +allow read ~/notes/\*\*.*config:4' "an answer of an earlier session"
press_until 'edit .*config, line 2' "the rule is theirs to edit" x
is "$(grep -c notes "$config")" 1 "and stays"
keys j x
sees 'removed' "the answer is taken out"
is "$(cat "$config")" "$(printf '[rule "mine"]\n\tdeny = read ~/private/**')" "of the file, and nothing else"
like "$(cordon_in "$dir" audit --json)" "taken out of .*config: allow read ~/notes" "which is in the audit log"
keys q
loses '╔═' "the view closes"
sees 'rules reloaded' "the rules are read again"
if [ -w /dev/fuse ]; then # else what was granted at the start stays so
	keys C-] t
	type_text "cat $HOME/notes/x" && keys Enter
	sees 'ASK read' "and it is asked about"
	keys C-] a
	press_until 'denied|Denied' "and denied" d
fi
keys C-] t
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
done_testing
