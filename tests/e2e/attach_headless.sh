#!/bin/bash
# attach_headless - consoles and programs on a session that was started without a console.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
unset XDG_RUNTIME_DIR
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
mkfifo "$dir/orders"
# The agent runs commands that it reads line by line, and its output goes where the run's does.
cat >"$dir/agent" <<'P'
exec 3<>orders
echo up
while read -r line <&3; do sh -c "$line"; done
P
# begin OPTION... - a headless run of that agent; $pid is cordon, its output is in out and err
begin() {
	rm -f "$TEST_TMP/status.run"
	(cd "$dir" && "$CORDON" run --headless "$@" -- sh agent >"$TEST_TMP/out" 2>"$TEST_TMP/err" </dev/null; echo $? >"$TEST_TMP/status.run") &
	wait_for 20 grep -q up "$TEST_TMP/out"
	wait_for 20 running pid
	pid=$(running pid)
}
order() { timeout 60 sh -c 'echo "$1" >"$2"' sh "$1" "$dir/orders"; }
running() { cordon_in "$dir" sessions --json | sed -n "s/.*\"$1\":\"*\([^\",]*\).*/\1/p" | grep .; } # FIELD
over() { # STATUS NAME
	ok "$2: it ends" wait_for 30 test -s "$TEST_TMP/status.run"
	is "$(cat "$TEST_TMP/status.run")" "$1" "$2: its status"
}
# console [OPTION...] - cordon attach in the pane
console() {
	rm -f "$TEST_TMP/status" "$TEST_TMP/stty"
	tmux_ respawn-pane -k -t =t: -c "$dir" \
		"env -u TMUX $CORDON attach $*; echo \$? >$TEST_TMP/status; stty -a >$TEST_TMP/stty; exec sleep 600"
}
said_by() { cordon_in "$dir" audit --json | grep "hooks/$1\"" | grep -o '"by":"[^"]*"' | tail -n 1; } # FILE

start 100 30 "$dir" 'exec sleep 600'
(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo before >before')
begin
like "$(cordon_in "$dir" sessions)" 'sh agent' "a headless run is listed"
order 'echo one >one'
ok "its agent works" wait_for 20 test -s "$dir/one"
like "$(cordon_in "$dir" attach 2>&1 </dev/null | cat)" 'needs a terminal .* or add --plain$' "a console without a terminal is refused, with the option for it"
console
sees '━ > activity' "without a terminal the activity has the keys"
sees 'echo before >before|sh -c' "a console shows the history"
sees '(write|A) .*one' "and what the agent did before"
order 'echo two >two'
sees '(write|A) .*two' "and does"
keys q
sees 'C-\] q leaves: the session goes on' "there is no agent's terminal to go back to"
keys s d
sees 'Step [0-9]+ still runs: its files are in the activity' "a step that runs has no diff yet, which is said"
act layout C-] Space
sees 'Layout: ' "another layout"
order 'echo x >.git/hooks/denied; echo denied=$? >>said'
ok "what needs an answer" wait_for 20 grep -qs denied= "$dir/said"
isnt "$(cat "$dir/said")" denied=0 "is denied at once, with a console, too"
sees '(DENY|x|denied).*hooks/denied' "which the console shows"
is "$(cd "$dir" && "$CORDON" exec -- sh -c 'echo mine >three; pwd')" "$dir" "a program runs beside the agent"
ok "its change is one of the folder" test -s "$dir/three"
keys C-] '!'
sees '[$#] *$' "and a shell, from the console"
type_text 'echo by-$((40 + 2))' && keys Enter
sees 'by-42' "which works"
keys C-d
sees 'steps' "the console is back"
keys C-] q
ended "leaving leaves the session alone" 0
terminal_is_sane "left"
sees 'Left: the session goes on' "which is said"
ok "its layout is one for sessions without a terminal" test -e "$HOME/.local/state/cordon/layouts-headless"
ok "and no other console's" test ! -e "$HOME/.local/state/cordon/layouts"
ok "it goes on" kill -0 "$pid"
console --read-only
sees '(write|A) .*two' "a console that looks on"
kill -9 "$(pgrep -P "$(tmux_ list-panes -t =t: -F '#{pane_pid}')")"
order 'echo four >four'
ok "killed, it hinders nobody" wait_for 20 test -s "$dir/four"

