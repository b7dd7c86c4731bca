#!/bin/bash
# approver - a command of the user answers questions: headless, in time, or not at all.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks"
bin=$TEST_TMP/bin
mkdir -p "$bin"
tool() { # NAME - a command from standard input
	cat >"$bin/$1"
	chmod +x "$bin/$1"
}
# Writes outside of grants and to protected files, which headless denies.
attempt() { # COMMAND-OF-APPROVER SCRIPT
	(cd "$dir" && "$CORDON" run --headless --set "approval.command=$1" -- bash -c "$2" 2>"$TEST_TMP/words")
}

is "$(cd "$dir" && "$CORDON" run --headless -- bash -c 'echo x >.git/hooks/none; echo $?' 2>/dev/null)" 1 \
	"without such a command it is denied"

tool yes <<E2
#!/bin/sh
cat >>$TEST_TMP/asked
E2
is "$(attempt "$bin/yes" 'echo x >.git/hooks/a && cat .git/hooks/a')" x "exit status 0 allows"
python3 - "$TEST_TMP/asked" <<'P' && pass "it got one line of JSON" || fail "it got one line of JSON" "$(cat "$TEST_TMP/asked")"
import json, sys
lines = open(sys.argv[1]).read().splitlines()
m = json.loads(lines[0])
assert len(lines) == 1 and m["type"] == "event.fs_request" and m["kind"] == "write"
assert m["path"].endswith("/.git/hooks/a") and m["directory"] is False
P
is "$(attempt "$bin/yes" 'for i in 1 2 3; do echo x >.git/hooks/n$i; done; cat .git/hooks/n*' | tr -d '\n')" xxx \
	"each is asked for itself"
is "$(wc -l <"$TEST_TMP/asked")" 4 "once each"
# Files that this step made need no name for a change of mode, unless the user was shown one: rsync sets modes like
# that.
cat >"$bin/by_descriptor" <<'P'
import os
fd = os.open(".git/hooks/by", os.O_RDWR | os.O_CREAT, 0o600)
os.fchmod(fd, 0o610)
os.close(fd)
fd = os.open(".git/hooks/by", os.O_RDONLY)
os.fchmod(fd, 0o711)
os.utime(fd, (5, 7))
os.chmod(f"/proc/self/fd/{fd}", 0o751)
P
is "$(attempt "$bin/yes" "python3 $bin/by_descriptor && stat -c '%a %Y' .git/hooks/by")" '751 7' \
	"what is changed by a descriptor that was opened for reading, too"

tool no <<'E2'
#!/bin/sh
exit 1
E2
is "$(attempt "$bin/no" '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "another status denies"
ok "nothing was made" test ! -e "$dir/.git/hooks/b"
is "$(attempt /nonexistent/command '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "a command that is not there denies"
is "$(attempt 'kill -9 $$' '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "one that dies denies"
is "$(attempt 'echo yes' '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "words that are no object deny"
is "$(attempt "echo '{\"allow\":false}'" '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "the object can deny"
is "$(attempt "echo '{\"scope\":\"once\",\"extent\":\"tree\"}'" '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 \
	"an answer that is not possible denies"
is "$(attempt "yes | head -c 100000000" '(echo x >.git/hooks/b) 2>/dev/null; echo $?')" 1 "a flood of words denies"

tool reads <<E2
#!/bin/sh
grep -q '"kind":"read"'
E2
touch "$dir"/f{1..9}
(cd "$dir" && "$CORDON" run --headless --set safeguard.deletes=5 --set "approval.command=$bin/reads" -- \
	sh -c 'rm f?') >/dev/null 2>&1
is "$(echo "$dir"/f? | wc -w)" 9 "one that allows reading allows no step that a safeguard holds"

: >"$TEST_TMP/asked"
tool session <<E2
#!/bin/sh
cat >>$TEST_TMP/asked
echo '{"scope":"session","extent":"tree"}'
E2
is "$(attempt "$bin/session" 'for i in 1 2 3; do echo x >.git/hooks/s$i; done; cat .git/hooks/s*' | tr -d '\n')" xxx \
	"a scope counts for the rest of the session"
is "$(wc -l <"$TEST_TMP/asked")" 1 "and is asked once"

began=$SECONDS
is "$(cd "$dir" && "$CORDON" run --headless --set approval.command="sleep 600 & echo \$! >$TEST_TMP/pid; sleep 600" --set approval.command-timeout=5 \
	-- bash -c '(echo x >.git/hooks/t) 2>/dev/null; echo $?' 2>/dev/null)" 1 "no answer in time denies"
ok "in its time" test $((SECONDS - began)) -lt 300
ok "what it started is gone" wait_for 10 has_ended "$(cat "$TEST_TMP/pid")"

