#!/bin/bash
# looked - a look at a hidden place leaves a quiet row, a record and a count; habitual looks of programs do not.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox git
"$CORDON" doctor --json | grep -qE '^\{"backend":"native","whole".*"starts":true' || skip_all "native does not start here"
[ -w /dev/fuse ] || skip_all "without FUSE nobody sees it"
dir=$(new_folder work)
mkdir -p "$HOME/.ssh" "$HOME/.aws" && echo SECRET >"$HOME/.ssh/id_ed25519" && echo SECRET >"$HOME/.aws/credentials" && echo SECRET >"$dir/.env"
git config --global credential.helper "store --file $HOME/.git-credentials"
looks() { # COMMAND - the records of a run of it, "PATH REASON"
	(cd "$dir" && "$CORDON" run --headless -- sh -c "$1" >"$TEST_TMP/out" 2>&1)
	cordon_in "$dir" audit --json | tac | sed '/"event":"session-start"/q' | grep '"event":"deny"' |
		sed -nE 's/.*"op":"(look for|read)","path":"([^"]*)".*"detail":"([^"]*)".*/\2 \3/p' | sort
}
is "$(looks true)" "" "a run that looks for nothing leaves none"
# Each continues for a moment, so that its name can be read.
is "$(looks 'sh -c "cat <~/.ssh/x; cat <~/.ssh/y; cat <~/.aws/credentials; sleep 0.5"; bash -c "cat <~/.ssh/config; sleep 0.5"')" "$HOME/.aws does not exist inside
$HOME/.ssh does not exist inside
$HOME/.ssh does not exist inside" "one for each program and place"
like "$(looks 'cat ~/.ssh/id_ed25519')" "^$HOME/.ssh does not exist inside\$" "one that ends at once, too"
unlike "$(cat "$TEST_TMP/out")" SECRET "nothing was read"
like "$(looks 'cat .env')" "^$dir/.env " "a look into .env"
is "$(looks 'git ls-remote https://localhost:1/x; ssh -G somewhere >/dev/null 2>&1; true' | grep -v '/.config/cordon')" "" "not what git and ssh do by habit"
# Programs by the name of the file that runs, which may have a version or a variant.
echo yanked >"$HOME/.viminfo" && cp "$HOME/.viminfo" "$HOME/.python_history"
for name in vim.basic vim.tiny python3.11 vimcat; do cp "$(command -v cat)" "$dir/$name"; done
is "$(looks './vim.basic ~/.viminfo; ./vim.tiny ~/.viminfo; ./python3.11 ~/.python_history')" "" "nor what an editor or interpreter does by habit"
like "$(looks './vimcat ~/.viminfo; ./vim.basic ~/.ssh/id_ed25519')" "^$HOME/.ssh .*
$HOME/.viminfo does not exist inside\$" "but another program, or another place, is news"
began=$SECONDS
is "$(looks 'for i in $(seq 2000); do [ -e ~/.ssh/$i ]; done; sleep 0.5' | wc -l)" 1 "a flood is one"
note "2000 looks in $((SECONDS - began)) s"

printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
start 160 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a console"
type_text 'cat ~/.ssh/id_ed25519; echo done-$((40 + 2))' && keys Enter
sees 'done-42' "a look"
sees '1 secret looked for' "the status bar counts it"
keys C-] q Q
ended "the session is left" 143
done_testing
