#!/bin/bash
# approval - the dialog by keys: choices and their effects, keys that cannot answer, and a flood.
# SPDX-License-Identifier: MIT
# drives: allow deny choose-scope choose-extent choose-time
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks" "$HOME/notes/deep"
for name in a b c deep/d; do echo "text of $name" >"$HOME/notes/$name"; done
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
run="$CORDON run --set approval.remember=0"

# ---- type-ahead, resize, paste: none of them answers (attack 34)
start 100 36 "$dir" "$run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
type_text '(sleep 1; echo x >.git/hooks/one; echo status=$?) & sleep 3' && keys Enter
for _ in 1 2 3 4 5 6 7 8 9 10; do
	type_text 'aAyd'
	keys Enter
done
sees '\? ASK.*hooks/one' "34: the request is announced while keys are typed"
# By one command: after half a second without a key the next one would count.
tmux_ set-buffer 'aaaa dddd' \; send-keys -t =t: C-] a a \; resize-window -t =t: -x 90 -y 30 \; \
	send-keys -t =t: a a \; paste-buffer -p -t =t:
sees 'ALLOW writing .*hooks/one onc' "34: it is shown, and neither keys nor a paste nor a size has answered it"
ok "34: nothing was made" test ! -e "$dir/.git/hooks/one"
keys Escape
sees 'C-\] a answers' "34: Esc leaves it waiting"
keys C-] a
press_until 'Allowed: writing|status=0' "a, once it could be read, allows" a
ok "34: then it is made" wait_for 10 test -e "$dir/.git/hooks/one"
keys C-c
type_text 'clear' && keys Enter

# ---- for good, and taken back
config=${XDG_CONFIG_HOME:-$HOME/.config}/cordon/config
type_text 'echo x >.git/hooks/two; echo two=$?' && keys Enter
sees '\? ASK.*hooks/two' "another request"
keys C-] a
choose s '\[session\]' "for a session"
choose s '\[always\]' "for good"
press_until 'two=0' "is allowed" a
like "$(cat "$config")" 'write .*/hooks/two' "it is in the settings"
keys C-] V
sees 'ALLOW +writing .*hooks/two, in all your sessions' "and in the list"
keys x
sees '- over' "taken back"
settings_lack() { ! grep -q hooks/two "$config"; }
ok "the settings do not have it any more" wait_for 10 settings_lack
keys q C-] t

# ---- 50 000 requests in a few seconds (attack 35)
cat >"$dir/flood.py" <<'P'
import os, threading, time
os.chdir(".git/hooks")
refused = [0]
def one(i):
    try: os.close(os.open(f"d{i}", os.O_WRONLY | os.O_CREAT)); os._exit(9)
    except PermissionError: refused[0] += 1
for i in range(1100):
    threading.Thread(target=one, args=(i,), daemon=True).start()
while refused[0] < 50: time.sleep(0.05)
began = time.time()
for i in range(1100, 50000): one(i)
print("flood-over", len(os.listdir(".")), refused[0] > 48000, flush=True)
time.sleep(600)
P
# The output must not be under the dialog, so the screen is cleared.
type_text 'clear; (echo x >.git/hooks/real; echo real=$?) &' && keys Enter
sees 'ASK.*hooks/real' "35: a real request waits"
type_text 'clear; python3 flood.py &' && keys Enter
sees 'flood-over [0-9]+ True' "35: a flood comes: the most of it is refused" 90
like "$(screen)" '10[0-9][0-9] waiting' "35: the waiting are bounded"
sees '[0-9]+ further requests' "35: those beyond are counted in a few rows"
is "$("$CORDON" pending --json | wc -l)" 1024 "35: another terminal is told of every one of them"
keys C-] a
sees 'ASK 1 of [12]' "35: the flood is one prompt"
sees 'wants to write .*hooks/real' "35: the older request is the first"
# One key, once it counts: a second one would answer the flood that follows.
is_readable() { screen_has 'hooks/real' && screen_lacks 'keys count in a moment'; }
ok "35: and can be read" wait_for 15 is_readable
keys a
sees 'real=0' "and answered"
sees 'more of that directory' "35: then comes the flood, with samples"
ok "35: nothing of it was allowed" test ! -e "$dir/.git/hooks/d7"
all_logged() { [ "$(cordon_in "$dir" audit --json | grep -c 'too many requests wait')" -ge 48000 ]; }
ok "35: the log has a line for each that was refused" wait_for 30 all_logged
keys Escape C-] q
sees 'end it and leave' "the session can be left"
leaves "and ends"

# ---- reading in dynamic mode
start 100 36 "$dir" "$run --mode dynamic -- bash --noprofile --rcfile rc -i"
if wait_for 15 screen_has 'ready>'; then
	type_text 'clear; cat ~/notes/a; echo status=$?' && keys Enter
	sees '\? ASK read.*notes/a' "reading what nothing grants is asked"
	keys C-] a
	sees 'ALLOW reading ~/notes/a once' "once, exactly that, is what is offered first"
	choose s '\[session\]' "for the session"
	choose e '\[its directory\]' "what lies in its directory"
	press_until 'status=0' "is allowed" a
	sees '^text of a' "the call has the bytes"
	type_text 'clear; cat ~/notes/b; echo status=$?' && keys Enter
	sees '^text of b' "its neighbour is not asked about"
	type_text 'clear; cat ~/notes/deep/d; echo status=$?' && keys Enter
	sees '\? ASK read.*notes/deep' "what lies deeper is"
	keys C-] a
	press_until 'status=1' "and denied" d
	keys C-] V
	sees 'ALLOW +reading what lies in ~/notes, for this session' "the answer is listed"
	keys x
	sees '- over' "and taken back"
	keys q
	type_text 'clear; cat ~/notes/c; echo status=$?' && keys Enter
	sees '\? ASK read.*notes/c' "so it is asked again"
	keys C-] a
	press_until 'status=1' "and denied" d
	type_text 'clear; ls ~; echo status=$?' && keys Enter
	sees 'status=0' "names show without a question"
	keys C-d
	sees 'ended with' "the shell ends"
	start 100 36 "$dir" "$run --set reading.list=ask --mode dynamic -- bash --noprofile --rcfile rc -i"
	sees 'ready>' "reading.list = ask is for who wants it strict"
	type_text 'clear; ls ~; echo status=$?' && keys Enter
	sees '\? ASK list ~ ' "a directory is listed, and the home folder has its short name"
	keys C-] a
	sees 'ALLOW listing ~ once' "in the dialog too"
	press_until 'status=2' "and denied" d
	screen_lacks 'text of c' && pass "not a byte of it was seen" || fail "not a byte of it was seen"
else
	skip "reading in dynamic mode" "it does not start here: $(screen | grep -m1 cordon:)"
fi
done_testing
