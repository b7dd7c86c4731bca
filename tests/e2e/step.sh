#!/bin/bash
# step - `cordon step begin|end|abort` from inside: several commands as one step, or none of them.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir keep && echo one >keep/a && echo two >b
t0=$(tree .)
PATH=$(dirname "$CORDON"):$PATH

steps() { "$CORDON" log --json | grep -c '"undone": *false'; }
commands() { # oldest first
	"$CORDON" log --json | python3 -c '
import json, sys
print("".join(s["command"] + ";" for s in map(json.loads, reversed(sys.stdin.readlines())) if not s["undone"]))'
}
undo_all() { while "$CORDON" undo; do :; done >/dev/null 2>&1; }

# ---- one headless run is one step, and begin and end split it
in_folder . sh -c '
	echo before >before
	cordon step begin "the middle"; echo x >in1; sh -c "echo y >in2"; rm b
	cordon step end "the middle"
	echo after >after' >"$TEST_TMP/out" 2>&1
is "$(cat "$TEST_TMP/out")" $'begun\nstep 2: 3 paths' "begin and end say what they did"
t1=$(tree .)
is "$(steps)" 3 "three steps"
like "$(commands)" "before >before.*;the middle;.*before >before" "with the name in the middle"
like "$("$CORDON" diff 2 --stat)" "in1" "the step holds what was changed between"
unlike "$("$CORDON" diff 2 --stat)" "before|after" "and nothing else"
ok "undo -n 2" "$CORDON" undo -n 2
ok "what was before stays" test -e before
ok "what was in the step is gone" test ! -e in1 -a -e b
ok "redo" "$CORDON" redo
same "$(tree .)" "$t1" "is all of it again"
undo_all
same "$(tree .)" "$t0" "undone, exactly"

