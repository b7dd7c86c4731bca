#!/bin/bash
# credentials - git inside pushes with the user's credentials, by host and permission, and in no other way.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3 openssl git
[ -x "$(git --exec-path)/git-credential-cache" ] || skip_all "this git has no credential-cache"
use_backend

# ---- a server with a certificate of its own, and a human's git that knows a token for it
secret=tok-3141592653589793
pki=$TEST_TMP/pki
mkdir "$pki" "$TEST_TMP/srv"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$pki/key" -out "$pki/cert" 2>/dev/null
git init -q --bare "$TEST_TMP/srv/repo.git"
git -C "$TEST_TMP/srv/repo.git" config http.receivepack true
python3 "$(dirname "$0")/../support/git_server.py" "$TEST_TMP/srv" "$pki/cert" "$pki/key" "me:$secret" "$TEST_TMP/log" >"$TEST_TMP/port" &
server=$!
trap 'kill $server 2>/dev/null; tmux_ kill-server 2>/dev/null' EXIT
wait_for 10 test -s "$TEST_TMP/port" || skip_all "no server"
port=$(cat "$TEST_TMP/port")
cat >"$HOME/.gitconfig" <<C
[user]
	name = me
	email = me@example.org
[init]
	defaultBranch = main
[credential]
	helper = store
C
echo "https://me:$secret@localhost:$port" >"$HOME/.git-credentials"

dir=$(new_folder work)
cd "$dir" || exit 1
cp "$pki/cert" ca.pem
git init -q . && git add . && git commit -qm one
git remote add origin "https://localhost:$port/repo.git"
settings=$HOME/.config/cordon/config
plain_settings=$(cat "$settings")
with() { printf '%s\n%s\n' "$plain_settings" "$1" >"$settings"; }
inside() { # OPTIONS -- COMMAND
	env GIT_TERMINAL_PROMPT=0 "$CORDON" run --headless --network open --set sandbox.env=GIT_TERMINAL_PROMPT \
		--set "sandbox.set-env=GIT_SSL_CAINFO=$dir/ca.pem" "$@" </dev/null 2>&1
}
push() { inside "$@" -- git push -q origin HEAD:main; }
there() { git -C "$TEST_TMP/srv/repo.git" rev-parse -q --verify refs/heads/main >/dev/null; }

# ---- without the option nothing of it is there
out=$(push)
like "$out" 'could not read Username|Authentication failed|terminal prompts disabled' "without --git-credentials a push has no password"
is "$(inside -- printenv GIT_CONFIG_COUNT)" "" "and git is told nothing"

# ---- nobody allows it: refused, said, and git does not ask in the terminal
out=$(push --git-credentials)
like "$out" 'told us to quit' "where no rule allows the host git is told to give up"
like "$out" "using your git credentials for localhost:$port was refused" "the refusal is listed at the end"
like "$out" "allow = credentials localhost:$port" "with the rule that allows it"
there && fail "nothing was pushed" || pass "nothing was pushed"

# ---- a rule denies, another one allows
with "[rule \"no\"]
	deny = credentials localhost:$port"
push --git-credentials >/dev/null
there && fail "a rule denies a host" || pass "a rule denies a host"
with "[rule \"yes\"]
	allow = credentials localhost:$port"
like "$("$CORDON" why credentials "localhost:$port")" '^allow  credentials' "cordon why knows the kind"
like "$("$CORDON" why credentials "localhost:1")" '^ask' "and that any other host is asked for"
out=$(push --git-credentials)
there && pass "a rule allows it: the push arrives" || fail "a rule allows it: the push arrives" "$out"
like "$(cordon_in "$dir" audit show 2>/dev/null || cordon_in "$dir" log --json 2>/dev/null; cat "$HOME"/.local/state/cordon/*/audit* "$HOME"/.local/state/cordon/audit/* 2>/dev/null)" \
	"credentials" "the audit log says so"
ok "the token is in no file of cordon's" bash -c "! grep -rqa '$secret' '$HOME/.local/state/cordon'"
is "$(git config --file .git/config --get-regexp 'credential' || true)" "" "nothing was written into the repository"
is "$(cat "$HOME/.git-credentials")" "https://me:$secret@localhost:$port" "nor into the human's store"

