#!/bin/bash
# external - programs that cordon starts outside the sandbox: none that the agent wrote, and none with its files.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
elsewhere=$(new_folder elsewhere)
bin=$TEST_TMP/bin
mkdir -p "$bin" "$dir/.git/hooks" "$dir/.venv/bin" "$dir/lib"
planted() { # FILE... - each would tell that it ran
	for f; do printf '#!/bin/sh\necho "$0 $PWD" >>%s/pwned\ncat >/dev/null\n' "$TEST_TMP" >"$f" && chmod +x "$f"; done
}
attempt() { # APPROVER SCRIPT [ARGUMENT...]
	local approver=$1 script=$2
	shift 2
	(cd "$dir" && "$CORDON" run --headless --set "approval.command=$approver" "$@" -- bash -c "$script" 2>&1)
}
hook='echo x 2>/dev/null >.git/hooks/pre-commit; echo rc $?'

# ---- the working directory
cat >"$dir/json.py" <<E2
import os
open("$TEST_TMP/pwned", "a").write("json.py\n")
os._exit(0)
E2
deny="python3 -c 'import json,sys; json.load(sys.stdin); sys.exit(1)'"
like "$(attempt "$deny" "$hook")" 'rc 1' "an approver that denies imports no module of the folder"
is "$(attempt "pwd >$TEST_TMP/where" "$hook" >/dev/null; cat "$TEST_TMP/where")" / "it runs in /"
planted "$dir/approve.sh"
out=$(attempt ./approve.sh "$hook")
like "$out" 'rc 1' "a program of the folder allows nothing"
like "$out" "approval.command: './?approve.sh'|approval.command: ./approve.sh is in a folder that the agent can write" "and is said"
is "$(grep -c 'is in a folder' <<<"$(attempt ./approve.sh "$hook; $hook; $hook")")" 1 "once"
# shellcheck disable=SC2088 # the line has it
for line in "$dir/approve.sh" "exec $dir/approve.sh" "X=1 env sh $dir/approve.sh" "~/link/approve.sh" "\$HOME/link/approve.sh"; do
	ln -sfn "$dir" "$HOME/link"
	like "$(attempt "$line" "$hook")" 'is in a folder that the agent can write: not run.*rc 1|rc 1.*is in a folder that the agent can write: not run' \
		"the same: ${line//$TEST_TMP/}"
done
# A script outside the folder, whose interpreter is in it.
planted "$dir/lib/interpreter"
printf '#! %s/lib/interpreter -x\n' "$dir" >"$bin/scripted" && chmod +x "$bin/scripted"
for line in scripted "$bin/scripted" "exec $bin/scripted x"; do
	like "$(attempt "$line" "$hook")" 'is in a folder that the agent can write: not run.*rc 1|rc 1.*is in a folder that the agent can write: not run' \
		"an interpreter of the folder: ${line//$TEST_TMP/}"
done

# ---- PATH
planted "$dir/.venv/bin/jq2"
ln -s "$dir/.venv/bin/jq2" "$bin/linked"
like "$(PATH=$dir/.venv/bin:$PATH attempt 'jq2 -e .x' "$hook")" 'jq2 is in a folder.*rc 1|rc 1.*jq2 is in a folder' "PATH leads into the folder: said, not run"
like "$(PATH=.venv/bin:$PATH attempt 'jq2 -e .x' "$hook")" 'rc 1' "the same with a relative entry"
like "$(attempt linked "$hook")" 'linked is in a folder.*rc 1|rc 1.*linked is in a folder' "a link in PATH leads there: said, not run"
planted "$elsewhere/helper"
like "$(PATH=$elsewhere:$PATH attempt helper "$hook" --rw . --rw "$elsewhere")" 'helper is in a folder' "a second working folder"
[ "$(id -u)" = 0 ] && grep -q overlay /proc/filesystems &&
	like "$(PATH=$elsewhere:$PATH attempt helper "$hook" --overlay "$elsewhere")" 'helper is in a folder' "an overlay"
