#!/bin/bash
# differential - the same random file calls natively and inside: same results, same tree; then undo.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
[ -x "$TOOLS/support/fsfuzz" ] || skip_all "fsfuzz is not built"
calls=${FSFUZZ_CALLS:-3000}

# Inside, the folder is a mount (RESOLVE_NO_XDEV shows it); so the native run uses a mount as well.
on_a_mount() { # DIR COMMAND...
	if [ "$(id -u)" = 0 ]; then
		unshare -m sh -c 'mount --bind "$0" "$0" && cd "$0/run" && exec "$@"' "$@"
	else
		unshare --user --map-root-user --mount sh -c 'mount --bind "$0" "$0" && cd "$0/run" &&
			exec unshare --user --map-user="$UID_OUTSIDE" --map-group="$UID_OUTSIDE" "$@"' "$@"
	fi
}
UID_OUTSIDE=$(id -u)
export UID_OUTSIDE

for seed in ${FSFUZZ_SEEDS:-1 2 3 4 5 6}; do
	# paths of the same length on both sides, because some calls depend on it
	a=$(new_folder "a$seed") b=$(new_folder "b$seed")
	mkdir "$a/run" "$b/run" && echo old >"$b/old" && touch -d 2001-01-01 "$b/run"
	before=$(tree "$b")
	on_a_mount "$a" "$TOOLS/support/fsfuzz" "$seed" "$calls" "$a/run" >"$TEST_TMP/native" 2>&1
	r=$?
	in_folder "$b" sh -c 'cd run && exec "$@"' sh "$TOOLS/support/fsfuzz" "$seed" "$calls" "$b/run" >"$TEST_TMP/inside" 2>&1
	is "$?" "$r" "seed $seed: exit status"
	sed -i "s|$a|DIR|g" "$TEST_TMP/native" && sed -i "s|$b|DIR|g" "$TEST_TMP/inside"
	if [ "$(id -u)" = 0 ]; then
		# mode bits do not stop root outside, but root inside has no capabilities
		skip "seed $seed: results" "compared as an ordinary user"
	elif cmp -s "$TEST_TMP/native" "$TEST_TMP/inside"; then
		pass "seed $seed: $(wc -l <"$TEST_TMP/native") lines are equal"
	else
		fail "seed $seed: results" "$(diff "$TEST_TMP/native" "$TEST_TMP/inside" | head -n 20)"
	fi
	after=$(tree "$b")
	isnt "$after" "$before" "seed $seed: there is something to undo"
	ok "seed $seed: undo" cordon_in "$b" undo
	same "$(tree "$b")" "$before" "seed $seed: as before"
	ok "seed $seed: redo" cordon_in "$b" redo
	same "$(tree "$b")" "$after" "seed $seed: as after"
	chmod -R u+rwx "$a" "$b" 2>/dev/null
	rm -rf "$a" "$b"
done
done_testing
