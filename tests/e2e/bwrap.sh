#!/bin/bash
# bwrap - hosts where bubblewrap is missing, cannot be trusted, fails, or dies; and later mounts.
# SPDX-License-Identifier: MIT
# root only: other programs are mounted over /usr/bin/bwrap, in a mount namespace of the test's own
. "$(dirname "$0")/../support/lib.sh"
real=/usr/bin/bwrap
[ -x $real ] || skip_all "no bubblewrap in /usr/bin"
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -m --propagation shared "$0"
dir=$(new_folder work)
cd "$dir" || exit 1
run() { "$CORDON" run --headless --backend bwrap -- "$@" 2>&1; }
# instead FILE - FILE takes bubblewrap's place until umount
instead() { mount --bind "$1" $real; }
# refused REGEX NAME [PREFIX...] - status 125, a line with these words first, and doctor agrees
refused() {
	local regex=$1 name=$2 out
	shift 2
	out=$("$@" "$CORDON" run --headless --backend bwrap -- true 2>&1)
	is "$?" 125 "$name: refused"
	like "$(head -n 1 <<<"$out")" "^cordon: .*$regex" "$name: in words"
	out=$("$@" "$CORDON" doctor --json | grep '^{"backend":"bwrap","whole"')
	like "$out" '"whole":false' "$name: doctor agrees"
	ok "$name: native does not mind" "$@" "$CORDON" run --headless -- true
}

is "$(run sh -c 'echo works')" works "bubblewrap as it is"

printf '' >"$TEST_TMP/absent"
instead "$TEST_TMP/absent"
refused "not found" "absent"
umount $real

cp $real "$TEST_TMP/writable" && chmod 757 "$TEST_TMP/writable"
instead "$TEST_TMP/writable"
refused "written by others" "writable by others"
umount $real

printf '#!/bin/sh\necho "bwrap: no luck today" >&2\nexit 1\n' >"$TEST_TMP/fails" && chmod 755 "$TEST_TMP/fails"
instead "$TEST_TMP/fails"
refused "bwrap: no luck today" "failing"
umount $real

printf '#!/bin/sh\nexit 0\n' >"$TEST_TMP/mute" && chmod 755 "$TEST_TMP/mute"
instead "$TEST_TMP/mute"
refused "without a message" "mute"
umount $real

# It reports a child that it does not have: the id map of another process must not be changed.
printf '#!/bin/sh\nprintf "{ \\"child-pid\\": %%s }" $$ >&4\nexec 4>&-\nread x <&5\necho "bwrap: lost it" >&2\n' \
	>"$TEST_TMP/lies" && chmod 755 "$TEST_TMP/lies"
instead "$TEST_TMP/lies"
refused "map the user ids|lost it" "one that makes no namespaces"
umount $real

user=$(new_folder user)
mkdir "$user/home" "$user/folder" && cp "$CORDON" "$user/cordon" && chown -R 12345:12345 "$user/home" "$user/folder"
chmod 711 "$TEST_TMP" "$user"
if (cd "$user/folder" && setpriv --reuid=12345 --regid=12345 --clear-groups env HOME="$user/home" "$user/cordon" \
	run --headless --backend bwrap -- true 2>/dev/null); then
	cp $real "$TEST_TMP/suid" && chmod 4755 "$TEST_TMP/suid"
	instead "$TEST_TMP/suid"
	CORDON=$user/cordon
	cd "$user/folder" || exit 1
	refused "set-user-id" "set-user-id" setpriv --reuid=12345 --regid=12345 --clear-groups env HOME="$user/home"
	cd "$dir" && umount $real
else
	skip "set-user-id" "a user cannot run $user/cordon from here"
fi

# SIGKILL of bubblewrap while the agent runs: everything inside ends, and nothing is left.
mark=$(new_mark)
: >"$TEST_TMP/out"
(exec "$CORDON" run --headless --backend bwrap -- sh -c "(setsid sh -c ': $mark; sleep 300' &); echo up; sleep 300; : $mark") \
	>"$TEST_TMP/out" 2>&1 &
pid=$!
wait_for 10 grep -q up "$TEST_TMP/out"
ok "SIGKILL of bubblewrap" pkill -KILL -x bwrap -P "$(pgrep -P "$pid" -x cordon-keeper)"
ok "ends cordon" wait_for 10 bash -c "! kill -0 $pid"
ok "and leaves no process" wait_for 10 none_marked "$mark"
wait "$pid"
is "$(run sh -c 'echo again')" again "the next session starts"

# The host's later mounts stay outside, whoever made the namespaces.
mkdir -p "$TEST_TMP/later"
for backend in native bwrap; do
	: >"$TEST_TMP/out"
	"$CORDON" run --headless --mode static --backend $backend -- sh -c 'echo up; while [ ! -e go ]; do sleep 0.02; done
		ls "$1"; : >"$1/made"' sh "$TEST_TMP/later" >"$TEST_TMP/out" 2>/dev/null &
	pid=$!
	wait_for 10 grep -q up "$TEST_TMP/out"
	mount -t tmpfs later "$TEST_TMP/later" && : >"$TEST_TMP/later/shows" && : >go
	wait "$pid"
	is "$(cat "$TEST_TMP/out")" up "$backend: what the host mounts later does not show"
	is "$(ls "$TEST_TMP/later")" shows "$backend: nor take a write"
	umount "$TEST_TMP/later" && rm go
done
# A process is killed while bubblewrap starts: everything ends.
mark=$(new_mark)
begun() { keeper=$(pgrep -P "$pid" -x cordon-keeper) && bwrap=$(pgrep -P "$keeper" -x bwrap); }
gone() { none_marked "$mark" && ! pgrep -g "$bwrap"; } # its child is in its process group
for who in keeper bwrap; do
	left=0
	for _ in 1 2 3 4 5 6; do
		(cd "$dir" && exec "$CORDON" run --headless --backend bwrap -- sh -c "sleep 300; : $mark") >/dev/null 2>&1 &
		pid=$!
		wait_for 20 begun || fail "bubblewrap is at work"
		kill -KILL "${!who}" 2>/dev/null
		wait_for 10 gone || left=$((left + 1))
		wait "$pid" 2>/dev/null
	done
	is "$left" 0 "nothing is left where $who is killed at the start"
done
done_testing
