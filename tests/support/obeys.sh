# shellcheck shell=bash
# obeys - an agent that obeys a file, in a console; sourced after tmux.sh. $dir is the folder.
# SPDX-License-Identifier: MIT
mkdir "$TEST_TMP/bin" "$TEST_TMP/orders"
# An agent that obeys a file: "N run COMMAND", "N exit", or "N EVENT", which its hook reports. It shows typed text.
cat >"$TEST_TMP/bin/claude" <<A
#!/usr/bin/env python3
import json, os, subprocess, time
done = 0
print("ready", flush=True)
while True:
    time.sleep(0.05)
    n, what, *rest = open("$TEST_TMP/orders/now").read().strip().split(" ", 2)
    if int(n) <= done:
        continue
    done, said = int(n), ""
    if what == "exit":
        break
    if what == "run":
        subprocess.run(rest[0], shell=True)
    else:
        said = subprocess.run(["$CORDON", "hook"], text=True, capture_output=True, input=json.dumps(
            {"hook_event_name": what, "cwd": os.getcwd(), "prompt": " ".join(rest)})).stdout
    open("/tmp/said", "w").write(said)
    print(f"did {n}", flush=True)
A
chmod +x "$TEST_TMP/bin/claude"
n=0
order() { # WORDS...
	n=$((n + 1))
	echo "$n $*" >"$TEST_TMP/orders/new" && mv "$TEST_TMP/orders/new" "$TEST_TMP/orders/now"
}
begins() { # COLUMNS ROWS [OPTION...]
	local cols=$1 rows=$2
	shift 2
	echo "$n none" >"$TEST_TMP/orders/now"
	# shellcheck disable=SC2154 # the caller's
	start "$cols" "$rows" "$dir" "$CORDON run --ro $TEST_TMP/orders $* -- $TEST_TMP/bin/claude"
	sees ready "the agent begins"
}
says() { # PROMPT - the user types it, and the hook reports it
	type_text "$1" && keys Enter
	order UserPromptSubmit "$1"
	sees "did $n" "a prompt: $1"
}
works() { # COMMAND
	order run "$1"
	sees "did $n" "the agent works: $1"
}
