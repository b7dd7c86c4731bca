# shellcheck shell=bash disable=SC2154
# pane - the rows about the agent's terminal: seq 1 2000000, and 100 MB of text in many colours, in
# cordon's pane against a tmux pane, both in an outer tmux; sourced by bench.sh.
# SPDX-License-Identifier: MIT

outer() { tmux -S "$base/tmux" -f /dev/null "$@"; }
outer_end() { # and the next may have its socket
	local server
	server=$(outer display-message -p '#{pid}') && outer kill-server || return 0
	while kill -0 "$server" 2>/dev/null; do sleep 0.02; done
}
# A killed console leaves its session running by default, which would have the folder in the next turn.
pane_run="run --set console.on-hangup=end --"
pane_rss() { # KiB of client, console and keeper
	local p sum=0
	for p in $(pgrep -f "^$cordon $pane_run sh -c"); do
		case $(cat "/proc/$p/comm" 2>/dev/null) in
		cordon | cordon-keeper) sum=$((sum + $(awk '/^VmRSS/ { print $2 }' "/proc/$p/status"))) ;;
		esac
	done
	echo $sum
}
pane_took() { # COMMAND ; milliseconds from $base/inside/began to done, which the pane's command writes
	local n=0
	rm -f "$base/inside/done"
	outer new-session -d -x 120 -y 40 -c "$base/inside" "$1"
	until [ -s "$base/inside/done" ] || [ $n -gt 3000 ]; do sleep 0.02 && n=$((n + 1)); done
	awk -v a="$(cat "$base/inside/began")" -v b="$(cat "$base/inside/done")" \
		'BEGIN { printf "%.0f\n", (b - a) * 1000 }'
	pane_rss >"$base/rss"
	outer_end
	while pgrep -f "^$cordon $pane_run sh -c" >"$base/out"; do sleep 0.02; done
}
# pane_turn tmux|cordon - a turn of $printing
pane_turn() {
	local work="date +%s.%N >began; $printing; date +%s.%N >done; sleep 5"
	if [ "$1" = tmux ]; then
		pane_took "tmux -S '$base/inner' -f /dev/null new-session 'sh -c \"$work\"'"
		tmux -S "$base/inner" kill-server 2>/dev/null
	else
		pane_took "exec '$cordon' $pane_run sh -c '$work'"
		cat "$base/rss" >>"$base/t.rss"
	fi
}
# lines in several colours and scripts, and a status that is painted again and again
mixed_text() {
	awk 'BEGIN { for (i = 0; i < 1100000; i++) {
		printf "\033[32m%8d\033[m \033[1mmodule-%d.c\033[m in %d ms \xe2\x9c\x93 \xe6\xbc\xa2 ", i, i * 7 % 977, i % 613
		printf i % 10 ? "\033[38;2;200;90;%dmtext\033[39m, more of it\n" : "\rworking\033[K\r\033[2K%d\n", i % 256 } }' |
		head -c 100000000
}
rows_pane() {
	local printing='seq 1 2000000'
	wanted pane && command -v tmux >/dev/null || return 0
	: >"$base/t.rss"
	print_row "" tmux cordon "" ratio target ""
	by_turns pane_turn tmux cordon
	show "pane: seq 1 2000000 against tmux" 1.0 ratio tmux cordon
	mixed_text >"$base/inside/mixed"
	printing='cat mixed' by_turns pane_turn tmux cordon
	show "pane: cat of 100 MB, against tmux" 1.0 ratio tmux cordon
	rm -f "$base/inside/mixed"
	number "console and keeper after them, MB" "$(awk '{ printf "%.1f\n", $1 / 1024 }' "$base/t.rss" | median)" 25
}
