#!/bin/bash
# landlock - properties of the backend without namespaces.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need python3
BACKEND=landlock
use_backend
dir=$(new_folder work)
outside=$(new_folder outside)
cd "$dir" || exit 1
mkdir -p sub/deep plain "$HOME/.ssh" && echo "SECRET env" >sub/.env && echo "SECRET key" >"$HOME/.ssh/id"
echo text >sub/deep/f && echo theirs >"$outside/f" && chmod 640 "$outside/f"
run() { "$CORDON" run --headless -- "$@"; }
no_session_dirs() { [ -z "$(ls -A "$HOME/.local/state/cordon/tmp")" ]; }

doctor=$("$CORDON" doctor --json | grep '^{"backend":"landlock","whole"')
like "$doctor" '"whole":false.*"hide":false.*"processes":false.*"starts":true' "doctor says what it lacks, and that it starts"
like "$("$CORDON" doctor)" "starts only when it is chosen by name" "in words too"
out=$("$CORDON" run --headless --overlay "$outside" -- true 2>&1)
is "$?" 125 "overlays are refused"
like "$out" "overlays need mounts.*--backend native" "with what to do"
out=$("$CORDON" run --headless --set sandbox.landlock=off -- true 2>&1)
is "$?" 125 "so is Landlock switched off"

# ---- reading
is "$(run sh -c 'cat sub/deep/f; echo new >sub/made; cat sub/made; ls sub; cat sub/.env' 2>/dev/null)" \
	"text
new
deep
made" "what is made beside a hidden file is read, the hidden one is not"
is "$(run sh -c 'rm -rf sub/deep; mkdir sub/deep; ls sub/deep; echo text >sub/deep/f; cat sub/deep/f; cd sub/deep; cat f; echo again >t; mv t f; cat f' 2>&1)" \
	"text
text
again" "a directory that is made anew under its old name opens"
like "$(run sh -c 'mv sub plain/' 2>&1)" "busy" "a directory with a hidden file stays where it is"
like "$(run sh -c 'mv sub/deep plain/ && cat plain/deep/f && mv plain/deep sub/')" again "others move"
is "$(run sh -c 'cd sub && exec 3<.env; cat <&3' 2>/dev/null)" "" "a relative path leads there no better"
is "$(run sh -c 'ln sub/.env plain/e || cp sub/.env plain/e || cat plain/e' 2>/dev/null)" "" "nor a second name"
out=$(run sh -c 'printf "#!/bin/sh\necho ran\n" >plain/p; cp plain/p sub/p; chmod +x plain/p sub/p; plain/p; sub/p' 2>&1)
like "$out" "^ran.*sub/p: Permission denied" "what is made beside a hidden file is not run"
like "$("$CORDON" audit --json | tail -n 20)" "a directory without hidden files" "the audit log says why"
run rm -f sub/p plain/p sub/made

