#!/bin/bash
# read_race - names change their targets while they are opened: no byte of an ungranted file is read.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
# timeout: 2400
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
mkdir -p "$HOME/work/d" "$HOME/other" && echo granted >"$HOME/work/d/f" && echo SECRET >"$HOME/other/f"
cat >"$HOME/work/race.py" <<'P'
import os, sys, time
# Processes exchange links, a file's and a directory's, between granted and ungranted targets: two inside, through the
# keeper, and two outside, at any moment.
secret, n, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
own = "in" if os.environ.get("CORDON_SESSION") else "out"
def flip(name, one, other):
    while True:
        for to in (one, other):
            try: os.symlink(to, name + own)
            except OSError: pass
            try: os.rename(name + own, name)
            except OSError: pass # the other one was quicker
children = []
for args in (("p", "d/f", secret), ("q", "d", os.path.dirname(secret))):
    pid = os.fork()
    if pid == 0: flip(*args)
    children.append(pid)
if n == 0: time.sleep(100000)
# For a number of rounds, or for a time, but until both targets were opened.
seen = {}
here = os.open(".", os.O_PATH)
end = time.monotonic() + seconds
for i in range(n):
    if time.monotonic() > end and "granted" in seen and "Permission denied" in seen: break
    try:
        fd = os.open(("p", "q/f", "/proc/self/cwd/p", "../work/q/f")[i % 4], os.O_RDONLY, dir_fd=here)
        what = os.read(fd, 100).decode().strip(); os.close(fd)
    except OSError as e: what = e.strerror
    seen[what] = seen.get(what, 0) + 1
for pid in children: os.kill(pid, 9); os.wait()
print(*sorted(k for k in seen if seen[k]), sep=",")
P
seconds=5
[ -z "${RACES:-}" ] || seconds=1000 # make soak
race() { # NAME OPTIONS...
	local out name=$1
	shift
	out=$(cd "$HOME/work" && rm -f pin qin && "$CORDON" run --headless --mode dynamic "$@" -- \
		python3 race.py "$HOME/other/f" "${RACES:-$((20000 / ${TEST_FEWER:-1}))}" "$seconds" 2>&1)
	unlike "$out" SECRET "$name: no byte of the secret"
	like "$out" 'Permission denied.*granted' "$name: both ways were taken: $out"
}
ln -s d/f "$HOME/work/p" && ln -s d "$HOME/work/q"
(cd "$HOME/work" && exec python3 race.py "$HOME/other/f" 0 0) &
outside=$!
race trap --set sandbox.read-gate=trap
[ ! -w /dev/fuse ] || race fuse --set sandbox.read-gate=fuse
"$CORDON" doctor --json | grep -qE '^\{"backend":"landlock","whole".*"starts":true' && race landlock --backend landlock
# shellcheck disable=SC2046 # one word each
kill $(pgrep -P $outside) $outside
done_testing
