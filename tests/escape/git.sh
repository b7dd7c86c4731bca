#!/bin/bash
# git - files that git on the host trusts: the agent leaves them, and the user uses git as always.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
# shellcheck disable=SC2016 # expanded inside
. "$(dirname "$0")/../support/lib.sh"
need_sandbox git python3
use_backend
trap_=$TEST_TMP/RAN # what evil makes, and nothing else does
git config --global user.name t && git config --global user.email t@example.org
git config --global init.defaultBranch main && git config --global protocol.file.allow always

empty() { # a folder; $dir
	n_dirs=$((n_dirs + 1))
	dir=$(new_folder w$n_dirs) && cd "$dir" || exit 1
}
fresh() { # a folder with a repository; $dir
	empty && git init -q . && echo a >a && git add a && git commit -qm a
}
n_dirs=0
inside() { in_folder "$dir" sh -c "$1" >"$TEST_TMP/out" 2>&1; }
quiet() { "$@" >"$TEST_TMP/host" 2>&1 </dev/null; }
not_run() { # NAME
	if [ -e "$trap_" ]; then fail "$1" "it ran; inside: $(cat "$TEST_TMP/out")"; else pass "$1"; fi
	rm -f "$trap_"
}
gone() { # NAME PATH... - none of them is there
	local name=$1 p there=
	shift
	for p; do [ ! -e "$p" ] && [ ! -L "$p" ] || there+=" $p"; done
	if [ -z "$there" ]; then pass "$name"; else fail "$name" "there is:$there; $(cat "$TEST_TMP/out")"; fi
}

# ---- 37: an index that names paths of the host
mkdir -p "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/mkindex" <<'PY'
#!/usr/bin/python3
# mkindex MODE BLOB PATH VERSION - adds an entry; MODE: rename, place, lock, link, writer
import hashlib, os, struct, sys
mode, blob, path, version = sys.argv[1], bytes.fromhex(sys.argv[2]), sys.argv[3].encode(), int(sys.argv[4])
def entry(name, last):
    head = struct.pack('>6I', 0, 0, 0, 0, 0, 0) + struct.pack('>4I', 0o100644, 0, 0, 0) + blob
    head += struct.pack('>H', len(name))
    if version == 4:
        return head + bytes([len(last)]) + name + b'\0'
    e = head + name
    return e + b'\0' * (8 - len(e) % 8)
names = sorted([path, b'a'])
body = b'DIRC' + struct.pack('>2I', version, len(names))
last = b''
for n in names:
    body += entry(n, last)
    last = n
body += hashlib.sha1(body).digest()
if mode == 'place':
    with open('.git/index', 'r+b') as f:
        f.truncate(0)
        f.write(body)
else:
    with open('.git/index.lock', 'wb') as f:
        f.write(body)
    if mode == 'lock':
        pass
    elif mode == 'link':
        os.remove('.git/index')
        os.link('.git/index.lock', '.git/index')
    elif mode == 'writer':
        f = open('.git/index.lock', 'r+b')
        os.rename('.git/index.lock', '.git/index')
    else:
        os.rename('.git/index.lock', '.git/index')
PY
chmod +x "$TEST_TMP/bin/mkindex"
fresh
for version in 2 4; do
	for path in "$TEST_TMP/planted" ../planted sub/../../planted .git/hooks/post-checkout .GIT/config.worktree 'x/.git/hooks/x'; do
		inside 'blob=$(echo evil | git hash-object -w --stdin) && mkindex rename "$blob" "'"$path"'" '$version
		rm -f .git/index.lock && quiet git checkout . && quiet git restore .
		gone "37: an index, version $version, with $path" "$TEST_TMP/planted" .git/hooks/post-checkout .git/config.worktree x
	done
done
for mode in place link writer; do
	inside 'blob=$(echo evil | git hash-object -w --stdin) && mkindex '$mode' "$blob" "'"$TEST_TMP/planted"'" 2'
	rm -f .git/index.lock && quiet git checkout .
	gone "37: an index by way of $mode" "$TEST_TMP/planted"
done
inside 'blob=$(echo evil | git hash-object -w --stdin) && mkindex lock "$blob" "'"$TEST_TMP/planted"'" 2; mv .git/index.lock .git/sharedindex.0123456789012345678901234567890123456789'
gone "37: a shared index" .git/sharedindex.0123456789012345678901234567890123456789
rm -f .git/index.lock && git reset -q --hard
inside 'mkdir d && cp .git/index d/index && blob=$(echo evil | git hash-object -w --stdin) && mkindex rename "$blob" "'"$TEST_TMP/planted"'" 2; mv -T d .git/refs 2>/dev/null; mv d .git/worktrees'
gone "37: a directory that brings an index" .git/worktrees .git/refs/index

# ---- 37: the rest of a rebase
fresh
git checkout -q -b f && echo b >a && git commit -qam b && echo c >a && git commit -qam c
git checkout -q main && echo d >a && git commit -qam d && git checkout -q f
quiet git rebase main
inside "echo 'exec touch $trap_' >>.git/rebase-merge/git-rebase-todo
	(cat .git/rebase-merge/git-rebase-todo; echo 'x touch $trap_') >t && mv t .git/rebase-merge/git-rebase-todo
	echo 'exec touch $trap_' >t; ln -sf ../../t .git/rebase-merge/git-rebase-todo"
quiet git checkout --theirs a && quiet git add a && GIT_EDITOR=true quiet git rebase --continue
quiet git checkout --theirs a && quiet git add a && GIT_EDITOR=true quiet git rebase --continue
not_run "37: a program in the rest of a rebase"

