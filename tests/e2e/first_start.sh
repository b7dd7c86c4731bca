#!/bin/bash
# first_start - an agent starts in a home where it never ran: one question about all its own files.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$HOME/src/project
mkdir -p "$dir" "$TEST_TMP/bin" "$HOME/.config/cordon"
config=$HOME/.config/cordon/config

# As Claude Code saves: a lock, a file beside it, a rename over it; then its other settings.
cat >"$TEST_TMP/bin/claude" <<'A'
#!/bin/sh
save() {
	mkdir ~/.claude.json.lock && echo "$1" >~/.claude.json.tmp.1.ab && mv ~/.claude.json.tmp.1.ab ~/.claude.json
	rmdir ~/.claude.json.lock
}
save 1
mkdir -p ~/.claude && echo '{}' >~/.claude/settings.json
save 2 && save 3
echo "first screen: $(cat ~/.claude.json) $*"
read -r line
[ -z "$line" ] || echo "$line" >~/.claude/hook.sh
read -r line
A
# Two processes at once, each for its settings.
cat >"$TEST_TMP/bin/gemini" <<'A'
#!/bin/sh
mkdir -p ~/.gemini
echo a >~/.gemini/settings.json &
# and as a library for temporary files does: the file is still open when it replaces the other
python3 - <<'P' &
import os
to = os.path.expanduser("~/.gemini/trustedFolders.json")
with open(to + ".tmp", "w") as f:
    f.write("b\\n")
    f.flush()
    os.rename(f.name, to)
P
wait
echo "first screen: $(cat ~/.gemini/settings.json ~/.gemini/trustedFolders.json | tr '\n' ' ')"
read -r line
A
printf '#!/bin/sh\nmkdir -p ~/.codex/packages 2>/dev/null; echo "run with: $*"; exit 3\n' >"$TEST_TMP/bin/codex"
chmod +x "$TEST_TMP/bin/"*
export PATH=$TEST_TMP/bin:$PATH

questions() { cordon_in "$dir" audit --json | grep -c '"event":"ask"'; }

start 110 36 "$dir" "PATH=$PATH $CORDON run -- claude with words"
sees 'wants to save (its|claude.s) own settings' "the black screen says what it waits for"
sees 'hooks, servers' "and the reason of the rule that asks"
like "$(cordon_in "$dir" pending 2>&1)" "They can name programs that run later" "so does cordon pending"
begun() { cordon_in "$dir" log --all-places | grep -q 'claude: begin to save ~/[.]claude[.]json  [(]outside the folder[)]$'; }
ok "what was written until then is named after the file that it is for" wait_for 15 begun
keys C-] a
sees 'save claude.s own settings' "the dialog is about all of it"
act details i
sees '/[.]claude[.]json, ' "and lists it"
sees 'ALLOW writing all of claude.s own settings, for this session' "for the session, which makes sense for a file that is saved all the time"
loses 'the other name is' "nothing of the file that carries the save"
press_until 'first screen: 3 with words' "one answer, and the agent is there" a
is "$(questions)" 1 "no other question was asked"
is "$(cat "$HOME/.claude.json" "$HOME/.claude/settings.json")" $'3\n{}' "what it saved is on the host"
keys C-] t
type_text 'evil' && keys Enter
sees '\? ASK write ~/.claude/hook.sh' "what is not of it is asked about"
keys C-] a
press_until 'Denied' "and denied" d
keys C-] V
sees 'writing all of claude.s own settings, for this session' "the answer is listed"
keys x
sees '- over' "and can be taken back"
keys q C-] t
keys Enter
sees 'ended with' "it ends"
keys C-] q
ended "q quits" 0

