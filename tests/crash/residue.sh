#!/bin/bash
# residue - a session leaves nothing behind, however it ended: everything is counted before and after.
# SPDX-License-Identifier: MIT
# timeout: 3600
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
sessions=${SESSIONS:-$((12 / ${TEST_FEWER:-1}))}
RANDOM=${CRASH_SEED:-20261122}

# In pid and mount namespaces of this test's own, every process and mount belongs to a session.
if [ -z "${INSIDE:-}" ]; then
	export INSIDE=1 OWN_UID=$UID
	if [ "$UID" = 0 ]; then exec unshare -mpf --mount-proc "$0"; fi
	exec unshare --user --map-root-user -mpf --mount-proc sh -c \
		'mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && exec unshare --user --map-user="$OWN_UID" --map-group="$OWN_UID" "$0"' "$0"
fi
[ "$UID" != 0 ] || { mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm; }

awk '{ print $1 }' /proc/self/mountinfo >"$TEST_TMP/mounts"
export XDG_RUNTIME_DIR=$TEST_TMP/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
dir=$(new_folder work)
cd "$dir" || exit 1
state=$HOME/.local/state/cordon

# shellcheck disable=SC2009 # all processes, without this script and the commands of the list
processes() { ps -e -o pid=,stat=,args= | grep -vE "^ *($$|1) |^ *[0-9]+ Z| (ps -e|grep) |residue\.sh"; }
no_process() { [ -z "$(processes)" ]; }
# Everything else that a session could leave; numbers of steps and copies are ignored.
left() {
	# the host may unmount some here, too
	awk '{ print $1 }' /proc/self/mountinfo | grep -vxFf "$TEST_TMP/mounts"
	echo "sockets $(grep -cF "$TEST_TMP" /proc/net/unix)"
	echo "ipc $(cat /proc/sysvipc/* | wc -l)"
	find "$XDG_RUNTIME_DIR" /tmp /dev/shm -mindepth 1
	find "$HOME" "$dir" \( -path '*/trash/*' -o -path "$state/*/saved" -o -path '*/posts/*' -o -path '*/barriers/*' -o -path "$state/*/pruned" -o -path "$state/homes" \) -prune -o -print | sed -E 's|/[0-9]+(/\|$)|/N\1|g' | sort -u
	find "$state" -path '*/open/*'
	# the backend makes empty directories for tools before the start; a session that ran nothing removes them
	find "$state/homes" -type f ! -name folder 2>/dev/null
	# evicted steps wait for an idle moment, their barriers are kept, and so are writes of processes inside after
	# the keeper's death: none of it may accumulate
	for kept in trash posts barriers; do
		[ "$(find "$state" -path "*/$kept/*" -prune -print | wc -l)" -le 12 ] || echo "$kept grows without end"
	done
}
run() { "$CORDON" run --headless --backend "$backend" --set journal.steps=3 --set sandbox.processes=4000 -- "$@"; }
busy() {
	exec "$CORDON" run --headless --backend "$backend" --set journal.steps=3 --set sandbox.processes=4000 -- \
		sh -c ': the agent of '"$TEST_TMP"'; (setsid sleep 300 &); (sleep 300 &) ; t=${TMPDIR:-/tmp}/closed
			mkdir -p "$t/$(printf "%0200d" 0 | sed s,0,d/,g)"; chmod 0 "$t"; for i in $(seq 25); do echo $i >>log; cp log copy; rm -f new
			echo $i >new; mkdir -p d/e; mv new d/e; rm -r d; done; sleep 0.1' >/dev/null 2>&1
}
clean() { run sh -c 'echo x >>log; cp log copy; rm -f new; echo y >new' && run sh -c 'rm -rf d; echo z >>log; rm copy; cp log copy'; }

# init_of KEEPER - pid 1 of its sandbox: its own child, or that of its bwrap
init_of() {
	local children
	[ -n "$1" ] && children=$(pgrep -P "$1" | paste -sd,)
	[ -z "${children:-}" ] || pgrep -x cordon-init -P "$1,$children" | head -n 1
}

# end WHO - kills a part of the session; fails if it does not exist, or no longer
end() {
	local keeper inside
	keeper=$(pgrep -P "$pid" -x cordon-keeper | head -n 1)
	inside=$(init_of "$keeper")
	case $1 in
	cordon) kill -KILL "$pid" ;;
	term) kill -TERM "$pid" ;;
	keeper) kill -KILL "$keeper" ;;
	both) kill -KILL "$pid" ${keeper:+"$keeper"} ;;
	builder) kill -KILL "$inside" ;;
	maker) pkill -KILL -x bwrap -P "$keeper" ;;
	agent) pkill -KILL -f "^sh -c : the agent of $TEST_TMP;" ;;
	nobody) ;;
	esac 2>/dev/null
}

for backend in $("$CORDON" doctor --json | sed -n 's/^{"backend":"\([a-z]*\)",.*"starts":true.*/\1/p' | grep -vx vm); do # a boot takes seconds: vm.sh
	clean && clean || fail "$backend: a clean session"
	wait_for 10 no_process
	before=$(left) ended=
	began=${EPOCHREALTIME/./}
	(busy) && wait_for 10 no_process || fail "$backend: a session that nobody ends"
	whole=$(((${EPOCHREALTIME/./} - began) / 1000))
	for n in $(seq "$sessions"); do
		who=$(printf '%s\n' cordon term keeper both builder maker agent nobody | sed -n "$((RANDOM % 8 + 1))p")
		# every second one during the start, the others at any time, the end included
		delay=$((RANDOM % (n % 2 ? 120 : whole)))
		busy &
		pid=$!
		sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))" # a random time is intended
		end "$who" && ended+="$who "
		wait "$pid" 2>/dev/null
		wait_for 10 no_process || {
			fail "$backend: session $n, $who killed after $delay ms: no process is left" "$(processes)"
			break
		}
		wait_for 10 no_group || fail "$backend: session $n, $who killed after $delay ms: no cgroup is left" "$(session_groups)"
	done
	note "$backend: ended by $(tr ' ' '\n' <<<"${ended% }" | sort | uniq -c | tr -s ' \n' ' ')"
	is "$n" "$sessions" "$backend: $sessions sessions, killed at random points: no process and no cgroup is left"
	clean || fail "$backend: a clean session after them"
	wait_for 10 no_process
	same "$(left)" "$before" "$backend: mounts, sockets, files: as before"
	ok "$backend: the audit log is whole" "$CORDON" audit verify
done
done_testing