# ---- 37: the merge strategy of what is to be continued: git runs git-merge-NAME, a path where NAME has a slash
strategist='mkdir -p git-merge-a; printf "#!/bin/sh\ntouch '"$trap_"'\n" >git-merge-a/x; chmod +x git-merge-a/x'
conflicting() { # main and f differ, f is two commits further and checked out
	fresh
	git checkout -q -b f && echo b >a && git commit -qam b && echo c >c && git add c && git commit -qm c
	git checkout -q main && echo d >a && git commit -qam d && git checkout -q f
}
conflicting
quiet git rebase main
inside "$strategist; echo a/x >.git/rebase-merge/strategy; echo a/x >t; mv t .git/rebase-merge/strategy
	mkdir -p .git/rebase-merge/d; echo a/x >.git/rebase-merge/d/strategy; mv .git/rebase-merge/d/strategy .git/rebase-merge"
quiet git checkout --theirs a && quiet git add a && GIT_EDITOR=true quiet git rebase --continue
not_run "37: a program as the strategy of a rebase"
inside 'git checkout -q -b g f~1; git rebase -Xtheirs main && git log --oneline >log'
is "$(wc -l <log)" 3 "37: a rebase with a strategy of git's own works"
conflicting
git checkout -q main && quiet git cherry-pick f~1 f
is "$(wc -l <.git/sequencer/todo)" 2 "a cherry-pick waits"
inside "$strategist; printf '[options]\n\tstrategy = a/x\n' >.git/sequencer/opts; printf '[options]\n\tstrategy = a/x\n' >t
	mv t .git/sequencer/opts; git config -f .git/sequencer/opts options.strategy a/x"
quiet git checkout --theirs a && quiet git add a && GIT_EDITOR=true quiet git cherry-pick --continue
not_run "37: a program as the strategy of a cherry-pick"
conflicting
git branch -q h && git checkout -q main && git reset -q --hard HEAD~1
inside 'git cherry-pick -x h~1 h && git revert --no-edit h~1 h && git log --oneline >log'
is "$(wc -l <log)" 5 "37: several commits are picked and reverted as ever"
inside 'mkdir -p .git/sequencer/objects .git/sequencer/refs; echo "ref: refs/heads/main" >.git/sequencer/HEAD; echo .. >.git/sequencer/commondir
	mkdir -p .git/sequencer && mv .git/sequencer s'
gone "37: a repository in the sequencer" .git/sequencer/objects .git/sequencer/commondir s/HEAD

# ---- 37: what git copies into the repository: a path of the host, or a link in the worktree
fresh
mkdir -p "$TEST_TMP/hidden" && echo secret >"$TEST_TMP/hidden/key"
inside 'h=1234567890123456789012345678901234567890; mkdir -p .git/rr-cache/$h && echo x >.git/rr-cache/$h/preimage
	ln -s "'"$TEST_TMP"'/hidden/key" l; printf "$h\t%s\0" "'"$TEST_TMP"'/hidden/key" l >t; cat t >.git/MERGE_RR; mv t .git/MERGE_RR'
echo b >>a && quiet git commit -qam b && quiet git rerere
is "$(grep -rl secret .git/rr-cache)" "" "37: no file of the host comes into the repository"
inside 'git config rerere.enabled true; git commit -q --allow-empty -m c && test -e .git/MERGE_RR && git log --oneline >log'
is "$(wc -l <log)" 3 "37: who commits with rerere may"

# ---- 37: a repository in the reflogs, and remotes that lead there or away
fresh
git init -q --bare ../hub$n_dirs.git && git remote add origin ../hub$n_dirs.git && git push -qu origin main
inside 'mkdir -p .git/logs/objects .git/logs/refs .git/logs/hooks; printf "[core]\n\tbare = true\n" >.git/logs/config
	printf "#!/bin/sh\ntouch '"$trap_"'\n" >.git/logs/hooks/pre-receive; chmod +x .git/logs/hooks/pre-receive
	git config remote.origin.pushurl .git/logs; git config remote.origin.url .git/logs
	git remote set-url --push origin .git/logs; git remote set-url --add origin .git/logs
	git remote remove origin; git remote add origin .git/logs; git config branch.main.remote .git/logs
	git remote add other .git/logs; git config branch.main.pushRemote other; git config remote.pushDefault other
	mkdir -p .git/remotes && echo "URL: .git/logs" >.git/remotes/origin'
echo b >>a && git commit -qam b
quiet git push && quiet git push origin main
not_run "37: hooks of a repository in the reflogs"
gone "37: a repository in the reflogs" .git/logs/objects
is "$(git remote -v | sort -u)" "$(printf 'origin\t../hub%s.git (fetch)\norigin\t../hub%s.git (push)' $n_dirs $n_dirs)" "37: where remotes lead"
unlike "$(git config branch.main.remote)$(git config branch.main.pushRemote)$(git config remote.pushDefault)" 'other|logs' \
	"37: and branches"
inside 'git remote add new https://example.org/x.git && git config branch.main.remote new; git config branch.other.remote new
	rm .git/config; git init -q; git remote add origin https://example.org/evil.git'
unlike "$(git config remote.origin.url)" evil "37: a remote is not led elsewhere by way of a new configuration"
for place in .git/refs/remotes/x .git/logs/refs/remotes/x; do
	inside "mkdir -p $place/refs $place/objects; echo 'ref: refs/heads/main' >$place/HEAD; : >$place/objects; ln -s ../../../../objects $place/objects
		echo ../.. >$place/commondir"
	gone "37: a repository in $place" $place/objects $place/commondir
