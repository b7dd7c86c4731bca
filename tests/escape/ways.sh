#!/bin/bash
# ways - files of cordon's settings, and links that lead to them or to the undo store, cannot be removed.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
use_backend
settings=$(cat "$HOME/.config/cordon/config" 2>/dev/null)
base=$TEST_TMP/ways
# fresh - an empty home, and a place outside it, with the files that the agent may remove.
fresh() {
	chmod -R u+rwx "$base" 2>/dev/null
	rm -rf "$base"
	mkdir -p "$base/home/work" "$base/out"
	export HOME=$base/home
	unset XDG_STATE_HOME XDG_CONFIG_HOME
}
put() { # FILE [LINE] - settings: the backend and a rule
	mkdir -p "${1%/*}"
	printf '%s\n[rule "own"]\n\tdeny = connect *\n%b' "$settings" "${2:+\t$2\n}" >"$1"
}
# attempt FOLDER SCRIPT - the links and files of the home and outside are unchanged afterwards, except for new ones.
attempt() {
	local before after found=(\( -type l -o -name '*onfig' -o -path '*/cordon' \) -printf '%p %y %l %i\n')
	(cd "$1" && "$CORDON" run --headless --rw "$1" -- true) 2>/dev/null # makes its folders
	before=$(cd "$base" && find . "${found[@]}" | sort)
	(cd "$1" && "$CORDON" run --headless --rw "$1" -- sh -c "$2; : >'$1/ran'") >/dev/null 2>&1
	[ -e "$1/ran" ] || echo "it did not run"
	after=$(cd "$base" && find . "${found[@]}" | sort)
	comm -23 <(echo "$before") <(echo "$after")
}
take='rm -rf ~/.config; rm -f ~/.config/cordon; mv ~/.config ~/x; rm -rf ~/.local ~/.local/state; mv ~/.local ~/y; mv ~/.local/state ~/z; true'

for link in .config .config/cordon .config/cordon/config; do
	fresh
	put "$base/out/.config/cordon/config"
	mkdir -p "$HOME/$(dirname "$link")"
	ln -s "$base/out/$link" "$HOME/$link"
	is "$(attempt "$HOME" "$take")" "" "42: ~/$link is a link to a place outside of the folder"
done
for link in .local .local/state; do
	fresh
	put "$HOME/.config/cordon/config"
	mkdir -p "$base/out/$link" "$HOME/$(dirname "$link")"
	ln -s "$base/out/$link" "$HOME/$link"
	is "$(attempt "$HOME" "$take")" "" "42: ~/$link is one"
done
fresh
put "$HOME/dot/files/config"
mkdir -p "$HOME/.config/cordon" && ln -s ../../dot/files/config "$HOME/.config/cordon/config"
is "$(attempt "$HOME/dot" "rm -f ~/dot/files/config; mv ~/dot/files ~/dot/x; mv ~/dot/files/config ~/dot/y")" "" "42: a link to a file in the folder"
fresh
put "$base/out/config"
mkdir -p "$HOME/.config" "$HOME/a/b" && ln -s "$base/out" "$HOME/a/b/way" && ln -s ../a/b/way "$HOME/.config/cordon"
is "$(attempt "$HOME/a" "rm ~/a/b/way; mv ~/a/b ~/a/c; mv ~/a/b/way ~/a/x")" "" "42: a link to a link"
fresh
put "$base/out/.config/cordon/config" "allow = write ~/**"
ln -s "$base/out/.config" "$HOME/.config"
is "$(attempt "$HOME/work" "$take")" "" "42: outside of the folder, where a rule lets the agent write"
fresh
put "$HOME/.config/cordon/config"
mkdir "$base/out/state" && ln -s "$base/out/state" "$HOME/work/state" && export XDG_STATE_HOME=$HOME/work/state
is "$(attempt "$HOME/work" "mkdir -p ~/work/own/cordon; rm ~/work/state; ln -s own ~/work/state; mv ~/work/own ~/work/state")" "" "42: XDG_STATE_HOME by a link in the folder"
unset XDG_STATE_HOME
put "$base/out/config/cordon/config"
ln -s "$base/out/config" "$HOME/work/config" && export XDG_CONFIG_HOME=$HOME/work/config
is "$(attempt "$HOME/work" "mkdir -p ~/work/own/cordon; rm ~/work/config; mv ~/work/config ~/work/x; mv ~/work/own ~/work/config")" "" "42: XDG_CONFIG_HOME by one"

# ---- an agent's own settings: removed, the same agent outside obeys none of them
fresh
put "$HOME/.config/cordon/config"
mkdir -p "$HOME/work/tools/claude" "$HOME/work/conf" "$HOME/work/.codex"
echo '{"permissions":{"deny":["Bash"]}}' >"$HOME/work/tools/claude/aconfig"
echo 'x = 1' >"$HOME/work/conf/config"
ln -s tools/claude "$HOME/work/.claude"
ln -s ../conf/config "$HOME/work/.codex/config"
is "$(attempt "$HOME/work" "rm -f tools/claude/aconfig conf/config .codex/config .claude; mv tools t; mv conf c")" "" "13: they are links"
: >"$HOME/work/conf/other"
is "$(cd "$HOME/work" && "$CORDON" run --headless -- sh -c 'rm conf/other && echo removed' 2>/dev/null)" removed "what is beside them may go"
done_testing
