#!/bin/bash
# usual - in dynamic mode, usual tools with usual settings in the home folder cause no question.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$HOME/src/project
mkdir -p "$dir" "$HOME/.vim/plugin" "$HOME/.npm" "$HOME/.config/pip" "$HOME/inc" "$HOME/other" "$HOME/.nvm/versions/node/v1/bin"
printf '[user]\n\tname = t\n\temail = t@example.org\n[core]\n\texcludesfile = ~/.ignored\n[include]\n\tpath = inc/git\n' >"$HOME/.gitconfig"
printf '[alias]\n\tst = status --short\n' >"$HOME/inc/git"
echo '*.o' >"$HOME/.ignored"
echo 'set number' >"$HOME/.vimrc" && echo 'let g:seen = 1' >"$HOME/.vim/plugin/p.vim"
echo '//registry.example/:_authToken=SECRET' >"$HOME/.npmrc" && echo 'SECRET yanked' >"$HOME/.viminfo"
echo 'alias hello="echo hi"' >"$HOME/.bashrc" && echo 'set bell-style none' >"$HOME/.inputrc"
printf '#!/bin/sh\necho from nvm\n' >"$HOME/.nvm/versions/node/v1/bin/node" && chmod +x "$HOME/.nvm/versions/node/v1/bin/node"
echo other >"$HOME/other/file"
printf 'all: m\n' >"$dir/Makefile" && echo 'int main(void) { return 0; }' >"$dir/m.c"

# flows NAME COMMAND - runs in a shell there; it succeeds, and cordon reports and refuses nothing.
flows() {
	local out before
	before=$(cordon_in "$dir" audit --json 2>/dev/null | grep -c '"event":"deny"')
	out=$(PATH=$HOME/.nvm/versions/node/v1/bin:$PATH in_folder "$dir" bash -c "$2" 2>&1 </dev/null)
	is "$?" 0 "$1: works"
	unlike "$out" "cordon:|ermission denied" "$1: nothing is refused"
	is "$(cordon_in "$dir" audit --json | grep '"event":"deny"' | tail -n "+$((before + 1))" | grep -v "viminfo\|looks a name up")" "" "$1: nor told to be"
}
flows git 'git init -q . && touch built.o && git add -A && git commit -qm first && [ -z "$(git st)" ] && git log --stat | cat'
command -v cc >/dev/null && flows make 'make && ./m && rm m'
command -v vim >/dev/null && flows vim 'vim -es -c "if !exists(\"g:seen\") | cquit | endif" -c wq m.c'
command -v less >/dev/null && flows pager '[ "$LESSHISTFILE" = - ] && less -FX m.c'
flows shell 'bash --norc -ic "exit 0"; bash -ic "type hello" 2>/dev/null'
flows nvm '[ "$(node)" = "from nvm" ]'
command -v python3 >/dev/null && flows python 'python3 -c "import json, site; print(site.getusersitepackages())"'
[ ! -x /usr/bin/npm ] || flows npm 'PATH=/usr/bin:/bin; echo "{\"scripts\":{\"t\":\"echo hi\"}}" >package.json; npm run --silent t'