done
fresh
inside 'mkdir -p .git/remotes .git/branches; echo "URL: /tmp/x" >.git/remotes/origin; echo /tmp/x >.git/branches/origin
	echo /tmp >.git/objects/info/alternates; mkdir -p .git/worktrees/w; echo / >.git/worktrees/w/gitdir'
gone "37: remotes of old, alternates, a worktree elsewhere" .git/remotes/origin .git/branches/origin .git/objects/info/alternates \
	.git/worktrees/w/gitdir

# ---- what keeps a change from the human's git status and git diff is allowed, and said
fresh
echo b >b && git add b && git commit -qm b
inside 'git update-index --assume-unchanged a; git update-index --skip-worktree b; echo x >>.git/info/exclude; echo y >>.git/info/exclude
	git config status.showUntrackedFiles no; git config core.trustctime false; git replace HEAD HEAD~1
	git init -q new; git config core.filemode true; git update-index --no-assume-unchanged a'
for what in "tells git not to look at 'a'" "not to look at 'b'" "info/exclude' changes" 'status.showuntrackedfiles' 'core.trustctime' \
	"refs/replace/[0-9a-f]*' changes"; do
	like "$(cat "$TEST_TMP/out")" "$what" "it is said: $what"
done
is "$(grep -c ^cordon: "$TEST_TMP/out")" 6 "once each, and nothing else"

# ---- 37: `git gc` drops no history because an agent hid it from git
for way in 'git rev-parse HEAD >.git/shallow' 'git rev-parse HEAD >t; mv t .git/shallow' 'git fetch -q --depth 1 "file://$PWD"'; do
	fresh
	for n in 1 2 3; do echo $n >f$n && git add f$n && git commit -qm $n; done
	git gc -q && rm -r .git/logs
	inside "$way; find .git/objects -exec touch -d '40 days ago' {} +"
	rm -f t && quiet git gc && rm -f .git/shallow
	is "$(git log --format=%s 2>&1 | tr '\n' ' ')" "3 2 1 a " "37: history after git gc: ${way:0:20}"
done
inside 'git clone -q --depth 1 "file://$PWD" new && git -C new fetch -q --deepen 1 && git -C new log --oneline'
is "$(wc -l <"$TEST_TMP/out")" 2 "37: a shallow clone of its own can be deepened"
git clone -q --depth 1 "file://$PWD" mine
inside 'git -C mine fetch -q --unshallow && git -C mine log --oneline'
is "$(wc -l <"$TEST_TMP/out")" 4 "37: one of the human's gets its whole history"

# ---- 37: which of the human's filters runs is chosen by the human, or by a file that a diff shows
fresh
git config --global filter.mine.clean 'sed s/a/filtered/' && mkdir -p .git/info
for way in 'cat t >.git/info/attributes' 'mv t .git/info/attributes' 'ln t .git/info/attributes' 'mkdir info; mv t info/attributes; rm -r .git/info; mv info .git'; do
	inside "echo '* filter=mine' >t; $way"
	rm -f t .git/index.lock && echo a >b && quiet git add b
	is "$(git show :b)" a "37: a filter that info/attributes chooses: ${way:0:12}"
	git rm -qf b
done
git config --global --unset filter.mine.clean

# ---- 37: a HEAD that came with the folder: only `objects` or `commondir` is missing
for with in 'mkdir fix/objects fix/refs' 'mkdir -p y/objects y/refs && mv fix/hooks y/ && echo ../y >fix/commondir'; do
	fresh && mkdir fix && echo 'ref: refs/heads/main' >fix/HEAD
	inside 'printf "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = touch '"$trap_"'; false\n" | tee t >fix/config
		mv t fix/config; printf "#!/bin/sh\ntouch '"$trap_"'\n" >hook; chmod +x hook; mkdir fix/hooks; cp hook fix/hooks/reference-transaction; '"$with"
	(cd fix && quiet git status; quiet git update-ref refs/tags/x "$(git hash-object -w --stdin </dev/null 2>/dev/null)")
	not_run "37: a repository around a HEAD: ${with:0:12}"
done

# ---- a named pipe stops the human's git until somebody writes to it
fresh
git commit -q --allow-empty -m 1
inside 'mkfifo .git/objects/pack/x.idx .git/refs/heads/made; mkfifo p q free; mv p .git/refs/heads/moved; ln q .git/refs/heads/linked'
is "$(find .git -type p)" "" "no named pipe gets into a git directory"
is "$(find . -type p | sort | tr '\n' ' ')" "./free ./p ./q " "and others stay where they are"
ok "the human's git does not wait" timeout 60 git gc -q

