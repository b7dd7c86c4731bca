#!/bin/bash
# listening - if the host's loopback device is shared, a session can listen only at its own ports.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
own_loopback "$@"
dir=$(new_folder work)
cd "$dir" || exit 1

cat >listen.py <<'P'
import errno, os, socket, sys
base, count = int(os.environ["LISTENING_BASE_PORT"]), int(os.environ["LISTENING_PORT_COUNT"])
def attempt(fn):
    try: return fn()
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
# Listens, connects like a client, and prints the ports.
def serve(host, port, family=socket.AF_INET, to=None):
    def f():
        s = socket.socket(family); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((host, port)); s.listen(); at = s.getsockname()
        c = socket.create_connection((to or ("127.0.0.1" if family == socket.AF_INET else "::1"), port or at[1])); a, _ = s.accept()
        a.sendall(b"hi"); got = c.recv(9).decode()
        for x in (s, c, a): x.close()
        return "%s %s %s" % (at[0], "window" if base <= at[1] < base + count else at[1], got)
    return attempt(f)
def bare():
    s = socket.socket(); s.listen(); at = s.getsockname()
    return "%s %s" % (at[0], "window" if base <= at[1] < base + count else at[1])
print(serve("127.0.0.1", base + 1)); print(serve("127.0.0.1", 0)); print(serve("127.0.0.1", 3000)); print(serve("", 3000))
print(serve("::1", base + 2, socket.AF_INET6)); print(serve("::", 3001, socket.AF_INET6)); print(serve("::", 3002, socket.AF_INET6, "127.0.0.1"))
print(serve("203.0.113.1", base + 3)); print(attempt(bare))
P
window() { "$CORDON" run --headless "${opts[@]}" "$@" 2>/dev/null; }
# shellcheck disable=SC2034 # use_backend reads it
for BACKEND in landlock native; do
	use_backend
	opts=()
	[ $BACKEND = landlock ] || opts=(--network open)
	if [ $BACKEND = landlock ] && ! "$CORDON" doctor --json | grep '"backend":"landlock","whole"' | grep -q '"starts":true'; then
		skip "listening on landlock" "no Landlock that is new enough"
		continue
	fi
	is "$(window --network-strategy fail -- python3 listen.py)" "127.0.0.1 window hi
127.0.0.1 window hi
EACCES
EACCES
::1 window hi
EACCES
EACCES
EACCES
EACCES" "$BACKEND, fail: its own ports at the loopback device, and no others"
	device=$(window --network-strategy rewire-device -- printenv LISTENING_LOOPBACK_DEVICE)
	like "$device" '^127\.238\.[0-9]+\.1$' "$BACKEND, rewire-device: it has an address of its own"
	is "$(window --network-strategy rewire-device -- python3 listen.py | sed "s/$device/D/")" "D window hi
D window hi
D 3000 hi
D 3000 hi
::ffff:D window hi
::ffff:D 3001 hi
::ffff:D 3002 hi
EACCES
D window" "$BACKEND, rewire-device: any port of that"
	is "$(window --network-strategy rewire-port -- python3 listen.py)" "127.0.0.1 window hi
127.0.0.1 window hi
127.0.0.1 window hi
127.0.0.1 window hi
::1 window hi
::ffff:127.0.0.1 window hi
::ffff:127.0.0.1 window hi
EACCES
127.0.0.1 window" "$BACKEND, rewire-port: other ports become its own"
	like "$("$CORDON" audit --json | grep '"op":"bind-rewritten"' | tail -n 1)" '127\.0\.0\.1:61' "$BACKEND: the audit log has both addresses"
	out=$("$CORDON" run --headless "${opts[@]}" --network-strategy fail -- python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 3000))' 2>&1)
	is "$(printf '%s\n' "$out" | grep -c "^cordon: listening at 127.0.0.1:3000 was refused: this session listens at ports 6[0-9]* to 6[0-9]* only")" 1 "$BACKEND: a refusal is one line"
	out=$(window --network-strategy fail --listening-base-port 62000 --listening-port-count 3 --listening-loopback 127.0.0.9 -- python3 -c '
import os, socket
print(os.environ["LISTENING_BASE_PORT"], os.environ["LISTENING_PORT_COUNT"], os.environ["LISTENING_LOOPBACK_DEVICE"])
keep = []
def attempt(*at):
    s = socket.socket(); keep.append(s)
    try: s.bind(at); return s.getsockname()[1]
    except OSError as e: return e.errno
print(attempt("127.0.0.9", 62002), attempt("127.0.0.1", 62001), attempt("127.0.0.9", 62003), attempt("127.0.0.9", 0), attempt("127.0.0.9", 0), attempt("127.0.0.9", 0))')
	is "$out" "62000 3 127.0.0.9
62002 13 13 62000 62001 98" "$BACKEND: as the options say"
	printf '[rule "mine"]\n\tallow = bind 127.0.0.1:3000\n\tdeny = bind 127.0.0.1:61000-65000\n' >>"$HOME/.config/cordon/config"
	is "$(window --network-strategy fail -- python3 -c '
import os, socket
def attempt(port):
    s = socket.socket()
    try: s.bind(("127.0.0.1", port)); return "bound"
    except OSError as e: return e.errno
print(attempt(3000), attempt(int(os.environ["LISTENING_BASE_PORT"])), attempt(3001))')" "bound 13 13" "$BACKEND: rules about bind count"
	use_backend
done

# ---- windows
BACKEND=native
use_backend
opts=(--network open --network-strategy fail)
other=$(new_folder other)
(cd "$other" && exec "$CORDON" run --headless "${opts[@]}" -- sh -c 'printenv LISTENING_BASE_PORT >base; until [ -e end ]; do sleep 0.02; done') 2>/dev/null &
held=$!
wait_for 10 test -s "$other/base"
first=$(cat "$other/base")
second=$(window -- printenv LISTENING_BASE_PORT)
ok "windows of sessions that run do not overlap" test "$second" -ge $((first + 32))
out=$("$CORDON" run --headless "${opts[@]}" --listening-base-port $((first + 31)) -- true 2>&1)
is "$?" 125 "nor may one be taken"
is "$out" "cordon: listening ports: of $((first + 31)) to $((first + 62)) some are another session's: take others, or leave --listening-base-port out" "in one line"
kill -9 $held
wait $held 2>/dev/null
gone() { [ "$(window -- printenv LISTENING_BASE_PORT)" = "$first" ]; }
ok "a session that was killed has none" wait_for 20 gone
for bad in "--listening-base-port 80" "--listening-base-port 65530" "--listening-port-count 0" "--listening-port-count x" \
	"--listening-loopback 192.0.2.1" "--listening-loopback eth0" "--network-strategy none"; do
	# shellcheck disable=SC2086 # two words
	out=$("$CORDON" run --headless --network open $bad -- true 2>&1)
	is "$? $(printf '%s\n' "$out" | wc -l)" "125 1" "refused in one line: $bad"
done
is "$("$CORDON" run --headless --network open -- sh -c 'printenv LISTENING_BASE_PORT; python3 -c "import socket; s = socket.socket(); s.bind((\"\", 0)); s.listen(); print(\"listens\")"' 2>/dev/null)" \
	"listens" "an open network that nobody limits is as before"
is "$("$CORDON" run --headless -- sh -c 'printenv LISTENING_BASE_PORT; python3 -c "import socket; s = socket.socket(); s.bind((\"\", 3000)); s.listen(); print(\"listens\")"' 2>/dev/null)" \
	"listens" "and one of its own has all ports"
done_testing
