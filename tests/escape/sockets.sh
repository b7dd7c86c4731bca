#!/bin/bash
# sockets - connecting to sockets of the host: refused, granted by a rule or the user, never swapped.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
out=$(new_folder out)
cd "$dir" || exit 1
use_backend
config=$HOME/.config/cordon/config
cp "$config" "$TEST_TMP/config"
rule() { # LINE... - the settings are the backend and one rule section of these
	cp "$TEST_TMP/config" "$config"
	printf '[rule "test"]\n' >>"$config"
	printf '\t%s\n' "$@" >>"$config"
}

# A server of the host at each path: it greets each client, and notes the path.
cat >"$TEST_TMP/serve.py" <<'E2'
import os, select, socket, sys
socks = {}
for path in sys.argv[2:]:
    os.chdir(os.path.dirname(path))
    s = socket.socket(socket.AF_UNIX)
    s.bind(os.path.basename(path))
    s.listen(64)
    socks[s.fileno()] = (s, path)
log = open(sys.argv[1], "a", buffering=1)
print("ready", file=log)
while True:
    for fd in select.select(list(socks), [], [])[0]:
        s, path = socks[fd]
        c = s.accept()[0]
        print(path, file=log)
        try: c.sendall(b"hello from " + os.path.basename(path).encode() + b"\n")
        except OSError: pass
        c.close()
E2
# The agent's program: connects to each PATH as given; prints the greeting or the errno.
cat >"$dir/call.py" <<'E2'
import errno, socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        print(s.makefile().readline().strip() or "silence")
    except OSError as e:
        print(errno.errorcode[e.errno] if e.errno else e)
E2
serve() { # PATH...
	log=$TEST_TMP/log.$((served = ${served:-0} + 1))
	: >"$log"
	python3 "$TEST_TMP/serve.py" "$log" "$@" &
	wait_for 10 grep -q ready "$log"
}
heard() { grep -cxF -- "$1" "$log"; }
inside() { "$CORDON" run --headless "$@"; }
call() { inside -- python3 call.py "$@" 2>/dev/null | tr '\n' ' '; }

mkdir "$out/d"
serve "$out/a.sock" "$out/b.sock" "$out/d/c.sock" "$dir/host.sock"
ln -s "$out/a.sock" to-a && ln -s "$out/b.sock" to-b

# ---- refused by default
is "$(call "$out/a.sock" to-a ../out/a.sock)" "EACCES EACCES EACCES " "30: a socket of the host outside the folder"
is "$(call host.sock "$dir/host.sock")" "EACCES EACCES " "30: one in the folder that nobody inside has made"
is "$(grep -c sock "$log")" 0 "30: nobody heard of it"
like "$(cordon_in "$dir" audit)" "a program of the host listens there" "30: the audit log says why"
is "$(call "$out/nothing" "$out/d" call.py)" "ENOENT ECONNREFUSED ECONNREFUSED " "what is no socket has the kernel's errors"

# ---- the agent's own
cat >own.py <<'E2'
import os, socket, sys, threading
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen(1)
    def one():
        c = s.accept()[0]; c.sendall(b"mine\n"); c.close()
    t = threading.Thread(target=one); t.start()
    c = socket.socket(socket.AF_UNIX); c.connect(path); print(c.makefile().readline().strip()); t.join()
    os.rename(path, path + ".2")
    c = socket.socket(socket.AF_UNIX); c.setblocking(False); c.connect(path + ".2"); print("moved")
E2
# shellcheck disable=SC2016 # of the shell inside
is "$(inside -- sh -c 'python3 own.py own.sock "$PWD/own2.sock" "${TMPDIR:-/tmp}/own3.sock"' | tr '\n' ' ')" \
	"mine moved mine moved mine moved " "what the agent binds itself is open to it, in the folder and in /tmp"
cordon_in "$dir" undo >/dev/null 2>&1

# ---- datagrams: whom they send to is decided at each message, so there are no sockets for them
cat >datagram.py <<'E2'
import errno, socket
def tell(what, make):
    try: make(); print(what, "made")
    except OSError as e: print(what, errno.errorcode[e.errno])
