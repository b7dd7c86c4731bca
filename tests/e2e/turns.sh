#!/bin/bash
# turns - an agent's own writes: a step for each burst, turns where the user sent a prompt, and their rows in the next
# session.
# SPDX-License-Identifier: MIT
# drives: undo-turn
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/src" "$dir/tests/cases"
for f in src/parse.c tests/cases/1 README; do echo old >"$dir/$f"; done
# An agent that performs each line in its own process: FILE... is written in one go, "." is a pause.
mkdir -p "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/fake" <<'A'
#!/usr/bin/env python3
import json, os, subprocess, sys, time
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("prompt:"):
        subprocess.run(["CORDON", "hook"], text=True, input=json.dumps({"session_id": "s", "cwd": os.getcwd(),
            "hook_event_name": "UserPromptSubmit", "prompt": line[7:].strip()}), check=True)
        line = line.split()[-1]
    for word in line.split():
        if word == ".":
            time.sleep(1.3)
            continue
        if word == "!": # as a hook would say it
            try:
                os.open("/run/cordon/step/turn/forged", os.O_WRONLY)
            except OSError:
                pass
            continue
        tmp = word + ".tmp.%d" % os.getpid()
        with open(tmp, "w") as f:
            f.write(line)
        os.rename(tmp, word)
    print("done " + line, flush=True)
A
sed -i "s|CORDON|$CORDON|" "$TEST_TMP/bin/fake"
chmod +x "$TEST_TMP/bin/fake"
before=$(content "$dir")
# say LINE [DONE]
say() { type_text "$1" && keys Enter && sees "done ${2:-$1}" "the agent does: $1"; }

start 190 40 "$dir" "$CORDON run -- fake"
sees ready "an agent"
say "src/parse.c tests/cases/1 . README"
say "src/new.c"
sees 'fake: edit src/parse.c.* 2 files \+2 -2' "a burst is a step, named by the paths that stay"
sees 'fake: edit README .*\+1 -1' "one after a pause is another"
sees 'fake: edit src/new.c .*\+1$' "and what comes after Enter is another turn's"
is "$(screen | grep -c '[▾▸] ..:.. edit')" 1 "a turn of several steps has a row"
like "$(cordon_in "$dir" log)" 'fake: edit src/new.c' 'the log has the names, too'
unlike "$(cordon_in "$dir" log)" 'tmp' 'and no temporary file is named'
out=$(cordon_in "$dir" undo --dry-run --turn)
like "$out" "src/new.c" "undo --turn is about the newest"
unlike "$out" "README" "alone"

# A key for the whole turn.
keys C-] s
keys End k
press_until 'Rolls back 3 steps' "T is about the turn of the selected step, and what came after it" T
press_until 'edit README .*undone' "U does it" U
loses '╔═' "the dialogs close"
same "$(content "$dir")" "$before" "all is as it was before"
press_until 'Brings back 3 steps' "redo" r
press_until 'edit README .*\+1 -1$' "U does it" U
loses '╔═' "the dialogs close"
ok "all of it is back" grep -q new "$dir/src/new.c"
after=$(content "$dir")
keys C-] t
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0

# The next session has the steps of the one before.
start 190 40 "$dir" "$CORDON run -- bash --noprofile --norc"
sees '== [A-Z][a-z]+ [0-9]+ ..:.. fake' "the next session shows which agent was here, and when"
sees 'fake: edit src/parse.c' "and its steps"
press_until 'Rolls back step ' "u is about the newest of all" C-] u
press_until 'src/new.c .*undone' "U does it" U
loses '╔═' "the dialogs close"
ok "its file is gone" test ! -e "$dir/src/new.c"
keys C-] s
keys Home
keys Enter
sees ' - old' "an older one opens as a diff"
keys q
press_until 'Brings back step' "redo" r
press_until 'src/new.c .*\+1$' "U does it" U
loses '╔═' "the dialogs close"
same "$(content "$dir")" "$after" "all is as the agent left it"
keys C-] t
type_text 'exit' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
ok "undo --turn from a shell" cordon_in "$dir" undo --turn
ok "the newest turn" test ! -e "$dir/src/new.c"
is "$(cordon_in "$dir" undo --turn | head -n 1)" "undone: steps 2 1, 3 paths" "the one before"
same "$(content "$dir")" "$before" "all is as it was"

# The agent names a turn that begins, and the user's turn is undone as a whole.
start 190 40 "$dir" "$CORDON run -- fake"
sees ready "an agent again"
say "src/first"
say "src/ruined ! src/harmless"
sees 'src/harmless' "both are shown"
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
ok "undo --turn" cordon_in "$dir" undo --turn
ok "is about all since Enter, whatever the agent says" test ! -e "$dir/src/ruined"
ok "and no more" test -e "$dir/src/first"

# A hook says which line is a prompt; an answer to the agent's own question is not one.
start 190 40 "$dir" "$CORDON run -- fake"
sees ready "an agent with a hook"
say "prompt:fix the parser f1" "f1"
say y
say answer
say "prompt:more tests f2" f2
say n
say "f2 . f2 n"
sees '▾ ..:.. more tests f2 +2 files ' "the prompt is the turn's heading, and each file counts once"
is "$(screen | grep -c '▸ ..:.. fix the parser f1')" 1 "and the first one's, too"
is "$(screen | grep -c '[▾▸] ..:.. .*f[12]')" 2 "no answer begins a turn"
in_log() { cordon_in "$dir" log --turns | grep -q "$1"; }
ok "log --turns has the prompts, and each file once" wait_for 20 in_log ' [1-4] *2  more tests f2'
ok "and the names of the steps of a turn without one" in_log ' 1 *1  edit src/first'
planned() { # the last step of the turn may still run
	out=$(cordon_in "$dir" undo --dry-run --turn 2>&1) && [[ $out == *f2* && $out =~ goes\ away\ +n ]]
}
ok "undo --turn is about the newest prompt, with its answers" wait_for 20 planned
unlike "$out" "answer" "alone"
keys C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
# An external edit is shown below the turn that it follows.
start 190 40 "$dir" "$CORDON run -- fake"
sees ready "an agent whose turn you edit"
say "prompt:one more f3" "f3"
say f4
echo mine >>"$dir/f3"
sees '!  f3 .*1 edited' "the edit has a row"
keys C-] s
press_until 'Rolls back .*: 2 paths' "T on it is about the turn" T
keys q
loses '╔═' "q leaves it"
keys C-] t C-d
sees 'ended' "the agent ends"
keys C-] q
ended "cordon too" 0
done_testing
