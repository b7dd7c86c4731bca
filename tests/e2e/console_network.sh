#!/bin/bash
# console_network - a host is asked about by name while its connection waits; the connections view.
# SPDX-License-Identifier: MIT
# drives: close-connection forbid
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/hosts.sh"
need_sandbox python3 ip unshare nsenter setpriv curl
hosts_enter "$@"
dir=$(new_folder work)
hosts_start
cat >"$dir/to.py" <<'E2'
import errno, socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2]))); s.sendall(b"ping"); print("got", s.recv(9).decode(), flush=True)
    if len(sys.argv) > 3: s.recv(9)
except OSError as e: print("failed", errno.errorcode.get(e.errno, e))
E2
printf "PS1='ready> '\nto() { /usr/bin/python3 to.py \"\$@\"; }\n" >"$dir/rc"
drop=
[ "$(id -u)" = 0 ] || drop="setpriv --inh-caps=-all --ambient-caps=-all -- "
start 130 40 "$dir" "$drop$CORDON run -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
sees 'network asks' "the status bar says that hosts are asked about"
sees '- asks you: other files and hosts' "what asks is told at the start"
sees '- allowed: this folder, [0-9]+ hosts: C-\] n' "how many hosts profiles open is told at the start"

# Held until the answer; and the name is not sent before.
type_text 'to good.example 7' && keys Enter
sees 'ASK connect +good.example:7' "a connection is asked about, by name and port"
is "$(grep -v 'in-addr\|ip6' "$HOSTS/names")" "" "39: the name was not asked for"
is "$(grep -v ' 53$' "$HOSTS/packets")" "" "36: nothing was sent"
keys C-] a
sees 'wants to connect to good.example:7' "the dialog shows the host"
choose s '\[session\]' "an answer for longer"
sees '\[this port\] +this host +this domain' "can be about more"
press_until 'got ping' "it goes on where it stopped" a
like "$(cat "$HOSTS/names")" "good.example" "now the name was asked for"
sees 'connect +good.example:7 +203.0.113.7' "the list has it, with its address"

# A name that leads to a private address is asked about twice.
keys C-] t
type_text 'to private.example 7' && keys Enter
sees 'ASK connect +private.example:7' "a name that nobody knows yet"
keys C-] a
press_until 'ASK connect +10.9.9.9:7' "38: once it is allowed, the private address is a question of its own" a
is "$(grep -c '10.9.9.9' "$HOSTS/packets")" 0 "nothing was sent there"
keys C-] a
sees '[Aa] private address' "with the reason"
press_until 'failed EACCES' "denied, it is refused" d

# From another terminal, and for a domain.
keys C-] t
type_text 'to other.example 7' && keys Enter
wait_for 10 sh -c "$drop'$CORDON' pending --json | grep -q other.example" || note "not pending"
like "$(cd "$dir" && plain "$CORDON" pending)" "connect.*other.example:7" "cordon pending lists it"
id=$(cd "$dir" && plain "$CORDON" pending --json | sed -n 's/.*"id":"*\([0-9]*\).*/\1/p' | head -n 1)
ok "cordon approve answers it" sh -c "cd '$dir' && $drop'$CORDON' approve $id --scope session"
sees 'got ping.*' "and it goes on"
type_text 'clear; to other.example 7 wait' && keys Enter
sees '^got ping' "the same again is not asked about"

keys C-] n
sees 'open +python3 +other.example:7 .* 4 B +4 B' "the connections view has it, with bytes"
sees 'closed +python3 +good.example:7' "and those that are over"
press_until 'failed ECONNRESET' "x closes it" x
press_until 'denied for this session: other.example' "F forbids the host" F
keys q
keys C-] t
type_text 'clear; to other.example 7' && keys Enter
sees 'failed (EACCES|-2|.*not known)' "it is refused now"
audit_has() { cordon_in "$dir" audit --json | grep -q "$1"; }
ok "the audit log has it" wait_for 10 audit_has '"decision".*other.example:7.*deny connecting'
type_text 'exit 0' && keys Enter
sees 'ended' "the shell ends"
keys C-] q
ended "cordon too" 0
kill "$servers"
done_testing
