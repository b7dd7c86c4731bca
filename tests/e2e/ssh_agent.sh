#!/bin/bash
# ssh_agent - ssh inside signs with named keys, for known hosts, and for nothing else.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
PATH=$PATH:/usr/sbin:/sbin
need python3 ssh ssh-agent ssh-add ssh-keygen sshd
use_backend
settings=$HOME/.config/cordon/config
plain_settings=$(cat "$settings")
keys=$TEST_TMP/keys
mkdir -p "$keys" "$HOME/.ssh"
chmod 700 "$HOME/.ssh"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

# ---- two servers that accept the key, and the user's agent with two keys
for name in work other good evil; do ssh-keygen -q -t ed25519 -N '' -C "$name@laptop" -f "$keys/$name"; done
cp "$keys/work.pub" "$keys/authorized"
serve() { # HOST-KEY; another process may have the port before sshd takes it
	local port
	for _ in 1 2 3 4 5; do
		listens "$1" && return
	done
	skip_all "sshd does not start: $(tail -n 1 "$keys/$1.log")"
}
listens() {
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	cat >"$keys/$1.conf" <<-C
		ListenAddress 127.0.0.1
		Port $port
		HostKey $keys/$1
		AuthorizedKeysFile $keys/authorized
		StrictModes no
		UsePAM no
		PidFile none
		PermitRootLogin yes
	C
	: >"$keys/$1.log"
	"$(command -v sshd)" -D -e -f "$keys/$1.conf" 2>"$keys/$1.log" &
	servers+=($!)
	eval "$1=$port"
	wait_for 20 listens_or_not "$1" && grep -q 'Server listening' "$keys/$1.log"
}
listens_or_not() { grep -q 'Server listening' "$keys/$1.log" || has_ended "${servers[-1]}"; }
servers=()
trap 'kill "${servers[@]}" "$SSH_AGENT_PID" 2>/dev/null' EXIT
good='' evil=''
serve good
serve evil
eval "$(ssh-agent -s)" >/dev/null
ssh-add -q "$keys/work" "$keys/other" 2>/dev/null
echo "[127.0.0.1]:$good $(cut -d ' ' -f 1,2 "$keys/good.pub")" >"$HOME/.ssh/known_hosts"

dir=$(new_folder work)
cd "$dir" || exit 1
for name in good evil; do echo "[127.0.0.1]:${!name} $(cut -d ' ' -f 1,2 "$keys/$name.pub")"; done >known
cp "$keys/work.pub" "$keys/other.pub" .
with() { printf '%s\n%s\n' "$plain_settings" "$1" >"$settings"; }
inside() { "$CORDON" run --headless --network open "$@" </dev/null 2>&1; }
filtered() { inside --ssh-agent "work@* 127.0.0.1:$good" -- "$@"; }
login() { # PORT
	filtered ssh -F none -o UserKnownHostsFile="$dir/known" -o GlobalKnownHostsFile=none -o BatchMode=yes -p "$1" 127.0.0.1 echo in
}

# ---- visible keys
is "$(inside -- sh -c 'echo "$SSH_AUTH_SOCK"')" "" "without ssh.agent there is no agent inside"
out=$(filtered ssh-add -L)
like "$out" "work@laptop" "the key that is named shows"
unlike "$out" "other@laptop" "the other one does not"
print=$(ssh-keygen -lf "$keys/other.pub" | cut -d ' ' -f 2)
like "$(inside --ssh-agent "$print localhost" -- ssh-add -L)" "other@laptop" "a fingerprint names one, too"
like "$(inside --ssh-agent "work@laptop" -- true)" "no host: name a key, then the hosts" "a key without a host is refused"

# ---- allowed logins
unlike "$(login "$good")" '^in' "where no rule allows the host nothing is signed"
like "$(login "$good")" "127.0.0.1:$good" "and that is said"
with "[rule \"no\"]
	deny = sign 127.0.0.1:$good"
unlike "$(login "$good")" '(^|
)in' "a rule denies it"
with "[rule \"yes\"]
	allow = sign 127.0.0.1:$good"
out=$(login "$good")
like "$out" '(^|
)in' "a rule allows it: the login works"
with "[rule \"yes\"]
	allow = sign *"
out=$(login "$evil")
unlike "$out" '(^|
)in' "a server whose key known_hosts has for no named host"
ok "and the audit log says why" grep -rqa 'known_hosts has that server' "$HOME/.local/state/cordon"

# ---- requests that are no login
sign() { # OPTION...
	rm -f text.sig
	echo text >text
	inside "$@" -- ssh-keygen -Y sign -n file -f work.pub text >/dev/null
	[ -s text.sig ]
}
sign --ssh-agent "work@* 127.0.0.1:$good" && fail "a signature for no server" || pass "a signature for no server"
sign --ssh-agent "work@* 127.0.0.1:$good unbound" && pass "is made where the setting says unbound" || fail "is made where the setting says unbound"
ok "and it is the key's" bash -c 'ssh-keygen -Y check-novalidate -n file -s text.sig <text'
with ""
sign --ssh-agent "work@* unbound" && fail "but not without a rule or an answer" || pass "but not without a rule or an answer"
with "[rule \"yes\"]
	allow = sign *"

# ---- an agent's other requests, and invalid bytes
cat >talk.py <<'P'
import base64, os, socket, struct, sys
s = lambda b: struct.pack(">I", len(b)) + b
def dial():
    c = socket.socket(socket.AF_UNIX); c.settimeout(120); c.connect(os.environ["SSH_AUTH_SOCK"]); return c
def ask(c, body):
    c.sendall(s(body))
    head = b""
    while len(head) < 4:
        d = c.recv(4 - len(head))
        if not d: return "closed"
        head += d
    return c.recv(1 << 20)[0]
