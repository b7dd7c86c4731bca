#!/bin/bash
# options - the effects of --hide, --rw, --overlay, limits, network, settings, doctor and why.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
pages=$PWD/tui/man
dir=$(new_folder work)
other=$(new_folder other)
cd "$dir" || exit 1
echo o >"$other/file"
run() { "$CORDON" run --headless "$@"; }
all() { run --mode static "$@"; } # everything but hidden files may be listed

# --hide, also of missing paths; the alias; several
mkdir -p "$other/secret" && echo s >"$other/secret/s"
is "$(all --hide "$other/secret" -- sh -c 'test -e "$1" || echo none; ls "$2"' sh "$other/secret" "$other")" \
	"$(printf 'none\nfile')" "--hide: neither there nor listed"
is "$(all --blacklist "$other/file" --hide "$other/secret" -- ls -A "$other")" "" "the alias, and two of them"
is "$(all --hide "$other" -- sh -c 'test -e "$1" || echo none; ls "$2" | grep -c "^other$"' sh "$other" "$TEST_TMP")" \
	"$(printf 'none\n0')" "a whole directory"
out=$(run --hide "$dir" -- true 2>&1)
is "$?" 125 "the working folder cannot be hidden"
echo inside >"$dir/hidden-here"
# The undo store of a folder on another mount is in the folder: no part of it can be opened inside.
elsewhere=$(mktemp -d /dev/shm/cordon-test.XXXXXX)
out=$(cd "$elsewhere" && "$CORDON" run --headless -- sh -c 'echo x >f; cat .cordon/version; ls .cordon; mv .cordon z' 2>&1)
is "$(grep -c "Permission denied\|No such file" <<<"$out")" 3 "the store inside a folder: not read, listed or moved"
is "$(cd "$elsewhere" && "$CORDON" undo >&2; ls "$elsewhere")" "" "and undo works from it"
like "$("$CORDON" stores | tail -n 1)" "cordon holds [0-9.]+ .iB.*; folders on other disks hold histories of [0-9.]+ .iB$" "stores does not count it as the home's"
rm -rf "${elsewhere:?}"/{.cordon,sub} && mkdir "$elsewhere/sub" && git init -q "$elsewhere"
for i in 1 2; do
	out=$(cd "$elsewhere/sub" && "$CORDON" run --headless -- sh -c 'git status --short; echo x >>f; git clean -fdxq -e f' 2>&1)
done
unlike "$out" "warning: could not open" "git inside does not look into the store"
is "$(cd "$elsewhere" && git add -A && git clean -fdxq 2>&1 && git ls-files | xargs)" "sub/f" "git outside neither adds nor removes it"
is "$(grep -c cordon "$elsewhere/.git/info/exclude")" 1 "by one line in info/exclude"
ok "a step can still be undone" cordon_in "$elsewhere/sub" undo
is "$(cd "$elsewhere/sub/.cordon" && git clean -fdxq 2>&1 | grep -c "unknown repository extension")" 1 "nor does git work in the store"
rm -rf "$elsewhere" && elsewhere=$(mktemp -d /dev/shm/cordon-test.XXXXXX) && git init -q "$elsewhere"
echo mine >"$TEST_TMP/target" && ln -sf "$TEST_TMP/target" "$elsewhere/.git/info/exclude"
ok "info/exclude is a link" in_folder "$elsewhere" true
is "$(cat "$TEST_TMP/target")" mine "which is not followed"
ok "nor is there a repository then" test ! -e "$elsewhere/.cordon/.git/HEAD"
rm -rf "$elsewhere"
# In a linked worktree and a submodule .git is a file that names the repository.
elsewhere=$(mktemp -d /dev/shm/cordon-test.XXXXXX) && lib=$(mktemp -d /dev/shm/cordon-test.XXXXXX)
for repository in "$lib" "$elsewhere/main"; do
	git init -q "$repository" && git -C "$repository" -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m begin
done
git -C "$elsewhere/main" worktree add -q "$elsewhere/tree" 2>/dev/null
git -C "$elsewhere/main" -c protocol.file.allow=always submodule --quiet add "$lib" sub
for folder in tree main/sub; do
	ok "$folder: a step" in_folder "$elsewhere/$folder" sh -c 'echo x >f'
	is "$(cd "$elsewhere/$folder" && git add -A && git clean -fdxq 2>&1 && git ls-files | xargs)" f "$folder: git adds f and leaves the store"
	ok "$folder: the step can still be undone" cordon_in "$elsewhere/$folder" undo
