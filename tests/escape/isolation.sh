#!/bin/bash
# isolation - debuggers inside, and the host's control sockets: real services, real clients.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
T=$TOOLS/escape
dir=$(new_folder work)
cd "$dir" || exit 1
use_backend
inside() { "$CORDON" run --headless "$@"; }

# ---- 21: tracing works inside, among processes inside, unless --no-debug forbids it
if command -v strace >/dev/null; then
	like "$(inside -- strace -f -e trace=write sh -c 'echo traced' 2>&1)" 'write\(1, "traced' "21: strace works inside"
	like "$(inside -- sh -c 'sleep 300 & timeout 60 strace -p $! 2>&1 | { read -r line; echo "$line"; kill $!; }' 2>&1)" 'attached' "21: and attaches"
	unlike "$(inside --no-debug -- strace -e trace=write echo x 2>&1)" 'write\(' "21: not with --no-debug"
	unlike "$(inside --set sandbox.debug=false -- strace -e trace=write echo x 2>&1)" 'write\(' "21: nor with sandbox.debug=false"
else
	skip "21: strace" "it is not here"
fi
if command -v gdb >/dev/null; then
	like "$(inside -- gdb -nx -batch -ex 'break main' -ex run -ex 'info proc' -ex 'print 6*7' --args /bin/true 2>&1)" '= 42' "21: gdb works inside"
	like "$(inside -- sh -c 'sleep 300 & gdb -nx -batch -p $! -ex "info proc" -ex detach 2>&1; kill $!')" 'process [0-9]+' "21: and attaches"
	out=$(inside --no-debug -- sh -c 'sleep 300 & gdb -nx -batch -p $! -ex "info registers" 2>&1; kill $!')
	like "$out" 'ptrace: Operation not permitted|not permitted' "21: not with --no-debug"
else
	skip "21: gdb" "it is not here"
fi
is "$(inside -- python3 -c 'import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
print(c.syscall(310, os.getpid(), 0, 0, 0, 0, ctypes.c_ulong(0)), ctypes.get_errno())')" "0 0" "21: process_vm_readv inside"
is "$(inside --no-debug -- python3 -c 'import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
print(c.syscall(310, os.getpid(), 0, 0, 0, 0, ctypes.c_ulong(0)), ctypes.get_errno())')" "-1 1" "21: not with --no-debug"
sleep 300 &
victim=$!
disown "$victim"
if command -v strace >/dev/null; then
	unlike "$(inside -- timeout 3 strace -p "$victim" 2>&1)" attached "21: a process of the host cannot be traced"
fi
kill "$victim"

# The keeper makes the agent's connections: a server inside can have a pidfd of its peer, which is the keeper.
cat >peer.py <<'E2'
import ctypes, os, socket, struct
c = ctypes.CDLL(None, use_errno=True)
s = socket.socket(socket.AF_UNIX); s.bind("peer"); s.listen(4)
a = socket.socket(socket.AF_UNIX); a.connect("peer")
try: fd = struct.unpack("i", s.accept()[0].getsockopt(socket.SOL_SOCKET, 77, 4))[0] # SO_PEERPIDFD
except OSError: print("no pidfd"); raise SystemExit
calls = [(f"signal {sig}", (424, fd, sig, 0, 0)) for sig in (0, 9, 19)]
calls += [(f"descriptor {n}", (438, fd, n, 0)) for n in range(40)]
calls += [(f"namespaces {bit}", (308, fd, 1 << bit)) for bit in (17, 25, 26, 27, 28, 29, 30)]
calls += [("memory", (440, fd, ctypes.create_string_buffer(16), 1, 4, 0)), ("release", (448, fd, 0)), ("wait", (247, 3, fd, 0, 4, 0))]
calls += [(f"namespace by ioctl {n}", (16, fd, 0xff00 | n, 0)) for n in range(1, 11)]
got = [what for what, call in calls if c.syscall(*call) >= 0]
print("ALLOWED " + ", ".join(got) if got else "nothing")
os.unlink("peer")
E2
for how in "" --set=sandbox.nesting=true; do
	[ -z "$how" ] || [ "$BACKEND" != landlock ] || continue
	# shellcheck disable=SC2086 # none, or one word each
	like "$(inside ${how/=/ } -- python3 peer.py 2>&1 | tail -n 1)" '^(nothing|no pidfd)$' "21,22: nothing is to be had by a pidfd of the keeper${how:+, with nesting}"
