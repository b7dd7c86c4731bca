#!/bin/bash
# profile - needs of known agents and tool chains: selected by name or command, and a lasting cache.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
shipped=$PWD/core/config/profiles
dir=$(new_folder work)
own=$HOME/.config/cordon/profiles
mkdir -p "$own"
inside() { in_folder "$dir" "$@" 2>&1; }
with() { (cd "$dir" && "$CORDON" run --headless "$@" 2>&1); }

for f in "$shipped"/*.profile; do
	ok "${f##*/} is right" "$CORDON" policy check "$f"
done

# ---- selection -----------------------------------------------------------------------------------
is "$(NODE_REPL_HISTORY=/elsewhere inside printenv NODE_REPL_HISTORY)" /run/cordon/cache/node_repl_history "any command has the tool chains"
cat >"$own/mine.profile" <<'P'
[profile]
	command = printenv
	inherits = tools
[sandbox]
	set-env = CHOSEN=by command
	env = MY_*
P
is "$(inside printenv CHOSEN)" "by command" "a profile is taken by the command's name"
is "$(MY_TOKEN=t inside /usr/bin/printenv MY_TOKEN)" t "also by its path, and passes what it names"
is "$(inside printenv NODE_REPL_HISTORY)" /run/cordon/cache/node_repl_history "with what it inherits"
is "$(inside sh -c 'printenv CHOSEN')" "" "other commands do not have it"
is "$(with --profile mine -- sh -c 'echo $CHOSEN')" "by command" "--profile names one"
is "$(with --profile "$own/mine.profile" -- sh -c 'echo $CHOSEN')" "by command" "or a file"
is "$(with --profile none -- sh -c 'echo $NODE_REPL_HISTORY')" "" "--profile none: nothing"
printf '[sandbox]\n\tset-env = CHOSEN=by the user\n' >"$HOME/.config/cordon/config"
is "$(inside printenv CHOSEN)" "by the user" "the human's own settings are stronger"
rm "$HOME/.config/cordon/config"
printf '[profile]\n\tsummary = none\n[sandbox]\n\tset-env = GOCACHE=/own\n' >"$own/go.profile"
is "$(inside printenv GOCACHE)" /own "a file of the same name takes the place of the shipped one"
rm "$own/go.profile"

# ---- why and policy list -------------------------------------------------------------------------
printf '[profile]\n\tcommand = painter\n[rule "paints"]\n\tallow = read ~/paints/**\n' >"$own/paint.profile"
printf '[sandbox]\n\tmode = dynamic\n' >"$HOME/.config/cordon/config"
mkdir -p "$HOME/paints"
verdict() { cordon_in "$dir" why read "$HOME/paints/a" --json "$@" | sed -E 's/.*"verdict":"([a-z]+)".*"losers.*/\1/'; }
is "$(verdict)" ask "why: without a profile its rules do not count"
is "$(verdict --profile paint)" allow "why --profile"
is "$(verdict -- painter --now)" allow "why -- COMMAND picks it as run would"
is "$(verdict -- /usr/bin/sorter)" ask "and not for another command"
listed() { cordon_in "$dir" policy list "$@" | grep -c 'paints, '; }
is "$(listed)$(listed --profile paint)$(listed -- painter)$(listed -- sorter)" 0110 "policy list likewise"
like "$(cordon_in "$dir" why read x --profile nope 2>&1)" "^cordon: profile 'nope': there is none" "an unknown one is refused"
rm "$HOME/.config/cordon/config" "$own/paint.profile"

# ---- bad ones ------------------------------------------------------------------------------------
refused() { # NAME REGEX NAME-OF-TEST
	local out r
	out=$(with --profile "$1" -- true)
	r=$?
	is "$r" 125 "$3: nothing starts"
	like "$out" "$2" "$3: and it is said why"
}
refused nope "^cordon: profile 'nope': there is none.*claude" "an unknown name"
printf '[profile]\n\tinherits = ring\n' >"$own/ring.profile"
is "$(with --profile ring -- echo ran)" ran "one that inherits itself counts once"
printf '[profile]\n\tinherits = ../../../../etc/passwd\n' >"$own/far.profile"
refused far "profile '../../../../etc/passwd': there is none" "a path among what is inherited"
printf '[sandbox]\n\tnonsense = 1\n' >"$own/odd.profile"
refused odd "odd.profile:2: unknown key sandbox.nonsense" "an unknown key"
chmod 666 "$own/odd.profile"
refused odd "odd.profile: everybody may write to it" "a file that everybody may write"
printf '[profile]\n\tcommand = sh\n' >"$dir/.cordon.conf"
like "$(inside true)" "unknown key profile.command" "a folder cannot bring one"
rm "$dir/.cordon.conf"

# ---- the cache -----------------------------------------------------------------------------------
other=$(new_folder other)
inside sh -c 'echo kept >"$CORDON_CACHE/f"; cp /bin/true "$CORDON_CACHE/t"; "$CORDON_CACHE/t" || echo no'
is "$(inside sh -c 'cat "$CORDON_CACHE/f"')" kept "it lasts"
is "$(in_folder "$other" sh -c 'ls "$CORDON_CACHE"')" "" "another folder has its own"
is "$(cordon_in "$dir" log --json | grep -c '"command"')" 0 "nothing of it is a step"
like "$(inside sh -c 'grep " /run/cordon/cache " /proc/self/mounts')" "nosuid,nodev" "no device works in it, nor a set-user-id bit"
is "$(with --set sandbox.cache=false -- sh -c 'echo "$CORDON_CACHE$NODE_REPL_HISTORY$GOCACHE"')" "" "sandbox.cache = false: none"
done_testing
