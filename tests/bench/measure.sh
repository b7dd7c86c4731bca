# shellcheck shell=bash disable=SC2154
# measure - turns of two sides, the ratio of each pair, and rows with their targets; sourced by bench.sh.
# SPDX-License-Identifier: MIT
#
# A machine, or the host of a virtual one, may be half as fast a minute later. So two sides take short turns, in
# alternating order, and a time is only compared with its neighbour's. A row shows the median of these ratios and its
# uncertainty: half of the interval between the two ratios, in order, that enclose the true ratio in 95 of 100 rows,
# with any kind of noise; below six pairs, from the least to the greatest. A row takes at least ROUNDS turns, then goes
# on until it knows that to 1 %, or has taken 5 seconds for every two of ROUNDS.
# A side is a function that runs a shell command in its own directory, $base/SIDE.

failed=0

# in_dir SIDE COMMAND... - for a subshell
in_dir() { cd "$base/$1" && shift && "$@"; }
bubbled=(bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc
	--bind "$base/bubble" "$base/bubble")
native() { (in_dir native sh -c "$1"); }
inside() { (in_dir inside "$cordon" run --headless -- sh -c "$1"); }
bubble() { (in_dir bubble "${bubbled[@]}" sh -c "$1"); }
# trapping alone: the same filter with the simplest keeper (floor.c)
floor() { (in_dir floor "$tools/floor" sh -c "$1"); }
# cordon without captures: trapping, policy and audit are the same
without() { (in_dir without "$cordon" run --headless --set journal.undo=false -- sh -c "$1"); }

