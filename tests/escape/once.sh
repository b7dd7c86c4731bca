#!/bin/bash
# once - an answer for once allows the request on the screen: not another thread's, nor another file's.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
mkdir -p "$TEST_TMP/bin"

# two HOW CALL - "a" is to take a protected name; before the answer the same process requests more of it.
cat >"$TEST_TMP/bin/two" <<'P'
#!/usr/bin/python3
import os, signal, sys, threading, time
how, call = sys.argv[1], getattr(os, sys.argv[2])
open("a", "w").write("benign\n"); open("b", "w").write("EVIL\n")
def take(name):
    try: call(name, ".envrc"); print("took", name, flush=True)
    except InterruptedError: raise
    except OSError as e: print("refused", name, e, flush=True)
def asked():
    while not os.path.exists("asked"): time.sleep(0.01)
if how == "anew": # a signal takes the call back, and it is made again with another file
    def interrupt(): asked(); os.kill(os.getpid(), signal.SIGUSR1)
    def nothing(*a): raise InterruptedError
    signal.signal(signal.SIGUSR1, nothing)
    threading.Thread(target=interrupt).start()
    try: take("a")
    except InterruptedError: os.rename("b", "a")
    threading.Timer(0.2, lambda: open("go", "w").close()).start()
    take("a")
else:
    first = threading.Thread(target=take, args=("a",)); first.start()
    asked()
    if how == "replaced": os.rename("b", "a")
    second = threading.Thread(target=take, args=("b" if how == "other" else "a",)); second.start()
    time.sleep(0.2)
    open("go", "w").close()
    first.join(); second.join()
P
chmod +x "$TEST_TMP/bin/two"

for how in other replaced anew; do
	for call in rename link; do
		dir=$(new_folder "$how-$call") && cd "$dir" || exit
		# only the first question is answered with yes
		cat >"$TEST_TMP/answer" <<E
#!/bin/sh
cat >/dev/null
mkdir "$dir/.first" 2>/dev/null || exit 1
touch "$dir/asked"
while [ ! -e "$dir/go" ]; do sleep 0.02; done
E
		chmod +x "$TEST_TMP/answer"
		out=$("$CORDON" run --headless --set approval.command="$TEST_TMP/answer" -- timeout 300 two "$how" "$call" 2>&1)
		unlike "$(cat .envrc 2>&1)" EVIL "3: $how, $call: what nobody was shown does not take the name: $out"
		like "$out" 'refused [ab]' "3: $how, $call: it is asked about for itself"
	done
done
is "$(cat "$TEST_TMP/other-rename/.envrc")" benign "3: what was shown does"
done_testing
