#!/bin/bash
# attach - consoles connect to a session: clients die, come back with other terminals, and see the same.
# SPDX-License-Identifier: MIT
# drives: detach keep-mine
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
# A full-screen program: colours in every cell, and its last key in a corner.
cat >"$dir/full.py" <<'P'
import os, signal, sys, termios, tty
old = termios.tcgetattr(0); tty.setraw(0); key = "-"
def paint(*_):
    w, h = os.get_terminal_size()
    rows = [f"\033[{y + 1};1H" + "".join(f"\033[38;5;{16 + (x + y) % 200}m{chr(33 + (x * 7 + y) % 90)}" for x in range(w)) for y in range(h)]
    os.write(1, ("\033[?2026h\033[2J" + "".join(rows) + f"\033[0m\033[1;1Hsize {w}x{h} key {key} \033[?2026l").encode())
os.write(1, b"\033[?1049h"); signal.signal(signal.SIGWINCH, paint); paint()
while key != "q":
    try: key = os.read(0, 1).decode()
    except InterruptedError: continue
    paint()
os.write(1, b"\033[?1049l"); termios.tcsetattr(0, termios.TCSANOW, old)
P
on() { tmux_ capture-pane -p "${@:2}" -t "=$1:" | sed 's/ *$//'; } # SESSION: its screen
on_has() { on "$1" | grep -Eq -- "$2"; }
sees_on() { # SESSION REGEX NAME
	if wait_for 15 on_has "$1" "$2"; then pass "$3"; else fail "$3" "no line like: $2"; fi
}
client() { pgrep -P "$(tmux_ list-panes -t "=$1:" -F '#{pane_pid}')"; } # SESSION: the client's process
# attach SESSION COLUMNS ROWS [VARIABLE...] - a client in a pane of its own, in a terminal that is not tmux's for
# cordon
attach() {
	local name=$1 cols=$2 rows=$3
	shift 3
	tmux_ kill-session -t "=$name" 2>/dev/null
	rm -f "$TEST_TMP/status.$name"
	tmux_ new-session -d -s "$name" -x "$cols" -y "$rows" -c "$dir" \
		"env -u TMUX $* $CORDON attach; echo \$? >$TEST_TMP/status.$name; exec sleep 600"
}
running() { cordon_in "$dir" sessions --json | sed -n "s/.*\"$1\":\"*\([^\",]*\).*/\1/p"; } # FIELD
# All but the status line, which has a clock; with -e the colours, too.
same_screens() { [ "$(on "$1" "${@:3}" | sed '$d')" = "$(on "$2" "${@:3}" | sed '$d')" ]; }

out=$("$CORDON" attach 2>&1 </dev/null) && fail "no session" "$out"
like "$out" "no session runs: start one" "without a session it says so"
start 100 30 "$dir" "env -u TMUX $CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
host=$(running pid)

# ---- the same screen, whoever looks
type_text 'python3 full.py' && keys Enter
sees 'size [0-9]+x[0-9]+ key -' "a full-screen program runs in it"
attach u 100 30
sees_on u 'size [0-9]+x[0-9]+ key -' "another client shows its screen"
tmux_ send-keys -t =u: a
sees 'key a' "and its keys get there"
ok "cell by cell the same as the first client's" wait_for 10 same_screens t u -e
for round in 1 2 3; do
	tmux_ send-keys -t =u: C-u
	sleep "0.0$((RANDOM % 9))" # any moment of a repaint
	kill -9 "$(client u)"
	case $round in
	1) attach u 80 24 TERM=xterm-256color ;;
	2) attach u 140 45 TERM=vt220 ;;
	3) attach u 100 30 ;;
	esac
	sees_on u 'size [0-9]+x[0-9]+ key ' "$round: killed, a client of another size and TERM takes it up"
	tmux_ send-keys -t =u: "$round"
	sees_on u "key $round" "$round: and types"
