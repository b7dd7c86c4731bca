#!/bin/bash
# threads - a thread with its own table of descriptors, umask or directory: natively and inside.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3

cat >"$TEST_TMP/threads.py" <<'E2'
import ctypes, errno, os, socket, stat, threading
libc = ctypes.CDLL(None, use_errno=True)
FILES, FS = 0x400, 0x200
def tell(what, call):
    try: got = call()
    except OSError as e: got = errno.errorcode[e.errno]
    print(what, "ok" if got is None else got)
def tree():
    for top, dirs, files in sorted(os.walk(".")):
        for name in sorted(dirs + files):
            st = os.lstat(os.path.join(top, name))
            print(os.path.join(top, name), stat.filemode(st.st_mode), int(st.st_mtime) if st.st_mtime < 1e9 else "")
def make(name, dirfd): os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666, dir_fd=dirfd))
def greet(path):
    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen(4); return s
def open_write(path): os.close(os.open(path, os.O_WRONLY))
os.umask(0o077)
for d in ("a", "b", "c"): os.mkdir(d)
for f in ("fa", "fb"): make(f, None)
one, two = greet("s1"), greet("s2")
n = os.open("a", os.O_RDONLY)
f = os.open("fa", os.O_RDONLY)
s = socket.socket(socket.AF_UNIX)
def own():
    if libc.unshare(FILES | FS): raise OSError(ctypes.get_errno(), "unshare")
    os.dup2(os.open("b", os.O_RDONLY), n)
    os.dup2(os.open("fb", os.O_RDONLY), f)
    other = socket.socket(socket.AF_UNIX)
    other.connect("s2")
    os.dup2(other.fileno(), s.fileno())
    mine = os.open("c", os.O_RDONLY)
    os.umask(0o002)
    tell("thread: make in n", lambda: make("by-thread", n))
    tell("thread: chmod f", lambda: os.fchmod(f, 0o751))
    tell("thread: times of f", lambda: os.utime(f, (5, 5)))
    tell("thread: connect s again", lambda: s.connect("s1"))
    tell("thread: write f by thread-self", lambda: open_write(f"/proc/thread-self/fd/{f}"))
    tell("thread: chmod f by self", lambda: os.chmod(f"/proc/self/fd/{f}", 0o711))
    os.chdir("c")
    tell("thread: make here", lambda: make("here", None))
    tell("thread: make by a descriptor of its own", lambda: make("mine", mine))
    tell("thread: statfs of its own", lambda: os.fstatvfs(mine).f_bsize)
    os.close(n)
    tell("thread: make in what it closed", lambda: make("closed", n))
    done.append(mine)
done = []
t = threading.Thread(target=own); t.start(); t.join()
tell("leader: make in n", lambda: make("by-leader", n))
tell("leader: chmod f", lambda: os.fchmod(f, 0o640))
tell("leader: make in the thread's", lambda: make("not", done[0]) if done[0] != n else None)
tell("leader: connect s", lambda: s.connect("s1"))
# A thread that shares everything, and a later one that may have its number.
for i in range(3):
    t = threading.Thread(target=lambda: (make(f"shared{i}", n), os.fchmod(f, 0o640 + i))); t.start(); t.join()
tree()
E2
native=$(new_folder native) inside=$(new_folder inside)
(cd "$native" && python3 "$TEST_TMP/threads.py") >"$TEST_TMP/out.native" 2>&1
cp "$TEST_TMP/threads.py" "$inside/.threads.py"
in_folder "$inside" python3 .threads.py 2>&1 | grep -v '^\./\.threads' >"$TEST_TMP/out.inside"
like "$(cat "$TEST_TMP/out.native")" "shared2.*by-thread" "natively it does what is compared here"
same "$(cat "$TEST_TMP/out.inside")" "$(cat "$TEST_TMP/out.native")" "the same results, the same tree"

# Threads begin and end without a message to the keeper.
if [ "$(id -u)" = 0 ]; then # a user may not look
	cat >"$inside/.many.py" <<'E2'
import os, sys, threading, time
f = os.open("fa", os.O_RDONLY)
for i in range(500):
    t = threading.Thread(target=os.fchmod, args=(f, 0o600 + i % 64)); t.start(); t.join()
open("many", "w").close()
while not os.path.exists("end"): time.sleep(0.02)
E2
	start_in "$inside" python3 .many.py
	ok "500 threads" wait_for 60 test -e "$inside/many"
	n=$(find "/proc/$(pgrep -P "$pid" -x cordon-keeper)/fd" -lname '*pidfd*' | wc -l)
	ok "the keeper holds $n of them" test "$n" -gt 2 -a "$n" -lt 100
	touch "$inside/end" && wait "$pid"
fi
done_testing
