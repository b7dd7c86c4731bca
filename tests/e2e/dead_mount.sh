#!/bin/bash
# dead_mount - a file system whose server is stopped or killed: no process waits for it for ever.
# SPDX-License-Identifier: MIT
# root only
#
# In a mount namespace of its own, so that no other process of this host finds the stopped file system.
[ -n "${ALONE:-}" ] || ALONE=1 exec unshare -m --propagation private "$0" || exit 1
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
unset XDG_STATE_HOME
[ -w /dev/fuse ] || skip_all "no FUSE here"
cat >"$TEST_TMP/server.py" <<'P'
# A directory with one empty file, which it serves until it is stopped.
import ctypes, errno, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/dev/fuse", os.O_RDWR)
if libc.mount(b"slow", sys.argv[1].encode(), b"fuse.slow", 0,
              f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
print("there", flush=True)
def attr(ino):
    return struct.pack("<6Q10I", ino, *[0] * 8, 0o40755 if ino == 1 else 0o100644, 1, 0, 0, 0, 512, 0)
def entries(off):
    out = b""
    for i, (ino, name) in enumerate([(1, b"."), (1, b".."), (2, b"f")]):
        e = struct.pack("<QQII", ino, i + 1, len(name), 0) + name
        out += (e + bytes(-len(e) % 8)) if i >= off else b""
    return out
while True:
    try: b = os.read(fd, 1 << 17)
    except OSError: break
    op, unique, node = struct.unpack("<IQQ", b[4:24])
    data, err = b"", 0
    if op == 26: data = struct.pack("<IIIIHHIIHHI", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0) + bytes(28)
    elif op == 1 and b[40:].rstrip(b"\0") == b"f": data = struct.pack("<5QII", 2, 0, 0, 0, 0, 0, 0)[:40] + attr(2)
    elif op == 3: data = bytes(16) + attr(node)
    elif op in (14, 27): data = bytes(16)
    elif op == 28: data = entries(struct.unpack("<QQ", b[40:56])[1])
    elif op == 17: data = bytes(80)
    elif op in (2, 36, 42): continue
    elif op not in (18, 25, 29): err = errno.ENOENT if op == 1 else errno.ENOSYS
    os.write(fd, struct.pack("<IiQ", 16 + len(data), -err, unique) + data)
P
serve() { # DIR
	: >"$TEST_TMP/said"
	python3 "$TEST_TMP/server.py" "$1" >"$TEST_TMP/said" 2>&1 &
	server=$!
	wait_for 10 test -s "$TEST_TMP/said"
}
# Until then it may take a request, which cannot be cancelled.
is_stopped() { grep -q '^State:.T' "/proc/$server/status"; }
stop_server() { kill -STOP "$server" && wait_for 10 is_stopped; }
take_down() { # DIR
	umount -l "$1"
	kill -CONT "$server" 2>/dev/null
	kill -9 "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}
trap 'tmux_ kill-server 2>/dev/null; umount -l "$TEST_TMP"/*/mnt "$TEST_TMP/fusectl" "$HOME/mnt" 2>/dev/null; kill -9 $server 2>/dev/null' EXIT
dir=$(new_folder work) beside=$(new_folder beside)
mkdir "$dir/mnt" "$HOME/mnt" "$beside/mnt"
cd "$dir" || exit 1
run() { timeout 60 "$CORDON" run --headless -- "$@" 2>&1; }

# ---- in the working folder
serve "$dir/mnt"
is "$(cat "$TEST_TMP/said")" there "a file system is served"
is "$(run sh -c 'echo x >made; ls mnt')" f "one that answers shows"
stop_server
out=$(run true)
is "$?" 125 "one that does not is no start"
like "$out" "the file system at '$dir/mnt' \(fuse.slow\) does not answer: start its server anew, or take it away with umount -l" "and is named"
for command in "undo --dry-run" log diff; do
	# shellcheck disable=SC2086 # words
	out=$(timeout 60 "$CORDON" $command 2>&1)
	isnt "$?" 0 "$command does not wait for it"
	like "$out" "does not answer" "and says so"
done
kill -CONT "$server"
is "$(run ls mnt)" f "when it goes on, all goes on"
kill -9 "$server"
wait "$server" 2>/dev/null
run sh -c 'echo y >made2' >/dev/null
is "$(cat made2)" y "one whose server is gone answers, with an error"
ok "undo works beside it" "$CORDON" undo
ok "what was made is gone" test ! -e made2
take_down "$dir/mnt"

# ---- elsewhere
for at in "$beside/mnt" "$HOME/mnt"; do
	serve "$at"
	stop_server
	is "$(run sh -c 'echo x >there && cat there')" x "one elsewhere holds nothing up"
	ok "nor an undo" timeout 60 "$CORDON" undo
	take_down "$at"
done

# ---- what cordon keeps
serve "$beside/mnt"
stop_server
out=$(XDG_STATE_HOME=$beside/mnt run true)
is "$?" 125 "a state folder there is no start"
like "$out" "file system at '$beside/mnt' .*does not answer" "in words"
out=$(XDG_STATE_HOME=$beside/mnt timeout 60 "$CORDON" undo 2>&1)
like "$out" "file system at '$beside/mnt' .*does not answer" "nor an undo"
take_down "$beside/mnt"

# ---- under a running session: the keeper itself is stuck
serve "$dir/mnt"
start 100 30 "$dir" "$CORDON run -- bash --noprofile --norc"
wait_for 15 screen_has bash
stop_server
mkdir "$TEST_TMP/fusectl"
mount -t fusectl none "$TEST_TMP/fusectl"
is_stuck() { # a request of somebody's waits there: the number of a connection is its device's
	local dev
	dev=$(awk -v at="$dir/mnt" '$5 == at { sub("0:", "", $3); print $3 }' /proc/self/mountinfo)
	[ "$(cat "$TEST_TMP/fusectl/$dev/waiting")" -gt 0 ]
}
type_text 'echo x >mnt/f' && keys Enter
ok "a write waits for one that does not answer" wait_for 15 is_stuck
keys C-] q
press_until 'the keeper is still at work, or waits for a file system' "leaving says what it waits for" Q
ok "and not for ever" wait_for 75 test -s "$TEST_TMP/status"
take_down "$dir/mnt"
ok "what was stuck has ended: the folder is free" timeout 60 "$CORDON" undo
done_testing
