#!/bin/bash
# read_gate - dynamic mode: reads without a rule are asked about, served, bound during the session, or refused.
# SPDX-License-Identifier: MIT
# also with: SANITIZED=1
# user only: root runs it with sanitizers
# with: /dev/fuse
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
kinds="trap"
[ ! -w /dev/fuse ] || kinds="fuse trap"

# ---- a home to be asked about ----------------------------------------------------------------------

mkdir -p "$HOME/work" "$HOME/mixed/shown" "$HOME/hides" "$HOME/tree/sub/deep" "$HOME/dir" "$HOME/.ssh" "$HOME/bin2" "$HOME/other"
for f in mixed/a mixed/shown/f hides/a hides/gone tree/a tree/sub/b tree/sub/deep/c dir/d other/o secret .ssh/key; do
	echo "content of $f" >"$HOME/$f"
done
head -c 3000000 /dev/urandom >"$HOME/large"
cp /bin/echo "$HOME/bin2/say"
printf '#!/bin/sh\necho from a script\n' >"$HOME/bin2/script" && chmod +x "$HOME/bin2/script"
ln -s ../secret "$HOME/work/link"
ln -s "$HOME/secret" "$HOME/dir/far"
ln "$HOME/secret" "$HOME/work/alias" # what a granted name leads to is granted
ln "$HOME/secret" "$HOME/other/twin"
printf "PS1='ready> '\nHISTFILE=\n" >"$HOME/work/rc"

# headless COMMAND... - without a user questions are denied. Cordon's messages are in $refused.
refused=$TEST_TMP/refused
# shellcheck disable=SC2016
headless() {
	(cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic --set "sandbox.read-gate=$gate" --set "reading.list=${lists:-free}" \
		-- sh -c 'exec "$@" 2>&1' sh "$@" 2>"$refused" </dev/null)
}

# ---- nobody is asked -------------------------------------------------------------------------------

names_show() {
	is "$(headless stat -c '%s %a' "$HOME/secret")" "$(stat -c '%s %a' "$HOME/secret")" \
		"$gate: attributes of what is not granted show"
	is "$(headless readlink "$HOME/dir/far")" "$HOME/secret" "$gate: so does where a link leads"
	ok "$gate: a name that is not there is not there" headless test ! -e "$HOME/nothing"
	ok "$gate: access is answered as outside" headless test -r "$HOME/secret" -a ! -x "$HOME/secret"
}

denied() { # NAME PATH
	local out
	out=$(headless cat "$2")
	like "$out" "Permission denied" "$gate: $1 is refused"
	unlike "$out" "content of" "$gate: $1 gives no byte"
}

every_way_is_refused() {
	local out
	denied "what is not granted" "$HOME/secret"
	denied "a path with dots" "$HOME/work/../secret"
	denied "a link out of the working folder" "$HOME/work/link"
	denied "a link behind the gate" "$HOME/dir/far"
	denied "another root" "/proc/self/root$HOME/secret"
	denied "a current directory's link" "/proc/self/cwd/../secret"
	denied "another name of the same file" "$HOME/other/twin"
	is "$(headless cat "$HOME/work/alias")" "content of secret" "$gate: a granted name of it is granted"
	like "$(headless ls "$HOME")" "dir" "$gate: names show"
	unlike "$(headless ls -a "$HOME")" "[.]ssh" "$gate: but not what is hidden"
	is "$(cat "$refused")" "" "$gate: for which nothing need be asked"
	like "$(lists=ask headless ls "$HOME/dir")" "Permission denied" "$gate: unless reading.list says so"
	lists=ask headless ls "$HOME/dir/" >/dev/null
	like "$(cat "$refused")" "/dir was refused" "$gate: nor with a slash behind it"
	like "$(headless "$HOME/bin2/say" ran)" "ermission denied" "$gate: a program is not run"
	cat >"$HOME/work/ways.py" <<'P'
import os, sys
path = sys.argv[1]
fd = os.open(path, os.O_PATH)
for name in ("/proc/self/fd/%d" % fd, "/dev/fd/%d" % fd):
    try: print(open(name).read())
    except OSError as e: print(e.strerror)
d = os.open(os.path.dirname(path), os.O_PATH)
try: print(os.read(os.open("secret", os.O_RDONLY, dir_fd=d), 100))
except OSError as e: print(e.strerror)
try: os.truncate(path, 0)
except OSError as e: print("kept")
P
	out=$(headless python3 ways.py "$HOME/secret")
	is "$out" $'Permission denied\nPermission denied\nPermission denied\nkept' \
		"$gate: nor through O_PATH, /proc/self/fd or a directory's descriptor"
}

