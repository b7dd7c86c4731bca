#!/bin/bash
# headless_programs - real programs: the same result as outside, and undone without a trace.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
git config --global user.name Test && git config --global user.email test@example.org
git config --global init.defaultBranch main && git config --global commit.gpgsign false
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'

# The same script natively and inside, in copies of the same folder: the same output, status and
# tree; then undo gives back what was there, and redo what the script made.
# both NAME SETUP SCRIPT [unlike]: "unlike" when trees can differ by nature (times in files).
both() {
	local name=$1 setup=$2 script=$3 mode=${4:-} a b before after out_a out_b r_a r_b t0=$SECONDS
	a=$(new_folder "$name-native/w") b=$(new_folder "$name-cordon/w")
	(cd "$a" && sh -ec "$setup") >/dev/null 2>&1
	cp -a "$a/." "$b/"
	before=$(tree "$b")
	out_a=$(cd "$a" && bash -c "$script" 2>&1)
	r_a=$?
	# dates are set inside: the environment is not passed on
	out_b=$(in_folder "$b" env GIT_AUTHOR_DATE="$GIT_AUTHOR_DATE" \
		GIT_COMMITTER_DATE="$GIT_COMMITTER_DATE" bash -c "$script" 2>&1)
	r_b=$?
	out_b=$(sed '/^cordon: writing .* was refused/d; /^cordon: .cordon learn --last/,$d' <<<"$out_b")
	is "$r_b" "$r_a" "$name: exit status $r_a"
	same "${out_b//$b/DIR}" "${out_a//$a/DIR}" "$name: output"
	[ "$mode" = unlike ] || same "$(content "$b")" "$(content "$a")" "$name: tree"
	after=$(tree "$b")
	if [ "$before" != "$after" ]; then
		ok "$name: undo" cordon_in "$b" undo
		same "$(tree "$b")" "$before" "$name: as before"
		ok "$name: redo" cordon_in "$b" redo
		same "$(tree "$b")" "$after" "$name: as after"
	fi
	rm -rf "$TEST_TMP/$name-native"
	note "$name took $((SECONDS - t0)) s"
}

files='for d in a b c d; do mkdir -p $d/e; for i in $(seq 60); do echo "$d $i" >$d/e/f$i; done; done'

both git-init "$files" 'git init -q . && git add -A && git commit -qm one && git status --porcelain &&
	git rev-parse HEAD'
both git-work "$files; git init -q . && git add -A && git commit -qm one" \
	'git checkout -qb topic && echo x >>a/e/f1 && rm b/e/f2 && git mv c/e/f3 moved && git add -A &&
	git commit -qm two && git checkout -q main && ls | wc -l && git merge -q topic && git log --oneline | wc -l &&
	git branch -d topic && git stash list && git tag v1 && git describe && git remote add origin ../nowhere &&
	git remote -v && git diff --stat HEAD~1 && git reset -q --hard HEAD~1 && git status --porcelain'
both git-gc "$files; git init -q . && git add -A && git commit -qm one" \
	'git gc -q --prune=now && git fsck --no-dangling && git rev-list --count HEAD' unlike
both git-clone "$files; git init -q o && git -C o commit -qm e --allow-empty" \
	'git clone -q o copy && git -C copy log --oneline | wc -l && git -C copy worktree list | wc -l' unlike
both tar "$files; tar -cf all.tar a b c d" \
	'mkdir out && tar -xpf all.tar -C out && diff -r a out/a && tar -cf - out | tar -tf - | wc -l && rm -rf a b'
both cp "$files; ln -s a/e/f1 link; ln a/e/f2 hard" \
	'cp -a . ../copy 2>/dev/null; cp -a a new && cp -al b hards && mv c renamed && install -m 751 a/e/f1 exe &&
	touch -d 2001-01-01 a/e/f3 && truncate -s 5 a/e/f4 && stat -c %s%a exe a/e/f4'
if command -v rsync >/dev/null; then
	# Old times: rsync does not see a change in the second in which a file was made.
	both rsync "$files; find . -exec touch -d 2001-01-01 {} +" 'rsync -aH --delete a/ copy/ && echo another size >a/e/f1 && rm a/e/f2 && rsync -ai --delete a/ copy/ | sort &&
		diff -r a copy && rsync -a --inplace b/ copy/ && find copy -type f | wc -l' unlike
