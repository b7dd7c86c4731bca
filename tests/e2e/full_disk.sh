#!/bin/bash
# full_disk - the disk with the folder and the undo store becomes full: nothing is lost, undo works.
# SPDX-License-Identifier: MIT
# root only
[ -n "${FULL_DISK_INSIDE:-}" ] || FULL_DISK_INSIDE=1 exec unshare -m --propagation private "$0"
. "$(dirname "$0")/../support/lib.sh"
disk=$TEST_TMP/disk work=$TEST_TMP/disk/work
kind='' before='' images=$TEST_TMP
[ -d /dev/shm ] && images=$(mktemp -d /dev/shm/cordon-full.XXXXXX)
trap '[ "$images" = "$TEST_TMP" ] || rm -rf "$images"' EXIT
mkdir "$disk"

on_ext4() { # an image of its own: the kernel may still be taking the one before apart, in another namespace
	rm -f "$images/image"
	truncate -s 24M "$images/image" && mkfs.ext4 -q -F -m 0 -N 2000 "$images/image" &&
		mount -o loop "$images/image" "$disk"
}
# Files are not written in place: an existing block guarantees no space for the next byte.
on_btrfs() {
	rm -f "$images/image"
	truncate -s 128M "$images/image" && mkfs.btrfs -q "$images/image" >/dev/null && mount -o loop "$images/image" "$disk"
}
on_qgroup() { # a limit for the folder and its store
	on_btrfs && btrfs -q quota enable "$disk" && btrfs -q qgroup limit 24M "$disk"
}
on_qstore() { # for the store only, which is a subvolume
	on_btrfs && btrfs -q quota enable "$disk" && btrfs -q subvolume create "$disk/state" &&
		btrfs -q qgroup limit 16M "$disk/state"
}
on_xfs() {
	rm -f "$images/image"
	truncate -s 320M "$images/image" && mkfs.xfs -q "$images/image" && mount -o loop "$images/image" "$disk"
}
on_tmpfs() { mount -t tmpfs -o size=16M none "$disk"; }
on_user() { on_tmpfs; }
on_quota() { mount -t tmpfs -o size=200M,usrquota,usrquota_block_hardlimit=16M none "$disk"; }

# fresh - an empty disk, with a folder that cordon has seen
fresh() {
	cd / || exit 1
	mountpoint -q "$disk" && umount -l "$disk"
	"on_$kind" 2>/dev/null || return 1
	mkdir "$work" && cd "$work" || exit 1
	for i in $(seq 20); do head -c 20000 /dev/urandom >"small$i"; done
	mkdir d && for i in $(seq 30); do echo "$i" >"d/f$i"; done
	head -c 1500000 /dev/urandom >large
	ordinary && chown -R 12345:12345 "$disk"
	cordon run --headless -- true
	before=$(tree .)
}
ordinary() { [ "$kind" = quota ] || [ "$kind" = user ]; }
cordon() {
	if ordinary; then
		HOME=$TEST_TMP/user setpriv --reuid=12345 --regid=12345 --clear-groups "$CORDON" "$@"
	else
		[ "$kind" = qstore ] && local -x XDG_STATE_HOME=$disk/state
		"$CORDON" "$@"
	fi
}
fill() { # to the last block, from outside
	local who=() at=$disk
	[ "$kind" = qstore ] && at=$disk/state
	ordinary && who=(setpriv --reuid=12345 --regid=12345 --clear-groups)
	"${who[@]}" bash -c 'cat /dev/zero >"$1/fill"; cat /dev/zero >"$1/fill2"' fill "$at" 2>/dev/null
}
unfill() { rm -f "$disk"/fill* "$disk"/state/fill*; }

