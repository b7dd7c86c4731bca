#!/bin/bash
# disk - `cordon stores`, journal.total-size, `uninstall --purge`; a refused start leaves nothing.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
state=$HOME/.local/state/cordon
kept() { "$CORDON" stores --json | python3 -c 'import json, sys
for line in sys.stdin:
	d = json.loads(line)
	print(d["folder"].rsplit("/", 1)[-1], *(d[k] for k in sys.argv[1:]))' "$@"; }

# ---- a start that is refused, an undo of nothing
a=$(new_folder a)
# shellcheck disable=SC2016
nothing() { # NAME COMMAND... - it fails, and no file in the state directory carries the folder's label
	local name=$1 left
	shift
	if (cd "$a" && "$@") >"$TEST_TMP/out" 2>&1; then fail "$name fails" "$(cat "$TEST_TMP/out")"; fi
	left=$(find "$state" -name 'a-*' 2>/dev/null)
	is "$left" "" "$name leaves nothing"
}
nothing "a command that is not there" "$CORDON" run --headless -- no-such-command
nothing "a limit that is too low" "$CORDON" run --headless --set sandbox.memory=1k -- true
nothing "a start without descriptors" bash -c 'ulimit -n 32; exec "$0" run --headless -- true' "$CORDON"
nothing "an undo of nothing" "$CORDON" undo
in_folder "$a" sh -c 'echo 1 >f'
(cd "$a" && "$CORDON" run --headless -- no-such-command 2>/dev/null)
is "$(kept steps)" "a 1" "where there is a history, it stays"
is "$(ls "$state/claims")" "" "no session that has ended has a claim"
ok "and is sound" cordon_in "$a" journal verify
ok "so is its audit log" cordon_in "$a" audit verify

# ---- the list
b=$(new_folder b)
in_folder "$b" sh -c 'head -c 300000 /dev/urandom >big; echo "$XDG_CACHE_HOME" >where; cp big "$CORDON_CACHE/tool"'
in_folder "$b" rm big
is "$(kept steps gone)" $'b 2 False\na 1 False' "each folder, the newest first"
out=$("$CORDON" stores)
like "$out" "SIZE.*LAST USED.*STEPS.*FOLDER" "in words"
like "$out" "MiB +[0-9:]+ +2  $b" "with size, last use, steps, folder"
like "$out" "cordon holds .*history .*cache .*recordings and the rest" "and what all of it takes"
within() { # GOT WANT - bytes, a tenth apart at most
	[ $(($1 * 10)) -ge $(($2 * 9)) ] && [ $(($1 * 10)) -le $(($2 * 11)) ]
}
read -r _ history cache audit all < <(kept history_bytes cache_bytes audit_bytes bytes)
ok "the history is what du says" within "$history" "$(($(du -sk "$state"/b-*/ | cut -f1) * 1024))"
ok "so is the cache" within "$cache" "$(($(du -sck "$state"/{cache,homes}/b-*/ | tail -n 1 | cut -f1) * 1024))"
ok "the audit log counts" test "$audit" -gt 0
is "$((history + cache + audit <= all))" 1 "in the sum"
is "$(cd / && "$CORDON" stores extra 2>&1; echo $?)" $'cordon: stores: takes no arguments: usage: cordon stores [--json] [--prune [--older-than DAYS] [--dry-run] [--yes]]\n125' "wrong usage"

# ---- a folder that is gone
mv "$a" "$a.moved"
like "$("$CORDON" stores)" "$a \(folder is gone\)" "a folder that is gone is named"
out=$("$CORDON" stores --prune 2>&1 </dev/null)
like "$out" "1 folder: .*1 step.*--adopt.*add --yes" "--prune says what would go, and asks"
is "$(kept steps | sort)" $'a 1\nb 2' "nothing has gone"
like "$("$CORDON" stores --prune --dry-run)" "1 folder:" "--dry-run asks nothing"
is "$("$CORDON" stores --prune --older-than 1 --yes)" "There is nothing to remove." "--older-than 1: it was used today"
is "$(kept steps | sort)" $'a 1\nb 2' "nothing has gone"
exec 7<"$(echo "$state"/a-*/lock)" && flock 7
out=$("$CORDON" stores --prune --yes 2>&1)
is "$? $(tail -n 1 <<<"$out")" "1 cordon: a session or an undo works with '$a': end it first" "not while somebody has its lock"
exec 7<&-
# answer FROM TO - says yes to the question in a terminal, once FROM has been renamed to TO.
answer() {
	python3 -c 'import os, pty, sys
pid, fd = pty.fork()
if not pid: os.execv(sys.argv[1], sys.argv[1:2] + ["stores", "--prune"])
said = b""
while b"[y/N]" not in said: said += os.read(fd, 4096)
os.rename(sys.argv[2], sys.argv[3])
os.write(fd, b"y\n")
try:
	while got := os.read(fd, 4096): said += got
except OSError: pass
print(said.decode())' "$CORDON" "$1" "$2"
}
like "$(answer "$a.moved" "$a")" "'$a' is there again" "not of a folder that came back before the answer"
is "$(kept steps | sort)" $'a 1\nb 2' "nothing has gone"
mv "$a" "$a.moved"
mkdir "$state/.gone-x-0123456789ab" # of one that was killed
ok "--yes" "$CORDON" stores --prune --yes
is "$(kept steps)" "b 2" "removes it"
is "$(find "$state" -path "$state/homes/b-*" -prune -o -name '*a-[0-9a-f]*' -print -o -name '.gone-*' -print)" "" "whole, and what a dead one left"
ok "the other can be undone" cordon_in "$b" undo -n 2
ok "and redone" cordon_in "$b" redo

# ---- the limit over all folders: the oldest steps of the folder that was used longest ago
mv "$a.moved" "$a"
c=$(new_folder c)
for f in "$a" "$c"; do
	for i in 1 2 3; do
		in_folder "$f" sh -c 'head -c 200000 /dev/urandom >"$1"' sh "$i"
		in_folder "$f" rm "$i"
	done
done
total() { "$CORDON" run --headless --set journal.total-size="$1" -- true; }
is "$(kept steps)" $'c 6\na 6\nb 2' "three folders"
(cd "$c" && total 100m)
is "$(kept steps)" $'c 6\na 6\nb 2' "below the limit all stays"
(cd "$c" && total 900k)
read -r _ a_steps < <(kept steps | grep '^a')
is "$(kept steps | grep -v '^a')" $'c 6\nb 0' "b's steps go first"
ok "then the oldest of a" test "$a_steps" -gt 0 -a "$a_steps" -lt 6
like "$(cordon_in "$a" log)" "older steps.*no longer kept .*journal.total-size" "whose log says so"
ok "a is sound" cordon_in "$a" journal verify
cordon_in "$a" undo >/dev/null && ok "and its newest step can be undone" test -e "$a/3"
(cd "$c" && total 1)
is "$(kept steps | grep '^c')" "c 6" "the session's own folder stays as it is"
mv "$a" "$a.moved"
(cd "$c" && total 1)
is "$(kept steps | grep '^a')" "" "one that is gone goes whole"

# ---- nothing is left
ok "uninstall with nothing to do" "$CORDON" uninstall --yes
out=$("$CORDON" uninstall --purge --dry-run)
like "$out" "$state: all histories.*[KM]iB" "uninstall --purge --dry-run says what would go"
start_in "$c" sh -c 'echo >up; until test -e go; do sleep 0.05; done'
wait_for 10 test -e "$c/up"
out=$("$CORDON" uninstall --purge --yes 2>&1)
is "$? $(tail -n 1 <<<"$out")" "1 cordon: a session or an undo works with '$c': end it first" "not while a session runs"
ok "which can still undo" test -d "$(echo "$state"/c-*/steps)" -a -d "$(echo "$state"/b-*/)"
: >"$c/go"
wait "$pid"
mkdir -p "$HOME/.config/cordon" && echo '# mine' >"$HOME/.config/cordon/config"
ok "--purge" "$CORDON" uninstall --purge --yes
is "$(cd "$HOME" && find . -path '*cordon*')" "" "leaves nothing of cordon's in the home"
is "$("$CORDON" stores)" "cordon keeps nothing yet." "and says so"
done_testing
