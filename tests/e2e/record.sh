#!/bin/bash
# record - a session in the console is recorded, out of the agent's reach, and is shown again as it was.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
recordings=$HOME/.local/state/cordon/recordings
mkdir -p "$dir/.git/hooks"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
shell="bash --noprofile --rcfile rc -i"
recorded() { find "$recordings" -name '*.cast.zst' 2>/dev/null | wc -l; }
said() { "$CORDON" replay --export txt; }
said_has() { said | grep -q -- "$1"; }

# ---- a session ----
start 120 36 "$dir" "$CORDON run --record shown.cast -- $shell"
sees 'ready>' "a session runs"
# From there, so that no line wraps.
type_text 'clear; (cd; ls -d .local/state/cordon .local/state/cordon/recordings; cat .local/state/cordon/recordings/*); echo seen-$((40 + 2))' && keys Enter
sees '^seen-42' "it looks for its recording"
sees 'No such file or directory' "and there is none for it"
ok "but there is one, of this user alone" test "$(stat -c %a "$recordings"/*.cast.zst)" = 600
type_text 'clear; printf "one\\nghp_%s\\n" $(rev <<<0123456789abcdefghijklmnopqrstuvwxyz) >file; head -n 1 file' && keys Enter
sees '^one' "it changes something"
type_text 'clear; echo evil >.git/hooks/post-merge; echo status=$?' && keys Enter
sees '\? ASK.*post-merge' "something waits"
keys C-] a
press_until 'status=1' "and is denied" d
type_text 'clear; stty -echo; echo word-$((40 + 2)); read word; stty echo; echo; echo got ${#word}' && keys Enter
sees '^word-42' "a word is asked for"
type_text 'hunter2' && keys Enter
sees '^got 7' "a password is typed, without an echo"
type_text 'echo ghp_abcdefghijklmnopqrstuvwxyz' && keys Enter
sees '^ghp_abc' "a token is printed"
type_text 'clear; was=$(stty size); echo size-$((40 + 2)); until [ "$(stty size)" != "$was" ]; do :; done; echo other-$((40 + 2))' && keys Enter
sees '^size-42' "the terminal has its size"
resize 100 30
sees '^other-42' "and another"
type_text 'clear; echo "the end"; exit' && keys Enter
sees '^the end' "it says something"
sees 'has ended' "it ends"
keys C-] q
ended "and the console with it" 0
is "$(recorded)" 1 "there is one recording"

# ---- a start that failed is no session ----
start 120 36 "$dir" "$CORDON run -- no-such-command-here"
ended "a command that is not found" 127
is "$(recorded)" 1 "leaves no recording"

# ---- which there are ----
list=$("$CORDON" replay --list)
like "$list" 'LENGTH +TURNS' "they are listed"
like "$list" "[0-9a-f]{4} .* 0:[0-9]+ +[1-9][0-9]* +.*work: " "with length, turns, folder and command"
like "$("$CORDON" replay --list --json)" '^\{"began":[0-9]+,"seconds":[0-9]+,"turns":[1-9].*"folder":".*work"' "for programs, too"
is "$("$CORDON" replay --list --json | undocumented replay)" "" "with members that --help names"
like "$("$CORDON" replay --list --headless 2>&1)" 'leave the others out' "alone"

# ---- what is in it ----
all=$("$CORDON" replay --export cast)
unlike "$all" 'ghp_abc' "the token is not in it"
like "$all" '\*{30}' "stars are"
unlike "$all" 'hunter2' "nor is the password"
unlike "$all" ', "i", ' "nor any keystroke"
like "$all" '"r", "' "a resize is"
like "$(said)" 'the end' "its text is told"
events=$("$CORDON" replay --headless)
like "$events" 'ASK write .*/post-merge' "what happened is told: the request"
like "$events" '# approval [0-9]+: write .*post-merge' "its mark"
like "$events" 'step -?[0-9]+ begins' "the steps"
like "$events" '# turn 1' "the turns"
like "$events" 'the agent has ended' "the end"
ok "--record has its file" test -s "$dir/shown.cast"
like "$(head -n 1 "$dir/shown.cast")" '^\{"version":2,"width":80,"height":' "which is an asciicast"
python3 - "$dir/shown.cast" <<'END' && pass "every line of it is JSON, and its times grow" || fail "every line of it is JSON, and its times grow"
import json, sys
before = 0
for line in list(open(sys.argv[1]))[1:]:
    t, code, data = json.loads(line)
    assert t >= before and isinstance(data, str), line
    before = t
