#!/bin/bash
# own_settings - an agent gets a copy of its settings for one folder; nothing of the home folder changes.
# SPDX-License-Identifier: MIT
# root and user
# drives: own-settings
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$HOME/src/project
mkdir -p "$dir" "$TEST_TMP/bin" "$HOME/.claude/agents" "$HOME/.claude/projects/p" "$HOME/.config/cordon" "$HOME/private"
echo '{"old":1}' >"$HOME/.claude.json"
echo '{"theme":"dark"}' >"$HOME/.claude/settings.json"
echo token >"$HOME/.claude/.credentials.json"
echo reviewer >"$HOME/.claude/agents/review.md"
echo transcript >"$HOME/.claude/projects/p/1.jsonl"
echo secret >"$HOME/private/key"
ln -s "$HOME/private/key" "$HOME/.claude/agents/linked.md"
ln -s "$HOME/private" "$HOME/.claude/commands"
mkfifo "$HOME/.claude/agents/pipe"
printf '[rule "mine"]\n\tdeny = read ~/.claude/CLAUDE.md\n' >"$HOME/.config/cordon/config"
echo mine >"$HOME/.claude/CLAUDE.md"
before=$(tree "$HOME/.claude")

# Saves to the directory that its variable names, or to the home folder; by a rename, as always.
cat >"$TEST_TMP/bin/claude" <<'A'
#!/bin/sh
at=${CLAUDE_CONFIG_DIR:-$HOME/.claude} json=${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json
echo '{"new":1}' >"$json.tmp.1" && mv "$json.tmp.1" "$json"
echo "saved: $(cat "$json") $(cat "$at/settings.json") $(cat "$at/.credentials.json") $(ls "$at/agents" | tr '\n' ' ')"
(cd "$at" && find . -type f | sort && stat -c %a . settings.json agents | tr '\n' ' ')
echo "{\"run\":\"$(date +%s%N)\"}" >"$at/settings.json"
read -r line
A
cp "$TEST_TMP/bin/claude" "$TEST_TMP/bin/other"
chmod +x "$TEST_TMP/bin/"*
export PATH=$TEST_TMP/bin:$PATH
questions() { cordon_in "$dir" audit --json | grep -c '"event":"ask"'; }

start 110 36 "$dir" "PATH=$PATH $CORDON run -- claude"
sees 'wants to save (its|claude.s) own settings' "the first start asks"
keys C-] a
sees 'o Use separate settings in this folder. claude restarts with a copy' "the dialog offers a copy"
press_until 'saved: ..new.:1.' "one key, and the agent starts again and saves" o
sees '- own settings: claude' "the activity says so"
sees '700 600 700' "for nobody else to read"
like "$(screen)" '"theme":"dark". token review.md' "it begins with what there was"
unlike "$(screen)" 'linked|pipe|CLAUDE.md|1.jsonl|commands' "but for links, pipes, transcripts, and what it may not read"
keys C-] t
keys Enter
sees 'ended with' "it ends"
keys C-] q
ended "and quits" 0
same "$(tree "$HOME/.claude")" "$before" "nothing of the home folder has changed"
is "$(cat "$HOME/.claude.json")" '{"old":1}' "nor its other file"
label=$(ls "$HOME/.config/cordon/projects")
like "$(cat "$HOME/.config/cordon/projects/$label")" "own-settings = claude [0-9a-f]{16}" "the settings of this folder say so"
ok "and no file in it" test ! -e "$dir/.cordon.conf"
like "$(cordon_in "$dir" audit --json)" '"op":"own-settings"' "the audit log has the answer"

# From then on there is no question, at any start in this folder.
asked=$(questions)
run() { (cd "${1:-$dir}" && shift && "$CORDON" run --headless "$@" 2>"$TEST_TMP/err" </dev/null); }
out=$(run "$dir" -- claude)
like "$out" 'saved: ..new.:1. ..run":' "the next run finds what the last one left"
is "$(questions)" "$asked" "and asks nothing"
is "$(cordon_in "$dir" log | grep -c settings.json)" 0 "it is no part of undo"
like "$(cd "$dir" && "$CORDON" why write "$HOME/.claude.json" --profile claude)" "settings of its own" "cordon why tells of it"
unlike "$(cd "$dir" && "$CORDON" why write "$HOME/.claude.json" -- sh)" "settings of its own" "but not of other programs"
like "$(run "$dir" -- other)" 'linked.md' "other programs have none"
like "$(run "$dir" --shared-settings -- claude)" 'saved: ..old.:1.' "--shared-settings goes on without"
mkdir "$HOME/src/elsewhere"
like "$(run "$HOME/src/elsewhere" -- claude)" 'saved: ..old.:1.' "another folder has the human's"