# ---- writing, and calls that Landlock does not restrict
before=$(tree "$outside" && stat -c '%a %u %g %Y' "$HOME")
out=$("$CORDON" run --headless --mode static -- python3 - "$outside/f" "$HOME" <<'P'
import os, sys
def attempt(name, fn):
    try: fn(); print("ALLOWED", name)
    except OSError: pass
for path in sys.argv[1:]:
    attempt("chmod", lambda: os.chmod(path, 0o777))
    attempt("utime", lambda: os.utime(path, (1, 1)))
    attempt("chown", lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt("setxattr", lambda: os.setxattr(path, "user.x", b"y"))
    fd = os.open(path, os.O_RDONLY)
    attempt("fchmod", lambda: os.fchmod(fd, 0o777))
    attempt("futime", lambda: os.utime(fd, (1, 1)))
    attempt("fsetxattr", lambda: os.setxattr(fd, "user.x", b"y"))
    attempt("proc chmod", lambda: os.chmod("/proc/self/fd/%d" % fd, 0o777))
    attempt("truncate", lambda: os.truncate(path, 0))
    attempt("reopen", lambda: os.open("/proc/self/fd/%d" % fd, os.O_RDWR))
    if os.access(path, os.W_OK): print("ALLOWED access")
print("all tried")
P
)
is "$out" "all tried" "mode, times, owner and attributes of what lies outside are refused"
is "$(tree "$outside" && stat -c '%a %u %g %Y' "$HOME")" "$before" "and are as they were"
# Two names of a file, one of them removed: the journal still sees writes by the other.
echo one >a && ln a b
out=$(run python3 -c '
import os
fd = os.open("a", os.O_RDONLY); os.unlink("a")
try: os.write(os.open("/proc/self/fd/%d" % fd, os.O_WRONLY), b"TWO"); print("written")
except OSError: print("refused")
try: os.fchmod(fd, 0o600); print("changed")
except OSError: print("refused")')
is "$out" $'refused\nrefused' "a removed name is no way to the file"
"$CORDON" undo >/dev/null
is "$(cat a b)" $'one\none' "and undo has both"
is "$(run sh -c 'f=$(mktemp) && echo t >$f && chmod 600 $f && touch -d @1 $f && cat $f')" t "temporary files are its own"
ok "and gone with the session" no_session_dirs
# The lasting cache keeps its path, because there is no mount.
run sh -c 'mkdir -p $GOCACHE && echo x >$GOCACHE/made && chmod 600 $GOCACHE/made && touch -d @1 $GOCACHE/made' 2>&1
is "$(run sh -c 'cat $GOCACHE/made; stat -c "%a %Y" $GOCACHE/made')" $'x\n600 1' "the cache is written, and lasts"

# ---- other processes
(exec -a "program --token=SECRET-argument" sleep 600) &
other=$!
wait_for 5 grep -q SECRET-argument "/proc/$other/cmdline"
# shellcheck disable=SC2016 # the inner shell's
out=$(run python3 - "$other" 2>&1 <<'P'
import glob, os, subprocess, sys
pid = sys.argv[1]
def attempt(name, fn):
    try: got = fn()
    except OSError: return
    if got: print("READ", name, str(got)[:80])
def read(path, **how):
    fd = os.open(path, os.O_RDONLY, **how); got = os.read(fd, 4096); os.close(fd); return got
for n in ("cmdline", "comm", "status", "stat", "statm", "environ", "maps", "cgroup", "mountinfo", "limits", "sched", "net/unix"):
    for who in (pid, "1", str(os.getppid()), "self/../" + pid, pid + "/task/" + pid):
        if who == str(os.getppid()): continue # it is inside
        attempt("%s of %s" % (n, who), lambda: read("/proc/%s/%s" % (who, n)))
top = os.open("/proc", os.O_RDONLY); inside = os.open("/proc/" + pid, os.O_PATH)
attempt("by a descriptor", lambda: read(pid + "/cmdline", dir_fd=top))
attempt("by its directory", lambda: read("cmdline", dir_fd=inside))
os.chdir("/proc/" + pid)
attempt("by the working directory", lambda: read("cmdline"))
attempt("by a link", lambda: (os.symlink("/proc/%s/cmdline" % pid, os.environ["TMPDIR"] + "/l"), read(os.environ["TMPDIR"] + "/l")))
# cordon's own
for p in os.listdir("/proc"):
    if p.isdigit():
        attempt("cordon's", lambda: (lambda c: b"cordon" in c and c)(read("/proc/%s/comm" % p)))
        attempt("memory map of cordon's", lambda: (lambda c: b"/cordon\n" in c and c)(read("/proc/%s/maps" % p)))
print("others:", b"SECRET" in subprocess.run(["ps", "axww"], capture_output=True).stdout)
P
)
is "$out" "others: False" "of other processes nothing is read but their numbers, of cordon's neither"
cat >proc.sh <<'S'
sleep 600 & child=$!
for _ in $(seq 1000); do [ "$(cat /proc/$child/comm)" = sleep ] && break; sleep 0.01; done # until it is no bash any more
grep -c '^Name:.sleep' /proc/$child/status; tr '\0' ' ' </proc/$child/cmdline; echo
grep -c sh /proc/self/../$$/comm; cat /proc/self/comm /proc/thread-self/comm; head -c 4 /proc/self/exe | tail -c 3; echo
ls /proc/self/fd /dev/fd >/dev/null && echo lists; (cd /proc/self && cat comm)
grep -c stack /proc/$child/maps; grep -zc ^HOME= /proc/$child/environ; (cd /proc/$child/task/$child && cat comm)
cat <(echo substituted); grep -q MemTotal /proc/meminfo && cat /proc/sys/kernel/ostype; head -n 1 /proc/mounts /proc/net/tcp >/dev/null && echo kernel
ps -o comm= -p $child; kill $child
S
is "$(run bash proc.sh 2>&1)" "$(printf '%s\n' 1 'sleep 600 ' 1 cat cat ELF lists cat 1 1 sleep substituted Linux kernel sleep)" "its own are read, and what belongs to no process"
kill "$other"
out=$(run python3 - $$ <<'P'
import ctypes, os, resource, socket, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, fn):
    try: fn(); print("ALLOWED", name)
    except OSError: pass
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
attempt("setpriority of all", lambda: os.setpriority(os.PRIO_USER, 0, 19))
attempt("prlimit", lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)))
attempt("affinity", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)))
attempt("scheduler", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
attempt("signal", lambda: os.kill(pid, 0))
attempt("datagrams", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("raw", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58))
attempt("bind", lambda: socket.socket().bind(("127.0.0.1", 3000)))
attempt("listen", lambda: socket.socket().listen())
attempt("connect", lambda: socket.socket().connect(("127.0.0.1", 9)))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
for name, args in (("shmget", (0, 4096, 0o1600)), ("msgget", (0, 0o1600)), ("semget", (0, 1, 0o1600))):
    if getattr(libc, name)(*args) >= 0: print("ALLOWED", name)
os.setpriority(os.PRIO_PROCESS, 0, 19); resource.prlimit(0, resource.RLIMIT_CORE)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
a, b = socket.socketpair(); print("own")
P
)
is "$out" own "nothing is changed of others, and of its own what matters"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0cordon-test-" + sys.argv[1]); s.listen(); time.sleep(600)' $$ &
listener=$!
wait_for 5 grep -q "@cordon-test-$$" /proc/net/unix
is "$(run python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect("\0cordon-test-" + sys.argv[1]); print("connected")
except OSError: print("refused")' $$)" refused "an abstract socket of the host is not reached"
kill $listener
like "$(run sh -c 'ls /tmp /dev /run 2>&1 >/dev/null; cat /dev/shm/* 2>&1')" "denied.*denied.*denied" \
	"what others have in /tmp, /dev and /run is closed"
