#!/bin/bash
# reload - rule files that change during a session have an effect at once, in the keeper and behind the gate.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
kinds="trap"
[ ! -w /dev/fuse ] || kinds="fuse trap"

mkdir -p "$HOME/work" "$HOME/tree/sub" "$HOME/other" "$HOME/.config/cordon"
for f in tree/a tree/sub/b other/o other/p; do echo "content of $f" >"$HOME/$f"; done
rules=$HOME/.config/cordon/config
own=$HOME/work/.cordon.conf
said=$TEST_TMP/said

# write_rules LINES - writes in place, as editors do.
write_rules() {
	printf '[rule "r"]\n' >"$rules.new"
	printf '\t%s\n' "$@" >>"$rules.new"
	mv "$rules.new" "$rules"
}
session() { # starts a shell in the sandbox that takes commands
	coproc INSIDE { cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic \
		--set "sandbox.read-gate=$gate" -- bash 2>>"$said"; }
	pid=$INSIDE_PID
}
inside() { # COMMAND - prints its output
	local line
	echo "{ $1 ; } 2>&1; echo; echo ==over==" >&"${INSIDE[1]}"
	while IFS= read -r -t 30 line <&"${INSIDE[0]}" && [ "$line" != ==over== ]; do
		[ -z "$line" ] || echo "$line"
	done
}
notes() { cordon_in "$HOME/work" audit --json | grep -c -- "$1"; }
# told TEXT COUNT - the audit log has the text for the COUNTth time.
told() { wait_for 20 more_than "$1" "$2"; }
more_than() { [ "$(notes "$1")" -ge "$2" ]; }
changed() { # NAME [WORDS] - the last change is in effect, and told in these words
	again=$((again + 1))
	ok "$gate: $1" told "rules reloaded" $again
	[ -z "${2:-}" ] || is "$(cordon_in "$HOME/work" audit --json | sed -n 's/.*"\(rules reloaded[^"]*\)".*/\1/p' | tail -n 1)" "rules reloaded: $2" "$gate: in words"
}
next='hiding a system path, or a parent of the folder, takes effect at the next start'
stays() { # TEXT NAME
	refusals=$((refusals + 1))
	ok "$gate: $2" told "rules stay as they were" $refusals
	like "$(cordon_in "$HOME/work" audit --json | grep "stay as they were" | tail -n 1)" "$1" "$gate: $2: it is said where and why"
	ok "$gate: $2: on standard error too" wait_for 20 said_once
	like "$(cat "$said")" "cordon: the rules stay as they were: .*$1" "$gate: $2: the same words"
	: >"$said"
}
said_once() { [ "$(grep -c 'stay as they were' "$said")" = 1 ]; }

again=0 refusals=0
for gate in $kinds; do
	rm -f "$own"
	write_rules 'allow = read ~/tree/**'
	session
	is "$(inside 'cat ~/tree/a ~/tree/sub/b')" $'content of tree/a\ncontent of tree/sub/b' "$gate: a tree that a rule grants is read"
	like "$(inside 'cat ~/other/o')" "Permission denied" "$gate: another is not"

	write_rules 'allow = read ~/tree/**' 'allow = read ~/other/o'
	changed "a rule that allows is read" "now allow read ~/other/o"
	is "$(inside 'cat ~/other/o')" "content of other/o" "$gate: what it allows is open at once"
	like "$(inside 'cat ~/other/p')" "Permission denied" "$gate: and nothing else"

	write_rules 'allow = read ~/tree/**' 'allow = read ~/other/o' 'deny = write $FOLDER/kept'
	changed "a rule about writing is read" 'now deny write $FOLDER/kept'
	like "$(inside 'echo x >kept; ls')" "Permission denied" "$gate: it holds at once"
	isnt "$(ls "$HOME/work")" kept "$gate: and nothing was written"
	write_rules '# the same in other lines' 'deny = write $FOLDER/kept' 'allow = read ~/other/o' '' 'allow = read ~/tree/**'
	sleep 0.5 # nothing is told of these, or the next words are others

	if [ "$gate" = fuse ]; then
		write_rules 'allow = read ~/tree/**' 'deny = read ~/tree/sub/**'
		changed "a rule that forbids a part of a granted tree is read" "now deny read ~/tree/sub/**; no longer deny write \$FOLDER/kept and 1 more; $next"
		like "$(inside 'cat ~/tree/sub/b')" "Permission denied" "$gate: the part is shut at once"
		is "$(inside 'cat ~/tree/a')" "content of tree/a" "$gate: the rest is not"
		like "$(inside 'cat ~/other/o')" "Permission denied" "$gate: what is granted no more is shut too"
		write_rules 'hide = read ~/tree/sub/**'
		changed "a rule that hides is read"
		like "$(inside 'cat ~/tree/sub/b')" "No such file" "$gate: it is not there"
		like "$(inside 'cat ~/tree/a')" "Permission denied" "$gate: the tree is shut"
	fi

	write_rules 'allow = read ~/tree/**'
	changed "the first rules are read again"
	is "$(inside 'cat ~/tree/a')" "content of tree/a" "$gate: they count"
	write_rules 'allow = read ~/tree/**' 'alow = read ~/other/**'
	stays "config:3: unknown key" "a file with a mistake changes nothing"
	is "$(inside 'cat ~/tree/a; cat ~/other/o 2>&1 | grep -c denied')" $'content of tree/a\n1' "$gate: the last good rules stay"
	write_rules 'allow = read ~/tree/**' && chmod o+w "$rules"
	stays "everybody may write to it" "nor does a file that everybody may write to"
	chmod o-w "$rules"

	printf '[rule "p"]\n\tallow = read ~/other/**\n' >"$own"
	stays "cordon.conf:2:.*until you trust it" "a project's file that nobody trusts loosens nothing"
	like "$(inside 'cat ~/other/p')" "Permission denied" "$gate: what it says is not open"
	ok "$gate: it is trusted in another terminal" cordon_in "$HOME/work" policy trust --hash "$(sha256sum <"$own" | cut -c -16)"
	changed "then it counts"
	is "$(inside 'cat ~/other/p')" "content of other/p" "$gate: what it says is open"

	echo exit >&"${INSIDE[1]}"
	wait "$pid" 2>/dev/null
	cordon_in "$HOME/work" policy forget >/dev/null
done

# The first rules of all, in a directory that does not exist yet; and again when it is another directory.
gate=${kinds%% *}
rm -rf "$own" "$HOME/.config"
session
like "$(inside 'cat ~/other/o')" "Permission denied" "without any settings nothing is granted"
mkdir -p "$HOME/.config/cordon" && write_rules 'allow = read ~/other/o'
changed "the first settings of this user are read"
is "$(inside 'cat ~/other/o')" "content of other/o" "and count"
write_rules 'allow = read ~/other/o' 'allow = write ~/other/**'
changed "the first rule about writing elsewhere, where nobody answers" \
	'now allow write ~/other/**; writing outside the working folders takes effect at the next start'
like "$(inside 'echo x >~/other/new')" "Permission denied|Read-only" "it takes effect at the next start, as it says"
rm -rf "$HOME/.config/cordon"
changed "settings that are removed with their directory are seen"
like "$(inside 'cat ~/other/o')" "Permission denied" "and count no more"
mkdir "$HOME/.config/new" && rules=$HOME/.config/new/config && write_rules 'allow = read ~/other/p'
mv "$HOME/.config/new" "$HOME/.config/cordon" && rules=$HOME/.config/cordon/config
changed "a directory of settings that is moved there is read"
is "$(inside 'cat ~/other/p')" "content of other/p" "and counts"
mv "$HOME/.config/cordon" "$HOME/.config/old"
changed "one that is moved away is seen"
like "$(inside 'cat ~/other/p')" "Permission denied" "and counts no more"
mkdir "$HOME/.config/cordon" && ln -s ../old/config "$rules"
changed "another in its place is read, by a link"
is "$(inside 'cat ~/other/p')" "content of other/p" "and counts as well"
rm "$rules"
changed "the link is removed"
like "$(inside 'cat ~/other/p')" "Permission denied" "and with it what it said"
echo exit >&"${INSIDE[1]}"
wait "$pid" 2>/dev/null

# Questions that wait when the rules change: those that the rules decide are over.
write_rules 'allow = read ~/tree/**'
mkdir -p "$HOME/work/.git/hooks"
(cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic --set "sandbox.read-gate=$gate" --set approval.command-timeout=200 \
	--set "approval.command=cat >>$TEST_TMP/asked; sleep 200; exit 1" -- \
	sh -c 'cat ~/other/o; cat ~/other/p; echo x >.git/hooks/pre-push; echo end') >"$TEST_TMP/waited" 2>&1 </dev/null &
ok "a question waits" wait_for 20 grep -q other/o "$TEST_TMP/asked"
write_rules 'allow = read ~/other/o'
ok "a rule allows it, and the next one waits" wait_for 20 grep -q other/p "$TEST_TMP/asked"
like "$(cat "$TEST_TMP/waited")" "content of other/o" "the file is read"
write_rules 'deny = read ~/other/p' 'allow = read ~/tree/**'
ok "a rule denies that, and a change waits" wait_for 20 grep -q pre-push "$TEST_TMP/asked"
like "$(cat "$TEST_TMP/waited")" "other/p: Permission denied" "the file is not read"
write_rules 'allow = write $FOLDER/.git/hooks/pre-push'
wait $!
like "$(tail -n 3 "$TEST_TMP/waited")" "end" "a rule allows it"
is "$(cat "$HOME/work/.git/hooks/pre-push")" x "and it is made"
is "$(grep -c approve_id "$TEST_TMP/asked")" 3 "each was asked once"
rm -r "$HOME/work/.git"

# Settings in the working folder: a named file, a profile, the user's own settings by a link.
cd "$HOME/work" && mkdir conf
for given in "--config conf/c" "--profile ./conf/c" ""; do
	printf '[profile]\n' >conf/c
	mkdir -p "$HOME/.config/cordon" && rm -f "$rules"
	[ -n "$given" ] || ln -s "$HOME/work/conf/c" "$rules"
	# shellcheck disable=SC2086,SC2016
	out=$("$CORDON" run --headless $given -- sh -c 'grant() { printf "[rule \"x\"]\n\tallow = read ~/other/**\n" >>"$1"; }
		grant conf/c; cp -r conf new && grant new/c; mv conf old; mv new conf
		sleep 2; cat ~/other/o' 2>&1)
	like "$out" "cordon reads its settings from it" "${given:-a link to the folder}: the agent does not change them"
	unlike "$out" "content of other/o" "and so they grant nothing"
	is "$(cat conf/c)" "[profile]" "they are as they were"
	rm -rf new
done
done_testing
