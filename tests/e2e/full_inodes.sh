#!/bin/bash
# full_inodes - the file system with folder and undo store runs out of inodes: steps are kept, undo works.
# SPDX-License-Identifier: MIT
# root only
[ -n "${FULL_INODES_INSIDE:-}" ] || FULL_INODES_INSIDE=1 exec unshare -m --propagation private "$0"
. "$(dirname "$0")/../support/lib.sh"
disk=$TEST_TMP/disk work=$TEST_TMP/disk/work
kind='' before=''
mkdir "$disk"
on_ext4() {
	truncate -s 24M "$TEST_TMP/image" && mkfs.ext4 -q -F -m 0 -N 400 "$TEST_TMP/image" &&
		mount -o loop "$TEST_TMP/image" "$disk"
}
on_tmpfs() { mount -t tmpfs -o size=16M,nr_inodes=400 none "$disk"; }
on_user() { on_tmpfs; }
cordon() {
	if [ "$kind" = user ]; then
		HOME=$TEST_TMP/user setpriv --reuid=12345 --regid=12345 --clear-groups "$CORDON" "$@"
	else
		"$CORDON" "$@"
	fi
}
fresh() {
	cd / || exit 1
	mountpoint -q "$disk" && umount -l "$disk"
	rm -f "$TEST_TMP/image"
	"on_$kind" 2>/dev/null || return 1
	mkdir "$work" && cd "$work" || exit 1
	for i in $(seq 20); do head -c 20000 /dev/urandom >"small$i"; done
	mkdir d && for i in $(seq 30); do echo "$i" >"d/f$i"; done
	[ "$kind" != user ] || chown -R 12345:12345 "$disk"
	cordon run --headless -- true
	before=$(tree .)
}
free() { df --output=iavail "$disk" | tail -n 1 | tr -d ' '; }
fill() { # to the last inode, from outside
	mkdir "$disk/fill" && (i=1 && while : >"$disk/fill/$i"; do i=$((i + 1)); done) 2>/dev/null
}
there_and_back() { # NAME - the newest step is undone and redone, without a free inode
	local after
	after=$(tree .)
	isnt "$after" "$before" "$1: it changed something"
	is "$(free)" 0 "$1: no inode is free"
	ok "$1: undo" cordon undo
	same "$(tree .)" "$before" "$1: all is as it was"
	ok "$1: redo" cordon redo
	same "$(tree .)" "$after" "$1: all is as the agent left it"
	ok "$1: undo once more" cordon undo
	same "$(tree .)" "$before" "$1: and it worked"
}

by_the_agent() {
	fresh
	cordon run --headless -- bash -c 'for i in $(seq 5); do echo new >small$i; done; rm -r d; mkdir n; mv small9 n
		i=1; while : >x$i; do i=$((i + 1)); done; true' 2>/dev/null
	is $? 0 "$kind: the agent takes every inode, and its step is kept"
	there_and_back "$kind, by the agent"
}

by_somebody() {
	fresh
	cordon run --headless -- bash -c 'echo new >small1; until [ "$(df --output=iavail . | tail -n 1)" -eq 0 ]; do sleep 0.05; done
		mv small2 small3; rm -r d' 2>/dev/null &
	wait_for 20 grep -qx new small1 || fail "$kind: comes up"
	fill
	wait $!
	is $? 0 "$kind: somebody else takes them while a step runs, which is kept"
	there_and_back "$kind, by somebody"
}

killed() {
	local pid keeper
	fresh
	cordon run --headless -- bash -c 'echo new >small1; rm -r d; mv small2 small3; mkdir up; exec sleep 100' >/dev/null 2>&1 &
	wait_for 20 test -e up || fail "$kind: comes up"
	pid=$(cordon_of "^$CORDON run --headless -- bash -c echo new")
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	kill -KILL "$pid"
	wait
	wait_for 10 has_ended "$keeper"
	fill
	is "$(free)" 0 "$kind: no inode is free after a crash"
	ok "$kind: cordon starts" cordon run --headless -- true
	same "$(tree .)" "$before" "$kind: the step is rolled back"
	ok "$kind: redo has it" cordon redo
	there_and_back "$kind, after a crash"
}

too_few() {
	local out after free
	fresh
	cordon run --headless -- bash -c 'for i in $(seq 20); do echo more >>small$i; done; for i in $(seq 30); do echo more >>d/f$i; done'
	after=$(tree .)
	fill
	for free in 0 1 10; do
		for i in $(seq "$free"); do rm -f "$disk/fill/$i"; done
		out=$(cordon undo 2>&1)
		is $? 1 "$kind: with $free inodes an undo that needs more is refused"
		like "$out" 'too few free inodes: nothing has been changed: remove [0-9]+ files' "$kind: it says so"
		same "$(tree .)" "$after" "$kind: and nothing is changed"
	done
	rm -rf "$disk/fill"
	ok "$kind: with enough of them it is undone" cordon undo
	same "$(tree .)" "$before" "$kind: and all is as it was"
}

install -d -o 12345 -g 12345 "$TEST_TMP/user"
chmod 711 "$TEST_TMP"
for kind in ext4 tmpfs user; do
	if ! fresh; then
		skip "$kind" "this host cannot mount it"
		continue
	fi
	by_the_agent
	by_somebody
	killed
	too_few
	rm -rf "$disk/fill"
	cordon run --headless -- true
	is "$(find .cordon/spare -type f | wc -l)" 32 "$kind: with room again what was set aside is set aside again"
	ok "$kind: the store is sound" cordon journal verify
done
cd / || exit 1
done_testing
