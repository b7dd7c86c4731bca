#!/bin/bash
# api_attack - a session's socket: from inside, from another user, and by clients that misbehave.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
unset XDG_RUNTIME_DIR
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks" "$dir/state"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
export XDG_STATE_HOME=$dir/state # where the agent could reach it if anywhere
run_dir=$dir/state/cordon/run
pid_of() { # SOCKET - whose it is
	python3 -c 'import socket, json, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(json.loads(s.makefile().readline())["pid"])' "$1"
}
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"; }
start 100 30 "$dir" "XDG_STATE_HOME=$XDG_STATE_HOME $CORDON run --set journal.undo=false -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs, its state folder below the working folder"
sock=$(echo "$run_dir"/*.sock)
ok "so is its socket" test -S "$sock"
pid=$(pid_of "$sock")

# ---- from inside
cat >"$dir/inside.py" <<'P'
import glob, os, socket, sys
sock, out = sys.argv[1], open(sys.argv[2], "w")
def call(path, how):
    s = socket.socket(socket.AF_UNIX); s.settimeout(5)
    try: s.connect(path); print("CONNECTED", how, file=out)
    except OSError: print("refused", how, file=out)
def tried(fn, how):
    try: fn(); print("DONE", how, file=out)
    except OSError: print("refused", how, file=out)
call(sock, "its path")
call(os.path.relpath(sock), "relative")
call("/proc/self/root" + sock, "by /proc/self/root")
call("/proc/1/root" + sock, "by /proc/1/root")
parts = sock.split("/")
for n in range(1, 4):
    top, rest = "/".join(parts[:-n]), "/".join(parts[-n:])
    tried(lambda: os.rename(top, top + ".moved"), f"rename {n}")
    tried(lambda: os.rename("inside.py", top), f"replace {n}")
    try: os.symlink(top, f"link{n}")
    except OSError: pass
    call(f"link{n}/{rest}", f"by link {n}")
    try: call(f"/proc/self/fd/{os.open(top, os.O_PATH)}/{rest}", f"by descriptor {n}")
    except OSError: pass
tried(lambda: os.link(sock, "hard"), "hard link")
tried(lambda: os.unlink(sock), "unlink")
tried(lambda: os.mknod("new.sock", 0o140600), "a socket file of its own")
for fd in glob.glob("/proc/[0-9]*/fd/*"):
    try: to = os.readlink(fd)
    except OSError: continue
    if "cordon" in to: call(fd, "by " + to)
for line in open("/proc/net/unix"):
    if "cordon" in line: print("SEEN", line, file=out)
print("over", file=out)
P
type_text "clear; python3 inside.py $sock found; echo tried-\$((40 + 2))" && keys Enter
sees 'tried-42' "the agent has tried"
like "$(cat "$dir/found")" 'over$' "all of it"
unlike "$(cat "$dir/found")" 'CONNECTED|SEEN|DONE (rename|replace|hard|unlink)' "and reached nothing: $(grep -c refused "$dir/found") times refused"
ok "the socket is where it was" test "$(pid_of "$sock")" = "$pid"

# ---- another user
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$TEST_TMP"
	cat >"$TEST_TMP/other.py" <<'P'
import os, socket, sys
os.chdir(os.path.dirname(sys.argv[1])) # before it is another's
os.setgid(54321); os.setuid(54321)
s = socket.socket(socket.AF_UNIX)
try: s.connect(os.path.basename(sys.argv[1])); print("hello" if s.recv(1) else "cut off")
except OSError as e: print(e.errno)
P
	is "$(python3 "$TEST_TMP/other.py" "$sock")" 13 "another user cannot connect"
	chmod 666 "$sock" && chmod 711 "$run_dir"
	is "$(python3 "$TEST_TMP/other.py" "$sock")" "cut off" "and is told nothing where the modes let him"
	chmod 600 "$sock" && chmod 700 "$run_dir"
fi

# ---- too many
cat >"$TEST_TMP/many.py" <<'P'
import json, socket, sys, time
kinds, held = {}, []
for i in range(1000):
    s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1])
    m = json.loads(s.makefile().readline()); held.append(s)
    kind = m["type"] if m["type"] == "hello" else m["error"]
    kinds[kind] = kinds.get(kind, 0) + 1
print(kinds.get("hello"), len(kinds), flush=True)
time.sleep(600)
P
python3 "$TEST_TMP/many.py" "$sock" >"$TEST_TMP/many" &
many=$!
ok "1000 clients are answered" wait_for 60 test -s "$TEST_TMP/many"
is "$(cat "$TEST_TMP/many")" "16 2" "sixteen are let in"
out=$("$CORDON" pending 2>&1) && fail "the next hears that it is one too many" "$out"
like "$out" "too many clients" "in words"
type_text 'clear; echo alive-$((40 + 2))' && keys Enter
sees 'alive-42' "the console does not mind"
kill "$many"
wait "$many" 2>/dev/null
again() { "$CORDON" pending; }
ok "and when they have gone there is room" wait_for 10 again

# ---- clients that misbehave
cat >"$TEST_TMP/bad.py" <<'P'
import os, socket, struct, sys
def client(): # one of those that are let in: who has closed may be one of the sixteen for a moment yet
    while True:
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(20)
        if b'"hello"' in s.recv(65536): return s
        s.close()
def cut(s):
    try:
        while s.recv(65536): pass
    except OSError: pass
line = b'{"type":"cmd.approve","id":424242}\n'
s = client()                                     # ten megabytes that are no line
try: s.sendall(b"x" * 10_000_000); print("TAKEN")
except OSError: cut(s)
s = client()                                     # the same as one command
try: s.sendall(b'{"type":"' + b"a" * 10_000_000 + b'"}\n'); print("TAKEN")
except OSError: cut(s)
for n in range(1, len(line)):                    # half lines, and gone
    s = client(); s.sendall(line[:n]); s.close()
for i in range(200):                             # killed while it is answered
    s = client(); s.sendall(line * 50)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
s = client()                                     # asks, and reads nothing of what it is told
try:
    for i in range(200_000): s.sendall(line)
    print("TAKEN")
except OSError: pass
s = client(); s.sendall(os.urandom(60_000).replace(b"\n", b"") + b"\n" + line)
said = b""
while said.count(b'"reply"') < 2: said += s.recv(65536)
print("over")
P
before=$(memory)
is "$(timeout 240 python3 "$TEST_TMP/bad.py" "$sock")" over "garbage, half lines, endless ones, a client that is killed, one that does not read"
type_text 'clear; echo alive-$((41 + 2))' && keys Enter
sees 'alive-43' "the console goes on"
after=$(memory)
ok "and has not grown: $before to $after KiB" test "$after" -lt $((before + 16384))

# Clients that do not read, while many events occur.
python3 -c 'import socket, sys, time
held = [socket.socket(socket.AF_UNIX) for i in range(10)]
for s in held: s.connect(sys.argv[1])
print("there", flush=True); time.sleep(600)' "$sock" >"$TEST_TMP/deaf" &
deaf=$!
wait_for 10 test -s "$TEST_TMP/deaf"
cat >"$dir/rows.py" <<'P'
import os
for i in range(20000): os.close(os.open(f"d{i % 97}/f{i}", os.O_CREAT | os.O_WRONLY))
P
type_text 'clear; mkdir d{0..96}; python3 rows.py; echo rows-$((40 + 2))' && keys Enter
sees 'rows-42' "20 000 changes are told to nobody" 60
after=$(memory)
ok "which is bounded: $before to $after KiB" test "$after" -lt $((before + 40960))
ok "another is told" "$CORDON" pending
kill "$deaf"
wait "$deaf" 2>/dev/null

# ---- requests that are long to tell, behind an answer that counts on: each is listed
cat >"$dir/long.py" <<'P'
import os, threading
os.chdir(".git/hooks")
def one(i):
    try: open(f"{i}-" + "\033" * 240, "w")
    except OSError: pass
for i in range(900): threading.Thread(target=one, args=(i,)).start()
P
type_text 'clear; echo x >.git/hooks/first; echo first=$?' && keys Enter
sees '\? ASK.*hooks/first' "a request"
id=$("$CORDON" pending | sed -n '1s/ .*//p')
ok "is allowed for the session" "$CORDON" approve "$id" --scope session
sees 'first=0' "and made"
type_text 'clear; python3 long.py' && keys Enter
sees '\? ASK' "900 with long names"
listed() { [ "$("$CORDON" pending --json | grep -c '"type":"event.fs_request"')" = 900 ]; }
ok "are listed, each" wait_for 30 listed
is "$("$CORDON" pending --json | grep -vc fs_request)" 0 "and nothing else"
last=$("$CORDON" pending | sed -n 's/^\([0-9a-f]*-[0-9]*\)  write.*/\1/p' | tail -1)
ok "the last of them can be answered" "$CORDON" deny "$last"

# ---- a session that is stopped hides no other
other=$(new_folder other)
mkdir -p "$other/.git/hooks"
tmux_ new-session -d -s u -x 100 -y 30 -c "$other" \
	"XDG_STATE_HOME=$XDG_STATE_HOME $CORDON run -- sh -c 'echo x >.git/hooks/second; echo second=\$?; cat'"
waits_there() { "$CORDON" pending 2>/dev/null | grep -q hooks/second; }
ok "another session waits for an answer" wait_for 15 waits_there
kill -STOP "$pid"
out=$("$CORDON" pending 2>&1) && fail "a stopped session is no success" "$out"
like "$out" 'hooks/second' "a session that is stopped hides no other"
like "$out" "session [0-9a-f-]*: it is stopped: kill -CONT $pid" "and is named, at once"
id=$(sed -n 's/^\([0-9a-f]*-[0-9]*\)  write .*second/\1/p' <<<"$out")
ok "the other can be answered" "$CORDON" approve "$id"
ok "and has gone on" wait_for 10 test -s "$other/.git/hooks/second"
out=$("$CORDON" approve 424242 2>&1)
like "$out" 'nobody waits for it.*it is stopped' "what is not found may be the stopped one's"
unlike "$("$CORDON" approve "${id%-*}-424242" 2>&1)" 'it is stopped' "but an ID with its session is asked of that alone"
# Each terminal that sent a request has left a connection.
python3 -c 'import socket, sys
held = []
try:
    while len(held) < 100:
        held.append(socket.socket(socket.AF_UNIX))
        held[-1].setblocking(False)
        held[-1].connect(sys.argv[1])
except BlockingIOError: pass' "$sock"
out=$("$CORDON" pending 2>&1)
like "$out" "session [0-9a-f-]*: too many connections wait for it: it is stopped" "one whose queue is full is not waited for"
cat >"$TEST_TMP/behind.py" <<'P'
import json, socket, sys, threading
def one():
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(60)
    held.append(s); kinds.append(json.loads(s.makefile().readline())["type"])
held, kinds = [], []
threads = [threading.Thread(target=one) for i in range(8)]
for t in threads: t.start()
print("there", flush=True)
for t in threads: t.join()
print(" ".join(sorted(set(kinds))), flush=True)
P
python3 "$TEST_TMP/behind.py" "$sock" >"$TEST_TMP/behind" &
behind=$!
wait_for 20 test -s "$TEST_TMP/behind"
kill -CONT "$pid"
wait "$behind"
is "$(cat "$TEST_TMP/behind")" $'there\nhello' "when it goes on, those that have gone keep nobody out"
ok "and it answers" wait_for 10 again
done_testing