done
is "$(grep -c cordon "$elsewhere"/main/.git/{info,modules/sub/info}/exclude | grep -c ':1$')" 2 "by one line in each repository"
# A file .git that leads to a repository that does not name the folder.
mkdir "$elsewhere/false" && echo "gitdir: $lib/.git" >"$elsewhere/false/.git"
in_folder "$elsewhere/false" true 2>/dev/null
is "$(grep -c cordon "$lib/.git/info/exclude")" 0 "no line is written into a repository of something else"
rm -rf "$elsewhere" "$lib"

is "$(run --hide "$dir/hidden-here" -- cat hidden-here 2>/dev/null)" "" "a file in the working folder: no content"
run --hide "$dir/hidden-here" -- sh -c 'echo x >hidden-here' 2>/dev/null
is "$(cat "$dir/hidden-here")" inside "nor can it be written"

# --rw
ok "--rw: a second working folder" run --rw "$other" -- sh -c 'echo new >"$1/new"; rm "$1/file"' sh "$other"
is "$(cat "$other/new")" new "it was written"
ok "undo there" cordon_in "$other" undo
ok "worked" test -e "$other/file" -a ! -e "$other/new"
ok "home by name" sh -c "cd '$HOME' && '$CORDON' run --headless --rw '$HOME' -- sh -c 'echo x >by-name'"
is "$(cat "$HOME/by-name")" x "works"
out=$(run --rw "$other" --rw "$other/secret" -- true 2>&1)
is "$?" 125 "one folder in another is refused"

# --overlay
t=$(tree "$other")
out=$(run --overlay "$other" -- sh -c 'echo over >"$1/over" && rm "$1/file" && cat "$1/over"' sh "$other" 2>&1)
r=$?
if [ $r = 125 ] && [[ $out == *overlay* ]]; then
	skip "--overlay" "refused here: $out"
else
	is "$r" 0 "--overlay: writable inside"
	like "$out" "over" "what was written can be read"
	like "$out" "overlay.*$HOME/.local/state" "where it is kept is listed at the end"
	same "$(tree "$other")" "$t" "the host's directory is as it was"
	ok "the changes are kept" sh -c "grep -rqx over '$HOME/.local/state/cordon/overlay'"
	upper=$(sed -n "s/^cordon: overlay of .*: changes are kept in //p" <<<"$out")
	is "$(cat "$upper/over")" over "where it said"
	rm -rf "$HOME/.local/state/cordon/overlay"
	unlike "$(run --overlay "$other" -- sh -c ': <"$1/file"' sh "$other" 2>&1)" overlay "no change is not listed"
	like "$(run --overlay "$other" -- chmod 710 "$other" 2>&1)" 'overlay of .*: changes' "a new mode of the whole is"
	rm -rf "$HOME/.local/state/cordon/overlay"
	mkdir -p "$other/deep/er"
	out=$(cd "$other/deep/er" && "$CORDON" run --headless --overlay "$other" -- true 2>&1)
	is "$?" 125 "over the working folder it is refused"
	like "$out" "overlay '$other': the working folder '$other/deep/er' lies in it: name" "with what to do"
	out=$(run --overlay "$other" --ro "$other/deep" -- true 2>&1)
	is "$?" 125 "over a read-only folder, too"
	like "$out" "'$other/deep' in it stays read-only" "with the reason"
	like "$(run --overlay /usr -- true 2>&1)" "overlay '/usr': '/usr' stays read-only" "and over the system"
	ln -s none link
	run --overlay "$other" -- ./link 2>/dev/null
	ok "what did not start has left nothing" test ! -e "$HOME/.local/state/cordon/overlay"
fi

# Limits
like "$(run --set sandbox.open-files=64 -- sh -c 'ulimit -n')" '^64$' "sandbox.open-files"
like "$(run --set sandbox.cpu-seconds=77 -- sh -c 'ulimit -t')" '^77$' "sandbox.cpu-seconds"
is "$(run --set sandbox.preset=strict -- sh -c 'ulimit -n')" 1024 "preset strict"
is "$(run -- sh -c 'ulimit -v')" unlimited "address space is not limited unless asked"
out=$(timeout 60 "$CORDON" run --headless --set sandbox.processes=40 -- bash -c \
	'for i in $(seq 200); do sleep 5 & done 2>&1 | grep -ci "resource temporarily" ; echo done' 2>&1)
