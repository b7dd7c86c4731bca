#!/bin/bash
# pids - process numbers wrap around and are reused: each step keeps to its own processes.
# SPDX-License-Identifier: MIT
# root only: it says which number is the next, in a pid namespace of its own
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -mpf --mount-proc "$0" || exit 1
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
next=/proc/sys/kernel/ns_last_pid
[ -w $next ] || skip_all "this kernel does not let one choose"
max=$(cat /proc/sys/kernel/pid_max)
dir=$(new_folder work)
cd "$dir" || exit 1

# history - one line per step, oldest first: "COMMAND: PATH PATH"
history() {
	"$CORDON" log --json | python3 -c '
import json, subprocess, sys
for line in reversed(sys.stdin.readlines()):
    id, command = (json.loads(line)[k] for k in ("id", "command"))
    out = subprocess.run([sys.argv[1], "diff", str(id), "--raw"], capture_output=True, text=True).stdout
    print(command + ": " + " ".join(sorted(l.split(" b/")[-1] for l in out.splitlines() if l.startswith("diff --git "))))' "$CORDON"
}
# begin COMMAND... - a session with it, whose commands are steps; descriptor 3 is its input.
begin() {
	rm -f "$TEST_TMP/in" "$TEST_TMP/out"
	mkfifo "$TEST_TMP/in"
	"$CORDON" run --headless --steps auto -- "$@" <"$TEST_TMP/in" >"$TEST_TMP/out" &
	pid=$!
	exec 3>"$TEST_TMP/in"
	wait_for 30 grep -q ready "$TEST_TMP/out"
}
end() {
	exec 3>&-
	wait "$pid"
}

echo x >x
# A pipeline is named from left to right, at any position of the wrap.
# shellcheck disable=SC2016
begin bash -c 'set -m; echo ready; while read -r n; do tee a$n <x | sed s/x/y/ | tee b$n; done'
want=
kept() { [ "$("$CORDON" log --json | wc -l)" = "$1" ]; }
for n in 1 2 3 4 5 6; do
	echo $((max - n)) >$next
	echo $n >&3
	wait_for 20 kept $n || break
	want+="tee a$n | sed s/x/y/ | tee b$n: a$n b$n"$'\n'
done
end
same "$(history)" "${want%$'\n'}" "a pipeline has its order where the numbers of processes begin anew"
"$CORDON" log --discard --yes >/dev/null
rm -f -- *

# Eighty commands end while the keeper is stopped, and the last number is reused.
# shellcheck disable=SC2016
begin python3 -c '
import os, signal, sys
def command(name):
    pid = os.fork()
    if pid: return pid
    open(name, "w").write("x")
    signal.pause()
print("ready", flush=True)
sys.stdin.readline()
pids = [command("a%d" % i) for i in range(80)]
for pid in pids: os.waitpid(pid, 0)
print("over", flush=True)
sys.stdin.readline()
last = command("b")
print("begun", flush=True)
sys.stdin.readline()
os.kill(last, 9)'
echo >&3
all_there() { [ "$(find . -name 'a*' | wc -l)" = 80 ]; }
ok "eighty commands" wait_for 30 all_there
keeper=$(pgrep -P "$pid" -x cordon-keeper)
children() { pgrep -P "$(pgrep -P "$keeper" -x python3)"; }
mapfile -t commands < <(children)
kill -STOP "$keeper"
said=()
last=${commands[-1]}
unset 'commands[-1]'
kill -KILL "${commands[@]}"
only_last() { [ "$(children)" = "$last" ]; }
wait_for 10 only_last
kill -KILL "$last"
wait_for 10 grep -q over "$TEST_TMP/out"
echo $((last - 1)) >$next
echo >&3
until [ ${#said[@]} = 3 ] || [ $SECONDS -gt 200 ]; do mapfile -t said <"$TEST_TMP/out"; done # no process is made
again=$(children)
kill -CONT "$keeper"
wait_for 10 test -s b
echo >&3
end
if [ "$again" = "$last" ]; then
	is "$(history | grep -c ': [ab][0-9]*$')" 81 "who has the number of a command that has ended is another one"
else
	skip "who has the number of a command that has ended" "the number was not to be had"
fi
done_testing
