# shellcheck shell=bash
# vm - shared by tests of the virtual machine: a kernel, settings, the processes of a session.
# SPDX-License-Identifier: MIT
[ "$(uname -m)" = x86_64 ] || skip_all "this backend runs on x86-64 only"
need qemu-system-x86_64
# The kernel is downloaded once for this tree (27 MB), by the same command as for users.
vm_tree=$PWD vm_kept=$PWD/build/vm vm_packages=$PWD/build/vm/cordon/vm/packages
# A kernel that was unpacked before guests had a network has no module for it.
vm_kernel() { [ -z "$(find "$vm_packages" -name 'virtio_net.ko*' 2>/dev/null)" ] || find "$vm_packages" -path '*/boot/vmlinuz-*' | head -n 1; }
if [ -z "$(vm_kernel)" ]; then
	mkdir -p "$vm_kept"
	exec 9<"$vm_kept" && flock 9 # another of these tests may use it
	if [ -z "$(vm_kernel)" ]; then
		vm_said=$(XDG_STATE_HOME=$vm_kept timeout 600 "$CORDON" vm build --download 2>&1) ||
			skip_all "no kernel can be had: $(tail -n 1 <<<"$vm_said")"
		note "$vm_said"
	fi
	exec 9<&-
fi
# vm_settings [LINES] - writes settings: this backend, a small guest, and the given lines.
vm_settings() {
	mkdir -p "$HOME/.config/cordon"
	printf '[sandbox]\n\tbackend = vm\n\tmode = static\n[vm]\n\tkernel = %s\n\tmemory = 512m\n\tdisk = 128m\n%s\n' \
		"$(vm_kernel)" "${1:-}" >"$HOME/.config/cordon/config"
}
# vm_part NAME MARK - the pid of a process of that name in the session whose command has MARK.
vm_part() {
	local p
	for p in $(pgrep -f -- "$2"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$1" ] || { echo "$p" && return; }
	done
	return 1
}
vm_qemu() { pgrep -P "$(vm_part cordon-monitor "$1")" | head -n 1; }
# guest_start FOLDER [SETTING=VALUE...] - starts one guest for all commands of guest_run.
guest_start() {
	guest_at=$TEST_TMP/guest.$RANDOM
	: >"$guest_at.out"
	(cd "$TEST_TMP" && exec python3 -B "$vm_tree/tests/support/vm_guest.py" serve "$guest_at" "$@" >"$guest_at.out" 2>"$guest_at.err" </dev/null) &
	guest=$!
	wait_for 120 eval 'grep -q ready "$guest_at.out" || ! kill -0 $guest' && grep -q ready "$guest_at.out" ||
		fail "a guest for many commands" "$(cat "$guest_at.err")"
}
guest_run() { python3 -B "$vm_tree/tests/support/vm_guest.py" run "$guest_at" "$@"; }
guest_call() { python3 -B "$vm_tree/tests/support/vm_guest.py" call "$guest_at" "$@"; } # OPERATION JSON
# guest_stop - returns the status of cordon serve; not in a subshell
guest_stop() { kill "$guest" && wait "$guest" 2>/dev/null; }