done
keys b
sees_on u 'key b' "the first one does, too"
ok "after all that both are the same" wait_for 10 same_screens t u -e
attach v 70 20
sees_on v 'size ' "a third, smaller one"
tmux_ send-keys -t =v: c
sees_on v 'size 70x[0-9]+ key c' "the agent's terminal fits who typed last"
# Terminals unlike xterm: curses, which once painted these, has one current screen for all.
attach w 90 26 TERM=vt100
sees_on w 'size ' "a fourth, on an old terminal"
attach x 80 24 TERM=vt220
sees_on x 'size ' "a fifth, on another"
tmux_ send-keys -t =t: d
sees_on w 'key d' "the fourth goes on to show what changes"
sees_on x 'key d' "and the fifth"
tmux_ resize-window -t =w: -x 110 -y 28
tmux_ send-keys -t =w: e
sees_on w 'size 80x25 key e' "which takes another size"
sees_on w 'C-\] \? help' "down to its last row"
kill -9 "$(client x)"
tmux_ send-keys -t =w: f
sees_on w 'key f' "and outlives the fifth"
tmux_ send-keys -t =w: C-] q
sees_on w 'd detach' "it may leave"
tmux_ send-keys -t =w: d
ok "and does" wait_for 15 test -s "$TEST_TMP/status.w"
is "$(cat "$TEST_TMP/status.w")" 0 "the session goes on"
keys d
sees 'size 100x[0-9]+ key d' "which is the larger one again"

# ---- a stalled client costs the others nothing
kill -STOP "$(client v)"
for n in 1 2 3 4 5 6; do
	keys "$n"
	ok "$n: one is stopped, the other shows its key" wait_for 5 screen_has "key $n"
done
kill -CONT "$(client v)"
sees_on v 'key 6' "it catches up when it goes on"
tmux_ kill-session -t =v
tmux_ kill-session -t =u

# ---- nobody there
keys q
sees 'ready>' "the program has ended"
type_text "clear; (sleep 1; echo one >.git/hooks/post-merge; echo status=\$?)" && keys Enter C-] q
sees 'let it go on' "leaving offers to detach"
keys d
ended "the client has left" 0
terminal_is_sane "detached"
sees 'cordon attach takes the session up again' "and says how to come back"
ok "the session goes on" kill -0 "$host"
asks() { cordon_in "$dir" pending 2>&1 | grep -q post-merge; }
ok "and asks" wait_for 15 asks
attach u 100 30
sees_on u '\? ASK.*post-merge' "a client finds the question"
attach v 100 30
sees_on v '\? ASK.*post-merge' "so does another"
for name in u v; do
	tmux_ send-keys -t "=$name:" C-] a
	sees_on "$name" 'ALLOW writing .*post-merge once' "$name opens it"
done
until_keys_count
n=0
until [ -s "$dir/.git/hooks/post-merge" ] || [ $n -ge 20 ]; do
	tmux_ send-keys -t =u: a
	wait_for 1 test -s "$dir/.git/hooks/post-merge"
	n=$((n + 1))
done
ok "and answers it" test -s "$dir/.git/hooks/post-merge"
sees_on u 'status=0' "the call has gone on"
sees_on v 'It was answered elsewhere' "the other client says so"
tmux_ kill-session -t =v

# ---- undo, with an edit of the human's in the way
tmux_ send-keys -t =u: "clear; sh -c 'echo mine >doc; echo two >other'" Enter
ok "a step" wait_for 15 test -s "$dir/other"
sees_on u 'sh -c|mine >doc' "is listed"
echo human >>"$dir/doc"
reopen() { # a change of the history has closed the preview; Escape alone, or it is Alt with the next key
	tmux_ send-keys -t =u: Escape
	sleep 0.5
	tmux_ send-keys -t =u: C-] s
	tmux_ send-keys -t =u: u
}
press_on() { # KEY NAME TEST... - a dialog's keys count after a while: again and again
	local key=$1 name=$2 n=0
	shift 2
	until_keys_count
	until "$@" || [ $n -ge 20 ]; do
		tmux_ send-keys -t =u: "$key"
		wait_for 1 "$@"
		n=$((n + 1))
		[ $((n % 5)) != 0 ] || reopen
	done
	ok "$name" "$@"
}
tmux_ send-keys -t =u: C-] s
press_on u "u previews its undo, which the edit stops" on_has u 'changed since'
press_on K "K keeps the edit" on_has u 'stays as it is'
press_on U "U undoes the rest" test ! -e "$dir/other"
is "$(tail -n 1 "$dir/doc")" human "the edit is still there"
to_agent() { # no key counts before the undo is done, which the files do not tell
	tmux_ send-keys -t =u: C-] t
	wait_for 2 on_has u '━ > agent'
}
ok "the keys are the agent's again" wait_for 15 to_agent

