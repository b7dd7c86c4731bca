#!/bin/bash
# console_look - the prefix is a setting, themes are chosen with a look, files are read again.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
config=$HOME/.config/cordon
mkdir -p "$config/themes"
printf '[ui]\n\tprefix = C-g\n' >"$config/config"
printf '[theme]\n\tinherits = default\n[color]\n\ttext = red\n' >"$config/themes/own.theme"
printf "PS1='ready> '\n" >"$dir/rc"
start 120 40 "$dir" "$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
sees 'C-g \? +all keys' "an empty list of steps tells the keys"
keys C-g '?'
sees 'keys: agent' "the prefix is the one of the settings"
keys Escape
type_text 'echo shows-$((40 + 2)); cat -v' && keys Enter
sees '^shows-42' "a program that shows keys"
keys C-] Enter
sees '\^\]' "C-] goes to the agent"
keys C-c
keys C-g c
sees 'themes' "the picker"
sees ' own' "has one's own theme"
sees 'high-contrast' "and those that are shipped"
keys G
keys Enter
sees 'Your settings have it now: ui.theme = ' "one is kept"
ok "in one's settings" grep -q '^	theme = ' "$config/config"
keys C-g c
keys j j Escape
loses 'x DENY write /etc/hosts' "Esc leaves"
printf '[theme]\n\tinherits = default\n[color]\n\ttext = purpel\n' >"$config/themes/own.theme"
keys C-g c G Enter
sees 'own.theme:4: .purpel. is no colour' "a broken theme is said, with its line"
printf '[theme]\n\tinherits = default\n[color]\n\ttext = blue\n' >"$config/themes/own.theme"
sees 'were read again' "one that is mended is read again"
keys C-g q
sees 'leave cordon' "leaving asks"
keys Q
ended "and ends the agent" 143
printf '[ui]\n\tprefix = a\n' >"$config/config"
like "$(cordon_in "$dir" run -- true 2>&1 </dev/null)" 'terminal|prefix' "a prefix that is a letter is refused"
done_testing