# With a lasting answer the next session asks nothing.
rm -rf "$HOME/.claude.json" "$HOME/.claude"
start 110 36 "$dir" "PATH=$PATH $CORDON run -- claude"
sees 'wants to save (its|claude)' "asked in a new session"
keys C-] a
choose s '\[always\]' "for always"
press_until 'first screen: 3' "is allowed" a
saved() { cordon_in "$dir" log | grep -Eq ' ~1 +mv [^ ]*/.claude.json.tmp.1.ab '; }
ok "a save is one file changed: the name that carried it does not count" wait_for 10 saved
ok "which agrees with what the store lists" cordon_in "$dir" journal verify
is "$(cat "$config")" "$(printf "[bundle]\n\tallow = claude's own settings")" "the settings say so"
keys C-] t
keys Enter Enter
sees 'ended with' "it ends"
keys C-] q
ended "and quits" 0
before=$(questions)
start 110 36 "$dir" "PATH=$PATH $CORDON run -- claude"
sees 'first screen: 3' "the session after that reaches its first screen"
is "$(questions)" "$before" "without a question"
is "$(cd "$dir" && "$CORDON" why write "$HOME/.claude.json" --profile claude | head -n 1 | grep -c allow)" 1 "which cordon why tells"
is "$(cd "$dir" && "$CORDON" why write "$HOME/.claude.json" -- sh | head -n 1 | grep -c allow)" 0 "of claude, and of no other program"
keys C-] q
leaves "it ends"

# Two of its questions at once are one prompt, from another terminal, too.
before=$(questions)
start 110 36 "$dir" "PATH=$PATH $CORDON run -- gemini"
two_wait() { [ "$(cordon_in "$dir" pending --json 2>/dev/null | grep -c gemini)" = 2 ]; }
ok "both wait" wait_for 15 two_wait
screen_lacks '1 of 2' && pass "as one prompt" || fail "as one prompt"
id=$(cordon_in "$dir" pending | sed -n '1s/ .*//p')
ok "one answer from elsewhere" cordon_in "$dir" approve "$id" --scope session --extent bundle
sees 'first screen: a b' "is for both"
keys Enter
sees 'ended with' "it ends"
keys C-] q
ended "and quits" 0

# Settings that its profile adds to a command, once, and no other profile's.
start 110 36 "$dir" "PATH=$PATH $CORDON run -- codex word"
sees 'run with: --no-daemon --config=check_for_update_on_startup=false ' "codex is run without its daemon"
sees 'ended with 3' "and has ended"
like "$(cordon_in "$dir" audit --json)" '"event":"deny".*codex/packages"' "programs for itself were refused"
screen_lacks 'refused last' && pass "which its profile means to: it is not told as what went wrong" ||
	fail "which its profile means to: it is not told as what went wrong"
keys C-] q
ended "its status is kept" 3
is "$(cd "$dir" && "$CORDON" run --headless -- codex --no-daemon word)" "run with: --config=check_for_update_on_startup=false --config=sandbox_mode=danger-full-access --no-daemon word" "not twice"
is "$(cd "$dir" && "$CORDON" run --headless --profile codex -- echo word)" word "nor is anything else that its profile is given to"

# Without a user: denied once for all of it, with the rules to paste.
rm -f "$config" "$HOME/.claude.json"
out=$(cd "$dir" && "$CORDON" run --headless -- claude 2>&1 </dev/null)
like "$out" "writing ~/.claude.json was refused .*claude saves its own settings" "headless: the reason"
like "$out" "	allow = write ~/.claude.json" "headless: the rule"

# A home that is rebuilt around a hidden name shows no directory that comes later.
: >"$HOME/.bash_history" && mkdir -p "$HOME/.ssh" && rm -rf "$HOME/.codex" "$HOME/.local/share/opencode"
for profile in codex/.codex/sessions opencode/.local/share/opencode/storage; do
	place=$HOME/${profile#*/}
	out=$(cd "$dir" && "$CORDON" run --headless --mode static --profile "${profile%%/*}" -- sh -c "mkdir -p $place && echo kept >$place/a && cat $place/a" 2>&1)
	is "$?:$out:$(cat "$place/a")" "0:kept:kept" "${profile%%/*} has its own directory at its first start"
done
done_testing
