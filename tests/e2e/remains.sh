#!/bin/bash
# remains - files left open after an answer is revoked: the view names the processes, as /proc does.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
kinds="trap landlock"
[ ! -w /dev/fuse ] || kinds="fuse $kinds"
dir=$(new_folder work)
config=$HOME/.config/cordon/config
mkdir -p "$HOME/notes/sub" "$HOME/ruled" "${config%/*}"
echo 'text of x' >"$HOME/notes/x" && echo 'text of z' >"$HOME/notes/z" && echo 'text of y' >"$HOME/notes/sub/y" && echo 'text of r' >"$HOME/ruled/r"
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
cat >"$dir/map.py" <<'P'
import mmap, os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
os.close(fd)
print("mapped-" + "it", flush=True)
time.sleep(600)
P

# holders DIR - the pid of each process with a descriptor, mapping or directory in it, seen natively. The gate's
# server, which serves open files behind the gate, is not inside.
cat >"$TEST_TMP/holders.py" <<'P'
import os, sys
top = sys.argv[1]
def beneath(path): return path == top or path.startswith(top + "/")
for pid in sorted(int(p) for p in os.listdir("/proc") if p.isdigit()):
    at = "/proc/%d/" % pid
    try:
        links = [at + "cwd"] + [at + "fd/" + fd for fd in os.listdir(at + "fd")]
        maps = [line.split(None, 5)[-1].strip() for line in open(at + "maps")]
        if open(at + "comm").read() == "cordon-gate\n": continue
        if any(beneath(path) for path in maps + [os.readlink(link) for link in links]): print(pid)
    except OSError: pass
P
holders() { python3 "$TEST_TMP/holders.py" "$1"; }
audit_has() { cordon_in "$dir" audit --json | grep -q "$1"; }
told() { screen | grep -A 1 'Stays open:' | grep -o 'pid [0-9]*' | cut -d ' ' -f 2 | sort -n; }

for gate in $kinds; do
	printf '[rule "r"]\n\tallow = read ~/ruled/**\n' >"$config"
	how="--set sandbox.read-gate=$gate"
	[ "$gate" != landlock ] || how="--backend landlock"
	start 160 40 "$dir" "$CORDON run --set approval.remember=0 $how -- bash --noprofile --rcfile rc -i"
	sees 'ready>' "$gate: a shell in the pane"
	type_text 'exec 5<~/notes/x; echo opened=$?' && keys Enter
	sees '\? ASK read.*notes/x' "$gate: a file is asked for"
	keys C-] a
	sees 'ALLOW reading ~/notes/x once' "$gate: exactly that is offered"
	choose s '\[session\]' "$gate: for the session"
	choose e '\[its directory\]' "$gate: for its directory"
	choose e '\[and below\]' "$gate: and all below it"
	press_until 'opened=0' "$gate: is allowed" a
	type_text 'clear; cd ~/notes/sub; exec 7<~/ruled/r; python3 /dev/fd/8 ~/notes/sub/y 8<'"$dir"'/map.py & sleep 600 6<y & clear' && keys Enter
	sees 'mapped-it' "$gate: others have some of it"
	holds_three() { [ "$(holders "$HOME/notes" | wc -l)" = 3 ]; }
	ok "$gate: three processes have, says /proc" wait_for 10 holds_three
	have=$(holders "$HOME/notes")
	keys C-] V
	sees 'ALLOW +reading everything in ~/notes and below' "$gate: the answer is listed"
	press_until 'Stays open: .*pid' "$gate: taken back, the view says what stays open" x
	is "$(told)" "$have" "$gate: by the same processes"
	like "$(screen)" 'bash \(pid [0-9]+\) a directory, a file' "$gate: what the shell has"
	like "$(screen)" 'python3 \(pid [0-9]+\) .*a mapped file' "$gate: what is mapped only"
	ok "$gate: it is in the audit log" wait_for 10 audit_has "still open of 'allow reading everything in ~/notes and below.*bash"
	keys q C-] t
	type_text 'clear; read -r line <&5; echo "has: $line"' && keys Enter
	sees '^has: text of x' "$gate: and so it is: what is open is read"
	type_text 'clear; cat ~/notes/z' && keys Enter
	sees '\? ASK read.*notes/z' "$gate: what is opened anew is asked for"
	keys C-] a
	press_until 'denied|Denied' "$gate: and denied" d
	if [ "$gate" = fuse ]; then # else what was granted at the start stays so
		have=$(holders "$HOME/ruled" | tr '\n' ' ')
		rm "$config"
		sees 'still open of .what rules allowed.: [a-z]' "$gate: so does a rule that is taken out of its file"
		is "$(cordon_in "$dir" audit --json | grep 'what rules allowed' | grep -o 'pid [0-9]*)' | tr -dc '0-9\n' | sort -n | tr '\n' ' ')" \
			"$have" "$gate: of those who have its file"
	fi
	keys C-] q
	sees 'end it and leave' "$gate: the session can be left"
	leaves "$gate: and ends"
done
done_testing
