#!/bin/bash
# resources - an agent that uses all it can get: the host, cordon and the rules stay intact.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
dir=$(new_folder work)
outside=$(new_folder outside)
cd "$dir" || exit 1
run() { timeout 600 "$CORDON" run --headless "$@" 2>&1; }

# The kernel limits the number of these processes: 400 or, by cgroup, fewer.
out=$(run --set sandbox.processes=400 -- python3 -c 'import os, signal
pids = []
try:
    while len(pids) < 3000:
        pid = os.fork()
        if pid == 0:
            while True: signal.pause()
        pids.append(pid)
except OSError as e: print("stopped:", e.strerror)
print("made", len(pids))')
like "$out" 'stopped: Resource' "50: processes are bounded"
ok "50: at ${out##*made } of 400" test "${out##*made }" -le 410 # a few are counted late
out=$(run --set sandbox.open-files=500 -- python3 -c 'import os, resource
fds = []
try:
    while len(fds) < 100000: fds.append(os.open("/dev/null", os.O_RDONLY))
except OSError as e: print("stopped:", e.strerror)
try: resource.setrlimit(resource.RLIMIT_NOFILE, (100000, 100000))
except ValueError: print("and stays so")
print("made", len(fds))')
like "$out" 'stopped: Too many' "50: open files are bounded"
like "$out" 'stays so' "50: and the bound cannot be raised"
out=$(run --set sandbox.memory=300m --set sandbox.address-space=true -- python3 -c 'import sys
try:
    x = [bytearray(b"x" * (10 << 20)) for i in range(200)]
    print("took 2 GB")
except MemoryError: print("stopped")')
unlike "$out" 'took' "50: memory is bounded"

# File watches are counted for the user as a whole, with those of the keeper and the user's editors.
if [ "$BACKEND" != landlock ]; then
	exec 8<"$TOOLS/escape/kernel" && flock 8 # two of these at once, of two backends, would take all of them
	out=$(run -- python3 -c 'import ctypes
n = 0
while ctypes.CDLL(None).inotify_init1(0) >= 0: n += 1
print("made", n, "of", int(open("/proc/sys/fs/inotify/max_user_instances").read()))')
	ok "50: watches inside are half of all: $out" test "$(echo "$out" | awk '/^made/ {print $2 <= $4 / 2}')" = 1
	exec 8<&-
fi

# Terminals are counted for the host as a whole, except for 1024 of its own.
if [ "$BACKEND" != landlock ]; then # which shows the host's terminals
	out=$(run --set sandbox.open-files=4000 -- python3 -c 'import os
fds = []
try:
    while len(fds) < 2000: fds.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError as e: print("stopped:", e.strerror)
print("made", len(fds))')
	like "$out" 'stopped: No space' "50: terminals are bounded"
	ok "50: at ${out##*made } of 512" test "${out##*made }" -le 512
fi

# A file that is larger than any disk: what people look at does not read it.
out=$(run -- python3 -c 'import os
for name in ("sparse", "changed"): open(name, "w").truncate(4 << 40)')
is "$(stat -c %s sparse 2>&1)" $((4 << 40)) "50: a file of 4 TiB without content"
run -- python3 -c 'open("changed", "r+").write("x")' >/dev/null
for c in "diff --stat" diff report "diff 2"; do
	# shellcheck disable=SC2086 # words
	ok "50: cordon $c does not read all of it" timeout 100 "$CORDON" $c
done
like "$("$CORDON" diff 2)" 'Too large to compare: 4.0 TiB -> 4.0 TiB' "50: and says so"
ok "50: undo of both" undo_whole "$dir"
ok "50: they are gone" test ! -e sparse -a ! -e changed

# Held questions, refused calls, and their lines in the log.
out=$(run -- python3 -c 'import os, sys
refused = 0
for i in range(4000):
    for path in (sys.argv[1] + "/no%d" % i, "/etc/no%d" % i):
        try: os.open(path, os.O_WRONLY | os.O_CREAT); print("ALLOWED", path)
        except OSError: refused += 1
for i in range(2000):
    try: os.mkdir(".git"); os.mkdir(".git/hooks")
    except OSError: pass
    try: os.open(".git/hooks/no%d" % i, os.O_WRONLY | os.O_CREAT); print("ALLOWED a hook")
    except OSError: refused += 1
print("refused", refused)
open("after", "w").write("alive")' "$outside")
like "$out" 'refused 10000' "35,50: ten thousand refusals, each refused"
unlike "$out" ALLOWED "35,50: and none of them tired out"
is "$(cat after)" alive "35,50: what is allowed still is"
is "$(ls -A "$outside")" "" "35,50: nothing outside"
ok "51: the log of it verifies" "$CORDON" audit verify
state=$HOME/.local/state/cordon/audit
run -- sh -c 'for f in "$1"/*; do : >"$f"; rm "$f"; mv "$f" x; chmod 666 "$f"; ln "$f" y; done; cat "$1"/*' sh "$state" >"$TEST_TMP/out"
unlike "$(cat "$TEST_TMP/out")" '"seq"' "42,51: the log is not read inside"
ok "51: nor changed" "$CORDON" audit verify
ok "51: nor named" test ! -e x -a ! -e y

# Hundreds of threads that wait on the keeper, killed at once: it serves the next.
out=$(run -- python3 -c 'import errno, os, signal, socket, threading
l = socket.socket(socket.AF_UNIX); l.bind("sock"); l.listen(0)
full = threading.Event()
def wait():
    s = socket.socket(socket.AF_UNIX)
    try: s.connect("sock")
    except OSError as e:
        if e.errno == errno.ENOBUFS: full.set()
    threading.Event().wait()
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    for i in range(600): threading.Thread(target=wait, daemon=True).start()
    full.wait(600)
    os.write(w, b"bounded" if full.is_set() else b"endless")
    signal.pause()
print(os.read(r, 100).decode())
for i in range(300): open("f%d" % i, "w").close()
os.kill(pid, 9); os.wait()
for i in range(300): os.unlink("f%d" % i)
print("served")')
like "$out" bounded "50: calls that wait are bounded"
like "$out" served "50: calls that wait do not keep others waiting"
ok "50: undo" "$CORDON" undo
done_testing
