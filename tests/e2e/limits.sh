#!/bin/bash
# limits - a step that exceeds its limit, old steps that are dropped, and runs without undo.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
run() { # SETTING... -- COMMAND
	local set=()
	while [ "$1" != -- ]; do
		set+=(--set "$1")
		shift
	done
	shift
	"$CORDON" run --headless "${set[@]}" -- "$@"
}
steps() { "$CORDON" log --json | grep -c '"undone":false'; }

head -c 300k /dev/urandom >one
head -c 300k /dev/urandom >two
echo small >small
t0=$(content .)
run journal.size=400k -- sh -c 'rm one; rm two; echo more >>small' 2>said
like "$(cat said)" "^cordon: step [0-9]+ cannot be undone as a whole: unprotected from here: unlink 'two'.*\\(rm one" \
	"who has no console is told"
rm said
like "$("$CORDON" log)" "unprotected from here: unlink 'two'" "the log says from where on a step is unprotected"
like "$("$CORDON" log --json)" '"unprotected":true' "and the JSON"
like "$("$CORDON" audit --json)" "unprotected from here: unlink 'two'" "and the audit log"
out=$("$CORDON" diff 2>&1)
like "$out" "a/two b/two.deleted file mode 100644.The content before this step is not kept" "and the diff"
unlike "$out" "changed since|cordon:" "nobody is blamed for it"
out=$("$CORDON" undo --step 1 -- two 2>&1)
is $? 1 "nor can it be had back alone"
like "$out" "^cordon: what was at 'two' before step 1 is not kept" "which is said"
out=$("$CORDON" undo --step 1 --force -- two 2>&1)
like "$? $out" "^1 cordon: what was at 'two' before step 1 is not kept" "by no means"
like "$("$CORDON" undo --dry-run)" "two   LOST" "a dry run names what cannot come back"
out=$("$CORDON" undo --step 1 --dry-run -- .)
like "$out" "two   LOST" "so does one of single paths"
like "$out" "one(.[AM] .*|)$" "and nothing else"
out=$("$CORDON" undo --step 1 -- . 2>&1)
is $? 1 "a restore of it and more stops"
like "$out" "cordon: what was at 'small' before step 1 is not kept.*--force brings back the rest" "and says what would not"
is "$(ls)" small "nothing was touched"
like "$("$CORDON" undo --step 1 --force -- .)" "restored: .* 1 path, by step [0-9]+$" "undo --step --force"
ok "what was kept is back" test -s one
is "$(cat small)" "$(printf 'small\nmore')" "what changed unprotected stays"
ok "and undo takes it away" "$CORDON" undo
out=$("$CORDON" undo 2>&1)
is $? 1 "such a step is not undone just so"
like "$out" "cordon: .*is not kept.*--force" "and it says what would"
out=$(echo y | script -qec "$CORDON undo" /dev/null 2>&1)
like "$out" "not kept; bring back the rest" "who sits at a terminal is offered the rest"
ok "what was kept is back" test -s one
is "$(test -e two; echo $?)" 1 "what was not is not"
is "$(cat small)" "$(printf 'small\nmore')" "what changed unprotected stays"
ok "redo" "$CORDON" redo
is "$(ls)" small "and redo brings the rest back"

# Deleted or replaced files are moved into the store and cost no copy; `touch` writes nothing.
rm -f -- *
head -c 300k /dev/urandom >one
head -c 300k /dev/urandom >two
head -c 300k /dev/urandom >three
touch -d 2001-01-01 three
t0=$(content .)
run journal.step-size=100k -- sh -c 'rm one; mv one.none x 2>/dev/null; echo new >new; mv new two; touch three; echo more >>four' 2>said
like "$("$CORDON" log --json | head -n 1)" '"incomplete":false' "what is moved does not count against journal.step-size"
rm said
ok "undo" "$CORDON" undo
is "$(content .)" "$t0" "brings all of it back"

# A run without a console that may not continue without undo.
run journal.step-size=100k safeguard.beyond=deny -- sh -c 'echo 1 >first; echo more >>one; echo 2 >second' 2>"$TEST_TMP/said"
like "$(cat "$TEST_TMP/said")" "was stopped and rolled back: it reached what undo can keep .safeguard.beyond." "safeguard.beyond=deny stops it"
is "$(content .)" "$t0" "and all is back"
run journal.step-size=100k -- sh -c 'echo 1 >first; echo more >>one; echo 2 >second' 2>"$TEST_TMP/said"
like "$(cat "$TEST_TMP/said")" "cannot be undone as a whole: unprotected from here: write 'one': journal.step-size" "else it is said at the end"
ok "undo --force" "$CORDON" undo --force

