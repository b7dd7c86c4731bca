# shellcheck shell=bash disable=SC2154
# gate - the rows about reading in dynamic mode: behind the gate, granted beneath it, and asked for;
# sourced by bench.sh. Not in tmpfs: what is below /dev/shm is the sandbox's own, and gated by nothing.
# SPDX-License-Identifier: MIT

gate_run() { # MODE COMMAND
	(cd "$gate/work" && exec "$cordon" run --headless --mode "$1" --set sandbox.read-gate=fuse \
		--config "$gate/rules" -- sh -c "$2")
}
gate_prepare() {
	gate=$(mktemp -d "$PWD/build/$B/gate.XXXXXX") && mkdir -p "$gate/work" "$gate/ruled" "$gate/asked" || return 1
	cp -a "$base/native/tree" "$gate/granted" && cp "$tools/opens" "$gate/work"
	echo x >"$gate/ruled/f"
	# A pattern that names no whole tree is not shown natively: the gate serves it.
	printf '[rule "bench"]\n\tallow = read %s/granted/**\n\tallow = read %s/ruled/f*\n' "$gate" "$gate" >"$gate/rules"
}

# gate_versus NAME LIMIT COMMAND - dynamic mode over static: processor time, and the best of many runs
# by turns, as both do the same work.
gate_versus() {
	local s d mode
	: >"$base/t.static" && : >"$base/t.dynamic"
	for _ in $(seq $((ROUNDS * 4))); do
		for mode in static dynamic; do
			gate_run $mode "exec bash -c 'TIMEFORMAT=\"%U %S\"; time { $3; } >/dev/null'" 2>&1 |
				awk '{ print ($1 + $2) * 1000 }' >>"$base/t.$mode"
		done
	done
	s=$(sort -n "$base/t.static" | head -n 1) d=$(sort -n "$base/t.dynamic" | head -n 1)
	print_row "$1" "$s" "$d" "" "$(ratio "$d" "$s")" "$2" "$(verdict "$(ratio "$d" "$s")" "$2")"
}

# From the answer, sent by a client that is connected, to the return of the open: median ms of N.
gate_answer() {
	cat >"$gate/work/opens.py" <<'P'
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
	outer new-session -d -x 120 -y 40 -c "$gate/work" \
		"exec '$cordon' run --mode dynamic --set sandbox.read-gate=fuse -- python3 opens.py '$gate/asked' 100"
	timeout 60 python3 "$gate/answers.py" "$XDG_STATE_HOME/cordon/run" "$gate/work/returned" 100 || echo -
	outer kill-server
}

rows_gate() {
	local n
	wanted gate && [ -w /dev/fuse ] || return 0
	print_row "" static dynamic "" ratio target ""
	gate_prepare || return 0
	gate_versus "gate: grep -r in a granted tree" 1.02 \
		"for i in 1 2 3 4 5; do grep -r NobodyGrepsForThis $gate/granted; done"
	: >"$base/t.s" && : >"$base/t.d"
	for _ in $(seq $((ROUNDS * 4))); do
		ms gate_run static : >>"$base/t.s" && ms gate_run dynamic : >>"$base/t.d"
	done
	n=$(awk -v a="$(median <"$base/t.s")" -v b="$(median <"$base/t.d")" 'BEGIN { printf "%.1f", b - a }')
	number "gate: start-up on top of static, ms" "$n" 10
	number "10 000 rules of one sort, the slowest sort, ms" "$("$tools/rules" 30 | sort -n | awk 'END { print $1 }')" 2
	number "gate: open that a rule covers, us" "$(gate_run dynamic "./opens '$gate/ruled/f' 5000")" 60
	if command -v tmux python3 >/dev/null; then
		number "gate: answer to return, ms" "$(gate_answer)" 2
	fi
	rm -rf "$gate"
}
