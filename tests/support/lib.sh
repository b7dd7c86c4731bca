# shellcheck shell=bash
# lib - TAP and a few tools for test scripts; sourced. one.sh has prepared the environment.
# SPDX-License-Identifier: MIT
#
# $TEST_TMP   this test's own directory        $HOME     an empty home in it
# $CORDON     the program                      $TOOLS    build/$B/tests
# $TEST_TMP/bin is on $PATH: what lies there can be read and run inside, in dynamic mode too.
set -u
tests=0 failed=0

pass() { tests=$((tests + 1)) && echo "ok $tests - $1"; }
fail() { # NAME [DIAGNOSTICS]
	tests=$((tests + 1)) failed=$((failed + 1))
	echo "not ok $tests - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | head -n 40 | cut -c -400 | sed 's/^/# /'
}
skip() { tests=$((tests + 1)) && echo "ok $tests - $1 # SKIP $2"; }
note() { printf '%s\n' "$*" | sed 's/^/# /'; }
skip_all() { echo "1..0 # SKIP $1" && exit 0; }
# SANITIZED: set by a script that runs another one, with the build that has AddressSanitizer.
if [ -n "${SANITIZED:-}" ]; then
	CORDON=${CORDON%/*/cordon}/asan/cordon
	[ -x "$CORDON" ] || skip_all "there is no build with sanitizers"
fi
done_testing() { echo "1..$tests" && [ "$failed" = 0 ] && exit 0 || exit 1; }

# ok NAME COMMAND... - the command succeeds. What it says is shown when it does not.
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

# wait_for SECONDS COMMAND... - poll until the command succeeds. The host may have stood still for all of the
# time: after it some tries are left for each second; and where more runs than there are processors, four times
# as long. From 5 seconds on at least 20: a test's result depends on it. Less is a pause between two tries.
wait_for() {
	local limit=$(($1 < 5 || $1 > 20 ? $1 : 20)) end late tries # COMMAND sees these names
	end=$((SECONDS + limit)) late=$((SECONDS + 4 * limit)) tries=$((limit * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le $end ] || [ $((tries -= 1)) -gt 0 ] || { [ $SECONDS -le $late ] && is_loaded; } || return 1
		sleep 0.03
	done
}
# In the last minute or at this moment: a minute's mean knows nothing yet of what has begun a moment ago.
is_loaded() {
	local load runs n
	n=$(nproc)
	read -r load _ _ runs _ </proc/loadavg && { [ "${load%.*}" -ge "$n" ] || [ "${runs%/*}" -gt $((2 * n)) ]; }
}

# need_sandbox [PROGRAM...] - these programs, and user namespaces for a user. Where the host refuses those (by
# something other than cordon) there is nothing to test.
need_sandbox() {
	need "$@"
	[ "$(id -u)" = 0 ] || unshare -Ur true 2>/dev/null ||
		skip_all "this host gives no user namespaces to an ordinary user"
}
need() { # PROGRAM...
	local p
	for p; do command -v "$p" >/dev/null || skip_all "$p is not here"; done
}

# use_backend - what runs from here on in this home is confined by $BACKEND ("native" when unset), in
# $MODE ("dynamic"). Scripts that run in several ways call it once, instead of writing settings.
use_backend() {
	: "${BACKEND:=native}" "${MODE:=dynamic}"
	mkdir -p "$HOME/.config/cordon"
	printf '[sandbox]\n\tbackend = %s\n\tmode = %s\n' "$BACKEND" "$MODE" >"$HOME/.config/cordon/config"
	"$CORDON" doctor --json | grep -qE '^\{"backend":"'"$BACKEND"'","whole".*"starts":true' ||
		skip_all "$BACKEND does not start on this host: see cordon doctor"
}

# rounds N - of kills at random moments: half as many where this runs a second time, and in continuous integration;
# make soak says how many.
rounds() { echo "${CRASH_ROUNDS:-$(($1 / (${TEST_AGAIN:+1} + 1) / ${TEST_FEWER:-1}))}"; }

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

# tree DIR - everything that undo must bring back, one line per path, in a fixed order. Names of one
# inode are told by the first of them, not by the link count: the undo store may hold one more.
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
# content DIR - as tree, without times and what holds times (git's index): for comparing two runs of
# the same commands.
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

# marked MARK - processes with MARK in their arguments: cordon, its keeper and its helpers (they all
# were started with cordon's arguments), and what runs inside. A word such as $(new_mark).
new_mark() { echo "mark-$$-$RANDOM$RANDOM"; }
marked() { pgrep -f -- "$1" | grep -vxF "$$"; }
none_marked() { [ -z "$(marked "$1")" ]; }
# has_ended PID - also where its parent is slow to ask how: of orphans that is the host's own pid 1.
has_ended() { ! grep -qs '^State:.[^XZ]' "/proc/$1/status"; }
# session_groups - cgroups of the sessions of this home, which are those in its audit logs.
session_groups() {
	local g
	while read -r g; do
		grep -qsF "${g##*/cordon-}" "${XDG_STATE_HOME:-$HOME/.local/state}"/cordon/audit/*.ndjson && echo "$g"
	done < <(find /sys/fs/cgroup -type d -name 'cordon-*' 2>/dev/null)
}
has_group() { [ -n "$(session_groups)" ]; }
no_group() { [ -z "$(session_groups)" ]; }
# cordon_of PATTERN - of the processes with such arguments, cordon itself: what it has forked has them, too,
# its own name until it takes another, and as process numbers wrap around perhaps the lower number. But the
# parent of cordon has neither.
cordon_of() {
	local p parent all
	all=$(pgrep -f -- "$1")
	for p in $all; do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" = cordon ] || continue
		parent=$(sed -n 's/^PPid:\t//p' "/proc/$p/status" 2>/dev/null)
		[ -z "$parent" ] || grep -qx "$parent" <<<"$all" || echo "$p"
	done
}
# host_of PATTERN - the same of a console: the session's process, a child of the client's.
host_of() { pgrep -P "$(cordon_of "$1")" -x cordon; }
