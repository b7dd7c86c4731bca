#!/bin/bash
# rollback - a rollback restores a protected file while a process inside still holds it.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
use_backend
top=$TEST_TMP && mkdir -p "$top/bin"

cat >"$TEST_TMP/bin/attack.py" <<'P'
import mmap, os, shutil, subprocess, sys, time
how, P = sys.argv[1:3]
D = os.path.dirname(P)

def ask(what):
    fd = os.open("/run/cordon/step/" + what, os.O_RDWR)
    text = b""
    while chunk := os.read(fd, 4096): text += chunk
    os.close(fd)
    print(what, "->", text.decode().strip(), flush=True)
    return text

# A process of another step: it has changed something before the step begins.
class Other:
    def __init__(self):
        self.p = subprocess.Popen([sys.executable, "-c", """
import os, sys
open("other", "w").close()
for line in sys.stdin:
    exec(line)
    print("ok", flush=True)
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.tell("pass")
    def tell(self, line):
        self.p.stdin.write(line + "\n"); self.p.stdin.flush()
        self.p.stdout.readline()
    def do(self, line):
        self.tell(line); self.p.stdin.close(); self.p.wait()

EVIL = b"EVIL: what the host would run\n"
def evil(fd):
    try:
        os.lseek(fd, 0, 0); os.ftruncate(fd, 0); os.write(fd, EVIL)
    except OSError as e: print("write:", e)

other = Other() if how in ("link", "entry", "onward", "content", "symlink") else None
fd = None
if how == "reopen": early = os.open(P, os.O_RDONLY)
ask("begin/x")
if how in ("open", "late"):
    os.rename(P, "x"); fd = os.open("x", os.O_RDWR)
elif how == "map":
    os.rename(P, "x"); f = os.open("x", os.O_RDWR); m = mmap.mmap(f, 0); os.close(f)
elif how == "chain":
    os.rename(P, "x"); os.mkdir("d"); os.rename("x", "d/x"); os.rename("d", "e"); fd = os.open("e/x", os.O_RDWR)
elif how == "parent":
    os.rename(D, "h"); fd = os.open("h/" + os.path.basename(P), os.O_RDWR)
elif how == "link":
    os.rename(P, "x"); other.do("os.link('x', 'y')")
elif how == "entry":
    os.rename(D, "h")
    other.do("open('h/post-commit', 'w').write('EVIL'); os.chmod('h/post-commit', 0o755)")
elif how == "symlink":
    os.rename(D, "h"); other.do("os.symlink('../evil', 'h/post-commit'); os.mkdir('h/sub')")
elif how == "onward":
    os.rename(P, "x"); other.do("os.rename('x', 'z')"); fd = os.open("z", os.O_RDWR)
elif how == "content":
    os.rename(P, "x"); other.do("open('x', 'w').write('EVIL content')")
elif how == "reopen":
    os.unlink(P)
    try: fd = os.open("/proc/self/fd/%d" % early, os.O_RDWR)
    except OSError as e: print("reopen:", e)
    try: os.link("/proc/self/fd/%d" % early, "again", follow_symlinks=True)
    except OSError as e: print("link:", e)
text = ask("abort")
if how == "map": m[:len(EVIL)] = EVIL
elif fd is not None: evil(fd)
try: fd2 = os.open("again", os.O_RDWR); evil(fd2)
except OSError: pass
try: fd3 = os.open("y", os.O_RDWR); evil(fd3)
except OSError: pass
if how == "late": # let go, then it may
    os.close(fd); ask("abort")
P

make_tree() {
	dir=$(mktemp -d "$top/w.XXXXXX")
	mkdir -p "$dir/.git/hooks" "$dir/.vscode" "$dir/.claude"
	for f in .git/config .git/hooks/pre-commit .envrc .vscode/tasks.json .claude/settings.json; do
		printf 'the human wrote this %s %060d\n' "$f" 0 >"$dir/$f"
	done
	chmod 755 "$dir/.git/hooks/pre-commit"
	cp -a "$dir" "$dir.was"
}
# No file that the host trusts may differ from before, in bytes or by name.
guarded() {
	(cd "$1" && find .git .envrc .vscode .claude -printf '%p %y %m %s %n %l\n' 2>/dev/null | grep -v '^[^ ]* d' | LC_ALL=C sort
		find .git .envrc .vscode .claude -type f -exec cat {} + 2>/dev/null)
}
try() { # HOW PATH STEPS WORDS BACK - BACK: the file is at its name again
	local name="$1 of $2, --steps $3" out
	make_tree
	out=$(cd "$dir" && "$CORDON" run --headless --steps "$3" -- python3 "$TEST_TMP/bin/attack.py" "$1" "$2" 2>&1)
	like "$out" "$4" "$name: what the agent is told"
	unlike "$(guarded "$dir")" EVIL "$name: nothing of it is obeyed: $out"
	[ "$5" = no ] || same "$(guarded "$dir")" "$(guarded "$dir.was")" "$name: all is as it was"
	ok "$name: the store is sound" cordon_in "$dir" journal verify
	# Undoing the rest from outside, newest first, leads back to the beginning.
	while cordon_in "$dir" undo || cordon_in "$dir" undo --force; do :; done >/dev/null 2>&1
	same "$(guarded "$dir")" "$(guarded "$dir.was")" "$name: undone, all of it is as it was"
}

for steps in one auto; do
	for path in .git/config .git/hooks/pre-commit .envrc .vscode/tasks.json; do
		case $path in .git/hooks*) ;; *) [ $steps = auto ] || continue ;; esac
		try open "$path" $steps "'x' is still open for writing" no
	done
done
try late .git/hooks/pre-commit auto 'rolled back' yes
try map .git/hooks/pre-commit auto "'x' is still open for writing" no
try chain .envrc auto "'e/x' is still open for writing" no
try parent .git/hooks/pre-commit auto "'h/pre-commit' is still open for writing" no
try parent .vscode/tasks.json one "'h/tasks.json' is still open for writing" no
try link .git/hooks/pre-commit auto "'x' has another name" no
try entry .git/hooks/pre-commit auto "'h/post-commit' came there by another step" no
try symlink .git/hooks/pre-commit auto "'h/(post-commit|sub)' came there by another step" no
try onward .git/hooks/pre-commit auto 'still open for writing' no
try content .git/hooks/pre-commit auto 'rolled back' yes
try reopen .git/hooks/pre-commit auto 'abort ->' yes

# ---- a safeguard's denial: another process than the command's holds the file
cat >"$TEST_TMP/bin/guard.py" <<'P'
import os, subprocess
p = subprocess.Popen(["sh", "-c", "mv .git/hooks/pre-commit x; until [ -e go ]; do sleep 0.02; done; rm a b c d e"])
while True:
    try: fd = os.open("x", os.O_RDWR); break
    except FileNotFoundError: pass
open("go", "w").close()
p.wait()
while not os.path.exists(".git/hooks/pre-commit"): pass
os.ftruncate(fd, 0); os.pwrite(fd, b"EVIL\n", 0)
P
make_tree
touch "$dir"/{a,b,c,d,e}
out=$(cd "$dir" && "$CORDON" run --headless --steps auto --set safeguard.deletes=3 -- python3 "$TEST_TMP/bin/guard.py" 2>&1)
like "$out" "rolled back" "a safeguard's denial: the command is rolled back"
like "$out" "new file at '\.git/hooks/pre-commit'" "and it is said that the file is a new one: $out"
same "$(guarded "$dir")" "$(guarded "$dir.was")" "a safeguard's denial: all is as it was"

# ---- a step whose file is still open for writing is not aborted: what is written later is in a step
cat >"$TEST_TMP/bin/after.py" <<'P'
import os
def ask(what):
    fd = os.open("/run/cordon/step/" + what, os.O_RDWR)
    while os.read(fd, 4096): pass
    os.close(fd)
ask("begin/x"); fd = os.open("main.c", os.O_RDWR); ask("abort")
os.write(fd, b"EVIL DATA\n")
open("another", "w").close()
os.write(fd, b"more\n")
P
for steps in one auto; do
	make_tree
	printf 'int main, some bytes\n' >"$dir/main.c" && cp "$dir/main.c" "$top/main.c"
	(cd "$dir" && "$CORDON" run --headless --steps $steps -- python3 "$TEST_TMP/bin/after.py")
	like "$(cat "$dir/main.c")" "EVIL" "--steps $steps: after an abort the descriptor still writes"
	while cordon_in "$dir" undo; do :; done >/dev/null 2>&1
	same "$(cat "$dir/main.c")" "$(cat "$top/main.c")" "--steps $steps: all of it is undone"
	ok "--steps $steps: and no more is there" test ! -e "$dir/another"
done
done_testing