# ---- a host that the human's git does not know; a scheme that shows the token to the network
with "[rule \"yes\"]
	allow = credentials *"
ask() { # PROTOCOL HOST
	inside --git-credentials -- sh -c "printf 'protocol=$1\nhost=$2\n\n' | git credential fill"
}
like "$(ask https "localhost:$port")" "password=$secret" "what git inside is given"
unlike "$(ask https localhost:1)" 'password=.' "no credentials where the human's git has none"
unlike "$(ask http "localhost:$port")" 'password=.' "none without TLS"
unlike "$(inside --git-credentials -- sh -c "printf 'protocol=https\nhost=localhost:$port\nusername=me\npassword=x\n\n' | git credential reject; printf 'protocol=https\nhost=localhost:$port\n\n' | git credential fill")" \
	'password=x' "erasing and storing from inside"
is "$(cat "$HOME/.git-credentials")" "https://me:$secret@localhost:$port" "change nothing outside"

# ---- settings that the agent can write decide nothing outside
git config --global include.path "$dir/evil"
printf '[credential]\n\thelper = "!f() { touch %s/ran; echo password=x; }; f"\n' "$TEST_TMP" >"$dir/evil"
unlike "$(ask https "localhost:$port")" 'password=.' "settings of git that lie in the folder: nothing is given"
ok "and no helper of theirs ran" test ! -e "$TEST_TMP/ran"
git config --global --unset include.path
mkdir -p "$HOME/granted" tools
printf '#!/bin/sh\ntouch %s/ran\necho password=x\n' "$TEST_TMP" | tee tools/cred >"$HOME/granted/cred" && chmod 755 tools/cred "$HOME/granted/cred"
with "[rule \"yes\"]
	allow = credentials *
	allow = write ~/granted/**"
for helper in "!~/../work/tools/cred" "$HOME/granted/cred" '!"$HOME"/granted/cred'; do
	git config --global credential.helper "$helper"
	unlike "$(ask https "localhost:$port")" 'password=.' "a helper that the agent can write gives nothing: $helper"
	ok "and does not run" test ! -e "$TEST_TMP/ran"
done
git config --global credential.helper store
git config --global include.path "$HOME/granted/config" && : >"$HOME/granted/config"
git config --file "$HOME/granted/config" user.name me
unlike "$(ask https "localhost:$port")" 'password=.' "nor do settings in a place that a rule lets the agent write"
git config --global --unset include.path
rm -r tools "$HOME/granted"
with "[rule \"yes\"]
	allow = credentials *"
git config credential.helper "!touch $TEST_TMP/ran; :"
like "$(ask https "localhost:$port")" "password=$secret" "the repository's own settings are not read outside"
ok "its helper did not run there" test ! -e "$TEST_TMP/ran"
git config --unset credential.helper

# ---- what comes during the session: a rule, or an answer
mkdir -p "$HOME/granted"
printf '#!/bin/sh\ntouch %s/ran\n' "$TEST_TMP" >planted && chmod 755 planted
git config --global credential.helper "$HOME/granted/cred"
fill="printf 'protocol=https\nhost=localhost:$port\n\n' | git credential fill"
plant="until { cat planted >~/granted/cred; } 2>/dev/null; do sleep 0.2; done"
is_given() { printf '#!/bin/sh\necho username=me\necho password=good\n' >"$HOME/granted/cred" && chmod 755 "$HOME/granted/cred"; }
for what in rule once session; do
	is_given
	rm -f began
	case $what in
	rule) with "[rule \"yes\"]
	allow = credentials *
	allow = write ~/other/**" ;;
	*) with "[rule \"yes\"]
	allow = credentials *
[approval]
	command = \"echo '{\\\"allow\\\":true,\\\"scope\\\":\\\"$what\\\"}'\"" ;;
	esac
	inside --git-credentials -- sh -c "$fill; touch began; $plant; $fill" >"$TEST_TMP/filled" &
	wait_for 30 test -e began
	[ "$what" != rule ] || with "[rule \"yes\"]
	allow = credentials *
	allow = write ~/granted/**"
	wait $!
	is "$(grep -c '^password=good' "$TEST_TMP/filled")" 1 "a helper gives a password until the agent may write it ($what)"
	ok "the agent's helper does not run ($what)" test ! -e "$TEST_TMP/ran"
	like "$(cat "$HOME/granted/cred")" "touch" "it has written one ($what)"
done
git config --global credential.helper store
rm -r planted began "$HOME/granted"
with "[rule \"yes\"]
	allow = credentials *"

# ---- nor does a directory of the PATH that is a link in the folder: it could lead elsewhere a moment later
ln -s /usr/bin links
git config --global credential.helper "!f() { echo \"\$PATH\" >$TEST_TMP/path; }; f"
git config --global --add credential.helper store
like "$(PATH=$dir/links:$PATH ask https "localhost:$port")" "password=$secret" "a link to a directory of programs, in the folder"
unlike "$(cat "$TEST_TMP/path")" "$dir" "nothing is looked for by it"
git config --global --unset-all credential.helper && git config --global credential.helper store
rm links

# ---- a question: what it says, and an answer for the session
with "[approval]
	command = \"cat >>'$TEST_TMP/asked'; echo '{\\\"allow\\\":true,\\\"scope\\\":\\\"session\\\"}'\""
two="printf 'protocol=https\nhost=localhost:$port\npath=repo.git\n\n' | git credential fill"
out=$(inside --git-credentials -- sh -c "$two; $two")
is "$(grep -c "^password=$secret" <<<"$out")" 2 "an answer gives it"
is "$(grep -c '"kind":"credentials"' "$TEST_TMP/asked")" 1 "and for the session it is asked once"
like "$(cat "$TEST_TMP/asked")" "\"path\":\"localhost:$port\"" "by host"
with "[approval]
	command = \"cat >>'$TEST_TMP/asked2'\""
out=$(inside --git-credentials -- sh -c "$two; $two")
is "$(grep -c "^password=$secret" <<<"$out")" 2 "an answer for once gives it, too"
is "$(grep -c '"kind":"credentials"' "$TEST_TMP/asked2")" 2 "and each use is asked about"

# ---- the console: what shows it is recorded with stars
with "[rule \"yes\"]
	allow = credentials localhost:$port"
printf 'protocol=https\nhost=localhost:%s\n\n' "$port" >question
start 100 30 "$dir" "'$CORDON' run --git-credentials --exit -- sh -c 'git credential fill <question; echo done'"
ended "a session in the console" 0
out=$(cordon_in "$dir" replay --headless --export txt 2>&1)
like "$out" 'username=me' "its recording has what git said"
like "$out" 'password=\*+' "with stars for the token"
unlike "$out" "$secret" "and not the token"

# ---- sessions that another program drives: a loop runs before their broker is forked
printf '[git]\n\tcredentials = yes\n[network]\n\tmode = open\n' >>"$settings"
answers() { grep -q "\"$1\":2,\"result\"\|\"$1\":\"2\",\"status\"" "$TEST_TMP/out"; } # MEMBER
drives() { # MEMBER COMMAND... - it reads orders until the second is answered
	local member=$1 pid
	shift
	: >"$TEST_TMP/out"
	mkfifo "$TEST_TMP/in"
	"$@" <>"$TEST_TMP/in" >"$TEST_TMP/out" 2>/dev/null &
	pid=$!
	cat "$TEST_TMP/orders" >"$TEST_TMP/in"
	wait_for 30 answers "$member"
	kill "$pid"
	wait "$pid"
	rm "$TEST_TMP/in"
	cat "$TEST_TMP/out"
}
cat >"$TEST_TMP/orders" <<P
{"type":"session.start","request_id":"1","payload":{"working_directories":[{"path":"$dir"}]}}
{"type":"agent.execute","request_id":"2","payload":{"command":"git credential fill <question"}}
P
like "$(drives request_id "$CORDON" serve)" "password=$secret" "cordon serve: git inside is given them, too"
cat >"$TEST_TMP/orders" <<P
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"git credential fill <question"}}}
P
like "$(drives id "$CORDON" mcp)" "password=$secret" "so it is by cordon mcp"

# ---- nothing is left
pids=$(pgrep -x cordon-broker -s 0 || true)
is "$pids" "" "no broker is left"
done_testing