by_the_agent() {
	local after
	fresh
	cordon run --headless -- bash -c 'for i in $(seq 20); do echo new >small$i; done; rm -r d large
		mkdir n; mv small3 n; cat /dev/zero >filler; cat /dev/zero >filler2; true' 2>/dev/null
	is $? 0 "$kind: the agent fills the disk, and its step is kept"
	after=$(tree .)
	isnt "$after" "$before" "$kind: it changed something"
	ok "$kind: undo on the full disk" cordon undo
	same "$(tree .)" "$before" "$kind: all is as it was"
	ok "$kind: redo on the full disk" cordon redo
	same "$(tree .)" "$after" "$kind: all is as the agent left it"
	ok "$kind: undo once more" cordon undo
	same "$(tree .)" "$before" "$kind: and it worked"
}

by_somebody() {
	local out after
	fresh
	fill
	ok "$kind: cordon starts on a full disk" cordon run --headless -- true
	out=$(cordon run --headless -- bash -c ': >large' 2>&1)
	if [ "$kind" = xfs ] && [ -z "$out" ]; then # a clone: the part of the room that is lent is enough
		ok "$kind: what can be kept is, and comes back" cordon undo
	else
		like "$out" 'No space left|Disk quota' "$kind: what cannot be kept may not be overwritten"
	fi
	same "$(tree .)" "$before" "$kind: and is as it was"
	unfill
	cordon run --headless -- bash -c 'rm -r d; for i in $(seq 20); do echo x >small$i; done' ||
		fail "$kind: a step"
	fill
	ok "$kind: undo on a disk that somebody else has filled" cordon undo
	same "$(tree .)" "$before" "$kind: all is as it was"
}

# A folder that cordon has not seen: a store that cannot be completed is removed.
never_begun() {
	local free out refused=0
	fresh
	mkdir "$disk/new" && cd "$disk/new" || exit 1
	for free in 0 4 8 12 16 20; do
		head -c $((free * 1024)) /dev/zero >"$disk/pad"
		fill
		rm -f "$disk/pad"
		out=$(cordon run --headless -- true 2>&1) && { rm -rf .cordon && unfill && continue; }
		refused=$((refused + 1))
		is "$(ls -A)" "" "$kind: with $free KiB left it is refused and leaves nothing: $out"
		unfill
	done
	isnt $refused 0 "$kind: at least once there was too little"
	ok "$kind: with room it starts" cordon run --headless -- true
}

no_room() {
	local out after
	fresh
	cordon run --headless -- bash -c 'for i in $(seq 8); do head -c 300000 large >c$i; ln c$i e$i; done' ||
		fail "$kind: a step"
	before=$(tree .)
	cordon run --headless -- bash -c 'for i in $(seq 8); do echo changed >>c$i; done' ||
		fail "$kind: a second step"
	after=$(tree .)
	fill
	out=$(cordon undo 2>&1)
	is $? 1 "$kind: an undo that has no room is refused"
	like "$out" 'nothing has been changed: make [0-9]+ KiB of room' "$kind: it says how much it needs: $out"
	is "$(wc -l <<<"$out")" 1 "$kind: in one line"
	same "$(tree .)" "$after" "$kind: nothing changed"
	unfill
	ok "$kind: with room it is undone" cordon undo
	same "$(tree .)" "$before" "$kind: and is as it was"
}

# The disk becomes full during a step, and cordon's data is written and clean: each block may need a new one when it is
# written again.
meanwhile() {
	local out status
	fresh
	mkdir -p "$TEST_TMP/bin" && rm -f "$TEST_TMP/bin/go"
	cordon run --headless -- bash -c 'mv small1 moved; touch up; until [ -e "$1" ]; do sleep 0.1; done
		for i in $(seq 400); do mkdir "m$i" || f=1; chmod 700 "d/f$((i % 30 + 1))" || f=1; done
		for i in $(seq 2 20); do mv small$i d/s$i || f=1; rm d/s$i || f=1; done; echo "to the end"' sh "$TEST_TMP/bin/go" >"$TEST_TMP/said" 2>"$TEST_TMP/words" &
	wait_for 20 test -e up || fail "$kind: comes up"
	fill
	sync -f "$disk"
	touch "$TEST_TMP/bin/go"
	wait $!
	status=$?
	if [ $status = 125 ]; then # there was no room for the step's end either
		like "$(cat "$TEST_TMP/words")" "cordon: keep step .*redo brings them" "$kind: a step that is not kept is told"
	else
		is $status 0 "$kind: a session whose disk fills up goes on"
	fi
	is "$(cat "$TEST_TMP/said")" "to the end" "$kind: with errors at most"
	unfill
	# The next start rolls back a step that could not be kept.
	out=$(cordon undo 2>&1) || like "$out" 'nothing to undo|repaired first' "$kind: it was rolled back before: $out"
	same "$(tree .)" "$before" "$kind: all is as it was before the disk was full"
}

