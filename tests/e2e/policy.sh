#!/bin/bash
# policy - rules in files: what they allow and refuse in a run, trust, checks, and cordon why.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2088 # cordon expands the tilde
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
conf=$HOME/.config/cordon
mkdir -p "$conf" "$HOME/notes/private" "$dir/sub"
unset XDG_CONFIG_HOME XDG_STATE_HOME

says() { # STATUS REGEX NAME COMMAND... - one line, and why
	local want=$1 regex=$2 name=$3 out r
	shift 3
	out=$("$@" 2>&1 </dev/null)
	r=$?
	is "$r" "$want" "$name: status"
	like "$out" "$regex" "$name: says it"
}
why() { cordon_in "$dir" why "$@" | head -n 1 | cut -d ' ' -f 1; }

# ---- rules in a run ------------------------------------------------------------------------------
cat >"$conf/config" <<'CONF'
[rule "work"]
	allow = write $FOLDER/.envrc
	deny = write $FOLDER/keep/**
	allow = write $FOLDER/keep/open.txt
	reason = the generated part is not to be edited
[rule "notes"]
	deny = read $FOLDER/diary/**
	hide = read $FOLDER/**/*.token
	allow = write ~/notes/**
	deny = write ~/notes/private/**
[rule "gone"]
	allow = write $FOLDER/.bashrc
	until = 2020-01-01
CONF
mkdir -p "$dir/keep" "$dir/diary"
echo dear >"$dir/diary/today" && echo t0ken >"$dir/sub/a.token" && echo kept >"$dir/keep/file"
in_folder "$dir" sh -c '
	echo a >.envrc
	echo a >sub/.envrc
	echo a >keep/new
	echo a >keep/file
	echo a >keep/open.txt
	mv keep moved
	mkdir other && mv other keep/
	cat diary/today sub/a.token
	echo a >diary/today
	echo a >sub/new.token
	echo a >.bashrc
	echo a >"$HOME/notes/n.md"
	echo a >"$HOME/notes/private/n.md"
	echo a >"$HOME/elsewhere"
' >"$TEST_TMP/out" 2>&1
is "$(cat "$dir/.envrc" 2>&1)" a "a rule lets a protected name be written"
ok "only where it says" test ! -e "$dir/sub/.envrc"
ok "a denied tree takes no new file" test ! -e "$dir/keep/new"
is "$(cat "$dir/keep/file")" kept "and none of its files changes"
is "$(cat "$dir/keep/open.txt" 2>&1)" a "but for what is allowed in it"
ok "it cannot be renamed out of the rule's reach" test ! -e "$dir/moved"
ok "nor be filled by a rename" test ! -e "$dir/keep/other"
unlike "$(cat "$TEST_TMP/out")" "dear|t0ken" "what may not be read is not read"
is "$(cat "$dir/diary/today" "$dir/sub/a.token")" "dear
t0ken" "nor written"
ok "a name that would be hidden is not made" test ! -e "$dir/sub/new.token"
ok "an expired rule allows nothing" test ! -e "$dir/.bashrc"
is "$(cat "$HOME/notes/n.md" 2>&1)" a "a rule lets a place outside be written, with nobody to ask"
ok "less what another denies in it" test ! -e "$HOME/notes/private/n.md"
ok "and nothing else" test ! -e "$HOME/elsewhere"
ok "what was allowed can be undone" cordon_in "$dir" undo
ok "and is" test ! -e "$dir/.envrc"

# ---- why -----------------------------------------------------------------------------------------
is "$(why write .envrc) $(why write sub/.envrc) $(why write keep/x) $(why write keep/open.txt)" "allow ask deny allow" "why: write"
is "$(why read diary/x) $(why read sub/b.token) $(why read README) $(why read .env) $(why read .ENV) $(why read .Env.Example)" "deny hide allow hide hide allow" "why: read"
is "$(why write '~/notes/a') $(why write '~/notes/private/a') $(why write '~/b') $(why write .bashrc)" "allow deny ask ask" "why: outside, and expired"
out=$(cordon_in "$dir" why write keep/open.txt)
like "$out" "config:4" "why names file and line"
like "$out" "not deny: .*keep/\*\* .*config:3.*farther" "and the loser with its reason"
like "$(cordon_in "$dir" why write .bashrc)" "not allow: .*expired" "an expired rule loses because it is"
out=$(cordon_in "$dir" why write keep/open.txt --json)
like "$out" '"verdict":"allow".*"origin":"[^"]*config:4".*"losers":\[\{"verdict":"deny".*"lost":"' "the same as JSON"

# ---- list ----------------------------------------------------------------------------------------
out=$(cordon_in "$dir" policy list)
is "$(grep -c '^user ' <<<"$out")" 8 "list: every rule"
like "$out" "expired 20" "list: expired ones are marked"
is "$(cordon_in "$dir" policy list --json | grep -c '"level":"user"')" 8 "list --json: a line each"
ok "list --json: is JSON" bash -c "cd '$dir' && '$CORDON' policy list --json | python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)'"

# trust [HASH] - the state shown by `policy list`, without a terminal
# shellcheck disable=SC2120
trust() { cordon_in "$dir" policy trust --hash "${1:-$(sha256sum <"$dir/.cordon.conf" | cut -c -16)}"; }
# ---- a project's file ----------------------------------------------------------------------------
printf '[rule "p"]\n\tdeny = write $FOLDER/lib/**\n\task = read ~/notes/**\n' >"$dir/.cordon.conf"
mkdir -p "$dir/lib"
is "$(why write lib/x)" deny "a project's file tightens untrusted"
in_folder "$dir" sh -c 'echo a >lib/x; echo a >free' 2>/dev/null
ok "in a run too" test ! -e "$dir/lib/x" -a -e "$dir/free"
printf '[rule "p"]\n\tallow = write $FOLDER/.envrc\n\tdeny = write $FOLDER/lib/**\n' >"$dir/.cordon.conf"
says 125 "^cordon: .*cordon.conf:2: .*may not allow.*cordon policy trust" "an untrusted file that loosens" in_folder "$dir" true
printf '[rule "p"]\n\task = write ~/.ssh/known_hosts\n' >"$dir/.cordon.conf"
is "$(why write '~/.ssh/known_hosts')" hide "an untrusted ask uncovers nothing"
printf '[sandbox]\n\tenv = X\n[rule "p"]\n\tallow = write $FOLDER/sub/.envrc\n' >"$dir/.cordon.conf"
says 125 "cordon.conf:2: .*may not set sandbox.env" "nor may its settings" in_folder "$dir" true
says 1 "no terminal to ask at: .*--hash [0-9a-f]{16}" "without a terminal it asks for the hash" cordon_in "$dir" policy trust
says 1 "not the content that you read" "another hash trusts nothing" trust 0123456789abcdef
says 1 "not the content that you read" "nor does a short one" trust "$(sha256sum <"$dir/.cordon.conf" | cut -c -4)"
says 125 "may not" "nothing was trusted" in_folder "$dir" true
cp "$dir/.cordon.conf" "$TEST_TMP/conf" # what loosens is first and last, whatever is around it
{ seq -f '# filler %g' 600; cat "$TEST_TMP/conf"; printf '\tdeny = read ~/private\n'; seq -f '; filler %g' 600; } >"$dir/.cordon.conf"
out=$(cordon_in "$dir" policy trust 2>/dev/null)
like "$(head -n 6 <<<"$out")" "would loosen:.*602: env = X.*604: allow = write" "trust shows first what a file loosens"
like "$(tail -n 5 <<<"$out")" "so it would loosen:.*602: env = X.*604: allow = write" "and last"
unlike "$(tail -n 5 <<<"$out")" "filler|private" "nothing else there"
cp "$TEST_TMP/conf" "$dir/.cordon.conf"
says 1 "" "asked at a terminal, n is no" script -qec "sh -c 'cd $dir && echo n | true; $CORDON policy trust'" /dev/null
says 0 "allow = .*sub/.envrc.*trusted: " "trust shows what is trusted" trust
in_folder "$dir" sh -c 'echo a >sub/.envrc; echo "[rule \"q\"]" >>.cordon.conf; mv .cordon.conf x' 2>/dev/null
is "$(cat "$dir/sub/.envrc" 2>&1)" a "a trusted file counts in full"
unlike "$(cat "$dir/.cordon.conf")" 'q' "and the agent still cannot write it"
like "$(cordon_in "$dir" policy list)" "cordon.conf \([0-9a-f]{16}\): trusted" "list says so"
echo '# one byte' >>"$dir/.cordon.conf"
says 125 "cordon.conf:2: .*has changed since you trusted it" "a changed file is untrusted again" in_folder "$dir" true
printf '[rule "p"]\n\tdeny = write $FOLDER/lib/**\n' >"$dir/.cordon.conf"
says 0 "has changed since you trusted it" "and a run says so when it only tightens" in_folder "$dir" true
printf '[sandbox]\n\tenv = X\n[rule "p"]\n\tallow = write $FOLDER/sub/.envrc\n' >"$dir/.cordon.conf"
ok "the trusted content, come back, is trusted" in_folder "$dir" true
says 0 "no longer trusted" "forget" cordon_in "$dir" policy forget
says 125 "may not" "takes it back" in_folder "$dir" true
trust >/dev/null && echo '# more' >>"$dir/.cordon.conf"
like "$(trust "")" $'\nchanged since you trusted it last:.*\\+ # more' "trusting it again shows what has changed"
like "$(trust "")" 'nothing has changed' "or that nothing has"
cordon_in "$dir" policy forget >/dev/null
unlike "$(trust "")" 'changed' "what was forgotten has no difference"
cordon_in "$dir" policy forget >/dev/null
says 0 "was not trusted" "forget again" cordon_in "$dir" policy forget "$dir"
printf '[rule "p"]\n\tallow = write $FOLDER/[\n' >"$dir/.cordon.conf"
says 1 "impossible pattern" "a file that is wrong is not trusted" trust
says 125 "may not allow" "really not" in_folder "$dir" true
rm "$dir/.cordon.conf"
says 1 "nothing to trust" "no file" trust
ln -s /etc/passwd "$dir/.cordon.conf"
says 1 "^cordon: " "a link is not trusted" trust
rm "$dir/.cordon.conf"

# ---- the user's own rules for a project ----------------------------------------------------------
mkdir -p "$conf/projects"
out=$(find "$HOME/.local/state/cordon" -maxdepth 1 -name "work-*" -printf '%f\n')
printf '[rule "own"]\n\tallow = write $FOLDER/.bashrc\n' >"$conf/projects/$out"
like "$(cordon_in "$dir" policy list)" "project  *allow *write" "a file of the user's own for a project"
is "$(why write .bashrc)" allow "allows without trust"

# ---- check ---------------------------------------------------------------------------------------
cat >"$TEST_TMP/good" <<'CONF'
[rule "notes"]
	allow = read ~/notes/**
	match = read ~/notes/2026/a.md
	not-match = read ~/notes.txt
	not-match = read ~/notes/private/x
[rule "private"]
	deny = read ~/notes/private/**
	match = read ~/notes/private/x
CONF
says 0 "2 rules, 4 tests" "check: a good file" cordon_in "$dir" policy check "$TEST_TMP/good"
awk -v to="$TEST_TMP/example" '/^\.Bd -literal/ { on = ++n; next } /^\.Ed/ { on = 0 } on { print >(to n) }' \
	"$(dirname "$0")/../../tui/man/cordon-config.5"
for example in $(grep -l '^\[' "$TEST_TMP"/example*); do
	says 0 "all is right" "check: an example of the manual: $(head -n 2 "$example" | xargs)" cordon_in "$dir" policy check "$example"
done
sed 's/not-match = read ~.notes.txt/match = read ~\/notes.txt/; s/private\/x$/private\/x # no/' "$TEST_TMP/good" >"$TEST_TMP/wrong"
cat >>"$TEST_TMP/wrong" <<'CONF'
[rule "bad"]
	allow = read relative/**
	deny = fly ~/x
	deny = read
	ask = read ~/a//b
	deny = read ~/[a
	deny = read $NOTHING/x
	until = 2026-02-30
[rule "none"]
	match = read ~/q/**
CONF
out=$(cordon_in "$dir" policy check "$TEST_TMP/wrong" 2>&1)
is "$?" 1 "check: a wrong file"
for line in 4:.*no.rule.matches 10:.*not.absolute 11:.*unknown.kind 12:.*no.pattern 13:.*impossible 14:.*'\[' 15:.*unknown.variable 16:.*no.date 18:.*one.path; do
	like "$out" "wrong:$line" "check: line ${line%%:*}"
done
says 1 "wrong2:2.*unknown key 'alow'" "check: an unknown word" bash -c "printf '[rule \"x\"]\n\talow = read ~/x\n' >'$TEST_TMP/wrong2'; exec '$CORDON' policy check '$TEST_TMP/wrong2'"
says 1 "wrong3:2.*needs a name" "check: a rule without a name" bash -c "printf '[rule]\n\tallow = read ~/x\n' >'$TEST_TMP/wrong3'; exec '$CORDON' policy check '$TEST_TMP/wrong3'"
says 125 "usage" "no such verb" cordon_in "$dir" policy burn

# ---- bad input -----------------------------------------------------------------------------------
cp "$conf/config" "$TEST_TMP/config"
chmod 666 "$conf/config"
says 125 "config: everybody may write to it" "a config that everybody may write" in_folder "$dir" true
chmod 600 "$conf/config"
printf '[rule "x"]\n\tallow = read ~/a\n\tdeny = levitate ~/b\n' >"$conf/config"
says 125 "config:3: .*unknown kind" "an unknown kind" in_folder "$dir" true
printf '[rule "x"]\n\tallow = read "~/with # blank"\n\n\tdeny = read ~/a**b\n' >"$conf/config"
says 125 "config:4: impossible pattern" "the line is right where libgit2 reads" in_folder "$dir" true
ln -s loop "$HOME/loop"
printf '[rule "x"]\n\tdeny = read ~/loop/**\n' >"$conf/config"
says 125 "config:2: .*loop" "a loop of links" in_folder "$dir" true
rm "$HOME/loop"

# ---- links ---------------------------------------------------------------------------------------
mkdir -p "$HOME/real" && ln -s real "$HOME/alias" && ln -s real/deep "$HOME/later"
printf '[rule "x"]\n\tdeny = write ~/alias/**\n\tallow = write ~/**\n\tdeny = write ~/later/x\n' >"$conf/config"
is "$(why write '~/real/a') $(why write '~/other')" "deny allow" "a rule about a link is about what it leads to"
ln -s "$HOME/real" "$dir/mine"
printf '[rule "x"]\n\tallow = write $FOLDER/mine/**\n' >"$conf/config"
is "$(why write '~/real/a')" ask "but nothing is allowed by way of a link that the agent may have made"
done_testing
