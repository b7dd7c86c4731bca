#!/bin/bash
# once_brought - an answer for once allows exactly the object on the screen: a directory with all its content, a link
# with its target, a file under all of its names.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git python3
use_backend
mkdir -p "$TEST_TMP/bin"

# one WAY - a call that is asked about, and a change of its object before the answer, or after it.
cat >"$TEST_TMP/bin/one" <<'P'
#!/usr/bin/python3
import ctypes, mmap, os, shutil, signal, socket, sys, threading, time
way, place, name = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
def check(r):
    if r < 0: raise OSError(ctypes.get_errno(), "")
def exchange(a, b): check(libc.renameat2(-100, a.encode(), -100, b.encode(), 2))
def link_fd(fd, new, empty):
    if empty: check(libc.linkat(fd, b"", -100, new.encode(), 0x1000))
    else: check(libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, new.encode(), 0x400))
def text(path, what):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f: f.write(what)
def evil(path): text(path, "EVIL\n")
def wait(name):
    while not os.path.exists(name): time.sleep(0.01)
def go(): open("go", "w").close()
def again(what): # a signal takes the call back, the answer comes while nobody waits, and it is made anew
    def handler(*a): raise InterruptedError
    signal.signal(signal.SIGUSR1, handler)
    def interrupt(): wait("asked"); os.kill(os.getpid(), signal.SIGUSR1)
    threading.Thread(target=interrupt).start()
    try: what()
    except InterruptedError: pass
    go(); wait("answered"); what()

inner, do, late, signals = "d/" + name, lambda: None, lambda: None, False
call = lambda: os.rename("d", place)
def keep(path): # open for writing, and used after the answer
    global late
    fd = os.open(path, os.O_RDWR)
    late = lambda: os.pwrite(fd, b"EVIL!!\n", 0)
    return fd
def link_to(path, target):
    if os.path.exists(path): os.unlink(path)
    os.symlink(os.path.abspath(target), path)
text("f", "benign\n")
text(inner, "benign\n")
if way == "rewritten": do = lambda: evil(inner)
elif way == "replaced": evil("x"); do = lambda: os.rename("x", inner)
elif way == "more": do = lambda: evil(os.path.dirname(inner) + ("/launch.json" if "vscode" in place else "/post-checkout"))
elif way == "open": keep(inner)
elif way == "mapped":
    fd = os.open(inner, os.O_RDWR); m = mmap.mmap(fd, 7); os.close(fd)
    late = lambda: m.__setitem__(slice(0, 7), b"EVIL!!\n")
elif way == "passed":
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    fd = os.open(inner, os.O_RDWR); socket.send_fds(a, [b"x"], [fd]); os.close(fd)
    late = lambda: os.pwrite(socket.recv_fds(b, 1, 1)[1][0], b"EVIL!!\n", 0)
elif way == "linked": os.link(inner, "other"); late = lambda: evil("other")
elif way == "to-symlink": link_to(inner, "f"); do = lambda: evil("f")
elif way == "to-symlink-later": link_to(inner, "f"); late = lambda: evil("f")
elif way == "to-nothing-later": link_to(inner, "nothing"); late = lambda: evil("nothing")
elif way == "closed": os.chmod("d", 0o444); do = lambda: (os.chmod("d", 0o755), evil(inner))
elif way == "exchanged": os.makedirs(place, exist_ok=True); call = lambda: exchange(place, "d"); do = lambda: evil(inner)
elif way == "grown":
    for i in range(2100): text("d/%d" % i, "")
elif way == "interrupted": keep(inner); signals = True
# of single files
elif way == "file-exchanged": evil("x"); call = lambda: exchange(place, "f"); do = lambda: os.rename("x", "f")
elif way in ("tmpfile", "empty"):
    fd = os.open(".", os.O_RDWR | os.O_TMPFILE, 0o755); os.write(fd, b"benign\n")
    call = lambda: link_fd(fd, place, way == "empty"); late = lambda: os.pwrite(fd, b"EVIL!!\n", 0)
elif way == "unreadable": os.fchmod(keep("f"), 0o111); call = lambda: os.rename("f", place)
elif way == "open-interrupted": keep("f"); call = lambda: os.rename("f", place); signals = True
elif way == "link": call = lambda: os.link("f", place); late = lambda: evil("f")
elif way == "link-from": call = lambda: os.link(place, "g"); late = lambda: evil("g")
elif way == "two-names": os.link("f", "g"); call = lambda: os.rename("f", place); late = lambda: evil("g")
elif way == "new-symlink": call = lambda: link_to(place, "f"); do = lambda: evil("f")
elif way == "new-symlink-later": call = lambda: link_to(place, "f"); late = lambda: evil("f")
elif way == "symlink": link_to("l", "f"); call = lambda: os.rename("l", place); do = lambda: evil("f")
elif way == "symlink-later": link_to("l", "f"); call = lambda: os.rename("l", place); late = lambda: evil("f")
elif way == "chain-later":
    os.symlink("f", "m"); os.symlink("m", "l"); call = lambda: os.rename("l", place)
    late = lambda: (evil("x"), os.unlink("m"), os.symlink("x", "m"))
elif way == "chain": os.symlink("f", "m"); os.symlink("m", "l"); call = lambda: os.rename("l", place); do = lambda: (evil("x"), os.unlink("m"), os.symlink("x", "m"))
elif way == "by-directory-later":
    text("s/f", "benign"); os.symlink("s/f", "l"); call = lambda: os.rename("l", place)
    late = lambda: (os.rename("s", "t"), evil("s/f"))
elif way == "by-directory-exchanged":
    text("s/f", "benign"); evil("t/f"); os.symlink("s/f", "l"); call = lambda: os.rename("l", place)
    late = lambda: exchange("s", "t")