END
is "$("$CORDON" replay "$dir/shown.cast" --export txt)" "$(said)" "and cordon: the same text as of the recording"
is "$("$CORDON" replay "$dir/shown.cast" --headless | grep -c ASK)" "$(grep -c ASK <<<"$events")" "the same events"
"$CORDON" replay --export cast --cast v3 >"$TEST_TMP/v3.cast"
like "$(head -n 1 "$TEST_TMP/v3.cast")" '^\{"version":3,"term":\{"cols":80' "version 3 is made when asked for"
is "$("$CORDON" replay "$TEST_TMP/v3.cast" --export txt)" "$(said)" "and read"
html=$("$CORDON" replay --export html)
like "$html" 'the end' "a page has the text"
like "$html" '"allow |"deny |"[a-z ]*den' "how a question ended"
like "$html" "folder:\"$dir\"" "where it was"
like "$html" 'first:[0-9]+\}' "and when there is something to see"
unlike "$html" 'zyxwvu' "a token in a file that a step changed is starred"
if command -v node >/dev/null; then
	echo "$html" >"$TEST_TMP/page.html"
	page=$(node tests/support/page.js "$TEST_TMP/page.html")
	like "$page" "$dir · .* · [0-9]+ turns? · [1-9][0-9]* steps? · 1 question" "its heading says where, when and how much"
	like "$page" $'edit file \\+2\n +diff --git a/file b/file\n' "a step has its lines and its diff"
	like "$page" $'\n +\\+one\n +\\+\\*{40}' "which is whole"
	like "$page" $'\n\\? write .*post-merge\ndeny writing .*post-merge once' "a question has its answer"
fi
unlike "$html" '(src|href)=|https?:|<script[^>]+[^>]*src' "and nothing from elsewhere"
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
	"$CORDON" replay --export gif >"$TEST_TMP/a.gif"
	like "$(/usr/bin/python3 tests/support/gif_text.py screen "$TEST_TMP/a.gif")" 'the end' "a GIF ends as it ended"
fi

# ---- the same console again ----
start 120 36 "$dir" "$CORDON replay"
sees '/ [0-9]+:[0-9][0-9]' "it is replayed, with a time line"
keys Space '$'
sees 'the end' "its end shows what the agent's terminal showed"
sees 'DENY writing' "and what had happened until then"
keys 0
loses 'DENY' "at its beginning nothing had happened"
keys '>'
sees '\? asked here: write .git/hooks/post-merge' "the next request is as it was"
keys a
sees 'ALLOW writing' "and can be looked at"
press_until 'nothing waits any more' "not answered" d
keys q
keys C-] u
sees 'This is a recording' "nothing is undone in the past"
keys '$' s g Enter
sees 'new file mode|deleted|diff --git' "a step opens its diff"
keys m
sees '━|─' "and leads to its moment"
keys 0 / t h e Space e n d Enter
sees 'Found' "what was on the screen is found"
keys : 5 0 % Enter
keys '?'
sees 'keys: replay' "its keys are told"
keys q q
ended "q leaves" 0
terminal_is_sane "after a replay"
mkdir -p "$dir/.venv/bin" "$dir/src" "$HOME/.config/cordon"
printf '#!/bin/sh\ntouch %s\n' "$TEST_TMP/planted" >"$dir/.venv/bin/mycopy" && chmod +x "$dir/.venv/bin/mycopy"
printf '[console]\n\tcopy-command = mycopy\n' >>"$HOME/.config/cordon/config"
start 120 36 "$dir/src" "env PATH=$dir/.venv/bin:$PATH $CORDON replay"
sees '/ [0-9]+:[0-9][0-9]' "a replay in a subfolder"
keys '$' s g Enter
sees 'new file mode|deleted|diff --git' "a step's diff"
keys Y
sees 'folder that the agent can write: not run' "a program that the agent left on PATH does not copy it"
ok "it did not run" test ! -e "$TEST_TMP/planted"
keys q q q
rm -r "$dir/.venv" "$dir/src" && sed -i '/mycopy/d' "$HOME/.config/cordon/config"

