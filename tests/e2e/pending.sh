#!/bin/bash
# pending - a console's questions can be seen and answered from another terminal.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
waits() { "$CORDON" pending | grep -q "$1"; }
id_of() { "$CORDON" pending --json | python3 -c 'import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["path"].endswith(sys.argv[1]):
        print(m["approve_id"])' "$1"; }

is "$("$CORDON" pending)" "" "nothing waits where no session runs"
start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
run_dir=$HOME/.local/state/cordon/run
[ -z "${XDG_RUNTIME_DIR:-}" ] || run_dir=$XDG_RUNTIME_DIR/cordon
sock=$(echo "$run_dir"/*.sock)
is "$(stat -c %a "$sock") $(stat -c %a "$run_dir")" "600 700" "its socket is for its owner alone"

type_text 'echo one >.git/hooks/post-merge; echo status=$?' && keys Enter
ok "a held request is listed" wait_for 15 waits hooks/post-merge
like "$("$CORDON" pending)" "  write .*/hooks/post-merge" "in the console's words"
id=$(id_of post-merge)
out=$("$CORDON" approve 99999 2>&1) && fail "a request that is not there" "$out"
like "$out" "nobody waits for it" "a request that is not there is refused in words"
"$CORDON" approve "$id" --scope ever >"$TEST_TMP/out" 2>&1
is $? 1 "a scope that there is not is refused"
like "$(cat "$TEST_TMP/out")" "approve $id: " "by the name that was typed"
like "$(cat "$TEST_TMP/out")" "once, step, session" "and says which are"
"$CORDON" approve "$id" --extent tree >"$TEST_TMP/out" 2>&1
is $? 1 "more than exactly this needs a scope"
like "$(cat "$TEST_TMP/out")" "choose a longer scope" "and says so"
ok "and it still waits" waits hooks/post-merge
ok "approve lets it go on" "$CORDON" approve "$id"
sees 'status=0' "the call has succeeded inside"
is "$(cat "$dir/.git/hooks/post-merge")" one "the file is there"
is "$("$CORDON" pending)" "" "nothing waits any more"
is_logged() { cordon_in "$dir" audit --json | grep -q '"event":"decision"'; }
ok "the audit log has the decision" wait_for 10 is_logged
like "$(cordon_in "$dir" audit --json | grep '"event":"decision"')" "\"by\":\"terminal: uid $(id -u), pid [0-9]+\"" "and who gave it"

type_text 'clear; echo two >.git/hooks/post-checkout; echo status=$?' && keys Enter
ok "the next one is listed" wait_for 15 waits hooks/post-checkout
ok "deny refuses it" "$CORDON" deny "$(id_of post-checkout | cut -d- -f2)"
sees 'status=1' "the call has failed inside"
ok "nothing was made" test ! -e "$dir/.git/hooks/post-checkout"

# Two requests about one path: the one on the screen is allowed, the other is asked about separately.
hook=.git/hooks/applypatch-msg
echo mine >"$dir/$hook" && chmod 644 "$dir/$hook"
echo 'import os, sys; os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC), b"EVIL")' >"$dir/write.py"
type_text "clear; chmod 755 $hook &" && keys Enter
ok "a change of mode waits" wait_for 15 waits applypatch-msg
type_text "python3 write.py $hook &" && keys Enter
ok "a write to the same path" wait_for 15 pgrep -f "write.py $hook"
sleep 0.5 # it waits under the same question
is "$("$CORDON" pending --json | grep -c applypatch-msg)" 1 "both wait for one question"
first=$(id_of applypatch-msg)
ok "the first is allowed" "$CORDON" approve "$first"
is_next() { [ -n "$(id_of applypatch-msg)" ] && [ "$(id_of applypatch-msg)" != "$first" ]; }
ok "the other is asked about" wait_for 15 is_next
is "$(stat -c %a "$dir/$hook")" 755 "the mode has changed"
is "$(cat "$dir/$hook")" mine "nothing was written"
ok "it is denied" "$CORDON" deny "$(id_of applypatch-msg)"

# The file that is moved is the one that the user could look at when asked.
for how in replaced written open; do
	hook=.git/hooks/post-$how
	echo good >"$dir/review" && echo EVIL >"$dir/evil"
	type_text "clear; exec 7>&-; mv -f review $hook &" && keys Enter
	ok "$how: a move waits" wait_for 15 waits "post-$how"
	case $how in
	replaced) type_text "mv -f evil review; touch done.$how" ;;
	written) type_text "cp evil review; touch done.$how" ;;
	open) type_text "exec 7<>review; touch done.$how" ;;
	esac
	keys Enter
	ok "$how: it is another file by now" wait_for 15 test -e "$dir/done.$how"
	ok "$how: the human says yes" "$CORDON" approve "$(id_of "post-$how")"
	sees 'Stale file handle' "$how: it is not moved"
	ok "$how: nothing is there" test ! -e "$dir/$hook"
	type_text "clear; exec 7>&-; mv -f review $hook" && keys Enter
	ok "$how: it is asked about again" wait_for 15 waits "post-$how"
	ok "$how: and once more" "$CORDON" approve "$(id_of "post-$how")"
	ok "$how: now it is moved" wait_for 15 test -e "$dir/$hook"
