#!/bin/bash
# console_screen - sizes, resizing, themes, output of the agent that reaches the screen, ways to end.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
printf "PS1='ready> '\nHISTFILE=\n" >rc
bash="bash --noprofile --rcfile rc -i"

for size in "200 60" "130 40" "80 24" "60 20" "40 12"; do
	# shellcheck disable=SC2086 # two words
	start $size "$dir" "$CORDON run -- $bash"
	sees 'ready>' "$size: the agent is there"
	ok "$size: nothing sticks out" test "$(screen | wc -L)" -le "${size% *}"
done
resize 24 6
sees 'needs [0-9]+x[0-9]+.*24x6|24x6' "too small: it says what it needs"
resize 100 30
sees 'ready>' "and comes back"
type_text 'stty size' && keys Enter
sees '^.{0,3}[0-9]+ [0-9]+' "the agent knows its size"
for _ in 1 2 3 4 5 6; do resize $((RANDOM % 120 + 20)) $((RANDOM % 40 + 5)); done
resize 120 35
type_text 'echo still-$((40+2))' && keys Enter
sees 'still-42' "after a storm of resizing"
type_text 'exit' && keys Enter
sees 'ended with' "the shell ends"
keys C-] q
ended "leaves" 0

# The agent's terminal is the pane, in any outer terminal.
start 100 30 "$dir" "COLUMNS=20 TERM_PROGRAM=around $CORDON run --exit -- sh -c 'echo \"[\$TERM|\$COLUMNS|\$TERM_PROGRAM]\"; read x'"
sees '\[xterm-256color\|\|\]' "the agent is told of the pane, not of the terminal around it"
keys Enter
ended "and ends" 0

# The output of -v is on the screen, not under it.
start 100 30 "$dir" "$CORDON run -v -- sleep 300 2>$TEST_TMP/said"
sees '- limits: .* GiB of memory, [0-9]+ processes' "--verbose says in the list what is set up"
is "$(cat "$TEST_TMP/said")" "" "and nowhere else"
keys C-] q
leaves "it ends"

# An agent fails for want of the network: the user is told.
start 80 24 "$dir" "$CORDON run --no-network -- sh -c 'exit 3'"
sees 'ended with 3 \(C-\] q quits, C-\] R restarts\); no network: --allow-network' "what a failure may come from is said"
keys C-] q
ended "leaves" 3

# Output that attacks a terminal stays in the pane.
start 130 40 "$dir" "$CORDON run --exit -- sh -c 'printf \"\\033]52;c;UFdORUQ=\\007\\033]0;PWNED\\007\\033[21t\\033]2;PWNED\\007\\033P+q544e\\033\\\\\\033[?1049h\\033[c\"; echo shown; read x; echo got[\$x]; sleep 1'"
sees 'shown' "the text is there"
unlike "$(tmux_ display-message -p -t =t: '#{pane_title}')" PWNED "the title is not the agent's"
is "$(tmux_ show-buffer 2>/dev/null)" "" "nor the clipboard"
keys Enter
ended "the end" 0

# --exit, signals, crash
start 100 30 "$dir" "$CORDON run --exit -- sh -c 'exit 5'"
ended "--exit leaves at once with the agent's status" 5
terminal_is_sane "--exit"
start 100 30 "$dir" "$CORDON run --exit -- sh -c 'kill -TERM \$\$'"
ended "128+15" 143
for sig in TERM HUP INT SEGV ABRT; do
	mark=$(new_mark)
	start 100 30 "$dir" "$CORDON run --set console.on-hangup=end -- sh -c 'echo ready; sleep 300; : $mark'"
	sees 'ready' "$sig: it runs"
	pid=$(cordon_of "^$CORDON run .*sh -c.*$mark")
	kill -s $sig "$pid"
	ok "$sig: ends" wait_for 15 test -s "$TEST_TMP/status"
	terminal_is_sane "$sig"
	ok "$sig: nothing is left running" wait_for 10 none_marked "$mark"
done

# Themes, keymaps, terminals
for theme in default dark light mono; do
	start 100 30 "$dir" "$CORDON run --theme $theme --exit -- sh -c 'echo themed; read x'"
	sees themed "theme $theme"
	colours=$(tmux_ capture-pane -e -p -t =t: | grep -cE $'\e\\[[0-9;]*(3[0-8]|4[0-8])[;m]')
	if [ $theme = mono ]; then is "$colours" 0 "mono has no colours"; else isnt "$colours" 0 "$theme has colours"; fi
	keys Enter
	ended "leaves" 0
