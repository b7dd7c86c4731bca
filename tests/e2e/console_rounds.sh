#!/bin/bash
# console_rounds - comments of a review are points of a round: the agent marks them as done, the human opens them again.
# SPDX-License-Identifier: MIT
# drives: comment send-review bring-back show-review
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/obeys.sh"
need_sandbox python3
dir=$(new_folder work)
seq 40 >"$dir/a.txt"
act() { keys "$@"; }
comments() { # TEXT
	act c
	sees 'comment:' "c asks for a comment"
	type_text "$1" && keys Enter
}
# The agent marks points; the answers to it are in the folder. Its step has ended, so a review shows it completely.
marked=0
marks() {
	works "$CORDON review done $1 >said.tmp 2>&1; mv said.tmp said"
	marked=$((marked + 1))
	ok "its step has ended" wait_for 20 has_marks
}
has_marks() { [ "$(cordon_in "$dir" log | grep -c 'review done')" -ge $marked ]; }
answer() { tail -n 1 "$dir/said"; }

begins 110 40
says 'number the lines'
works "sed -i 's/^5\$/five/; s/^35\$/thirty-five/' a.txt"
marks 1.1
like "$(answer)" 'review: no point 1.1 was sent; none is open' "before a review there is no point"
act C-] v
sees 'review  0 of [0-9] done  number the lines' "a review"
act / && type_text 'five' && keys Enter
comments 'use one more word'
sees '> use one more word  \(not sent\)' "a comment"
act q
marks 1.1
like "$(answer)" 'no point 1.1 was sent; none is open' "that was not sent cannot be marked"
act C-] v
act / && type_text 'thirty' && keys Enter
comments 'and here'
act s
sees '1.1 a.txt:5: use one more word' "the message has numbers"
sees '1.2 a.txt:35: and here' "one for each comment"
sees 'run: cordon review done 1.N' "and tells how to answer"
act s
loses 'message for the agent' "it is pasted"
keys C-u

# ---- what the agent may say
marks 1.2
is "$(answer)" '1.2 is done' "the agent marks a point"
marks 1.2
like "$(answer)" 'point 1.2 is done already; open: 1.1' "once"
marks 7.1
like "$(answer)" 'no point 7.1 was sent; open: 1.1' "only one that was sent"
marks "\"\$(printf '1.1\\033[31m')\""
like "$(answer)" 'a point is a number such as 3.2; open: 1.1' "and by its number"
unlike "$(answer)" $'\033' "nothing else comes back"
marks ''
like "$(answer)" 'not a request' "a number is needed"
like "$("$CORDON" review "done" 1.1 2>&1)" 'not inside a sandbox' "outside it is refused"
sees '1.2 is done' "the list of activity tells of it"

# ---- the console folds it, and opens it again
act C-] v
sees '> 1.1 use one more word' "what is open stays"
sees '> 1.2 done$' "what is done is folded"
act / && type_text '1.2' && keys Enter
act Enter
sees '> 1.2 done: and here' "Enter shows its text"
act u
sees '> 1.2 and here' "u opens it again"
sees '1.2 is open again' "and says so"
act q
loses 'review  ' "the review is closed"
order UserPromptSubmit more
sees "did $n" "the agent's hook asks"
works 'cp /tmp/said said'
like "$(cat "$dir/said")" 'The user opened point 1.2 of the review again: a.txt: and here' "the agent is told"
marks 1.2
is "$(answer)" '1.2 is done' "it may mark it again"

# ---- a later turn, another session
says 'go on'
works "sed -i 's/^20\$/twenty/' a.txt"
act C-] v
sees 'review  0 of [0-9] done  go on' "the next turn"
sees '> 1.1 use one more word' "has the open point below the file's name"
unlike "$(screen)" '> 1\.2' "and not the one that is done"
act F
sees '> 1.2 done' "but with F"
act q
loses 'review  ' "closed"
keys C-] q
sees '╔═' "q asks"
close_all
begins 80 24
marks 1.1
is "$(answer)" '1.1 is done' "another session knows the point"
marks 1.1
like "$(answer)" 'is done already; none is open' "and keeps it"
order exit
close_all

# ---- an agent without a terminal: a model that drives the session by MCP
cat >"$TEST_TMP/model.py" <<'E'
import json, os, sys, time
from mcp_client import Client
at, folder = sys.argv[1:]
c = Client(cwd=folder)
c.initialize()
c.tool("execute_command", command="echo new >m.txt")
open(at + "/works", "w").close()
while not os.path.exists(at + "/sent"):
    time.sleep(0.1)
print("notes", json.dumps(c.tool("execute_command", command="true").get("notes")))
print("again", json.dumps(c.tool("execute_command", command="true").get("notes")))
print("review", json.dumps(c.tool("get_review")["points"]))
print("done", json.dumps(c.tool("review_done", point="2.1")))
print("twice", json.dumps(c.tool("review_done", point="2.1")))
print("other", json.dumps(c.tool("review_done", point="../2.1")))
print("review", json.dumps(c.tool("get_review")["points"]))
c.close()
E
support=$(realpath "$(dirname "$0")/../support")
(cd "$TEST_TMP" && PYTHONPATH=$support exec python3 -B model.py "$TEST_TMP" "$dir") >"$TEST_TMP/model" 2>&1 &
model=$!
ok "a session by MCP" wait_for 30 test -e "$TEST_TMP/works"
start 110 40 "$dir" "$CORDON attach"
sees 'm.txt' "a console of it"
act C-] v
sees 'm.txt  \+1' "its newest step"
comments 'another name'
act s
sees '2.1 m.txt(:1)?: another name' "the message"
act s
sees 'The agent gets it with its next answer' "is told, for there is no terminal"
touch "$TEST_TMP/sent"
wait $model
is "$?" 0 "the model has ended"
like "$(cat "$TEST_TMP/model")" 'notes .*"2.1 m.txt(:1)?: another name", "When a point is handled' "its next result has the message"
like "$(cat "$TEST_TMP/model")" 'again null' "once"
like "$(cat "$TEST_TMP/model")" 'review .*"point": "2.1", "path": "m.txt".*"text": "another name"' "get_review lists the point"
like "$(cat "$TEST_TMP/model")" 'done \{\}' "review_done marks it"
like "$(cat "$TEST_TMP/model")" 'twice .*review.no-point: point 2.1 is done already' "once"
like "$(cat "$TEST_TMP/model")" 'other .*a point is a number such as 3.2' "and by its number"
is "$(tail -n 1 "$TEST_TMP/model")" 'review []' "then it is not listed"
done_testing
