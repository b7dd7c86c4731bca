#!/bin/bash
# vm_cases - undo, barriers, safeguards and the attacks on paths, in one guest of many commands.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/lib.sh"
need git python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
. "$(dirname "$0")/../support/vm.sh"
. "$(dirname "$0")/../support/mine.sh"
vm_settings ''
T=$TOOLS/escape
dir=$(new_folder work) outside=$(new_folder outside)
cd "$dir" || exit 1
git init -q . && echo plain >plain && mkdir -p sub .vscode && echo '{}' >.vscode/settings.json
printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && ln .git/hooks/pre-commit alias
mkdir many && (cd many && seq -f 'f%g' 12 | xargs touch)
mkdir -p "$HOME/.ssh" && echo "SECRET key" >"$HOME/.ssh/id" && echo "SECRET env" >.env && echo "SECRET outside" >"$outside/file"
ln -s "$HOME/.ssh/id" to-key && ln -s .git/hooks/post-checkout to-hook && ln -s "$dir/.git/hooks" bad-link && mkdir good
hook=.git/hooks/pre-commit new=.git/hooks/post-checkout
cd "$vm_tree" || exit 1
guest_start "$dir" safeguard.deletes=5
cd "$dir" || exit 1
calls() { # NAME OPERATION JSON - it succeeds; its answer is in $answer
	answer=$(guest_call "$2" "$3" 2>&1) && pass "$1" || fail "$1" "$answer"
}
does() { # NAME COMMAND - a step
	guest_run sh -ec "$2" </dev/null >"$TEST_TMP/out" 2>&1 && pass "$1" || fail "$1" "$(cat "$TEST_TMP/out")"
}

# ---- undo

before=$(tree .)
does "a first step" 'echo 1 >one; rm plain; mkdir d; echo x >d/f'
first=$(tree .)
does "a second" 'mv d e; ln one two; chmod 600 one; ln -s e link; mkfifo fifo'
does "a third" 'rm -r e; echo more >>two'
after=$(tree .)
calls "two steps are undone" undo.rollback '{"steps": 2}'
same "$(tree .)" "$first" "exactly"
calls "and redone" undo.redo '{}'
same "$(tree .)" "$after" "exactly"
calls "all are undone" undo.rollback '{"steps": 3}'
same "$(tree .)" "$before" "exactly"
is "$(guest_run sh -c 'cat plain; ls one two e d 2>/dev/null | wc -l' </dev/null | xargs)" "plain 0" "which the guest sees"
is "$(guest_run cat /run/cordon/rollbacks </dev/null | sed 's/^-//' | xargs)" "3 3 3" "and is told of, each time with the newest step's number"

# ---- a barrier

noted() { guest_call undo.history '{}' | grep -q "\"barriers\": \[{.*$1"; }
does "a step" 'echo agent >met; echo agent >apart'
echo human >>met && echo human >beside
ok "an edit beside it is a barrier" wait_for 20 noted met
does "another step" 'echo agent >later'
calls "which is undone" undo.rollback '{"steps": 1}'
ok "what was edited is not rolled back" sh -c '! "$@"' sh python3 -B "$vm_tree/tests/support/vm_guest.py" call "$guest_at" undo.rollback '{"steps": 1}'
is "$(xargs <met)" "agent human" "and stays"
calls "but by force" undo.rollback '{"steps": 1, "force": true}'
is "$(for p in met apart later beside; do [ ! -e $p ] || echo $p; done)" beside "and then the agent's part is gone"
rm -f beside met

# ---- a safeguard

before=$(tree many)
# by the refused call or by the signal, whichever reaches the guest first
guest_run rm -r many </dev/null >/dev/null 2>&1
like "$?" '^(1|137)$' "a command that goes too far is held, denied, and ended"
same "$(tree many)" "$before" "and rolled back"
is "$(guest_run sh -c 'ls many | wc -l' </dev/null)" 12 "which the guest sees"
is "$(guest_run sh -c 'head -c 1 /etc/passwd; head -c 1 /etc/shadow 2>/dev/null' </dev/null)" r "what only root may read of the host's system is closed"

# ---- the user's edits in the meantime stay