out=$(in_folder "$dir" sh -c 'cat ~/.npmrc ~/.viminfo ~/other/file' 2>&1)
unlike "$out" "SECRET|^other" "secrets are not part of it, nor is the rest of the home folder"
like "$out" "reading ~/other/file was refused .*"$'\n'".*	allow = read ~/other/file" "which is told, with the rule for it"
# A file that is saved again, by a rename over it, inside or outside, is read again. (Not in a home with hidden entries,
# whose others are bound one by one without FUSE.)
gates="trap"
[ ! -w /dev/fuse ] || gates="fuse trap"
for gate in $gates; do
	export HOME=$TEST_TMP/plain.$gate
	dir=$HOME/project
	mkdir -p "$dir" "$HOME/.config/cordon"
	printf '[rule "notes"]\n\tallow = read,write ~/note.json\n\tallow = read,write ~/note.json.new\n' >"$HOME/.config/cordon/config"
	echo old >"$HOME/note.json" && echo 'alias hello="echo hi"' >"$HOME/.bashrc"
	(cd "$dir" && exec "$CORDON" run --headless --set "sandbox.read-gate=$gate" -- sh -c '
		cat ~/note.json ~/.bashrc >seen
		until [ -e saved ]; do sleep 0.05; done
		echo mine >~/note.json.new && mv ~/note.json.new ~/note.json
		cat ~/note.json ~/.bashrc' >"$TEST_TMP/again" 2>&1) &
	ok "$gate: files of the home folder are read" wait_for 10 test -s "$dir/seen"
	echo 'alias hello="echo ho"' >"$HOME/.bashrc.new" && mv "$HOME/.bashrc.new" "$HOME/.bashrc"
	touch "$dir/saved" && wait $!
	is "$(cat "$TEST_TMP/again")" $'mine\nalias hello="echo ho"' "$gate: and read anew after another was put in their place"
done

# A program that the user grants runs, wherever it is, with its package.
for gate in $gates; do
	export HOME=$TEST_TMP/named.$gate
	dir=$HOME/project
	mkdir -p "$dir" "$HOME/away" "$HOME/npm/node_modules/.bin" "$HOME/npm/node_modules/agent"
	printf '#!/bin/sh\necho "I am $1"; cat ~/away/note\n' >"$HOME/away/agent" && echo private >"$HOME/away/note"
	printf '#!/bin/sh\n. "${0%%/*}/lib.sh"\n' >"$HOME/npm/node_modules/agent/cli" && echo 'echo packed' >"$HOME/npm/node_modules/agent/lib.sh"
	chmod +x "$HOME/away/agent" "$HOME/npm/node_modules/agent/cli"
	ln -s ../agent/cli "$HOME/npm/node_modules/.bin/agent"
	run=(cordon_in "$dir" run --headless --set "sandbox.read-gate=$gate" --)
	out=$("${run[@]}" ../away/agent it 2>&1)
	like "$out" '^I am it' "$gate: a program that the human names is run"
	unlike "$out" 'private' "and reads nothing else there"
	is "$("${run[@]}" "$(readlink -f "$HOME/npm/node_modules/.bin/agent")" 2>&1)" packed "$gate: one of npm's has its package"
	like "$(PATH=$HOME/npm/node_modules/.bin:$PATH "${run[@]}" sh -c '../away/agent it' 2>&1)" \
		'ermission denied' "$gate: one that the agent names is not run unasked"
done

# A missing file that may be written is made by a relative path as by an absolute one, also in a home that is assembled
# from its entries that are not hidden.
for gate in $gates static; do
	export HOME=$TEST_TMP/parts.$gate
	dir=$HOME/project
	mkdir -p "$dir" "$HOME/.ssh" "$HOME/.config/cordon"
	printf '[rule "agent"]\n\tallow = write ~/.agent/**\n' >"$HOME/.config/cordon/config"
	mode="sandbox.read-gate=$gate"
	[ "$gate" != static ] || mode=sandbox.mode=static
	ok "$gate: it is made from its directory" cordon_in "$dir" run --headless --set "$mode" -- \
		sh -c 'cd && mkdir .agent && mkdir ~/.agent/notes && echo x >.agent/notes/n'
	is "$(cat "$HOME/.agent/notes/n")" x "$gate: and is there"
	ok "$gate: the rest is not" sh -c "! cd '$dir' || ! '$CORDON' run --headless --set $mode -- sh -c 'cd && mkdir .other'"
	ok "$gate: nor what is hidden" sh -c "! cd '$dir' || ! '$CORDON' run --headless --set $mode -- sh -c 'cd && echo x >.ssh/x'"
	ok "$gate: nothing of that was made" test ! -e "$HOME/.other" -a ! -e "$HOME/.ssh/x"
	ok "$gate: undo" cordon_in "$dir" undo --all-places
	ok "$gate: takes it back" test ! -e "$HOME/.agent"
done

done_testing
