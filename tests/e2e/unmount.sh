#!/bin/bash
# unmount - after cordon has ended, none of its processes holds the working folder's disk.
# SPDX-License-Identifier: MIT
# root only: it mounts
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
[ "$(id -u)" = 0 ] || skip_all "only root mounts"
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -m "$0"
rounds=${ROUNDS:-12}
disk=$(new_folder disk)
export XDG_STATE_HOME=$disk/state

once() { # MODE - a session with watched directories and a kept step
	mount -t tmpfs none "$disk" && mkdir -p "$disk/work/a/b/c" && cd "$disk/work" || return 1
	"$CORDON" run --headless --mode "$1" -- sh -c 'for i in 1 2 3; do echo $i >f; mkdir -p a/d$i; done; sleep 0.1' || return 1
	cd /
	umount "$disk" && return
	umount -l "$disk"
	return 1
}
for mode in static dynamic; do
	busy=0
	for _ in $(seq "$rounds"); do
		once "$mode" >"$TEST_TMP/out" 2>&1 || busy=$((busy + 1))
	done
	is "$busy" 0 "$mode: of $rounds disks unmounted at once, busy ones"
done
done_testing
