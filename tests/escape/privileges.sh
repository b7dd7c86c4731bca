#!/bin/bash
# privileges - a program of the host with more rights than its user: set-id bits and file capabilities.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
# root and user: set-id bits and capabilities are other ones
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3 getfattr
use_backend
mkdir -p "$TEST_TMP/bin"
dir=$(new_folder work)
cd "$dir" || exit 1

# Each way to create a file with set-id bits, or to add them; and all ways to set a capability.
cat >"$TEST_TMP/bin/give.py" <<'P'
import ctypes, os, shutil, struct
c = ctypes.CDLL(None, use_errno=True)
M = 0o6755
def tried(how, act, *args):
    try: act(*args); print(how, "done")
    except OSError as e: print(how, e.strerror)
def by_number(nr, *args):
    if c.syscall(nr, *args) < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def linked():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, M); os.fchmod(fd, M)
    os.link("/proc/self/fd/%d" % fd, "linked", src_dir_fd=0, follow_symlinks=True)
def held():
    fd = os.open("held", os.O_CREAT | os.O_RDWR, M); os.fchmod(fd, M); os.chmod("/proc/self/fd/%d" % fd, M); os.fchmod(fd, M)
def given(): # root's, by way of another owner
    os.close(os.open("given", os.O_CREAT | os.O_WRONLY)); os.chown("given", 1, 1); os.chmod("given", M)
os.umask(0)
tried("creat", lambda: by_number(85, b"made", M))
tried("openat2", lambda: by_number(437, -100, b"made2", struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, M, 0), 24))
tried("mknod", os.mknod, "node", 0o100000 | M)
tried("fifo", os.mknod, "fifo", 0o010000 | M)
tried("O_TMPFILE", linked)
tried("fchmod", held)
for nr, args in ((90, (b"plain", M)), (268, (-100, b"plain", M)), (452, (-100, b"plain", M, 0))):
    tried("call %d" % nr, lambda: by_number(nr, *args))
tried("chown", given)
os.rename("plain", "moved"); os.chmod("moved", M); os.link("moved", "plain")
os.mkdir("sub"); os.chmod("sub", 0o2755)
setuid = struct.pack("<IIIII", 0x02000001, 1 << 7, 0, 0, 0)
for name in ("security.capability", "security.selinux", "security.x", "trusted.x"):
    tried(name, os.setxattr, "plain", name, setuid)
    tried(name + " by descriptor", os.setxattr, os.open("plain", os.O_RDWR), name, setuid)
tried("capability of a new file", os.setxattr, os.open("new", os.O_CREAT | os.O_RDWR), "security.capability", setuid)
tried("user.x", os.setxattr, "plain", "user.x", b"x")
P
echo text >plain
"$CORDON" run --headless -- python3 "$TEST_TMP/bin/give.py" >"$TEST_TMP/out" 2>&1
note "$(cat "$TEST_TMP/out")"
is "$(getfattr -R -m '^(security|trusted)' . | grep -c '^\(security\|trusted\)\.\(cap\|x\)')" 0 "27: no file gets a capability"
is "$(grep -cE '^(security|trusted).*(not permitted|not supported)' "$TEST_TMP/out")" 8 "27: which is said"
like "$(cat "$TEST_TMP/out")" 'user.x done' "27: other attributes can be set"
is "$(stat -c %a sub)" 2755 "27: a directory gives its group on"
is "$(find . ! -type d -perm /6000)" "" "27: no file gets set-id bits: another user could run it"
is "$(grep -c ' done$' "$TEST_TMP/out")" "$([ "$(id -u)" = 0 ] && echo 11 || echo 10)" "27: the calls succeed"
ok "27: undo" "$CORDON" undo
is "$(echo *)" plain "27: all is as before"

# A file that had them keeps them until a process inside may write to it; undo restores them.
caps() { [ "$(id -u)" != 0 ] || getcap -r .; }
cp /bin/true had && chmod 4755 had && cp had both && cp had kept && chmod 4755 both && chmod 6755 kept
if [ "$(id -u)" = 0 ]; then
	need setcap getcap
	setcap cap_net_raw+ep both && chmod 4755 both
fi
before=$(tree .)
"$CORDON" run --headless -- python3 -c '
import mmap, os
os.chmod("kept", 0o4711)
for name in ("had", "both"):
    fd = os.open(name, os.O_RDWR); m = mmap.mmap(fd, 0); os.close(fd)
    m[:4] = b"EVIL"'
is "$(head -c 4 had; head -c 4 both)" EVILEVIL "27: files with privileges are written to by a mapping"
is "$(stat -c '%n %a' had both kept | tr '\n' ' ')$(caps)" "had 755 both 755 kept 4711 " "27: and have none afterwards; others keep them"
ok "27: undo" "$CORDON" undo
same "$(tree .)" "$before" "27: brings them back"
done_testing