is "$(run python3 -c 'import ctypes, os
f = ctypes.CDLL(None).tmpfile; f.restype = ctypes.c_void_p
print(f() is not None)
fd = os.open("/var/tmp", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"kept"); os.ftruncate(fd, 2); print(os.pread(fd, 9, 0), os.fstat(fd).st_nlink)
for flags in (os.O_TMPFILE, os.O_CREAT | os.O_RDWR | os.O_DIRECTORY):
    try: print(os.open("/tmp", flags))
    except OSError as e: print("refused")' 2>&1)" "True
b'ke' 0
refused
refused" "the C library, which knows no TMPDIR, gets a file without a name"

# ---- the end
family='import os, sys, time
def leave(): os.setsid(); os.fork() and os._exit(0)
for i in range(4):
    if os.fork() == 0:
        leave(); os.fork(); leave()
        open("up.%d" % os.getpid(), "w")
        while True: time.sleep(100)
while len([f for f in os.listdir(".") if f.startswith("up.")]) < 8: time.sleep(0.01)
open("all", "w"); time.sleep(300); "'
for victim in cordon keeper fence agent; do
	rm -f all up.*
	mark=$(new_mark)
	"$CORDON" run --headless -- python3 -c "$family$mark\"" >/dev/null 2>&1 &
	pid=$!
	disown $pid
	wait_for 20 test -e all
	keeper=$(pgrep -P $pid -x cordon-keeper)
	case $victim in
	cordon) kill -KILL $pid ;;
	keeper) kill -KILL "$keeper" ;;
	fence) kill -KILL "$(pgrep -P "$keeper" -x cordon-fence)" ;;
	agent) kill -KILL "$(pgrep -P "$keeper" -x python3)" ;;
	esac
	ok "nothing outlives the $victim" wait_for 15 none_marked "$mark"
	ok "$victim: nor a directory for temporary files" wait_for 15 no_session_dirs
	wait_for 15 bash -c "! kill -0 $pid"
done
is "$(run sh -c 'i=0; while [ $i -lt 40 ]; do setsid sh -c "while :; do sleep 5 & wait; done" & i=$((i+1)); done; echo ok')" ok \
	"a command that leaves forty behind ends"
done_testing