key, other = (base64.b64decode(open(f).read().split()[1]) for f in ("work.pub", "other.pub"))
host = base64.b64decode(open("known").read().split()[2])
slow = dial(); slow.sendall(b"\0\0\0\7\x0d")
print("others", *[ask(dial(), bytes([t]) + b"\0" * 8) for t in (1, 17, 18, 19, 22, 23, 25, 99)])
c = dial()
print("key", ask(c, b"\x0d" + s(other) + s(b"x") + b"\0\0\0\0"))
print("forged", ask(c, b"\x1b" + s(b"session-bind@openssh.com") + s(host) + s(b"session") + s(s(b"ssh-ed25519") + s(b"y" * 64)) + b"\0"))
login = s(b"session") + b"\x32" + s(b"root") + s(b"ssh-connection") + s(b"publickey") + b"\1" + s(b"ssh-ed25519") + s(key)
print("unbound", ask(c, b"\x0d" + s(key) + s(login) + b"\0\0\0\0"))
for bad in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\5\0\0"):
    c = dial(); c.sendall(bad)
    try: print("bad", "closed" if not c.recv(1) else "answered")
    except OSError as e: print("bad", "closed" if isinstance(e, ConnectionError) else "open")
many = [dial() for _ in range(100)]
print("after", ask(dial(), b"\x0b"))
P
out=$(filtered python3 talk.py)
is "$(sed -n 's/^others //p' <<<"$out")" "5 5 5 5 5 5 5 5" "all other requests fail: adding, removing, locking"
is "$(sed -n 's/^key //p' <<<"$out")" 5 "a key that is not named does not sign"
is "$(sed -n 's/^forged //p' <<<"$out")" 5 "a session that no host has signed binds nothing"
is "$(sed -n 's/^unbound //p' <<<"$out")" 5 "and a login in it is not signed"
is "$(sed -n 's/^bad //p' <<<"$out" | sort | uniq -c | xargs)" "3 closed" "what is no message ends the connection"
is "$(sed -n 's/^after //p' <<<"$out")" 12 "slow ones, and a hundred that say nothing, hold up nobody"
# ---- the user's ssh-agent accepts every session-bind: the host is the agent's word
cat >"$TEST_TMP/lenient.py" <<'P'
import os, socket, struct, sys, threading
def message(c):
    head = c.recv(4, socket.MSG_WAITALL)
    return head + c.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL) if len(head) == 4 else b""
def one(c):
    up = socket.socket(socket.AF_UNIX); up.connect(os.environ["SSH_AUTH_SOCK"])
    while m := message(c):
        if m[4] == 27: c.sendall(b"\0\0\0\1\6")
        else: up.sendall(m); c.sendall(message(up))
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + ".new"); s.listen(64); os.rename(sys.argv[1] + ".new", sys.argv[1])
while True: threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
P
cat >forge.py <<'P'
import base64, os, socket, struct
s = lambda b: struct.pack(">I", len(b)) + b
key, host = (base64.b64decode(open(f).read().split()[n]) for f, n in (("work.pub", 1), ("known", 2)))
def ask(body):
    c.sendall(s(body))
    return c.recv(struct.unpack(">I", c.recv(4, socket.MSG_WAITALL))[0], socket.MSG_WAITALL)[0]
c = socket.socket(socket.AF_UNIX); c.settimeout(120); c.connect(os.environ["SSH_AUTH_SOCK"])
login = s(b"another") + b"\x32" + s(b"root") + s(b"ssh-connection") + s(b"publickey") + b"\1" + s(b"ssh-ed25519") + s(key)
print(ask(b"\x1b" + s(b"session-bind@openssh.com") + s(host) + s(b"another") + s(s(b"ssh-ed25519") + s(b"y" * 64)) + b"\0"),
      ask(b"\x0d" + s(key) + s(login) + b"\0\0\0\0"))
P
python3 "$TEST_TMP/lenient.py" "$TEST_TMP/lenient" &
servers+=($!)
wait_for 20 test -S "$TEST_TMP/lenient"
is "$(SSH_AUTH_SOCK=$TEST_TMP/lenient python3 forge.py)" "6 14" "such an ssh-agent signs for another host than the one that is claimed"
like "$(SSH_AUTH_SOCK=$TEST_TMP/lenient filtered python3 forge.py)" '^5 5' "through the filter it binds nothing, and signs nothing"
ok "and the audit log says why" grep -rqa 'your ssh-agent does not check which server' "$HOME/.local/state/cordon"

# ---- a session driven by another program: a loop runs before its broker is forked
with "[rule \"yes\"]
	allow = sign 127.0.0.1:$good
[ssh]
	agent = work@* 127.0.0.1:$good
[network]
	mode = open"
mkfifo "$TEST_TMP/in"
"$CORDON" serve <>"$TEST_TMP/in" >"$TEST_TMP/out" 2>/dev/null &
cat >"$TEST_TMP/in" <<P
{"type":"session.start","request_id":"1","payload":{"working_directories":[{"path":"$dir"}]}}
{"type":"agent.execute","request_id":"2","payload":{"command":"ssh -F none -o UserKnownHostsFile=$dir/known -o GlobalKnownHostsFile=none -o BatchMode=yes -p $good 127.0.0.1 echo signed-in"}}
P
wait_for 30 grep -q '"request_id":"2","status"' "$TEST_TMP/out"
kill $! && wait $!
like "$(cat "$TEST_TMP/out")" '"data":"signed-in' "cordon serve: the login works there, too"

is "$(ssh-add -l | wc -l)" 2 "the human's agent has its keys still"
done_testing