# ---- history of the start that is rewritten: git diff is clean then
fresh
for n in 1 2 3; do echo $n >f$n && git add f$n && git commit -qm $n; done
git branch other HEAD~1 && git tag v1 && git pack-refs --all
inside 'echo n >n; git add n; git commit -qm n; git checkout -q -b new; git commit -q --allow-empty -m x; git commit -q --amend -m y; git checkout -q main; git gc -q'
unlike "$(cat "$TEST_TMP/out")" 'no longer leads' "what goes on from where it was is not rewritten, nor is what is new"
inside 'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i HEAD~2; echo evil >f1; git add f1; git commit -q --amend --no-edit; git rebase --continue'
like "$(cat "$TEST_TMP/out")" "branch 'main' no longer leads to [0-9a-f]{10}, where it was, but to [0-9a-f]{10}; 1 file differs: f1" "a payload in an old commit"
is "$(git status -s; git diff)" "" "of which git diff shows nothing"
inside 'git branch -f other main~3; git tag -f v1 main; git pack-refs --all'
like "$(cat "$TEST_TMP/out")" "branch 'other' no longer leads" "a branch that was packed before"
like "$(cat "$TEST_TMP/out")" "tag 'v1' no longer leads" "a tag"
for how in 'printf "ref: refs/heads/zz\n" >.git/refs/heads/main' 'git branch -q -D main' \
	'i=0; while [ $i -lt 1005 ]; do echo $h >.git/refs/heads/a$i; i=$((i + 1)); done; echo $h >.git/refs/heads/main' \
	'echo $h | tr a-f A-F >.git/refs/heads/main' 'echo $h >.git/refs/heads/main; echo >.git/objects/pack/pack-$(printf %040d 0).idx'; do
	fresh
	for n in 1 2; do echo $n >f && git add f && git commit -qm $n; done
	git checkout -q -b side && git pack-refs --all
	inside "h=\$(git commit-tree -m x HEAD^{tree}); $how"
	like "$(cat "$TEST_TMP/out")" "branch 'main' no longer leads|could not check whether git history was rewritten" "it is not silent: $how"
	rm -f .git/objects/pack/*.idx
done
fresh
git commit -q --allow-empty -m 1
inside 'echo x >"$(printf "z\nbranch forged")"; git add .; git commit -q --amend -m y'
like "$(cat "$TEST_TMP/out")" "branch 'main' no longer leads.*z.*branch forged" "a name with a line break"
is "$(grep -c 'cordon: branch forged' "$TEST_TMP/out")" 0 "makes no line of its own"

# ---- worktrees beside their repository
empty && git init -q repo && git -C repo commit -q --allow-empty -m a && git -C repo config core.hooksPath tools/hooks && mkdir human
inside 'mkdir -p evil/tools/hooks repo/.git/worktrees/e repo/.git/worktrees/h r/worktrees/e; printf "#!/bin/sh\ntouch '"$trap_"'\n" >evil/tools/hooks/post-checkout
	chmod +x evil/tools/hooks/post-checkout; echo "$PWD/evil/.git" >repo/.git/worktrees/e/gitdir; echo "gitdir: $PWD/repo/.git/worktrees/e" >evil/.git
	echo "gitdir: $PWD/repo/.git/worktrees/h" >human/.git; echo "gitdir: $PWD/r/worktrees/e" >r/.git; true'
gone "a worktree with hooks that settings of its repository name, one that is named by one side" evil/.git human/.git r/.git

# ---- the next fetch removes no branch of the human's, and the next push sends no more
fresh
git init -q --bare ../hub$n_dirs.git && git remote add origin ../hub$n_dirs.git && git push -qu origin main && git branch work && git tag mine
inside 'git config remote.origin.fetch "+refs/heads/w*:refs/heads/w*"; git config --add remote.origin.fetch "+refs/tags/*:refs/tags/*"
	git config remote.origin.prune true; git config fetch.pruneTags true; git config push.default matching; git config remote.origin.push "refs/heads/*"
	git remote add second ../hub'$n_dirs'.git; git config remote.origin.fetch "+refs/heads/*:refs/remotes/origin/*"; git remote add new https://example.org/x.git'
quiet git fetch && quiet git commit --allow-empty -m b && quiet git push
is "$(git branch --format '%(refname:short)') $(git tag) $(git remote)" "$(printf 'main\nwork mine new\norigin')" "branches and tags stay, and a remote can be added"
is "$(git -C ../hub$n_dirs.git branch --format '%(refname:short)')" main "what was not pushed before is not"

# ---- 37: links that git on the host would write through
fresh
echo '# mine' >"$TEST_TMP/rc"
inside 'for f in COMMIT_EDITMSG MERGE_MSG FETCH_HEAD ORIG_HEAD description logs/refs/heads/new info/exclude gc.log; do
		rm -f .git/$f; ln -s "'"$TEST_TMP"'/rc" .git/$f; ln -s "'"$TEST_TMP"'/rc" l; mv l .git/$f; rm -f l
	done; ln -s "'"$TEST_TMP"'/rc" .git/tABCDEF && mv .git/tABCDEF .git/COMMIT_EDITMSG
	mkdir dd && ln -s "'"$TEST_TMP"'/rc" dd/new && mv dd .git/logs/refs/tags'
is "$(find .git -type l ! -name 'tABCDEF')" "" "37: no link comes into a git directory"
echo b >>a && quiet git commit -qam '$(touch '"$trap_"')' && quiet git branch new && quiet git fetch . main
is "$(cat "$TEST_TMP/rc")" "# mine" "37: nothing is written through one"

# ---- 37: gitfiles, which get their names when they are whole
fresh
git init -q "$TEST_TMP/other" && mkdir -p evil/objects evil/refs tools/githooks && git config core.hooksPath tools/githooks
git worktree add -q known && rm -r known
gitfile() { # NAME TEXT
	inside "mkdir -p sub; printf '%b' '$2' >sub/.git; ls"
	gone "37: a gitfile, $1" sub/.git
}
gitfile "to another repository" "gitdir: $TEST_TMP/other/.git\n"
gitfile "to the folder's own" "gitdir: ../.git\n"
gitfile "to a plain directory" "gitdir: ../evil\n"
gitfile "that climbs" "gitdir: ../.git/worktrees/../../evil\n"
gitfile "of two lines" "gitdir: ../.git/worktrees/known\n\nx"
gitfile "to something in it" "gitdir: ../.git/worktrees/known/logs\n"
inside 'mkdir -p sub/tools/githooks && echo evil >sub/tools/githooks/pre-commit && echo "gitdir: ../.git/worktrees/known" >sub/.git; ls'
gone "37: one where a hook of the repository's lies already" sub/.git
inside 'rm -r sub; mkdir sub; echo "gitdir: ../.git/worktrees/known" >sub/.git; mkdir -p sub/tools/githooks; echo evil >sub/tools/githooks/pre-commit'
gone "37: or comes later" sub/tools/githooks/pre-commit
is "$(cat sub/.git)" "gitdir: ../.git/worktrees/known" "37: an honest one gets its name"
rm -r sub
cat >"$TEST_TMP/bin/keepopen" <<'PY'
#!/usr/bin/python3
# keepopen HOW - a writer that stays open, another name, a mapping
import ctypes, mmap, os, sys
good = b'gitdir: ../.git/worktrees/known\n'
os.makedirs('sub', exist_ok=True)
fd = os.open('sub/.git', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
os.write(fd, good)
if sys.argv[1] == 'name':
    ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'alias', 0x400)
    os.close(fd)
elif sys.argv[1] == 'map':
    m = mmap.mmap(fd, len(good))
    os.close(fd)
elif sys.argv[1] == 'again':
    r = os.open('/proc/self/fd/%d' % fd, os.O_RDWR)
    os.close(fd)
os.mkdir('x' + sys.argv[1])
os.rmdir('x' + sys.argv[1])
print('there' if os.path.lexists('sub/.git') else 'not there')
PY
chmod +x "$TEST_TMP/bin/keepopen"
for how in writer name map again; do
	inside "keepopen $how"
	is "$(grep there "$TEST_TMP/out")" "not there" "37: a gitfile that could be changed later: $how"
	rm -rf sub alias
done
inside 'mkdir -p .git/worktrees/n && echo ../../../evil >.git/worktrees/n/commondir; echo /tmp/.git >.git/worktrees/n/gitdir; echo .. >.git/worktrees/known/commondir
	echo evil >.git/commondir; git config -f .git/modules/m/config core.worktree /tmp; mkdir -p .git/modules/m
	git config -f .git/modules/m/config core.worktree ../../../..; git config core.worktree ../x; ls'
gone "37: what a worktree belongs to, and where" .git/worktrees/n/commondir .git/worktrees/n/gitdir .git/commondir .git/modules/m/config
is "$(cat .git/worktrees/known/commondir)$(git config core.worktree)" ../.. "37: nor of one that is there"

# ---- 37: what a program of the host writes, and then renames to a protected name
fresh
printf '[core]\n\tfsmonitor = touch %s\n' "$trap_" | tee e1 e2 e3 e4 >/dev/null
cp .git/config .git/config.lock && cp .git/index .git/index.lock && cp .git/config before
inside 'cat e1 >>.git/config.lock; cat e1 >.git/config.lock; truncate -s 0 .git/config.lock .git/index.lock
	ln .git/config.lock alias; ln .git/CONFIG.lock alias2; mv -T --exchange e2 .git/config.lock; cp --remove-destination e3 .git/config.lock
	mv .git/config.lock away; mv -f e4 .git/config.lock; rm -f .git/config.lock && cp e1 .git/config.lock'
gone "37: another name for a lock of git on the host" alias alias2 away
is "$(cat .git/config.lock)" "$(cat before)" "37: what such a lock holds"
ok "37: nor does an index lose what it holds" cmp .git/index .git/index.lock
mv .git/config.lock .git/config && mv .git/index.lock .git/index
echo '[user]' | tee .gitconfig.lock other.lock >/dev/null
inside 'cat e1 >>.gitconfig.lock; ln .gitconfig.lock alias3; mv .gitconfig.lock away2; rm other.lock'
is "$(cat .gitconfig.lock) $(ls other.lock alias3 away2 2>/dev/null)" '[user] ' "37: nor does a lock of git's settings in a dotfiles folder"
quiet git status
not_run "37: what git on the host is saving"
inside 'echo b >a && printf "y\n" | git commit -p -qm b && git log --format=%s -1'
is "$(tail -n 1 "$TEST_TMP/out")" b "37: git inside opens its own locks again"
inside 'touch .git/index.lock && mv .git/index.lock .git/config.lock && rm .git/config.lock && echo gone'
is "$(tail -n 1 "$TEST_TMP/out")" gone "37: and they can be taken away"
cp .git/config .git/config.lock
inside 'python3 -c "
import os
open(\".git/index.lock\", \"w\").close()
for i in range(600):
    open(\".git/config.worktree.lock\", \"w\").close(); os.unlink(\".git/config.worktree.lock\")
os.unlink(\".git/index.lock\")
os.unlink(\".git/config.lock\")"'
gone "37: a stale one of the session's own, whatever it has made since" .git/index.lock
ok "37: but none of the host's" cmp .git/config .git/config.lock
rm .git/config.lock

fresh
start_in "$dir" sh -c 'echo x >.git/config.lock; "$0" step begin x; rm .git/config.lock; echo >ready
	until [ -e go ]; do sleep 0.01; done; "$0" step abort' "$CORDON"
wait_for 20 test -e ready
echo host >.git/config.lock && touch go && wait "$pid"
is "$(cat .git/config.lock)" host "37: a rollback does not replace a lock of git on the host"
rm .git/config.lock

fresh
touch d1 d2 d3 d4 d5
(wait_for 20 test -e ready && echo host >.git/config.lock && touch go) &
host=$!
out=$("$CORDON" run --headless --steps auto --set safeguard.deletes=3 -- sh -c 'sh -c "echo x >.git/config.lock; rm .git/config.lock
	echo >ready; until [ -e go ]; do sleep 0.01; done; rm d1 d2 d3 d4 d5"' 2>&1)
wait "$host"
like "$out" "rolled back" "37: a safeguard rolls back what made and removed such a lock"
like "$out" "'\.git/config\.lock' is left as it is" "37: says that there is another one now: $out"
is "$(cat .git/config.lock) $(ls ready)" "host " "37: and leaves that one there"
rm .git/config.lock

# ---- 38: other names of what is protected
fresh
mkdir -p scripts conf/vscode tools/githooks real && echo '#!/bin/sh' >scripts/pre-commit && chmod +x scripts/pre-commit
ln -s ../../scripts/pre-commit .git/hooks/pre-commit
echo '# mine' >conf/envrc && ln -s conf/envrc .envrc && ln -s conf/vscode .vscode && echo '{}' >conf/vscode/tasks.json
printf '[core]\n\thooksPath = tools/githooks\n' >conf/inc && git config include.path ../conf/inc
git config filter.f.clean 'scripts/clean %f' && echo '#!/bin/sh' >scripts/clean
git add -A && git commit -qm files
evil="echo 'touch $trap_' >>"
inside "$evil scripts/pre-commit; $evil conf/envrc; $evil conf/vscode/tasks.json; $evil conf/inc; $evil tools/githooks/pre-commit
	$evil scripts/clean; sed -i s/x/y/ conf/inc; mv conf conf2; rm conf/envrc && echo 'touch $trap_' >conf/envrc; true"
is "$(grep -rl "touch $trap_" . --exclude-dir=.git)" "" "38: a hook, .envrc, .vscode that are links; an include; a filter; hooksPath in it"
inside "$evil scripts/other; mv scripts/other scripts/third" && is "$(ls scripts)" $'clean\npre-commit\nthird' "38: and their neighbours are free"

empty
git init -q --separate-git-dir gitdata . && echo a >a && git add a && git commit -qm a
inside "$evil gitdata/hooks/pre-commit; git config core.fsmonitor 'touch $trap_'; printf '[core]\n\tfsmonitor = touch $trap_\n' >>gitdata/config
	mv gitdata g && printf '[core]\n\tfsmonitor = touch $trap_\n' >>g/config; mv g gitdata; rm gitdata/HEAD; echo x >.git"
quiet git status && quiet git commit --allow-empty -qm b
not_run "38: a git directory of another name, by a gitfile"
ok "38: it is as it was" git status
ok "38: and git works with it inside" in_folder "$dir" sh -c 'echo b >b && git add b && git commit -qm b'

empty
git init -q . && mv .git store && ln -s store .git && echo a >a && git add a && git commit -qm a
inside "$evil store/hooks/pre-commit; chmod +x store/hooks/pre-commit; $evil .git/hooks/post-commit; chmod +x .git/hooks/post-commit
	printf '[core]\n\tfsmonitor = touch $trap_\n' >>store/config; git config core.fsmonitor 'touch $trap_'"
quiet git status && quiet git commit --allow-empty -qm b
not_run "38: a git directory that .git is a link to"

# A gitfile with links on its path: `..` means what the kernel makes of it.
for way in hop/store=deep/er/store hop/../store=deep/store; do
	empty && mkdir -p deep/er && ln -s deep/er hop && git init -q --separate-git-dir "${way#*=}" . && echo a >a
	git add a && git commit -qm a && echo "gitdir: ${way%=*}" >.git
	inside "for d in bad bad/er; do mkdir -p \$d/store; cp -r ${way#*=}/objects ${way#*=}/refs ${way#*=}/index \$d/store
		printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch $trap_\n' >\$d/store/config; cp ${way#*=}/HEAD \$d/store; done
		ln -sfn bad/er hop; rm hop && ln -s bad/er hop; mv hop h && ln -s bad/er hop"
	quiet git status && quiet git commit --allow-empty -qm b
	not_run "38: a git directory by a gitfile, 'gitdir: ${way%=*}', where hop is a link"
	unlike "$(readlink hop)" bad "38: which leads nowhere else"
done

# Through further links: a process that redirects one of them writes to none of these files.
fresh
mkdir -p c1 scripts v1 && ln -s c1 conf && echo '# mine' >c1/envrc && ln -s conf/envrc .envrc && ln -s v1 v0 && ln -s v0 .vscode
echo '#!/bin/sh' >scripts/real && ln -s real scripts/link && ln -s ../../scripts/link .git/hooks/pre-commit && chmod +x scripts/real
mkdir h1 && ln -s h1 h0 && git config core.hooksPath h0
inside "mkdir bad; $evil bad/envrc; $evil bad/tasks.json; $evil bad/pre-commit; chmod +x bad/pre-commit; ln -sfn bad conf; ln -sfn bad v0; ln -sfn bad h0
	ln -sfn ../bad/pre-commit scripts/link; rm h0; mkdir h0; $evil h0/pre-commit; rm v0; cp -r bad v0; ln -s bad x; mv -T x conf"
gone "38: links to which a hook, .envrc, .vscode, hooksPath lead lead nowhere else" conf/tasks.json v0/tasks.json h0/pre-commit
is "$(readlink scripts/link conf)" "real
c1" "38: and stay"

fresh
mkdir -p inner && git init -q inner && git -C inner config core.hooksPath tools/hooks && mkdir -p inner/tools/hooks
git init -q --bare plain && mkdir -p mine/hooks && git config --file "$HOME/.config/git/config" core.hooksPath mine/hooks 2>/dev/null ||
	{ mkdir -p "$HOME/.config/git" && git config --file "$HOME/.config/git/config" core.hooksPath mine/hooks; }
git worktree add -q wt && mkdir -p wt/mine/hooks
inside "$evil inner/tools/hooks/pre-commit; $evil plain/hooks/pre-receive; printf '[core]\n\tfsmonitor = x\n' >>plain/config
	$evil mine/hooks/pre-commit; $evil wt/mine/hooks/pre-commit; echo ok >inner/file"
gone "38: hooks of a second repository, a bare one, a worktree, and of everybody's settings" inner/tools/hooks/pre-commit \
	plain/hooks/pre-receive mine/hooks/pre-commit wt/mine/hooks/pre-commit
unlike "$(cat plain/config)" fsmonitor "38: nor the settings of a bare one"
ok "38: and the rest of them is free" test -e inner/file
rm "$HOME/.config/git/config"

# ---- programs that git's settings name: behind an interpreter, as an argument, there or not yet
fresh
mkdir tools && echo cat >tools/clean.sh && echo f.c filter=x diff=y >.gitattributes && git add -A && git commit -qm tools
git config filter.x.clean "sh tools/clean.sh" && git config diff.y.textconv "python3 tools/c.py"
git config core.fsmonitor tools/fsm && git config trailer.z.cmd 'sh -c ". tools/lib"'
git config core.sshCommand 'ssh -F tools/sshconfig' && git config credential.helper '!f() { tools/cred "$@"; }; f'
inside "echo 'touch $trap_; cat' >tools/clean.sh; printf '#!/bin/sh\ntouch $trap_\n' >tools/fsm; chmod 755 tools/fsm; cp tools/fsm tools/fsm2
	mv tools/fsm2 tools/fsm; mkdir t2; cp tools/* t2; cp t2/clean.sh t2/fsm; mv -T --exchange t2 tools; mv tools t3; echo 'import os' >tools/c.py
	echo x >tools/lib; echo x >tools/sshconfig; ln -s ../t2/fsm tools/cred; echo new >f.c; echo free >tools/free"
quiet git status && quiet git diff && quiet git add f.c
not_run "programs that settings name behind an interpreter, and such as are not there yet"
is "$(ls tools)" "$(printf 'clean.sh\nfree')" "none of them is made, and other files are free"
for place in tools/clean.sh tools/c.py tools/fsm tools/lib tools/sshconfig tools/cred; do
	like "$(cd "$dir" && "$CORDON" why write $place)" '^ask' "why says the same of $place"
done
like "$(cd "$dir" && "$CORDON" why write tools/free)" '^allow' "why says the same of what is free"

# ---- 39: what the same agent outside runs, or has git run
fresh
as() { # PROFILE COMMANDS
	(cd "$dir" && "$CORDON" run --headless --profile "$1" -- sh -c "$2") >"$TEST_TMP/out" 2>&1
}
snapshot=$HOME/.local/share/opencode/snapshot/p/h shadow=$HOME/.gemini/history/h
git init -q --bare "$snapshot" && git init -q "$shadow" && mkdir -p "$HOME/.claude/shell-snapshots" "$HOME/.claude/session-env"
echo : >"$HOME/.claude/shell-snapshots/snapshot-bash-1.sh"
as claude "$evil ~/.claude/shell-snapshots/snapshot-bash-1.sh; $evil ~/.claude/shell-snapshots/snapshot-bash-2.sh
	mkdir -p ~/.claude/session-env/s; $evil ~/.claude/session-env/s/sessionstart-hook-1.sh; mkdir -p ~/.claude/todos && echo x >~/.claude/todos/x"
is "$(cat "$HOME"/.claude/shell-snapshots/* "$HOME"/.claude/session-env/*/* 2>/dev/null)" : "39: shell text of Claude Code"
ok "39: while its notes are written" test -s "$HOME/.claude/todos/x"
as opencode "git config -f $snapshot/config core.fsmonitor 'touch $trap_'; printf '[core]\n\tfsmonitor = touch $trap_\n' >>$snapshot/config
	printf '#!/bin/sh\ntouch $trap_\n' >$snapshot/hooks/post-index-change; chmod +x $snapshot/hooks/post-index-change
	mkdir -p ${snapshot}2 && git init -q --bare ${snapshot}2; printf '#!/bin/sh\ntouch $trap_\n' >${snapshot}2/hooks/post-index-change"
