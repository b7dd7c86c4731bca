#!/bin/bash
# start_calls - how many system calls a headless start makes, by process; needs strace.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox strace
dir=$(new_folder work)
cd "$dir" || exit 1
trace=$TEST_TMP/trace

# The numbers depend on these: variables that name certificates, directories of PATH.
run() { env -i HOME="$HOME" PATH=/usr/bin:/bin TEST_TMP="$TEST_TMP" "$@" "$CORDON" run --headless -- true; }
run && run || exit 1 # the first ones make the store
run strace -f -qq -y -o "$trace" >"$TEST_TMP/out" 2>&1 || skip_all "strace cannot look at it"

# NAME CALLS for each process, by its own name. Root's search of /etc, /var and /boot depends on their content, the
# limits' on the running processes.
by_process() {
	awk '/resumed|^[0-9]+ +(---|\+\+\+)/ { next }
		!first { first = $1; name[first] = "session" }
		match($0, /PR_SET_NAME, "[^"]*/) { name[$1] = substr($0, RSTART + 14, RLENGTH - 14) }
		/execve\("\/usr\/bin\/true"/ { name[$1] = "agent" }
		/[("<]\/(etc|var|boot)[\/>"]/ && name[$1] == "session" { next }
		{ n[$1]++ }
		END { for (p in n) { if (!name[p]) name[p] = "others"; sum[name[p]] += n[p] }
			for (s in sum) print s, sum[s] }' "$trace"
}
calls=$(by_process)
note "$calls"
note "the most usual: $(awk '!/resumed/ { sub(/\(.*/, "", $2); n[$2]++ } END { for (c in n) print n[c], c }' "$trace" | sort -rn | head -n 12 | tr '\n' ' ')"

# at_most NAME LIMIT - a tenth or more above the number when the line was written
at_most() {
	local got
	got=$(awk -v name="$1" '$1 == name { print $2 }' <<<"$calls")
	ok "$1: at most $2 system calls (${got:-0})" test "${got:-0}" -le "$2"
}
at_most session 700
at_most cordon-keeper 1150
at_most cordon-init 400
at_most cordon-mounter 320
at_most cordon-gate 560
at_most agent 500
unlike "$(cat "$trace")" 'libssl|libgit2|/replays?/|[.]theme"' "nothing of TLS, git, recordings or themes is opened"

# A history beyond its limits is pruned beside the agent, not before it.
step='ask() { exec 3<>"/run/cordon/step/$1" && read -r line <&3; exec 3>&-; }'
"$CORDON" run --headless -- bash -c "$step"'; for i in $(seq 150); do ask begin/$i; echo $i >f$((i % 7)); ask end; done'
steps() { "$CORDON" log --json | grep -c '"undone":false'; }
is "$(steps)" 150 "a history of 150 steps"
strace -f -qq -o "$trace" "$CORDON" run --headless --set journal.steps=20 -- true >"$TEST_TMP/out" 2>&1
is $? 0 "the next session"
# An ordinary user cannot see the names that a keeper uses after the agent's start.
moves=$(grep -c ' renameat(' "$trace")
ok "removes what is too much ($moves)" test "$moves" -ge 130
like "$(cat "$TEST_TMP/out")" "the oldest steps, [0-9]+ to [0-9]+, can no longer be undone" "and says so"
before=$(sed '/execve("[^"]*\/true"/q' "$trace" | grep -c '"steps/')
ok "but reads and removes no step before the agent runs ($before)" test "$before" = 0
is "$(steps)" 20 "the limit holds"
done_testing
