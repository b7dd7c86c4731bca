#!/bin/bash
# run - the attacks of README.md here against a headless run: refused, and without effect on the host.
# SPDX-License-Identifier: MIT
# also with: MODE=static BACKEND=bwrap BACKEND=landlock
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
T=$TOOLS/escape
# The mounts of this test: others mount file systems at the same time, whose paths contain cordon as well.
mounts() { grep cordon /proc/self/mounts | grep -vE '/cordon-test\.[^ ]*/t\.'; grep -F "$TEST_TMP" /proc/self/mounts; }
mounts=$(mounts)
dir=$(new_folder work)
outside=$(new_folder outside)
cd "$dir" || exit 1

git init -q . && git config user.name t && git config user.email t@example.org
echo plain >plain && mkdir -p sub .vscode && echo '{}' >.vscode/settings.json
printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
ln .git/hooks/pre-commit alias
echo "SECRET outside" >"$outside/file"
mkdir -p "$HOME/.ssh" "$HOME/.aws" "$HOME/.config/cordon" "$HOME/.gnupg"
echo "SECRET key" >"$HOME/.ssh/id_ed25519" && echo "SECRET aws" >"$HOME/.aws/credentials"
echo "# mine" >"$HOME/.bashrc" && use_backend
echo "SECRET env" >.env && cp .env sub/.ENV.Local && cp .env .Env
state=$HOME/.local/state/cordon
"$CORDON" run --headless -- sh -c 'echo 1 >first' # there is a store and an audit log from here on

inside() { in_folder "$dir" "$@"; }
# The state of the host, which the attacks must not change. With times, so that nothing was even touched.
host() { tree "$outside" && tree "$HOME/.ssh" && tree "$HOME/.config" && cat "$HOME/.bashrc" &&
	ls -A "$HOME" && tree "$dir/.git/hooks" && tree "$dir/.vscode" && cat "$dir/.git/config" "$dir/.env"; }
host_before=$(host)
# Changes that are allowed but must not stay: those after the races are undone. (Those of the races stay: each is tens
# of thousands of exchanges, and undoing them took three quarters of the whole time here.)
last_step() { "$CORDON" log --json | grep '"undone":false' | grep -oE '^\{"id":[0-9]+' | tr -dc '0-9\n' | sort -n | tail -n 1; }
put_back() { while [ "$(last_step)" -gt "$races" ] && "$CORDON" undo; do :; done >/dev/null 2>&1; }
host_same() { same "$(host)" "$host_before" "$1: no effect on the host"; }

# attack NUMBERS PROGRAM ATTACK ARG... - every try must print denied. $allowed: a regex of harmless tries that may
# succeed.
allowed='^$'
attack() {
	local name="$1: $3" out bad program=$2
	shift 2
	out=$(inside timeout 600 "$T/$program" "$@" 2>&1)
	bad=$(printf '%s\n' "$out" | grep '^ALLOWED' | grep -Ev "^ALLOWED ($allowed)\$")
	if [ -n "$bad" ]; then
		fail "$name" "$bad"
	elif ! printf '%s\n' "$out" | grep -q '^denied'; then
		fail "$name" "it did not get that far: $out"
	else
		pass "$name: $(printf '%s\n' "$out" | grep -c '^denied') refusals"
	fi
	allowed='^$'
}
hook=.git/hooks/pre-commit new=.git/hooks/post-checkout

# ---- paths and files
ln -s "$HOME/.ssh/id_ed25519" to-key && ln -s "$HOME/.ssh" to-ssh && ln -s "$outside/file" to-outside
ln -s "$outside/created" dangling
ln -s .git/hooks/post-checkout to-hook
for p in "$HOME/.ssh/id_ed25519" to-key to-ssh/id_ed25519 "$HOME/.aws/credentials" "sub/../to-key" \
	"/proc/self/root$HOME/.ssh/id_ed25519" "/proc/self/cwd/to-key" .env .Env sub/.ENV.Local; do
	attack 1,8 paths read "$p"
done
attack 1 paths list "$HOME/.ssh"
attack 1 paths list "$HOME/.gnupg"
# Without mounts the names are visible.
[ "$BACKEND" = landlock ] ||
	is "$("$CORDON" run --headless --mode static -- ls -A "$HOME" | grep -E '^\.(ssh|aws|gnupg|bashrc)$')" .bashrc \
		"1: hidden directories are not listed"
