#!/bin/bash
# safeguard_headless - without a user: off unless set, then denied at once, in one line.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox make
dir=$(new_folder work)
err=$TEST_TMP/err

fill() { # N - that many files, small and old
	rm -rf "$dir/many" && mkdir "$dir/many"
	(cd "$dir/many" && seq -f 'f%03g' "$1" | xargs touch)
}
run() { # OPTIONS... -- COMMAND...
	(cd "$dir" && exec "$CORDON" run --headless "$@") 2>"$err" </dev/null
	echo $?
}
count() { find "$dir/many" -type f 2>/dev/null | wc -l; }

# Off: changes by builds and package managers are not held.
fill 300
printf 'clean:\n\trm -rf many\n' >"$dir/Makefile"
is "$(run -- make -s clean)" 0 "make clean of 300 files runs"
is "$(cat "$err")" "" "and says nothing"
is "$(count)" 0 "they are gone"
ok "and can be had back" cordon_in "$dir" undo
is "$(count)" 300 "all of them"
is "$(run -- sh -c 'for i in many/*; do echo x >t && mv t "$i"; done; rm -rf many/* && seq -f many/g%g 300 | xargs touch')" 0 \
	"an install that replaces everything runs"
cordon_in "$dir" undo >/dev/null

# Set on the command line: denied, rolled back, one line.
before=$(tree "$dir")
is "$(run --set safeguard.deletes=5 -- rm -rf many)" 137 "with a limit rm -rf is ended"
is "$(grep -c '^cordon:' "$err")" 1 "one line on stderr"
like "$(cat "$err")" "cordon: .*rm -rf many.*rolled back.*safeguard.deletes = 5.*redo" "which says what and why"
same "$(tree "$dir")" "$before" "everything is as it was"
like "$(cordon_in "$dir" log)" "rm -rf many.*undone" "the log shows it as undone"
ok "redo has what it did" cordon_in "$dir" redo
is "$(count)" 296 "four of them went"
cordon_in "$dir" undo >/dev/null
same "$(tree "$dir")" "$before" "and come back"

# Below the limit the step is not held; files that the command created do not count.
is "$(run --set safeguard.deletes=5 -- sh -c 'rm many/f001 many/f002 many/f003 many/f004
	mkdir t; for i in 1 2 3 4 5 6 7 8 9; do echo >t/$i; done; rm -r t')" 0 "below the limit"
cordon_in "$dir" undo >/dev/null

# Large files, and files that are replaced.
for i in 1 2 3 4; do head -c 2m /dev/zero >"$dir/large$i"; done
before=$(tree "$dir")
is "$(run --set safeguard.overwrites=3 -- sh -c 'for i in 1 2 3 4; do : >large$i; done')" 137 "truncating large files"
same "$(tree "$dir")" "$before" "is taken back"
like "$(cat "$err")" "safeguard.overwrites = 3" "and named"
is "$(run --set safeguard.overwrites=3 --set safeguard.overwrite-bytes=3m -- sh -c 'for i in 1 2 3 4; do : >>large$i; done')" 0 \
	"what is large can be set"
is "$(run --set safeguard.renames-over=3 -- sh -c 'for i in 1 2 3 4; do echo >t; mv t many/f00$i; done')" 137 "replacing files"
same "$(tree "$dir")" "$before" "is taken back"

# Files that were not captured cannot be restored, and the message says so.
is "$(run --set safeguard.deletes=5 --set journal.undo=false -- rm -rf many)" 137 "without a journal"
like "$(cat "$err")" "not all of it could be brought back.*journal.undo" "the line says what is missing"
is "$(count)" 296 "four files are gone"
fill 300
before=$(tree "$dir")

# In a settings file, too.
mkdir -p "$HOME/.config/cordon"
printf '[safeguard]\n\tdeletes = 7\n' >"$HOME/.config/cordon/config"
is "$(run -- rm -rf many)" 137 "a limit in the settings file"
like "$(cat "$err")" "safeguard.deletes = 7" "is that of the file"
same "$(tree "$dir")" "$before" "everything is as it was"
is "$(run --set safeguard.deletes=0 -- rm -rf many)" 0 "0 switches it off"
ok "undo" cordon_in "$dir" undo
rm "$HOME/.config/cordon/config"

