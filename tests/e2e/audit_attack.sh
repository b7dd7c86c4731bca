#!/bin/bash
# audit_attack - the audit log is changed behind cordon's back, and its disk becomes full.
# SPDX-License-Identifier: MIT
[ "$(id -u)" != 0 ] || [ -n "${AUDIT_INSIDE:-}" ] ||
	AUDIT_INSIDE=1 exec unshare -m --propagation private "$0"
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
state=$HOME/.local/state/cordon/audit
cd "$dir" || exit 1

"$CORDON" run --headless -- bash -c 'for i in 1 2 3 4 5 6; do echo $i >f$i; done; rm f1' || fail "a run"
"$CORDON" run --headless -- bash -c 'echo more >f2' || fail "a second run"
log=$(echo "$state"/*.ndjson)
n=$(wc -l <"$log")
cp -a "$state" "$TEST_TMP/kept"
ok "the log verifies" "$CORDON" audit verify

# attack NAME COMMAND... - with the log as $log, and its number of lines as $n
attack() {
	local name=$1 out
	shift
	"$@"
	out=$("$CORDON" audit verify 2>&1)
	isnt $? 0 "51: $name is seen: $out"
	is "$(wc -l <<<"$out")" 1 "51: $name: in one line"
	rm -rf "$state" && cp -a "$TEST_TMP/kept" "$state"
}
swap() { awk -v a="$1" 'NR == a { held = $0; next } { print } held != "" && NR == a + 1 { print held }' "$log" >new && cat new >"$log"; }
attack "a cut in the middle of a line" truncate -s -20 "$log"
attack "an edited path" sed -i "$((n / 2))s/f[0-9]/g9/" "$log"
attack "an edited time" sed -i "$((n / 2))s/20[0-9][0-9]-/1999-/" "$log"
attack "a line that is missing" sed -i "$((n / 2))d" "$log"
attack "a line that is doubled" sed -i "$((n / 2))p" "$log"
attack "two lines in another order" swap $((n / 2))
attack "the last line gone" sed -i '$d' "$log"
attack "the last half gone" sed -i "$((n / 2)),\$d" "$log"
attack "the first line gone" sed -i 1d "$log"
attack "everything gone" truncate -s 0 "$log"
attack "the log removed" rm "$log"
attack "the head removed" rm "$log.head"
attack "an older head" sed -i "1s/^[0-9]*/$((n / 2))/" "$log.head"
attack "a later run's lines before an earlier one's" bash -c \
	"{ tail -n 4 '$log'; head -n $((n - 4)) '$log'; } >new && cat new >'$log'"
rm -f new
ok "as it was, it verifies" "$CORDON" audit verify

# What cannot be logged is not performed.
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none "$state" 2>/dev/null; then
	# A change is logged after it was made, and on a busy machine much later: after ten, the test waits.
	mkdir -p "$TEST_TMP/bin" && : >"$TEST_TMP/said"
	told() { grep -q "/m$1\"" "$log" || grep -q 'audit log cannot be written' "$TEST_TMP/said" || has_ended "$pid"; }
	"$CORDON" run --headless -- bash -c 'i=0; while mkdir m$i && [ $i -lt 2000 ]; do
			[ $((i % 10)) != 9 ] || until [ -e "$1/told$i" ]; do sleep 0.01; done; i=$((i + 1)); done; echo "made $i"
		rm f2; echo no >f3' sh "$TEST_TMP/bin" >"$TEST_TMP/said" 2>&1 &
	pid=$!
	for ((i = 9; i < 2000; i += 10)); do
		wait_for 30 told $i && : >"$TEST_TMP/bin/told$i"
		! has_ended "$pid" || break
	done
	wait "$pid"
	out=$(cat "$TEST_TMP/said")
	made=$(sed -n 's/^made //p' <<<"$out")
	like "$out" 'mkdir: .*Input/output error' "51: a directory whose line finds no room is not made"
	ok "51: after $made that are in the log" test "${made:-9999}" -lt 2000 -a "${made:-0}" -gt 20
	like "$(cat f2 f3 2>&1)" '^more.3$' "51: nothing else is changed either"
	like "$out" 'audit' "and it is said: $(grep -a audit <<<"$out" | head -n 1)"
	mount -o remount,size=4m "$state"
	ok "with room again, cordon works" "$CORDON" run --headless -- bash -c 'echo again >f4'
	ok "and the log verifies" "$CORDON" audit verify
	seen=$("$CORDON" audit --json | grep -c '"op":"mkdir"\|/m[0-9]')
	# Changes in progress when the disk became full are missing.
	ok "it has $seen of $made" test "$seen" -ge $((made - 30))
	umount -l "$state"

	# A disk that is full for a while: space for the next lines is reserved.
	mount -t tmpfs -o size=80m none "$state"
	"$CORDON" run --headless -- bash -c 'mkdir up; until [ -e "$1/full" ]; do sleep 0.05; done
		for i in $(seq 300); do mkdir r$i || exit 1; done; echo "on the full disk"
		until [ -e "$1/room" ]; do sleep 0.05; done; mkdir last' sh "$TEST_TMP/bin" >"$TEST_TMP/said" 2>&1 &
	pid=$!
	wait_for 20 test -e up
	cat /dev/zero >"$state/fill" 2>/dev/null
	touch "$TEST_TMP/bin/full"
	ok "51: a session whose log finds the disk full goes on" wait_for 60 grep -q 'on the full disk' "$TEST_TMP/said"
	rm "$state/fill"
	touch "$TEST_TMP/bin/room"
	wait "$pid"
	is "$? $(wc -l <"$TEST_TMP/said")" "0 1" "without an error"
	ok "the log verifies" "$CORDON" audit verify
	is "$("$CORDON" audit --json | grep -c '/r[0-9]*"')" 300 "and has every change"
	ok "the space that is left is free again" test "$(du -k "$log" | cut -f1)" -lt 600
	cd / && umount -l "$state"
else
	skip "a full disk under the log" "needs root and a mount"
fi
done_testing