like "$out" "Resource|retry|[1-9]|done" "a fork bomb meets its limit"
ok "and the host does not" sh -c 'for i in 1 2 3 4 5; do true & done; wait'
# Memory limits while it runs: an ended process that is not reaped cannot be placed, and must not end the session.
out=$(run -- python3 -c 'import os, time
for _ in range(4): os.fork() or os._exit(0)
time.sleep(0.5)' 2>&1)
is "$? $out" "0 " "children that nobody reaps do not end a session"
out=$(run -- sh -c 'i=0; while [ $i -lt 300 ]; do sleep 0.3 & i=$((i + 1)); done; wait; echo all' 2>&1)
is "$? $out" "0 all" "nor does a burst of children at the start"
# a user may have no cgroup for it: then only the address space can be limited
out=$(timeout 60 "$CORDON" run --headless --set sandbox.memory=64m --set sandbox.address-space=true -- python3 -c 'x = bytearray(600 << 20); print("got it")' 2>&1)
unlike "$out" "got it" "a memory hog meets its limit"

# ptrace inside, with and without
if command -v strace >/dev/null; then
	ok "tracing works inside" run -- strace -o /tmp/t true
	out=$(run --no-debug -- strace -o /tmp/t true 2>&1)
	isnt "$?" 0 "--no-debug: it does not"
fi

# Network
is "$(run -- sh -c 'ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :')" 1 "one interface: loopback"
ok "loopback works" run -- python3 -c 'import socket,threading
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); a, _ = s.accept()
c.sendall(b"x"); assert a.recv(1) == b"x"'
python3 -c 'import socket,sys
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); s.accept()[0].sendall(b"host")' >"$TEST_TMP/port" &
wait_for 10 test -s "$TEST_TMP/port"
is "$(run --network open -- python3 -c 'import socket,sys
print(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(9).decode())' "$(cat "$TEST_TMP/port")")" host \
	"--network open: the host's own loopback"
like "$("$CORDON" run --help | grep -A2 -e "--network " | tr -s "\n " " ")" "none.ask.open loopback only, ask about each host.*, or the host's own" "its help speaks of the three in their order"
out=$(run --allow-network --no-network -- true 2>&1)
is "$?" 125 "both is refused"

# Settings: levels, and those that a project may set
mkdir -p "$HOME/.config/cordon"
printf '[sandbox]\n\topen-files = 99\n\tenv = PASSED\n' >"$HOME/.config/cordon/config"
is "$(run -- sh -c 'ulimit -n')" 99 "the user's file"
is "$(run --set sandbox.open-files=88 -- sh -c 'ulimit -n')" 88 "--set is stronger"
is "$(PASSED=1 run -- sh -c 'echo $PASSED')" 1 "sandbox.env passes a variable on"
out=$(run --set sandbox.env=PASSED=1 -- true 2>&1)
like "$? $out" "^125 .*--set: bad value 'PASSED=1' for sandbox.env: say a name alone" "which is named without a value"
out=$(run --set sandbox.set-env=PASSED -- true 2>&1)
like "$? $out" "^125 .*--set: bad value 'PASSED' for sandbox.set-env: say NAME=VALUE" "sandbox.set-env needs one"
is "$(run --set sandbox.set-env=PASSED= -- sh -c 'echo "<${PASSED-unset}>"')" "<>" "which may be empty"
mkdir "$HOME/mail"
printf '[sandbox]\n\thide = ~/mail\n' >.cordon.conf
ok "a project may hide more" run -- test ! -e "$HOME/mail"
printf '[sandbox]\n\trw = /etc\n' >.cordon.conf
out=$(run -- true 2>&1)
like "$? $out" '^125 cordon: .*\.cordon\.conf:2' "but not open more; file and line are named"
printf '[include]\n\tpath = /etc/passwd\n' >.cordon.conf
out=$(run -- true 2>&1)
is "$?" 125 "nor include"
rm .cordon.conf
printf '[sandbox]\n\tenv = X\n\tenvv = Y\n' >"$HOME/.config/cordon/config"
out=$(run -- true 2>&1)
like "$? $out" '^125 cordon: .*config:3.*env' "an unknown key: line, and the nearest name"
chmod 666 "$HOME/.config/cordon/config" && printf '' >"$HOME/.config/cordon/config"
out=$(run -- true 2>&1)
is "$?" 125 "a file that everybody can write is refused"
rm "$HOME/.config/cordon/config"

