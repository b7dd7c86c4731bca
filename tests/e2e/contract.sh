#!/bin/bash
# contract - the properties that every backend of this host must have, and reports.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
T=$TOOLS/escape
outside=$(new_folder outside)
mkdir -p "$HOME/.ssh" && echo "SECRET key" >"$HOME/.ssh/id" && echo mine >"$HOME/mine"
echo "SECRET outside" >"$outside/file" && mkdir "$outside/dir"
[ "${BACKEND:-}" != vm ] || { . "$(dirname "$0")/../support/vm.sh" && vm_settings ''; }
doctor=$("$CORDON" doctor --json)

# In $own. A virtual machine boots for each, so commands without options share one.
run() {
	[ "${guest:-} $1 ${2:-}" != "${guest:-none} --mode static" ] || shift 2 # it is already
	if [ -n "${guest:-}" ] && [ "$1" = -- ]; then
		shift && guest_run "$@"
	else
		(cd "$own" && exec "$CORDON" run --headless --backend "$backend" "$@")
	fi
}
roll() { # undo|redo
	if [ -z "${guest:-}" ]; then
		cordon_in "$dir" "$1"
	elif [ "$1" = undo ]; then
		guest_call undo.rollback '{"steps": 1}'
	else
		guest_call undo.redo '{}'
	fi
}
declares() { printf '%s\n' "$doctor" | grep "^{\"backend\":\"$backend\",\"whole\"" | grep -q "\"$1\":true"; }
# yields STATUS NAME COMMAND...
yields() {
	local want=$1 name=$2
	shift 2
	run -- "$@" >/dev/null 2>&1
	is "$?" "$want" "$backend: $name"
}

starts() { # doctor and the start agree on whether this backend can be used here
	local missing out
	missing=$(printf '%s\n' "$doctor" | grep "^{\"backend\":\"$backend\",\"probe\"" | grep -c '"ok":false,"needed":true')
	[ "$backend" != vm ] || AWS_SECRET=x GIT_DIR=/x SSH_AUTH_SOCK=/x DISPLAY=:0 guest_start "$dir"
	if out=$(run -- true 2>&1); then
		is "$missing" 0 "$backend: starts, and doctor finds nothing needed missing"
		return 0
	fi
	isnt "$missing" 0 "$backend: does not start, and doctor says why: $out"
	return 1
}

streams() {
	yields 0 "status 0" true
	yields 42 "status 42" sh -c 'exit 42'
	yields 143 "SIGTERM is 143" sh -c 'kill -TERM $$'
	yields 127 "not found is 127" no-such-command-here
	yields 126 "not executable is 126" "$outside/file"
	is "$(echo in | run -- cat)" in "$backend: standard input and output"
	is "$(run -- sh -c 'echo e >&2' 2>&1 >/dev/null)" e "$backend: standard error"
	is "$(head -c 3000000 /dev/zero | run -- cat | wc -c)" 3000000 "$backend: 3 MB through pipes"
	is "$(run -- sh -c 'echo too >/dev/stdout')" too "$backend: /dev/stdout opens again"
	is "$(run -- sh -c 'ls /proc/self/fd | wc -l' 5</dev/null 7</dev/null)" 4 "$backend: no other descriptor"
	is "$(run -- sh -c 'pwd; cd sub && pwd')" "$dir
$dir/sub" "$backend: the working directory"
	is "$(run -- id -u)" "$(id -u)" "$backend: the same user"
	is "$(AWS_SECRET=x GIT_DIR=/x SSH_AUTH_SOCK=/x DISPLAY=:0 run -- env | grep -cE '^(AWS|GIT_|SSH_|DISPLAY)')" 0 \
		"$backend: the environment is scrubbed"
}

