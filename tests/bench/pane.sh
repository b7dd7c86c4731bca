# shellcheck shell=bash disable=SC2154
# pane - the rows about the agent's terminal: seq 1 2000000 in cordon's pane against a tmux pane, both
# in an outer tmux; sourced by bench.sh.
# SPDX-License-Identifier: MIT

outer() { tmux -S "$base/tmux" -f /dev/null "$@"; }
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
	outer kill-server
}
rows_pane() {
	local t p m work
	wanted pane && command -v tmux >/dev/null || return 0
	work='date +%s.%N >began; seq 1 2000000; date +%s.%N >done; sleep 5'
	: >"$base/t.tmux" && : >"$base/t.pane" && : >"$base/t.rss"
	for _ in $(seq "$ROUNDS"); do
		pane_took "tmux -S '$base/inner' -f /dev/null new-session 'sh -c \"$work\"'" >>"$base/t.tmux"
		tmux -S "$base/inner" kill-server 2>/dev/null
		pane_took "exec '$cordon' run -- sh -c '$work'" >>"$base/t.pane"
		cat "$base/rss" >>"$base/t.rss"
	done
	t=$(median <"$base/t.tmux") p=$(median <"$base/t.pane") m=$(median <"$base/t.rss")
	print_row "pane: seq 1 2000000 against tmux" "$t" "$p" - "$(ratio "$p" "$t")" 1.0 "$(verdict "$(ratio "$p" "$t")" 1.0)"
	number "console and keeper after it, MB" "$(awk -v m="$m" 'BEGIN { printf "%.1f", m / 1024 }')" 25
}