refused_is_told() {
	headless sh -c 'cat ~/tree/a ~/tree/sub/b ~/tree/sub/deep/c ~/.ssh/key; ls ~' >/dev/null
	is "$(grep -c "was refused" "$refused")" 1 "$gate: what was refused is told once for each tree"
	like "$(cat "$refused")" 'reading ~/tree/\*\* was refused \(3 places, like ~/tree/' "$gate: with the rule that grants it"
	lists=ask headless ls "$HOME" >/dev/null
	like "$(cat "$refused")" "	allow = read $HOME$" "$gate: and never all of a home"
	headless cat "$HOME/.ssh/key" rc >/dev/null
	is "$(cat "$refused")" "" "$gate: not what is hidden"
}

# The same relative name from two directories, within the time of any cache.
begins_elsewhere() {
	mkdir "$HOME/many" && ln -s ../many "$HOME/work/to_many" && mkdir "$HOME/work/sub"
	for i in $(seq 30); do touch "$HOME/many/f$i" "$HOME/work/sub/f$i"; done
	cat >"$HOME/work/elsewhere.py" <<'P'
import os, sys
opened = refused = 0
for i in range(1, 31):
    for dir in ("sub", "../many"):
        try:
            if i % 3 == 0:
                os.chdir(dir); open("f%d" % i).close()
            elif i % 3 == 1:
                d = os.open(dir, os.O_PATH)
                try: os.close(os.open("f%d" % i, os.O_RDONLY, dir_fd=d))
                finally: os.close(d)
            else:
                open("%s/f%d" % (dir if dir == "sub" else "to_many", i)).close()
            opened += 1
        except PermissionError: refused += 1
        os.chdir(sys.argv[1])
print(opened, refused)
P
	is "$(headless python3 elsewhere.py "$HOME/work")" "30 30" "$gate: where a path begins is looked at each time"
	like "$(cat "$refused")" 'many/\*\* was refused \(30 places, like ~/many/' "$gate: and what is refused was asked for"
	rm -r "$HOME/many" "$HOME/work/to_many" "$HOME/work/sub"
}

hidden_is_not_there() {
	like "$(headless cat "$HOME/.ssh/key")" "No such file" "$gate: what is hidden does not exist"
	like "$(headless ls -d "$HOME/.ssh")" "No such file" "$gate: nor does its name"
}

# ---- a human is asked ------------------------------------------------------------------------------

waits() { "$CORDON" pending | grep -q -- "$1"; }
idle() { ! "$CORDON" pending | grep -q .; }
id_of() { # the end of a path
	"$CORDON" pending --json | python3 -c 'import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["path"].endswith(sys.argv[1]):
        print(m["session"].rsplit("-", 1)[1] + "-" + str(m["id"]))' "$1" | head -n 1
}
answer() { # approve|deny PATH ARGUMENTS... - to the question about PATH
	local verb=$1 path=$2
	shift 2
	wait_for 15 waits "$path" || note "nothing waits for $path"
	"$CORDON" "$verb" "$(id_of "$path")" "$@" >/dev/null
}

# in_session COMMAND - types it into the shell of the console; its output is in $HOME/work/out.
in_session() {
	rm -f "$HOME/work/done"
	type_text "( $1 ) >out 2>&1; touch done" && keys Enter
}
said() { # TEXT NAME
	if wait_for 15 test -e "$HOME/work/done"; then is "$(cat "$HOME/work/out")" "$1" "$2"; else
		fail "$2" "it still runs: $("$CORDON" pending)"
	fi
}