signals() { # what cordon gets is the command's; inside, signals work as anywhere
	: >"$TEST_TMP/out"
	(cd "$own" && exec "$CORDON" run --headless --backend "$backend" -- \
		sh -c 'trap "echo got; exit 7" TERM; echo up; while :; do sleep 0.05; done') >"$TEST_TMP/out" &
	pid=$!
	wait_for "$up" grep -q up "$TEST_TMP/out"
	kill -TERM "$pid"
	wait "$pid"
	is "$? $(tail -n 1 "$TEST_TMP/out")" "7 got" "$backend: SIGTERM is forwarded"
	yields 0 "a child can be stopped, continued and killed" sh -c \
		'sleep 60 & p=$!; kill -STOP $p && kill -CONT $p && kill -TERM $p; wait $p; [ $? = 143 ]'
	sleep 300 &
	victim=$!
	disown "$victim"
	yields 1 "no signal reaches the host's processes" kill -0 "$victim"
	if declares processes; then
		yields 1 "nor do they show" test -d "/proc/$victim"
		is "$(run -- sh -c 'tr -d "\0" </proc/1/cmdline 2>/dev/null || echo none')" "$([ "$backend" = vm ] && echo /init || echo none)" \
			"$backend: nor pid 1, but a guest's own"
	else
		for f in mem environ maps root/etc/passwd; do
			yields 1 "/proc/PID/$f of others is closed" cat "/proc/$victim/$f"
		done
		for f in fd/0 cwd exe; do
			yields 1 "/proc/PID/$f of others is closed" readlink "/proc/$victim/$f"
		done
	fi
	kill "$victim"
}

terminal() {
	start 90 24 "$own" "$CORDON run --backend $backend -- sh -c 'tty | sed s,/.*,a-tty,; : >/dev/tty && echo ctty
trap \"echo got-int\" INT; echo ready; while :; do read x && break; done; echo got-\$x; exec cat'"
	sees 'ctty' "$backend: /dev/tty is the pane" "$up"
	sees 'a-tty' "$backend: and has a name"
	sees '^.?ready' "$backend: the command runs in the console" "$up"
	keys C-c
	sees 'got-int' "$backend: Ctrl-C is a signal"
	type_text 'line' && keys Enter
	sees 'got-line' "$backend: and it reads what is typed"
	sees "$backend" "$backend: the console names it"
	close_all
}

files() {
	local before
	before=$(tree "$dir")
	yields 0 "every kind of change in the working folder" sh -ec 'echo new >made; echo more >>kept; rm gone; mv sub sub2
		mkdir d; ln -s kept link; ln kept hard; chmod 600 kept; touch -d 2001-01-01 old; : >cut; mkfifo fifo'
	is "$(cat "$dir/made" "$dir/kept")" "new
kept
more" "$backend: are there"
	ok "$backend: undo" roll undo
	same "$(tree "$dir")" "$before" "$backend: brings all of it back"
	ok "$backend: redo" roll redo
	ok "$backend: and undo again" roll undo
	same "$(tree "$dir")" "$before" "$backend: as before"
	yields 1 "a protected path is refused" cp kept .git/hooks/pre-commit
	ok "$backend: and not there" test ! -e "$dir/.git/hooks/pre-commit"
	yields 0 "temporary files" sh -ec 'f=$(mktemp); echo x >$f; chmod 600 $f; mv $f $f.2; test -s $f.2
		[ ! -w /dev/shm ] || echo x >/dev/shm/contract-x'
	ok "$backend: are its own" test ! -e /dev/shm/contract-x
}

