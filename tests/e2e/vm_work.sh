#!/bin/bash
# vm_work - real work in a virtual machine: the same files as natively, exact undo and redo on the host.
# SPDX-License-Identifier: MIT
# not in CI: vm.sh, vm_contract.sh and vm_cases.sh look at each part of it; each boot takes long
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/lib.sh"
need git python3 make sqlite3
. "$(dirname "$0")/../support/vm.sh"
vm_settings ''
dir=$(new_folder work) native=$(new_folder native)
fuzz=$TOOLS/support/fsfuzz seed=${SEED:-20261128}
mkdir "$dir/src" && for i in 1 2 3; do echo "int f$i(void) { return $i; }" >"$dir/src/f$i.c"; done
printf '%s\n' 'all: $(patsubst %%.c,%%.sum,$(wildcard src/*.c))' '%.sum: %.c' "	cksum <\$< >\$@" >"$dir/Makefile"
sed -i 's/%%/%/g' "$dir/Makefile"
# A sub-directory for each kind of work, so that each can be checked alone.
cat >"$dir/work.sh" <<'WORK'
set -e
export HOME=$PWD/home GIT_CONFIG_NOSYSTEM=1 LC_ALL=C
mkdir home
make -s
tar cf all.tar src && mkdir out && tar xf all.tar -C out && rm all.tar
git init -q repo && cd repo && cp ../src/*.c . && git add . && git -c user.name=a -c user.email=a@b commit -qm one
git mv f1.c g1.c && echo more >>f2.c && git -c user.name=a -c user.email=a@b commit -qam two && git gc -q && git fsck --strict 2>&1
git checkout -q HEAD~1 && git status --short && git checkout -q - && git log --format=%s
cd ..
tar cf git.tar --exclude=hooks repo && mkdir again && tar xf git.tar -C again && rm git.tar && git -C again/repo status --short
git -C again/repo worktree add -q within HEAD~1
python3 - <<'PY'
import os, mmap
os.makedirs("py/deep/er")
with open("py/big", "wb") as f:
    f.write(bytes(range(256)) * 4096)
with open("py/big", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    assert m[255] == 255
    f.seek(1 << 19); f.write(b"x" * 100); f.truncate(900000)
os.rename("py/big", "py/deep/er/big"); os.link("py/deep/er/big", "py/hard"); os.symlink("deep", "py/link")
os.utime("py/hard", (1, 2)); os.chmod("py/deep", 0o750)
PY
sqlite3 db 'create table t(a); begin; insert into t values(1),(2),(3); commit; delete from t where a=2; vacuum; pragma integrity_check; select sum(a) from t'
WORK
cp -r "$dir/." "$native"
run() { (cd "$dir" && exec "$CORDON" run --headless "$@"); }
facts() { # facts that do not depend on the clock: names, kinds, modes, content; git's own files by meaning
	(cd "$1" && find . -name .git -prune -o -name .cordon -prune -o -name db -prune -o -name fuzz.out -o -printf '%p %y %m %n %l\n' -o -true | LC_ALL=C sort &&
		find . -name .git -prune -o -type f ! -name db ! -name fuzz.out -print0 | LC_ALL=C sort -z | xargs -0 cksum && sqlite3 db .dump &&
		git -C repo log --format='%s %T' && git -C repo ls-files -s)
}
want=$(cd "$native" && sh ./work.sh 2>&1)
cat >"$dir/everything.sh" <<'ALL'
sh ./work.sh
mkdir run && cd run && "$1" "$2" 300 "$PWD" >../fuzz.out 2>&1
cd ..
chmod 4755 work.sh; stat -c %a work.sh
setfattr -n security.capability -v 0sAQAAAgAgAAAAAAAAAAAAAAAAAAA= work.sh 2>/dev/null && echo "a capability was left behind"
setfattr -n user.x -v y work.sh 2>/dev/null
mv work.sh worked.sh
ALL
before=$(tree "$dir")
out=$(run --steps auto -- sh ./everything.sh "$fuzz" "$seed" </dev/null 2>"$TEST_TMP/err")
is "$?" 0 "the work is done"
note "$(head -n 5 "$TEST_TMP/err")"
is "$out" "$want
755" "make, tar, git, python and sqlite say what they say natively; no program is set-user-ID"
after=$(tree "$dir")
mkdir "$native/run" && (cd "$native/run" && "$fuzz" "$seed" 300 "$PWD" >../fuzz.out 2>&1)
# The calls' results are not compared: the guest's kernel is another one, without fchmodat2 and O_TMPFILE here.
is "$(wc -l <"$dir/fuzz.out")" "$(wc -l <"$native/fuzz.out")" "as many random calls as natively (SEED=$seed)"
mv "$native/work.sh" "$native/worked.sh" && chmod 755 "$native/worked.sh" && cp "$dir/everything.sh" "$native"
same "$(facts "$dir")" "$(facts "$native")" "and leave the same files"
ok "undo of all" sh -c "cd '$dir' && n=0; while [ -e worked.sh ] || [ -e repo ] || [ -e home ]; do '$CORDON' undo || exit 1; n=\$((n+1)); [ \$n -lt 60 ] || exit 1; done; while '$CORDON' undo 2>/dev/null; do :; done"
same "$(tree "$dir")" "$before" "brings everything back"
ok "redo of all" sh -c "cd '$dir' && while '$CORDON' redo 2>/dev/null; do :; done; test -e worked.sh"
same "$(tree "$dir")" "$after" "brings all of the work back"
done_testing
