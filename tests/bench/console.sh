# shellcheck shell=bash disable=SC2154
# console - the rows about living in it: keys, the first frame, idling, and a day's worth of events;
# sourced by bench.sh.
# SPDX-License-Identifier: MIT

# A killed console leaves its session running by default.
asked() { (cd "$base/inside" && python3 "$OLDPWD/tests/bench/keys.py" "$@"); } # WHAT COMMAND...
rows_keys() {
	local mine theirs
	wanted console && command -v tmux >/dev/null || return 0
	mine=$(asked echo "$cordon" run --set console.on-hangup=end -- sh -c 'echo ready; cat')
	theirs=$(asked echo tmux -S "$base/echo" -f /dev/null new-session 'echo ready; cat')
	tmux -S "$base/echo" kill-server 2>/dev/null
	number "console: key to echo, ms over tmux" "$(awk -v a="$mine" -v b="$theirs" 'BEGIN { printf "%.2f", a - b }')" 2
	number "console: its help under yes, the longest of 20, ms" "$(asked busy "$cordon" run --set console.on-hangup=end -- yes yyyyyyyy)" 50
	number "console: from the start to the first frame, ms" "$(asked first "$cordon" run --set console.on-hangup=end -- cat)" 30
	number "console: idle, % of a core" "$(asked idle "$cordon" run --set console.on-hangup=end -- sh -c 'echo ready; cat')" 0.5
}
# 1 000 000 events, 2 000 steps in 1 000 turns, 100 questions and 1 GiB of output, then every view, at 200x60
rows_day() {
	wanted console || return 0
	"$tools/day" >"$base/t.day" || return 1
	number "console: a day, longest frame of any view, ms" "$(awk '$1 == "paint" { print $2 }' "$base/t.day")" 16
	number "console: a day, 100 events, the longest, ms" "$(awk '$1 == "batch" { print $2 }' "$base/t.day")" 16
	number "console: a day, memory, MB" "$(awk '$1 == "memory" { print $2 }' "$base/t.day")" 20
}
rows_console() {
	rows_keys
	rows_day
}
