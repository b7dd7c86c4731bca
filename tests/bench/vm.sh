#!/bin/bash
# vm - our file server for guests against QEMU's own virtiofsd, on demand: tests/support/one.sh tests/bench/vm.sh
# SPDX-License-Identifier: MIT
# root only: the other side needs it
# timeout: 1500
#
# The same kernel, guest, first program and QEMU arguments (taken from our run); both serve the host's tree and the
# folder. Ours also journals each change. The two alternate, and a ratio is the median of the pairs.
. "$(dirname "$0")/../support/lib.sh"
need git make cc python3
. "$(dirname "$0")/../support/vm.sh"
other=/usr/lib/qemu/virtiofsd
[ -x "$other" ] || skip_all "no virtiofsd (Debian 12: qemu-system-common)"
: "${ROUNDS:=2}" "${FILES:=200}"
vm_settings ''
here=$(dirname "$0")
make_source() { # DIR - an archive of FILES small texts in 60 directories, and two C files; the history of the texts
	mkdir -p "$1/tree" "$1/c" && awk -v dir="$1" -v n="$FILES" 'BEGIN {
		for (i = 0; i < 60; i++) system("mkdir " dir "/tree/d" i)
		for (i = 0; i < n; i++) {
			f = dir "/tree/d" i % 60 "/file" i
			for (k = 0; k < 100; k++) printf "line %d of file %d, with some words in it\n", k, i >f
			close(f)
		}
		for (i = 0; i < 2; i++) printf "#include <stdio.h>\nint f%d(void) { return printf(\"%d\"); }\n", i, i >dir "/c/f" i ".c"
		printf "lib.a: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tar rcs $@ $^\n%%.o: %%.c\n\tcc -c -o $@ $<\n" >dir "/c/Makefile"
	}'
	(cd "$1" && git init -q --template= tree && git -C tree add -A && git -C tree -c user.name=a -c user.email=a@b commit -qm all && tar cf tree.tar --exclude=.git tree c && rm -r tree/d* c)
}
cat >"$TEST_TMP/work.sh" <<'WORK'
export GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
mkdir /tmp/warm && cd /tmp/warm && echo 'int f(void) { return 1; }' >a.c && cc -c a.c && ar rcs a.a a.o && printf 'x:\n\ttrue\n' >Makefile && make -s &&
	git init -q . && git status -s >/dev/null && tar cf t.tar a.c && tar xf t.tar && grep -r nothing . >/dev/null; find . >/dev/null
cd "$1" || exit 1
t() { # NAME COMMAND...
	local name=$1 from to
	shift
	from=$(date +%s%N) && "$@" >/dev/null && to=$(date +%s%N) && echo "$name $(((to - from) / 1000000))"
}
t untar tar xf tree.tar
t find find tree -ls
t grep grep -rc 'of file 7,' tree
t status git -C tree status -s
t build make -s -C c
t remove sh -c 'rm -r tree/d* c'
WORK
take_argv() { # MARK - once QEMU runs
	local monitor
	monitor=$(vm_part cordon-monitor "$1") && tr '\0' '\n' 2>/dev/null <"/proc/$(pgrep -P "$monitor")/cmdline" >"$TEST_TMP/argv" &&
		grep -q vhost-user-fs "$TEST_TMP/argv"
}
run_ours() {
	local mark dir
	mark=$(new_mark)
	dir=$(new_folder "ours$1") && make_source "$dir" && cp "$TEST_TMP/work.sh" "$dir"
	(cd "$dir" && exec "$CORDON" run --headless --no-network -- sh ./work.sh "$dir" "$mark" </dev/null >"$TEST_TMP/ours$1.ms" 2>"$TEST_TMP/err") &
	ours=$!
	[ -s "$TEST_TMP/argv" ] || wait_for 30 take_argv "$mark"
	wait "$ours"
}
run_other() {
	local dir base
	dir=$(new_folder "other$1") && make_source "$dir" && cp "$TEST_TMP/work.sh" "$dir"
	base=$(find "$HOME/.local/state/cordon/vm" "${XDG_STATE_HOME:-$HOME}/cordon/vm" -name 'base*' 2>/dev/null | head -n 1)
	python3 -B "$here/vm_other.py" "$other" "$TEST_TMP" "$base" "$dir" sh ./work.sh "$dir" >"$TEST_TMP/other$1.ms" 2>>"$TEST_TMP/err"
}
for ((i = 1; i <= ROUNDS; i++)); do
	if ((i % 2)); then run_ours $i && run_other $i; else run_other $i && run_ours $i; fi
	is "$(cut -d' ' -f1 "$TEST_TMP/other$i.ms" | xargs)" "$(cut -d' ' -f1 "$TEST_TMP/ours$i.ms" | xargs)" "turn $i: both sides did all" || note "$(tail -n 3 "$TEST_TMP/err")"
done
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for row in $(cut -d' ' -f1 "$TEST_TMP/ours1.ms"); do
	of() { grep -h "^$row " "$TEST_TMP/$1"*.ms | cut -d' ' -f2; }
	note "$row: virtiofsd $(of other | median) ms, ours $(of ours | median) ms, ratio $(paste <(of ours) <(of other) | awk '{ printf "%.2f\n", $1 / $2 }' | median) ($(paste <(of ours) <(of other) | awk '{ printf "%.2f ", $1 / $2 }'))"
done
done_testing