mkdir -p "$HOME/tools" && planted "$HOME/tools/granted"
mkdir -p "$HOME/.config/cordon"
printf '[rule "t"]\n\tallow = write ~/tools/**\n' >"$HOME/.config/cordon/config"
like "$(PATH=$HOME/tools:$PATH attempt granted "$hook")" 'granted is in a folder' "a place that a rule lets the agent write"
ln -s "$HOME/tools/granted" "$bin/to-granted"
ln -s "$HOME/tools" "$HOME/also"
# shellcheck disable=SC2088 # the line has it
for line in "$HOME/tools/granted" "exec ~/tools/granted" "~/also/granted" to-granted; do
	like "$(attempt "$line" "$hook")" 'is in a folder' "the same without PATH: ${line//$HOME/\~}"
done
printf '[rule "t"]\n\tallow = write ~/also/gr*\n' >"$HOME/.config/cordon/config"
like "$(attempt to-granted "$hook")" 'is in a folder' "a rule by way of a link"
mkdir "$HOME/bin" && printf '#!/bin/sh\nenv >%s/env\n' "$TEST_TMP" >"$HOME/bin/beside" && chmod +x "$HOME/bin/beside"
printf '[rule "t"]\n\tallow = write ~/.tool.*\n\tallow = write ~/bin/beside.lock\n' >"$HOME/.config/cordon/config"
like "$(PATH=$HOME/bin:$PATH attempt beside "$hook")" 'rc 0' "a rule about other files beside a program keeps none out"
is "$(grep -c "^HOME=$HOME\$" "$TEST_TMP/env")" 1 "nor its home"
rm "$HOME/.config/cordon/config"
# A program that an answer allows the agent to write: the approver itself.
for scope in once session; do
	printf '#!/bin/sh\ncat >/dev/null\necho %s\n' "'{\"scope\":\"$scope\"}'" >"$HOME/tools/says" && chmod +x "$HOME/tools/says"
	cp "$HOME/tools/granted" "$dir/planted"
	out=$(attempt "$HOME/tools/says" "cat planted >~/tools/says; echo wrote \$?; $hook")
	like "$out" "wrote 0.*rc 1" "a place that an answer lets the agent write ($scope)"
	like "$out" "says.? is in a folder" "it is said ($scope)"
done
# The same by a rule that comes while the session runs, and is gone when the program is to run.
rules() { printf '[rule "t"]\n' >"$HOME/rules" && printf '\t%s\n' "$@" >>"$HOME/rules" && mv "$HOME/rules" "$HOME/.config/cordon/config"; }
is_noted() { cordon_in "$dir" audit --json | grep -q -- "$1"; }
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >"$HOME/tools/later" && chmod +x "$HOME/tools/later"
attempt "$HOME/tools/later" "touch began; until test -e write; do sleep 0.2; done; cat planted >~/tools/later; touch wrote
	until test -e go; do sleep 0.2; done; $hook" >"$TEST_TMP/late" &
ok "a session begins" wait_for 30 test -e "$dir/began"
rules 'allow = write ~/tools/later'
ok "a rule comes that lets it write the approver" wait_for 30 is_noted 'now allow write ~/tools/later'
touch "$dir/write"
ok "which it does" wait_for 30 test -e "$dir/wrote"
is "$(cmp "$dir/planted" "$HOME/tools/later")" "" "as its own"
rules 'allow = read ~/tools/later'
ok "and goes" wait_for 30 is_noted 'no longer allow write ~/tools/later'
touch "$dir/go"
wait $!
like "$(cat "$TEST_TMP/late")" "later.? is in a folder.*rc 1|rc 1.*later.? is in a folder" "the approver does not run"
rm "$dir/began" "$dir/write" "$dir/wrote" "$dir/go"
# A place that a nearer rule keeps from it.
mkdir "$HOME/tools/kept" && printf '#!/bin/sh\ncat >/dev/null\n' | tee "$HOME/tools/kept/says" >"$HOME/tools/one" && chmod +x "$HOME/tools/kept/says" "$HOME/tools/one"
rules 'allow = write ~/tools/**' 'deny = write ~/tools/kept/**' 'deny = write ~/tools/one'
for line in "$HOME/tools/kept/says" "$HOME/tools/one"; do
	like "$(attempt "$line" "$hook")" 'rc 0' "a program in a place that a rule denies to the agent: ${line##*/}"