# ---- clients that come and go at any moment
cat >"$TEST_TMP/storm.py" <<'P'
import glob, json, os, random, socket, struct, sys
def frame(s):
    got = b""
    while len(got) < 8: got += s.recv(8 - len(got)) or sys.exit("the line has ended")
    return struct.unpack("II", got)
for i in range(100):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
    s.sendall(b'{"type":"cmd.console"}\n'); line = b""
    while json.loads(line or "{}").get("type") != "reply":
        line = b""
        while not line.endswith(b"\n"): line += s.recv(1)
    if i % 4:
        hello = b"%d 24 0\0TERM=xterm-256color\0" % (40 + i)
        s.sendall(struct.pack("II", 1, len(hello)) + hello)
        kind, size = frame(s)
        if kind != 7: sys.exit(f"frame {kind}")
    if i % 5 == 0: s.sendall(struct.pack("IIi", 5, 4, 15)) # it may not end the session
    if i % 3 == 0: s.sendall(struct.pack("II", 2, 1 << 30)) # no frame: it is cut off
    if i % 3 == 1: s.sendall(struct.pack("II", 2, 1) + b"q") # a key of a pane: it leaves
    s.close()
P
lines() { find "/proc/$pid/fd" -mindepth 1 -lname 'socket:*' | wc -l; }
sock=$HOME/.local/state/cordon/run/$(running session).sock
ok "its socket" test -S "$sock"
is "$(stat -c '%a %u' "$sock")" "600 $(id -u)" "is the user's alone"
is "$(stat -c '%a %u' "${sock%/*}")" "700 $(id -u)" "so is its directory"
before=$(lines)
ok "a hundred consoles come and go" timeout 120 python3 "$TEST_TMP/storm.py" "$sock"
no_more() { [ "$(lines)" -le "$before" ]; }
if [ "$(id -u)" = 0 ]; then
	isnt "$before" 0 "its sockets can be counted"
	ok "no descriptor is left of them" wait_for 15 no_more
else
	skip "no descriptor is left of them" "only root may look at its descriptors"
fi
for n in 1 2 3 4 5 6; do
	console
	sleep "0.$((RANDOM % 5))" # any moment of its start
	kill -9 "$(pgrep -P "$(tmux_ list-panes -t =t: -F '#{pane_pid}')")" 2>/dev/null
done
order 'echo five >five'
ok "the agent has heard nothing of it" wait_for 20 test -s "$dir/five"

# ---- the socket, from inside and by another user
order "python3 -c 'import socket, sys; print(socket.socket(socket.AF_UNIX).connect_ex(sys.argv[1]))' $sock >reached 2>&1"
ok "from inside" wait_for 20 test -s "$dir/reached"
like "$(cat "$dir/reached")" '^[1-9][0-9]*$' "nobody connects to it"
cat >"$TEST_TMP/other.py" <<'P'
import os, socket, sys
os.chmod(sys.argv[1], 0o666)
parts = sys.argv[1].split("/")
back = {}
for n in range(2, len(parts)):
    d = "/".join(parts[:n])
    back[d] = os.stat(d).st_mode & 0o7777
    os.chmod(d, back[d] | 0o011)
if os.fork() == 0:
    os.setgroups([]); os.setresgid(54321, 54321, 54321); os.setresuid(54321, 54321, 54321)
    s = socket.socket(socket.AF_UNIX); s.settimeout(60)
    try:
        s.connect(sys.argv[1])
        print("closed" if s.recv(1) == b"" else "GREETED")
    except ConnectionResetError: print("closed")
    except OSError as e: print(e)
    sys.stdout.flush()
    os._exit(0)
os.wait()
for d, mode in back.items(): os.chmod(d, mode)
os.chmod(sys.argv[1], 0o600)
P
if [ "$(id -u)" = 0 ]; then
	is "$(python3 "$TEST_TMP/other.py" "$sock")" closed "another user who gets there is cut off"
else
	skip "another user who gets there is cut off" "only root can be another user"
fi

# ---- the end
console
sees '(write|A) .*five' "a console"
cordon_in "$dir" attach --plain >"$TEST_TMP/plain" 2>&1 &
plain=$!
ok "and one of lines" wait_for 20 test -s "$TEST_TMP/plain"
order 'kill -TERM $PPID'
over 143 "the agent is killed"
ended "its console ends with its status" 143
terminal_is_sane "ended"
sees 'The session has ended' "and says so"
wait "$plain"
like "$(cat "$TEST_TMP/plain")" 'The session has ended' "so does one of lines"
ok "the socket is gone" test ! -e "$sock"
like "$(cat "$TEST_TMP/err")" "hooks/denied was refused" "what was refused is listed where it was started"
like "$(cordon_in "$dir" attach 2>&1 </dev/null)" "no session runs" "nobody can attach any more"

# ---- on a terminal: its output is in the console, and the console's keys are not its input
tmux_ new-session -d -s run -x 60 -y 12 -c "$dir" \
	"$CORDON run --headless -- sh -c 'seq 30 39; printf \"\\033[31mred\\033[0m\\n\"; read -r a; echo got-\$a; exec cat'; echo \$? >$TEST_TMP/status.run; exec sleep 600"
rm -f "$TEST_TMP/status.run"
on_run() { tmux_ capture-pane -p -t =run: | grep -q "$1"; }
ok "a run on a terminal" wait_for 20 on_run red
console
sees '^ *39 *$' "its console shows what it has printed"
sees 'activity' "and its activity"
keys C-] t x
sees 'No key goes to the agent' "no key of the console's goes there"
tmux_ send-keys -t =run: typed Enter
sees 'got-typed' "those of its own terminal do"
tmux_ resize-window -t =run: -x 70 -y 14
tmux_ send-keys -t =run: more Enter
sees '^ *more *$' "which works on"
keys C-] q
ended "the console is left" 0
tmux_ send-keys -t =run: C-d
over 0 "the run"

# ---- clients that read nothing: their sockets are full when the session ends
cat >"$TEST_TMP/mute3.py" <<'P'
import socket, struct, sys, time
lines = []
for i in range(10):
    s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1])
    s.sendall(b'{"type":"cmd.console"}\n'); said = b""
    while not (b'"type":"reply"' in said and said.endswith(b"\n")): said += s.recv(1)
    hello = b"200 60 0\0TERM=xterm-256color\0COLORTERM=truecolor\0"
    s.sendall(struct.pack("II", 1, len(hello)) + hello)
    lines.append(s)
time.sleep(3)
open(sys.argv[2], "w").close()
time.sleep(600)
P
cat >"$dir/noise.py" <<'P'
import os, random, select, sys
go = os.open("orders", os.O_RDONLY | os.O_NONBLOCK)
while not select.select([go], [], [], 0.05)[0]:
    sys.stdout.write("".join("\033[38;2;%d;%d;%dma" % (random.randrange(256), random.randrange(256), random.randrange(256)) for _ in range(8000)))
    sys.stdout.flush()
P
rm -f "$TEST_TMP/status.run"
tmux_ new-session -d -s mute -x 200 -y 60 -c "$dir" \
	"$CORDON run --headless -- python3 noise.py; echo \$? >$TEST_TMP/status.run; exec sleep 600"
ok "a run that draws much" wait_for 20 running session
python3 "$TEST_TMP/mute3.py" "$HOME/.local/state/cordon/run/$(running session).sock" "$TEST_TMP/mute3" &
mute=$!
ok "ten clients that read nothing of it" wait_for 60 test -e "$TEST_TMP/mute3"
began=$(date +%s%N)
order over
over 0 "the run"
took=$((($(date +%s%N) - began) / 1000000))
ok "its end waits for none of them, a second and a half for each: $took ms" test "$took" -lt 10000
kill "$mute"

# ---- ended from elsewhere
begin
cat >"$TEST_TMP/end.py" <<'P'
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
s.sendall(b'{"type":"cmd.end"}\n')
while s.recv(65536): pass
P
python3 "$TEST_TMP/end.py" "$HOME/.local/state/cordon/run/$(running session).sock"
over 143 "the board ends it"
like "$(cordon_in "$dir" audit --json | grep '"ended from')" 'terminal: uid' "the audit log says who"
like "$(cat "$TEST_TMP/err")" 'cordon: ended from a terminal: uid' "so does standard error"

# ---- approval.command, which leaves the answer to a human
asks() { cordon_in "$dir" pending 2>&1 | grep -q "hooks/$1"; }
cat >"$TEST_TMP/mute.py" <<'P'
import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
s.sendall(b'{"type":"cmd.console"}\n'); said = b""
while b'"type":"reply"' not in said: said += s.recv(4096) or sys.exit("the line has ended")
open(sys.argv[2], "w").close()
time.sleep(600)
P
begin --set "approval.command=cat >/dev/null; echo '{\"ask\":true}'" \
	--set console.notify=command --set "console.notify-command=cat >>$TEST_TMP/called"
order 'echo x >.git/hooks/nobody; echo nobody=$? >>said'
ok "without a console" wait_for 20 grep -qs nobody= "$dir/said"
ok "that is no" test ! -e "$dir/.git/hooks/nobody"
python3 "$TEST_TMP/mute.py" "$HOME/.local/state/cordon/run/$(running session).sock" "$TEST_TMP/mute" &
mute=$!
ok "a client that connects, and has no terminal yet" wait_for 20 test -e "$TEST_TMP/mute"
order 'echo x >.git/hooks/mute; echo mute=$? >>said'
ok "with it, too" wait_for 20 grep -qs mute= "$dir/said"
ok "that is no" test ! -e "$dir/.git/hooks/mute"
kill "$mute"
console --read-only
sees 'steps' "a console that looks on"
order 'echo x >.git/hooks/looker; echo looker=$? >>said'
ok "with one that may not answer" wait_for 20 grep -qs looker= "$dir/said"
ok "it is no, too" test ! -e "$dir/.git/hooks/looker"
ok "nobody was called to answer" test ! -e "$TEST_TMP/called"
console
sees '(write|A) .*said' "a console"
order 'echo x >.git/hooks/human; echo human=$? >>said'
sees '\? ASK.*hooks/human' "with a human it waits"
ok "the human is called" wait_for 20 grep -qs "waits for your answer" "$TEST_TMP/called"
keys C-] a
sees 'ALLOW writing .*hooks/human once' "who is shown it"
until_keys_count
n=0
until [ -s "$dir/.git/hooks/human" ] || [ $n -ge 20 ]; do
	keys a
	wait_for 1 test -s "$dir/.git/hooks/human"
	n=$((n + 1))
done
ok "and answers it" test -s "$dir/.git/hooks/human"
order 'echo x >.git/hooks/left; echo left=$? >>said'
sees '\? ASK.*hooks/left' "another question"
ok "waits" asks left
keys C-] q
ended "the last human leaves" 0
ok "then nobody is there to answer" wait_for 20 grep -qs left= "$dir/said"
ok "and that is no" test ! -e "$dir/.git/hooks/left"
is "$(said_by left)" '"by":"nobody: headless"' "by nobody"
order 'kill -KILL $PPID'
over 137 "the last run"

# ---- sessions that other programs drive
# driven NAME FILE COMMAND... - a run of a program that holds its input open and has made FILE in the folder
driven() {
	local name=$1 file=$2
	shift 2
	rm -f "$dir/in"
	mkfifo "$dir/in"
	(cd "$dir" && exec "$@") <>"$dir/in" >"$TEST_TMP/out" 2>"$TEST_TMP/err" &
	pid=$!
	[ ! -s "$TEST_TMP/orders" ] || cat "$TEST_TMP/orders" >"$dir/in"
	ok "$name: it works" wait_for 30 test -e "$dir/$file"
	console
	sees "(write|A) .*$file" "$name: a console shows it"
	is "$(cd "$dir" && "$CORDON" exec -- sh -c 'echo mine >>mine; pwd')" "$dir" "$name: a program runs beside it"
	sees '(write|A) .*mine' "$name: which the console shows, too"
	keys C-] q
	ended "$name: the console is left" 0
	ok "$name: it goes on" kill -0 "$pid"
	kill "$pid"
	wait "$pid"
	rm -f "$dir/mine"
}
: >"$TEST_TMP/orders"
driven "run --stdio" made1 "$CORDON" run --stdio -- sh -c 'echo x >made1; exec cat'
cat >"$TEST_TMP/orders" <<P
{"type":"session.start","request_id":"1","payload":{"working_directories":[{"path":"$dir"}]}}
{"type":"agent.execute","request_id":"2","payload":{"command":"echo x >made2"}}
P
driven serve made2 "$CORDON" serve
cat >"$TEST_TMP/orders" <<P
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"echo x >made3"}}}
P
driven mcp made3 "$CORDON" mcp
done_testing