elif way == "by-link-later":
    text("s/f", "benign"); os.symlink("s", "u"); os.symlink("u/f", "l"); call = lambda: os.rename("l", place)
    late = lambda: (evil("x/f"), os.unlink("u"), os.symlink("x", "u"))
elif way == "by-link-renamed":
    text("s/f", "benign"); os.symlink("s", "u"); os.symlink("u/f", "l"); call = lambda: os.rename("l", place)
    late = lambda: (evil("x/f"), os.symlink("x", "n"), os.rename("n", "u"))
elif way == "nothing-by-directory":
    os.symlink("s/f", "l"); call = lambda: os.rename("l", place); late = lambda: (evil("x/f"), os.rename("x", "s"))
elif way == "nothing-by-link":
    os.symlink("s/f", "l"); call = lambda: os.rename("l", place); late = lambda: (evil("x/f"), os.symlink("x", "s"))
elif way == "dir-symlink": link_to("l", "d"); call = lambda: os.rename("l", place); do = lambda: evil(inner)
elif way == "dir-symlink-later": link_to("l", "d"); call = lambda: os.rename("l", place); late = lambda: evil(inner)
elif way == "parent":
    text("p/.git/HEAD", "x"); evil("q/.git/f"); os.chdir("p"); call = lambda: os.rename("../f", "../p/" + place)
    do = lambda: exchange("../p", "../q"); wait = lambda n, w=wait: w("../" + n); go = lambda: open("../go", "w").close()
elif way != "plain": sys.exit("no such way")
def meanwhile():
    wait("asked")
    try: do()
    except OSError as e: print("meanwhile", e, flush=True)
    go()
if not signals: t = threading.Thread(target=meanwhile); t.start()
try:
    if signals: again(call)
    else: call()
    print("done", flush=True)
except OSError as e: print("refused", os.strerror(e.errno), flush=True)
if not signals: t.join()
try: late()
except OSError as e: print("late", e, flush=True)
P
chmod +x "$TEST_TMP/bin/one"

# wish WAY PLACE NAME [BEFORE] - in a folder of its own, with yes as the answer to the first question.
wish() {
	dir=$(new_folder "$1-${2//\//_}") && cd "$dir" || exit
	eval "${4:-}"
	cat >"$dir.answer" <<E
#!/bin/sh
mkdir "$dir.first" 2>/dev/null || exit 1
cat >"$dir.question"
touch "$dir/asked"
while [ ! -e "$dir/go" ]; do sleep 0.02; done
touch "$dir/answered"
E
	chmod +x "$dir.answer"
	"$CORDON" run --headless --set approval.command="$dir.answer" -- timeout 300 one "$1" "$2" "$3" >"$dir.out" 2>&1
}
# wishes PLACE NAME BEFORE WAY... - four at a time
wishes() {
	local place=$1 name=$2 before=$3 way n=0
	shift 3
	for way; do
		wish "$way" "$place" "$name" "$before" &
		[ $((n += 1)) -lt 4 ] || { wait -n && n=$((n - 1)); }
	done
	wait
}
# evil DIR - the files under the protected names, links followed.
evil() { find -L "$1/.git" "$1/.vscode" "$1/.envrc" -type f -exec grep -l EVIL {} + 2>/dev/null; }
# held PLACE WAY... - each was asked about, and a file that was not shown does not have the name.
held() {
	local place=$1 way dir
	shift
	for way; do
		dir=$TEST_TMP/$way-${place//\//_}
		is "$(evil "$dir")" "" "3: $place, $way: $(head -n1 "$dir.out")"
		[ -e "$dir.question" ] || fail "3: $place, $way: it is asked about" "$(cat "$dir.out")"
	done
}
# taken PLACE WAY... - an unchanged object takes the name.
taken() {
	local place=$1 way dir
	shift
	for way; do
		dir=$TEST_TMP/$way-${place//\//_}
		like $'\n'"$(cat "$dir.out")" $'\ndone' "3: $place, $way: what was shown takes the name"
	done
}

repository='git init -q . && rm -rf .git/hooks'
wishes .git/hooks pre-commit "$repository" plain rewritten replaced more open mapped passed linked to-symlink to-symlink-later \
	to-nothing-later closed exchanged dir-symlink dir-symlink-later interrupted
held .git/hooks rewritten replaced more open mapped passed linked to-symlink to-symlink-later to-nothing-later closed exchanged \
	dir-symlink dir-symlink-later interrupted
taken .git/hooks plain linked to-symlink-later to-nothing-later dir-symlink-later
wishes .vscode tasks.json '' plain rewritten more open mapped exchanged dir-symlink grown
held .vscode rewritten more open mapped exchanged dir-symlink
taken .vscode plain
like "$(cat "$TEST_TMP/grown-.vscode.out")" 'refused Stale' "3: a directory of 2100 files is not looked at as a whole"
wishes .git hooks/pre-commit '' plain rewritten replaced more open passed exchanged
held .git rewritten replaced more open passed exchanged
taken .git plain

files=(tmpfile empty unreadable open-interrupted link two-names new-symlink new-symlink-later symlink symlink-later parent chain chain-later by-directory-later
	by-directory-exchanged by-link-later by-link-renamed nothing-by-directory nothing-by-link)
wishes .envrc x '' "${files[@]}"
held .envrc "${files[@]}"
taken .envrc link two-names new-symlink-later symlink-later chain-later by-directory-later by-link-later nothing-by-link
wishes .envrc x 'echo old >.envrc' file-exchanged link-from
held .envrc file-exchanged link-from
taken .envrc link-from
done_testing