floor() { # outside the folder: every way to change a file, and what is hidden
	local before out
	is "$(run --mode static -- cat "$outside/file")" "SECRET outside" "$backend: static mode: it can be read where nothing hides it"
	before=$(tree "$outside" && tree "$HOME/.ssh" && cat "$HOME/mine")
	out=$(run -- sh -c 'cd "$1" || exit 9
		try() { "$@" 2>/dev/null && echo "went through: $*"; }
		try sh -c "echo x >>file"; try sh -c "echo x >new"; try mkdir new-dir; try rm file; try rmdir dir; try mv file file2
		try ln file hard; try ln -s file soft; try truncate -s 0 file; try chmod 777 file; try chown 1:1 file; try mkfifo fifo
		try touch -d 2001-01-01 file; try touch file; try setfattr -n user.x -v y file; try setfattr -x user.y file
		try sh -c "echo x >$2/mine"; try chmod 600 "$2/mine"; try sh -c ": >/usr/contract-x"; try sh -c ": >/etc/contract-x"; true
		' sh "$outside" "$HOME")
	# A guest has its own copy, which shows no other process.
	[ "$backend" = vm ] || is "$out" "" "$backend: nothing outside can be changed"
	same "$(tree "$outside" && tree "$HOME/.ssh" && cat "$HOME/mine")" "$before" "$backend: nor was it"
	like "$(run --mode dynamic -- cat "$outside/file" 2>&1)" "^cat: $outside/file: Permission denied
cordon: reading $(dirname "$outside")?.*allow = read " "$backend: dynamic mode: it cannot where nothing grants it"
	yields 1 "a hidden file cannot be read" cat "$HOME/.ssh/id"
	yields 1 "nor .env in the folder" cat .env
	shared=$(mktemp -d /tmp/cordon-contract.XXXXXX) && echo open >"$shared/o" && echo SECRET >"$shared/s"
	is "$(run --mode static --hide "$hidden" --ro "$shared" --hide "$shared/s" -- cat "$hidden/file" "$shared/o" "$shared/s" 2>"$TEST_TMP/err")" \
		open "$backend: nor what --hide names, in a --ro folder where a private one would be, too"
	note "$(cat "$TEST_TMP/err")"
	rm -r "$shared"
	if declares hide; then
		is "$(run --mode static -- ls -A "$HOME" | grep -Fx -e .ssh -e mine)" mine "$backend: hidden names do not show"
		yields 1 "nor exist" test -e "$HOME/.ssh"
	else
		yields 2 "a hidden directory cannot be listed" ls "$HOME/.ssh"
	fi
	[ "$backend" != vm ] || return 0 # where root is root, of nothing but the guest
	# A user can lower the bounding set only in a namespace; no_new_privs makes it irrelevant.
	caps='CapPrm|CapEff|CapAmb'
	{ [ "$(id -u)" = 0 ] || declares hide; } && caps+='|CapBnd'
	yields 0 "no capability and no way to gain one" sh -c '[ "$(grep -E "^('"$caps"')" /proc/self/status |
		grep -vc 0000000000000000)" = 0 ] && grep -q "NoNewPrivs:.1" /proc/self/status'
}

network() {
	local port
	: >"$TEST_TMP/listen"
	"$T/net" listen tcp >"$TEST_TMP/listen" 2>&1 &
	listener=$!
	wait_for 5 grep -qE '^[0-9]+$' "$TEST_TMP/listen"
	port=$(head -n 1 "$TEST_TMP/listen")
	yields 1 "no connection to the host" bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
	unlike "$(cat "$TEST_TMP/listen")" ARRIVED "$backend: nothing arrived"
	yields 0 "nor a route to anywhere" python3 -c 'import socket, sys
for family, host in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    for kind in (socket.SOCK_STREAM,):
        try:
            s = socket.socket(family, kind); s.settimeout(2); s.connect((host, 9)); sys.exit(1)
        except OSError: pass'
	if [ "$backend" != vm ]; then # whose network is open is in vm.sh: a guest's loopback is its own
		run --network open -- bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && echo x >&3" 2>/dev/null
		ok "$backend: --network open shares it" wait_for 5 grep -q ARRIVED "$TEST_TMP/listen"
	fi
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
}

limits() {
	local most=()
	if declares limits; then most=(--set sandbox.processes=25); fi
	run --set sandbox.open-files=77 --set sandbox.cpu-seconds=33 "${most[@]}" -- sh -c '
		ulimit -n; ulimit -t; for i in $(seq 60); do sleep 20 & done; jobs -p | wc -l' >"$TEST_TMP/out" 2>&1
	is "$(grep -xE '[0-9]+|unlimited' "$TEST_TMP/out" | head -n 2 | xargs)" "77 33" "$backend: open files, and processor time"
	if declares limits; then
		like "$(cat "$TEST_TMP/out")" 'fork|[Rr]esource|retry' "$backend: processes of the whole tree"
		run --set sandbox.memory=200m -- python3 -c 'import os
def hold(n): # each keeps its own while the next one takes as much
    x = bytearray(b"x") * (90 << 20)
    if n == 0: os._exit(0)
    pid = os.fork()
    if pid == 0: hold(n - 1)
    os._exit(os.waitpid(pid, 0)[1] != 0)
hold(3)' >/dev/null 2>&1
		isnt "$?" 0 "$backend: memory of the whole tree"
	else
		like "$(run --set sandbox.memory=200m -- echo RAN 2>&1)" "^cordon: sandbox.memory cannot hold: .*address-space=true$" \
			"$backend: a limit that cannot hold is an error that names the way out"
	fi
}

