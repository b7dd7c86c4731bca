# shellcheck shell=bash disable=SC2154
# journal - the rows about undo: the cost of capture, rollback, redo and reading; sourced by bench.sh.
# SPDX-License-Identifier: MIT

# ---- capture, against the same cordon that keeps nothing
rows_capture() {
	versus "capture: untar" 1.05 'rm -rf out; mkdir out' 'tar -xf tree.tar -C out' without inside
	versus "capture: git add -A" 1.05 "$some_fresh" 'git -C fresh add -A' without inside
	versus "capture: sed -i on 600 files" 1.05 : 'sed -i s/return/RETURN/ csrc/*.c' without inside
	versus "capture: make -j2" 1.05 'make -s -C project clean' 'make -s -j2 -C project' without inside
}

# ---- rm -rf of 10 000 files: itself, its rollback, its redo, each against rm -rf that keeps nothing

# removing WHAT - a turn
removing() {
	local dir=$base/inside none
	[ "$1" != without ] || dir=$base/without
	rm -rf "$dir/many" && tar -C "$dir" -xf "$base/many.tar"
	case $1 in
	without | inside)
		none=$(ms "$1" :)
		less "$(ms "$1" 'rm -rf many')" "$none"
		return
		;;
	esac
	inside 'rm -rf many' >"$base/out" 2>&1
	[ "$1" = undo ] || (in_dir inside "$cordon" undo) >"$base/out" 2>&1
	(in_dir inside ms "$cordon" "$1")
	case $1 in
	undo) [ "$(find "$dir/many" -type f | wc -l)" = 10000 ] ;;
	redo) [ ! -e "$dir/many" ] ;;
	esac || note_failure "$1" inside
}
rows_remove() {
	local side name
	for side in inside undo redo; do
		case $side in
		inside) name="rm -rf of 10 000 files" ;;
		undo) name="its rollback" ;;
		redo) name="its redo" ;;
		esac
		wanted "$name" || continue
		[ -e "$base/many.tar" ] || {
			make_many "$base/many" 10000 && tar -C "$base" -cf "$base/many.tar" many && rm -rf "$base/many"
		}
		by_turns removing without $side
		show "$name" 1.3 ratio without $side
	done
	rm -rf "$base/many.tar" "$base"/{inside,without}/many
}

# ---- 1 GiB overwritten: at copy speed at worst, and where the file system shares blocks in no time

# overwritten DIR - its file is overwritten inside; prints the milliseconds of the rollback, which restores it
overwritten() {
	local mib=$(($(stat -c %s "$base/$1/big") >> 20))
	in_dir "$1" "$cordon" run --headless "${limits[@]}" -- dd if=/dev/zero of=big bs=1M count=$mib conv=notrunc \
		>"$base/out" 2>&1 || { echo - && return; }
	sync -f "$base/$1" # what was overwritten is written meanwhile
	in_dir "$1" ms "$cordon" undo
}
# copying cp|undo - a turn
copying() {
	if [ "$1" = undo ]; then
		(overwritten big)
	else
		ms cp --reflink=never "$base/big/big" "$base/copy"
		rm "$base/copy"
	fi
}
# sharing MIB - a turn
sharing() { (XDG_STATE_HOME=$base/mnt/state overwritten "mnt/$1"); }

rows_big() {
	local fs size
	if wanted "rollback of 1 GiB against cp" || wanted "rollback of 1 GiB, two names"; then
		mkdir "$base/big" && dd if=/dev/urandom of="$base/big/big" bs=1M count=1024 status=none
		# Nine tenths of the speed of cp. If the inode has a second name it must stay, and its present content
		# is captured for redo: two copies.
		by_turns copying cp undo
		show "rollback of 1 GiB against cp" 1.11 ratio cp undo
		ln "$base/big/big" "$base/big/second"
		by_turns copying cp undo
		show "rollback of 1 GiB, two names" 2.22 ratio cp undo
		rm -rf "$base/big"
	fi
	for fs in xfs btrfs; do
		wanted "rollback of 1 GiB on $fs" || continue
		if [ "$(id -u)" != 0 ] || ! command -v "mkfs.$fs" >/dev/null; then
			echo "rollback of 1 GiB on $fs: not measured: needs root and mkfs.$fs"
			continue
		fi
		mkdir -p "$base/mnt" && truncate -s 6G "$base/image" && "mkfs.$fs" -q "$base/image" >"$base/out" 2>&1 &&
			mount -o loop "$base/image" "$base/mnt" || continue
		for size in 1 1024; do
			mkdir "$base/mnt/$size" && dd if=/dev/urandom of="$base/mnt/$size/big" bs=1M count=$size status=none
		done
		by_turns sharing 1 1024
		show "rollback of 1 GiB on $fs against 1 MiB" 2 ratio 1 1024
		umount -l "$base/mnt" # the keeper may still be ending
		rm -f "$base/image"
	done
}

# ---- reading: a history of 100 steps with 10 000 paths each
rows_reading() {
	local dir=$base/log t
	wanted "cordon log, 100 steps x 10 000" || wanted "opening a step of 10 000 files" || return 0
	mkdir "$dir"
	"$tools/history" "$dir" "$XDG_STATE_HOME/cordon" 100 2>"$base/err" || note_failure "making the history" here
	(cd "$dir" && for _ in $(seq $((ROUNDS * 4))); do ms "$cordon" log; done) >"$base/t.log"
	number "cordon log, 100 steps x 10 000, ms" "$(median <"$base/t.log")" 50
	t=$(cd "$dir" && "$cordon" log --json | head -n 1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	for _ in $(seq "$ROUNDS"); do "$tools/open" "$dir" "$XDG_STATE_HOME/cordon" "$t"; done >"$base/t.open"
	number "opening a step of 10 000 files, ms" "$(awk '{ print $1 }' "$base/t.open" | median)" 100
	number "and its first file's diff, ms" "$(awk '{ print $2 }' "$base/t.open" | median)" 100
	rm -rf "$dir"
}

# ---- memory of the largest process of a run whose step touches 100 000 files: the keeper
rows_memory() {
	local kib
	wanted "memory at 100 000 files, MB" || return 0
	mkdir -p "$base/memory"
	kib=$(cd "$base/memory" && python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		"$cordon" run --headless -- sh -c \
		'for d in $(seq 100); do mkdir $d && (cd $d && seq 1000 | xargs touch); done' 2>"$base/err")
	number "memory at 100 000 files, MB" "$(awk -v k="$kib" 'BEGIN { printf "%.1f", k / 1024 }')" 30
	rm -rf "$base/memory"
}
