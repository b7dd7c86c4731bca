#!/bin/bash
# learn - a run that may read all it asks for, and rules by which the next run asks nothing.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
mkdir -p "$HOME/data" "$HOME/.ssh"
for i in 1 2 3 4 5; do echo "$i" >"$HOME/data/$i"; done
echo one >"$HOME/single"
echo secret >"$HOME/.env"
echo key >"$HOME/.ssh/id"
# shellcheck disable=SC2016
script='cat ~/data/* ~/single; cat ~/.env; cat ~/.ssh/id; echo x >~/written; echo made >made'

out=$(cd "$dir" && "$CORDON" learn -- sh -c "$script" 2>"$TEST_TMP/err")
is "$(tr '\n' ' ' <<<"$out")" "1 2 3 4 5 one " "what is asked for is read, secrets are not"
ok "nothing was written elsewhere" test ! -e "$HOME/written"
is "$(cat "$dir/made")" made "the working folder is as always"
file=$(sed -n 's/.*rules for them are in \([^:]*\):.*/\1/p' "$TEST_TMP/err")
rules=$(cat "$file")
like "$rules" "allow = read ~/data/\*\*" "several files of a directory: the directory"
like "$rules" "allow = read ~/single" "a single file: the file"
like "$rules" ";   read $HOME/.env   .secret" "what was refused is told in a comment"
like "$rules" ";   write $HOME/written" "also changes elsewhere"
unlike "$rules" "ssh" "what is hidden is not even asked for"
ok "the proposal is right as it is" "$CORDON" policy check "$file"
is "$("$CORDON" policy list | grep -c learned)" 0 "and has no effect by itself"

headless() { (cd "$dir" && "$CORDON" run --headless --mode dynamic -- sh -c "$script" 2>/dev/null) | tr '\n' ' '; }
is "$(headless)" "" "without rules nothing of it is readable"
mkdir -p "$HOME/.config/cordon" && cp "$file" "$HOME/.config/cordon/config"
is "$(headless)" "1 2 3 4 5 one " "with them all of it"
out=$(cd "$dir" && "$CORDON" learn -- sh -c 'exit 7' 2>&1)
is "$?" 7 "the command's exit status"
like "$out" "no rule is needed" "nothing asked, nothing learned"

# ---- cordon learn --last -------------------------------------------------------------------------
rm "$HOME/.config/cordon/config"
like "$(cordon_in "$(new_folder empty)" learn --last 2>&1)" 'no session has run in this folder' "nothing to learn from"
mkdir -p "$dir/.git/hooks" "$HOME/tree/"{a,b}
for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "$i" >"$HOME/single$i"; done
more='for i in 1 2 3 4 5 6 7 8 9 10 11; do cat ~/single$i; done; echo x >.git/hooks/post-merge; echo x >~/.bashrc; echo x >~/tree/a/1; echo x >~/tree/b/2; echo x >~/_tmp_206_374e6a27; printf x >"$(printf "$HOME/e\033")"'
(cd "$dir" && "$CORDON" run --headless --mode dynamic -- sh -c "$script; $more" >/dev/null 2>"$TEST_TMP/err")
like "$(cat "$TEST_TMP/err")" 'cordon learn --last' "a run that was refused something names the command"
cordon_in "$dir" undo >/dev/null 2>&1
rules=$(cordon_in "$dir" learn --last 2>"$TEST_TMP/err")
for rule in 'read ~/single' 'read ~/single11' 'read ~/data/1' 'write ~/written' 'write ~/tree/a/1'; do
	like "$rules" "allow = $rule
" "by name: ${rule/$TEST_TMP/TMP}"
done
unlike "${rules#*rule]}" '374e6a27|\.env|ssh|'$'\e' "no random name, no secret, no control character"
unlike "${rules#*rule]}" 'hooks|bashrc' "and nothing that the host runs"
like "$rules" '; [1-9][0-9]* other request' "the rest is counted"
ok "without a terminal nothing is written" test ! -e "$HOME/.config/cordon/config"
like "$(cat "$TEST_TMP/err")" '--yes' "which is said"
ok "--yes" cordon_in "$dir" learn --last --yes
ok "the rules are right" "$CORDON" policy check "$HOME/.config/cordon/config"
is "$(headless)" "1 2 3 4 5 one " "the next run has them"
is "$(cat "$HOME/written")" x "all of them"
like "$(cordon_in "$dir" learn --last)" 'asked for nothing' "and is refused nothing"
ok "an answer's section can be taken back" grep -q '^.rule "answer of ' "$HOME/.config/cordon/config"
rm "$HOME/.config/cordon/config"
mkdir -p "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/approver" <<'P'
#!/bin/sh
! grep -q '"path":"[^"]*single1"'
P
chmod +x "$TEST_TMP/bin/approver"
(cd "$dir" && "$CORDON" run --headless --mode dynamic --set "approval.command=$TEST_TMP/bin/approver" -- sh -c 'cat ~/single1 ~/single2' >/dev/null 2>&1)
rules=$(cordon_in "$dir" learn --last 2>&1)
like "$rules" 'read ~/single2' "a request that was allowed once is proposed"
unlike "${rules#*rule]}" 'single1' "one that was denied is not"
# approval.command is not used here, also for requests that come together.
printf '#!/bin/sh\necho asked >>%s\n' "$TEST_TMP/asked" >"$TEST_TMP/bin/approver"
out=$(cd "$dir" && "$CORDON" learn --set "approval.command=$TEST_TMP/bin/approver" -- \
	sh -c 'for i in 1 2 3 4 5; do cat ~/data/$i & done; wait' 2>/dev/null | sort | tr '\n' ' ')
is "$out" "1 2 3 4 5 " "what is asked for at once is read"
ok "and no command was asked" test ! -e "$TEST_TMP/asked"
done_testing
