#!/bin/bash
# odd_hosts - containers and other hosts with missing features: run and doctor agree, and say what to do.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
dir=$(new_folder work)
cd "$dir" || exit 1
support=$(realpath "$(dirname "$0")/../support")
container() { env -u CORDON python3 "$support/refuse.py" "$@"; } # CALLS COMMAND...
starts() { # BACKEND CALLS - what doctor says of it: true or false
	container "$2" "$CORDON" doctor --json | sed -n 's/^{"backend":"'"$1"'","whole".*"starts":\([a-z]*\)}$/\1/p'
}
runs() { # BACKEND CALLS - what run does
	container "$2" "$CORDON" run --headless --backend "$1" -- true 2>said && echo true || echo false
}
agree() { # NAME CALLS
	local b
	for b in native landlock; do
		is "$(runs $b "$2")" "$(starts $b "$2")" "$1: run and doctor agree about $b"
	done
}
docker=unshare,setns,mount,open_tree,move_mount,fsopen,mount_setattr,namespaces
landlock=$("$CORDON" doctor --json | sed -n 's/^{"backend":"landlock","whole".*"starts":\([a-z]*\)}$/\1/p')

agree "Docker's profile" $docker,pidfd_getfd
for call in unshare setns mount namespaces; do agree "$call alone refused" $call; done
out=$(container $docker,pidfd_getfd "$CORDON" run --headless -- true 2>&1)
is "$?" 125 "native does not start there"
like "$out" "pidfd_getfd.*SYS_PTRACE|user namespaces.*container" "and says what the container would have to allow"
out=$(container $docker,pidfd_getfd "$CORDON" run --headless --backend landlock -- sh -c 'touch a; mkdir d; rm -r d' 2>&1)
is "$?" 125 "nor does landlock, which would break most programs"
like "$out" "pidfd_getfd.*docker run --cap-add SYS_PTRACE" "with the option that helps"
if [ "$landlock" = true ]; then
	agree "with --cap-add SYS_PTRACE" $docker
	out=$(container $docker "$CORDON" run --headless -- true 2>&1)
	like "$out" "here starts: .*--backend landlock" "native names the backend that starts"
	out=$(container $docker "$CORDON" run --headless --backend landlock -- sh -ec 'touch a; mkdir d; echo 1 >d/f; rm -r d
		tar cf t.tar a; rm a; tar xf t.tar; python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0))"' 2>&1)
	is "$?:$out" "0:" "landlock works as usual"
	ok "undo, too" container $docker "$CORDON" undo
	is "$(ls)" said "takes it back"
fi