quiet git --git-dir="$snapshot" --work-tree="$dir" add -A && quiet git --git-dir="$snapshot" --work-tree="$dir" status
not_run "39: a snapshot repository of opencode"
gone "39: hooks of a new one" "${snapshot}2/hooks/post-index-change"
ok "39: which can be made" git --git-dir="${snapshot}2" config core.bare
as opencode "git --git-dir=$snapshot --work-tree=. add -A && git --git-dir=$snapshot write-tree"
like "$(tail -n 1 "$TEST_TMP/out")" '^[0-9a-f]{40}$' "39: and used"
as gemini "printf '[core]\n\tfsmonitor = touch $trap_\n' >>$shadow/.git/config; $evil $shadow/.git/hooks/pre-commit; mkdir -p $shadow/git
	printf '[core]\n\tfsmonitor = touch $trap_\n' >$shadow/git/config; mkdir -p ~/.gemini/tmp/bin; $evil ~/.gemini/tmp/bin/rg"
XDG_CONFIG_HOME=$shadow quiet git -C "$shadow" status && XDG_CONFIG_HOME=$shadow quiet git -C "$shadow" commit --allow-empty -m x
not_run "39: the shadow repository of gemini"
like "$(cd "$dir" && "$CORDON" why write "$shadow/.git/hooks/x" --profile gemini)" '^ask' "39: why says the same"
gone "39: and its programs" "$HOME/.gemini/tmp/bin/rg" "$shadow/git/config"