done

# ---- 49: neither the agent's parent nor its tracer can delay the end
for how in sibling traced-by-child; do
	ok "49: it ends: $how" timeout -s KILL 300 "$CORDON" run --headless -- "$T/kernel" $how
	ok "49: and leaves nobody in the folder: $how" wait_for 10 inside -- true
done
mark=$(new_mark)
start_in "$dir" "$T/kernel" traced-by-keeper "$mark" >"$TEST_TMP/up"
wait_for 10 grep -q standing "$TEST_TMP/up"
kill -KILL "$pid" && wait "$pid" 2>/dev/null
ok "49: it dies with cordon: traced by the keeper" wait_for 10 none_marked "$mark"
ok "49: and leaves nobody in the folder" wait_for 10 inside -- true

# ---- 29, 30: the sockets of a desktop and its services, each with a listener on the host
run=$TEST_TMP/run
mkdir -m 700 "$run" "$run/gnupg" "$run/podman" "$run/pulse" "$run/libvirt" "$HOME/.docker" "$HOME/.gnupg" 2>/dev/null
mkdir -p "$HOME/.docker/run" "$HOME/.local/share/containers" && chmod 700 "$HOME/.gnupg"
cat >"$TEST_TMP/listen.py" <<'E2'
import os, select, socket, sys
socks = []
for path in sys.argv[2:]:
    s = socket.socket(socket.AF_UNIX)
    s.bind("\0" + path[1:] if path[0] == "@" else path)
    s.listen(8)
    socks.append(s)
out = open(sys.argv[1], "w", buffering=1)
print("ready", file=out)
while True:
    for s in select.select(socks, [], [])[0]:
        s.accept()
        print("ARRIVED", repr(s.getsockname()), file=out)
E2
sockets=("$run/bus" "$run/wayland-0" "$run/podman/podman.sock" "$run/pulse/native" "$run/pipewire-0" "$run/libvirt/libvirt-sock"
	"$HOME/.docker/run/docker.sock" "$HOME/.gnupg/S.gpg-agent" "$HOME/.gnupg/S.gpg-agent.ssh" "$run/gnupg/S.gpg-agent"
	"$run/docker.sock" "$run/containerd.sock" "$run/systemd-private" "@/tmp/.X11-unix/X$$" "@/tmp/dbus-cordon-$$")
x11=/tmp/.X11-unix/X$$ # where such a directory can be made
mkdir -m 1777 /tmp/.X11-unix 2>/dev/null
[ ! -e $x11 ] && [ -w /tmp/.X11-unix ] && sockets+=("$x11")
python3 "$TEST_TMP/listen.py" "$TEST_TMP/heard" "${sockets[@]}" 2>"$TEST_TMP/listen.err" &
listener=$!
wait_for 20 grep -q ready "$TEST_TMP/heard" || fail "somebody listens" "$(cat "$TEST_TMP/listen.err")"
for s in "${sockets[@]}"; do
	out=$(inside -- timeout 300 "$T/net" unix "$s" 2>&1)
	like "$out" denied "29,30: ${s#"$TEST_TMP"}"
	unlike "$out" ALLOWED "29,30: by no kind of socket"
done
unlike "$(cat "$TEST_TMP/heard")" ARRIVED "29,30: nobody heard anything"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$run/bus"
ok "29,30: while the host's own are heard" wait_for 20 grep -q ARRIVED "$TEST_TMP/heard"
kill "$listener"
wait "$listener" 2>/dev/null
rm -f "$x11"

