#!/bin/bash
# gate_writes - after a granted write behind the read gate stat(2) shows the host's values at once.
# SPDX-License-Identifier: MIT
# root and user
# shellcheck disable=SC2088 # the tilde is the program's to expand

# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
[ -w /dev/fuse ] || skip_all "no /dev/fuse here"

mkdir -p "$HOME/work"
answerer=$TEST_TMP/bin/answerer
mkdir -p "$TEST_TMP/bin"

# changes.py DIR - looks at each name, changes it, looks again: "NAME: wrong" if stat(2) does not show the call before.
# A descriptor's fstat(2) comes from the file itself.
cat >"$HOME/work/changes.py" <<'P'
import os, stat, sys
d = os.path.expanduser(sys.argv[1])
def check(what, good): print(what + ": " + ("right" if good else "WRONG"))
def write(name, text, how=os.O_TRUNC):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | how, 0o644); os.write(fd, text); os.close(fd)
def there(name):
    try: os.stat(name); a = True
    except FileNotFoundError: a = False
    return a and os.access(name, os.F_OK)
os.makedirs(d, exist_ok=True)
os.chdir(d)
for f in ("old", "new"):
    write(f, b"1"); os.stat(f); os.stat(".")
    write(f, b"12345678"); check(f + " size", os.stat(f).st_size == 8)
    write(f, b"90", os.O_APPEND); check(f + " appended", os.stat(f).st_size == 10)
    os.truncate(f, 3); check(f + " cut", os.stat(f).st_size == 3)
    os.chmod(f, 0o600); check(f + " mode", stat.S_IMODE(os.stat(f).st_mode) == 0o600)
    os.utime(f, (1e9, 1e9)); check(f + " time", os.stat(f).st_mtime == 1e9)
    fd = os.open(f, os.O_WRONLY | os.O_APPEND); os.stat(f)
    os.write(fd, b"more"); check(f + " while it is open", os.stat(f).st_size == 7)
    os.ftruncate(fd, 1); check(f + " cut while it is open", os.stat(f).st_size == 1)
    os.fchmod(fd, 0o640); check(f + " mode while it is open", stat.S_IMODE(os.stat(f).st_mode) == 0o640); os.close(fd)
    os.link(f, f + ".two"); check(f + " links", os.stat(f).st_nlink == 2)
    write(f + ".two", b"seven77"); check(f + " by its other name", os.stat(f).st_size == 7)
    os.unlink(f + ".two"); check(f + " other name removed", not there(f + ".two"))
    write(f + ".tmp", b"a whole new one"); os.rename(f + ".tmp", f)
    check(f + " replaced", os.stat(f).st_size == 15 and not there(f + ".tmp"))
    os.unlink(f); check(f + " removed", not there(f))
    write(f, b"again"); check(f + " made again", os.stat(f).st_size == 5)
    os.rename(f, f + ".moved"); check(f + " moved", not there(f) and os.stat(f + ".moved").st_size == 5)
os.makedirs("a/b/c"); write("a/b/c/f", b"deep"); os.stat("a/b/c/f"); before = os.stat("a/b").st_mtime_ns
write("a/b/g", b"x"); check("directory's time", os.stat("a/b").st_mtime_ns > before)
n = os.stat("a/b").st_nlink; os.mkdir("a/b/d"); check("directory's links", os.stat("a/b").st_nlink in (n + 1, 1))
os.stat("a/b/c/f"); os.listdir("a/b/c"); os.rename("a", "z")
check("directory moved", not there("a") and not there("a/b") and not there("a/b/c/f") and os.stat("z/b/c/f").st_size == 4)
os.unlink("z/b/c/f"); os.rmdir("z/b/c"); check("directory removed", not there("z/b/c"))
os.symlink("z", "link"); os.lstat("link"); os.unlink("link"); os.symlink("z/b", "link")
check("link", os.readlink("link") == "z/b")
for i in range(50):
    write("many%d" % i, b"x" * i)
check("many", [os.stat("many%d" % i).st_size for i in range(50)] == list(range(50)))
[(e.name, e.stat().st_size) for e in os.scandir(".")]
for i in range(50):
    write("many%d" % i, b"y" * (2 * i))
check("many, listed", all(e.stat(follow_symlinks=False).st_size == 2 * int(e.name[4:]) for e in os.scandir(".") if e.name.startswith("many")))
P
# GRANT DIR OPTIONS... - the directory exists, or not; prints the wrong results.
try() {
	local name=$1 dir=$2 out
	shift 2
	out=$(cd "$HOME/work" && timeout 120 "$CORDON" run --headless --mode dynamic --set sandbox.read-gate=fuse "$@" \
		-- python3 changes.py "$dir" 2>&1 </dev/null)
	if [ "$(grep -c ': right$' <<<"$out")" = 37 ]; then pass "$name"; else fail "$name" "$(grep -v ': right$' <<<"$out")"; fi
	is "$(cd "$HOME/${dir#\~/}" 2>/dev/null && find . -type f -size 98c | wc -l)" 1 "$name: it is on the host"
}

fresh() { rm -rf "$HOME/place" && mkdir -p "$HOME/place" && echo before >"$HOME/place/old"; }
each() { # NAME OPTIONS... - in a directory that is there, below one, and in one that is not
	local name=$1
	shift
	fresh && try "$name: a directory that is there" '~/place' "$@"
	fresh && try "$name: one below it" '~/place/deep/er' "$@"
	rm -rf "$HOME/place" && try "$name: one that is not there yet" '~/place' "$@"
}
each "a rule" --set 'rule.r.allow=read,write ~/place' --set 'rule.r.allow=read,write ~/place/**'
each "a rule about names" --set 'rule.r.allow=read,write ~/place' --set 'rule.r.allow=read,write ~/place/**/*'
# answers SCOPE EXTENT - the program that gives this answer
answers() {
	printf '#!/bin/sh\ncat >/dev/null\necho '\''{"allow":true,"scope":"%s","extent":"%s"}'\''\n' "$1" "$2" >"$answerer"
	chmod +x "$answerer"
}
for scope in once session; do
	answers $scope exact
	each "answered, exactly this, $scope" --set "approval.command=$answerer"
done
answers session tree
fresh && try "answered, all below, session: a directory that is there" '~/place' --set "approval.command=$answerer"
done_testing