leaves_nothing() {
	is "$(grep -cF "$TEST_TMP" /proc/self/mounts)" 0 "$backend: no mount is left"
	ok "$backend: no cgroup is left" wait_for 10 no_group
}

ending() { # everything goes with the command, whatever it left behind
	local mark
	if [ -n "${guest:-}" ]; then
		guest_stop
		is "$?" 0 "$backend: a session of many commands ends"
		ok "$backend: and its audit log is whole" cordon_in "$dir" audit verify
		guest='' dir=$own
	fi
	mark=$(new_mark)
	: >"$TEST_TMP/out"
	(cd "$dir" && exec "$CORDON" run --headless --backend "$backend" -- \
		sh -c "(setsid sh -c ': $mark; sleep 300' &); echo up; sleep 300; : $mark") >"$TEST_TMP/out" &
	pid=$!
	wait_for "$up" grep -q up "$TEST_TMP/out"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	ok "$backend: nothing outlives SIGKILL of cordon" wait_for 10 none_marked "$mark"
	leaves_nothing
	mark=$(new_mark)
	# Not even while its memory is released: otherwise its exit status would be unknown.
	run --steps auto -- sh -c "(setsid sh -c ': $mark; sleep 300' &); (sleep 300; : $mark) &"'
		python3 -c "$1" & until test -e held; do sleep 0.05; done' sh \
		'import time; x = bytearray(b"x") * (150 << 20); open("held", "w").close(); time.sleep(300)' </dev/null >/dev/null 2>&1
	is "$?" 0 "$backend: the next session starts"
	ok "$backend: nothing outlives the command" wait_for 10 none_marked "$mark"
	like "$(cordon_in "$dir" log --json | grep -F python3)" '"exit":137' "$backend: each one's end is waited for"
	leaves_nothing

	# If no process was left to remove it, the next session does. A guest has its group inside.
	mark=$(new_mark)
	[ "$backend" = vm ] || start_in "$dir" sh -c ": $mark; sleep 100"
	if [ "$backend" = vm ]; then
		:
	elif wait_for 3 has_group; then
		group=$(session_groups)
		# A session of another test removes it as well, unless it is locked.
		exec 9<"${group%%$'\n'*}" && flock -s 9
		# All at once: a process that dies a moment later would still remove it.
		# shellcheck disable=SC2046 # numbers
		kill -STOP $(marked "$mark") 2>/dev/null
		# shellcheck disable=SC2046 # numbers
		kill -9 $(marked "$mark") 2>/dev/null
		wait_for 10 none_marked "$mark"
		ok "$backend: a cgroup whose session was killed is there" test -e "${group%%$'\n'*}"
		exec 9<&-
		in_folder "$dir" sleep 0.2
		ok "$backend: the next session takes it away" wait_for 10 no_group
	else
		kill -9 "$pid"
		wait_for 10 none_marked "$mark"
		skip "$backend: a cgroup whose session was killed" "none can be made"
	fi
	wait "$pid" 2>/dev/null
	[ "$backend" = vm ] || ok "$backend: a session after that starts" run -- true
	ok "$backend: the audit log is whole" cordon_in "$dir" audit verify
}

plant() { # DIR
	mkdir -p "$1/sub" "$1/.git/hooks" && echo kept >"$1/kept" && echo gone >"$1/gone" && echo old >"$1/old"
	echo cut >"$1/cut" && echo "SECRET env" >"$1/.env"
}
for backend in $(printf '%s\n' "$doctor" | sed -n 's/^{"backend":"\([a-z]*\)","whole".*/\1/p'); do
	# vm_contract.sh tests that one, which takes longer than all others together.
	if [ "$backend" = vm ]; then [ "${BACKEND:-}" = vm ] || continue; else [ -z "${BACKEND:-}" ] || continue; fi
	dir=$(new_folder "work-$backend") hidden=$outside up=10
	own=$dir
	[ "$backend" != vm ] || { own=$(new_folder "own-$backend") && up=90 && plant "$own"; }
	plant "$dir"
	starts || continue
	streams
	signals
	terminal
	files
	floor
	network
	limits
	ending
done
backend=no-such-backend own=$TEST_TMP
out=$(run -- true 2>&1)
is "$?" 125 "an unknown backend is refused"
like "$out" "native" "with the names that there are"
done_testing
