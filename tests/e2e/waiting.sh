#!/bin/bash
# waiting - calls that wait for another process, with signals and timeouts: natively and inside.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3

cat >"$TEST_TMP/waiting.py" <<'E2'
import ctypes, errno, os, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int)
RESTART = 0x10000000
class Action(ctypes.Structure): # struct sigaction of the C library on 64 bits
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]
runs, keep, then = 0, [], None
def on_alarm(sig):
    global runs, then
    runs += 1
    if then is not None and runs >= 2: then()
def handle(flags):
    global runs
    runs = 0
    h = HANDLER(on_alarm); keep.append(h)
    libc.sigaction(signal.SIGALRM, ctypes.byref(Action(ctypes.cast(h, ctypes.c_void_p), (ctypes.c_ulong * 16)(), flags, None)), None)
def alarms(on): signal.setitimer(signal.ITIMER_REAL, 0.1 if on else 0, 0.1 if on else 0)
def name(r): return "ok" if r >= 0 else errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno())
def unix(path): return struct.pack("H108s", socket.AF_UNIX, path.encode()), 110
def inet(s):
    ip, port = s.getsockname()
    return struct.pack("!2s", struct.pack("H", socket.AF_INET)) + struct.pack("!H4s8x", port, socket.inet_aton(ip)), 16
def full(family, kind, where):
    """A server whose queue is full."""
    s = socket.socket(family, kind)
    s.bind(where); s.listen(0)
    for i in range(8):
        c = socket.socket(family, kind); c.setblocking(False); keep.append(c)
        if c.connect_ex(where if family == socket.AF_UNIX else s.getsockname()) not in (0, errno.EINPROGRESS): break
    return s
def accept(s):
    """Room in the queue: all who wait there are let in."""
    s.setblocking(False)
    try:
        while True: keep.append(s.accept()[0])
    except BlockingIOError: pass
def connect(s, address): return name(libc.connect(s.fileno(), address[0], address[1]))
def flags(s): return "blocking" if s.getblocking() and not os.get_blocking(s.fileno()) == False else "not blocking"

def try_all(what, make, address):
    global then
    then = None
    handle(0); alarms(True)
    s = make()
    print(what, "a handler that does not restart:", connect(s, address), runs > 0, flags(s))
    alarms(False)
    s = make()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 150000))
    print(what, "SO_SNDTIMEO:", connect(s, address), flags(s))
    handle(RESTART); alarms(True)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 3, 0))
    s2 = make(); s2.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))
    print(what, "a timeout and a handler that restarts:", connect(s2, address), runs > 0, flags(s2))
    alarms(False)
    # A signal that any thread may take; the other threads do not.
    handle(0)
    end = threading.Event()
    def idle():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}); end.wait()
    t = threading.Thread(target=idle); t.start()
    alarms(True)
    s = make()
    print(what, "one of two threads:", connect(s, address), runs > 0)
    alarms(False); end.set(); t.join()

def restarts(what, server, make, address):
    global then
    then = lambda: accept(server)
    handle(RESTART); alarms(True)
    s = make()
    print(what, "a handler that restarts, and makes room:", connect(s, address), runs >= 2, flags(s))
    alarms(False)
    then = None

which = sys.argv[1]
if which == "unix":
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        path = sys.argv[2] + str(int(kind))
        server = full(socket.AF_UNIX, kind, path)
        make = lambda: socket.socket(socket.AF_UNIX, kind)
        try_all(f"unix {int(kind)}", make, unix(path))
        restarts(f"unix {int(kind)}", server, make, unix(path))