mkdir -p "$HOME/.codex" && echo '{}' | tee "$HOME/.claude.json.tmp.1.a" "$HOME/.codex/.tmpAbCdEf" .mcp.json.tmp.1.a >/dev/null
as claude "$evil ~/.claude.json.tmp.1.a; mv ~/.claude.json.tmp.1.a x; $evil .mcp.json.tmp.1.a; ln .mcp.json.tmp.1.a y
	echo 1 >~/.claude.json.tmp.2.b && echo 2 >>~/.claude.json.tmp.2.b"
as codex "$evil ~/.codex/.tmpAbCdEf; rm ~/.codex/.tmpAbCdEf; echo 1 >~/.codex/.tmpGhIjKl && echo 2 >>~/.codex/.tmpGhIjKl"
is "$(cat "$HOME/.claude.json.tmp.1.a" "$HOME/.codex/.tmpAbCdEf" .mcp.json.tmp.1.a | sort -u)" '{}' "39: settings that an agent outside is saving"
is "$(cat "$HOME/.claude.json.tmp.2.b" "$HOME/.codex/.tmpGhIjKl")" "$(printf '1\n2\n1\n2')" "39: what one inside saves"

fresh
mkdir -p .claude && echo '{}' >.claude/settings.json
inside 'mv .claude c; rm -r .claude; mkdir c2; mv c2 .claude; mv -T --exchange .claude c2'
is "$(cat .claude/settings.json)" '{}' "13: an agent's settings do not go away with their directory"
for p in .pdbrc .irbrc .Rprofile .ghci jupyter_server_config.py .envrc.local mise/config.toml .lintstagedrc.json captainhook.json \
	.cargo-husky/hooks/pre-push .simple-git-hooks.json .tool-versions .lazy.lua .pi/extensions/x.ts .vibe/config.toml \
	.aider.tags.cache.v4/cache.db .lfsconfig .cargo/config.toml .bsp/x.json .trunk/trunk.yaml .moon/hooks/x .jj/repo/store/git_target \
	.sl/sharedpath .gdbinit.py .local.vimrc .mise/tasks/x .rtx.toml .venv/bin/python3 .claude/worktrees/x/.claude/settings.json \
	.claude/worktrees/x/.vscode/tasks.json \
	.agents/skills/x/mcp.json .agents/plugins/x .github/lsp.json .github/extensions/x/extension.mjs .github/agents/x.agent.md \
	.grok/settings.json .kilo/kilo.jsonc kilo.json kilo.jsonc lsp.json; do
	inside "mkdir -p \$(dirname $p); echo x >$p"
	gone "13: $p" $p
