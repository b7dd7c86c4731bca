#!/bin/bash
# exec - a shell and commands of the user beside the agent: input, output, end, steps, clients that die.
# SPDX-License-Identifier: MIT
# drives: shell
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
exec_() { (cd "$dir" && exec timeout 60 "$CORDON" exec "$@"); }
has_step() { cordon_in "$dir" log | grep -Eq -- "$1"; }
no_line() { ! cordon_in "$dir" log | grep -Eq -- "$1"; }

out=$(exec_ -- true 2>&1)
is "$?" 125 "without a session nothing runs"
like "$out" "no session runs: start one" "and it says so"
out=$(exec_ npm test 2>&1)
like "$out" "put -- before the command" "a command without -- is refused"

start 100 30 "$dir" "env -u TMUX $CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
host=$(session_pid)

# ---- a command
out=$(exec_ -- sh -c 'echo out; echo err >&2; pwd; exit 3' 2>"$TEST_TMP/err")
is "$?" 3 "its exit status is the command's"
is "$out" $'out\n'"$dir" "standard output, and the folder"
is "$(cat "$TEST_TMP/err")" err "standard error is apart"
is "$(seq 200000 | exec_ -- md5sum)" "$(seq 200000 | md5sum)" "what comes by a pipe gets there whole"
is "$(exec_ -- seq 200000 | md5sum)" "$(seq 200000 | md5sum)" "and what it prints"
is "$(exec_ -- sh -c 'kill -TERM $$'; echo $?)" 143 "an end by a signal"
out=$(exec_ -- nosuchprogram 2>&1)
is "$?" 127 "a program that is not there"
like "$out" "nosuchprogram.*not found inside" "and it says so"
is "$(cd "$dir" && mkdir -p sub && cd sub && "$CORDON" exec -- pwd)" "$dir/sub" "it runs where it was called"
is "$(cd / && "$CORDON" exec -- pwd)" "$dir" "from outside in the session's folder"
yes | head -c 1000000 | exec_ -- true
is "$?" 0 "input that it does not read"
exec_ -- yes | head -1 >/dev/null
ok "output that nobody reads ends it" wait_for 10 none_marked ' exec -- yes'
out=$(timeout 60 "$CORDON" exec "$(cordon_in "$dir" sessions --json | sed -n 's/.*"id":"\([^"]*\).*/\1/p')" -- echo named)
is "$out" named "the session by its name"

# ---- the same rules
ok "it may not write outside" exec_ -- sh -c '! echo x >/usr/cordon-x 2>/dev/null'
exec_ -- sh -c 'mkdir -p .git/hooks; echo x >.git/hooks/post-merge' &
asks() { cordon_in "$dir" pending | grep -q post-merge; }
ok "a protected file is asked about" wait_for 15 asks
cordon_in "$dir" deny "$(cordon_in "$dir" pending --json | sed -n 's/.*"approve_id":"\([^"]*\).*/\1/p')" >/dev/null
wait $!
isnt $? 0 "and denied"

# ---- whose the steps are
type_text 'sh -c "echo 1 >one"' && keys Enter
ok "the agent's step" wait_for 10 has_step "sh -c|echo 1"
exec_ -- sh -c 'echo mine >two'
ok "the human's is named so, at once" has_step 'you: echo mine'
type_text 'sh -c "echo 3 >three"' && keys Enter
ok "the agent goes on" wait_for 10 has_step 'echo 3'
exec_ -- sh -c 'mkdir d; echo more >>three'
md=$(cordon_in "$dir" report)
like "$md" '### Commands of yours beside the agent
.*` you: echo mine >two ` step [0-9]+.*` you: .*more.*' "the report has a list of the human's"
like "$md" '` one ` \+1 -0' "it counts the agent's files"
like "$md" '` three ` \+1 -0' "and lines"
unlike "$md" '` (two|d) `' "not the human's, and no directory"
like "$md" '; 2 changed files, \+2 -0 lines;' "nor in its sums"
printf '#!/bin/sh\necho x >spoof\n' >"$dir/you:" && chmod +x "$dir/you:"
type_text 'PATH=.:$PATH; you: npm test' && keys Enter
ok "no command of the agent's has that name" wait_for 10 has_step ' \\you: npm test'
type_text 'cordon() { "'"$CORDON"'" "$@"; }; cordon step begin "you: x"; sh -c "echo 5 >five"; cordon step end' && keys Enter
ok "nor a group" wait_for 10 has_step ' \\you: x'

# ---- a shell on a terminal
tmux_ set -s set-clipboard on
tmux_ new-session -d -s sh -x 80 -y 24 -c "$dir" "env -u TMUX SHELL=$(command -v bash) $CORDON exec; echo \$? >$TEST_TMP/sh.status; stty -a >$TEST_TMP/sh.stty; exec sleep 600"
on() { tmux_ capture-pane -p -t "=sh:" | grep -Eq -- "$1"; }
say() { tmux_ send-keys -t =sh: -l -- "$1" && tmux_ send-keys -t =sh: Enter; }
say 'echo $((40 + 2))th'
ok "it answers" wait_for 15 on '^42th'
say 'stty size; ls -A /dev/pts'
ok "the terminal has the client's size" wait_for 10 on '^24 80'
ok "no terminal has a name inside" wait_for 10 on '^ptmx *$'
say 'clear; stty -a'
ok "Backspace takes a whole character" wait_for 10 on '(^| )iutf8'
tmux_ resize-window -t =sh: -x 90 -y 20
say 'clear; stty size'
ok "and follows it" wait_for 10 on '^20 90'
# Before the shell has the terminal back, the terminal throws away what was typed in front of Ctrl-C.
say 'sh -c "echo runs; exec sleep 100"'
ok "a program runs" wait_for 10 on '^runs'
tmux_ send-keys -t =sh: C-c
say 'echo over $?'
ok "Ctrl-C is the program's" wait_for 10 on '^over 130'
say 'echo a >by-hand'
say 'sh -c "echo b >by-command"; echo c >by-hand2'
ok "each command is a step" wait_for 10 has_step 'you: echo b'
ok "what the shell writes itself is one, too" wait_for 10 has_step 'you: edit .*by-hand'
say "printf 'clip\\033]52;c;aGk=\\007board\\033]2;taken\\007 \\033[1mbold\\033[m\\n'"
ok "text of a file arrives" wait_for 10 on '^clipboard bold'
is "$(tmux_ show-buffer 2>/dev/null)" "" "but not in the clipboard"
isnt "$(tmux_ display-message -p -t =sh: '#{pane_title}')" taken "nor in the title"
say 'exit 7'
ok "it ends" wait_for 10 test -s "$TEST_TMP/sh.stty"
is "$(cat "$TEST_TMP/sh.status")" 7 "with the shell's status"
like "$(tr '\n' ' ' <"$TEST_TMP/sh.stty")" ' icanon .* echo ' "and the terminal is as it was"

# ---- undo
keys C-] u
sees 'your step -?[0-9]+: ' "an undo of what lies before asks about the human's"
sees 'goes, too' "and says what becomes of it"
keys Escape

# ---- from the console
keys C-] '!'
loses '━ > agent' "C-] ! opens a shell"
type_text 'echo $((6 * 7)) >from-console; cat from-console; exit' && keys Enter
ok "which is one beside the agent" wait_for 10 has_step 'you: edit .*from-console'
sees 'agent ━' "and the console is back"

# ---- the agent cannot reach it
cat >"$dir/attack.py" <<'P'
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
won = []
def attempt(name, fn):
    try:
        if fn(): won.append(name)
    except OSError: pass
def call(*args): return lambda: libc.syscall(*args) >= 0
def reads(path): return lambda: len(os.read(os.open(path, os.O_RDONLY), 1)) >= 0
buf = ctypes.create_string_buffer(8)
class Vec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
local, remote = Vec(ctypes.addressof(buf), 8), Vec(0x400000, 8)
target = int(open("target").read())
for pid in set(range(2, 2000)) - {os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0)}:
    same = pid == target
    if not same and not os.path.exists(f"/proc/{pid}"): continue
    if not same: continue # others are the agent's own
    attempt("kill", lambda: os.kill(pid, 0) is None)
    attempt("killpg", lambda: os.killpg(pid, 0) is None)
    attempt("ptrace", lambda: libc.ptrace(16, pid, 0, 0) == 0)
    attempt("process_vm_readv", call(310, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
    for name in "mem", "environ", "fd/0", "maps", "cwd/target":
        attempt(name, reads(f"/proc/{pid}/{name}"))
    attempt("pidfd", lambda: (signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGTERM), True)[1])
    attempt("pidfd_getfd", lambda: libc.syscall(438, os.pidfd_open(pid), 0, 0) >= 0)
    attempt("setpgid", lambda: os.setpgid(0, pid) is None)
attempt("terminal", lambda: [n for n in os.listdir("/dev/pts") if n != "ptmx"])
open("attacked", "w").write(" ".join(won) or "nothing")
P
rm -f "$dir/target"
(cd "$dir" && exec timeout 60 "$CORDON" exec -- sh -c 'echo $$ >target; exec sleep 30') &
shell=$!
ok "the human runs something" wait_for 10 test -s "$dir/target"
type_text 'clear; python3 attack.py' && keys Enter
ok "the agent attacks it" wait_for 30 test -s "$dir/attacked"
is "$(cat "$dir/attacked")" nothing "no signal, no trace, no look, no descriptor, no terminal"
# Its orphan writes while the user's command is the only one that runs.
type_text '(setsid sh -c "sleep 1; echo orphan >orphan" &) >/dev/null 2>&1' && keys Enter
ok "an orphan of the agent's writes" wait_for 10 test -s "$dir/orphan"
sleep 2
ok "and is not taken for the human" no_line 'you:.*(orphan|setsid)'
ok "what the human runs goes on" kill -0 $shell
kill $shell
type_text 'clear; "'"$CORDON"'" exec -- true; echo inside $?' && keys Enter
sees '^inside 125' "cordon exec does not work inside"

# ---- clients that die
for n in $(seq 1 25); do
	(cd "$dir" && exec "$CORDON" exec -- sh -c "echo up; exec sleep 1000.$$") >"$TEST_TMP/up" &
	client=$!
	[ $((n % 2)) = 0 ] || wait_for 10 test -s "$TEST_TMP/up"
	sleep "0.0$((RANDOM % 9))"
	kill -KILL $client
	wait $client 2>/dev/null
done
ok "the session is there after 25 killed clients" kill -0 "$host"
ok "what they ran has ended" wait_for 10 none_marked "^sleep 1000.$$\$"
is "$(exec_ -- echo again)" again "and another command runs"
(cd "$dir" && exec "$CORDON" exec -- sh -c 'echo up; cat /dev/zero') | { sleep 1; } # one that does not read
is "$(exec_ -- echo again)" again "nor does one harm that did not read"
for n in 1 2 3 4 5 6 7 8; do (cd "$dir" && exec "$CORDON" exec -- sleep "2000.$$") & done
all_run() { [ "$(pgrep -fc "^sleep 2000.$$\$")" = 8 ]; }
ok "eight commands run" wait_for 15 all_run
out=$(cd "$dir" && timeout 60 "$CORDON" exec -- true 2>&1)
like "$out" "too many programs run beside" "there is a limit"

# ---- the session ends
keys C-d
sees 'ended with 0' "the agent has ended"
keys C-] q
ok "all ends with the agent" wait_for 20 has_ended "$host"
for job in $(jobs -p); do wait "$job" 2>/dev/null; done
ok "the clients, too" none_marked " exec -- sleep 2000.$$"

# ---- an upgrade replaces the program while a session runs
mkdir -p "$TEST_TMP/bin"
cp "$CORDON" "$TEST_TMP/bin/cordon"
start 120 30 "$dir" "env -u TMUX $TEST_TMP/bin/cordon run -- sh"
sees '━ > agent' "a session runs"
cp "$CORDON" "$TEST_TMP/bin/new" && mv "$TEST_TMP/bin/new" "$TEST_TMP/bin/cordon"
keys C-] '!'
loses '━ > agent' "the new program is started for a shell"
type_text 'echo $0-$((40 + 2))' && keys Enter
sees 'bash-42' "which works"
keys C-d
sees '━ > agent' "and the console is back"
done_testing
