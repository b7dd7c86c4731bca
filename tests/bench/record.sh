# shellcheck shell=bash disable=SC2154
# record - the rows about recordings: the cost of writing one, and of a seek in three hours; in processor time; sourced
# by bench.sh.
# SPDX-License-Identifier: MIT

rows_record() {
	wanted record || return 0
	mkdir -p "$base/record" && "$tools/record" "$base/record" >"$base/t.record" || return 1
	number "record: % of a core at 1 MB/s of output" "$(awk '$1 == "cost" { print $2 }' "$base/t.record")" 2
	number "record: a seek in three hours, ms" "$(awk '$1 == "seek" { print $2 }' "$base/t.record")" 100
	number "record: the slowest of 200 seeks, ms" "$(awk '$1 == "worst" { print $2 }' "$base/t.record")" 100
	rm -rf "$base/record"
}
