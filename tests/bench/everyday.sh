# shellcheck shell=bash disable=SC2154
# everyday - the rows about programs that write many files: tar, cp, rsync, rm, npm, sqlite3, git; sourced by bench.sh.
# SPDX-License-Identifier: MIT
#
# Each row has two numbers: by the clock, and in processor time of all processes, with the keeper and cordon. The
# limits are for the clock. "Trap only" is the cost of the same row without captures and checks.

# twice_told SIDE COMMAND - milliseconds by the clock and of processors, or "- -" if it failed
twice_told() {
	local run=() took
	case $1 in
	inside) run=("$cordon" run --headless --) ;;
	floor) run=("$tools/floor") ;;
	esac
	took=$(in_dir "$1" "$tools/used" "${run[@]}" sh -c "$2" 2>"$base/err") || took="- -"
	echo "$took"
}

# twice SIDE - like apart; its processor time, less that of an empty run, goes to $base/cpu.SIDE
twice() {
	local none none_cpu took cpu
	read -r none none_cpu < <(twice_told "$1" :)
	(cd "$base/$1" && sh -c "$prepare") >/dev/null 2>&1
	read -r took cpu < <(twice_told "$1" "$cmd")
	[ "$took" != - ] || note_failure "$name" "$1"
	less "$cpu" "$none_cpu" >>"$base/cpu.$1"
	less "$took" "$none"
}

# everyday NAME LIMIT PREPARE COMMAND
everyday() {
	local name=$1 limit=$2 prepare=$3 cmd=$4 side
	wanted "$name" || return 0
	rm -f "$base"/cpu.*
	by_turns twice native inside floor
	show "$name" "$limit" ratio native inside floor
	for side in native inside floor; do mv "$base/cpu.$side" "$base/t.$side"; done
	show "  in processor time" - ratio native inside floor
}

npm_quiet=(--offline --ignore-scripts --no-audit --no-fund --no-update-notifier --logs-max=0 --cache=../cache)

# 30 packages of 26 files, a project that needs them, and npm's cache with them: no host is contacted.
make_npm() { # DIR
	local i
	mkdir -p "$1/packages" "$1/app"
	awk -v dir="$1" 'BEGIN {
		for (i = 0; i < 30; i++) {
			lib = dir "/packages/p" i "/package/lib"
			system("mkdir -p " lib)
			f = dir "/packages/p" i "/package/package.json"
			printf "{\"name\": \"bench-p%d\", \"version\": \"1.0.0\"}\n", i >f
			close(f)
			for (j = 0; j < 25; j++) {
				f = lib "/f" j ".js"
				for (n = 0; n < 40; n++) printf "module.exports = %d;\n", j >f
				close(f)
			}
			needs = needs sep "\"bench-p" i "\": \"file:../packages/p" i ".tgz\""
			sep = ", "
		}
		printf "{\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {%s}}\n", needs >(dir "/app/package.json")
	}'
	for i in {0..29}; do
		tar -C "$1/packages/p$i" -czf "$1/packages/p$i.tgz" package && rm -r "$1/packages/p$i" || return
	done
	(cd "$1/app" && npm install "${npm_quiet[@]}") >/dev/null 2>&1
}

rows_everyday() {
	local side needs tree='rm -rf out; mkdir out; tar -xf tree.tar -C out'
	everyday "tar x of 4333 files" 3.2 'rm -rf out; mkdir out' 'tar -xf tree.tar -C out'
	everyday "cp -a of them" 2.5 "$tree; rm -rf copy" 'cp -a out copy'
	everyday "rsync -aX of them" 3.2 "$tree; rm -rf copy" 'rsync -aX out/ copy'
	everyday "rm -rf of them" 2.9 "$tree" 'rm -rf out'
	everyday "git clone of a quarter" 1.3 \
		"$some_fresh; git -C fresh add -A; git -C fresh commit -qm all; git -C fresh repack -qad; rm -rf clone" \
		'git clone -q --no-local fresh clone'
	for needs in npm sqlite3; do
		command -v $needs >/dev/null || echo "  no $needs here: its row is left out"
	done
	if command -v npm >/dev/null && wanted "npm ci of 780 files"; then
		for side in native inside floor; do
			make_npm "$base/$side/npm" || echo "  npm's packages could not be made on side $side" >&2
		done
		everyday "npm ci of 780 files" 1.18 : "cd npm/app && npm ci ${npm_quiet[*]}"
	fi
	! command -v sqlite3 >/dev/null || everyday "sqlite3: 200 small transactions" 1.7 \
		'rm -f db*; echo "create table t(a, b);" | sqlite3 db' \
		'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo "insert into t values($i, 1);"; done | sqlite3 db'
}