# Each command separately: the denied one ends with all its processes, even one that never made a trapped call; other
# commands continue.
cat >"$dir/evil" <<'X'
exec 3>log
(while :; do echo x >&3; done) &
((while :; do echo x >&3; done) &)
rm -rf many
echo not reached >late
X
cat >"$dir/agent" <<'X'
sh ./evil
for i in $(seq 100); do
	grep -qs 'evi[l]' /proc/[0-9]*/cmdline || break
	sleep 0.1
done
grep -ls 'evi[l]' /proc/[0-9]*/cmdline >left
echo after >after
exit 3
X
is "$(run --steps auto --set safeguard.deletes=5 -- sh ./agent)" 3 "with --steps auto the agent goes on"
ok "and works on" test -s "$dir/after"
is "$(cat "$dir/left")" "" "what the denied command started is gone, all of it"
ok "it did not go on" test ! -e "$dir/late"
ok "its log is gone with it" test ! -e "$dir/log"
is "$(count)" 300 "and its files are back"
like "$(cordon_in "$dir" audit)" "safeguard.*decision.*undo|safeguard" "it is in the audit log"
is "$(cordon_in "$dir" audit | grep -cE ' (safeguard|decision|undo) ' | sed 's/^[3-9]$/some/; s/^[1-9][0-9]$/some/')" some "limit, decision and rollback"
ok "the audit log verifies" cordon_in "$dir" audit verify

# So do all processes that a command has left running.
rm -f "$dir/after" "$dir/left"
cat >"$dir/evil" <<'X'
(mkdir seen; sleep 0.5; for f in many/*; do rm $f; done; echo not reached >late) &
until [ -e seen ]; do :; done
X
is "$(run --mode static --steps auto --set safeguard.deletes=5 -- sh ./agent)" 3 "a loop that was left running is denied, the agent goes on"
is "$(cat "$dir/left")" "" "the whole of it has ended"
ok "it did not go on" test -e "$dir/seen" -a ! -e "$dir/late"
is "$(count)" 300 "and its files are back"

# Of a process of unknown origin, the loop that runs it is ended, too.
cat >"$dir/evil" <<'X'
(until [ -e go ]; do :; done; for f in many/*; do rm $f; done; echo not reached >late) &
X
sed -i '1a sleep 0.5; : >go' "$dir/agent"
is "$(run --mode static --steps auto --set safeguard.deletes=5 -- sh ./agent)" 3 "a stray's loop is denied, the agent goes on"
is "$(cat "$dir/left")" "" "it has ended"
is "$(grep -c '^cordon:' "$err")" 1 "once"
ok "it did not go on" test -e "$dir/go" -a ! -e "$dir/late"
is "$(count)" 300 "and its files are back"

# An orphan is found under the process that adopts orphans in each backend: pid 1 inside may be the child of another
# process; without namespaces there is none, and /proc shows other users' processes.
mark=$(new_mark)
cat >"$dir/evil" <<'X'
import os, subprocess, time
log = os.open("log", os.O_WRONLY | os.O_CREAT)
if os.fork() == 0:
    if os.fork() == 0:
        while True: os.write(log, b"x"); time.sleep(0.001)
    os._exit(0)
os.wait()
subprocess.run(["rm", "-rf", "many"])
X
cat >"$dir/agent" <<X
python3 ./evil $mark
for i in \$(seq 100); do
	pgrep -f '[p]ython3 ./evil $mark' >left || break
	sleep 0.1
done
echo after >after
exit 3
X
for backend in native bwrap landlock; do
	if ! command -v python3 >/dev/null || [ "$(run --backend "$backend" -- true)" != 0 ]; then
		skip "$backend" "it or python3 is not to be had here"
		continue
	fi
	rm -f "$dir/after" "$dir/left"
	is "$(run --backend "$backend" --mode static --steps auto --set safeguard.deletes=5 -- sh ./agent)" 3 \
		"$backend: a command that has left a process to itself is denied"
	is "$(cat "$dir/after")" after "$backend: the agent goes on"
	is "$(cat "$dir/left")" "" "$backend: what was left has ended, too"
	is "$(count)" 300 "$backend: and the files are back"
done
done_testing
