#!/bin/bash
# attach_network - another terminal sees the session's connections, ends and forbids them, publishes a port.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
. "$(dirname "$0")/../support/tmux.sh"
need tmux python3 ip unshare nsenter setpriv
need_sandbox
hosts_enter "$@"
dir=$(new_folder work)
hosts_start
cat >"$dir/to.py" <<'P'
import errno, socket, sys
try:
    s = socket.create_connection((sys.argv[1], 7)); s.sendall(b"ping"); print("got", s.recv(9).decode(), flush=True)
    s.recv(9); print("over", flush=True)
except OSError as e: print("failed", errno.errorcode.get(e.errno, e))
P
cat >"$dir/serve.py" <<'P'
import socket
s = socket.create_server(("127.0.0.1", 3000)); print("serves", flush=True)
while True:
    c = s.accept()[0]; c.sendall(b"hello"); c.close()
P
printf "PS1='ready> '\nHISTFILE=\nto() { /usr/bin/python3 to.py \"\$@\"; }\n" >"$dir/rc"
there_screen() { tmux_ capture-pane -p -t =u:; }
shown() { there_screen | grep -Eq -- "$1"; }
sees_there() { # REGEX NAME
	if wait_for 15 shown "$1"; then pass "$2"; else fail "$2" "no line like: $1
$(there_screen)"; fi
}
press_there() { # KEY NAME TEST...
	local key=$1 name=$2 n=0
	shift 2
	until_keys_count
	until "$@" || [ $n -ge 15 ]; do
		tmux_ send-keys -t =u: "$key"
		wait_for 1 "$@"
		n=$((n + 1))
	done
	ok "$name" "$@"
}
drop=
[ "$(id -u)" = 0 ] || drop="setpriv --inh-caps=-all --ambient-caps=-all -- "
start 130 40 "$dir" "$drop$CORDON run --allow-domain good.example -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
type_text 'to good.example' && keys Enter
sees 'got ping' "and has a connection"
tmux_ new-session -d -s u -x 130 -y 40 -c "$dir" "$drop$CORDON attach; exec sleep 600"
sees_there 'activity' "another terminal is attached"
tmux_ send-keys -t =u: C-] n
sees_there 'open +python3 +good.example:7 .* 4 B +4 B' "it shows the connection from before, with its bytes"
press_there x "x closes it there" screen_has 'failed ECONNRESET|^over'
sees_there 'closed +python3 +good.example:7' "which is shown"

# What no console sends is refused, and changes nothing.
type_text 'clear; to good.example' && keys Enter
sees 'got ping' "a connection is open"
for run in "${XDG_RUNTIME_DIR:-/nonexistent}/cordon" "$HOME/.local/state/cordon/run"; do
	for sock in "$run"/*.sock; do [ ! -S "$sock" ] || break 2; done
done
cat >"$TEST_TMP/client.py" <<'P'
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
f = s.makefile("rw", encoding="utf-8", errors="surrogateescape")
seen = {}
def read():
    got = json.loads(f.readline())
    if got["type"] == "event.connection": seen[got["connection"]] = got
    return got
def ask(**line):
    f.write(json.dumps(line) + "\n"); f.flush()
    while (got := read())["type"] != "reply": pass
    return got["ok"]
ask(type="cmd.history")
while not any(c["received"] == 4 and not c["ended_us"] for c in seen.values()): read() # they are counted
live = [c for c in seen.values() if not c["ended_us"]]
over = [c for c in seen.values() if c["ended_us"]]
print("live", [(c["target"], c["sent"], c["received"]) for c in live])
print("over", all(c["began_us"] < c["ended_us"] < time.time() * 1e6 for c in over), len(over))
bad = [ask(type=t, **m) for t in ("cmd.disconnect", "cmd.forbid") for m in
       ({}, {"connection": ""}, {"connection": int(live[0]["connection"])}, {"connection": "-1"}, {"connection": " 1"},
        {"connection": "99999"}, {"connection": "1e9"}, {"connection": "18446744073709551617"}, {"connection": [live[0]["connection"]]})]
bad += [ask(type="cmd.disconnect", connection=over[0]["connection"])]
bad += [ask(type="cmd.publish", **m) for m in ({}, {"port": 0}, {"port": "22"}, {"port": 22}, {"port": 65536}, {"port": -1}, {"port": 2.5}, {"port": [22]})]
print("bad", any(bad), len(bad))
print("good", ask(type="cmd.disconnect", connection=live[0]["connection"]))
while not seen[live[0]["connection"]]["ended_us"]: read()
print("told")
P
is "$(timeout 60 python3 "$TEST_TMP/client.py" "$sock" 2>&1)" "live [('good.example:7', 4, 4)]
over True 1
bad False 27
good True
told" "bad commands are refused, a good one is obeyed"
sees 'failed ECONNRESET|^over' "and that connection is closed"
type_text 'clear; to good.example' && keys Enter
sees_there 'open +python3 +good.example:7 .* 4 B +4 B' "one that is new is shown, too"
press_there F "F forbids its host" shown 'denied for this session: good.example'
sees_there 'closed +python3 +good.example:7' "and closes it"
sees 'failed ECONNRESET|^over' "for the agent, too"
type_text 'clear; to good.example' && keys Enter
sees 'failed (EACCES|-2|.*not known)' "it is refused from then on"
audit_has() { cordon_in "$dir" audit --json | grep -q "$1"; }
ok "the audit log has it" wait_for 10 audit_has '"decision".*good.example:7.*deny connecting'

tmux_ send-keys -t =u: q
type_text 'clear; /usr/bin/python3 serve.py &' && keys Enter
sees_there 'listens on 3000: p opens it' "a server inside is told there"
tmux_ send-keys -t =u: C-] l G
serves() { [ "$(timeout 5 python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", 3000), 5).recv(9).decode())' 2>/dev/null)" = hello ]; }
ok "which this host does not reach" sh -c "! timeout 5 python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 3000), 5)' 2>/dev/null"
press_there p "until p publishes it there" serves
sees_there 'published: localhost:3000' "and says so"
kill "$servers"
done_testing
