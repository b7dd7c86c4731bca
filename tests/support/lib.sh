# shellcheck shell=bash
# lib - TAP and a few tools for test scripts; sourced. one.sh has prepared the environment.
# SPDX-License-Identifier: MIT
#
# $TEST_TMP   this test's own directory        $HOME     an empty home in it
# $CORDON     the program                      $TOOLS    build/$B/tests
# $TEST_TMP/bin is on $PATH: its files can be read and executed inside, in dynamic mode too.
set -u
tests=0 failed=0

pass() { tests=$((tests + 1)) && echo "ok $tests - $1"; }
fail() { # NAME [DIAGNOSTICS]
	tests=$((tests + 1)) failed=$((failed + 1))
	echo "not ok $tests - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | head -n 40 | cut -c -400 | sed 's/^/# /'
	show_screens
	[ "$failed" != 1 ] || show_log
}
show_screens() { :; } # tmux.sh has screens
# show_log - prints how busy the host is, and the last events of the newest session.
show_log() {
	local log
	# shellcheck disable=SC2012 # names of cordon's own
	log=$(ls -t "${XDG_STATE_HOME:-$HOME/.local/state}"/cordon/audit/*.ndjson 2>/dev/null | head -n 1)
	note "after $SECONDS s, load $(cat /proc/loadavg)${log:+, the last events:}"
	[ -z "$log" ] || tail -n 10 "$log" | sed 's/,"prev":.*//; s/^/# /' | cut -c -300
}
skip() { tests=$((tests + 1)) && echo "ok $tests - $1 # SKIP $2"; }
note() { printf '%s\n' "$@" | sed 's/^/# /'; }
skip_all() { echo "1..0 # SKIP $1" && exit 0; }
# SANITIZED: set by a script that runs another one, with the build that has AddressSanitizer.
if [ -n "${SANITIZED:-}" ]; then
	CORDON=${CORDON%/*/cordon}/asan/cordon
	[ -x "$CORDON" ] || skip_all "there is no build with sanitizers"
fi
done_testing() { echo "1..$tests" && [ "$failed" = 0 ] && exit 0 || exit 1; }

# ok NAME COMMAND... - the command succeeds. Its output is shown if it fails.
ok() {
	local name=$1 out r
	shift
	out=$("$@" 2>&1 </dev/null)
	r=$?
	if [ $r = 0 ]; then pass "$name"; else fail "$name" "exit status $r: $*
$out"; fi
}
is() { # GOT WANT NAME
	if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:  $1
want: $2"; fi
}
isnt() { # GOT UNWANTED NAME
	if [ "$1" != "$2" ]; then pass "$3"; else fail "$3" "got:  $1"; fi
}
like() { # TEXT REGEX NAME
	if [[ $1 =~ $2 ]]; then pass "$3"; else fail "$3" "text:  $1
regex: $2"; fi
}
unlike() { # TEXT REGEX NAME
	if [[ ! $1 =~ $2 ]]; then pass "$3"; else fail "$3" "text:  $1
not:   $2"; fi
}

# undocumented COMMAND - reads lines that a --json of cordon COMMAND printed, and prints the members that its --help
# does not name.
undocumented() {
	python3 -c 'import json, sys
def names(v):
	for w in v.values() if isinstance(v, dict) else v if isinstance(v, list) else ():
		yield from names(w)
	yield from v if isinstance(v, dict) else ()
print(*sorted({n for line in sys.stdin for n in names(json.loads(line))}), sep="\n")' |
		grep -vxF -e "$("$CORDON" "$1" --help | tr -cs 'a-z0-9_' '\n')" -e "" | xargs
}

# wait_for SECONDS COMMAND... - polls until the command succeeds. The host may have been suspended for the whole time,
# so some tries are left after it, for as long again; if more processes run than there are processors, it waits four
# times as long. From 5 seconds on it waits at least 20, as a test's result depends on it. A shorter time is a pause
# between two tries. After a quarter of a second it polls less often: each look at a screen starts four programs.
wait_for() {
	local limit=$(($1 < 5 || $1 > 20 ? $1 : 20)) end late tries more=0 polls=0 # COMMAND sees these names
	end=$((SECONDS + limit)) late=$((SECONDS + 4 * limit)) tries=$((limit * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le $end ] || { [ $((tries -= 1)) -gt 0 ] && [ $SECONDS -le $((more = more ? more : SECONDS + limit)) ]; } ||
			{ [ $SECONDS -le $late ] && is_loaded; } || return 1
		sleep "0.0$(((polls += 1) < 9 ? 3 : 9))"
	done
}
# In the last minute or at this moment: the mean of a minute does not show a load that has just begun.
is_loaded() {
	local load runs n
	n=$(nproc)
	read -r load _ _ runs _ </proc/loadavg && { [ "${load%.*}" -ge "$n" ] || [ "${runs%/*}" -gt $((2 * n)) ]; }
}

# need_sandbox [PROGRAM...] - these programs, and user namespaces for a user. If the host refuses those (by other
# software than cordon) the test is skipped.
need_sandbox() {
	need "$@"
	[ "$(id -u)" = 0 ] || unshare -Ur true 2>/dev/null ||
		skip_all "this host gives no user namespaces to an ordinary user"
}
need() { # PROGRAM...
	local p
	for p; do command -v "$p" >/dev/null || skip_all "$p is not here"; done
}

# use_backend - later runs in this home use $BACKEND ("native" if unset), in $MODE ("dynamic"). Scripts that run in
# several ways call it once, instead of writing settings.
use_backend() {
	: "${BACKEND:=native}" "${MODE:=dynamic}"
	mkdir -p "$HOME/.config/cordon"
	printf '[sandbox]\n\tbackend = %s\n\tmode = %s\n' "$BACKEND" "$MODE" >"$HOME/.config/cordon/config"
	"$CORDON" doctor --json | grep -qE '^\{"backend":"'"$BACKEND"'","whole".*"starts":true' ||
		skip_all "$BACKEND does not start on this host: see cordon doctor"
}

# rounds N - of kills at random moments: half as many in a second run of the test, and in continuous integration; make
# soak sets the number.
rounds() { echo "${CRASH_ROUNDS:-$(($1 / (${TEST_AGAIN:+1} + 1) / ${TEST_FEWER:-1}))}"; }

# killed N ARGUMENT... - cordon with these arguments in this folder: SIGKILL at a random moment within N hundredths of a
# second, and in every third case during the repair by the next start, too. At last a start has repaired everything; if
# it fails, $out has its output.
killed() {
	local most=$1 mark pid
	shift
	mark=$(new_mark)
	"$CORDON" "$@" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((RANDOM % most))$((RANDOM % 10))"
	kill -KILL "$pid" $(pgrep -P "$pid") 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for 10 bash -c "! pgrep -f '^$CORDON ${*:1:2}'"
	if [ $((RANDOM % 3)) = 0 ]; then
		"$CORDON" run --headless -- true "$mark" >/dev/null 2>&1 &
		sleep "0.00$((RANDOM % 9))"
		kill -KILL $! $(pgrep -P $!) 2>/dev/null
		wait $! 2>/dev/null
		wait_for 10 none_marked "$mark"
	fi
	out=$("$CORDON" run --headless -- true 2>&1)
}

# new_folder NAME - an empty working folder; prints its path.
new_folder() { mkdir -p "$TEST_TMP/$1" && echo "$TEST_TMP/$1"; }

# in_folder DIR COMMAND... - inside cordon, headless, with DIR as the working folder.
in_folder() {
	local dir=$1
	shift
	(cd "$dir" && exec "$CORDON" run --headless -- "$@")
}
# start_in DIR COMMAND... - the same in the background; $pid is cordon itself.
start_in() {
	local dir=$1
	shift
	(cd "$dir" && exec "$CORDON" run --headless -- "$@") &
	pid=$!
}
cordon_in() { # DIR ARGUMENTS... - any other use of cordon there
	local dir=$1
	shift
	(cd "$dir" && exec "$CORDON" "$@")
}

# undo_whole DIR - every step that is not undone, at once
undo_whole() {
	cordon_in "$1" undo -n "$(cordon_in "$1" log --json | grep -vcE '"undone":true|"kind":"barrier"')"
}

# tree DIR - all that undo must restore, one line per path, in a fixed order. Hard links are shown by the first name of
# their inode, not by the link count: the undo store may have one more.
tree() {
	(
		cd "$1" || exit
		find . -path ./.cordon -prune -o -printf '%p\t%y %m %U:%G %T@\t%i\t%l\n' | LC_ALL=C sort |
			awk -F '\t' '{ if (!($3 in first)) first[$3] = $1; print $1, $2, first[$3], "->", $4 }'
		find . -path ./.cordon -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum 2>/dev/null
		find . -path ./.cordon -prune -o -print0 | LC_ALL=C sort -z |
			xargs -0r getfattr -h -d -m - 2>/dev/null
	)
}
# content DIR - like tree, without times and files that contain times (git's index): for comparing two runs of the same
# commands.
content() {
	(
		cd "$1" || exit
		find . -path ./.cordon -prune -o -printf '%y %m %p -> %l\n' | LC_ALL=C sort -k3
		find . -path ./.cordon -prune -o -type f ! -path '*.git/index' -print0 | LC_ALL=C sort -z |
			xargs -0r sha256sum 2>/dev/null
	)
}
same() { # GOT WANT NAME - long texts: the difference is shown
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$1"))"
	fi
}

# marked MARK - processes with MARK in their arguments: cordon, its keeper and its helpers (which have cordon's
# arguments), and processes inside. MARK is a word such as $(new_mark).
new_mark() { echo "mark-$$-$RANDOM$RANDOM"; }
marked() { pgrep -f -- "$1" | grep -vxF "$$"; }
none_marked() { [ -z "$(marked "$1")" ]; }
# has_ended PID - also if its parent is slow to reap it: for orphans that is the host's own pid 1.
has_ended() { ! grep -qs '^State:.[^XZ]' "/proc/$1/status"; }
# session_groups - cgroups of this home's sessions, which its audit logs name.
session_groups() {
	local g
	while read -r g; do
		grep -qsF "${g##*/cordon-}" "${XDG_STATE_HOME:-$HOME/.local/state}"/cordon/audit/*.ndjson && echo "$g"
	done < <(find /sys/fs/cgroup -type d -name 'cordon-*' 2>/dev/null)
}
has_group() { [ -n "$(session_groups)" ]; }
no_group() { [ -z "$(session_groups)" ]; }
# cordon_of PATTERN - of the processes with such arguments, cordon itself. Its forks have the same arguments, the same
# name until they change it and, as process numbers wrap around, perhaps lower numbers. But only the parent of cordon
# has neither.
cordon_of() {
	local p parent all
	all=$(pgrep -f -- "$1")
	for p in $all; do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" = cordon ] || continue
		parent=$(sed -n 's/^PPid:\t//p' "/proc/$p/status" 2>/dev/null)
		[ -z "$parent" ] || grep -qx "$parent" <<<"$all" || echo "$p"
	done
}
# host_of PATTERN - the same for a console: the session's process, a child of the client's.
host_of() { pgrep -P "$(cordon_of "$1")" -x cordon; }
