# shellcheck shell=bash disable=SC2154
# large - the rows about a folder of 300 000 files: start-up, readers, the keeper's memory; sourced by bench.sh.
# SPDX-License-Identifier: MIT
#
# Empty files, in 30 000 directories or in two. Each side that reads has its own copy, as the kernel slows readers of a
# directory that a keeper watches.

make_deep() { # DIR - 30 000 directories of 10 files, as a git repository
	mkdir -p "$1" && (
		cd "$1" && awk 'BEGIN { for (i = 0; i < 30000; i++) print "m" int(i / 100) "/d" i }' | xargs mkdir -p &&
			awk 'BEGIN { for (i = 0; i < 300000; i++) print "m" int(i / 1000) "/d" int(i / 10) "/f" i }' | xargs touch &&
			git init -q . && git add -A && git commit -qm all
	)
}
make_bulky() { # DIR - two directories of 150 000 files
	mkdir -p "$1"/{a,b} &&
		(cd "$1" && awk 'BEGIN { for (i = 0; i < 300000; i++) print (i % 2 ? "a" : "b") "/file" i }' | xargs touch)
}

# Sides of a row about starts: cordon in a folder of that kind.
large_empty() { (in_dir large/empty "$cordon" run --headless -- sh -c "$1"); }
large_deep() { (in_dir large/deep "$cordon" run --headless -- sh -c "$1"); }
large_bulky() { (in_dir large/bulky "$cordon" run --headless -- sh -c "$1"); }

ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; } # PID
# is_listed PID - the keeper has listed all directories: it has used no processor time for a second
is_listed() {
	local before
	before=$(ticks "$1")
	sleep 1
	[ "$(ticks "$1")" = "$before" ]
}

rows_large() {
	local keeper i
	wanted large: || return 0
	mkdir -p "$base/large/empty" && make_deep "$base/large/deep" && make_bulky "$base/large/bulky" || return 0
	print_row "" "empty, ms" "large, ms" "" more target ""
	by_turns start large_empty large_deep
	show "large: start-up, 30 000 directories" 20 difference large_empty large_deep
	by_turns start large_empty large_bulky
	show "large: start-up, 2 bulky directories" 20 difference large_empty large_bulky
	rm -rf "$base/large/bulky"

	print_row "" native cordon "" ratio target ""
	cp -a "$base/large/deep" "$base/large/other" && cp "$tools/turns" "$base/large/deep" &&
		cp "$tools/turns" "$base/large/other" || return 0
	open_session native in_dir large/other
	open_session inside in_dir large/deep "$cordon" run --headless --
	cmd=: name=large within inside >/dev/null # it has started
	keeper=$(pgrep -n -x cordon-keeper)
	for ((i = 0; i < 300; i++)); do is_listed "$keeper" && break; done
	reading "large: find" 1.05 'find . -name nobody' native inside
	reading "large: git status" 1.05 'git --no-optional-locks status --porcelain -uno' native inside
	number "large: memory of the keeper, MB" "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$keeper/status")" 30
	close_sessions
	rm -rf "$base/large"
}
