#!/bin/bash
# gate_content - files read, mapped, executed and listed behind the gate are the host's, also while they change.
# SPDX-License-Identifier: MIT
# also with: SANITIZED=1
# user only: root runs it with sanitizers
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
[ -w /dev/fuse ] || skip_all "no /dev/fuse here"

mkdir -p "$HOME/work" "$HOME/files/sub" "$HOME/many" "$HOME/odd"
# Patterns that cover no whole tree are not shown natively: the gate serves each file.
printf '[rule "each"]\n' >"$TEST_TMP/rules"
for d in files many odd; do printf '\tallow = read ~/%s\n\tallow = read ~/%s/**/*\n' $d $d; done >>"$TEST_TMP/rules"
printf '\tallow = exec ~/files/*\n' >>"$TEST_TMP/rules"

headless() {
	(cd "$HOME/work" && exec timeout 600 "$CORDON" run --headless --mode dynamic --set sandbox.read-gate=fuse \
		--config "$TEST_TMP/rules" -- "$@" 2>&1 </dev/null)
}

# ---- bytes -----------------------------------------------------------------------------------------

python3 - "$HOME/files" <<'P'
import os, random, sys
random.seed(1)
for i in range(300):
    open("%s/%sf%d" % (sys.argv[1], "sub/" if i % 2 else "", i), "wb").write(random.randbytes(random.choice((0, 1, 4095, 4096, 4097, 70000))))
open(sys.argv[1] + "/large", "wb").write(random.randbytes(9_000_001))
with open(sys.argv[1] + "/sparse", "wb") as f: # more than 32 bits of length
    f.seek(5 << 30); f.write(b"the end")
P
cp /bin/echo "$HOME/files/say"
lib=$(ldd /bin/sh | sed -n 's/.*=> \(.*libc[.]so[^ ]*\) .*/\1/p')
cp "$lib" "$HOME/files/lib.so"
sums() { find . -type f ! -name sparse -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }
same "$(headless sh -c "cd ~/files && $(declare -f sums) && sums")" "$(cd "$HOME/files" && sums)" "every byte of every file"
cat >"$HOME/work/map.py" <<'P'
import hashlib, mmap, os, sys
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        print(hashlib.sha256(m).hexdigest(), f.read() == m[:])
P
is "$(headless python3 map.py "$HOME/files/large" "$HOME/files/f2" "$HOME/files/say" | sort -u | wc -l)" 3 "what is mapped is what is read"
is "$(headless python3 map.py "$HOME/files/large")" "$(sha256sum "$HOME/files/large" | cut -d' ' -f1) True" "a large file, mapped"
is "$(headless tail -c 7 "$HOME/files/sparse")" "the end" "the end of a file of five gigabytes"
is "$(headless "$HOME/files/say" run)" run "a granted program runs"
is "$(headless python3 -c 'import ctypes, os; print(ctypes.CDLL(os.path.expanduser("~/files/lib.so")).abs(-5))')" 5 "a library is mapped to be run"

# ---- a file that changes ---------------------------------------------------------------------------

# change.py DOES - the host changes a file when it gets an order through a pipe in the working folder; the process
# inside looks at once, within the second for which attributes are cached.
cat >"$HOME/work/look.py" <<'P'
import os, sys, time
path = os.path.expanduser("~/files/moving")
def host(what):
    open("ask.new", "w").write(what); os.rename("ask.new", "ask")
    while os.path.exists("ask"): time.sleep(0.001)
