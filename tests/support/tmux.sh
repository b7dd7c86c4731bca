# shellcheck shell=bash
# tmux - the real program in a private tmux server; sourced instead of lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/support/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need tmux
tmux_socket=$TEST_TMP/tmux.0 tmux_servers=0
tmux_() { tmux -S "$tmux_socket" -f /dev/null "$@"; }
trap 'close_all' EXIT

# "=t:" is the session of exactly that name: "t" would first match a window with that prefix, and a window's name is
# "tmux" until its program runs.

# below PID... - these processes, their children, and so on.
below() {
	local pid
	for pid; do
		echo "$pid"
		# shellcheck disable=SC2046 # numbers
		below $(pgrep -P "$pid")
	done
}
all_ended() {
	local pid
	for pid; do has_ended "$pid" || return 1; done
}
# close_all - ends the server with all its programs, and sessions, which would outlive their terminals: a session that
# is still ending has its folder.
close_all() {
	local pids hosts
	# shellcheck disable=SC2046,SC2086 # numbers
	pids=$(below $(tmux_ list-panes -a -F '#{pane_pid}' 2>/dev/null))
	# shellcheck disable=SC2086 # numbers
	hosts=$([ -z "$pids" ] || ps -o pid=,sid=,comm= -p "$(paste -sd, <<<"$pids")" | awk '$1 == $2 && $3 == "cordon" { print $1 }')
	# shellcheck disable=SC2086 # numbers
	[ -z "$hosts" ] || kill $hosts 2>/dev/null
	tmux_ kill-server 2>/dev/null
	# shellcheck disable=SC2086 # numbers
	wait_for 15 all_ended $pids || note "still there: $(ps -o args= -p "$(tr '\n' ' ' <<<"$pids")")"
}
# start COLUMNS ROWS DIR COMMAND - a new server with one pane; $? of COMMAND is written to status.
start() {
	local cols=$1 rows=$2 dir=$3 cmd=$4
	close_all
	tmux_servers=$((tmux_servers + 1))
	tmux_socket=$TEST_TMP/tmux.$tmux_servers
	rm -f "$TEST_TMP/status" "$TEST_TMP/stty"
	tmux_ new-session -d -x 10 -y 10 'sleep 600' \; set -g status off \; set -g remain-on-exit on \; \
		set -g default-terminal tmux-256color \; set -g escape-time 0 \; set -g history-limit 2000
	tmux_ new-session -d -s t -x "$cols" -y "$rows" -c "$dir" \
		"$cmd; echo \$? >$TEST_TMP/status; stty -a >$TEST_TMP/stty; exec sleep 600"
}
keys() { tmux_ send-keys -t =t: "$@"; }
type_text() { tmux_ send-keys -t =t: -l -- "$1"; }
screen() { tmux_ capture-pane -p -t =t: | sed 's/ *$//'; }
resize() { tmux_ resize-window -t =t: -x "$1" -y "$2"; }

