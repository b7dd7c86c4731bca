#!/bin/bash
# console_pane - the agent's pane in a terminal: 24-bit colours, copy mode, the clipboard, the title, reflowed lines,
# notifications.
# SPDX-License-Identifier: MIT
# drives: clipboard
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
cat >"$dir/agent" <<'END'
printf '\033[38;2;10;200;30mtrue\033[9mstruck\033[m\n'
for i in 1 2 3 4 5 6 7 8 9; do printf 'a line %d that is longer than sixty columns, so that it has to wrap there\n' $i; done
read -r x
printf '\033]52;c;ZnJvbSBpbnNpZGU=\aasked'
sleep 300
END
clip() { tmux_ show-buffer 2>/dev/null; }
title_is() { [ "$(tmux_ display-message -p -t =t: '#{pane_title}')" = "$1" ]; }
clip_file_is() { [ "$(cat "$TEST_TMP/copied")" = "$1" ]; }
clip_is() { [ "$(clip)" = "$1" ]; }

for term in xterm-256color tmux-256color; do
	start 120 30 "$dir" "env -u NO_COLOR TERM=$term COLORTERM=truecolor $CORDON run -- sh ./agent"
	tmux_ set -s set-clipboard external # as it is installed
	sees 'a line 9 .* wrap there' "$term: the text is there"
	like "$(tmux_ capture-pane -p -e -t =t:)" '38;2;10;200;30mtrue' "$term: in the colour that was asked for"
	ok "$term: the title names the program" wait_for 10 title_is 'cordon: sh'
	resize 60 30
	sees '^o wrap there' "$term: narrower, a line wraps"
	resize 120 30
	sees 'a line 9 .* wrap there' "$term: and is one again"
	# The cursor is below the last line.
	keys C-] [
	sees 'lines back' "$term: copy mode"
	keys k 0 v e y
	sees 'Copied 6 bytes' "$term: copies what is selected"
	wait_for 10 clip_is 'a line'
	is "$(clip)" 'a line' "$term: into the terminal's clipboard"
	keys Enter
	sees 'sh wants to put 11 characters into your clipboard' "$term: the agent has to ask"
	is "$(clip)" 'a line' "$term: nothing is copied by itself"
	press_until 'Copied 11 bytes' "$term: the human lets it" C-] y
	wait_for 10 clip_is 'from inside'
	is "$(clip)" 'from inside' "$term: then it is"
done

mkdir -p "$HOME/.config/cordon"
printf '[console]\n\tcopy-command = cat >%s\n\tclipboard = deny\n' "$TEST_TMP/copied" >>"$HOME/.config/cordon/config"
start 120 30 "$dir" "$CORDON run -- sh ./agent"
sees 'a line 9 .* wrap there' "with settings"
keys C-] [
sees 'lines back' "copy mode"
keys k 0 v e y
sees 'Copied 6 bytes' "it is copied"
wait_for 10 clip_file_is 'a line'
is "$(cat "$TEST_TMP/copied")" 'a line' "console.copy-command takes what is copied"
keys Enter
sees 'asked' "the agent tries"
keys C-] y
sees 'Nothing asks for your clipboard' "console.clipboard = deny: the agent does not even ask"

# Notifications have cordon's own words, whatever the agent's name and its request.
mkdir "$TEST_TMP/bin"
printf '#!/bin/sh\nprintf "%%s|" "$@" >>%s\n' "$TEST_TMP/sent" >"$TEST_TMP/bin/notify-send"
chmod +x "$TEST_TMP/bin/notify-send"
cat >"$dir/caller" <<'END'
echo x >.envrc
echo refused
until [ -e call ]; do sleep 0.1; done
printf '\033]9;evil $(words)\033\\'
until [ -e go ]; do sleep 0.1; done
END
told() { grep -q "$1" "$TEST_TMP/told"; }
start 120 30 "$dir" "PATH=$TEST_TMP/bin:\$PATH $CORDON run --set console.notify=desktop -- sh ./caller"
sees 'ASK write \.envrc' "something waits"
sent_all() { grep -q 'answer|$' "$TEST_TMP/sent"; }
wait_for 10 sent_all
is "$(cat "$TEST_TMP/sent")" '-a|cordon|--|cordon|something waits for your answer|' "console.notify = desktop: notify-send says so"
keys C-] a
press_until '^ *refused' "it is denied" d
touch "$dir/call" "$dir/go"
sees 'ended with 0' "the agent ends"
is "$(cat "$TEST_TMP/sent")" '-a|cordon|--|cordon|something waits for your answer|' "who looks on is not told"
rm "$dir/go" "$dir/call"
start 120 30 "$dir" "$CORDON run --set console.notify=command --set 'console.notify-command=cat >>$TEST_TMP/told; echo >>$TEST_TMP/told' -- sh ./caller"
sees 'ASK write \.envrc' "something waits"
wait_for 10 test -s "$TEST_TMP/told"
is "$(cat "$TEST_TMP/told")" 'something waits for your answer' "console.notify-command has the words on its input"
keys C-] a
press_until '^ *refused' "it is denied" d
keys -H 1b 5b 4f # the terminal says that the human looks elsewhere; and to know when that has been heard:
type_text $'\e[<0;100;2M\e[<0;100;2m'
sees '━ > activity' "a click, which is no key"
touch "$dir/call"
ok "who looks elsewhere is told that the agent calls, by none of its words" wait_for 10 told '^the agent calls you$'
touch "$dir/go"
ok "who looks elsewhere is told of the end" wait_for 10 told '^the agent has ended$'
sees 'ended with 0' "the agent ends"
done_testing
