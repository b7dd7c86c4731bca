#!/bin/bash
# stdio - the three descriptors from outside give access only to their own objects.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir -m 700 "$HOME/.ssh" && echo "SECRET key" >"$HOME/.ssh/id"
cat >"$TEST_TMP/give.py" <<'E2'
import os, socket, subprocess, sys
what, command = sys.argv[1], sys.argv[2:]
a, b = socket.socketpair(socket.AF_UNIX, getattr(socket, "SOCK_" + what)) if what in ("DGRAM", "STREAM", "SEQPACKET") else (None, None)
if what == "UDP": b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if what == "TCP":
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); b = socket.create_connection(s.getsockname())
if what == "O_PATH": b = os.open("/etc/passwd", os.O_PATH)
sys.exit(subprocess.run(command, stdin=b).returncode)
E2
inside() { "$CORDON" run --headless "$@" 2>&1; }
given() { python3 "$TEST_TMP/give.py" "$1" "$CORDON" run --headless "${@:2}" 2>&1; }

out=$(inside -- sh -c 'cat "/proc/self/fd/0$HOME/.ssh/id"' </)
unlike "$out" SECRET "8,23: a directory as standard input is no way to the host's files"
like "$out" "^cordon: standard input is a directory.*/dev/null" "and is refused in words"
for kind in DGRAM UDP TCP O_PATH; do
	like "$(given "$kind" -- true)" "^cordon: standard input is .*/dev/null" "23,36: nor is $kind one"
done
for kind in STREAM SEQPACKET; do
	is "$(given "$kind" -- echo started)" started "$kind is what programs are started with"
done
is "$(given TCP --network open -- echo started)" started "with the network, a connection is"
is "$(inside -- cat <"$TEST_TMP/give.py" | head -n 1)" "import os, socket, subprocess, sys" "a file is read"
is "$(echo piped | inside -- cat)" piped "a pipe is"
is "$("$CORDON" run --headless -- echo out 2>&1 <&-)" out "and one may be closed"

# A file that is open for reading cannot be changed by opening it again.
echo old >"$TEST_TMP/given"
# shellcheck disable=SC2016 # of the shell inside
inside -- sh -c 'echo new >/proc/self/fd/0; echo new >>/dev/stdin; chmod 777 /proc/self/fd/0
	python3 -c "import os
for call in (lambda: os.fchmod(0, 0o777), lambda: os.truncate(0, 0), lambda: os.utime(0, (1, 1)), lambda: os.truncate(\"/proc/self/fd/0\", 0)):
    try: call()
    except OSError: pass"' <"$TEST_TMP/given" >/dev/null
is "$(cat "$TEST_TMP/given") $(stat -c %a "$TEST_TMP/given")" "old 644" "7: a file that is given to be read stays as it is"
done_testing