for kind in ("DGRAM", "RAW", "SEQPACKET"):
    tell(kind, lambda: socket.socket(socket.AF_UNIX, getattr(socket, "SOCK_" + kind)))
    tell(kind + " pair", lambda: socket.socketpair(socket.AF_UNIX, getattr(socket, "SOCK_" + kind)))
E2
rule "allow = unix $out/**"
is "$(inside -- python3 datagram.py 2>/dev/null | tr '\n' ' ')" \
	"DGRAM EACCES DGRAM pair made RAW EACCES RAW pair made SEQPACKET made SEQPACKET pair made " "30: datagram sockets but pairs are refused, whatever is granted"
like "$(cordon_in "$dir" audit)" "whom they send to cannot be decided on" "30: the audit log says why"

# ---- rules
rule "allow = unix $out/**" "deny = unix $out/b.sock"
is "$(call "$out/a.sock" to-a "$out/d/c.sock" ../out/a.sock)" \
	"hello from a.sock hello from a.sock hello from c.sock hello from a.sock " "a rule grants, also by way of a link"
is "$(call "$out/b.sock" to-b host.sock)" "EACCES EACCES EACCES " "30: a rule in it denies"
rule 'allow = unix $FOLDER/host.sock'
is "$(call host.sock)" "hello from host.sock " "a rule grants one in the folder"
rule "allow = read,write,exec $out/**"
is "$(call "$out/a.sock")" "EACCES " "30: a rule about files is none about sockets"
rule "hide = unix $out/a.sock"
is "$(call "$out/a.sock")" "ENOENT " "30: a hidden one is not there"
chmod 000 "$out/a.sock"
rule "allow = unix $out/**"
if [ "$(id -u)" = 0 ] && [ "$BACKEND" != none ]; then
	chown 12345 "$out/a.sock"
fi
is "$(call "$out/a.sock")" "EACCES " "30: the agent's own rights count, not the keeper's"
[ "$(id -u)" != 0 ] || chown 0 "$out/a.sock"
chmod 755 "$out/a.sock"

# ---- never: cordon's own sockets and state, whatever the rules say
rule "allow = unix /**" "allow = unix **/cordon/**"
mkdir -m 700 "$TEST_TMP/rt" && export XDG_RUNTIME_DIR=$TEST_TMP/rt
mkdir -m 700 "$TEST_TMP/rt/cordon" "$TEST_TMP/rt/sub" && mkdir -p "$HOME/.local/state/cordon/run"
serve "$TEST_TMP/rt/cordon/x.sock" "$HOME/.local/state/cordon/run/y.sock" "$HOME/.config/cordon/z.sock" "$TEST_TMP/rt/sub/other"
ln -s "$TEST_TMP/rt/cordon/x.sock" to-x
unlike "$(call "$TEST_TMP/rt/cordon/x.sock" to-x "$HOME/.local/state/cordon/run/y.sock" "$HOME/.config/cordon/z.sock")" hello \
	"42: cordon's own sockets and folders, with a rule for everything"
is "$(grep -c sock "$log")" 0 "42: nobody heard of it"
is "$(call "$TEST_TMP/rt/sub/other")" "hello from other " "the same rule grants what lies beside them"
unset XDG_RUNTIME_DIR
rm -r "$TEST_TMP/rt" "$HOME/.local/state/cordon/run"