done

type_text 'clear; echo three >.git/hooks/pre-push; echo status=$?' && keys Enter
ok "a third is listed" wait_for 15 waits hooks/pre-push
ok "the whole directory for the session" "$CORDON" approve "$(id_of pre-push)" --scope session --tree
sees 'status=0' "it has succeeded"
type_text 'clear; echo four >.git/hooks/pre-commit; echo four=$?' && keys Enter
sees 'four=0' "its neighbour is not asked about again"

# A step held by a safeguard: the line says what "yes" and "no" do.
mkdir "$dir/many" && touch "$dir/many"/{1..60}
type_text 'clear; rm -r many; echo status=$?' && keys Enter
ok "a held step is listed" wait_for 15 waits 'delete .*/many/'
like "$("$CORDON" pending)" 'safeguard.deletes: 49 done; the whole step is held, and a denial takes all of it back' \
	"with what it has done, and what an answer does"
like "$("$CORDON" pending --json)" '"kind":"write"' "it is no reading"
ok "deny takes it back" "$CORDON" deny "$(id_of "$("$CORDON" pending | sed -n 's#.*\(/many/.*\)#\1#p')")"
sees 'status=137' "its command was ended"
all_back() { [ "$(find "$dir/many" -type f | wc -l)" = 60 ]; }
ok "and everything is back" wait_for 15 all_back

# Other text gets an error message, and the session continues.
answers=$(python3 - "$sock" <<'P'
import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(60)
f = s.makefile("rwb")
hello = json.loads(f.readline())
print(hello["type"], hello["version"], hello["pending"])
for text in [b"x", b"[1]", b"{}", b'{"type":"cmd.approve","id":-1}', b'{"type":"cmd.other","id":1}',
             b'{"type":"cmd.approve","id":1e300}', b'{"type":"cmd.approve","id":424242,"scope":"once"}',
             b'{"type":"cmd.deny","id":1,"extent":"all"}', b'[' * 2000]:
    f.write(text + b"\n"); f.flush()
    while (m := json.loads(f.readline()))["type"] != "reply": pass
    print(m["ok"], bool(m["error"]))
try:
    s.sendall(b"a" * 200000)
    while s.recv(4096): pass
except ConnectionError: pass
print("cut")
P
)
is "$(echo "$answers" | LC_ALL=C sort | uniq -c | tr -s ' ' | tr '\n' ';')" " 9 False True; 1 cut; 1 hello 1 0;" \
	"commands that make no sense are refused, a line without end cuts the client off"

# Inside the socket does not exist, whatever the path.
type_text "clear; ls -l $run_dir /proc/1/root$run_dir; python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$sock\")' 2>&1 | tail -1; echo over" && keys Enter
sees '^over ' "the agent has looked for it"
ok "it does not exist inside" screen_lacks "^srw"
sees 'Error|refused|denied|No such' "and cannot be connected to"
type_text 'exit' && keys Enter
sees 'ended with' "the agent has ended"
keys C-] q
ok "the socket goes with the session" wait_for 15 test ! -e "$sock"

# The stale name of a killed session is removed.
start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "another session runs"
sock=$(echo "$run_dir"/*.sock)
pid=$(python3 -c 'import socket, json, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(json.loads(s.makefile().readline())["pid"])' "$sock")
kill -9 "$pid"
nothing_pending() { [ "$("$CORDON" pending 2>&1)" = "cordon: nothing waits for an answer" ] && [ ! -e "$sock" ]; }
ok "pending clears its name away" wait_for 10 nothing_pending

# A question whose keeper was killed waits no longer.
start 130 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a third session runs"
type_text 'clear; sh -c "echo 1 >made; echo x >.git/hooks/post-commit"' && keys Enter
ok "something waits" wait_for 15 waits hooks/post-commit
kill -9 "$(pgrep -P "$(session_pid)" -x cordon-keeper)"
sees "keeper has ended" "the keeper is killed, and the console says so"
loses '1 waiting|ASK write .*C-. a answers' "the question no longer waits there"
is "$("$CORDON" pending)" "" "nor for other terminals"
like "$("$CORDON" sessions --json)" '"state":"ended"' "the session counts as ended"
keys C-] s
sees '! cut off' "its step no longer runs"
ok "nor does another one" screen_lacks '> running'
done_testing
