#!/bin/bash
# flood - many files, a file of 4 GiB, noise: limits hold, and undo restores everything.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
files=${FLOOD:-5000}
dir=$(new_folder work)
cd "$dir" || exit 1
truncate -s 4G sparse && echo end >>sparse
mkdir old && for i in $(seq 200); do echo "$i" >"old/f$i"; done
"$CORDON" run --headless -- true
# The content of a file that is nearly all holes: position and bytes of every block that is not zero.
blocks() {
	python3 - "$1" <<'E2'
import hashlib, os, sys
fd, at = os.open(sys.argv[1], os.O_RDONLY), 0
while True:
    try:
        at = os.lseek(fd, at, os.SEEK_DATA)
    except OSError:
        break
    end = os.lseek(fd, at, os.SEEK_HOLE)
    for at in range(at, end, 4096):
        block = os.pread(fd, 4096, at)
        if block.strip(b"\0"):
            print(at, hashlib.sha256(block).hexdigest())
    at = end
E2
}
state() { ls -A && stat -c '%n %f %u:%g %s %y' . sparse && blocks sparse && tree old; }
before=$(state)
free=$(df --output=avail -k . | tail -n 1)

# The keeper's peak memory, read from outside while it works.
peak() {
	local k most=0
	while kill -0 "$1" 2>/dev/null; do
		for k in $(pgrep -P "$1"); do
			k=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$k/status" 2>/dev/null)
			[ "${k:-0}" -le "$most" ] || most=$k
		done
		sleep 0.05
	done
	echo "$most"
}

"$CORDON" run --headless -- python3 - "$files" <<'E2' >/dev/null 2>&1 &
import os, sys
n = int(sys.argv[1])
with open("sparse", "r+b") as f:        # 4 GiB that use a few blocks
    f.seek(2 << 30); f.write(b"middle")
with open("new4g", "wb") as f:
    f.seek(4 << 30); f.write(b"end")
for d in range(20):
    os.mkdir(f"d{d}")
for i in range(n):
    open(f"d{i % 20}/f{i}", "w").close()
for i in range(1, 201):
    os.unlink(f"old/f{i}")
os.rmdir("old")
for i in range(n):                      # a flood of refusals
    try:
        os.open(f"/etc/none{i}", os.O_WRONLY | os.O_CREAT)
    except OSError:
        pass
E2
pid=$!
most=$(peak "$pid")
wait "$pid"
is $? 0 "$files files, a file of 4 GiB, $files refusals"
ok "the keeper took $most KiB of memory at most" test "$most" -lt 40000
used=$((free - $(df --output=avail -k . | tail -n 1)))
ok "undo" "$CORDON" undo
same "$(state)" "$before" "brings everything back"
ok "and takes few blocks" test "$(du -k sparse | cut -f1)" -lt 1024
log=$(du -sk "$HOME/.local/state/cordon/audit" | cut -f1)
ok "the audit log is $log KiB, the disk lost $used KiB" test "$log" -lt 70000
ok "it verifies" "$CORDON" audit verify
ok "the store is sound" "$CORDON" journal verify
done_testing