# ---- what a rule grants shows from the start, where nothing else of its place does
mkdir -m 700 "$HOME/.ssh" && echo "SECRET key" >"$HOME/.ssh/id_ed25519"
tmp=$(mktemp -d /tmp/cordon-sockets.XXXXXX)
trap 'tmux_ kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$tmp/deep" && echo "SECRET" >"$tmp/file"
serve "$HOME/.ssh/agent.sock" "$HOME/.ssh/other.sock" "$tmp/x.sock" "$tmp/deep/y.sock" "$HOME/top.sock"
for mode in static dynamic; do
	with() { inside --mode $mode "$@" 2>/dev/null; }
	rule "allow = unix ~/.ssh/agent.sock" "allow = unix $tmp/x.sock" "allow = unix ~/top.sock"
	is "$(with -- python3 call.py "$HOME/.ssh/agent.sock" "$tmp/x.sock" "$HOME/top.sock" | tr '\n' ' ')" \
		"hello from agent.sock hello from x.sock hello from top.sock " "$mode: sockets in hidden and private places that a rule grants"
	is "$(with -- stat -c %F "$HOME/.ssh/agent.sock" "$tmp/x.sock" "$HOME/top.sock" | sort -u)" socket "$mode: they show as what they are"
	unlike "$(with -- cat "$HOME/.ssh/id_ed25519" "$tmp/file" 2>&1)" SECRET "30: $mode: what lies beside them does not open"
	unlike "$(with -- python3 call.py "$HOME/.ssh/other.sock" "$tmp/deep/y.sock")" hello "30: $mode: nor do other sockets there"
	[ "$BACKEND" = landlock ] ||
		unlike "$(with -- sh -c 'ls -A ~/.ssh "$1"' sh "$tmp")" 'id_|other|deep|file' "30: $mode: nor show"
	rule "allow = unix /tmp/cordon-sockets.*/*.sock" "allow = unix $tmp/deep/**"
	is "$(with -- python3 call.py "$tmp/x.sock" "$tmp/deep/y.sock" | tr '\n' ' ')" \
		"hello from x.sock hello from y.sock " "$mode: wildcards find what is there"
done
cp "$TEST_TMP/config" "$config"
is "$(inside --allow-unix "$tmp/x.sock" --allow-unix "$tmp/deep/../deep/y.sock" -- python3 call.py "$tmp/x.sock" "$tmp/deep/y.sock" | tr '\n' ' ')" \
	"hello from x.sock hello from y.sock " "--allow-unix grants for a run"
like "$(inside --allow-unix "$tmp/file" -- true 2>&1)" "^cordon: --allow-unix .*not a socket" "and takes sockets only"
is "$(find "$tmp" "$HOME/.ssh" "$HOME/top.sock" | sed "s|$tmp|T|;s|$HOME|H|" | LC_ALL=C sort | tr '\n' ' ')" \
	"H/.ssh H/.ssh/agent.sock H/.ssh/id_ed25519 H/.ssh/other.sock H/top.sock T T/deep T/deep/y.sock T/file T/x.sock " \
	"nothing was left on the host"

# ---- an agent for keys, the real one
unset SSH_AUTH_SOCK SSH_AGENT_PID
command -v ssh-agent >/dev/null && eval "$(ssh-agent -a "$tmp/agent" 2>/dev/null)" >/dev/null
ssh-keygen -q -t ed25519 -N '' -C cordon-key -f "$TEST_TMP/key" 2>/dev/null && ssh-add -q "$TEST_TMP/key" 2>/dev/null
known=$(ssh-add -l 2>&1) # a user without an account has an agent without keys, or none
if [[ $known =~ cordon-key|'no identities' ]]; then
	isnt "$(inside -- ssh-add -l 2>&1)" "$known" "30: without a rule there is no agent inside"
	is "$(inside -- sh -c 'echo "none $SSH_AUTH_SOCK"')" "none " "30: and no variable"
	like "$("$CORDON" doctor --json | grep '"socket"')" "$tmp/agent.*it signs with your keys" "doctor names it"
	rule 'allow = unix $SSH_AUTH_SOCK' 'match = unix $SSH_AUTH_SOCK'
	ok "a rule may speak of the variable" "$CORDON" policy check "$config"
	is "$(inside -- ssh-add -l 2>/dev/null)" "$known" "with one it is there, and so is its variable"
	like "$(inside -- true 2>&1)" "^cordon: a rule gives away the ssh-agent: it signs with your keys.*$tmp/agent" \
		"and it is said what that gives away"
	ln -s "$tmp/agent" "$HOME/agent-link"
	is "$(SSH_AUTH_SOCK=$HOME/agent-link inside -- sh -c 'echo "$SSH_AUTH_SOCK"' 2>/dev/null)" "$tmp/agent" \
		"a link in the variable: the place that shows"
	is "$(env -u SSH_AUTH_SOCK "$CORDON" run --headless -- sh -c 'echo "none $SSH_AUTH_SOCK"' 2>&1)" "none " \
		"where the variable is not set the rule is about nothing"
	rule 'ask = unix $SSH_AUTH_SOCK'
	is "$(inside -- sh -c 'echo "none $SSH_AUTH_SOCK"' 2>&1)" "none " "30: asking is not granting: no variable"
	like "$(cordon_in "$dir" why unix "$tmp/agent")" "the ssh-agent: it signs with your keys" "why says what it gives away"
