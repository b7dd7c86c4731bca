# shellcheck shell=bash disable=SC2154
# journal - the rows about undo: what capture, rollback, redo and reading cost; sourced by bench.sh.
# SPDX-License-Identifier: MIT

undo() { (cd "$base/$1" && exec "$cordon" undo); }
redo() { (cd "$base/$1" && exec "$cordon" redo); }

# ---- capture, against the same cordon that keeps nothing
rows_capture() {
	versus "capture: untar" 1.05 'rm -rf out; mkdir out' 'tar -xf tree.tar -C out' without inside
	ROUNDS=$heavy versus "capture: git add -A" 1.05 'rm -rf fresh; tar -xf tree.tar --one-top-level=fresh; git -C fresh init -q .' \
		'git -C fresh add -A' without inside
	versus "capture: sed -i on 600 files" 1.05 : 'sed -i s/return/RETURN/ csrc/*.c' without inside
	ROUNDS=$heavy versus "capture: make -j2" 1.05 'make -s -C project clean' 'make -s -j2 -C project' without inside
}

# ---- rm -rf of 10 000 files: itself, its rollback, its redo, each against rm -rf that keeps nothing
rows_remove() {
	local t what base_ms
	wanted "rm -rf of 10 000 files" || wanted "its rollback" || wanted "its redo" || return 0
	make_many "$base/many" 10000 && tar -C "$base" -cf "$base/many.tar" many && rm -rf "$base/many"
	for what in off rm undo redo; do : >"$base/t.$what"; done
	for _ in $(seq "$ROUNDS"); do
		for side in without inside; do tar -C "$base/$side" -xf "$base/many.tar"; done
		ms without 'rm -rf many' >>"$base/t.off"
		ms inside 'rm -rf many' >>"$base/t.rm"
		ms undo inside >>"$base/t.undo"
		[ "$(find "$base/inside/many" -type f | wc -l)" = 10000 ] || note_failure rollback inside
		ms redo inside >>"$base/t.redo"
		[ ! -e "$base/inside/many" ] || note_failure redo inside
	done
	base_ms=$(median <"$base/t.off")
	for what in rm undo redo; do
		t=$(median <"$base/t.$what")
		case $what in
		rm) set -- "rm -rf of 10 000 files" ;;
		undo) set -- "its rollback" ;;
		redo) set -- "its redo" ;;
		esac
		print_row "$1" "$base_ms" "$t" - "$(ratio "$t" "$base_ms")" 1.3 "$(verdict "$(ratio "$t" "$base_ms")" 1.3)"
	done
}

# overwrite DIR MIB - a file of that size is overwritten inside; milliseconds of the rollback
overwrite() {
	dd if=/dev/urandom of="$1/big" bs=1M count="$2" status=none
	[ -z "${3:-}" ] || ln "$1/big" "$1/second"
	(cd "$1" && "$cordon" run --headless "${limits[@]}" -- \
		dd if=/dev/zero of=big bs=1M count="$2" conv=notrunc status=none) || { echo - && return; }
	(cd "$1" && ms "$cordon" undo)
	rm -f "$1/big" "$1/second"
}

# ---- 1 GiB overwritten: at copy speed at worst, and where the file system shares blocks in no time
rows_big() {
	local t cp limit fs mount small big dir=$base/inside
	if wanted "rollback of 1 GiB, two names"; then
		dd if=/dev/urandom of="$base/cp1" bs=1M count=1024 status=none
		cp=$(ms cp --reflink=never "$base/cp1" "$base/cp2") && rm -f "$base/cp2"
		cp=$(ms cp --reflink=never "$base/cp1" "$base/cp2") && rm -f "$base/cp1" "$base/cp2"
		limit=$(awk 'BEGIN { printf "%.2f", 1 / 0.9 }')
		t=$(overwrite "$dir" 1024)
		print_row "rollback of 1 GiB against cp" "$cp" "$t" - "$(ratio "$t" "$cp")" "$limit" \
			"$(verdict "$(ratio "$t" "$cp")" "$limit")"
		# Its inode has to stay, and what it holds now is kept for redo: two copies.
		limit=$(awk 'BEGIN { printf "%.2f", 2 / 0.9 }')
		t=$(overwrite "$dir" 1024 linked)
		print_row "rollback of 1 GiB, two names" "$cp" "$t" - "$(ratio "$t" "$cp")" "$limit" \
			"$(verdict "$(ratio "$t" "$cp")" "$limit")"
	fi
	for fs in xfs btrfs; do
		wanted "rollback of 1 GiB on $fs" || continue
		if [ "$(id -u)" != 0 ] || ! command -v "mkfs.$fs" >/dev/null; then
			echo "rollback of 1 GiB on $fs: not measured: needs root and mkfs.$fs"
			continue
		fi
		mount=$base/mnt && mkdir -p "$mount"
		truncate -s 6G "$base/image" && "mkfs.$fs" -q "$base/image" >/dev/null 2>&1 && mount -o loop "$base/image" "$mount" || continue
		mkdir -p "$mount/work"
		small=$(XDG_STATE_HOME=$mount/state overwrite "$mount/work" 1)
		big=$(XDG_STATE_HOME=$mount/state overwrite "$mount/work" 1024)
		umount -l "$mount" # the keeper may still be ending
		rm -f "$base/image"
		print_row "rollback of 1 GiB on $fs against 1 MiB" "$small" "$big" - "$(ratio "$big" "$small")" 2 \
			"$(verdict "$(ratio "$big" "$small")" 2)"
	done
}

# ---- reading: a history of 100 steps with 10 000 paths each
rows_reading() {
	local dir=$base/log t
	wanted "cordon log, 100 steps x 10 000" || wanted "opening a step of 10 000 files" || return 0
	mkdir "$dir"
	"$tools/history" "$dir" "$XDG_STATE_HOME/cordon" 100 2>"$base/err" || note_failure "making the history" here
	(cd "$dir" && for _ in $(seq $((ROUNDS * 2))); do ms "$cordon" log; done) >"$base/t.log"
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