# The agent cannot see the command, which does not run inside.
out=$(attempt 'cat >/dev/null; test "$CORDON" != 1' 'echo x >.git/hooks/e && echo made')
is "$out" made "it runs outside the sandbox"
like "$(cd "$dir" && "$CORDON" audit --json)" '"event":"decision"' "the audit log has the decisions"
# The metrics are compared with the log's own lines.
(cd "$dir" && "$CORDON" audit --metrics --json >"$TEST_TMP/metrics" && "$CORDON" audit --json >"$TEST_TMP/log")
python3 - "$TEST_TMP/metrics" "$TEST_TMP/log" <<'P' && pass "metrics are what the log says" || fail "metrics" "$(cat "$TEST_TMP/metrics")"
import json, sys
m = json.load(open(sys.argv[1]))
log = [json.loads(l) for l in open(sys.argv[2], encoding="utf-8", errors="surrogateescape")]
decisions = [l for l in log if l["event"] == "decision"]
waits = sorted(l["latency_us"] for l in decisions if "latency_us" in l)
assert m["sessions"] == sum(l["event"] == "session-start" for l in log) > 10
assert m["asked"] == sum(l["event"] in ("ask", "safeguard") for l in log) == len(decisions)
assert m["allowed"] == sum("errno" not in l for l in decisions) > 5
assert m["denied"] == sum("errno" in l for l in decisions) > 5
assert abs(m["wait_median_s"] - waits[(len(waits) * 50 + 99) // 100 - 1] / 1e6) < 1e-6
assert abs(m["wait_p99_s"] - waits[(len(waits) * 99 + 99) // 100 - 1] / 1e6) < 1e-6
P

tool told <<E2
#!/bin/sh
cat >>$TEST_TMP/told
E2
began=$SECONDS
(cd "$dir" && "$CORDON" run --headless --set approval.command="$bin/yes" --set approval.notify="$bin/told" \
	-- bash -c 'for i in $(seq 30); do echo x >.git/hooks/f$i; done' 2>&1)
wait_for 10 test -s "$TEST_TMP/told"
# Or once in ten seconds, if the flood took that long.
ok "approval.notify hears of a flood once" test "$(wc -l <"$TEST_TMP/told")" -le $((1 + (SECONDS - began) / 10))

# ---- who decided, and an approver that is broken
said_by() { (cd "$dir" && "$CORDON" audit --json) | grep '"event":"decision"' | tail -n 1 | sed -nE 's/.*"by":"([^"]*)".*/\1/p'; }
warned() { # WHAT COMMAND REGEX
	local out n
	attempt "$2" 'for i in 1 2 3; do (echo x >.git/hooks/w$i) 2>/dev/null; done; true'
	out=$(cat "$TEST_TMP/words")
	like "$out" "cordon: approval.command: $3: denied" "$1 is said"
	is "$(grep -c approval.command <<<"$out")" 1 "once"
	n=$( (cd "$dir" && "$CORDON" audit --json) | tac | sed '/"event":"session-start"/q' | grep -c '"event":"recovery".*"detail":"approval.command: ')
	is "$n" 1 "and recorded"
}
warned "a command that is not there" /nonexistent/command 'exit status 127: the shell cannot run it: check the path'
warned "one that a signal ends" 'kill -9 $$' 'a signal ended it'
warned "output that is no object" 'echo yes' 'its output is no JSON object'
warned "an unknown scope" "echo '{\"scope\":\"for ever\"}'" '.*scope.*'
is "$(said_by)" approval.command "a decision names the approver"
like "$(cd "$dir" && "$CORDON" run --headless --set approval.command="sleep 600" --set approval.command-timeout=1 \
	-- bash -c '(echo x >.git/hooks/late) 2>/dev/null; echo $?' 2>&1)" 'approval.command: no answer in time: denied' "a late one is said"
(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo x >.git/hooks/nobody' 2>/dev/null)
like "$(cd "$dir" && "$CORDON" audit --json | grep hooks/nobody)" '"by":"nobody: headless"' "a denial says that nobody was asked"
mkdir -p "$HOME/.config/cordon"
printf '[rule "never"]\n\tdeny = write %s/never\n' "$dir" >"$HOME/.config/cordon/config"
(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo x >never' 2>/dev/null)
like "$(cd "$dir" && "$CORDON" audit --json | grep '"path":"[^"]*/never"')" "\"by\":\"rule 'never' \\([^)]*/config:2\\)\"" "and which rule denies"
printf '[rule "mine"]\n\tallow = write $FOLDER/.envrc\n\tallow = write ~/open/**\n' >"$HOME/.config/cordon/config"
mkdir -p "$HOME/open"
(cd "$dir" && "$CORDON" run --headless -- sh -c 'echo x >.envrc; echo x >plain; echo x >~/open/new; mv plain ~/open/moved' 2>/dev/null)
out=$(cd "$dir" && "$CORDON" audit --json | tac | sed '/"event":"session-start"/q')
like "$(grep '"path":"[^"]*/.envrc"' <<<"$out")" "\"by\":\"rule 'mine' \\([^)]*/config:2\\)\"" "and which rule allows"
like "$(grep '"path":"[^"]*/open/new"' <<<"$out")" "\"by\":\"rule 'mine' \\([^)]*/config:3\\)\"" "outside, too"
unlike "$(grep '"path":"[^"]*/plain"' <<<"$out" | grep -v path2)" '"by"' "what needs no rule names none"
rm "$HOME/.config/cordon/config"

# Saved in the user's settings, and in effect at the next start.
tool always <<'E2'
#!/bin/sh
echo '{"scope":"user"}'
E2
is "$(attempt "$bin/always" 'echo x >.git/hooks/kept && echo ok')" ok "an answer for good is an answer"
like "$(cat "${XDG_CONFIG_HOME:-$HOME/.config}/cordon/config")" "write .*/.git/hooks/kept" "it is in the settings"
is "$(attempt "$bin/no" 'echo y >.git/hooks/kept && echo ok')" ok "and counts in the next session"
done_testing
