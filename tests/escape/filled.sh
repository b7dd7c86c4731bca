#!/bin/bash
# filled - an external program saves a protected file by way of a file that a process inside also has.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
# shellcheck disable=SC2016 # expanded inside
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
mkdir -p "$TEST_TMP/bin"

# holds HOW TEMP... - the agent has these files before the external program uses them, and writes to them when it gets
# the order.
cat >"$TEST_TMP/bin/holds" <<'P'
#!/usr/bin/python3
import ctypes, mmap, os, subprocess, sys, time
how, temps = sys.argv[1], sys.argv[2:]
EVIL = b"EVIL: what the host would run\n"
held = []
for t in temps:
    if how == "removed":
        os.unlink(".envrc")
    os.makedirs(os.path.dirname(t) or ".", exist_ok=True)
    if how == "other": # another command, which ends
        subprocess.run(["sh", "-c", "echo before >'%s' && ln '%s' '%s.alias'" % (t, t, t)], check=True)
    elif how == "nameless":
        fd = os.open(".", os.O_RDWR | os.O_TMPFILE, 0o644)
        ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % fd, -100, t.encode(), 0x400)
    else:
        fd = os.open(t, os.O_RDWR | os.O_CREAT, 0o644)
        os.write(fd, b"before, and long enough for a page of its own\n")
    if how == "link":
        os.link(t, t + ".alias")
        os.close(fd)
    elif how == "map":
        held.append(mmap.mmap(fd, 0))
        os.close(fd)
    elif how != "other":
        held.append(fd)
open("ready", "w").close()
while not os.path.exists("go"):
    if how == "busy": os.pwrite(held[0], b"tail\n", 100) # the file never stays the same
    else: time.sleep(0.01)
for i, t in enumerate(temps):
    try:
        if how in ("link", "other"): held.append(os.open(t + ".alias", os.O_RDWR))
        if how == "map": held[i][:len(EVIL)] = EVIL
        else: os.pwrite(held[i], EVIL, 0)
    except OSError as e: print(e)
P
chmod +x "$TEST_TMP/bin/holds"

# save TEMP NAME - as many programs do: what is there already is opened, written anew, and renamed
save() { printf 'the human wrote this, %s\n' "$2" >"$1" && ino=$(stat -c %i "$1") && mv -T "$1" "$2"; }
is_new() { [ "$(stat -c %i "$1")" != "$2" ]; }
edited() { cordon_in "$dir" log --json | grep -q '"kind":"barrier"'; }
start() { # HOW STEPS TEMP...
	dir=$(mktemp -d "$TEST_TMP/w.XXXXXX") && cd "$dir" || exit
	mkdir -p .git/hooks .git/objects .git/refs .vscode .claude && printf 'ref: refs/heads/main\n' >.git/HEAD && printf '[core]\n\tbare = false\n' >.git/config
	echo was >.envrc
	"$CORDON" run --headless --steps "$2" -- holds "$1" "${@:3}" >"$TEST_TMP/out" 2>&1 &
	pid=$!
	wait_for 20 test -e ready && return
	fail "$1: it is ready" "$(cat "$TEST_TMP/out")"
	done_testing
}
end() { touch go && wait "$pid"; }

