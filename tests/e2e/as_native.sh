#!/bin/bash
# as_native - one program, natively and inside: releases, addresses, errors must be the same.
# SPDX-License-Identifier: MIT
# root and user
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
mkdir -p "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/program" <<'EOF'
import ctypes, errno, fcntl, os, socket, stat, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
N = 100

def said(name, what):
    print(f"{name}: {what}", flush=True)

def errno_of(call, *args):
    try:
        call(*args)
        return "0"
    except OSError as e:
        return errno.errorcode[e.errno]

def raw(name, *args):
    return "0" if getattr(libc, name)(*args) >= 0 else errno.errorcode[ctypes.get_errno()]

# ---- what close() releases at once
def locks(name, flags, change, path="file"):
    """A lock that a descriptor holds is free when that descriptor has been closed."""
    other, late = os.open(path, os.O_RDONLY), 0
    for _ in range(N):
        fd = os.open(path, flags)
        fcntl.flock(fd, fcntl.LOCK_EX)
        change(fd)
        os.close(fd)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(other, fcntl.LOCK_UN)
        except BlockingIOError:
            late += 1
    os.close(other)
    if name:
        said(f"{name}: locks that outlived close()", late)
    return late

def releases():
    open("file", "w").close()
    locks("open", os.O_RDWR, lambda fd: None)
    locks("O_TRUNC", os.O_RDWR | os.O_TRUNC, lambda fd: None)
    locks("fchmod", os.O_RDONLY, lambda fd: os.fchmod(fd, 0o644))
    locks("fchown", os.O_RDONLY, lambda fd: os.fchown(fd, os.getuid(), os.getgid()))
    locks("futimens", os.O_RDONLY, lambda fd: os.utime(fd))
    try:
        locks("fsetxattr", os.O_RDONLY, lambda fd: os.setxattr(fd, "user.x", b"y"))
    except OSError as e:
        said("fsetxattr", e.errno)
    os.mkfifo("fifo")
    reader, wrong = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK), 0
    for _ in range(N):
        os.close(os.open("fifo", os.O_WRONLY))
        try:
            wrong += os.read(reader, 1) != b""
        except BlockingIOError:
            wrong += 1
    said("a FIFO that has no end yet", wrong)
    queue, late = libc.inotify_init1(os.O_NONBLOCK), 0
    libc.inotify_add_watch(queue, b".", 8)  # IN_CLOSE_WRITE
    for _ in range(N):
        os.close(os.open("file", os.O_WRONLY))
        try:
            os.read(queue, 4096)
        except BlockingIOError:
            late += 1
    said("IN_CLOSE_WRITE that came late", late)

def threads():
    """The same where several threads call by turns."""
    late = [None, None]
    def work(i):
        late[i] = locks(None, os.O_RDWR | os.O_CREAT, lambda fd: None, f"t{i}")
    for i in range(2):
        open(f"t{i}", "w").close()
    all = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in all]
    [t.join() for t in all]
    said("threads: locks that outlived close()", late)

# ---- addresses
def addresses():
    os.makedirs("sub/deep")
    long = "l" * 100
    for path in "rel.sock", "./dot.sock", "sub/s.sock", "sub/../up.sock", os.path.abspath("abs.sock"), \
            os.path.abspath("sub") + "//deep/twice.sock", long, "x" * 108:
        path = path if len(path) <= 108 else "short"
        try:
            with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
                server.bind(path)
                server.listen()
                client.connect(path)
                peer, who = server.accept()
                said("bound to", [server.getsockname(), client.getpeername(), peer.getsockname(), who])
        except OSError as e:
            said(f"bound to {path}", errno.errorcode[e.errno])
    os.chdir("sub/deep")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("../from-deep")
        said("from a subdirectory", server.getsockname())
    os.chdir("../..")
    said("sockets", sorted(os.path.join(d, f) for d, _, fs in os.walk(".") for f in fs
                           if stat.S_ISSOCK(os.lstat(os.path.join(d, f)).st_mode)))

def connections():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        to = server.getsockname()
        with socket.socket() as s:
            said("connect", [errno_of(s.connect, to), errno_of(s.connect, to)])
            said("and it is connected", s.getpeername() == to)
    held = socket.socket()  # that nobody else listens there, either
    held.bind(("127.0.0.1", 0))
    to = held.getsockname()
    with socket.socket() as s:
        said("nobody listens", [errno_of(s.connect, to), errno_of(s.connect, to)])
    with socket.socket() as s:
        s.setblocking(False)
        errno_of(s.connect, to)
        s.setblocking(True)
        said("begun without waiting", errno_of(s.connect, to) in ("ECONNREFUSED", "ECONNABORTED"))

# ---- errors
def errors():
    open("there", "w").close()
    long = b"n" * 256
    for kind in stat.S_IFCHR, stat.S_IFBLK:
        said("mknod", [raw("mknod", p, kind | 0o600, 0x103)
                       for p in (b"there", b"no/x", b"there/x", long)])
    for call in "unlink", "rmdir":
        said(call, [raw(call, p) for p in (b"/usr/none", b"/usr/none/x", b"/usr/" + long, b"/none")])
    said("rename", [raw("rename", b"/usr/none", b"/usr/other")])

def ids():
    me = os.getuid()
    open("there", "w").close()
    if me == 0:
        return said("ids", "root")
    said("setuid", [raw("setuid", me + 1), raw("setgid", me + 1), raw("setuid", 0), raw("setresuid", -1, me, me)])
    said("setgroups", raw("setgroups", 0, None))
    said("chown", [raw("chown", b"there", me + 1, -1), raw("chown", b"there", -1, me + 1), raw("chown", b"there", me, -1)])

def pairs():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.send(b"one"), a.send(b"three")
    said("a pair", [b.recv(100), b.recv(100), a.family == b.family])
    b.send(b"back")
    said("back", a.recv(2))
    said("waits", errno_of(a.recv, 1, socket.MSG_DONTWAIT))
    said("inherited", [os.get_inheritable(a.fileno())])

for name in sys.argv[1:]:
    globals()[name]()
EOF

# both NAME... - the parts of the program, natively and inside.
both() {
	local want got native inside
	native=$(new_folder "native/$1") inside=$(new_folder "inside/$1")
	# The kernel says the same of paths of the same length.
	want=$(cd "$native" && python3 "$TEST_TMP/bin/program" "$@" 2>&1 | sed "s:$native:WORK:g")
	got=$(in_folder "$inside" python3 "$TEST_TMP/bin/program" "$@" 2>&1 | sed "s:$inside:WORK:g")
	isnt "$want" "" "$*: it runs natively"
	same "$got" "$want" "$*: the same inside"
}
both releases
both threads
both addresses
both connections
both errors
both ids
both pairs
done_testing
