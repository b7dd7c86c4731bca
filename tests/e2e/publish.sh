#!/bin/bash
# publish - a server inside is shown on the host's loopback: by an option, a rule, a key; and ends with the session.
# SPDX-License-Identifier: MIT
# drives: publish
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/hosts.sh"
need curl
hosts_folder "$@"
hosts_start
run() { plain "$CORDON" run --headless "$@"; }

# An echo that counts when its client is done, on one family or both; it ends when `stop` appears.
cat >serve.py <<'E2'
import os, socket, sys, threading
def one(c):
    n = 0
    while True:
        d = c.recv(1 << 16)
        if not d: break
        n += len(d); c.sendall(d)
    c.sendall(b"=%d" % n); c.close()
host = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
s = socket.create_server((host, int(sys.argv[1])), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=512)
s.settimeout(0.2)
open("up" + sys.argv[1], "w").close()
while not os.path.exists("stop"):
    try: threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
    except socket.timeout: pass
E2
cat >ask.py <<'E2'
import socket, sys, threading
def ask(host, port, data=b"ping"):
    s = socket.create_connection((host, port), timeout=60)
    failed = [] # a reset is told once, to whoever comes first: this thread or the other
    def send():
        try: s.sendall(data); s.shutdown(socket.SHUT_WR)
        except OSError as e: failed.append(e)
    t = threading.Thread(target=send); t.start()
    got = bytearray()
    while True:
        d = s.recv(1 << 16)
        if not d: break
        got += d
    t.join()
    if failed: raise failed[0]
    return bytes(got) == data + b"=%d" % len(data)
port = int(sys.argv[1])
what = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
try:
    if what == "large": print(ask("127.0.0.1", port, bytes(range(256)) * 80000))
    elif what == "many":
        ok = []
        ts = [threading.Thread(target=lambda: ok.append(ask("127.0.0.1", port))) for i in range(100)]
        [t.start() for t in ts]; [t.join() for t in ts]; print(sum(ok))
    else: print(ask(what, port))
except OSError as e: print(type(e).__name__)
E2
open_now() { [ "$(python3 ask.py "$1" 2>/dev/null)" = True ]; }

# ---- --publish
run --publish 3000 --publish 3001:8080 -- sh -c 'python3 serve.py 3000 & python3 serve.py 3001 ::1 & wait' 2>err &
inside=$!
ok "--publish shows the port" wait_for 10 open_now 3000
wait_for 10 test -e up3001
is "$(python3 ask.py 3000 ::1)" True "also at ::1"
is "$(python3 ask.py 8080)$(python3 ask.py 8080 ::1)" TrueTrue "another port, and a server that has IPv6 alone"
is "$(python3 ask.py 3000 large)" True "20 MB both ways, each end closed by itself"
is "$(python3 ask.py 3000 many)" 100 "100 at once"
is "$(python3 ask.py 3000 192.0.2.1)" ConnectionRefusedError "41: on loopback alone"
is "$(ss -ltnH | awk '{ print $4 }' | grep -vc '^127\.0\.0\.1:\|^\[::1\]:')" 0 "41: nothing else listens"
out=$(run --publish 3000 -- true 2>&1)
is "$?" 125 "a port that is taken is refused before anything runs"
is "$out" "cordon: --publish 3000: port 3000 is taken on this host: choose another one: --publish 3000:13000" "in one line"
touch stop
wait "$inside"
is "$(python3 ask.py 3000)" ConnectionRefusedError "it ends with the session"
like "$(cordon_in "$dir" audit --json)" '"op":"publish","by":"the command line".*localhost:8080 leads to port 3001' "the audit log has it"
rm -f stop up*
run --publish 3000 -- sh -c 'while [ ! -e stop ]; do sleep 0.1; done' &
inside=$!
wait_for 15 sh -c 'ss -ltn | grep -q 127.0.0.1:3000'
is "$(python3 ask.py 3000)" ConnectionResetError "as long as nobody listens inside, nobody is connected"
touch stop && wait "$inside"
for bad in x 0 70000 3000: 3000:x 3000:0 3000:1:2 -1; do
	out=$(run --publish "$bad" -- true 2>&1)
	like "$? $out" "^125 .*not a port" "--publish $bad"
done
like "$(run --publish 3000 --network open -- true 2>&1)" "contradict" "with the host's own network there is nothing to publish"

# ---- by a rule
rm -f stop up*
printf '[rule "mine"]\n\tallow = bind localhost:3002\n' >>"$HOME/.config/cordon/config"
run -- sh -c 'python3 serve.py 3002 & python3 serve.py 3003 & wait' &
inside=$!
ok "a rule publishes what begins to listen" wait_for 10 open_now 3002
is "$(python3 ask.py 3003)" ConnectionRefusedError "but nothing else"
like "$(cordon_in "$dir" audit --json)" "\"op\":\"publish\",\"by\":\"rule 'mine' .*localhost:3002 leads" "the audit log names the rule"
touch stop && wait "$inside"

# ---- by a key
rm -f stop up*
printf "PS1='ready> '\nserve() { python3 serve.py \"\$@\"; }\n" >"$dir/rc"
drop=
[ "$(id -u)" = 0 ] || drop="setpriv --inh-caps=-all --ambient-caps=-all -- "
start 180 40 "$dir" "$drop$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
type_text 'serve 3004' && keys Enter
sees 'python3 listens on 3004: p opens it' "a server that begins to listen is offered"
resize 60 40
sees ' python3 listens on 3004: p opens it' "also on a narrow terminal"
resize 180 40
keys C-] l
keys G
press_until 'published: localhost:3004 leads to port 3004' "p publishes it" p
ok "and it is there" wait_for 10 open_now 3004
like "$(cordon_in "$dir" audit --json)" '"op":"publish","by":"console".*localhost:3004 leads' "the audit log says who"
keys C-] n
sees 'closed.* localhost:3004 ' "the connections view has who came"
keys q
touch stop
keys C-] t
sees 'ready>.*' "the server ends"
type_text 'exit 0' && keys Enter
sees 'ended' "the shell too"
keys C-] q
ended "and cordon" 0
refused() { [ "$(python3 ask.py "$1")" = ConnectionRefusedError ]; }
ok "with it the port" wait_for 10 refused 3004
kill "$servers"
done_testing
