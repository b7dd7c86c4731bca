#!/bin/bash
# attacks - makes the table of tests/escape/README.md, attack x backend x verdict, from the output of the escape tests.
# SPDX-License-Identifier: MIT
#
# usage: attacks.sh TAP-FOLDER [FILE]    FILE: put it there, between its two markers. See `make attacks`.
# A test counts for the attacks whose numbers its name begins with; *BACKEND=NAME* ran on backend NAME.
set -u
titles() {
	cat <<'E2'
1 a link that leads out, or to a secret
2 a link that is swapped while it is opened
3 a path that is rewritten while the call is held
4 a directory that is swapped for a link
5 descriptors, "..", a changing current directory
6 openat2 with every flag and size
7 O_PATH, opened again by /proc/self/fd
8 /proc/PID/root, cwd, fd, mem of others
9 hard links
10 every old and rare form of each call
11 file handles
12 a protected directory under another name
13 files that the host would run, not there yet
14 git configuration that runs programs
15 other spellings of a protected name
16 FIFOs, devices, shared memory
17 io_uring
18 32-bit and x32 system calls
19 namespaces, mounts, the new mount calls
20 namespace flags where no filter sees them
21 ptrace, process memory, descriptors of others; debuggers inside
22 signals to the host
23 descriptors that leak in
24 a storm of signals during held calls
25 filters of its own
26 bpf, perf, keyrings, modules, leases and the like
27 set-user-id programs, capabilities
28 abstract sockets
29 D-Bus and what listens in the runtime folder
30 docker, ssh-agent, gpg-agent, tmux, X11, Wayland
31 descriptors over sockets
32 typing into a terminal
33 hostile text in names and arguments
34 typing ahead of a question, pasting into it, resizing it
35 a flood of questions and refusals
36 ways out by every family and call
37 what git trusts: index, rebase, reflogs, remotes, links
38 a protected file by way of links, gitfiles, settings of git
39 what agents outside run of what an agent inside wrote
41 servers on the host's loopback
42 cordon's own settings, store, log, program
43 the environment
44 every way to run a program
45 changes that an undo log might miss
46 traps in the way of a restore
49 death of cordon or the keeper
50 all processes, files, memory, threads that can be had
51 the audit log: cut, edited, in disorder, its disk full
E2
}

# Attacks that a backend does not stop by design: BACKEND NUMBER what
weaker() {
	cat <<'E2'
landlock 1 names and attributes of what is hidden show
landlock 8 numbers of other processes show
landlock 22 that a process is there can be seen
landlock 30 names of sockets show
E2
}

# One line per test: BACKEND WHO NUMBER VERDICT
facts() {
	local file name backend who
	for file in "$1"/*; do
		name=${file##*/} backend=native who=root
		[[ $name != @(as-user|user-only)_* && $(id -u) = 0 ]] || who=user
		[[ $name =~ BACKEND=([a-z]+) ]] && backend=${BASH_REMATCH[1]}
		[[ $name != *_undo.sh ]] || sed -i -E 's/^((not )?ok [0-9]+ - )/\145: /' "$file"
		sed -nE 's/^(not )?ok [0-9]+ - ([0-9]+(,[0-9]+)*)[ :,].*/\1|\2|&/p' "$file" |
			while IFS='|' read -r bad numbers line; do
				verdict=held
				[[ $line != *'# SKIP'* ]] || verdict=skipped
				[ -z "$bad" ] || verdict=FAILED
				for number in ${numbers//,/ }; do echo "$backend $who $number $verdict"; done
			done
	done
}

table() {
	facts "$1" | awk -v titles="$(titles)" -v weak="$(weaker)" '
	BEGIN { n = split(titles, line, "\n")
		for (i = 1; i <= n; i++) { number[i] = line[i] + 0; title[i] = substr(line[i], index(line[i], " ") + 1) }
		n_weak = split(weak, line_of, "\n")
		for (i = 1; i <= n_weak; i++) { split(line_of[i], w, " "); less[w[1], w[2]] = substr(line_of[i], length(w[1] w[2]) + 3) } }
	{ if (!seen[$1]++) order[++backends] = $1
	  count[$1, $3, $2]++; if ($4 == "FAILED") failed[$1, $3]++; if ($4 == "held") held[$1, $3, $2]++; known[$3]++ }
	function cell(b, k) {
		if (failed[b, k]) return "**FAILED** (" failed[b, k] ")"
		if (!held[b, k, "root"] && !held[b, k, "user"]) return count[b, k, "root"] + count[b, k, "user"] ? "skipped" : "-"
		return "held, " held[b, k, "root"] + 0 " / " held[b, k, "user"] + 0 ((b, k) in less ? "; weaker: " less[b, k] : "") }
	END { # native first, the others by name; vm has a column without tests, too
		if (!seen["vm"]) order[++backends] = "vm"
		for (i = 2; i <= backends; i++) for (j = i; j > 1; j--)
			if (order[j] == "native" || (order[j - 1] != "native" && order[j] < order[j - 1])) {
				t = order[j]; order[j] = order[j - 1]; order[j - 1] = t }
		printf "| | attack |"; for (b = 1; b <= backends; b++) printf " %s |", order[b]
		printf "\n|---|---|"; for (b = 1; b <= backends; b++) printf "---|"; print ""
		for (i = 1; i <= n; i++) { if (!known[number[i]]) continue
			printf "| %d | %s |", number[i], title[i]
			for (b = 1; b <= backends; b++) printf " %s |", cell(order[b], number[i]); print "" } }'
}

text=$(table "$1")
[ -n "$text" ] || { echo "attacks: nothing was said in $1: run make attacks" >&2 && exit 1; }
printf '%s\n' "$text"
[ -n "${2:-}" ] || exit 0
new=$(awk -v text="$text" '/<!-- \/attacks -->/ { skip = 0 } !skip { print } /<!-- attacks -->/ { print text; skip = 1 }' "$2") &&
	printf '%s\n' "$new" >"$2"