for p in to-outside dangling to-hook "$outside/file" "$outside/new" "$HOME/new" /usr/new /etc/passwd \
	"/proc/self/root$outside/file" "/proc/self/cwd/../outside/file" "../outside/file" "sub/../../outside/x" \
	"$dir/../outside/x" /proc/1/root/etc/passwd "/proc/1/cwd/x" "/proc/self/cwd/$new"; do
	attack 1,5,8 paths write "$p"
done
host_same "1,5,8"

# The other variants of this test do fewer: they test the backend's limits, not how the door handles names.
tries=$((15000 / ${TEST_FEWER:-1}))
[ "$BACKEND $MODE" = "native dynamic" ] || [ -n "${RACES:-}" ] || tries=$((4000 / ${TEST_FEWER:-1}))
mkdir good bad-race && ln -s "$dir/.git/hooks" bad-link && ln -s "$outside" out-link
inside "$T/paths" race-names good bad-link good/post-merge "$tries" >"$TEST_TMP/out" 2>&1
like "$(cat "$TEST_TMP/out")" "^opened " "2,4: $(cat "$TEST_TMP/out") while a directory is swapped with a link to the hooks"
rm -rf good && mkdir good
inside "$T/paths" race-names good out-link good/leak "$tries" >/dev/null 2>&1
ln -s plain ok-link && ln -s "$dir/$new" evil-link
inside "$T/paths" race-names ok-link evil-link ok-link "$tries" >/dev/null 2>&1
inside "$T/paths" race-bytes plain "$new" "$tries" >/dev/null 2>&1
inside "$T/paths" race-bytes plain "$outside/file" "$tries" >/dev/null 2>&1
inside "$T/paths" race-bytes plain "$hook" "$tries" >/dev/null 2>&1
inside "$T/paths" race-chdir "$dir/sub" "$dir/.git/hooks" post-merge "$tries" >/dev/null 2>&1
inside "$T/paths" race-chdir "$dir/sub" "$outside" leak "$tries" >/dev/null 2>&1
host_same "2,3,4,5 races"
ln -s plain r1 && ln -s "$HOME/.ssh/id_ed25519" r2
attack 2 paths race-read r1 r2 r1 "$tries"
races=$(last_step)
isnt "$races" "" "2,3,4,5 races: they are steps"

attack 5 paths dirfd "$dir" ../outside/dirfd
attack 6 paths openat2 "$dir/$new"
attack 6 paths openat2 "$outside/openat2"
attack 6 paths openat2 "$new"
attack 7 paths reopen "$hook"
attack 7 paths reopen "$outside/file"
attack 7 paths reopen /etc/passwd
attack 9 paths write alias
ok "9: a hard link of something outside" inside sh -c '! ln "$1" x 2>/dev/null && ! test -e x' sh "$outside/file"
ok "9: a new alias of a protected file" inside sh -c '! ln "$1" y 2>/dev/null' sh "$hook"
echo spare >spare
allowed='mkdir|unlink|rename-away' # making room for a hook runs nothing, and can be undone
attack 10 paths calls "$hook" "$new" spare
put_back
echo spare >"$TEST_TMP/spare"
attack 10 paths calls "$outside/file" "$outside/new" "$outside/spare"
attack 10 paths tmpfile-link "$dir" "$dir/$new"
attack 10 paths tmpfile-link "$dir" "$outside/linked"
attack 11 paths handle "$dir/plain"
host_same "5,6,7,9,10,11"

# A protected place stays protected under another name.
inside sh -c 'mv .git g && echo evil >g/hooks/pre-commit; mv g .git' 2>/dev/null
inside sh -c 'mkdir d; mv .git d/ 2>/dev/null; mv .git/hooks h 2>/dev/null && echo evil >h/pre-commit; mv h .git/hooks' 2>/dev/null
inside sh -c 'mkdir -p n/hooks; echo evil >n/hooks/post-merge; mv n/hooks .git/hooks; mv -T n .git' 2>/dev/null
inside python3 -c 'import ctypes
ctypes.CDLL(None).renameat2(-100, b".git", -100, b"n", 2)' 2>/dev/null
ok "12: .git is where it was" test -f .git/HEAD -a ! -e g -a ! -e d/.git
ok "12: nothing evil in it" sh -c '! grep -rqs evil .git'
put_back
host_same "12: renamed parents"