done
start 100 30 "$dir" "NO_COLOR=1 $CORDON run --exit -- sh -c 'echo plain; read x'"
sees plain "NO_COLOR"
is "$(tmux_ capture-pane -e -p -t =t: | grep -cE $'\e\\[[0-9;]*(3[0-8]|4[0-8])[;m]')" 0 "no colours then"
keys Enter
ended "leaves" 0
start 100 30 "$dir" "$CORDON run --theme no-such -- true 2>&1"
ended "an unknown theme" 125
sees '^cordon: .*no-such' "says so"
mkdir -p "$HOME/.config/cordon"
for setting in theme keymap prefix; do
	printf '[ui]\n\t%s = no-such\n' $setting >"$HOME/.config/cordon/config"
	start 200 30 "$dir" "$CORDON run -- true 2>&1"
	sees "config:2: ui\\.$setting: " "a bad ui.$setting is named with its file and line"
done
rm "$HOME/.config/cordon/config"
start 100 30 "$dir" "TERM=xterm-none $CORDON run -- sh -c 'echo shown; read x'"
sees '^shown' "a terminal that this machine does not know is taken for an xterm"
keys Enter
sees 'has ended' "it ends"
keys C-] q
ended "leaves" 0
start 100 30 "$dir" "TERM=dumb $CORDON run -- true 2>&1"
ended "a TERM that shows no screen" 125
sees '^cordon: .*TERM' "says so"
start 100 30 "$dir" "$CORDON run -- no-such-command 2>&1"
ended "a missing command" 127
sees '^cordon: .*no-such-command' "says so, on the ordinary screen"
mkdir -p "$HOME/.config/cordon/themes" && printf '[theme]\n\tname = X\n[color "nonsense"]\n\tx = red\n' >"$HOME/.config/cordon/themes/bad.theme"
start 100 30 "$dir" "$CORDON run --theme bad -- true 2>&1"
ended "a bad theme file" 125
sees 'bad\.theme:[0-9]+' "is named with its line"

# Programs that query colours get those of the user's terminal, unless the theme has its own.
cat >"$dir/ask.py" <<'P'
import os, select, termios, time, tty
old = termios.tcgetattr(0)
tty.setraw(0)
def ask(words):
    os.write(1, words + b"\033[c") # which is always answered
    out = b""
    while not out.endswith(b"c") and select.select([0], [], [], 10)[0]: out += os.read(0, 100)
    return out
for _ in range(50): # the human's terminal has to answer first
    out = ask(b"\033]10;?\033\\\033]11;?\a")
    if out.count(b"rgb:") == 2: break
    time.sleep(0.1)
termios.tcsetattr(0, termios.TCSANOW, old)
print(out)
P
printf '[theme]\n\tname = Own\n[color]\n\tterminal = "#5f87af #00005f"\n' >"$HOME/.config/cordon/themes/own.theme"
for own in "" "--theme own"; do
	start 100 30 "$dir" "until [ -e $TEST_TMP/go ]; do sleep 0.05; done; $CORDON run $own -- sh -c 'python3 ask.py; sleep 600'"
	tmux_ set -g window-style 'fg=#aabbcc,bg=#102030'
	touch "$TEST_TMP/go"
	if [ -z "$own" ]; then
		sees 'x1b\]10;rgb:aaaa/bbbb/cccc.*x1b\]11;rgb:1010/2020/3030' "programs hear the terminal's colours"
	else
		sees 'x1b\]10;rgb:5f5f/8787/afaf.*x1b\]11;rgb:0000/0000/5f5f' "or those of the theme"
	fi
done

# Quit while the agent runs needs a second, explicit key.
start 100 30 "$dir" "$CORDON run -- sh -c 'echo ready; sleep 300'"
sees ready "it runs"
keys C-] q
sees 'Q|end' "quit asks while the agent runs"
keys y Enter
ok "y and Enter do not end it" test ! -s "$TEST_TMP/status"
leaves "Q ends it"
terminal_is_sane "Q"

# Scrollback
start 100 30 "$dir" "$CORDON run -- $bash"
sees 'ready>' "a shell"
type_text 'seq 1 5000; echo end-of-it' && keys Enter
sees '^.?end-of-it' "it printed"
keys C-] '['
keys Home
sees '(^|[^0-9])1[^0-9]*$' "the first line is still there"
keys Escape
type_text 'exit' && keys Enter
sees 'ended with' "the shell ends"
keys C-] q
ended "leaves" 0
done_testing