root=$dir dir=$dir/mine
mkdir "$dir" "$dir/many" && touch "$dir/many/"{1..6} && before_agent
guest_run sh -c "cd mine; $agent; $waits; rm many/*" </dev/null >/dev/null 2>&1 &
held=$!
wait_for 60 test -e "$dir/ready" || fail "a command in the guest waits"
human
ok "edits of a human meanwhile are seen" wait_for 20 edits_are_seen
touch "$dir/go"
wait "$held"
like "$?" '^(1|137)$' "a safeguard ends it"
all_is_there "safeguard"
is "$(cat "$dir/theirs" && cd "$dir/many" && echo *)" $'one\ntwo\n1 2 3 4 5 6' "safeguard: the rest is rolled back"
like "$(cd "$root" && "$CORDON" log)" "made/mine" "the log names an edit"
rm -r "$dir/made" && rm -f "$dir/new" && before_agent
does "the agent writes" "cd mine; $agent"
human
refused() { # OPERATION JSON
	like "$(guest_call "$1" "$2" 2>&1)" "(undo.conflict|undo.edited).*mine/(made|new|place|save)" "$1 is refused, and names a file"
	all_is_there "$1"
}
refused undo.rollback '{"steps": 1}'
calls "but not with keep_mine" undo.rollback '{"steps": 1, "keep_mine": true}'
all_is_there "undo.rollback"
is "$(cat "$dir/theirs")" $'one\ntwo' "undo.rollback: the rest is undone"
echo HUMAN >>"$dir/theirs"
like "$(guest_call undo.redo '{}' 2>&1)" "(undo.conflict|undo.edited).*mine/theirs" "undo.redo is refused, and names the file"
calls "but not with keep_mine" undo.redo '{"keep_mine": true}'
is "$(tail -n 1 "$dir/theirs")" HUMAN "undo.redo: the edit stays"
all_is_there "undo.redo"
does "one more change" 'echo more >mine/more'
all_is_there "one more change"
dir=$root

# ---- the attacks on paths

host() { tree "$outside" && tree "$HOME/.ssh" && tree .git/hooks && tree .vscode && cat .git/config .env && ls -A; }
host_before=$(host)
# Lines of NUMBERS ATTACK ARG..., all in one command; every try must print denied, except making room for a hook, which
# runs nothing, and can be undone.
cat >"$TEST_TMP/attacks" <<ATTACKS
$(for p in "$HOME/.ssh/id" to-key sub/../to-key "/proc/self/root$HOME/.ssh/id" /proc/self/cwd/to-key .env; do echo "1,8 read $p"; done)
$(for p in to-hook "$hook" "$new" "/proc/self/cwd/$new" "sub/../$new" bad-link/x alias; do echo "5,8,9 write $p"; done)
6 openat2 $dir/$new
6 openat2 $new
7 reopen $hook
10 tmpfile-link $dir $dir/$new
10 calls $hook $new spare
ATTACKS
guest_run sh -c 'echo spare >spare; while read -r numbers attack; do echo "== $numbers $attack"; timeout 600 "$0" $attack </dev/null; done' \
	"$T/paths" <"$TEST_TMP/attacks" >"$TEST_TMP/said" 2>&1
while read -r line; do
	tries=$(awk -v line="== $line" '/^== / { on = $0 == line; next } on' "$TEST_TMP/said")
	bad=$(grep '^ALLOWED' <<<"$tries" | { [[ $line == *" calls "* ]] && grep -Evx 'ALLOWED (mkdir|unlink|rename-away)' || cat; })
	if [ -n "$bad" ]; then
		fail "$line" "$bad"
	elif ! grep -q '^denied' <<<"$tries"; then
		fail "$line" "it did not get that far: $tries"
	else
		pass "$line: $(grep -c '^denied' <<<"$tries") refusals"
	fi
done <"$TEST_TMP/attacks"
guest_run timeout 600 "$T/paths" race-names good bad-link good/post-merge 1000 </dev/null >"$TEST_TMP/out" 2>&1
like "$(cat "$TEST_TMP/out")" "^opened " "2,4: $(cat "$TEST_TMP/out") while a directory is swapped with a link to the hooks"
guest_run sh -c 'mv .git g 2>/dev/null && echo evil >g/hooks/pre-commit; mv g .git 2>/dev/null
	mv .git/hooks h 2>/dev/null && echo evil >h/pre-commit; mv h .git/hooks 2>/dev/null
	mkdir -p n/hooks; echo evil >n/hooks/post-merge; mv n/hooks .git/hooks 2>/dev/null; mv -T n .git 2>/dev/null' </dev/null 2>/dev/null
ok "12: .git is where it was, with nothing evil in it" sh -c 'test -f .git/HEAD -a ! -e g && ! grep -rqs evil .git'
written=(.claude/settings.json .mcp.json .envrc sub/.git/hooks/pre-commit .GIT/hooks/pre-push .gitconfig .bashrc .cordon.conf)
guest_run sh -c 'for p; do mkdir -p "$(dirname "$p")"; echo evil >"$p"; done' sh "${written[@]}" </dev/null >/dev/null 2>&1
for p in "${written[@]}"; do
	ok "13: $p" test ! -e "$p"
done
while guest_call undo.rollback '{"steps": 1}' >/dev/null 2>&1; do :; done
same "$(host)" "$host_before" "none of it has an effect that stays"
guest_stop
is "$?" 0 "the session ends"
ok "and its audit log is whole" "$CORDON" audit verify
done_testing