# ---- nothing is left of clients that come and go
cat >"$TEST_TMP/storm.py" <<'P'
import json, socket, struct, sys
def frame(s, n):
    got = b""
    while len(got) < n: got += s.recv(n - len(got)) or sys.exit("the line has ended")
    return got
for i in range(100):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
    s.sendall(b'{"type":"cmd.console"}\n'); line = b""
    while json.loads(line or "{}").get("type") != "reply":
        line = b""
        while not line.endswith(b"\n"): line += s.recv(1)
    hello = b"%d 24 0\0TERM=xterm-256color\0" % (40 + i if i != 50 else 10 ** 6) # a size that is not drawn
    s.sendall(struct.pack("II", 1, len(hello)) + hello)
    kind, size = struct.unpack("II", frame(s, 8)); frame(s, size)
    if kind != 7: sys.exit(f"frame {kind}")
    if i % 3 == 0: s.sendall(struct.pack("II", 2, 1 << 30)) # no frame: it is cut off
    s.close()
P
lines() { find "/proc/$host/fd" -mindepth 1 -lname 'socket:*' | wc -l; }
sock=$(find "${XDG_RUNTIME_DIR:-$HOME/.local/state/cordon/run}" -name "$(running session).sock" 2>/dev/null | head -n 1)
before=$(lines)
ok "a hundred clients come and go" timeout 60 python3 "$TEST_TMP/storm.py" "$sock"
no_more() { [ "$(lines)" -le "$before" ]; }
if [ "$(id -u)" = 0 ]; then
	isnt "$before" 0 "its sockets can be counted"
	ok "no descriptor is left of them" wait_for 15 no_more
else
	skip "no descriptor is left of them" "only root may look at its descriptors"
fi
tmux_ send-keys -t =u: "clear; echo still-\$((40 + 2))" Enter
sees_on u 'still-42' "the one that stayed works on"

# ---- as lines
cordon_in "$dir" attach --plain >"$TEST_TMP/plain" 2>&1 &
plain=$!
plain_has() { grep -q "$1" "$TEST_TMP/plain"; }
ok "as lines: what was asked" wait_for 15 plain_has 'asks: write .*post-merge (cordon pending'
ok "and decided" wait_for 10 plain_has 'decided: allow writing .*post-merge'
ok "without any escape" sh -c "! grep -q '$(printf '\033')' '$TEST_TMP/plain'"

# ---- the agent ends; the last one out closes the session
attach v 100 30
sees_on v 'still-42' "one more client"
tmux_ send-keys -t =u: 'exit 3' Enter
sees_on v 'ended with 3' "both hear that the agent has ended"
sees_on u 'ended with 3' "and how"
tmux_ send-keys -t =v: C-] q
ok "one leaves" wait_for 15 test -s "$TEST_TMP/status.v"
is "$(cat "$TEST_TMP/status.v")" 3 "with the agent's status"
sees_on u 'ended with 3' "the other may still look around"
tmux_ send-keys -t =u: C-] q
ok "the last one leaves" wait_for 15 test -s "$TEST_TMP/status.u"
ok "and the session is over" wait_for 15 has_ended "$host"
ok "which the lines end with" wait_for 10 plain_has 'The session has ended'
kill "$plain" 2>/dev/null

# ---- a session that another program drives
mkfifo "$dir/editor"
(cd "$dir" && exec "$CORDON" run --stdio -- sh -c 'echo three >three; read -r line; echo four >.git/hooks/pre-push') \
	<>"$dir/editor" >/dev/null 2>&1 &
ok "a session without a terminal works" wait_for 20 test -s "$dir/three"
driven=$(running pid)
attach u 100 30
sees_on u '(write|A) .*three' "a client shows what it does"
echo go >"$dir/editor"
sees_on u '\? ASK.*pre-push' "and what it asks"
tmux_ send-keys -t =u: C-] a
press_on a "and answers" test -s "$dir/.git/hooks/pre-push"
ok "the session ends" wait_for 20 has_ended "$driven"
sees_on u '^The session has ended' "which the client says"

# ---- the host is killed
start 100 30 "$dir" "env -u TMUX $CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "another session"
attach u 100 30
sees_on u 'ready>' "and a second client"
kill -9 "$(running pid)"
ended "its host is killed: the client says so" 125
terminal_is_sane "killed"
sees "the session's process has ended by signal 9" "in one line"
sees_on u "the session's process has ended" "and so does the other"
done_testing
