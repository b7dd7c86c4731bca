#!/bin/bash
# read_gate - SIGKILL of any process while reads are held: they fail, and nothing is left.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
[ -w /dev/fuse ] || skip_all "this user may not open /dev/fuse"
RANDOM=${CRASH_SEED:-20261122}

mkdir -p "$HOME/work" "$HOME/tree"
echo "the secret" >"$HOME/secret"
echo "in a tree" >"$HOME/tree/f"
printf "PS1='ready> '\nHISTFILE=\n" >"$HOME/work/rc"

waits() { "$CORDON" pending 2>/dev/null | grep -q -- "$1"; }
id_of() { "$CORDON" pending | grep -- "$1" | head -n 1 | cut -d' ' -f1; }
child() { # COMM - of the session's keeper
	local p
	for p in $(marked "$mark"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$1" ] || { echo "$p" && return; }
	done
	return 1
}

# begin - a console in which one open of ~/secret is held, and ~/tree is bound over the gate.
begin() {
	mark=$(new_mark)
	start 100 30 "$HOME/work" "exec $CORDON run --set console.on-hangup=end --mode dynamic --set sandbox.read-gate=fuse -- \
bash --noprofile --rcfile rc -i -s $mark"
	wait_for 15 screen_has 'ready>' || fail "a session runs"
	type_text 'cat ~/tree/f' && keys Enter
	wait_for 15 waits tree/f && "$CORDON" approve "$(id_of tree/f)" --scope session --extent tree >/dev/null
	wait_for 15 screen_has 'in a tree' || fail "a tree is granted"
	rm -f "$HOME/work/held"
	type_text 'cat ~/secret >held 2>&1; echo cat=$?' && keys Enter
	wait_for 15 waits secret || fail "an open is held"
}
nothing_is_left() {
	ok "$1: no process is left" wait_for 15 none_marked "$mark"
	unlike "$(cat /proc/self/mountinfo)" "cordon-gate" "$1: no mount is left"
	unlike "$(cat "$HOME/work/held" 2>/dev/null)" "the secret" "$1: what was held gave no byte"
	marked "$mark" | xargs -r kill -KILL 2>/dev/null
	tmux_ kill-server 2>/dev/null
}

for who in cordon-keeper cordon-init cordon; do
	begin
	if [ $who = cordon ]; then
		kill -KILL "$(pgrep -x cordon -P "$(tmux_ display-message -p -t =t: '#{pane_pid}')")"
	else
		kill -KILL "$(child "$who")"
	fi
	# A console whose sandbox has ended stays open to report that, until its key is pressed.
	[ $who = cordon ] || { wait_for 15 eval '! child cordon-init >/dev/null' && tmux_ kill-server; }
	nothing_is_left "SIGKILL of $who"
done

begin
kill -KILL "$(child cordon-gate)"
sees 'cat=1' "SIGKILL of the gate: what was held fails"
type_text 'clear; cat ~/secret; cat rc | head -n 1; cat ~/tree/f; echo now=$?' && keys Enter
sees 'now=[01]' "and the session goes on"
ok "nothing behind the gate can be read" screen_lacks "the secret"
tmux_ kill-server
nothing_is_left "SIGKILL of the gate"

begin
kill -KILL "$(child cordon-mounter)"
"$CORDON" approve "$(id_of secret)" >/dev/null
sees 'cat=0' "SIGKILL of the mounter: the gate goes on"
tmux_ kill-server
ok "SIGKILL of the mounter: no process is left" wait_for 15 none_marked "$mark"

# A thousand at once: whichever process ends, the waiting ones continue.
mkdir "$HOME/many" && for i in $(seq 1024); do echo "the secret $i" >"$HOME/many/f$i"; done
cat >"$HOME/work/many.py" <<'P'
import os, sys, threading
threading.stack_size(65536)
def one(i):
    try: print(open(os.path.expanduser("~/many/f%d" % i)).read(), flush=True)
    except OSError as e: print(e.strerror, flush=True)
threads = [threading.Thread(target=one, args=(i,)) for i in range(1, 1025)]
for t in threads: t.start()
for t in threads: t.join()
P
all_wait() { [ "$("$CORDON" pending --json 2>/dev/null | grep -c many/f)" = 1024 ]; }
none_waits() { [ -z "$("$CORDON" pending 2>/dev/null)" ]; }
hold_many() {
	mark=$(new_mark)
	start 100 30 "$HOME/work" "exec $CORDON run --set console.on-hangup=end --mode dynamic --set sandbox.read-gate=fuse -- \
bash --noprofile --rcfile rc -i -s $mark"
	wait_for 15 screen_has 'ready>' || fail "a session runs"
	rm -f "$HOME/work/held"
	type_text 'python3 many.py >held 2>&1; echo ended=$?' && keys Enter
	ok "$1: a thousand opens are held" wait_for 60 all_wait
}
hold_many "SIGKILL of the gate"
kill -KILL "$(child cordon-gate)"
sees 'ended=0' "SIGKILL of the gate: each of a thousand opens fails"
is "$(grep -c . "$HOME/work/held")" 1024 "SIGKILL of the gate: and says so"
tmux_ kill-server
nothing_is_left "SIGKILL of the gate, a thousand held"

hold_many "SIGKILL of the keeper"
kill -KILL "$(child cordon-keeper)"
wait_for 15 eval '! child cordon-init >/dev/null'
tmux_ kill-server
nothing_is_left "SIGKILL of the keeper, a thousand held"

hold_many "SIGKILL of cordon"
kill -KILL "$(pgrep -x cordon -P "$(tmux_ display-message -p -t =t: '#{pane_pid}')")"
nothing_is_left "SIGKILL of cordon, a thousand held"

hold_many "SIGKILL of the opener"
pkill -KILL -f "^python3 many.py" -P "$(pgrep -x bash -P "$(child cordon-keeper)")"
sees 'ended=137' "SIGKILL of the opener: it ends"
ok "SIGKILL of the opener: nothing waits any more" wait_for 30 none_waits
type_text 'clear; cat ~/tree/f; echo now=$?' && keys Enter
ok "SIGKILL of the opener: the gate goes on" wait_for 15 waits tree/f
tmux_ kill-server
nothing_is_left "SIGKILL of the opener"

# At random moments of start, work and end.
rounds=$(rounds 15)
for round in $(seq "$rounds"); do
	mark=$(new_mark)
	(cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic -- bash -c \
		": $mark; for i in \$(seq 300); do cat ~/secret ~/tree/f; ls ~; done") >/dev/null 2>&1 &
	pid=$!
	# Random on purpose.
	sleep "0.$(printf '%03d' $((RANDOM % 120)))"
	names=(cordon-keeper cordon-gate cordon-mounter cordon-init)
	who=${names[RANDOM % 4]}
	victim=$(child "$who") || victim=$pid
	kill -KILL "$victim" 2>/dev/null
	[ "$who" = cordon-keeper ] || [ "$who" = cordon-init ] || kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	wait_for 15 none_marked "$mark" || {
		fail "round $round: SIGKILL of $who leaves nothing" "$(ps -o pid,stat,wchan,comm,args -p "$(marked "$mark" | paste -sd,)")"
		marked "$mark" | xargs -r kill -KILL 2>/dev/null
	}
done
[ "$failed" != 0 ] || pass "$rounds kills at random moments leave nothing"
done_testing
