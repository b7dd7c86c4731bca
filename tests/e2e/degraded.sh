#!/bin/bash
# degraded - hosts with missing features: every backend names them, and no weaker sandbox is started.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
dir=$(new_folder work)
cd "$dir" || exit 1

# refused REGEX NAME HOST... - on that host the start is refused in cordon's own words, and no command ran
refused() {
	local regex=$1 name=$2 out
	shift 2
	out=$("$@" "$CORDON" run --headless --backend "$backend" -- touch ran 2>&1)
	is "$?" 125 "$backend, $name: refused"
	like "$out" "$regex" "$backend, $name: in words"
	is "$(grep -vc '^cordon: ' <<<"$out")" 0 "$backend, $name: and no others'"
	like "$out" "the backend $backend does not start on this host" "$backend, $name: as doctor says it"
	ok "$backend, $name: nothing ran" test ! -e ran
	unlike "$("$@" "$CORDON" doctor --json | grep "^{\"backend\":\"$backend\",\"whole\"")" '"whole":true' "$backend, $name: doctor agrees"
}

no_namespaces() { # a user namespace whose owner may make no more of them
	unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"
}
mkdir "$TEST_TMP/root"
in_chroot() { # where the kernel makes no user namespace at all
	# shellcheck disable=SC2016 # the inner shells expand it
	unshare --user --map-root-user --mount sh -c 'mount --rbind / "$0" && exec chroot "$0" sh -c '\''cd "$0" && exec "$@"'\'' "$PWD" "$@"' \
		"$TEST_TMP/root" "$@"
}
# without NUMBER... -- COMMAND... - these system calls are unknown to the kernel
cat >"$TEST_TMP/without.py" <<'E2'
import ctypes, os, struct, sys
at = sys.argv.index("--")
calls = [int(n) for n in sys.argv[1:at]]
code = struct.pack("HBBI", 0x20, 0, 0, 0)  # the number
for i, nr in enumerate(calls):
    code += struct.pack("HBBI", 0x15, len(calls) - i, 0, nr)
code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000) + struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 38)
buf = ctypes.create_string_buffer(code)
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buf)))
c = ctypes.CDLL(None)
if c.prctl(38, 1, 0, 0, 0) or c.prctl(22, 2, prog, 0, 0): sys.exit("no filter")
os.execvp(sys.argv[at + 1], sys.argv[at + 1:])
E2
without() { python3 "$TEST_TMP/without.py" "$@"; }
no_landlock() { without 444 445 446 -- "$@"; }
mkdir -p "$TEST_TMP/off/cordon" && printf '[sandbox]\n\tlandlock = off\n\tmode = static\n' >"$TEST_TMP/off/cordon/config"
no_seals() { without 442 -- "$@"; } # mount_setattr

# shellcheck disable=SC2016 # the inner shell expands it
no_fuse() { unshare --user --map-root-user --mount sh -c '[ ! -e /dev/fuse ] || mount --bind /dev/null /dev/fuse; exec "$@"' sh "$@"; }
like "$(no_fuse "$CORDON" doctor --json | grep '"backend":"native","probe":"read gate (FUSE)"')" 'from the next session on"}$' \
	"no /dev/fuse: the advice is whole"