killed() {
	local pid
	fresh
	cordon run --headless -- bash -c 'rm -r d; for i in $(seq 20); do echo x >small$i; done
		cat /dev/zero >filler 2>/dev/null; mkdir up || { truncate -s -1M filler; mkdir up; }; exec sleep 100' >/dev/null 2>&1 &
	wait_for 20 test -e up || fail "$kind: comes up"
	pid=$(pgrep -f "^$CORDON run --headless -- bash -c rm -r d" | paste -sd' ')
	# shellcheck disable=SC2086 # one word each
	kill -KILL $pid
	wait
	fill
	ok "$kind: cordon starts after a crash on a full disk" wait_for 10 cordon run --headless -- true
	same "$(tree .)" "$before" "$kind: the step is rolled back"
	ok "$kind: redo has it" cordon redo
	ok "$kind: and undo" cordon undo
	same "$(tree .)" "$before" "$kind: is as it was"
}

install -d -o 12345 -g 12345 "$TEST_TMP/user"
chmod 711 "$TEST_TMP"
# Continuous integration runs one kind of each: in place, by copies, a user's quota, a limit for the store.
[ -z "${TEST_FEWER:-}" ] || : "${KINDS:=ext4 btrfs quota}" "${QUOTAS:=qstore}"
for kind in ${KINDS:-ext4 xfs btrfs tmpfs user quota}; do
	if ! fresh; then
		skip "$kind" "this host cannot mount it"
		continue
	fi
	by_the_agent
	by_somebody
	no_room
	[ "$kind" != tmpfs ] || never_begun # where freed blocks are available at once
	meanwhile
	killed
	ok "$kind: the store is sound" cordon log
done

# At such a limit even rm is refused. An undo has reserved space: if it is too little, the test requires one clear line,
# and no loss.
limit() { btrfs -q qgroup limit "$1" "$2"; }
at_the_limit() {
	local at=$disk out after
	fresh
	[ "$kind" = qstore ] && at=$disk/state
	cordon run --headless -- bash -c 'rm -r d; for i in $(seq 20); do echo x >small$i; done' || fail "$kind: a step"
	after=$(tree .)
	fill
	out=$(cordon run --headless -- bash -c ': >large; echo $?' 2>/dev/null)
	isnt "$out" 0 "$kind: what cannot be kept may not be overwritten"
	same "$(tree .)" "$after" "$kind: and is as it was"
	if out=$(cordon undo 2>&1 >/dev/null); then
		same "$(tree .)" "$before" "$kind: what is set aside is enough for an undo"
		limit none "$at"
		unfill
	else
		is "$(wc -l <<<"$out")" 1 "$kind: an undo is refused in one line: $out"
		like "$out" '[Qq]uota|audit log cannot be written|disk is full' "$kind: that says why"
		same "$(tree .)" "$after" "$kind: and nothing is changed"
		limit none "$at"
		unfill
		ok "$kind: above the limit it is undone" cordon undo
		same "$(tree .)" "$before" "$kind: all is as it was"
	fi
	ok "$kind: redone" cordon redo
	same "$(tree .)" "$after" "$kind: and as the agent left it"
	ok "$kind: the store is sound" cordon journal verify
}
for kind in ${QUOTAS:-qgroup qstore}; do
	if ! fresh; then
		skip "$kind" "this host cannot mount it"
		continue
	fi
	at_the_limit
	meanwhile
done
cd / || exit 1
done_testing