done
inside 'mkdir -p .agents/skills/x .github/workflows; echo x >.agents/skills/x/SKILL.md; echo x >.github/workflows/x.yml'
ok "13: beside them, files that nothing runs by itself" test -s .agents/skills/x/SKILL.md -a -s .github/workflows/x.yml
inside 'mkdir -p .venv/bin evil; cp /bin/sh evil/python3; ln -s ../../evil/python3 .venv/bin/python3; ln -s "$PWD/evil/python3" .venv/bin/python
	ln -s /tmp/python3 .venv/bin/python3.1; ln -s /bin/sh .venv/bin/python3.2; ln -s ../../evil/python3 x; mv x .venv/bin/python3'
is "$(ls .venv/bin)" "" "an interpreter of a virtual environment that leads to the agent's file"

# ---- 37: steps that a commit brings into an undo store in the folder: git writes over what it ignores
if shm=$(mktemp -d /dev/shm/cordon-git.XXXXXX 2>/dev/null); then
	state=${XDG_STATE_HOME-}
	export XDG_STATE_HOME=$shm
	umask 022
	for where in steps open; do
		empty && echo evil >planted
		inside 'rm planted'
		forged=$dir/.cordon/steps/1
		ok "the store is in the folder" test -e "$forged/undo"
		fresh
		inside 'echo b >b'
		cp -r "$forged" forged
		inside 'export GIT_INDEX_FILE=$PWD/i; git read-tree HEAD
			(cd forged && find . -type f) | while read -r f; do
				git update-index --add --cacheinfo "100644,$(git hash-object -w "forged/$f"),.cordon/'$where'/9/${f#./}"
			done
			git branch agent "$(git commit-tree -p HEAD -m agent "$(git write-tree)")"'
		quiet git merge agent
		ok "37: git writes into $where" test -e ".cordon/$where/9/undo"
		quiet "$CORDON" undo
		like "$(cat "$TEST_TMP/host")" "may have come with a commit" "37: undo does not trust the store"
		inside true
		like "$(cat "$TEST_TMP/out")" "put aside.* it may have come with a commit" "37: a session puts it aside"
		quiet "$CORDON" undo
		gone "37: no step that a commit brought into $where was undone" planted
	done
	if [ "$(id -u)" = 0 ]; then # whose store the owner of the folder can make
		fresh
		inside 'echo b >b' && chown -R 12345 .cordon
		quiet "$CORDON" undo
		like "$(cat "$TEST_TMP/host")" "belongs to another user" "root applies no steps of another user's"
		is "$(cat b)" b "and leaves the file"
		like "$("$CORDON" log 2>&1)" "echo b" "though it may list them"
	fi
	if [ -n "$state" ]; then XDG_STATE_HOME=$state; else unset XDG_STATE_HOME; fi
	rm -rf "$shm"
fi
done_testing