fi
both make 'mkdir src; for i in 1 2 3 4 5; do echo "int f$i(void){return $i;}" >src/f$i.c; done
	echo "int main(void){return 0;}" >src/main.c
	printf "prog: \$(patsubst %%.c,%%.o,\$(wildcard src/*.c))\n\tcc -o \$@ \$^\n%%.o: %%.c\n\tcc -c -o \$@ \$<\n" >Makefile' \
	'make -s -j2 && ./prog && touch src/f1.c && make -s && make -q && echo built'
both python '' 'python3 - <<E
import os, sqlite3, tempfile, shutil, mmap
db = sqlite3.connect("t.db")
db.execute("pragma journal_mode=wal")
db.execute("create table t(a, b)")
db.executemany("insert into t values(?, ?)", [(i, "x" * i) for i in range(500)])
db.commit()
db.execute("delete from t where a % 2")
db.commit()
db.execute("pragma wal_checkpoint(truncate)")
print(db.execute("select count(*), sum(a) from t").fetchone(), db.execute("pragma integrity_check").fetchone())
db.close()
with tempfile.NamedTemporaryFile(dir=".", delete=False) as f:
    f.write(b"abc")
os.replace(f.name, "replaced")
os.makedirs("x/y/z"); shutil.copytree("x", "x2"); shutil.rmtree("x")
with open("m", "wb") as f: f.truncate(8192)
with open("m", "r+b") as f:
    with mmap.mmap(f.fileno(), 0) as m: m[0:4] = b"mmap"
print(open("m", "rb").read(4), os.access(".", os.W_OK), os.statvfs(".").f_flag & os.ST_RDONLY)
E' unlike
if command -v vim >/dev/null; then
	both vim 'printf "one\ntwo\n" >t; ln -s t link; printf "x\n" >other; chmod 640 t' \
		'vim -esNu NONE -c "%s/two/2/" -c wq t; vim -esNu NONE -c "set backup writebackup backupskip=" -c "%s/one/1/" -c wq link
		vim -esNu NONE -c "set backupcopy=yes" -c "%s/x/y/" -c wq other; cat t other; stat -c %a t; ls -A | tr "\n" " "'
fi
if command -v npm >/dev/null; then
	both npm 'mkdir -p lib app; echo "{\"name\":\"lib\",\"version\":\"1.0.0\",\"bin\":{\"hi\":\"hi.js\"}}" >lib/package.json
		printf "#!/usr/bin/env node\nconsole.log(\"hi\")\n" >lib/hi.js; chmod +x lib/hi.js
		echo "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"go\":\"hi\"}}" >app/package.json' \
		'cd app && export npm_config_cache=$(mktemp -d) npm_config_update_notifier=false HOME=$(mktemp -d) &&
		npm install --silent --offline --no-audit --no-fund ../lib && npm run --silent go && ls node_modules' unlike
fi
if command -v tmux >/dev/null; then
	both tmux '' 'export TMUX_TMPDIR=$(mktemp -d); tmux -f /dev/null new-session -d "echo in tmux >made; sleep 600"
		until [ -s made ]; do sleep 0.05; done; cat made; tmux kill-server' unlike
fi
both sqlite3 '' 'command -v sqlite3 >/dev/null || exit 0
	sqlite3 t.db "create table t(a); insert into t values(1),(2); select sum(a) from t; vacuum;"' unlike
both sed "$files" 'sed -i s/a/A/ a/e/* && sed -i.bak s/b/B/ b/e/* && cat a/e/f1 b/e/f2 && ls b/e | wc -l'
both find "$files" 'find . -name "f1*" -delete; find . -type f | wc -l; find . -type d -empty | wc -l; rm -rf c; ls'
both perl 'echo "a b" >f' 'perl -i -pe s/a/c/ f && cat f && perl -e "chmod 0400, q(f); utime 1,2, q(f); print((stat q(f))[9])"'
both patch 'printf "1\n2\n3\n" >f' 'command -v patch >/dev/null || exit 0; printf -- "--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n" | patch -s -p0 && cat f'
both flock '' 'exec 9>lock; flock -n 9 && echo locked; (flock -n 9 || echo shared); mkfifo p; (echo through >p &) ; cat p; rm p'
b=$(new_folder denied)
in_folder "$b" sh -c 'echo x >/etc/cordon-test; echo x >"$HOME/cordon-test"; mkdir /usr/cordon-test' >/dev/null 2>&1
ok "no effect outside" test ! -e /etc/cordon-test -a ! -e "$HOME/cordon-test" -a ! -e /usr/cordon-test
done_testing