for backend in $("$CORDON" doctor --json | sed -n 's/^{"backend":"\([a-z]*\)",.*"starts":true.*/\1/p' | grep -vx vm); do # a boot takes seconds: vm.sh
	is "$("$CORDON" run --headless --backend "$backend" -- echo up)" up "$backend: starts where all is there"
	if [ "$backend" = landlock ]; then
		is "$(no_namespaces "$CORDON" run --headless --backend landlock -- echo up 2>/dev/null)" up "landlock: needs no namespaces"
		refused 'Landlock' "no Landlock" no_landlock
	else
		refused 'namespace' "no user namespaces" no_namespaces
		like "$(no_namespaces "$CORDON" doctor 2>&1 | tr -s ' \n' ' ')" 'own /proc unshare: [^>]*-> it needs user namespaces' \
			"$backend, no user namespaces: what needs them names no other cause"
		refused 'namespace' "in a chroot" in_chroot
		like "$(in_chroot "$CORDON" doctor 2>&1 | tr -s ' \n' ' ')" 'in a chroot.*--backend landlock' "$backend, in a chroot: doctor says what to do"
		refused 'Landlock.*sandbox.landlock=off' "no Landlock" no_landlock
		refused 'read-only' "no recursive seal" no_seals
		is "$(no_landlock "$CORDON" run --headless --backend "$backend" --mode static --set sandbox.landlock=off -- echo up 2>/dev/null)" up \
			"$backend: the mounts alone, when that is asked for"
		is "$(XDG_CONFIG_HOME=$TEST_TMP/off no_landlock "$CORDON" run --headless --backend "$backend" -- echo up 2>/dev/null)" up \
			"$backend: and when the settings do"
		like "$(XDG_CONFIG_HOME=$TEST_TMP/off no_landlock "$CORDON" doctor --json | grep "^{\"backend\":\"$backend\",\"whole\"")" \
			'"whole":false,"files":false.*"starts":true' "$backend: which doctor reads"
	fi
done

# A setting that this host does not support: doctor and run refuse it in the same words.
config=$TEST_TMP/set/cordon/config
mkdir -p "${config%/*}"
# same PROBE BACKEND TEXT NAME HOST... - these settings keep the backend from starting there; PROBE of doctor says so
same() {
	local probe=$1 backend=$2 name=$4 out words=
	printf '%b' "$3" >"$config"
	shift 4
	out=$(XDG_CONFIG_HOME=$TEST_TMP/set "$@" "$CORDON" run --headless --backend "$backend" -- touch ran 2>&1)
	is "$?" 125 "$backend, $name: refused"
	[ "$probe" != settings ] || words=$(sed -n 's/^cordon: //p' <<<"$out" | head -n 1)
	out=$(XDG_CONFIG_HOME=$TEST_TMP/set "$@" "$CORDON" doctor --json | grep "^{\"backend\":\"$backend\"")
	like "$out" '"starts":false' "$backend, $name: doctor agrees"
	has "$out" "\"probe\":\"$probe\",\"ok\":false,\"needed\":true,\"found\":\"${words%%: *}" "$backend, $name: in the same words"
}
has() { case $1 in *"$2"*) pass "$3" ;; *) fail "$3" "no '$2' in: $1" ;; esac; }
no_cgroup() { unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh "$@"; }
fuse='[sandbox]\nread-gate = fuse\n'
same "read gate (FUSE)" native "$fuse" "read-gate = fuse without /dev/fuse" no_fuse
same settings bwrap "$fuse" "read-gate = fuse" env
same settings native '[sandbox]\nmemory = 1g\n' "memory without a cgroup" no_cgroup
same "read gate (FUSE)" native '[sandbox]\nlandlock = off\n' "landlock = off without /dev/fuse" no_fuse
same settings native '[sandbox]\nlandlock = off\nread-gate = trap\n' "neither Landlock nor the gate" env
same settings bwrap "[sandbox]\\noverlay = $HOME\\n" "overlay" env
same settings landlock '[sandbox]\nlandlock = off\n' "landlock = off" env
printf '[rule "x"]\nallow = frob ~/x\n' >"$config"
like "$(XDG_CONFIG_HOME=$TEST_TMP/set "$CORDON" doctor --json)" '"probe":"settings","ok":false,"needed":true,"found":"[^"]*/config:2: ' "a rule that no session takes"
printf '[sandbox]\nbackend = frob\n' >"$config"
like "$(XDG_CONFIG_HOME=$TEST_TMP/set "$CORDON" doctor --json)" "\"found\":\"backend 'frob': there is none of that name" "a backend that there is not"
done_testing
