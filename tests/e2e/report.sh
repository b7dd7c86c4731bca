#!/bin/bash
# report - a session as one page: turns, files, tests, answers, hosts with bytes, refusals, and hostile text.
# SPDX-License-Identifier: MIT
# root and user
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
hosts_folder "$@"
hosts_start
mkdir -p "$TEST_TMP/bin" "$HOME/.ssh" && echo key >"$HOME/.ssh/id_rsa"
printf '#!/bin/sh\n[ "$1" != bad ]\n' >"$TEST_TMP/bin/pytest" && chmod +x "$TEST_TMP/bin/pytest"
mkdir -p "$HOME/notes/old" "$HOME/notes/one" "$HOME/.config/cordon" && : >"$HOME/notes/old/is"
printf '[rule "t"]\n\tallow = write ~/notes/**\n\tdeny = write ~/notes/old/**\n\tdeny = write ~/notes/one/**\n' >"$HOME/.config/cordon/config"
secret=ghp_$(printf 'a%.0s' {1..36})

# ---- an agent with two turns
cat >"$TEST_TMP/bin/agent" <<A
#!/usr/bin/env python3
import json, os, socket, subprocess, sys, time
os.environ["PATH"] = "$TEST_TMP/bin:" + os.environ["PATH"]  # before a pytest of the system
def prompt(words):
    subprocess.run(["$CORDON", "hook"], text=True, capture_output=True, input=json.dumps(
        {"hook_event_name": "UserPromptSubmit", "cwd": os.getcwd(), "prompt": words}))