done
attempt "$HOME/tools/kept/says" 'p=$PWD/planted; cd ~/tools; mkdir new; cp "$p" new/says; cp "$p" new/one; cp "$p" kept/says
	cp new/says kept/says; mv new/says kept/says; ln -f new/says kept/says; ln kept/says linked && cp new/says linked; rm kept/says
	mv -T kept old; mv -T new kept; mv new/one one; rm one; ln -sf new/one one; ln -sfn new kept; rm -r kept; mkdir -p kept
	python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"new\", -100, b\"kept\", 2)"
	cd; mv -T tools away && mkdir tools && mv -T away/new tools/kept' >/dev/null
is "$(cat "$HOME/tools/kept/says" "$HOME/tools/one" | sort -u)" "$(printf '#!/bin/sh\ncat >/dev/null' | sort -u)" "it stays what it was, whatever is moved there"
rm "$HOME/.config/cordon/config"
# A folder where an agent worked before, while another is the working folder.
other=$(new_folder other)
(cd "$other" && "$CORDON" run --headless -- true) && mkdir "$other/bin" && planted "$other/bin/left"
like "$(PATH=$other/bin:$PATH attempt left "$hook")" 'left: |rc 1' "a folder of an earlier session"
like "$(attempt "$other/bin/left" "$hook")" 'is in a folder' "the same without PATH"
ok "none of them ran" test ! -e "$TEST_TMP/pwned"

# ---- the environment
cat >"$bin/shows" <<E2
#!/bin/sh
env >$TEST_TMP/env
E2
chmod +x "$bin/shows"
PYTHONPATH=$dir/lib LD_LIBRARY_PATH=/usr/lib:$dir/lib KEPT=$HOME/x BASH_ENV=$HOME/link/env.sh NODE_OPTIONS="--require $dir/x.js" \
	attempt shows "$hook" >/dev/null
is "$(grep -E '^(PYTHONPATH|LD_LIBRARY_PATH|BASH_ENV|NODE_OPTIONS|OLDPWD)=' "$TEST_TMP/env")" "" "variables that name a path of the folder are left out"
is "$(grep -E '^(KEPT|PWD)=' "$TEST_TMP/env" | sort)" "KEPT=$HOME/x
PWD=/" "others stay"
is "$(PATH=$dir/.venv/bin::.:$PATH attempt shows "$hook" >/dev/null; sed -n 's/^PATH=//p' "$TEST_TMP/env" | tr : '\n' | grep -cE "^\$|^[^/]|^$dir")" 0 "PATH has no entry of the folder"

# ---- the console: notifier, copy command, editor, tmux
planted "$dir/.venv/bin/notify-send" "$dir/.venv/bin/tmux" "$dir/.venv/bin/xclip2" "$dir/.venv/bin/ed2"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
printf '#!/bin/sh\npwd >%s/at; printf "%%s\\n" "$@" >%s/arguments\n' "$TEST_TMP" "$TEST_TMP" >"$TEST_TMP/ed" && chmod +x "$TEST_TMP/ed"
open_console() { # EDITOR
	start 130 50 "$dir" "PATH=$dir/.venv/bin:\$PATH EDITOR=$1 $CORDON run --set console.notify=desktop -- bash --noprofile --rcfile rc -i"
	tmux_ set -g remain-on-exit off
	sees 'ready>' "a console with EDITOR=${1##*/}"
}
leave() { keys C-] q Q && ended "the session is left" 143; }
edit() {
	type_text "echo x >edited$1" && keys Enter
	sees "edit edited$1 .*\+1" "a file is written"
	keys C-] s G Enter
	sees '1 \+ x' "its diff"
	keys E
}
open_console "$TEST_TMP/ed"
type_text 'echo x >.git/hooks/post-merge' && keys Enter
sees 'ASK' "a question"
keys C-c
edit 1
ok "the editor starts" wait_for 15 test -s "$TEST_TMP/arguments"
is "$(cat "$TEST_TMP/at") $(tail -n 1 "$TEST_TMP/arguments")" "/ $dir/edited1" "in /, with the file by its whole path"
leave
open_console ed2
edit 2
sees 'EDITOR: ed2 is in a folder' "an editor of the folder is said"
leave
ok "no planted program ran" test ! -e "$TEST_TMP/pwned"
done_testing