ms() { # COMMAND... ; wall milliseconds with two decimals, or "-" when it failed
	local t0 t1
	t0=$EPOCHREALTIME
	"$@" >"$base/out" 2>"$base/err" </dev/null || { echo - && return; }
	t1=$EPOCHREALTIME
	awk -v a="$t0" -v b="$t1" 'BEGIN { printf "%.2f\n", (b - a) * 1000 }'
}
median() {
	grep -v '^-$' | sort -g | awk '
		{ v[NR] = $1 }
		END { if (NR) printf "%.1f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2; else printf "-" }'
}
wanted() { [[ $1 =~ $ONLY ]]; }
note_failure() { echo "  $1 failed on side $2: $(tail -n 1 "$base/err")" >&2; }

print_row() { # NAME A B C FOUND TARGET VERDICT
	printf '%-40s %9s %9s %9s %13s %6s  %s\n' "$@"
	[[ ${7} != FAIL* ]] || failed=1
}
# number NAME VALUE LIMIT - one figure with its own limit
number() {
	print_row "$1" "" "$2" "" "" "$3" \
		"$(awk -v v="$2" -v l="$3" 'BEGIN { print (v == "-" || v + 0 > l + 0) ? "FAIL" : "ok" }')"
}

# compared ratio|difference SIDE BASE - of SIDE's and BASE's times: the median of the pairs, the least and greatest
# value that it may have, and the number of pairs; prints nothing if no pair has both
compared() {
	paste "$base/t.$2" "$base/t.$3" |
		awk -v how="$1" '$1 ~ /^[0-9.]+$/ && $2 ~ /^[0-9.]+$/ { print how == "ratio" ? $1 / $2 : $1 - $2 }' |
		sort -g | awk '
		{ v[NR] = $1 }
		END {
			if (!NR) exit
			# as many at each end as may be there by chance, one time in 40
			p = exp(-NR * log(2))
			for (sum = p; sum <= 0.025; sum += p) {
				p *= (NR - k) / (k + 1)
				k++
			}
			if (!k) k = 1
			print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[k], v[NR + 1 - k], NR
		}'
}

# by_turns TURN BASE SIDE [OTHER] - calls TURN with each side, which prints a time or "-", until the ratio of SIDE to
# BASE is known; the times are in $base/t.*
by_turns() {
	local turn=$1 n=0 side reversed="" order known="" next=6 until=$((SECONDS + 5 * ROUNDS / 2))
	shift
	for side; do : >"$base/t.$side" && reversed="$side $reversed"; done
	while [ $n -lt "$ROUNDS" ] || { [ $SECONDS -lt $until ] && [ -z "$known" ] && [ $n -lt 1000 ]; }; do
		[ $((n % 2)) = 0 ] && order=$* || order=$reversed
		for side in $order; do $turn "$side" >>"$base/t.$side"; done
		n=$((n + 1))
		[ $n = $next ] || continue
		next=$((n * 5 / 4))
		known=$(compared ratio "$2" "$1" | awk '$3 - $2 <= 0.02 * $1')
	done
}

# show NAME LIMIT ratio|difference BASE SIDE [OTHER] - prints a row of the times from by_turns; the limit is for SIDE
# against BASE. If the limit is within the uncertainty, or there are fewer than three pairs, the row is marked as near
# the limit and does not fail. "-" is no limit.
show() {
	local name=$1 limit=$2 how=$3 found
	found=$(compared "$how" "$5" "$4" | awk -v l="$limit" -v how="$how" '{
		verdict = l == "-" ? "" : $4 < 3 ? "near" : $3 <= l ? "ok" : $2 > l ? "FAIL" : "near"
		digits = how == "ratio" ? "%.2f" : "%.1f"
		printf digits "+-%s|%s (%d)", $1, $4 < 3 ? "?" : sprintf(digits, ($3 - $2) / 2), verdict, $4
	}')
	print_row "$name" "$(median <"$base/t.$4")" "$(median <"$base/t.$5")" "${6:+$(median <"$base/t.$6")}" \
		"${found%|*}" "$limit" "${found#*|}"
	[ -n "$found" ] || failed=1
}

# start SIDE - a turn: an empty run
start() { ms "$1" :; }

# apart SIDE - a turn: a separate run of $cmd after $prepare, less the time of an empty run at that moment
apart() {
	local none took
	none=$(ms "$1" :)
	(cd "$base/$1" && sh -c "$prepare") >/dev/null 2>&1
	took=$(ms "$1" "$cmd")
	[ "$took" != - ] || note_failure "$name" "$1"
	less "$took" "$none"
}
less() { # TIME OTHER
	awk -v t="$1" -v z="$2" 'BEGIN { if (t == "-" || z == "-") print "-"; else print (t - z > 0.1 ? t - z : 0.1) }'
}

# versus NAME LIMIT PREPARE COMMAND BASE SIDE [OTHER] - apart, by turns
versus() {
	local name=$1 limit=$2 prepare=$3 cmd=$4
	shift 4
	wanted "$name" || return 0
	by_turns apart "$@"
	show "$name" "$limit" ratio "$@"
}

# A session runs command after command, and prints the processor time of each (turns.c). Commands that only read need
# no other process, so their turns may be short. open_session NAME COMMAND... - COMMAND runs the program that follows
# it, in a directory that has turns.
open_session() {
	local name=$1 to from
	shift
	mkfifo "$base/to.$name" "$base/from.$name"
	"$@" ./turns <"$base/to.$name" >"$base/from.$name" 2>"$base/err" &
	exec {to}>"$base/to.$name" {from}<"$base/from.$name"
	sessions[$name]="$to $from $!"
}
# Ends all sessions before it waits for any: a later one also holds the pipes of earlier ones.
close_sessions() {
	local name to from pid
	for name in "${!sessions[@]}"; do
		read -r to from pid <<<"${sessions[$name]}"
		exec {to}>&- {from}<&-
		sessions[$name]=$pid
		rm -f "$base/to.$name" "$base/from.$name"
	done
	[ ${#sessions[@]} = 0 ] || wait "${sessions[@]}"
	sessions=()
}
declare -A sessions=()

# within SESSION - a turn: processor milliseconds of $cmd
within() {
	local to from took=-
	read -r to from _ <<<"${sessions[$1]}"
	echo "$cmd" >&"$to"
	read -r -t 60 took <&"$from"
	[[ $took == [0-9]* ]] || { took=- && echo "  $name failed in session $1" >&2; }
	echo "$took"
}

# reading NAME LIMIT COMMAND BASE SESSION [OTHER] - the same within sessions; runs once before, to fill caches
reading() {
	local name=$1 limit=$2 cmd=$3 side
	shift 3
	wanted "$name" || return 0
	for side; do within "$side" >/dev/null; done
	by_turns within "$@"
	show "$name" "$limit" ratio "$@"
}