# ---- abort
out=$(in_folder . sh -c '
	echo before >before
	cordon step begin try; rm -rf keep; echo new >new; mv b c
	cordon step abort
	ls; cat keep/a b' 2>&1)
is "$out" $'begun\nrolled back: 5 paths; redo has it\nb\nbefore\nkeep\none\ntwo' "abort takes all of it back, and those inside go on"
is "$(steps)" 1 "the step is not in the history"
like "$("$CORDON" log)" "try.*undone" "but among those that redo brings back"
ok "redo" "$CORDON" redo
ok "has it" test ! -e keep -a -e new -a -e c
undo_all
same "$(tree .)" "$t0" "undone, exactly"
in_folder . sh -c 'cordon step begin empty; cordon step abort; cordon step begin empty; cordon step end' \
	>"$TEST_TMP/out" 2>&1
is "$(sort -u "$TEST_TMP/out" | tr '\n' ';')" "begun;nothing was changed;" "an empty step"
is "$(steps)" 0 "is not kept"

# ---- refusals
refused() { # NAME REGEX SCRIPT
	in_folder . sh -c "$3" >"$TEST_TMP/out" 2>&1
	is "$?" 1 "$1: status 1"
	like "$(cat "$TEST_TMP/out")" "(^|"$'\n'")cordon: step: $2" "$1: says why"
}
refused "end without begin" 'no step is open' 'cordon step end'
refused "abort without begin" 'no step is open' 'cordon step abort'
refused "begin twice" "'one' is still open" 'cordon step begin one; cordon step begin two'
refused "end of another" "the step that is open is 'one'" 'cordon step begin one; cordon step end two'
refused "no name" 'give the step a name' 'cordon step begin ""'
refused "a long name" 'give the step a name' 'cordon step begin "$(printf %0201d 1)"'
refused "a very long name" 'the name is too long' 'cordon step begin "$(printf %05000d 1)" || exit 1'
for usage in "" "begin" "begin a b" "end a b" "abort a" "other" "begin/x"; do
	# shellcheck disable=SC2086 # words
	out=$(in_folder . cordon step $usage 2>&1)
	is "$?" 125 "bad usage: '$usage'"
	like "$out" "^cordon: step: " "and it says so"
done
out=$(cordon step begin x 2>&1)
is "$?" 125 "outside of a sandbox"
like "$out" "^cordon: step: not inside a sandbox" "it says so"
ok "and nothing was made" test ! -e /run/cordon/step

# ---- hostile names; a client of its own
in_folder . bash -c 'cordon step begin "$(printf "a/../b\033[2J\n%s" "c")"; echo x >x; cordon step end' >/dev/null 2>&1
like "$("$CORDON" log)" 'a/\.\./b\\x1b\[2J\\nc' "a name is escaped where it is shown"
undo_all
out=$(in_folder . bash -c '
	exec 3<>/run/cordon/step/begin/mine; cat <&3
	echo x >x
	exec 3<>/run/cordon/step/end; cat <&3
	exec 3<>/run/cordon/step/what; cat <&3
	exec 3<>/run/cordon/step/reviewed/1.1; cat <&3
	exec 3<>/run/cordon/step/; cat <&3
	ls -a /run/cordon/step 2>&1')
like "$out" "begun.*step [0-9]+: 1 path.*refused: .*refused: no point 1.1 was sent; none is open.*refused: .*No such file" "any program can open the path: it is no file"
for i in 1 2 3; do "$CORDON" undo >/dev/null 2>&1; done
# Many at once: each one gets an answer.
out=$(in_folder . bash -c 'for i in $(seq 200); do (exec 3<>/run/cordon/step/begin/n$i; cat <&3) & done; wait; echo end' |
	cut -d: -f1 | sort | uniq -c | tr -s ' \n' ' ')
is "$out" " 1 begun 1 end 199 refused " "two hundred begin at once: one does"

# ---- processes
out=$(in_folder . sh -c '
	cordon step begin busy
	sh -c "echo x >x; exec sleep 60" & until [ -s x ]; do :; done
	cordon step abort; echo $?; ls x
	kill $!; wait; cordon step abort; ls x' 2>&1)
like "$out" "cordon: step: '(sh|sleep)' \(pid [0-9]+\) is still at work in it" "abort while a child of the step runs"
like "$out" $'\n1\nx\n' "is refused and changes nothing"
like "$out" $'rolled back: 1 path; redo has it\nls: ' "and works when it has ended"
out=$(in_folder . sh -c 'sleep 60 & cordon step begin idle; echo x >x; cordon step abort; kill $!' 2>&1)
like "$out" "rolled back: 1 path" "a process that has changed nothing in it does not count"
out=$(in_folder . sh -c 'cordon step begin piped; echo x >x; cordon step abort 2>&1 | cat; ls x' 2>&1)
like "$out" "rolled back: 1 path" "nor does the rest of a pipeline"

# A script that dies without `end`: later commands are not in its step.
printf '#!/bin/sh\ncordon step begin script\necho s >s\nexit 3\n' >"$TEST_TMP/script" && chmod +x "$TEST_TMP/script"
cp "$TEST_TMP/script" script
undo_all
in_folder . bash -c './script; until grep -q . log 2>/dev/null; do sleep 0.3; echo late >>log; done; sleep 0.3' >/dev/null
is "$(steps)" 2 "a step ends with the script that began it"
like "$(commands)" "^script;" "and has its name"
ok "undo" "$CORDON" undo
ok "takes back what came after" test ! -e log -a -e s
undo_all
# The session's own step ends with the session.
in_folder . sh -c 'cordon step begin open; echo o >o' >/dev/null
is "$(commands)" "open;" "a step that nobody ends is kept when the session ends"
undo_all

# Commands about histories and sessions say where they work.
for words in log diff 'undo --dry-run' audit sessions pending 'attach x' 'journal verify'; do
	out=$(in_folder . sh -c "cordon $words; echo ended \$?" 2>&1)
	is "$out" "cordon: ${words%% *}: cordon's own commands do not work inside the sandbox, only \`cordon step\`, \`cordon review\` and \`cordon hook\` do: use another terminal
ended 125" "cordon $words inside"
done
like "$(in_folder . cordon log --help 2>&1)" "usage: cordon log" "the help is shown inside, too"
unlike "$(env CORDON=1 "$CORDON" log 2>&1)" "inside the sandbox" "outside, the variable alone says nothing"

# SIGKILL during a step: it is rolled back at the next start, like any open step.
t0=$(tree .)
start_in . sh -c 'cordon step begin torn; rm -rf keep; echo n >n; echo ready >ready; sleep 600'
ok "it runs" wait_for 20 test -s ready
kill -KILL "$pid"
wait "$pid" 2>/dev/null
nothing_left() { "$CORDON" undo 2>&1 | grep -q "nothing to undo"; }
ok "the next start finds nothing to undo" wait_for 20 nothing_left
same "$(tree .)" "$t0" "cordon dies: what was open is as it was before"
done_testing
