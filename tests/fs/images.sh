#!/bin/bash
# images - undo on ext4, xfs, btrfs and tmpfs, with the store on the same file system and in the folder.
# SPDX-License-Identifier: MIT
# root only: it mounts images of those file systems
. "$(dirname "$0")/../support/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "only root mounts images"
need losetup
tree=$PWD
# In its own mount namespace: however this test ends, its mounts are removed, and with them the loop devices (which are
# detached after the last use).
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare -m true 2>/dev/null || skip_all "no mount namespaces here"
	IN_NAMESPACE=1 exec unshare -m --propagation private "$tree/tests/fs/images.sh"
fi
images=$TEST_TMP
[ -d /dev/shm ] && images=$(mktemp -d /dev/shm/cordon-images.XXXXXX) && chmod 755 "$images"
# At a place that an ordinary user can enter, and not below /tmp, of which the sandbox has its own.
mounts=$(mktemp -d /srv/cordon-images.XXXXXX) && chmod 755 "$mounts"
trap 'cd /; umount -l "$mounts"/*/ 2>/dev/null; rmdir "$mounts"/*/ "$mounts"; [ "$images" = "$TEST_TMP" ] || rm -rf "$images"' EXIT

# mount_one TYPE DIR - 1: skipped, with the reason
mount_one() {
	mkdir -p "$2"
	if [ "$1" = tmpfs ]; then
		mount -t tmpfs -o size=256m,mode=755 tmpfs "$2"
		return
	fi
	command -v "mkfs.$1" >/dev/null || { skip "$1" "mkfs.$1 is not here" && return 1; }
	truncate -s 400M "$images/$1" && "mkfs.$1" -q "$images/$1" >/dev/null 2>&1 &&
		mount -o loop "$images/$1" "$2" 2>"$TEST_TMP/err" ||
		{ skip "$1" "cannot be mounted: $(head -n 1 "$TEST_TMP/err")" && return 1; }
	rm -f "$images/$1" # the loop device holds it
}

# e2e SCRIPT - an end-to-end test with its home (and state) and folder at HOME and TEST_TMP
e2e() {
	(cd "$tree" && bash "tests/e2e/$1" 2>&1) >"$images/out" || { grep -v '^ok' "$images/out" && return 1; }
}

: "${IMAGES_N:=$((60 / ${TEST_FEWER:-1}))}"
types=(ext4 xfs btrfs tmpfs)
[ -z "${TEST_FEWER:-}" ] || types=(xfs btrfs) # on the others model.sh and all else run in any case
for type in "${types[@]}"; do
	at=$mounts/$type
	mount_one "$type" "$at" || continue
	is "$(findmnt -no FSTYPE "$at")" "$type" "$type is mounted"
	mkdir -p "$at/model" "$at/home" "$at/t"
	ok "$type: the model" "$TOOLS/model/model" -d "$at/model" -n "$IMAGES_N" -s 1000 -j 2
	ok "$type: the model, the store in the folder" \
		"$TOOLS/model/model" -d "$at/model" -e "$images" -n "$IMAGES_N" -s 2000 -j 2
	export TEST_TMP_SAVED=$TEST_TMP HOME_SAVED=$HOME
	for where in 'on the same' 'in the folder'; do
		TEST_TMP=$at/t
		[ "$where" = "on the same" ] && export HOME=$at/home
		ok "$type: undo from the command line, the store ${where}" e2e headless_undo.sh
		TEST_TMP=$TEST_TMP_SAVED HOME=$HOME_SAVED
		rm -rf "${at:?}/t" && mkdir "$at/t"
	done
	umount "$at" || umount -l "$at"
done
no_loop() { ! losetup -a | grep -q "$images"; }
ok "no loop device is left" wait_for 10 no_loop # the kernel takes it apart by the way
done_testing
