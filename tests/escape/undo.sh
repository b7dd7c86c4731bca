#!/bin/bash
# undo - changes that an undo log might miss: through descriptors or mappings of an earlier step.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
H=$TOOLS/escape/hold
top=$TEST_TMP

# The agent of these tests is a shell that reports the folder's state between its commands.
mkdir "$top/bin"
cat >"$top/bin/agent" <<'END'
#!/bin/bash
hold=$1 how=$2 way=$3 when=$4
look() {
	find . -path ./.cordon -prune -o -printf '%p %y %m %s %b %T@ %l\n' | LC_ALL=C sort
	find . -path ./.cordon -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
	find . -path ./.cordon -prune -o -print0 | LC_ALL=C sort -z | xargs -0r getfattr -h -d -m - 2>/dev/null
}
case $how in
inherit) exec 5<>file; echo first >&5 ;; # the agent's own: an ambient step
tmpfile) "$hold" serve . fd /tmp/s ;;
map) "$hold" serve file map /tmp/s ;;
*) "$hold" serve file fd /tmp/s ;;
esac
[ "$when" = none ] || echo first >first
look >/tmp/before
change() {
	case $how in
	inherit) "$hold" inherit 5 "$way" ;;
	take) "$hold" take /tmp/s "$way" ;;
	*) "$hold" ask /tmp/s "$way" ;;
	esac
}
export -f change; export hold how way
case $when in
step) bash -c 'echo second >second; change' ;; # a step has begun: it has saved the file
bare) change ;;			# the command changes nothing else
late) bash -c 'echo second >second'; sleep 0.3; "$hold" ask /tmp/s "$way" ;;
esac
cat /tmp/before
END
chmod +x "$top/bin/agent"

look() { # as the agent does
	(cd "$1" && eval "$(sed -n '/^look()/,/^}/p' "$top/bin/agent")" && look)
}
newest() { cordon_in "$1" log --json | grep '"undone": *false' | head -n 1; }

# try HOW WAY WHEN - the second step's change is undone exactly, and then everything is; or a message says why not.
try() {
	local name="45: $2 through $1, $3" dir before between log
	dir=$(mktemp -d "$top/w.XXXXXX")
	head -c 65536 /dev/zero | tr '\0' x >"$dir/file" && cp "$dir/file" "$dir/source"
	setfattr -n user.kept -v 1 "$dir/file" 2>/dev/null
	before=$(look "$dir")
	between=$(cd "$dir" && "$CORDON" run --headless --steps auto -- agent "$H" "$1" "$2" "$3" 2>&1)
	if [ "$(look "$dir")" = "$before" ]; then
		fail "$name" "nothing happened: $between"
		return
	fi
	log=$(newest "$dir")
	if [[ $log == *'echo second'* || $log == *hold* ]]; then
		if ! cordon_in "$dir" undo >"$top/out" 2>&1; then
			like "$(cat "$top/out")" "file|linked" "$name: undo says what stands in its way"
			cordon_in "$dir" undo --force >/dev/null 2>&1
		elif [ "$(look "$dir")" != "$between" ] && [[ $log != *'"incomplete":true'* ]]; then
			same "$(look "$dir")" "$between" "$name: the second step is undone"
			return
		fi
	fi
	while cordon_in "$dir" undo --force; do :; done >/dev/null 2>&1
	same "$(look "$dir")" "$before" "$name"
}

for way in $("$H" ways); do
	for how in daemon take inherit; do
		try $how "$way" step
	done
done
for way in write truncate chmod reopen link; do
	for how in daemon take inherit; do
		try $how $way bare
	done
done
for way in write reopen; do
	try daemon $way late
done
try map map step
try map map bare
try map map late
try tmpfile link step

# Replacing a file's name puts the file itself into the undo store: a descriptor for reading that the keeper opened
# (O_CREAT) must not lead to it there.
dir=$(mktemp -d "$top/w.XXXXXX")
cat >"$top/bin/reader.py" <<'E2'
import os, subprocess, sys
fd = os.open("v", os.O_RDONLY | os.O_CREAT, 0o644)
os.set_inheritable(fd, True)
subprocess.run(["sh", "-c", "echo original >v; chmod 640 v; touch -d @5 v"])
print(open("v").read().strip(), oct(os.stat("v").st_mode), os.listxattr("v"), os.stat("v").st_mtime)
sys.stdout.flush()
subprocess.run([sys.argv[1], sys.argv[2], "v", str(fd)], close_fds=False)
E2
before=$(cd "$dir" && "$CORDON" run --headless --steps auto -- python3 "$top/bin/reader.py" "$H" over)
like "$(cordon_in "$dir" log | head -n 2)" "hold over" "45: a file that another replaces, open for reading: it is replaced"
ok "45: undo" cordon_in "$dir" undo --force
is "$(cd "$dir" && python3 -c 'import os
print(open("v").read().strip(), oct(os.stat("v").st_mode), os.listxattr("v"), os.stat("v").st_mtime)')" "$before" \
	"45: and is as it was"

# A file that is open and too large to be saved for each step: the step says so, and saves the rest.
dir=$(mktemp -d "$top/w.XXXXXX")
head -c 3000000 /dev/zero >"$dir/file"
(cd "$dir" && "$CORDON" run --headless --steps auto --set journal.step-size=4M -- bash -c "
	'$H' serve file fd /tmp/s; echo first >first
	for i in 1 2 3; do cat first >>grown; dd if=/dev/zero of=big\$i bs=1M count=2 status=none; done
	bash -c 'head -c 2500000 /dev/zero >>file; echo second >second; \"$H\" ask /tmp/s write'
	bash -c 'echo third >third; \"$H\" ask /tmp/s write'") >"$top/out" 2>&1
log=$(newest "$dir")
like "$log" "third" "45: a large file that is held open: the step is there"
if [[ $log == *'"incomplete":true'* ]]; then
	like "$log" "'file' is held open by an earlier command" "45: and says what it lacks"
else # the file system can clone: nothing is missing
	unlike "$log" "incomplete\":true" "45: and lacks nothing"
fi
cordon_in "$dir" undo >"$top/out" 2>&1 || cordon_in "$dir" undo --force >"$top/out" 2>&1
ok "45: undo takes the rest of it back" test ! -e "$dir/third" -a -e "$dir/second"
done_testing
