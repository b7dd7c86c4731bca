#!/bin/bash
# journal_verify - `cordon journal verify` finds damage, and dump prints the store.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
head -c 100k /dev/zero >big
echo a >a
name=$'odd\e[31m\nname'
echo odd >"$name"

"$CORDON" journal verify >/dev/null 2>&1
is $? 1 "there is nothing to verify yet"
in_folder . sh -c 'echo more >>big; mkdir new; mv a new/b; rm odd*; echo n >new/n'
in_folder . sh -c 'rm -r new; chmod 600 big'
out=$("$CORDON" journal verify)
is $? 0 "a store is sound"
like "$out" "is sound: 2 steps" "and what was looked at is said"
"$CORDON" undo >/dev/null
ok "also with a step that is undone" "$CORDON" journal verify
"$CORDON" redo >/dev/null
ok "and redone" "$CORDON" journal verify

out=$("$CORDON" journal dump 1)
like "$out" "content .*big" "dump: a file's content"
like "$out" "rename .*a -> new/b" "a rename"
like "$out" 'gone .*odd\\x1b\[31m\\nname' "names are escaped"
ok "every line is JSON" python3 -c 'import json,subprocess,sys
lines = subprocess.run([sys.argv[1], "journal", "dump", "--json"], capture_output=True).stdout.splitlines()
assert len(lines) > 10
for l in lines: json.loads(l)' "$CORDON"
out=$("$CORDON" journal dump 77 2>&1)
is $? 1 "a step that does not exist"
like "$out" "^cordon: there is no step 77$" "in one line"
for wrong in "" "check" "dump x" "dump 1 2" "verify 1" "--yes"; do
	# shellcheck disable=SC2086 # two words
	"$CORDON" journal $wrong >/dev/null 2>&1
	is $? 125 "journal '$wrong' is wrong usage"
done

store=$(ls -d "$HOME"/.local/state/cordon/work-*)
[ -d "$store/steps" ] || store=$dir/.cordon
printf x | dd of="$store/steps/1/undo" bs=1 seek=300 conv=notrunc 2>/dev/null
out=$("$CORDON" journal verify 2>&1)
is $? 1 "a changed byte is found"
like "$out" "damaged: steps/1: its undo log" "and the place is named"
like "$out" "cordon: the undo store .*--discard" "and what can be done"
out=$("$CORDON" undo -n 2 2>&1)
is $? 1 "such a step is not undone"
like "$out" "^cordon: " "in one line"
ok "the sound one is" "$CORDON" undo -n 1

# ---- one step's summary
in_folder . sh -c 'echo later >later'
newest=$("$CORDON" log --json | sed -n 's/^{"id":\([0-9]*\),.*/\1/p' | head -n 1)
: >"$store/steps/1/summary"
out=$("$CORDON" log)
is $? 0 "log lists all steps, one of which has a damaged summary"
is "$(grep -c '^ ' <<<"$out")" 3 "each in a row"
like "$out" $'\n +1 [^\n]*damaged: `cordon journal verify`' "the damaged one is marked"
like "$("$CORDON" log later)" "damaged" "also where nobody knows whether it touched a path"
ok "another step is shown" "$CORDON" diff "$newest"
for command in "diff 1" "undo -n 2" "undo --force -n 2" "undo --step 1 -- big"; do
	# shellcheck disable=SC2086 # words
	out=$("$CORDON" $command 2>&1)
	is $? 1 "$command: it is in the way"
	like "$out" "^cordon: step 1 is damaged: .*journal verify.*--prune[^"$'\n'"]*$" "which one, and what can be done, in one line"
done
ok "another step is undone" "$CORDON" undo
ok "it has gone" test ! -e later
ok "and redone" "$CORDON" redo
is "$(cat later)" later "it is back"
ok "what is damaged and older can be thrown away" "$CORDON" log --prune --keep 1 --yes
ok "then all is sound" "$CORDON" journal verify
done_testing