def show(name, f=None): print(name, (f or open(path)).read())
host("write 0123456789")
os.stat(path); show("at first:")
os.stat(path); host("write 0123456789 and more"); show("grown:")
os.stat(path); host("write 012"); show("cut:")
os.stat(path); host("replace other"); show("replaced:")
f = open(path); host("replace yet another"); show("still open:", f); show("anew:")
f = open(path); host("remove"); show("removed:", f)
try: show("gone:")
except OSError as e: print(e.strerror)
host("write follow "); f = open(path); show("follow:", f); host("append the tail")
end = time.monotonic() + 60 # attributes are believed for a second
while not (more := f.read()) and time.monotonic() < end: time.sleep(0.02)
print("appended:", more)
f = open(path); host("write x"); show("cut while open:", f)
host("done")
P
host() { # does what it is asked to
	local f=$HOME/files/moving what text
	while :; do
		wait_for 30 test -e "$HOME/work/ask" || return 1
		read -r what text <"$HOME/work/ask"
		case $what in
		write) printf %s "$text" >"$f" ;;
		append) printf %s "$text" >>"$f" ;;
		replace) printf %s "$text" >"$f.new" && mv "$f.new" "$f" ;;
		remove) rm "$f" ;;
		esac
		rm "$HOME/work/ask"
		[ "$what" != "done" ] || return 0
	done
}
host &
same "$(headless python3 look.py)" "at first: 0123456789
grown: 0123456789 and more
cut: 012
replaced: other
still open: other
anew: yet another
removed: yet another
No such file or directory
follow: follow
appended: the tail
cut while open: x" "a file is read as it is when it is opened"
kill %1 2>/dev/null
wait

# ---- names -----------------------------------------------------------------------------------------

cat >"$HOME/work/names.py" <<'P'
import os, sys
at = os.fsencode(os.path.expanduser("~/odd"))
if sys.argv[1] == "make":
    for c in range(1, 256):
        if c != 47: open(at + b"/x" + bytes([c]) + b"y", "w").write(str(c))
    for name in (b"\xff\xfe", b"n" * 255, b" ", b"-", b"\n", "\u202e\u200b\u2603".encode(), b"..."):
        open(at + b"/" + name, "w").write(repr(name))
for e in sorted(os.scandir(at), key=lambda e: e.name):
    print(e.name, e.is_file(), e.stat().st_ino, open(e.path).read())
P
names=$(python3 "$HOME/work/names.py" make)
same "$(headless python3 names.py show)" "$names" "names of any bytes are listed and opened"

# ---- a large directory -----------------------------------------------------------------------------

n=100000
python3 - "$HOME/many" $n <<'P'
import os, sys
os.chdir(sys.argv[1])
for i in range(int(sys.argv[2])): os.symlink("x", "name-of-some-length-%d" % i)
P
gate_of() { pgrep -P "$(pgrep -P "$1" -x cordon-keeper)" -x cordon-gate; }
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(gate_of "$pid")/status"; }
cat >"$HOME/work/many.py" <<'P'
import os, time
def wait(name):
    while not os.path.exists(name): time.sleep(0.01)
def ready(name): open(name, "w").close()
many = os.path.expanduser("~/many")
ready("begun"); wait("list")
names = os.listdir(many)
print(len(names), len(set(names)))
for e in os.scandir(many): e.stat(follow_symlinks=False)
fd = os.open(many, os.O_RDONLY | os.O_DIRECTORY)
print(sorted(os.listdir(fd)) == sorted(names))
ready("listed"); wait("removed")
while os.path.exists(many): time.sleep(0.05)
ready("forgotten"); wait("end")
P
(cd "$HOME/work" && exec "$CORDON" run --headless --mode dynamic --set sandbox.read-gate=fuse \
	--config "$TEST_TMP/rules" -- python3 many.py >"$TEST_TMP/out") &
pid=$!
wait_for 30 test -e "$HOME/work/begun"
before=$(memory)
touch "$HOME/work/list"
ok "$n names are listed in time" wait_for 60 test -e "$HOME/work/listed"
full=$(memory)
rm -rf "$HOME/many"
touch "$HOME/work/removed"
# The kernel caches the directory for a second; a look at it after that drops all its entries.
wait_for 30 test -e "$HOME/work/forgotten"
less() { [ "$(memory)" -lt $((before + (full - before) / 4)) ]; }
if [ -z "${SANITIZED:-}" ]; then # which keeps what was freed
	ok "memory of the gate is $before, $full KiB, and falls once they are forgotten" wait_for 15 less
	ok "it is bounded" test $((full - before)) -lt 65536
fi
touch "$HOME/work/end"
wait "$pid"
is "$(cat "$TEST_TMP/out")" "$n $n
True" "each once, however it is asked for"
done_testing