else
	skip "30: an ssh-agent" "there is none that works: ${known:0:60}"
fi
[ -z "${SSH_AGENT_PID:-}" ] || ssh-agent -k >/dev/null
unset SSH_AUTH_SOCK SSH_AGENT_PID

# ---- races: a link that is flipped, an address that is rewritten
rule "allow = unix $out/a.sock"
serve "$out/d/good" "$out/d/evil"
rule "allow = unix $out/d/good"
cat >race.py <<'E2'
import ctypes, os, socket, struct, sys, threading
good, evil, how = sys.argv[1:4]
libc = ctypes.CDLL(None, use_errno=True)
end = False
os.symlink(good, "l1"); os.symlink(evil, "l2")
def flip():
    while not end: libc.renameat2(-100, b"l1", -100, b"l2", 2)
def pack(path): return struct.pack("H108s", socket.AF_UNIX, path.encode())
buf = ctypes.create_string_buffer(pack(good), 110)
def rewrite():
    a, b = pack(good), pack(evil)
    while not end:
        ctypes.memmove(buf, a, 110); ctypes.memmove(buf, b, 110)
if how == "link": ctypes.memmove(buf, pack("l1"), 110)
t = threading.Thread(target=flip if how == "link" else rewrite); t.start()
done = 0
for i in range(int(sys.argv[4])):
    s = socket.socket(socket.AF_UNIX)
    if libc.connect(s.fileno(), buf, 110) == 0: done += 1
    s.close()
end = True; t.join()
os.unlink("l1"); os.unlink("l2")
print("connected" if done else "never")
E2
is "$(inside -- python3 race.py "$out/d/good" "$out/d/evil" link 3000)" connected "2: a link is flipped between two sockets"
is "$(inside -- python3 race.py "$out/d/good" "$out/d/evil" memory 3000)" connected "3: the address is rewritten all the time"
is "$(heard "$out/d/evil")" 0 "2,3: the one that is not granted never heard of it"

# ---- asked: the call is held until a human answers
cp "$TEST_TMP/config" "$config"
serve "$out/e.sock" "$out/f.sock"
ln -s "$out/e.sock" held
cat >hold.py <<'E2'
import ctypes, errno, os, socket, struct, sys, threading
# PATH [NEW]: connect to PATH; once it is held, the address is rewritten to NEW, and the link `held` too.
libc = ctypes.CDLL(None, use_errno=True)
def pack(path): return struct.pack("H108s", socket.AF_UNIX, path.encode())
buf = ctypes.create_string_buffer(pack(sys.argv[1]), 110)
s = socket.socket(socket.AF_UNIX)
flags = None
def swap():
    open("is-held", "w").close() if len(sys.argv) > 2 else None
    while not os.path.exists("swap-now"): pass
    ctypes.memmove(buf, pack(sys.argv[2]), 110)
    os.symlink(sys.argv[2], "held.2"); os.rename("held.2", "held")
    open("swapped", "w").close()