asked_and_answered() {
	in_session "cat ~/secret"
	answer approve /secret
	said "content of secret" "$gate: allowed, it is read, by the process that waited"
	in_session "cat ~/secret"
	answer deny /secret
	said "cat: $HOME/secret: Permission denied" "$gate: denied, it is refused"
	in_session "cat ~/large | cksum"
	answer approve /large --scope session
	said "$(cksum <"$HOME/large")" "$gate: a large file is served whole"
	in_session "cmp ~/large ~/large && echo same"
	said same "$gate: an answer for the session is not asked again"
	in_session "ls ~/dir"
	said $'d\nfar' "$gate: a directory is listed"
	in_session "cat ~/other/o & stat -c %s ~/secret; wait"
	wait_for 15 waits /other/o
	ok "$gate: nothing else waits for what is held" wait_for 10 grep -q . "$HOME/work/out"
	answer approve /other/o
	said "$(stat -c %s "$HOME/secret")"$'\n'"content of other/o" "$gate: and it goes on"
}

end_of_a_question() {
	in_session "timeout -s KILL 0.3 cat ~/dir/d; echo over"
	wait_for 15 waits /dir/d
	ok "$gate: a process that is killed is not waited for" wait_for 15 test -e "$HOME/work/done"
	ok "$gate: its question goes away" wait_for 15 idle
	in_session "(sleep 0.2; kill -INT \$BASHPID) & cat ~/dir/d; echo over"
	answer approve /dir/d
	ok "$gate: a signal to another does not end it" wait_for 15 grep -q "content of dir/d" "$HOME/work/out"
	wait_for 15 test -e "$HOME/work/done"
	in_session "python3 -c 'import signal, threading, time, os
signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
print(open(os.path.expanduser(\"~/dir/d\")).read().strip()); signal.setitimer(signal.ITIMER_REAL, 0)'"
	wait_for 15 waits /dir/d
	is "$("$CORDON" pending --json | grep -c /dir/d)" 1 "$gate: a storm of signals is one question"
	answer approve /dir/d
	said "content of dir/d" "$gate: and its answer counts"
}

tree_granted() {
	in_session "cat ~/tree/a"
	answer approve /tree/a --scope session --extent tree
	said "content of tree/a" "$gate: a tree is allowed"
	in_session "cat ~/tree/sub/deep/c; ls ~/tree/sub"
	said $'content of tree/sub/deep/c\nb\ndeep' "$gate: all below it is not asked about"
}

mounted_as() { # PATTERN - in the session's mounts, of ~/tree
	in_session "grep ' $HOME/tree ' /proc/mounts"
	wait_for 15 test -e "$HOME/work/done"
	grep -Eq -- "$1" "$HOME/work/out"
}
bound_live() {
	ok "$gate: it is native from then on" wait_for 15 mounted_as "$HOME/tree"
	ok "$gate: and sealed" mounted_as ' ro,(.*,)?nosuid,(.*,)?nodev|nosuid,nodev'
	in_session "cat ~/tree/sub/b; ls ~/tree"
	said $'content of tree/sub/b\na\nsub' "$gate: and what it was"
}

# A mount in the tree would be covered by it.
kept_behind_the_gate() {
	in_session "cat ~/mixed/a"
	answer approve /mixed/a --scope session --extent tree
	said "content of mixed/a" "$gate: a tree with a mount in it is allowed"
	in_session "cat ~/mixed/a; cat ~/mixed/shown/f; ls ~/mixed; grep -c ' $HOME/mixed ' /proc/mounts"
	said $'content of mixed/a\ncontent of mixed/shown/f\na\nshown\n0' \
		"$gate: it is readable, and stays behind the gate"
	in_session "cat ~/hides/a"
	wait_for 15 waits /hides/a
	ok "$gate: a tree with something hidden in it cannot be allowed" \
		refused "$(id_of /hides/a)" --scope session --extent tree
	answer approve /hides/a
	said "content of hides/a" "$gate: what lies beside it can"
}
refused() { ! "$CORDON" approve "$@"; }

# taken_back - revokes like the console's view of answers, through the session's socket.
taken_back() {
	local sock=$HOME/.local/state/cordon/run
	[ -z "${XDG_RUNTIME_DIR:-}" ] || sock=$XDG_RUNTIME_DIR/cordon
	cat >"$TEST_TMP/revoke.py" <<'P'
import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(60)
f = s.makefile("rwb")
for line in f:
    m = json.loads(line)
    if m["type"] == "event.rule" and m["path"].startswith(sys.argv[2] + "/") and not m["over"]:
        f.write(json.dumps({"type": "cmd.revoke", "rule": m["rule"]}).encode() + b"\n"); f.flush()
    if m["type"] == "reply": sys.exit(not m["ok"])
P
	ok "$gate: the answer is taken back" python3 "$TEST_TMP/revoke.py" "$sock"/*.sock "$HOME/tree"
	behind() { ! mounted_as "$HOME/tree"; }
	ok "$gate: the gate stands there again" wait_for 15 behind
	in_session "cat ~/tree/sub/b"
	answer deny /tree/sub/b
	said "cat: $HOME/tree/sub/b: Permission denied" "$gate: and asks"
}

programs_run() {
	in_session "exec ~/bin2/say it runs"
	answer approve /bin2/say --scope session
	said "it runs" "$gate: a program is run once it is allowed"
}

with_a_human() {
	start 120 30 "$HOME/work" \
		"$CORDON run --mode dynamic --set sandbox.read-gate=$gate --hide $HOME/hides/gone --ro $HOME/mixed/shown \
-- bash --noprofile --rcfile rc -i"
	sees 'ready>' "$gate: a session runs"
	asked_and_answered
	end_of_a_question
	tree_granted
	[ "$gate" != fuse ] || bound_live
	[ "$gate" != fuse ] || kept_behind_the_gate
	[ "$gate" != fuse ] || taken_back
	[ "$gate" != fuse ] || programs_run
	type_text exit && keys Enter
	sees 'ended with' "$gate: it ends"
	keys C-] q
	ended "$gate: and the console with it" 0
}

# The device exists, but the kernel refuses to mount for it.
no_fuse() {
	unshare -m sh -c 'mount --bind /dev/null /dev/fuse && cd "$HOME/work" && exec "$@"' sh \
		"$CORDON" run --headless --mode dynamic "$@" -- sh -c 'cat ~/secret; echo ran' 2>&1 </dev/null
}
if [ "$(id -u)" = 0 ]; then
	out=$(no_fuse --set sandbox.read-gate=auto)
	like "$out" "Permission denied.*ran" "where FUSE cannot be mounted every open is trapped"
	out=$(no_fuse --set sandbox.read-gate=fuse)
	like "$out" "mount the read gate" "where it was asked for by name, nothing runs"
	unlike "$out" "ran" "and nothing did"
fi

# The gate's end is reported.
if [ -w /dev/fuse ]; then
	(cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic -- sh -c 'touch ready; until [ -e go ]; do sleep 0.05; done') 2>"$refused" &
	wait_for 60 test -e "$HOME/work/ready" || fail "a session runs" "$(cat "$refused")"
	kill -KILL "$(pgrep -P "$(pgrep -P $! -x cordon-keeper)" -x cordon-gate)"
	ok "a gate that ends is told of" wait_for 20 grep -q "the read gate has ended" "$refused"
	touch "$HOME/work/go" && wait $! && pass "and the session goes on"
	rm -f "$HOME/work/ready" "$HOME/work/go"
fi

for gate in $kinds; do
	names_show
	every_way_is_refused
	refused_is_told
	begins_elsewhere
	hidden_is_not_there
	with_a_human
done
done_testing
