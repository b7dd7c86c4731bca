#!/bin/bash
# starting - other processes during a start: another start, a signal, changed rules.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox flock
state=$HOME/.local/state/cordon
dir=$(new_folder w)
cd "$dir" || exit 1
ok "a session, which makes the store and the audit log" in_folder . sh -c 'echo 1 >f'
log=$(echo "$state"/audit/*.ndjson) lock=$(echo "$state"/*/lock)

# hold FILE - locks it like another cordon, until the file "go" exists.
hold() {
	rm -f go held
	flock -o "$1" sh -c 'echo >held; until [ -e go ]; do sleep 0.02; done' &
	wait_for 20 test -e held
}
# waited_for FILE - the session, or a process that began after it, has the file open. Without a fork: on a busy host each
# takes a part of the second for which a start waits.
waited_for() {
	local p fd
	for p in /proc/[0-9]*; do
		[ "${p#/proc/}" -ge "$pid" ] || continue
		for fd in "$p"/fd/*; do [ ! "$fd" -ef "$1" ] || return 0; done
	done
	return 1
}

# Of two that start together, one has the store and the other the log, as long as its keeper waits for the store: a
# second. A start waits for one lock longer than that, but not as long as another whole start.
flock "$log" sh -c 'echo >held; sleep 1.5' &
wait_for 20 test -e held
ok "a log that another has for the time of its vain start is waited for" in_folder . sh -c 'echo 2 >f'
wait
like "$(cordon_in . log)" "echo 2 >f" "that session's step is kept"
ok "and its log is whole" cordon_in . audit verify

# Meanwhile the keeper starts the command.
rm -f up held
flock "$log" sh -c 'echo >held; sleep 1.5' &
wait_for 20 test -e held
start_in . sh -c 'trap "exit 7" TERM; echo >up; while :; do sleep 0.05; done'
wait_for 20 test -e up
kill -TERM "$pid"
wait "$pid"
is $? 7 "a signal that comes before the log is there is the command's as well"
wait

# So does the console's: a signal to end waits until there is a command.
rm -f up held
flock "$log" sh -c 'echo >held; sleep 1.5' &
wait_for 20 test -e held
start 100 30 "$dir" "$CORDON run -- sh -c 'echo 3 >third; echo >up; exec sleep 60'"
wait_for 20 test -e up
pkill -TERM -P "$(tmux_ display-message -p -t =t: '#{pane_pid}')"
ended "a console that is ended before the log is there ends as one that was" 143
terminal_is_sane "and then"
wait
ok "what its agent had done is kept" test -e third
like "$(cordon_in . log)" "third" "as a step"

hold "$lock"
out=$(in_folder . true 2>&1)
isnt $? 0 "a folder that another has stays refused"
like "$out" "^cordon: another cordon" "and it is said why"
touch go
wait

# The rules are read, then the keeper waits for the store: changes meanwhile count as well.
mkdir -p "$HOME/.config/cordon" "$HOME/tree"
echo secret >"$HOME/tree/a"
late_rule() { # false: it has waited for too long
	rm -f "$HOME/.config/cordon/config" up end
	hold "$lock"
	start_in . sh -c 'echo >up; until [ -e end ]; do sleep 0.02; done; cat ~/tree/a >out'
	wait_for 20 waits_or_has_ended
	printf '[rule "r"]\n\tallow = read ~/tree/**\n' >"$HOME/.config/cordon/new"
	mv "$HOME/.config/cordon/new" "$HOME/.config/cordon/config"
	touch go
	wait_for 20 started_or_ended
	[ -e up ]
}
waits_or_has_ended() { waited_for "$lock" || has_ended "$pid"; }
started_or_ended() { [ -e up ] || has_ended "$pid"; }
for _ in $(seq 20); do
	late_rule && break
	: >end # of one that has only been slow
	wait
done
ok "a session whose rules changed while it started" test -e up
ok "reads them again" wait_for 20 sh -c '"$CORDON" audit --json | grep -q "rules reloaded"'
touch end
wait "$pid"
is "$(cat out)" secret "and goes by them"
done_testing