# Files that the host would run later, present or not: refused, and nothing is left in their place.
for p in .git/hooks/post-checkout .claude/settings.json .claude/settings.local.json .mcp.json .vscode/tasks.json .envrc .direnv/bin/run \
	.git/info/attributes-x/../../hooks/post-merge sub/.git/hooks/pre-commit .codex/config.toml .cursor/mcp.json .project x.sublime-project \
	.GIT/hooks/pre-push .GiT/config .GiT/HOOKS/pre-push .gitconfig .bashrc sub/.envrc .cordon.conf; do
	had=$(test -e "$p" && echo 1)
	inside sh -c 'mkdir -p "$(dirname "$1")"; echo evil >"$1"' sh "$p" >/dev/null 2>&1
	name="13: $p"
	[[ $p != *.G[iI][tT]/* ]] || name="13,15: $p"
	if [ -z "$had" ] && [ -e "$p" ]; then fail "$name" "it exists now: $(ls -la "$p")"; else pass "$name"; fi
done
for p in "$HOME/.bashrc" "$HOME/.profile" "$HOME/.config/autostart/x.desktop" "$HOME/.local/bin/x" "$HOME/.gitconfig" .env .env.local; do
	attack 13 paths write "$p"
done
host_same 13

# git's own configuration: inert settings pass, those that run programs do not.
config_before=$(cat .git/config)
for kv in core.fsmonitor=/tmp/x core.hooksPath=/tmp core.pager=x core.sshCommand=x alias.st='!x' diff.external=x \
	filter.x.clean=x merge.x.driver=x include.path=/tmp/x credential.helper='!x' core.worktree=/ gpg.program=x \
	core.editor=x sequence.editor=x uploadpack.packObjectsHook=x remote.x.url='ext::sh -c x' url.x.insteadOf=y \
	extensions.refStorage=files:///tmp/x; do
	if inside git config "${kv%%=*}" "${kv#*=}" >/dev/null 2>&1; then
		fail "14: git config ${kv%%=*}" "it went through"
	else
		pass "14: git config ${kv%%=*}"
	fi
done
inside sh -c 'printf "[core]\n\tfsmonitor = x\n" >>.git/config' 2>/dev/null
inside sh -c 'echo /tmp >.git/commondir; echo "gitdir: /tmp/x" >sub/.git; echo "[core]" >.git/config.worktree' 2>/dev/null
is "$(cat .git/config)" "$config_before" "14: .git/config is as it was"
ok "14: no commondir, no .git file" test ! -e .git/commondir -a ! -f sub/.git
ok "14: an inert key" inside git config remote.o.url https://example.org/x.git
host_before=$(host)
if command -v strace >/dev/null && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -le 1 ]; then
	inside sh -c 'echo "* filter=evil diff=evil" >.gitattributes; echo changed >plain'
	for c in "log" "diff" "diff --stat" "undo" "redo"; do
		# shellcheck disable=SC2086 # words
		strace -f -e trace=execve,execveat -o "$TEST_TMP/trace" "$CORDON" $c >/dev/null 2>&1
		is "$(grep -cE 'exec.*= 0' "$TEST_TMP/trace")" 1 "14: cordon $c runs no other program"
	done
else
	skip "14: no other program is run" "no strace here"
fi

inside mkfifo fifo && ok "16: a FIFO does not hold the keeper up" timeout 300 "$CORDON" run --headless -- \
	sh -c '(echo x >fifo &) ; cat fifo'
timeout 300 "$CORDON" run --headless -- sh -c '(timeout 3 sh -c "echo x >fifo" &) ; sleep 0.2; echo y >after'
ok "16: nor does one that nobody reads" test -s after
inside sh -c 'echo x >/dev/shm/cordon-test-x; echo x >/tmp/cordon-test-x'
ok "16: /dev/shm and /tmp are private" test ! -e /dev/shm/cordon-test-x -a ! -e /tmp/cordon-test-x

# ---- kernel surface
attack 17 kernel io-uring
attack 18 kernel abi "$dir/by-other-abi"
ok "18: no file by another ABI" test ! -e by-other-abi
attack 19,20 kernel namespaces
attack 19 kernel mounts
sleep 3000 &
victim=$!
disown "$victim" 2>/dev/null
attack 8,21 kernel process 1
attack 8 paths proc 1
attack 8 paths proc "$victim"
# Without a pid namespace a host's process number can be named; no signal reaches it.
[ "$BACKEND" != landlock ] || allowed='(pidfd|setown)-host'
attack 22 kernel signals "$victim"
inside "$T/kernel" kill-all >/dev/null 2>&1
ok "22: but no process of the host" kill -0 "$victim"
kill "$victim"
attack 23 paths fds
mkdir storm && (cd storm && "$CORDON" run --headless -- "$T/paths" storm 2000) >"$TEST_TMP/out"
is "$(cat "$TEST_TMP/out")" "denied storm steady" "24: a storm of signals"
allowed='stack a filter'
attack 25 kernel seccomp "$dir/$new"
allowed='memfd_secret-or-none'
attack 26 kernel rare
attack 26 kernel crash
echo leased >leased && attack 26 kernel leases leased
# Without a user namespace a user may not lower the bounding set; no_new_privs makes it ineffective.
[ "$BACKEND" != landlock ] || [ "$(id -u)" = 0 ] || allowed='Bnd'
attack 27 kernel privileges
for p in su sudo mount passwd; do
	command -v $p >/dev/null && [ -u "$(command -v $p)" ] || continue
	inside sh -c 'cp "$(command -v '$p')" copy 2>/dev/null; '$p' --version >/dev/null 2>&1; grep -h NoNewPrivs: /proc/self/status' \
		>"$TEST_TMP/out"
	like "$(cat "$TEST_TMP/out")" "1" "27: $p gains nothing"
done

# The kernel's own files belong to the whole host: no process inside changes their mode or owner, or writes.
for p in /proc/swaps /proc/slabinfo /proc/self/net/dev /sys/devices/system /proc/sys/kernel/hostname \
	/proc/self/ns/uts; do
	[ ! -e "$p" ] || attack 8 paths kernels "$p"
done
# shellcheck disable=SC2016
is "$(inside sh -c 'find /proc -path "/proc/[0-9]*" -prune -o -type f -print 2>/dev/null |
	while read -r f; do sh -c ": >>$f" 2>/dev/null && echo "$f"; done')" "" "8: nothing of /proc can be opened for writing"

# cordon's own processes cannot be read by others of the same user
mark=$(new_mark)
start_in "$dir" sh -c "echo up; sleep 600; : $mark" >"$TEST_TMP/up"
wait_for 10 grep -q up "$TEST_TMP/up"
if [ "$(id -u)" != 0 ]; then
	keepers=0
	for p in $(marked "$mark"); do
		case $(cat "/proc/$p/comm") in
		cordon*) is "$(stat -c %u "/proc/$p/mem")" 0 "21: $(cat "/proc/$p/comm") is not dumpable" && keepers=1 ;;
		esac
	done
	is "$keepers" 1 "21: found them"
fi
kill "$pid" && wait "$pid" 2>/dev/null

# ---- IPC and terminal
listening() { # NAME KIND ; on the host
	: >"$TEST_TMP/listen"
	"$T/net" listen-unix "$1" "$2" >"$TEST_TMP/listen" 2>&1 &
	listener=$!
	wait_for 20 grep -q ready "$TEST_TMP/listen"
}
unheard() { # NAME
	unlike "$(cat "$TEST_TMP/listen")" ARRIVED "$1: nothing arrived" && kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
}
for kind in stream dgram; do
	listening "@cordon-$$-$kind" $kind
	attack 28 net unix "@cordon-$$-$kind"
	unheard "28 $kind"
	listening "$outside/sock-$kind" $kind
	attack 29,30 net unix "$outside/sock-$kind"
	ln -sf "$outside/sock-$kind" sock-link
	attack 30 net unix "$dir/sock-link"
	unheard "30 $kind"
	rm -f "$outside/sock-$kind"
done
host_before=$(host)
for p in /run/dbus/system_bus_socket "/run/user/$(id -u)/bus" /run/docker.sock /var/run/docker.sock /run/podman/podman.sock \
	/run/containerd/containerd.sock /tmp/.X11-unix/X0 /run/systemd/private; do
	attack 29,30 net unix "$p"
done
attack 32 kernel terminal

# Hostile text in output for people.
inside sh -c 'touch "$(printf "a\033]52;c;QUFB\007b\033[31m\342\200\256c\302\233D")"; echo "$(printf "x\033[2Jy")" >esc' \
	"$(printf 'arg\033]0;title\007')"
for c in log "log --json" diff "diff --stat" audit "audit --json" "undo --dry-run"; do
	# shellcheck disable=SC2086 # words
	out=$("$CORDON" $c 2>&1 | tr -d '\n\t' | LC_ALL=C grep -c $'[\001-\037\177]\|\342\200\256\|\302\233')
	is "$out" 0 "33: cordon $c prints no control characters"
done

# ---- network
for kind in tcp udp; do
	: >"$TEST_TMP/listen"
	"$T/net" listen $kind >"$TEST_TMP/listen" 2>&1 &
	listener=$!
	wait_for 20 grep -qE '^[0-9]+$' "$TEST_TMP/listen"
	port=$(head -n 1 "$TEST_TMP/listen")
	for ip in 127.0.0.1 $(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 -F .) 169.254.169.254 1.1.1.1; do
		# To the sandbox's own loopback, and to the namespace behind it, which has no listener.
		allowed='udp-connect|udp-sendto|udp-sendmsg|udp-sendmmsg'
		[ "$ip" = 127.0.0.1 ] || [ "$BACKEND" != landlock ] || allowed='^$'
		attack 36,41 net out "$ip" "$port"
	done
	unheard "36,41 $kind"
done
attack 36 net families

# ---- policy, undo, life
hash_before=$(sha256sum <"$HOME/.config/cordon/config")
audit_file=$(find "$state" -name '*audit*' -type f 2>/dev/null | head -n 1)
for p in "$HOME/.config/cordon/config" "$state/x" "$CORDON" "${audit_file:-$state/audit}" "$HOME/.config/cordon/themes/x.theme"; do
	attack 42 paths write "$p"
done
is "$(sha256sum <"$HOME/.config/cordon/config")" "$hash_before" "42: the configuration is as it was"
attack 42 paths list "$state"
ok "42: the audit log is whole" "$CORDON" audit verify
[ -e .cordon ] && attack 42 paths list "$dir/.cordon"
env_inside=$(LD_PRELOAD=/x AWS_KEY=1 X_TOKEN=1 "$CORDON" run --headless -- env 2>/dev/null)
unlike "$env_inside" "LD_PRELOAD|AWS_KEY|X_TOKEN" "43: the environment is an allow list"

cp "$T/paths" copy
ld=$(find /lib64 /lib -maxdepth 1 -name 'ld-linux*' 2>/dev/null | head -n 1)
[ -z "$ld" ] || inside "$ld" /bin/sh -c 'echo evil >'"$new" 2>/dev/null
inside ./copy write "$new" >/dev/null 2>&1
inside "$T/kernel" memfd-exec "$T/paths" "$dir/$new" >/dev/null 2>&1
inside bash -c 'echo evil >'"$new"'; exec -a git ./copy write '"$new" >/dev/null 2>&1
inside sh -c 'printf "#!/bin/sh\necho evil >%s\n" '"$new"' >s; chmod +x s; ./s; env ./s' >/dev/null 2>&1
host_before2=$(host)
same "$host_before2" "$host_before" "44: containment is the same by every way to run a program"

work2=$(new_folder evade)
(cd "$work2" && "$T/evade" prepare)
t=$(tree "$work2")
is "$(in_folder "$work2" "$T/evade" change)" changed "45: every way to change a file"
isnt "$(tree "$work2")" "$t" "45: they did change"
ok "45: undo" cordon_in "$work2" undo
same "$(tree "$work2")" "$t" "45: all of it was captured"
for w in $("$T/evade" names); do
	cmp -s "$work2/$w" "$work2/f-source" || fail "45: $w" "content differs after undo"
done

# A command's mapping, to which its daemon stores during the next command.
work2=$(new_folder mapped)
printf 'first' >"$work2/v" && truncate -s 65536 "$work2/v" && cp "$T/evade" "$work2/evade"
t=$(tree "$work2")
(cd "$work2" && timeout 600 "$CORDON" run --headless --steps auto -- sh -c '"$1" mapped v
	sh -c "echo x >go; while ! test -e stored; do sleep 0.05; done; :"' sh ./evade) >/dev/null 2>&1
is "$(head -c 1 "$work2/v")" l "45: a store by a mapping from before"
like "$(cd "$work2" && "$CORDON" diff 2 --stat)" " v" "45: it is in the step that ran then"
ok "45: and is undone" undo_whole "$work2"
same "$(tree "$work2")" "$t" "45: with all the others"

# Files that one command wrote and another removed: the undo store has the file itself. (Each in a folder of its own:
# the `held` file of one case would affect the next.)
n=0
for take in "rm v" "echo new >n; mv n v" "ln v x; rm v x"; do
	n=$((n + 1)) && work2=$(new_folder "taken$n")
	echo first >"$work2/v" && chmod 640 "$work2/v"
	out=$(cd "$work2" && "$CORDON" run --headless --steps auto -- sh -c '"$1" taken v & until test -e held; do sleep 0.05; done
		sh -c "echo second >v; :"; sh -c "$2; :"; : >taken; wait' sh "$T/evade" "$take" 2>&1)
	unlike "$out" ALLOWED "45: $take: what is in the undo store stays as it was"
	like "$out" "denied setxattr" "45: $take: all was tried"
	(cordon_in "$work2" undo --force && cordon_in "$work2" undo --force) >/dev/null 2>&1
	is "$(cat "$work2/v") $(stat -c %a "$work2/v")" "second 640" "45: $take: undone"
done

# Obstacles in the way of a restore.
work3=$(new_folder restore)
mkdir -p "$work3/d/e" && echo old >"$work3/d/f" && echo old >"$work3/d/e/g" && echo old >"$work3/plain"
t=$(tree "$work3")
in_folder "$work3" sh -c 'echo new >d/f; echo new >d/e/g; mv d away; ln -s '"$outside"' d; rm plain; mkfifo plain; chmod 000 away'
ok "46: undo of a link, a FIFO and a closed directory in the way" timeout 300 bash -c "cd '$work3' && '$CORDON' undo"
same "$(tree "$work3")" "$t" "46: as before"
in_folder "$work3" sh -c 'echo new >d/f; echo new >d/e/g; echo x >d/made'
mv "$work3/d" "$work3/d.real" && ln -s "$outside" "$work3/d" && echo mine >"$outside/f" && echo mine >"$outside/made"
timeout 300 bash -c "cd '$work3' && '$CORDON' undo --force" >/dev/null 2>&1
is "$(cat "$outside/f" "$outside/made")" "$(printf 'mine\nmine')" "46: undo does not follow a link out of the folder"
rm -f "$outside/f" "$outside/made"

# 49: the death of cordon takes everything with it.
for who in cordon keeper; do
	mark=$(new_mark)
	start_in "$dir" sh -c "'$T/kernel' survive $mark; (setsid sh -c ': $mark; sleep 300' &); echo up; sleep 300; : $mark" \
		>"$TEST_TMP/up" 2>/dev/null
	wait_for 10 grep -q up "$TEST_TMP/up"
	ok "49: a survivor is there" wait_for 10 pgrep -f "^$T/kernel survive $mark"
	if [ $who = cordon ]; then kill -KILL "$pid"; else pkill -KILL -P "$pid"; fi
	wait "$pid" 2>/dev/null
	ok "49: SIGKILL of $who leaves no process" wait_for 10 none_marked "$mark"
	ok "49: nor the one that tried to survive" wait_for 10 bash -c "! pgrep -f '^$T/kernel survive $mark'"
done
same "$(mounts)" "$mounts" "49: no mount is left"

# Refusals are in the audit log.
log=$("$CORDON" audit --json 2>/dev/null | cat)
for word in post-checkout .mcp.json tasks.json .envrc; do
	like "$log" "\"deny\".*$word" "the audit log has the refusal of $word"
done
ok "the audit log is whole" "$CORDON" audit verify
done_testing
