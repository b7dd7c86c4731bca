#!/bin/bash
# hangup - the terminal of a console closes: the session ends, or continues and can be attached to.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
mark=$(new_mark)
mkdir -p "$dir/.git/hooks"
# Continues without its terminal's keys: runs commands from the pipe.
cat >"$dir/worker" <<'E2'
echo "works $1"
echo one >one
while read -r line; do
	eval "$line"
	echo "status $?"
done <>orders
E2
mkfifo "$dir/orders"
audit() { cordon_in "$dir" audit --json 2>&1; }
audit_has() { audit | grep -q -- "$1"; }
there() { tmux_ capture-pane -p -t =u: | grep -Eq -- "$1"; }
sees_there() { # REGEX NAME
	if wait_for 15 there "$1"; then pass "$2"; else fail "$2" "no line like: $1"; fi
}
running() { cordon_in "$dir" sessions --json | sed -n "s/.*\"$1\":\"*\([^\",]*\).*/\1/p"; } # FIELD
order() { timeout 60 sh -c 'printf "%s\n" "$1" >"$2"' sh "$1" "$dir/orders"; }
# begin SETTING... - a session in a pane of its own, which shows nothing of the shell's
begin() {
	local settings=() s
	rm -f "$dir"/{one,two}
	for s; do settings+=(--set "$s"); done
	start 100 30 "$dir" "env -u TMUX $CORDON run --backend native ${settings[*]} -- sh ./worker $mark"
	sees "works $mark" "a session runs"
	ok "and has changed something" wait_for 10 test -s "$dir/one"
}

# ---- end ----
begin console.on-hangup=end
tmux_ kill-pane -t =t:
ok "the pane is closed: everything ends" wait_for 20 none_marked "$mark"
ok "the audit log says why" wait_for 10 audit_has 'the terminal closed: the session ends'
like "$(cordon_in "$dir" log)" 'edit one' "its step is kept"
ok "undo takes it back" cordon_in "$dir" undo -n 1
ok "as it was" test ! -e "$dir/one"

# ---- detach, the default ----
told=$TEST_TMP/told
begin console.notify=command "'console.notify-command=cat >>$told; echo >>$told'"
pid=$(running pid) name=$(running session)
tmux_ new-session -d -s u -x 100 -y 30 -c "$dir" "exec sleep 600"
tmux_ kill-pane -t =t:
ok "the pane is closed: the session says that it goes on" wait_for 15 grep -q 'goes on without a console' "$told"
ok "its process is there" kill -0 "$pid"
ok "the audit log says so" wait_for 10 audit_has 'the session goes on without a console'
if [ "$(id -u)" = 0 ]; then
	is "$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/1" "/proc/$pid/fd/2" | sort -u)" /dev/null "it holds no closed terminal"
else
	skip "it holds no closed terminal" "only root may look at its descriptors"
fi
order 'echo two >two; head -c 3000000 /dev/zero | tr "\0" x; echo; echo after-hangup-$((40 + 2))'
order 'echo three >three'
ok "the agent works on, and what it prints is taken" wait_for 30 test -s "$dir/three"
kill -HUP "$pid" && kill -WINCH "$pid" && kill -CONT "$pid"
order 'printf "\033]52;c;aGk=\a\a"; echo x >.git/hooks/post-merge'
tmux_ respawn-pane -k -t =u: -c "$dir" "$CORDON attach; echo \$? >$TEST_TMP/attached; exec sleep 600"
sees_there '\? ASK.*post-merge' "attach finds it, and what it asks"
sees_there '- the terminal closed: ' "and what has happened"
ok "the human was called" wait_for 15 grep -q 'waits for your answer' "$told"
tmux_ send-keys -t =u: C-] a
sees_there 'ALLOW writing .*post-merge once' "the request opens"
n=0
until_keys_count
until [ -s "$dir/.git/hooks/post-merge" ] || [ $n -ge 30 ]; do
	tmux_ send-keys -t =u: a
	wait_for 1 test -s "$dir/.git/hooks/post-merge"
	n=$((n + 1))
done
ok "and is answered" test -s "$dir/.git/hooks/post-merge"
order 'exit 4'
sees_there 'ended with 4' "the agent ends, which is said there"
tmux_ send-keys -t =u: C-] q
ok "leaving ends everything" wait_for 20 none_marked "$mark"
ok "the client, too" wait_for 15 test -s "$TEST_TMP/attached"
is "$(cat "$TEST_TMP/attached")" 4 "with the agent's status"
ok "undo takes all of it back" cordon_in "$dir" undo --force -n "$(cordon_in "$dir" log --json | grep -vcE '"undone":true|"kind":"barrier"')"
ok "what was made before" test ! -e "$dir/one"
ok "and after" test ! -e "$dir/two" -a ! -e "$dir/three" -a ! -e "$dir/.git/hooks/post-merge"
cordon_in "$dir" replay --export txt "$name" >"$TEST_TMP/text" 2>&1
ok "the recording has what was printed after it" grep -q after-hangup-42 "$TEST_TMP/text"

# ---- detach, while another program has the terminal; the process is ended ----
printf '#!/bin/sh\nsleep 600; : %s\n' "$mark" >"$TEST_TMP/editor" && chmod +x "$TEST_TMP/editor"
export EDITOR="$TEST_TMP/editor"
begin
order 'sh -c "echo three >three"'
sees 'three +\+1' "a step has ended"
keys C-] d
sees '1 \+ (one|three)' "a diff"
keys E
edits() { pgrep -f "$TEST_TMP/editor"; }
ok "the file is in an editor" wait_for 10 edits
tmux_ kill-pane -t =t:
no_editor() { ! edits; }
ok "the pane is closed: the editor ends" wait_for 15 no_editor
order 'echo two >two'
ok "the agent works on" wait_for 20 test -s "$dir/two"
pid=$(running pid)
kill "$pid" && kill -HUP "$pid"
ok "a signal ends the session" wait_for 20 none_marked "$mark"
like "$(cordon_in "$dir" log)" 'two' "and its steps are kept"
done_testing
