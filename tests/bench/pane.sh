# shellcheck shell=bash disable=SC2154
# pane - the rows about the agent's terminal: seq 1 2000000 in cordon's pane against a tmux pane, both
# in an outer tmux; sourced by bench.sh.
# SPDX-License-Identifier: MIT

outer() { tmux -S "$base/tmux" -f /dev/null "$@"; }
outer_end() { # and the next may have its socket
	local server
	server=$(outer display-message -p '#{pid}') && outer kill-server || return 0
	while kill -0 "$server" 2>/dev/null; do sleep 0.02; done
}
pane_rss() { # KiB of console and keeper
	local p sum=0
	for p in $(pgrep -f "^$cordon run -- sh -c"); do
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
}
# pane_turn tmux|cordon - a turn
pane_turn() {
	local work='date +%s.%N >began; seq 1 2000000; date +%s.%N >done; sleep 5'
	if [ "$1" = tmux ]; then
		pane_took "tmux -S '$base/inner' -f /dev/null new-session 'sh -c \"$work\"'"
		tmux -S "$base/inner" kill-server 2>/dev/null
	else
		pane_took "exec '$cordon' run -- sh -c '$work'"
		cat "$base/rss" >>"$base/t.rss"
	fi
}
rows_pane() {
	wanted pane && command -v tmux >/dev/null || return 0
	: >"$base/t.rss"
	print_row "" tmux cordon "" ratio target ""
	by_turns pane_turn tmux cordon
	show "pane: seq 1 2000000 against tmux" 1.0 ratio tmux cordon
	number "console and keeper after it, MB" "$(awk '{ printf "%.1f\n", $1 / 1024 }' "$base/t.rss" | median)" 25
}