if which == "tcp":
    server = full(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    make = lambda: socket.socket(socket.AF_INET)
    try_all("tcp", make, inet(server))
    # The first connection is in progress: the second call waits for it.
    s = make(); s.setblocking(False)
    print("tcp not blocking:", connect(s, inet(server)), connect(s, inet(server)))
    s.setblocking(True)
    handle(0); alarms(True)
    print("tcp under way:", connect(s, inet(server)), runs > 0, flags(s))
    alarms(False)
    then = lambda: accept(server)
    handle(RESTART); alarms(True)
    print("tcp under way, and there is room:", connect(s, inet(server)), flags(s))
    alarms(False)
if which == "fifo":
    os.mkfifo("pipe")
    handle(0); alarms(True)
    print("fifo, a handler that does not restart:", name(libc.open(b"pipe", os.O_WRONLY)), runs > 0)
    then = lambda: keep.append(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK))
    handle(RESTART); alarms(True)
    print("fifo, one that restarts, and opens it:", name(libc.open(b"pipe", os.O_WRONLY)), runs >= 2)
    alarms(False)
if which == "stop":
    os.mkfifo("pipe")
    child = os.fork()
    if child == 0:
        fd = os.open("pipe", os.O_WRONLY)
        os.write(fd, b"went on\n")
        os._exit(0)
    time.sleep(0.2) # where it does not wait yet, the result is the same
    os.kill(child, signal.SIGSTOP)
    print("stopped:", os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]))
    os.kill(child, signal.SIGCONT)
    print("then:", open("pipe").read().strip(), os.waitpid(child, 0)[1])
if which == "killed":
    os.mkfifo("pipe")
    path = "queue"
    keep.append(full(socket.AF_UNIX, socket.SOCK_STREAM, path))
    server = full(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    def wait(n):
        if n % 3 == 0: connect(socket.socket(socket.AF_UNIX), unix(path))
        if n % 3 == 1: connect(socket.socket(socket.AF_INET), inet(server))
        if n % 3 == 2: libc.open(b"pipe", os.O_WRONLY)
        os._exit(1)
    def step(word):
        print(word, flush=True); sys.stdin.readline()
    step("ready")
    children = []
    for n in range(30):
        children.append(os.fork())
        if children[-1] == 0: wait(n)
    step("started")
    for child in children: os.kill(child, signal.SIGKILL)
    for child in children: os.waitpid(child, 0)
    step("killed")
E2
for which in unix tcp fifo stop; do
	native=$(new_folder "n$which") inside=$(new_folder "i$which")
	(cd "$native" && exec python3 "$TEST_TMP/waiting.py" "$which" sock) >"$TEST_TMP/native" 2>&1
	cp "$TEST_TMP/waiting.py" "$inside/"
	in_folder "$inside" timeout 300 python3 waiting.py "$which" sock >"$TEST_TMP/inside" 2>&1
	note "$(tr '\n' ';' <"$TEST_TMP/native")"
	same "$(cat "$TEST_TMP/inside")" "$(cat "$TEST_TMP/native")" "$which: as the kernel does it"
done

# Killed while they wait: the keeper releases all that it held for them.
if [ "$(id -u)" = 0 ]; then # a user may not look
	dir=$(new_folder killed)
	cp "$TEST_TMP/waiting.py" "$dir/"
	mkfifo "$TEST_TMP/in"
	(cd "$dir" && exec "$CORDON" run --headless -- python3 waiting.py killed) <"$TEST_TMP/in" >"$TEST_TMP/out" 2>&1 &
	pid=$!
	exec 3>"$TEST_TMP/in"
	wait_for 20 grep -q ready "$TEST_TMP/out"
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	held() { # sockets of other processes, FIFOs: what a call that waits is waited for with
		find "/proc/$keeper/fd" -lname 'socket:*' -o -lname '*/pipe' -o -lname '*/queue' 2>/dev/null | wc -l
	}
	more() { [ "$(held)" -ge $((before + 40)) ]; }
	as_before() { [ "$(held)" = "$before" ]; }
	before=$(held)
	echo >&3
	ok "calls wait" wait_for 20 more
	echo >&3
	wait_for 20 grep -q killed "$TEST_TMP/out"
	ok "nothing is left of who was killed" wait_for 20 as_before
	echo >&3
	exec 3>&-
	wait "$pid"
	is "$?" 0 "the session ends well"
fi
done_testing
