#!/bin/bash
# withheld - reading a hidden file of the working folder is refused, and reported with the reason.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
[ -w /dev/fuse ] || skip_all "no FUSE here"
dir=$(new_folder work)
mkdir "$dir/sub" "$HOME/.config" "$HOME/.config/cordon"
echo SECRET=1 >"$dir/.env" && echo SECRET=2 >"$dir/sub/.env.local" && echo mine >"$dir/diary" && echo plain >"$dir/plain"
printf '[rule "diary"]\n\tdeny = read %s/diary\n\treason = it is my diary\n' "$dir" >"$HOME/.config/cordon/config"
before=$(tree "$dir")
run() { (cd "$dir" && exec "$CORDON" run --headless "$@" 2>"$TEST_TMP/err" </dev/null); }
events() { cordon_in "$dir" audit --json | grep '"event":"deny"'; }

out=$(run -- sh -c 'cat .env sub/.env.local diary plain 2>&1')
is "$(grep -c 'Permission denied' <<<"$out")" 3 "three are refused"
like "$out" plain "what is not hidden is read"
unlike "$out" 'SECRET|mine' "and no byte of them is"
like "$(events)" "\"path\":\"$dir/.env\"" "the audit log has the one"
like "$(events)" "\"path\":\"$dir/sub/.env.local\"" "the one further down"
like "$(events)" "\"path\":\"$dir/diary\".*it is my diary" "and the one of a rule, with its reason"
like "$(events | grep '/[.]env"')" '"op":"read".*"(reason|detail)":"[^"]*secret' "the built-in one has a reason too"
is "$(events | wc -l)" 3 "and nothing else"
same "$(run -- stat -c '%A %a %s %u %g %F' .env diary)" "$(run --mode static -- stat -c '%A %a %s %u %g %F' .env diary)" \
	"they look as in static mode"
out=$(run -- sh -c '(echo x >.env; echo y >>.env; test -r .env && echo readable; ls -A /run; umount .env) 2>&1; ls -A')
unlike "$out" 'readable|stand-ins' "neither readable nor is the directory that they come from there"
same "$(tree "$dir")" "$before" "nothing has changed"

# A hidden directory: listing it, stat of it, and of a name in it.
mkdir "$dir/vault" "$dir/vault/deep" && echo SECRET=3 >"$dir/vault/key"
before=$(tree "$dir")
n=$(events | wc -l)
told() { events | tail -n "+$((n + 1))" | grep -c "\"path\":\"$dir/vault\".*\"\(reason\|detail\)\":\"[^\"]"; }
hides() { run --hide vault "$@"; }
out=$(hides -- sh -c 'ls vault 2>&1')
like "$out" 'Permission denied' "a hidden directory cannot be listed"
is "$(told)" 1 "and that is told, with a reason"
out=$(hides -- sh -c 'cat vault/key vault/deep/x 2>&1')
is "$(grep -c 'Permission denied' <<<"$out")" 2 "nor can what is in it be read, there or not"
is "$(told)" 2 "which is told once for a command"
unlike "$out" SECRET "no byte of it is"
out=$(hides -- sh -c '(cd vault; mkdir vault/new; echo x >vault/key; rm -r vault; mv vault elsewhere; umount vault) 2>&1; ls -A')
like "$out" vault "it is there"
same "$(tree "$dir")" "$before" "and nothing has changed in it"
same "$(hides -- stat -c '%A %a %s %h %u %g %F' vault)" "$(hides --mode static -- stat -c '%A %a %s %h %u %g %F' vault)" \
	"it looks as in static mode"
rm -r "$dir/vault"

# Two at once, many times: none is lost, and no caller waits for ever.
out=$(run -- sh -c 'for i in 1 2 3 4; do (for k in 1 2 3 4 5 6 7 8; do cat .env; done) & done; wait' 2>&1)
unlike "$out" SECRET "many readers at once get nothing"

# A gate that has died keeps them closed. gates_of PID - the read gates among its descendants.
gates_of() {
	local child
	for child in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" != cordon-gate ] || echo "$child"
		gates_of "$child"
	done
}
mkfifo "$dir/go"
(run -- sh -c 'echo ready >ready; read -r x <go; cat .env 2>&1; cat plain') >"$TEST_TMP/out" &
ok "it runs" wait_for 30 test -s "$dir/ready"
gate=$(gates_of $$ | head -n 1)
ok "its gate is killed" kill -9 "$gate"
echo >"$dir/go"
wait
unlike "$(cat "$TEST_TMP/out")" SECRET "a dead gate gives no byte"
like "$(cat "$TEST_TMP/out")" "^cat: .env: " "but an error"
done_testing
