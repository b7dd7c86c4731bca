# shellcheck shell=bash disable=SC2154
# gate - the rows about reading in dynamic mode: through the gate, granted below it, and asked about; sourced by
# bench.sh. Not in tmpfs: the sandbox has its own tree below /dev/shm, without a gate.
# SPDX-License-Identifier: MIT

gate_start() { # MODE COMMAND...
	cd "$gate/$1" && exec "$cordon" run --headless --mode "$1" --set sandbox.read-gate=fuse \
		--config "$gate/rules" -- "${@:2}"
}
gate_run() { (gate_start "$1" sh -c "$2"); }
gate_prepare() {
	gate=$(mktemp -d "$near/gate.XXXXXX") && mkdir -p "$gate"/{static,dynamic,granted,ruled,asked} || return 1
	cp -a "$base/native/tree" "$base/native/project" "$gate/granted" &&
		cp "$tools"/{opens,turns} "$gate/dynamic" && cp "$tools/turns" "$gate/static"
	head -n 8 "$gate/granted/project/f1.c" >"$gate/granted/project/small.c"
	git -C "$gate/granted/tree" status >"$base/out" # its index knows the copies now
	echo x >"$gate/ruled/f"
	# A pattern that covers no whole tree is not shown natively: the gate serves its files.
	printf '[rule "bench"]\n\tallow = read %s/granted/**\n\tallow = read %s/ruled/f*\n' "$gate" "$gate" >"$gate/rules"
}

# Granted files are read natively: dynamic mode against static mode, each in a session.
gate_reads() {
	local mode in=$gate/granted
	for mode in static dynamic; do open_session $mode gate_start $mode; done
	reading "gate: grep -r in a granted tree" 1.02 "grep -r NobodyGrepsForThis $in/tree/dir[0-3]" static dynamic
	reading "gate: git status there" 1.02 "git --no-optional-locks -C $in/tree status --porcelain" static dynamic
	reading "gate: a C build from there" 1.02 "make -B VPATH=$in/project -f $in/project/Makefile small.o" static dynamic
	close_sessions
}
gate_nothing() { ms gate_run "$1" :; }

# From the answer of a connected client to the return of the open: median ms of N.
gate_answer() {
	cat >"$gate/dynamic/opens.py" <<'P'
import sys, time
with open("returned", "w") as out:
    for i in range(int(sys.argv[2])):
        open(sys.argv[1] + "/f%d" % i)
        print(time.monotonic(), file=out, flush=True)
P
	cat >"$gate/answers.py" <<'P'
import glob, json, socket, statistics, sys, time
run, returned, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
while not glob.glob(run + "/*.sock"): time.sleep(0.01)
s = socket.socket(socket.AF_UNIX); s.connect(glob.glob(run + "/*.sock")[0])
f, sent = s.makefile("rwb"), []
for line in f:
    m = json.loads(line)
    if m["type"] != "event.fs_request": continue
    f.write(b'{"type":"cmd.approve","id":%d,"scope":"once"}\n' % m["id"])
    sent.append(time.monotonic()); f.flush()
    if len(sent) == n: break
while len(open(returned).readlines()) < n: time.sleep(0.01)
back = [float(line) for line in open(returned)]
print("%.2f" % statistics.median(1000 * (b - a) for a, b in zip(sent, back)))
P
	for i in $(seq 0 99); do echo x >"$gate/asked/f$i"; done
	outer new-session -d -x 120 -y 40 -c "$gate/dynamic" \
		"exec '$cordon' run --mode dynamic --set sandbox.read-gate=fuse -- python3 opens.py '$gate/asked' 100"
	timeout 60 python3 "$gate/answers.py" "$XDG_STATE_HOME/cordon/run" "$gate/dynamic/returned" 100 || echo -
	outer_end
}

rows_gate() {
	wanted gate: && [ -w /dev/fuse ] || return 0
	print_row "" static dynamic "" ratio target ""
	gate_prepare || return 0
	gate_reads
	by_turns gate_nothing static dynamic
	show "gate: start-up on top of static, ms" 10 difference static dynamic
	number "10 000 rules of one sort, the slowest sort, ms" "$("$tools/rules" 30 | sort -n | awk 'END { print $1 }')" 30
	number "gate: open that a rule covers, us" "$(gate_run dynamic "./opens '$gate/ruled/f' 5000")" 60
	if command -v tmux python3 >/dev/null; then
		number "gate: answer to return, ms" "$(gate_answer)" 2
	fi
	rm -rf "$gate"
}