for way in open:one open:auto map:auto link:one removed:one nameless:auto busy:auto; do
	how=${way%:*} steps=${way#*:} way="${way%:*}, --steps ${way#*:}"
	start "$how" "$steps" 4913
	save 4913 .envrc
	ok "$way: what took the name is a new file" wait_for 20 is_new .envrc "$ino"
	end
	is "$(head -n 1 .envrc)" 'the human wrote this, .envrc' "$way: and it stays what the human wrote"
	like "$(cat "$TEST_TMP/out")" "a program outside has put a file at '\.envrc'" "$way: which is said"
	like "$(cordon_in "$dir" audit --json)" "put a file at '\.envrc'" "$way: and stands in the audit log"
	like "$(cordon_in "$dir" log)" 'a file of its own for \.envrc' "$way: and in the history"
	ok "$way: the store is sound" cordon_in "$dir" journal verify
	seen=
	while cordon_in "$dir" undo || cordon_in "$dir" undo --force; do seen+=$(cat .envrc 2>&1); done >/dev/null 2>&1
	unlike "$seen" EVIL "$way: nor is it the agent's after an undo"
done

# ---- nor does the mode of its directory keep it there
cat >"$TEST_TMP/bin/locks" <<'P'
#!/usr/bin/python3
import os
fd = os.open(".vscode/x", os.O_RDWR | os.O_CREAT)
open("ready", "w").close()
while not os.path.exists(".vscode/tasks.json"): pass
os.chmod(".vscode", 0o555)
while not os.path.exists("go"): pass
os.pwrite(fd, b"EVIL", 0)
P
chmod +x "$TEST_TMP/bin/locks"
dir=$(new_folder locked) && cd "$dir" && mkdir .vscode || exit
"$CORDON" run --headless -- locks >"$TEST_TMP/out" 2>&1 &
pid=$!
wait_for 20 test -e ready
save .vscode/x .vscode/tasks.json
ok "a directory that nobody may write to: the file is a new one" wait_for 20 is_new .vscode/tasks.json "$ino"
end
unlike "$(cat .vscode/tasks.json)" EVIL "a directory that nobody may write to: and it stays what the human wrote"
is "$(stat -c %a .vscode)" 555 "a directory that nobody may write to: which it still is"
chmod 755 .vscode

# ---- nor do changes without end keep the keeper from seeing a directory that came a moment ago
cat >"$TEST_TMP/bin/hurries" <<'P'
#!/usr/bin/python3
import os, time
if os.fork() == 0:
    while not os.path.exists("go"): open("z", "w").close(); os.unlink("z")
    os._exit(0)
open("ready", "w").close()
while not os.path.exists(".vscode/x"): time.sleep(0.01)
fd = os.open(".vscode/x", os.O_RDWR)
open("held", "w").close()
while not os.path.exists("go"): time.sleep(0.01)
os.pwrite(fd, b"EVIL", 0)
P
chmod +x "$TEST_TMP/bin/hurries"
dir=$(new_folder hurried) && cd "$dir" || exit
"$CORDON" run --headless -- hurries >"$TEST_TMP/out" 2>&1 &
pid=$!
wait_for 20 test -e ready
mkdir .vscode && echo 'the human wrote this' >.vscode/y && mv .vscode/y .vscode/x && wait_for 20 test -e held
ino=$(stat -c %i .vscode/x) && mv .vscode/x .vscode/tasks.json
ok "changes all the time, a directory that came: the file is a new one" wait_for 20 is_new .vscode/tasks.json "$ino"
end
is "$(cat .vscode/tasks.json)" 'the human wrote this' "changes all the time, a directory that came: and it stays what the human wrote"

# ---- another name, made by a command that has ended: writing by it asks, as by the protected name
start other auto 4913
save 4913 .envrc && wait_for 20 edited
end
is "$(cat .envrc)" 'the human wrote this, .envrc' "another name: it stays what the human wrote"
is "$(stat -c %i .envrc)" "$ino" "another name: in the very file"

# ---- other names: of git's, in a directory that takes the name of a protected one, and several at once
start open auto .git/sedAbCdEf hook.new tpl/tasks.json .claude.new
save .git/sedAbCdEf .git/config && one=$ino && save hook.new .git/hooks/pre-commit && two=$ino
three=$(stat -c %i tpl/tasks.json) && printf 'the human wrote this, too\n' >tpl/tasks.json && rmdir .vscode && mv -T tpl .vscode
save .claude.new .claude/settings.json && four=$ino
ok "a configuration" wait_for 20 is_new .git/config "$one"
ok "a hook" wait_for 20 is_new .git/hooks/pre-commit "$two"
ok "a file in a directory that came whole" wait_for 20 is_new .vscode/tasks.json "$three"
ok "an agent's settings" wait_for 20 is_new .claude/settings.json "$four"
end
unlike "$(cat .git/config .git/hooks/pre-commit .vscode/tasks.json .claude/settings.json)" EVIL "none of them is the agent's"

# ---- a rollback does not write to it by the other name
start link auto first
cat >"$TEST_TMP/bin/aborts" <<'P'
#!/usr/bin/python3
import os, time
def ask(what):
    fd = os.open("/run/cordon/step/" + what, os.O_RDWR)
    print(os.read(fd, 4096).decode()); os.close(fd)
with open("tmp", "w") as f: f.write("EVIL: before the step\n")
os.link("tmp", "alias")
ask("begin/x")
with open("alias", "w") as f: f.write("harmless\n")
open("ready2", "w").close()
while not os.path.exists("go2"): time.sleep(0.01)
ask("abort")
P
chmod +x "$TEST_TMP/bin/aborts"
end
"$CORDON" run --headless -- aborts >"$TEST_TMP/out" 2>&1 &
pid=$!
wait_for 20 test -e ready2
save tmp .envrc && touch go2 && wait "$pid"
unlike "$(cat .envrc)" EVIL "an abort does not bring back by another name what the agent wrote before: $(cat "$TEST_TMP/out")"

# ---- what is nobody's inside stays the very file: a program that renames before it has written all
start open auto unrelated
python3 - <<'P' &
import os, time
f = open(".envrc.xyz", "w"); f.write("first\n"); f.flush()
os.rename(".envrc.xyz", ".envrc")
open("renamed", "w").close()
while not os.path.exists("more"): time.sleep(0.01)
f.write("last\n"); f.close()
P
host=$!
wait_for 20 test -e renamed && wait_for 20 edited && touch more && wait "$host"
is "$(cat .envrc)" $'first\nlast' "a file that nobody inside has is left alone"
ln .envrc common && mv common .vscode/tasks.json && wait_for 20 edited
end
is "$(stat -c %i .envrc)" "$(stat -c %i .vscode/tasks.json)" "and so are links of the human's"

# ---- what the agent puts there with the human's leave is its own
dir=$(new_folder answered) && cd "$dir" || exit
printf '#!/bin/sh\nexec cat >/dev/null\n' >"$TEST_TMP/bin/yes" && chmod +x "$TEST_TMP/bin/yes"
out=$("$CORDON" run --headless --set "approval.command=$TEST_TMP/bin/yes" -- python3 -c '
import os, time
fd = os.open(".envrc", os.O_WRONLY | os.O_CREAT, 0o600); os.write(fd, b"one\n")
os.mkdir("d"); time.sleep(0.1); os.rmdir("d")
os.write(fd, b"two\n")' 2>&1)
is "$(cat .envrc)" $'one\ntwo' "what the human has let the agent write is not replaced: $out"
done_testing