# show_screens - after a failed test: the screen of each session in 25 lines at most, unless it was shown before. Its last
# line has a clock.
declare -A screens_shown=()
show_screens() {
	local name text
	for name in $(tmux_ list-sessions -F '#{session_name}' 2>/dev/null); do
		text=$(tmux_ capture-pane -p -t "=$name:" | sed 's/ *$//' | grep -vE '^[ │]*$' |
			awk '{ line[NR] = $0 }
				END { for (i = 1; i <= NR; i++) if (NR <= 25 || i <= 12 || i > NR - 12) print line[i]; else if (i == 13) print "..." }')
		[ -n "$text" ] && [ "${text%$'\n'*}" != "${screens_shown[$name]:-}" ] || continue
		screens_shown[$name]=${text%$'\n'*}
		note "screen of $name:" "$text"
	done
}

screen_has() { screen | grep -Eq -- "$1"; }
screen_lacks() { ! screen | grep -Eq -- "$1"; }
# sees REGEX NAME [SECONDS] - the screen shows it within the time.
sees() {
	if wait_for "${3:-15}" screen_has "$1"; then pass "$2"; else fail "$2" "no line like: $1"; fi
}
# loses REGEX NAME - it disappears from the screen.
loses() {
	if wait_for "${3:-15}" screen_lacks "$1"; then pass "$2"; else fail "$2" "still there: $1"; fi
}
# ended NAME STATUS - the program has ended with that status and the terminal is as before.
ended() {
	if wait_for 15 test -s "$TEST_TMP/status"; then
		is "$(cat "$TEST_TMP/status")" "$2" "$1"
	else
		fail "$1" "still running"
	fi
}
# golden NAME - the whole screen equals tests/golden/NAME.screen; UPDATE=1 rewrites that.
golden() {
	local want=tests/golden/$1.screen
	if [ "${UPDATE:-}" = 1 ]; then screen >"$want" && pass "$1 # updated" && return; fi
	if wait_for 10 golden_matches "$want"; then pass "$1"; else
		fail "$1" "$(diff "$want" <(screen))"
	fi
}
golden_matches() { diff -q "$1" <(screen); }
# A dialog's keys count after half a second without any. A test that presses them repeatedly waits for that first: each
# press that is too early costs a second, and five on a busy host.
until_keys_count() { sleep 0.6; }
# press_until REGEX NAME KEY... - presses such keys repeatedly, but none after the dialog has closed, when the agent's
# terminal would get them.
press_until() {
	local regex=$1 name=$2 n=0 open=
	shift 2
	screen_has "$regex" || until_keys_count
	wait_for 5 screen_lacks 'keys count in a moment' || :
	until screen_has "$regex" || [ $n -ge 20 ]; do
		if screen_has '╔═'; then
			open=1
		elif [ -n "$open" ] && [ "$1" != 'C-]' ] && screen_has '━ > agent'; then
			break
		fi
		keys "$@"
		wait_for 2 screen_has "$regex" || :
		n=$((n + 1))
	done
	sees "$regex" "$name"
}
# choose KEY REGEX NAME [SESSION] - a choice of a dialog, which counts at once: one key after the other, each after the
# screen shows the effect of the one before.
choose() {
	local key=$1 regex=$2 name=$3 at=${4:-t} n=0 was
	wait_for 15 choices "$at"
	until [[ $(choices "$at") =~ $regex ]] || [ $n -ge 6 ]; do
		was=$(choices "$at")
		tmux_ send-keys -t "=$at:" "$key"
		wait_for 10 choices_differ "$at" "$was"
		n=$((n + 1))
	done
	like "$(choices "$at")" "$regex" "$name"
}
choices() { tmux_ capture-pane -p -t "=$1:" | grep -E ' (how long|how much|until) .*\['; }
choices_differ() { [ "$(choices "$1")" != "$2" ]; }
# session_pid - the session's process, a fork of the client in the pane.
session_pid() { pgrep -P "$(pgrep -P "$(tmux_ display-message -p -t =t: '#{pane_pid}')" -x cordon)" -x cordon; }
# leaves NAME - Q and its confirmation: the agent is ended, and the console with it.
leaves() { ok "$1" wait_for 30 has_left; }
has_left() { keys Q && wait_for 2 test -s "$TEST_TMP/status"; }
# terminal_is_sane NAME - the output of stty after the program's end is as in a shell.
terminal_is_sane() {
	wait_for 10 test -s "$TEST_TMP/stty"
	like "$(tr '\n' ' ' <"$TEST_TMP/stty")" ' icanon .* echo ' "$1: the line discipline is back"
	wait_for 10 terminal_flags_are 001 # what the program said last may still be on its way to tmux
	is "$(terminal_flags)" 001 "$1: no alternate screen, no mouse, cursor on"
}
terminal_flags() {
	tmux_ display-message -p -t =t: '#{alternate_on}#{mouse_any_flag}#{bracket_paste_flag}#{cursor_flag}' |
		sed 's/^\(..\).\{0,1\}\(.\)$/\1\2/'
}
terminal_flags_are() { [ "$(terminal_flags)" = "$1" ]; }
# act ACTION KEY... - presses the keys that the shipped keymap gives to the action.
# tests/support/lint.sh requires that each action of tui/look/action.h is driven so, or named behind "# drives:".
act() {
	local action=$1 key bound=() sent=()
	shift
	for key in "$@"; do
		case $key in
		C-\]) bound+=(prefix) sent+=("$key") ;;
		Esc) bound+=("$key") sent+=(Escape) ;;
		PageUp) bound+=("$key") sent+=(PPage) ;;
		PageDown) bound+=("$key") sent+=(NPage) ;;
		S-Tab) bound+=("$key") sent+=(BTab) ;;
		*) bound+=("$key") sent+=("$key") ;;
		esac
	done
	sed 's/[[:space:]]*;.*//; s/"//g; s/^[[:space:]]*//' keymaps/default.keys >"$TEST_TMP/keymap"
	ok "$action: ${bound[*]}" grep -Fxq -- "$action = ${bound[*]}" "$TEST_TMP/keymap"
	keys "${sent[@]}"
}
