# shellcheck shell=bash
# mine - for tests of rollbacks: what an agent changes in $dir, what a human edits there meanwhile, and is it still there?
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # of the script that includes this one

# What the agent changes, and what the human then makes of it: in place, by a save over it, in a file
# and in a directory that the agent made. "theirs" is the agent's alone.
before_agent() { (cd "$dir" && printf 'one\ntwo\n' | tee place save theirs >/dev/null); }
agent='for f in place save theirs new; do echo agent >>$f; done; mkdir made; echo agent >made/own'
# It says that it waits, and goes on when it is told to.
waits='touch ready; while [ ! -e go ]; do sleep 0.05; done'
human() {
	echo "HUMAN in place" >>"$dir/place"
	sed 's/one/HUMAN save/' "$dir/save" >"$dir/.save.swp" && mv "$dir/.save.swp" "$dir/save"
	echo "HUMAN in new" >>"$dir/new"
	echo "HUMAN made" >"$dir/made/mine"
}
edits_are_seen() { grep -qas /place "$HOME/.local/state/cordon/"*/open/*/edited; } # by the keeper
all_is_there() { # NAME
	like "$(cat "$dir/place")" "HUMAN in place" "$1: what was written in place is there"
	like "$(cat "$dir/save")" "HUMAN save" "$1: what was saved over it is there"
	like "$(cat "$dir/new")" "HUMAN in new" "$1: what was added to the agent's file is there"
	is "$(cat "$dir/made/mine")" "HUMAN made" "$1: what was put into the agent's directory is there"
}
are_named() { # TEXT NAME
	for f in place save new made/mine; do
		like "$1" "$f" "$2 names $f"
	done
}