rm -f -- *
printf '%s' x >f
t0=$(content .)
for i in 1 2 3 4 5; do run journal.steps=3 -- sh -c "echo $i >>f"; done
is "$(steps)" 4 "when a session begins there are at most as many steps as are wanted"
like "$("$CORDON" log | head -n 1)" '^[0-9]+ older steps, up to [0-9]+, are no longer kept' "cordon log says first what went"
unlike "$("$CORDON" log --json | head -n 1)" "older step" "but not as JSON"
ok "undo those" "$CORDON" undo -n 4
is "$(cat f)" "x1" "only they can be undone"

# Processes inside make many steps: none of these is dropped, nor any before them.
rm -f -- * && echo precious >p && echo human >earlier
run -- sh -c 'echo changed >earlier'
many='ask() { exec 3<>"/run/cordon/step/$1" && read -r line <&3 && echo "$line"; exec 3>&-; }
	ask begin/ruin; echo ruined >p; ask end
	for i in $(seq 120); do ask begin/$i; echo >f$((i % 7)); ask end; done; rm -f f3'
n=$(steps)
out=$(run journal.steps=1 -- bash -c "$many" 2>&1)
like "$out" "the history is full: commands that run within five seconds are one step" "a full history begins no step"
like "$out" "cordon: .*the history is full" "which a headless run says aloud: $(tail -n 3 <<<"$out")"
like "$("$CORDON" log p)" "ruin" "the step that did the damage is there"
while [ "$(cat p)" != precious ] && "$CORDON" undo; do :; done >/dev/null 2>&1
is "$(cat p)" precious "and can be undone"
while "$CORDON" undo; do :; done >/dev/null 2>&1
is "$(cat earlier)" human "like what was done before the session"

# The newest changes can be undone in parts, whatever came before.
rm -f -- *
run journal.steps=10 -- bash -c 'ask() { exec 3<>"/run/cordon/step/$1" && read -r line <&3; exec 3>&-; }
	for i in $(seq 1000); do ask begin/$i; echo $i >f$((i % 7)); ask end; done
	ask begin/last; echo >last; ask end; echo one >first; sleep 5.5; echo two >second' 2>"$TEST_TMP/said"
like "$(cat "$TEST_TMP/said")" "the history is full" "a thousand steps fill a history of ten"
ok "undo" "$CORDON" undo
is "$(cat first second 2>/dev/null)" one "takes back what the last five seconds changed"
ok "undo again" "$CORDON" undo
is "$(echo *)" "f0 f1 f2 f3 f4 f5 f6" "and then what came before that"
"$CORDON" undo -n 2 >"$TEST_TMP/said"
is "$(cat f6 f5)" $'993\n992' "and each step alone: $(cat "$TEST_TMP/said")"

big=$(head -c 200k /dev/zero | tr '\0' x)
for i in 1 2 3 4 5 6; do run journal.size=512k -- sh -c "echo '${big:0:100}' >f$i; head -c 300k /dev/urandom >big"; done
ok "at most as many bytes" test "$(du -sk "$HOME/.local/state/cordon/"*/steps 2>/dev/null | awk '{s += $1} END {print s + 0}')" -le 900
ok "the newest step is there" test "$(steps)" -ge 1

t0=$(content .)
run journal.undo=false -- sh -c 'rm -f big; mkdir new; echo n >new/n; mv f new/f; chmod 600 f1'
t1=$(content .)
isnt "$t1" "$t0" "without undo the command works as always"
like "$("$CORDON" log)" "journal.undo is false" "the log says that nothing was recorded"
out=$("$CORDON" undo 2>&1)
is $? 1 "and it is not undone"
same "$(content .)" "$t1" "nothing changed"
prune() { "$CORDON" log --prune "$@"; }
for i in 1 2 3 4 5 6; do run -- sh -c "echo $i >>f1"; done
t1=$(content .)
n=$(steps)
out=$(prune --keep 4 2>&1)
is $? 1 "prune asks first"
like "$out" "nobody to ask.*--yes" "and says how it is done without"
is "$(steps)" "$n" "nothing is gone"
ok "prune --keep" prune --keep 4 --yes
is "$(steps)" 4 "so many stay"
ok "prune of what is within bounds" prune --keep 4 --older-than 1 --size 1g --yes
is "$(steps)" 4 "changes nothing"
ok "prune --older-than" prune --older-than 0 --yes
is "$(steps)" 0 "all of them are older than no time"
same "$(content .)" "$t1" "the folder is as it was"
for wrong in "--keep" "--keep x" "--older-than 1d" "--size -1" ""; do
	# shellcheck disable=SC2086 # two words
	prune $wrong --yes >/dev/null 2>&1
	is $? 125 "prune '$wrong' is wrong usage"
done
start_in . sleep 600
wait_for 20 sh -c '! "$CORDON" log --prune --keep 1 --yes 2>/dev/null'
like "$(prune --keep 1 --yes 2>&1)" "another cordon \(process [0-9]+\)" "not beside a session"
kill "$pid"
wait "$pid" 2>/dev/null

out=$(run journal.steps=none -- true 2>&1)
is $? 125 "a bad limit is refused"
like "$out" "journal.steps" "by name"
done_testing
