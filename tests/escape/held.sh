#!/bin/bash
# held - opens that wait for an answer, while path, link, directory and signals change.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
# with: /dev/fuse
# timeout: 2400
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
use_backend
tries=$((${RACES:-20000} / 400 / ${TEST_FEWER:-1})) # each of them starts the answering program
dir=$HOME/work
mkdir -p "$dir/.git/hooks" "$HOME/other1" "$HOME/other2"
echo GRANTED >"$HOME/other1/f" && echo SECRET >"$HOME/other2/f"
cd "$dir" || exit 1
cp "$TOOLS/escape/held" . # where it may be run
granted=$HOME/other1/f secret=$HOME/other2/f hook=$dir/.git/hooks/granted evil=$dir/.git/hooks/refused
cat >"$TEST_TMP/answer" <<E2
#!/bin/sh
read -r line
echo "\$line" >>"$TEST_TMP/asked"
case \$line in
*'"path":"$granted"'* | *'"path":"$hook"'*) exit 0 ;;
esac
exit 1
E2
chmod +x "$TEST_TMP/answer"

inside() { # OPTIONS... -- COMMAND...
	: >"$TEST_TMP/asked"
	"$CORDON" run --headless --mode dynamic --set sandbox.read-gate="$gate" \
		--set approval.command="$TEST_TMP/answer" -- timeout 600 "$@" 2>&1
}
held() { # NUMBERS NAME REGEX ATTACK ARGS... ; REGEX: it was raced indeed
	local name="$1: $gate: $2" regex=$3 out
	shift 3
	out=$(inside ./held "$@")
	unlike "$out" ALLOWED "$name: never another one than was shown: $out"
	like "$out" "$regex" "$name: and both were asked for, $(wc -l <"$TEST_TMP/asked") times"
}

both='opened [1-9][0-9]* refused [1-9]'
gates="trap"
[ "$BACKEND" != native ] || [ ! -w /dev/fuse ] || gates="fuse trap"
for gate in $gates; do
	rm -f p1 p2 d1 d2 h1 h2
	ln -s "$granted" p1 && ln -s "$secret" p2
	ln -s "$HOME/other1" d1 && ln -s "$HOME/other2" d2
	ln -s "$hook" h1 && ln -s "$evil" h2
	held 3 "the bytes of the path" "$both" bytes "$granted" "$secret" "$tries"
	held 2,3 "a link" "$both" names p1 p2 p1 "$tries"
	held 4 "a directory" "$both" names d1 d2 d1/f "$tries"
	held 3 "the bytes of a path to write to" "$both" bytes-write "$hook" "$evil" "$tries"
	held 2,3 "a link to write to" "$both" names-write h1 h2 h1 "$tries"
	ok "3: $gate: what was refused was not made" test ! -e "$evil"
	held 24 "a storm of signals" 'opened [1-9]' storm "$granted" "$tries"
	ok "24: $gate: one wish is one question" test "$(wc -l <"$TEST_TMP/asked")" -le "$tries"
	rm -f "$hook"
done
ok "the audit log is whole" "$CORDON" audit verify
done_testing