# The manual: every command of --help is in cordon(1), its options in its parts of the page that is named there.
page_of() { # COMMAND
	awk -v command="$1" '/^\.Xr cordon-.* :$/ { page = $2 "." $3 }
		/^\.It Cm/ { for (i = 3; i <= NF; i++) if ($i == command) { print page; exit } }' "$pages/cordon.1"
}
parts_of() { # COMMAND - its forms in SYNOPSIS, its subsection, its entries, and a table of options
	awk -v command="$1" '
		function has(line) { return line ~ "(^| )" command "( |$)" }
		/^\.Sh/ { synopsis = /SYNOPSIS/; form = entry = options = 0 }
		/^\.Ss/ { entry = has($0) }
		synopsis && /^\.Nm/ { form = has($0); first = FNR + 1 }
		synopsis && FNR == first && /^\.Cm/ { form = has($0) }
		!synopsis && /^\.It Cm/ { entry = has($0) }
		/^\.It Xo/ { entry = 0; from = FNR + 1 }
		!synopsis && FNR == from { entry = has($0) }
		/table: options/ { options = command ~ /^(run|learn)$/ }
		form || entry || options' "$pages/$(page_of "$1")"
}
options_of() { "$CORDON" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | grep -vx -- --help; }
of_run="$(options_of run | xargs) " newline=$'\n'
for command in $("$CORDON" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
	ok "man: $command" grep -qE "^\.It Cm (.*, (Cm )?)?$command( |\$)" "$pages/cordon.1"
	parts=$(parts_of "$command")
	for option in $(options_of "$command"); do
		# "mcp" takes those of "run".
		[ "$command" != mcp ] || [[ $of_run != *"$option "* ]] || continue
		like "$parts " "(Fl|[|,]) -${option#--}[ $newline]" "man: $command $option"
	done
done

# doctor, why, audit
out=$("$CORDON" doctor)
is "$?" 0 "doctor: some backend is whole here"
like "$out" "native" "it names the backend"
like "$out" "[Ll]andlock" "and what it stands on"
is "$(echo "$out" | grep -c 'read gate (FUSE)')" 1 "FUSE is looked at for the backend that uses it"
homes() { sed -n 's/^{"backend":"'"$1"'","probe":"homes of tools","ok":\([a-z]*\).*/\1/p'; }
json=$("$CORDON" doctor --json)
is "$(homes landlock <<<"$json")" false "homes of tools: landlock leads there by variables"
cargo() { mkdir -p "$HOME/.cargo" && XDG_STATE_HOME=$1 run -- sh -c '[ "$CARGO_HOME" ] && echo false || echo true'; }
is "$(homes native <<<"$json")" "$(cargo "$HOME/.local/state")" "native shows them, as doctor says"
if [ "$(id -u)" = 0 ]; then
	mkdir "$TEST_TMP"/layers{,/low,/up,/work,/state}
	layered() { unshare -m sh -c 'mount -t overlay -o "lowerdir=$0/low,upperdir=$0/up,workdir=$0/work" overlay "$0/state" && exec "$@"' "$TEST_TMP/layers" "$@"; }
	out=$(layered env XDG_STATE_HOME="$TEST_TMP/layers/state" "$CORDON" doctor --json | grep '"native","probe":"homes of tools"')
	like "$out" '"ok":false,"needed":false,"found":".*takes no overlays","remedy":"set XDG_STATE_HOME' "or says why not"
	is "$(layered env XDG_STATE_HOME="$TEST_TMP/layers/state" CORDON="$CORDON" sh -c '"$CORDON" run --headless -- sh -c "[ \"\$CARGO_HOME\" ] && echo false"')" false "as it is then"
else
	skip "or says why not" "an overlay needs root"
fi
ok "doctor --json" sh -c "'$CORDON' doctor --json | python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]'"
like "$("$CORDON" why write .git/hooks/x)" "ask|deny" "why write: a protected path"
like "$("$CORDON" why write "$dir/x")" "allow" "why write: plain work"
like "$("$CORDON" why read "$HOME/.ssh/id")" "hid" "why read: a hidden path"
# --verbose describes the sandbox before the command runs
mkdir -p "$HOME/.ssh" "$TEST_TMP/shown"
limits=(--set sandbox.memory=1g --set sandbox.processes=900) told="limits: 1.0 GiB of memory, 900 processes"
run "${limits[@]}" -- true >/dev/null 2>&1 || limits=() told="command" # no cgroup can be made here
out=$(PROBE_VARIABLE=1 run -v --hide "$other" --ro "$TEST_TMP/shown" "${limits[@]}" \
	--set sandbox.env=PROBE_VARIABLE -- sh -c 'echo begins >&2' 2>&1)
like "$(head -n 1 <<<"$out")" "^cordon: backend [a-z]+, network asked for by host$" "-v: the backend first"
is "$(tail -n 1 <<<"$out")" begins "and all of it before the command"
for line in "command sh -c echo begins >&2" "working folder $dir" "never writable: .*shown" "reading asks in: " \
	"not there inside, or empty: .*~/.ssh.*" "not there inside, or empty: .*$(basename "$other")" \
	"$told" "rules: [0-9]+ of level profile; cordon policy list shows them" \
	"hosts that need no question: [0-9]+ patterns" "variables: .*PROBE_VARIABLE"; do
	like "$out" "(^|
)cordon: $line" "-v: $line"
done
unlike "$(run -v --mode static --no-network -- true 2>&1)" "reading asks|hosts that" "-v: nothing that is not so"
unlike "$(run -- true 2>&1)" "limits: " "without it nothing of that is said"

ok "audit" sh -c "'$CORDON' audit | grep -q ."
ok "audit --json is JSON" sh -c "'$CORDON' audit --json | python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]'"
ok "audit verify" "$CORDON" audit verify
run -- sh -c 'echo x >stepped'
ok "a restore point" "$CORDON" mark here
for command in log audit "audit verify" "audit --metrics" mark "blame stepped" stores doctor "policy list --profile claude" "why read /x"; do
	# shellcheck disable=SC2086 # a command and its arguments
	json=$("$CORDON" $command --json)
	like "$json" '^\{' "$command --json"
	is "$(undocumented "${command%% *}" <<<"$json")" "" "its --help names each member"
done
log=$(echo "$HOME"/.local/state/cordon/audit/"$(basename "$dir")"-*.ndjson)
for damage in '3d' '2s/"time":"2/"time":"1/' '$d'; do
	cp "$log" "$TEST_TMP/audit.good"
	sed -i "$damage" "$log"
	"$CORDON" audit verify >/dev/null 2>&1
	isnt "$?" 0 "audit verify notices sed $damage"
	cat "$TEST_TMP/audit.good" >"$log"
done
is "$(stat -c %a "$log")" 600 "the log is the owner's alone"

# One word too many, and an option that there is not: each subcommand refuses both.
cd "$dir" || exit 1
ok "a step" run -- touch stepped
while read -r words; do
	# shellcheck disable=SC2086 # words
	out=$("$CORDON" $words </dev/null 2>&1)
	is "$?" 125 "cordon $words: refused"
	unlike "$out" 'internal|assert' "cordon $words: in words"
done <<'EOF'
learn --last x
log --turns x
log --prune x
log --no-such
diff --no-such
blame stepped x
blame --no-such
commit x
report a b
report --no-such
undo x
undo --no-such
redo x y
redo --no-such
mark a b
mark --no-such
journal verify x
journal dump 1 x
journal --no-such
audit verify x
audit --no-such
sessions x
board x
worktree list x
worktree drop a x
worktree --no-such
stores x
attach a x
attach --no-such
exec a x
exec --no-such
replay a x
replay --no-such
pending x
approve a x
approve --no-such
deny a x
serve x
mcp x
cache x
policy list x
policy trust a x
policy forget a x
policy check a x
policy --no-such
why read a x
why --no-such
init x
install x
uninstall x
hook --no-such
doctor x
EOF
like "$("$CORDON" diff 1 1 2>&1)" "'1' behind a step: cordon diff 3..5" "diff says how to name several steps"
like "$("$CORDON" why read /etc/passwd x 2>&1)" "^cordon: why: unexpected argument 'x': usage: " "why names the word"
like "$("$CORDON" audit verify x 2>&1)" "^cordon: unexpected argument 'x': usage: " "audit, too"
ok "a command behind -- is none too many" "$CORDON" why read /etc/passwd -- sh x
ok "nor for policy list" "$CORDON" policy list -- sh
done_testing