# Links that an agent puts in the way are not followed.
own=$(echo "$HOME"/.local/state/cordon/cache/project-*/own)
rm -rf "$own" && ln -s "$HOME/private" "$own"
run "$dir" -- claude >/dev/null
is "$?" 125 "a link in its place is refused"
like "$(cat "$TEST_TMP/err")" "^cordon: the settings that claude has of its own here: .*--shared-settings" "in one line"
is "$(ls "$HOME/private")" key "and nothing is written there"
rm "$own"
like "$(run "$dir" -- claude)" '"theme":"dark"' "when it is gone a new copy is made"

# The same answer from another terminal: its console starts again.
# asks_again - a first start in a folder of its own, where it waits.
asks_again() {
	there=$HOME/src/$1
	mkdir "$there"
	rm -f "$HOME/.claude.json.tmp.1" # what a refused save left is somebody's there
	start 110 36 "$there" "PATH=$PATH $CORDON run -- claude"
	sees 'wants to save (its|claude.s) own settings' "$1: it asks"
}
begins_anew() {
	sees 'saved: ..new.:1.' "$1: the agent starts again and saves"
	keys C-] t
	keys Enter
	sees 'ended with' "$1: it ends"
	keys C-] q
	ended "$1: and quits" 0
	same "$(cat "$HOME/.claude.json")" '{"old":1}' "$1: nothing of the home folder has changed"
	like "$(cat "$HOME/.config/cordon/projects/$1"-*)" "own-settings = claude [0-9a-f]{16}" "$1: the settings of the folder say so"
}
asks_again by-approve
list=$("$CORDON" pending)
id=$(grep -Eo -- '[0-9a-f]+-[0-9]+' <<<"$list" | head -n 1)
like "$list" "cordon approve $id --own-settings: claude begins anew" "by-approve: cordon pending says how"
"$CORDON" deny "$id" --own-settings >"$TEST_TMP/out" 2>&1
is "$?" 125 "by-approve: it is no denial"
"$CORDON" approve "$id" --own-settings --for 10m >"$TEST_TMP/out" 2>&1
is "$?" 125 "by-approve: and an answer of its own"
ok "by-approve: it is given" "$CORDON" approve "$id" --own-settings
begins_anew by-approve
asks_again by-attach
tmux_ new-session -d -s u -x 110 -y 36 -c "$there" "$CORDON attach; exec sleep 600"
there() { tmux_ capture-pane -p -t =u: | grep -Eq -- "$1"; }
ok "by-attach: it is seen" wait_for 15 there 'ASK'
tmux_ send-keys -t =u: C-] a
ok "by-attach: the dialog offers it" wait_for 15 there 'Use separate settings in this folder'
until_keys_count
pressed() { tmux_ send-keys -t =u: o && wait_for 1 there 'The session has ended'; }
ok "by-attach: one key" wait_for 15 pressed
begins_anew by-attach
# Removed from the settings it no longer applies; without a variable in the profile it is not offered.
rm "$HOME/.config/cordon/projects/$label"
like "$(run "$dir" -- claude)" 'saved: ..old.:1.' "taken out of the settings it is over"
mkdir -p "$HOME/.config/cordon/profiles"
printf '[profile]\n\tcommand = other\n\tinherits = tools\n[rule "its own settings"]\n\tallow = read ~/.claude/**\n\tallow = read ~/.claude.json\n\task = write ~/.claude.json*\n[rule "not"]\n\tdeny = write ~/.claude/**\n' \
	>"$HOME/.config/cordon/profiles/other.profile"
start 110 36 "$dir" "PATH=$PATH $CORDON run -- other"
sees 'wants to save its own settings' "a program whose profile names no variable"
keys C-] a
sees 'ALLOW writing all of its own settings' "is asked about"
screen_lacks 'separate settings' && pass "without that offer" || fail "without that offer"
sleep 0.6
keys o
sees 'about no settings that can be kept apart' "and the key says so"
press_until '^saved: ' "it goes on" d
keys C-] t
keys Enter
sees 'ended with' "and ends"
keys C-] q
ended "and quits" 0
done_testing
