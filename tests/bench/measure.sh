# shellcheck shell=bash disable=SC2154
# measure - run things by turns, take medians, print rows with their targets; sourced by bench.sh.
# SPDX-License-Identifier: MIT
#
# A side is a function that runs a shell command in a directory of its own, $base/SIDE.

failed=0

native() { (cd "$base/native" && exec sh -c "$1"); }
inside() { (cd "$base/inside" && exec "$cordon" run --headless -- sh -c "$1"); }
bubble() {
	(cd "$base/bubble" && exec bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc \
		--bind "$base/bubble" "$base/bubble" sh -c "$1")
}
# trapping alone: the same filter, answered by the laziest keeper there can be (floor.c)
floor() { (cd "$base/floor" && exec "$tools/floor" sh -c "$1"); }
# cordon as it would be if it kept nothing: trapping, policy and audit are the same
without() { (cd "$base/without" && exec "$cordon" run --headless --set journal.undo=false -- sh -c "$1"); }

ms() { # COMMAND... ; wall milliseconds with one decimal, or "-" when it failed
	local t0 t1
	t0=$EPOCHREALTIME
	"$@" >"$base/out" 2>"$base/err" </dev/null || { echo - && return; }
	t1=$EPOCHREALTIME
	awk -v a="$t0" -v b="$t1" 'BEGIN { printf "%.1f\n", (b - a) * 1000 }'
}
median() { grep -v '^-' | sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }
ratio() { # VALUE BASE
	awk -v n="$2" -v i="$1" 'BEGIN { if (n == "-" || i == "-" || n + 0 == 0) print "-"; else printf "%.2f", i / n }'
}
verdict() { # VALUE LIMIT
	awk -v v="$1" -v l="$2" 'BEGIN { print (v == "-" || v + 0 > l + 0) ? "FAIL" : "ok" }'
}
wanted() { [[ $1 =~ $ONLY ]]; }
note_failure() { echo "  $1 failed on side $2: $(tail -n 1 "$base/err")" >&2; }

print_row() { # NAME A B C RATIO TARGET VERDICT
	printf '%-38s %10s %10s %10s %8s %8s  %s\n' "$@"
	[ "${7}" != FAIL ] || failed=1
}
# number NAME VALUE LIMIT - one figure that has a limit of its own
number() { print_row "$1" "" "$2" "" "" "$3" "$(verdict "$2" "$3")"; }

# zero SIDE... - what a run of `:` costs there; rows take it off
zero() {
	local side
	for side; do : >"$base/t.$side"; done
	for _ in $(seq $((ROUNDS * 4))); do
		for side; do ms "$side" : >>"$base/t.$side"; done
	done
	for side; do median <"$base/t.$side" >"$base/zero.$side"; done
}

# versus NAME LIMIT PREPARE COMMAND BASE SIDE [OTHER] - by turns; the limit is on SIDE over BASE.
versus() {
	local name=$1 limit=$2 prepare=$3 cmd=$4 side t a b c=-
	shift 4
	wanted "$name" || return 0
	for side; do : >"$base/t.$side"; done
	for _ in $(seq "$ROUNDS"); do
		for side; do
			(cd "$base/$side" && sh -c "$prepare") >/dev/null 2>&1
			t=$(ms "$side" "$cmd")
			[ "$t" = - ] && note_failure "$name" "$side"
			echo "$t $(cat "$base/zero.$side")" | awk '$1 != "-" { v = $1 - $2; print (v > 0.1 ? v : 0.1) }' \
				>>"$base/t.$side"
		done
	done
	a=$(median <"$base/t.$1") b=$(median <"$base/t.$2")
	[ $# -lt 3 ] || c=$(median <"$base/t.$3")
	print_row "$name" "$a" "$b" "$c" "$(ratio "$b" "$a")" "$limit" "$(verdict "$(ratio "$b" "$a")" "$limit")"
}

# settled NAME LIMIT COMMAND - native and inside, once the folder has been left alone for a while: the
# keeper watches every directory by then. The command is timed where it runs.
settled() {
	local timed side a b
	wanted "$1" || return 0
	timed="t=\$(date +%s%N); { $3; } >/dev/null 2>&1; echo \$(((\$(date +%s%N) - t) / 1000))"
	for side in native inside; do : >"$base/t.$side"; done
	for _ in $(seq "$ROUNDS"); do
		native "$timed" >>"$base/t.native"
		inside "sleep 2; $timed" >>"$base/t.inside"
	done
	a=$(median <"$base/t.native" | awk '{ printf "%.1f", $1 / 1000 }')
	b=$(median <"$base/t.inside" | awk '{ printf "%.1f", $1 / 1000 }')
	print_row "$1" "$a" "$b" - "$(ratio "$b" "$a")" "$2" "$(verdict "$(ratio "$b" "$a")" "$2")"
}
