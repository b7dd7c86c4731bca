#!/bin/bash
# gate_rules - opens that the read gate allows by itself: changed rules apply at once, and all are counted.
# SPDX-License-Identifier: MIT
# root and user
# with: /dev/fuse
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
[ -w /dev/fuse ] || skip_all "no /dev/fuse here"

mkdir -p "$HOME/work" "$HOME/ruled" "$HOME/asked" "$HOME/odd"
echo "by a rule" >"$HOME/ruled/f1" && echo "no rule" >"$HOME/ruled/g" && echo asked >"$HOME/asked/f"
mkfifo "$HOME/odd/pipe"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$HOME/odd/socket"
mkdir -p "$HOME/many/below" && ln -s f1 "$HOME/many/link" && ln -s nowhere "$HOME/many/broken"
for i in $(seq 1000); do
	echo "content of a file with a name of some length" >"$HOME/many/f$i-$i$i$i$i$i$i$i$i"
	echo content >"$HOME/many/below/g$i"
done
# A pattern that covers no whole tree is not shown natively.
printf '[rule "some"]\n\tallow = read ~/ruled/f*\n\tallow = read ~/odd/*\n\tallow = read ~/many\n\tallow = read ~/many/**/*\n' >"$TEST_TMP/rules"

headless() {
	(cd "$HOME/work" && exec timeout 120 "$CORDON" run --headless --mode dynamic --set "sandbox.read-gate=$gate" \
		--config "$TEST_TMP/rules" -- "$@" 2>&1 </dev/null)
}

# ---- what is no file -------------------------------------------------------------------------------

what_is_no_file() {
	like "$(headless cat "$HOME/odd/pipe")" "Permission denied" "$gate: a pipe is refused, and nobody waits"
	like "$(headless cat "$HOME/odd/socket")" "No such device or address|Permission denied" "$gate: a socket is none to open"
	like "$(cordon_in "$HOME/work" audit --json | grep -F "odd/pipe")" '"errno":13.*pipe' \
		"$gate: the audit log has the pipe, and why"
	like "$(headless sh -c "test -p ~/odd/pipe -o -f ~/odd/pipe && test -S ~/odd/socket && echo there")" there \
		"$gate: both are there"
}

# ---- a tree of which each file is granted ----------------------------------------------------------

listed_as_outside() {
	local tell=("$HOME/many" -printf '%p %y %s %m %i %T@ %l\n')
	headless find "${tell[@]}" | LC_ALL=C sort >"$TEST_TMP/inside"
	find "${tell[@]}" | LC_ALL=C sort >"$TEST_TMP/outside"
	ok "$gate: two thousand names and what they are, as outside, each once" cmp "$TEST_TMP/inside" "$TEST_TMP/outside"
	is "$(headless grep -rc content "$HOME/many" | grep -c ':1$')" 2000 "$gate: each is read"
	like "$(cordon_in "$HOME/work" audit | grep session-end | tail -n 1)" '\([1-9][0-9]* reads outside the folder: [1-9][0-9]* by a rule' \
		"$gate: the audit log has their number in words"
}

# ---- answers while it runs -------------------------------------------------------------------------

cat >"$HOME/work/opens.py" <<'P'
import os, time
# Opens as fast as it can until it is told to stop, and once more after that: the user has been told by then.
path = os.path.expanduser("~/asked/f")
for i in range(20):
    while not os.path.exists("stop%d" % i): # in the working folder: native
        try: open(path).close()
        except OSError: pass
    try: open(path).close(); got = "opened"
    except OSError as e: got = e.strerror
    with open("out", "a") as out: print(got, file=out)
open(path) # the last question
P
cat >"$TEST_TMP/human.py" <<'P'
import glob, json, os, socket, sys
run, work = sys.argv[1:3]
s = socket.socket(socket.AF_UNIX); s.connect(glob.glob(run + "/*.sock")[0]); s.settimeout(30)
f = s.makefile("rwb")
def say(**m): f.write(json.dumps(m).encode() + b"\n"); f.flush()
kept = [] # questions that came while something else was waited for
def hear(type, **want):
    if type == "event.fs_request" and kept: return kept.pop(0)
    for line in f:
        m = json.loads(line)
        if m["type"] == type and all(m.get(k) == v for k, v in want.items()): return m
        if m["type"] == "event.fs_request": kept.append(m)
def rounds():
    try: return len(open(work + "/out").readlines())
    except FileNotFoundError: return 0
asked = hear("event.fs_request")["id"]
for i in range(20):
    say(type="cmd.approve", id=asked, scope="session")
    rule = hear("event.rule", over=False)["rule"]
    # It runs by then: all opens in this time go by the rule.
    for _ in range(50): say(type="cmd.approve", id=999999); hear("reply", ok=False)
    say(type="cmd.revoke", rule=rule)
    hear("event.rule", rule=rule, over=True)
    open("%s/stop%d" % (work, i), "w").close()
    while True:
        asked = hear("event.fs_request")["id"]
        if rounds() > i: break # the next round's
        say(type="cmd.deny", id=asked)
print("done")
P
filters() { # of this session's gate: 2 is a filter
	local p
	for p in $(pgrep -f -- "--config $TEST_TMP/rules"); do
		[ "$(cat "/proc/$p/comm")" != cordon-gate ] || sed -n 's/^Seccomp:\t//p' "/proc/$p/status"
	done
}
revoked_at_once() {
	local run=$HOME/.local/state/cordon/run
	[ -z "${XDG_RUNTIME_DIR:-}" ] || run=$XDG_RUNTIME_DIR/cordon
	rm -f "$HOME/work/out" "$HOME/work"/stop*
	start 100 30 "$HOME/work" "$CORDON run --mode dynamic --set sandbox.read-gate=$gate \
--set approval.remember=0 --config $TEST_TMP/rules -- python3 opens.py"
	ok "$gate: a session asks" wait_for 15 sh -c "'$CORDON' pending | grep -q asked/f"
	[ "$gate" = trap ] || is "$(filters)" 2 "$gate: its server makes the system calls of a list, and no other"
	is "$(timeout 150 python3 "$TEST_TMP/human.py" "$run" "$HOME/work" 2>&1)" "done" \
		"$gate: it is allowed and taken back twenty times"
	wait_for 15 sh -c "[ \$(wc -l <'$HOME/work/out') = 20 ]"
	is "$(sort "$HOME/work/out" | uniq -c | xargs)" "20 Permission denied" \
		"$gate: what is taken back opens nothing that begins after"
	close_all
}

for gate in fuse trap; do
	what_is_no_file
	listed_as_outside
	revoked_at_once
done
done_testing
