#!/bin/bash
# held - calls that wait for the user, and signals: a program is as free as with a slow disk.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks" "$HOME/notes"
echo text >"$HOME/notes/a"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
cat >"$dir/held.py" <<'P'
import ctypes, os, signal, sys, threading
how, path, mode = sys.argv[1:4]
libc = ctypes.CDLL(None, use_errno=True)
runs = 0
def on_alarm(*_):
    global runs
    runs += 1
if how == "blocks": signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
if how == "ignores": signal.signal(signal.SIGINT, signal.SIG_IGN)
if how == "threads": threading.Thread(target=threading.Event().wait, daemon=True).start()
if how in ("restarts", "retries"):
    signal.signal(signal.SIGALRM, on_alarm)
    signal.siginterrupt(signal.SIGALRM, how == "retries")
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
print("begins", how, flush=True)
try:
    if how == "restarts": # as C sees it
        flags = os.O_WRONLY | os.O_CREAT if mode == "w" else os.O_RDONLY
        fd = libc.open(path.encode(), flags, 0o644)
        print("done", how, fd >= 0 or os.strerror(ctypes.get_errno()), runs > 3)
    else:
        open(path, mode).close()
        print("done", how, runs > 3)
except KeyboardInterrupt: print("left", how)
except OSError as e: print("failed", how, e)
P
program() { type_text "clear; python3 held.py $*" && keys Enter; }
pending() { "$CORDON" pending --json; }
id_of() { pending | python3 -c 'import json, sys
print(*[m["id"] for m in map(json.loads, sys.stdin) if m["path"].endswith(sys.argv[1])])' "$1"; }
waits() { [ -n "$(id_of "$1")" ]; }
nothing_waits() { [ -z "$(pending)" ]; }
asks() { # PATH NAME - it has been asked, and is still after a while; $id
	ok "$2" wait_for 15 waits "$1"
	id=$(id_of "$1")
	sleep 0.6
	is "$(id_of "$1")" "$id" "$2: one question"
}

start 110 30 "$dir" "$CORDON run --set approval.remember=0 -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a session runs"
for how in catches threads; do
	for what in ".git/hooks/$how w" "$HOME/notes/a r"; do
		program "$how" "$what"
		asks "${what% *}" "$how, $what"
		keys C-c
		sees "left $how" "$how, $what: Ctrl-C ends it"
		ok "$how, $what: nothing waits any more" wait_for 15 nothing_waits
		sees '- withdrawn: ' "$how, $what: the list says so"
		loses 'C-\] a answers' "$how, $what: its row is gone"
	done
done
for how in blocks ignores; do
	program "$how" .git/hooks/$how w
	asks hooks/$how "$how"
	keys C-c
	sleep 0.6
	is "$(id_of hooks/$how)" "$id" "$how: what does not want the signal waits on"
	"$CORDON" approve "$id"
	sees "done $how" "$how: and is answered"
done
for how in restarts retries; do
	for what in ".git/hooks/$how w" "$HOME/notes/a r"; do
		program "$how" "$what"
		asks "${what% *}" "$how, $what"
		"$CORDON" approve "$id"
		sees "done $how" "$how, $what: is answered"
		if [[ $what = *w ]]; then
			sees "done $how.* True " "$how, $what: its handler has run meanwhile"
			unlike "$(screen)" 'Interrupted|error 512' "$how, $what: and the call was made again"
		fi
	done
done
program catches .git/hooks/stops w
asks hooks/stops "stops"
keys C-z
sees 'Stopped' "Ctrl-Z stops it"
sleep 1
is "$(id_of hooks/stops)" "$id" "its question waits with it"
type_text 'clear; fg' && keys Enter
sees '^python3 held.py catches .*stops w ' "it goes on"
sleep 0.6
is "$(id_of hooks/stops)" "$id" "with the same question"
keys C-z
sees '\[1\]. +Stopped' "stopped once more"
"$CORDON" approve "$id"
sleep 0.5
ok "an answer that comes while it is stopped is kept" test ! -e "$dir/.git/hooks/stops"
type_text 'fg' && keys Enter
sees 'done catches' "until it goes on"
ok "and is carried out" test -e "$dir/.git/hooks/stops"
program catches .git/hooks/gone w
asks hooks/gone "stopped, then killed"
keys C-z
sees '\[1\]. +Stopped' "stopped"
type_text 'kill -9 %1' && keys Enter
ok "its question goes with it" wait_for 15 nothing_waits
type_text 'exec true' && keys Enter # exit stays where the shell takes the job for a stopped one
sees 'ended with' "the agent has ended"
keys C-] q
ended "and the console with it" 0

# Without a console the approver's command is not waited for.
printf '#!/bin/sh\ntouch %s\nexec sleep 100\n' "$dir/asked" >"$TEST_TMP/slow"
chmod +x "$TEST_TMP/slow"
cat >"$dir/alone.py" <<'P'
import os, signal, sys, threading, time
def interrupt(): # once it was asked
    while not os.path.exists("asked"): time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
began = time.monotonic()
try: open(".git/hooks/alone", "w")
except KeyboardInterrupt: print("left", time.monotonic() - began < 90)
P
out=$(cd "$dir" && "$CORDON" run --headless --set "approval.command=$TEST_TMP/slow" -- python3 alone.py 2>&1)
ok "headless: the command was asked" test -e "$dir/asked"
like "$out" 'left True' "headless: a signal ends the call"
ok "headless: nothing was made" test ! -e "$dir/.git/hooks/alone"
done_testing
