#!/bin/bash
# elsewhere - the manual's recipes: a phone by ntfy, a webhook, a reviewer that may ask the user.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3 curl
dir=$(new_folder work)
mkdir -p "$dir/.git/hooks" "$TEST_TMP/tools"
recipe() { # NAME: the literal block of the manual with that name in a comment, as a program
	awk -v name="# $1" '/^\.Bd/ { text = ""; on = 1; next } /^\.Ed/ { if (found) printf "%s", text; on = found = 0 }
		on { text = text $0 "\n"; found = found || index($0, name) == 1 }' tui/man/cordon-config.5 |
		sed 's/\\e/\\/g' >"$TEST_TMP/tools/$1"
	chmod +x "$TEST_TMP/tools/$1"
	[ -s "$TEST_TMP/tools/$1" ] || fail "the manual has $1"
}
# Plays ntfy: POST publishes to a topic, GET /TOPIC/raw streams its messages, one a line.
cat >"$TEST_TMP/ntfy.py" <<'P'
import http.server, queue, sys
topics = {}
def topic(name): return topics.setdefault(name, queue.Queue())
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print(self.path, self.headers.get("Title", "-"), self.headers["Content-Type"], text.strip(), file=sys.stderr, flush=True)
        topic(self.path.strip("/")).put(text.strip())
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def do_GET(self):
        self.send_response(200); self.end_headers()
        while True:
            self.wfile.write((topic(self.path.split("/")[1]).get() + "\n").encode()); self.wfile.flush()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True); server.serve_forever()
P
python3 "$TEST_TMP/ntfy.py" >"$TEST_TMP/port" 2>"$TEST_TMP/published" &
ok "a server like ntfy's" wait_for 15 test -s "$TEST_TMP/port"
NTFY=http://127.0.0.1:$(cat "$TEST_TMP/port")
export NTFY PATH=${CORDON%/*}:$PATH
publish() { curl -s -d "$2" "$NTFY/$1"; }
recipe cordon-notify
recipe cordon-listen
recipe cordon-review
"$TEST_TMP/tools/cordon-listen" >"$TEST_TMP/listen" 2>&1 &
asks() { # OPTIONS SCRIPT
	start 100 30 "$dir" "NTFY=$NTFY env -u TMUX $CORDON run $1 -- sh -c '$2; exec cat'"
}
published() { grep -Eq -- "$1" "$TEST_TMP/published"; }

asks "--set approval.notify=$TEST_TMP/tools/cordon-notify" 'echo x >.git/hooks/phone'
ok "the phone hears of it" wait_for 20 published '^/TOPIC cordon asks .* [0-9a-f]+-[0-9]+ [a-z]+ .*hooks/phone'
id=$(sed -nE 's,.* ([0-9a-f]+-[0-9]+) [a-z]+ .*hooks/phone.*,\1,p' "$TEST_TMP/published" | head -n 1)
publish TOPIC-ANSWERS 'approve $(touch '"$TEST_TMP"'/evil); x'
publish TOPIC-ANSWERS "uninstall $id"
publish TOPIC-ANSWERS "approve $id"
ok "its answer allows" wait_for 20 test -s "$dir/.git/hooks/phone"
ok "and other words do nothing" test ! -e "$TEST_TMP/evil"
asks "--set 'approval.notify=curl -s -m 20 --json @- $NTFY/hook'" 'echo x >.git/hooks/web'
ok "a webhook gets the JSON" wait_for 20 published '^/hook - application/json \{"session":"[^"]*","approve_id":"[0-9a-f]+-1","folder":"[^"]*/work","type":"event.fs_request".*hooks/web"'

# ---- the reviewer
mkdir -p "$HOME/reference" "$dir/docs/.git/hooks"
echo good >"$HOME/reference/a" && echo bad >"$HOME/reference/a.key"
asks "--set approval.command=$TEST_TMP/tools/cordon-review" "cat $HOME/reference/a; cat $HOME/reference/a.key; echo x >.git/hooks/doubt"
sees 'good' "what it knows is allowed"
sees 'a.key: Permission denied' "or denied"
sees '\? 1 |1 waiting|wants to write' "in doubt it asks the human"
ok "nothing was written" test ! -e "$dir/.git/hooks/doubt"
ok "who answers" "$CORDON" approve "$("$CORDON" pending | grep -Eo '^[0-9a-f]+-[0-9]+')"
ok "and it goes on" wait_for 15 test -s "$dir/.git/hooks/doubt"
close_all
(cd "$dir" && "$CORDON" run --headless --set "approval.command=$TEST_TMP/tools/cordon-review" -- \
	sh -c 'echo x >.git/hooks/headless') >/dev/null 2>&1
ok "without a human, doubt denies" test ! -e "$dir/.git/hooks/headless"
kill %1 %2 2>/dev/null
done_testing
