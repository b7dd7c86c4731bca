#!/bin/bash
# learn - a run that may read what it asks for, and rules that make the next one silent.
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
done_testing