if len(sys.argv) > 2: threading.Thread(target=swap).start()
r = libc.connect(s.fileno(), buf, 110)
print("heard:", s.makefile().readline().strip() if r == 0 else errno.errorcode[ctypes.get_errno()])
E2
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
waits() { "$CORDON" pending | grep -q "$1"; }
id_of() { "$CORDON" pending --json | python3 -c 'import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["path"].endswith(sys.argv[1]):
        print(m["session"].rsplit("-", 1)[1] + "-" + str(m["id"]))' "$1"; }
start 150 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
type_text "python3 hold.py $out/e.sock" && keys Enter
ok "a connect is held" wait_for 20 waits out/e.sock
is "$(heard "$out/e.sock")" 0 "nothing has reached the server"
like "$("$CORDON" pending --json)" '"kind":"unix"' "and asked as what it is"
keys C-] a
sees 'wants to +connect' "the dialog says what it wants"
sees 'A program of the host listens there' "and why that is asked"
keys Escape
ok "approve lets it go on" "$CORDON" approve "$(id_of e.sock)"
sees 'heard: hello from e.sock' "it is connected to that server"
keys C-] t
type_text 'clear; python3 hold.py '"$out/e.sock" && keys Enter
ok "the next one is asked again" wait_for 20 waits out/e.sock
ok "deny" "$CORDON" deny "$(id_of e.sock)"
sees 'heard: EACCES' "30: denied"
type_text "clear; python3 hold.py held $out/f.sock" && keys Enter
ok "one by way of a link is held, under the name of what it leads to" wait_for 20 waits out/e.sock
touch swap-now && wait_for 10 test -e swapped
before=$(heard "$out/e.sock")
ok "approve" "$CORDON" approve "$(id_of e.sock)"
sees 'heard: hello from e.sock' "2,3: link and address are swapped while it is held: it reaches what was shown"
is "$(heard "$out/e.sock") $(heard "$out/f.sock")" "$((before + 1)) 0" "2,3: and the other one hears nothing"
type_text "clear; python3 hold.py $out/f.sock" && keys Enter
ok "another" wait_for 20 waits out/f.sock
ok "the whole directory, for the session" "$CORDON" approve "$(id_of f.sock)" --scope session --extent dir
sees 'heard: hello from f.sock' "is connected"
type_text "clear; python3 call.py $out/e.sock $out/f.sock $out/d/good; echo over" && keys Enter
ok "what lies deeper is asked" wait_for 20 waits d/good
ok "deny it" "$CORDON" deny "$(id_of d/good)"
sees '^over' "the rest was not"
is "$(screen | grep -c '^hello from [ef].sock')" 2 "the directory's sockets are connected without a question"
mkdir "$out/docker" && serve "$out/docker/docker.sock"
type_text "clear; python3 call.py $out/docker/docker.sock; echo over" && keys Enter
ok "one that gives much away is asked" wait_for 20 waits docker.sock
keys C-] a
sees 'It leads to what acts outside the sandbox' "30: the dialog says so"
sees '[Tt]he Docker daemon: it makes you root' "30: and what it is"
keys Escape
ok "Esc closes it, and is for nobody else" wait_for 20 screen_lacks '╔═'
ok "deny it too" "$CORDON" deny "$(id_of docker.sock)"
keys C-] t
sees '^over' "it goes on"
type_text 'exit' && keys Enter
sees 'ended with' "the agent has ended"
keys C-] q
wait_for 10 test -s "$TEST_TMP/status"

rule "allow = unix $out/docker/docker.sock"
export DOCKER_HOST=unix://$out/docker/docker.sock
start 150 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees "a rule gives away the Docker daemon" "30: what a rule gives away stands in the console"
type_text 'clear; python3 call.py "${DOCKER_HOST#unix://}"' && keys Enter
sees 'hello from docker.sock' "and it is open"
type_text 'exit' && keys Enter
sees 'ended with' "that agent has ended"
keys C-] q
wait_for 10 test -s "$TEST_TMP/status"

# ---- 31: what a granted server sends, the agent has: that is what granting means. Nothing else has it.
cat >"$TEST_TMP/give.py" <<'E2'
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(4)
open(sys.argv[3], "w").close()
while True:
    c = s.accept()[0]
    socket.send_fds(c, [b"x"], [os.open(sys.argv[2], os.O_RDONLY)])
    c.close()
E2
cat >take.py <<'E2'
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
fd = socket.recv_fds(s, 1, 4)[1][0]
print(os.read(fd, 100).decode().strip())
try: os.open(f"/proc/self/fd/{fd}", os.O_WRONLY); print("writable")
except OSError: print("not writable")
E2
echo "given by its server" >"$HOME/.ssh/given"
(cd "$out" && exec python3 "$TEST_TMP/give.py" give.sock "$HOME/.ssh/given" "$TEST_TMP/gives") &
wait_for 10 test -e "$TEST_TMP/gives"
unlike "$(inside -- python3 take.py "$out/give.sock" 2>&1)" "given by its server" "31: no descriptor comes from a socket that is not granted"
rule "allow = unix $out/give.sock"
is "$(inside -- python3 take.py "$out/give.sock" 2>/dev/null | tr '\n' ' ')" "given by its server not writable " \
	"31: one comes from a granted one, and opens no more than it is"
is "$(cat "$HOME/.ssh/given")" "given by its server" "31: the file is as it was"
done_testing