def run(*argv):
    subprocess.run(argv, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
prompt("fix <script>alert(1)</script> and @somebody, \`closes #1\` \u202eline $secret")
run("python3", "-c", "open('a.txt', 'w').write('one\\\\ntwo\\\\n'); open('b<i>\`\\\\x1b[31m', 'w').write('new\\\\n')")
run("pytest", "bad")
run("cat", "$HOME/.ssh/id_rsa")
run("sh", "-c", "echo x >/usr/no")
run("sh", "-c", "for f in 1 2 3 .env; do echo x >$HOME/notes/old/\$f; done; echo x >$HOME/notes/one/1; rm $HOME/notes/old/is")
run("sh", "-c", "sed -i s/one/ONE/ a.txt; echo three >>a.txt")
run("pytest", "good")
for _ in range(2):
    run("sh", "-c", ": look; : " + "x" * 142 + " $secret")
run("mkdir", "-p", "made/deeper")
run("sh", "-c", "echo note >$HOME/notes/note")
s = socket.create_connection(("good.example", 7), timeout=60)
s.sendall(b"x" * 3000)
got = 0
while got < 3000:
    got += len(s.recv(3000))
s.close()
time.sleep(1.5) # the bytes of a connection that is open at the end are those of a second ago
time.sleep(float(sys.argv[1]))
A
chmod +x "$TEST_TMP/bin/agent"
agent() { plain "$CORDON" run --headless --steps auto --allow-domain good.example -- agent "$@" >/dev/null 2>"$TEST_TMP/said"; }
report() { plain "$CORDON" report "$@"; }

out=$(report 2>&1)
is "$?:$out" "1:cordon: no session has run in this folder" "without a session"
agent 0
md=$(report)
is "$?" 0 "a report of a session that has ended"
like "$md" '1 prompt; 2 changed files, \+4 -0 lines' "it counts prompts, files and lines, no directories"
like "$md" 'and 1 outside the folder' "nor what lies outside the folder, which it says"
unlike "$md" '` made' "which it does not list, either"
unlike "$md" 'network.bytes' "nothing was sent in excess"
like "$md" '## Tests

- ` pytest bad ` exit 1
- ` pytest good ` exit 0' "tests with their exit status, though they changed nothing"
if [ -w /dev/fuse ]; then
	like "$md" '## Secrets that were tried

- ` look for ` ` [^ ]*/.ssh(/id_rsa)? `' "secrets that were tried"
else
	skip "secrets that were tried" "without FUSE nobody sees a look"
fi
like "$md" '- ` good.example:7 ` 1 connection, [23].[0-9] KiB sent, [23].[0-9] KiB received' "hosts with bytes"
like "$md" '## Turn 1, .*
```text
fix .*- ` a.txt ` \+3 -0' "a turn has its prompt and files"
like "$md" '### Refused.*/usr/no' "refusals"
unlike "$md" 'openat' "in words"
refused=$(sed -n '/^### Refused/,/^#* Undone/p' <<<"$md")
like "$refused" '` write ` in ` [^ ]*/notes/old `, 3 names: ` rule' "those of one rule in one directory are one line"
like "$refused" '` write ` ` [^ ]*/notes/old/.env `: ` rule' "but for a secret"
like "$refused" '` write ` ` [^ ]*/notes/one/1 `: ` rule' "a single one has its name"
like "$refused" '` delete ` ` [^ ]*/notes/old/is `: ` rule' "another act is another line"
like "$md" '`` b<i>`\\x1b\[31m ``' "in Markdown, a name is code, whatever is in it"
unlike "$md" "$secret|"$'\033'"|"$'\u202e' "no secret, no control character"
like "$md" ' line \*{40}' "but stars"
like "$md" '<details><summary>Commands that changed nothing \([0-9]+\)</summary>

(- .*
)*- ` : look; : x+ \*+… ` 2 times, exit 0
' "commands that changed nothing are folded, counted and cut, a secret at the cut starred"
unlike "$(sed -n '/^### Commands/,/^<details>/p' <<<"$md")" 'look|cat ' "they are not among those that changed something"

html=$(report --html)
like "$html" "default-src 'none'" "the page loads nothing"
unlike "$html" '<script|<i>|<a |src=|href=' "and nothing of the agent's is a tag"
like "$html" 'fix &lt;script&gt;alert\(1\)&lt;/script&gt;' "but text"
unlike "$html" "$secret|"$'\033'"|"$'\u202e' "and no secret, no control character"
python3 - "$html" <<'E2' && pass "it is well formed" || fail "it is well formed"
import html.parser, sys
class P(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",): self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
p = P()
p.feed(sys.argv[1])
assert not p.open, p.open
E2

# ---- by its name, from elsewhere, undone, while it runs
name=$(plain "$CORDON" audit --json | sed -n 's/.*"session":"\([^"]*\)","event":"session-start".*/\1/p' | tail -n 1)
ok "by the end of its name" report "${name##*-}" --md
out=$(report nothing 2>&1)
is "$?:$(grep -c "'nothing': no session" <<<"$out")" 1:1 "a name of no session"
out=$(report --md --html 2>&1)
is "$?" 125 "one format"
plain "$CORDON" undo -n 1 >/dev/null 2>&1
like "$(report "$name")" 'step [0-9]+, exit 0, undone' "a step that you undid says so"
same "$(report)" "$(report "$name")" "an undo from the command line is not the newest session"
config=$HOME/.config/cordon/config
cp "$config" "$TEST_TMP/config"
printf '[network]\n\tbytes = good.example\n' >>"$config"
agent 0
is "$?" 125 "network.bytes without a size is refused"
like "$(cat "$TEST_TMP/said")" "/config:[0-9]+: bad value 'good.example' for network.bytes: say HOST SIZE" "with file and line"
cp "$TEST_TMP/config" "$config"
printf '[network]\n\tbytes = *.example 1g\n\tbytes = good.example 2k\n\tbytes = * 0\n' >>"$config"
agent 60 &
running=$!
is_there() {
	out=$(report)
	[[ $out == *'the session still runs'* && $out == *' B sent'* ]] || [[ $out == *'the session still runs'*'KiB sent'* ]]
}
ok "a session that runs" wait_for 30 is_there
like "$(report)" 'the session still runs, or was killed' "has no end"

# ---- more than network.bytes
excess='[23]\.[0-9] KiB were sent to good.example:7: more than network.bytes = good.example 2k'
like "$(report)" "good.example:7 .*: . $excess" "the host's line says that more was sent than the setting"
is "$(grep -cE "$excess" "$TEST_TMP/said")" 1 "a headless run says so, once"
is "$(plain "$CORDON" audit --json | grep -c '"event":"excess"')" 1 "one line in the audit log"
kill $running
wait $running 2>/dev/null
done_testing
