# shellcheck shell=bash disable=SC2154
# one_call - the rows about single calls: microseconds of each kind (calls.c); sourced by bench.sh.
# SPDX-License-Identifier: MIT

# calling SIDE - a turn: all kinds; the times of each are in $base/call.KIND.SIDE
calling() {
	local kind us
	"$1" './calls 300 3' >"$base/out" 2>"$base/err" || note_failure "single calls" "$1"
	while read -r kind us; do echo "$us" >>"$base/call.$kind.$1"; done < <(grep -E '^[a-z-]+ [0-9.]+$' "$base/out")
	awk '$1 == "create" { print $2 }' "$base/out"
}
# row_call KIND LIMIT WORDS - the limit is for microseconds in cordon; -: none
row_call() {
	local us
	us=$(median <"$base/call.$1.inside")
	print_row "$3" "$(median <"$base/call.$1.native")" "$us" "$(median <"$base/call.$1.floor")" "" "$2" \
		"$(awk -v v="$us" -v l="$2" 'BEGIN { print (l == "-" ? "" : v == "-" || v + 0 > l + 0 ? "FAIL" : "ok") }')"
}
rows_calls() {
	wanted "single calls" || return 0
	rm -f "$base"/call.*
	by_turns calling native inside floor
	row_call create 38 "call: create, write and close a file"
	row_call create-excl 38 "call: the same with O_EXCL"
	row_call unlink 21 "call: unlink"
	row_call rename 22 "call: rename"
	row_call fchmod 11 "call: fchmod"
	row_call futimens 12 "call: futimens"
	row_call mkdir - "call: mkdir"
	row_call rmdir - "call: rmdir"
}