in_user_namespace() { unshare -Ur "$@"; }
if in_user_namespace true 2>/dev/null; then
	out=$(in_user_namespace sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" run --headless -- true' "$CORDON" 2>&1)
	is "$?" 125 "no user namespaces are left"
	like "$out" "user.max_user_namespaces is 0" "is said by its name"
	out=$(in_user_namespace "$CORDON" run --headless -- sh -c 'echo made >file; ls -d /sbin' 2>&1)
	is "$?:$out:$(cat file)" "0:/sbin:made" "a namespace with one id alone"
fi

out=$("$CORDON" run --headless --ro "$(dirname "$CORDON")" -- "$CORDON" run --headless -- true 2>&1)
like "$out" "inside cordon already" "cordon in cordon"
unlike "$out" "on this host" "and names no setting of the host"
out=$("$CORDON" run --headless --ro "$(dirname "$CORDON")" -- "$CORDON" doctor 2>&1)
is "$?" 125 "doctor in cordon judges no host"
like "$out" "use another terminal" "and says where it does"
# Faults that keep each session from its start, whatever the backend.
refuses() { # NAME REGEX VARIABLE=VALUE... - run and doctor give the same reason
	local name=$1 regex=$2
	shift 2
	out=$(env "$@" "$CORDON" run --headless -- true 2>&1)
	is "$?" 125 "$name: no start"
	like "$out" "$regex" "$name: for a reason"
	out=$(env "$@" "$CORDON" doctor)
	is "$?" 1 "$name: doctor exits 1"
	like "$(tr -s ' \n' ' ' <<<"$out")" "MISSING [^>]*$regex" "$name: and has the reason"
	is "$(env "$@" "$CORDON" doctor --json | grep -c '"whole":true\|"starts":true')" 0 "$name: no backend starts"
}
mkdir -p "$TEST_TMP/wrong/cordon" && printf '[sandbox]\n\tmodus = x\n' >"$TEST_TMP/wrong/cordon/config"
refuses "wrong settings" "config:2: .*sandbox.modus" XDG_CONFIG_HOME="$TEST_TMP/wrong"
refuses "a file in place of the state directory" "Not a directory" XDG_STATE_HOME="$TEST_TMP/wrong/cordon/config"
refuses "a home that is no path" "HOME: not an absolute path" HOME=here
# Who may write there could trust settings, or put an undo store in place of another.
mkdir -p "$TEST_TMP/open/cordon" "$TEST_TMP/mine"
for how in "777 open" "1777 open/cordon"; do
	chmod "${how% *}" "$TEST_TMP/${how#* }"
	refuses "a state directory with mode $how" "$TEST_TMP/${how#* }: another user" XDG_STATE_HOME="$TEST_TMP/open"
	chmod 1777 "$TEST_TMP/open"
done
out=$(env XDG_STATE_HOME="$TEST_TMP/open" "$CORDON" undo 2>&1)
is "$?" 1 "undo reads no store there"
like "$out" "another user may write to this directory.*chmod o-w" "and says why"
ln -s "$TEST_TMP/open/cordon" "$TEST_TMP/mine/cordon"
refuses "a link to such a directory" "$TEST_TMP/mine/cordon: another user" XDG_STATE_HOME="$TEST_TMP/mine"
chmod 755 "$TEST_TMP/open/cordon"
ok "a sticky directory above it does" env XDG_STATE_HOME="$TEST_TMP/open" "$CORDON" run --headless -- true
if [ "$(id -u)" = 0 ]; then
	chown -h 54322:54322 "$TEST_TMP/mine/cordon"
	refuses "another user's link" "$TEST_TMP/mine/cordon: another user" XDG_STATE_HOME="$TEST_TMP/mine"
	chown 54322:54322 "$TEST_TMP/open/cordon"
	refuses "another user's directory" "$TEST_TMP/open/cordon: another user" XDG_STATE_HOME="$TEST_TMP/open"
fi
if [ "$(id -u)" != 0 ]; then
	mkdir -m 500 "$TEST_TMP/closed"
	refuses "a state directory that may not be written" "Permission denied" XDG_STATE_HOME="$TEST_TMP/closed"
fi

mkdir "$TEST_TMP/state"
home=$(getent passwd "$(id -u)" | cut -d: -f6)
if [ -n "$home" ]; then
	is "$(env -u HOME XDG_STATE_HOME="$TEST_TMP/state" XDG_CONFIG_HOME="$TEST_TMP/none" "$CORDON" run --headless -- sh -c 'echo $HOME')" \
		"$home" "without HOME the user's own home is taken"
else
	like "$(env -u HOME XDG_STATE_HOME="$TEST_TMP/state" "$CORDON" run --headless -- true 2>&1)" "HOME: " "without HOME"
fi
# A user's descriptors in flight are counted together: here a user that no other test is. Root is not counted.
other() { exec setpriv --reuid=54322 --regid=54322 --clear-groups env HOME="$TEST_TMP/other" "$@"; }
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$TEST_TMP"
	mkdir -p "$TEST_TMP/other/work" && chown -R 54322:54322 "$TEST_TMP/other"
	cp "$CORDON" "$TEST_TMP/cordon"
	cd "$TEST_TMP/other/work" || exit 1
	few() { (ulimit -n 100 && other "$TEST_TMP/cordon" run --headless --backend "$1" -- true 2>&1); }
	other python3 -c 'import socket, time
a, b = socket.socketpair()
for i in range(120): socket.send_fds(a, [b"x"], [0])
print("there", flush=True); time.sleep(600)' >"$TEST_TMP/held" &
	holder=$!
	ok "descriptors in flight" wait_for 60 test -s "$TEST_TMP/held"
	crowded=$(few native) crowded_landlock=$(few landlock)
	kill "$holder"
	wait "$holder" 2>/dev/null
	for b in native landlock; do
		[ $b = native ] || crowded=$crowded_landlock
		out=$(few $b) || { skip "$b with them" "another user cannot start it: ${out:0:200}" && continue; }
		like "$crowded" "Too many references.*ulimit -n" "more than a process may open: $b says so"
		unlike "$crowded" "Linux [0-9]|in a container" "and blames neither the kernel nor a container"
	done
	cd "$dir" || exit 1
fi
if [ "$(id -u)" = 0 ]; then
	out=$(unshare -m sh -ec 'mkdir -p "$1" && mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
		HOME=$1 exec "$0" run --headless -- true' "$CORDON" "$TEST_TMP/ro" 2>&1)
	like "$out" "Read-only file system: set XDG_STATE_HOME" "a home that is read-only"
	out=$(unshare -m sh -ec 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
		HOME=$1 exec "$0" doctor --json' "$CORDON" "$TEST_TMP/ro")
	is "$?" 1 "doctor, too"
	like "$out" '"state directory","ok":false.*Read-only file system","remedy":"set XDG_STATE_HOME' "says so"
	mkdir "$TEST_TMP/full"
	on_full() { # COMMAND... - with a state directory on a full file system
		unshare -m sh -ec 'state=$1; shift; mount -t tmpfs -o size=64k none "$state"
			head -c 65536 /dev/zero >"$state/fill"; XDG_STATE_HOME=$state exec "$@"' sh "$TEST_TMP/full" "$@"
	}
	like "$(on_full "$CORDON" run --headless -- true 2>&1)" "No space left on device" "a full disk"
	like "$(on_full "$CORDON" doctor --json)" '"state directory","ok":false.*No space left on device' "doctor says so, too"
	out=$(unshare -m sh -ec 'mkdir -p "$1"; mount -t tmpfs none "$1"; for n in null zero full random urandom; do
		: >"$1/$n"; mount --bind "/dev/$n" "$1/$n"; done; mkdir "$1/pts" "$1/shm"; mount --move "$1" /dev
		exec "$0" run --headless -- sh -c "echo works >/dev/stdout"' "$CORDON" "$TEST_TMP/dev" 2>&1)
	is "$out" works "a host without /dev/tty"
fi
done_testing