# ---- casts of others ----
printf '{"version": 2, "width": 40, "height": 10}\n[0.1, "o", "hello from elsewhere"]\n[0.2, "o", "torn' >"$TEST_TMP/torn.cast"
start 120 36 "$dir" "$CORDON replay $TEST_TMP/torn.cast"
sees 'hello from elsewhere' "a cast of another program is shown"
sees '1 line of the recording could not be read' "what is broken is said"
keys q
ended "and it is left" 0
out=$("$CORDON" replay "$dir/rc" 2>&1) && fail "not a cast" "$out"
like "$out" "replay '.*rc': not a recording" "what is none is refused"
out=$("$CORDON" replay nosuch 2>&1) && fail "no session" "$out"
like "$out" "neither a file nor a session that is recorded" "nor is what is not there"

# ---- killed ----
mark=$(new_mark)
echo "echo before $mark; sleep 100" >"$dir/long"
start 120 36 "$dir" "$CORDON run -- sh long"
sees 'before mark' "another session runs"
wait_for 20 said_has "before $mark"
kill -KILL "$(session_pid)"
ended "when cordon is killed" 125
ok "what was more than a second ago is in the recording" said_has "before $mark"
is "$(recorded)" 2 "which is one more"

# ---- settings ----
out=$(cordon_in "$dir" run --record shown.cast -- true 2>&1 </dev/null) && fail "no overwriting" "$out"
like "$out" "shown.cast': is there already" "--record overwrites nothing"
out=$(cordon_in "$dir" run --headless --record x.cast -- true 2>&1) && fail "headless" "$out"
like "$out" 'without a console' "nor records a headless run"
start 100 30 "$dir" "$CORDON run --exit --set record.enabled=false -- true"
ended "record.enabled=false" 0
is "$(recorded)" 2 "records nothing"
start 100 30 "$dir" "$CORDON run --exit --set record.keep=1 --set record.input=true --set 'record.redact=sec.et' -- sh -c 'echo begins; read a; read -r b; stty -echo; echo hides; read c; stty echo; echo \"secret \$a \$b\"; sleep 2'"
sees '^begins' "a session whose keystrokes are recorded"
type_text 'typed' && keys Enter
type_text 'secret' && keys Enter
sees '^hides' "reads without an echo"
type_text 'hidden' && keys Enter
ended "record.keep=1" 0
is "$(recorded)" 1 "leaves the newest alone"
all=$("$CORDON" replay --export cast)
like "$all" '"i", "typed' "record.input has keystrokes"
unlike "$all" 'hidden' "but not while nothing is echoed"
unlike "$all" 'secret' "record.redact is kept to"
out=$(cordon_in "$dir" run --set 'record.redact=a(' -- true 2>&1 </dev/null) && fail "a bad pattern" "$out"
like "$out" "bad value 'a\(' for record.redact: not a regular expression" "a pattern that is none is refused"

# ---- the last words of an agent that --exit leaves with, when the console had no time for them ----
mark=$(new_mark)
cat >"$dir/agent" <<'E'
echo begins
until [ -e go ]; do :; done
seq 500
echo "last-$((40 + 2))"
E
start 100 30 "$dir" "$CORDON run --exit -- sh ./agent $mark"
sees '^begins' "a session that leaves with its agent"
console=$(session_pid)
agent=$(pgrep -f "^sh ./agent $mark")
kill -STOP "$console"
touch "$dir/go"
ok "which ends while the console stands still" wait_for 10 has_ended "$agent"
kill -CONT "$console"
ended "the console leaves" 0
like "$(cordon_in "$dir" replay --export txt)" 'last-42' "and the recording has the agent's last words"

# ---- which one, without a name ----
other=$(new_folder other)
start 100 30 "$other" "$CORDON run --exit -- sh -c 'echo from-other'"
ended "a session in another folder" 0
unlike "$(cordon_in "$dir" replay --export txt)" 'from-other' "replay shows the newest of this folder"
like "$(cordon_in "$other" replay --export txt)" 'from-other' "and there that one"
out=$(cordon_in "$(new_folder third)" replay --headless 2>&1)
like "$out" '^cordon: No session of this folder is recorded: this is one of .*/other' "where there is none it says so"
done_testing