# The clients themselves, given the socket's path.
as_told() { # NAME REGEX ENV... -- COMMAND... ; the regex is what success would say, on the host it must
	local name=$1 regex=$2 out set=()
	shift 2
	while [ "$1" != -- ]; do
		export "${1?}"
		set+=(--set "sandbox.env=${1%%=*}")
		shift
	done
	shift
	out=$("$@" 2>&1 </dev/null)
	[[ $out =~ $regex ]] || { skip "29,30: $name" "it does not work on the host either: ${out:0:60}" && return; }
	unlike "$(inside "${set[@]}" -- timeout 300 "$@" 2>&1)" "$regex" "29,30: $name"
}
if command -v ssh-agent >/dev/null; then
	eval "$(ssh-agent -a "$run/ssh" 2>/dev/null)" >/dev/null
	as_told "ssh-add" 'no identities' "SSH_AUTH_SOCK=$run/ssh" -- ssh-add -l
	ssh-agent -k >/dev/null 2>&1
fi
if command -v tmux >/dev/null; then
	tmux -S "$run/tmux" -f /dev/null new-session -d 'sleep 1000' 2>/dev/null
	as_told "tmux" '1 windows' "TMUX_TEST=1" -- tmux -S "$run/tmux" ls
	inside -- timeout 300 tmux -S "$run/tmux" new-window ": >$TEST_TMP/pwned" >/dev/null 2>&1
	tmux -S "$run/tmux" kill-server 2>/dev/null
	ok "29,30: no command is typed into another terminal" test ! -e "$TEST_TMP/pwned"
fi
if command -v dbus-daemon >/dev/null && command -v dbus-send >/dev/null; then
	busd=$(dbus-daemon --session --address="unix:path=$run/real-bus" --fork --print-pid 2>/dev/null)
	as_told "dbus-send" 'method return' "DBUS_SESSION_BUS_ADDRESS=unix:path=$run/real-bus" -- \
		dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames
	[ -z "$busd" ] || kill "$busd"
fi
if command -v gpg-agent >/dev/null && command -v gpg-connect-agent >/dev/null; then
	export GNUPGHOME=$run/gpg
	mkdir -m 700 "$GNUPGHOME"
	gpg-agent --homedir "$GNUPGHOME" --daemon >/dev/null 2>&1
	as_told "gpg-connect-agent" 'D [0-9]+' "GNUPGHOME=$GNUPGHOME" -- gpg-connect-agent --no-autostart 'GETINFO pid' /bye
	gpgconf --homedir "$GNUPGHOME" --kill all 2>/dev/null
fi
# None of the usual variables is passed on.
is "$(SSH_AUTH_SOCK=/x DISPLAY=:0 WAYLAND_DISPLAY=w DBUS_SESSION_BUS_ADDRESS=x DOCKER_HOST=x TMUX=x GPG_AGENT_INFO=x XDG_RUNTIME_DIR=$run \
	XAUTHORITY=/x PULSE_SERVER=x CONTAINER_HOST=x inside -- env | grep -cE '^(SSH|DISPLAY|WAYLAND|DBUS|DOCKER|TMUX|GPG|XDG_RUNTIME|XAUTH|PULSE|CONTAINER)')" \
	"$(inside -- env | grep -cE '^(SSH|DISPLAY|WAYLAND|DBUS|DOCKER|TMUX|GPG|XDG_RUNTIME|XAUTH|PULSE|CONTAINER)')" "29,30: nor does the environment"

# ---- 31: descriptors over a socket come only from inside
is "$(inside -- python3 -c 'import array, os, socket
a, b = socket.socketpair()
socket.send_fds(a, [b"x"], [os.open("/etc/hostname", os.O_RDONLY)])
print(len(socket.recv_fds(b, 1, 1)[1]))')" 1 "31: descriptors pass between processes inside"
done_testing
