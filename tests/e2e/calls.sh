#!/bin/bash
# calls - how many system calls the keeper makes for one trapped call; needs strace and perl.
# SPDX-License-Identifier: MIT
# root only: the keeper of a user cannot be traced
. "$(dirname "$0")/../support/lib.sh"
need_sandbox strace perl
n=200
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir d

keeper_of() { pgrep -P "$1" -x cordon-keeper; }
is_traced() { grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$1/status"; }
traced_or_not() { is_traced "$1" || ! kill -0 "$2"; } # KEEPER STRACE
watches_dirs() { # KEEPER - the folder and what lies in it
	[ "$(cat "/proc/$1"/fdinfo/* 2>/dev/null | grep -c '^inotify wd')" -ge 2 ]
}

options=()
# Run perl code in the folder under cordon; $TEST_TMP/trace: one line for each call of the keeper.
traced() { # PERL
	local pid keeper tracer
	rm -f "$TEST_TMP/in" ready "$TEST_TMP/trace"
	mkfifo "$TEST_TMP/in"
	"$CORDON" run --headless "${options[@]}" -- perl -e 'open F, ">", "ready"; close F; <STDIN>;'"$1" \
		<"$TEST_TMP/in" >"$TEST_TMP/out" 2>&1 &
	pid=$!
	exec 3>"$TEST_TMP/in"
	wait_for 30 test -e ready
	keeper=$(keeper_of "$pid")
	cat "/proc/$keeper/fdinfo/0" >/dev/null 2>&1 || { kill "$pid" && skip_all "only root may look at the keeper"; }
	wait_for 30 watches_dirs "$keeper"
	slice=$(slice_of "$keeper") agents=$(slice_of "$(pgrep -P "$keeper" -x perl)")
	strace -qq -p "$keeper" -o "$TEST_TMP/trace" 3>&- &
	tracer=$!
	wait_for 30 traced_or_not "$keeper" "$tracer"
	is_traced "$keeper" || { kill "$pid" && skip_all "strace cannot look at it"; }
	echo >&3
	exec 3>&-
	wait "$pid"
	is "$?" 0 "it ran"
	wait "$tracer"
}
# The length of a process's turn on a processor, in nanoseconds; 0 before Linux 6.12.
slice_of() {
	# shellcheck disable=SC2016
	perl -e '$b = "\0" x 48; syscall($ARGV[1] eq "x86_64" ? 315 : 275, $ARGV[0] + 0, $b, 48, 0);
		print unpack("x24 Q", $b)' "$1" "$(uname -m)"
}
# Counted from the first request on, without the start and without the end of the step.
count() { # REGEX OF CALLS
	sed -n '/NOTIF_RECV/,$p' "$TEST_TMP/trace" | sed '/NOTIF_RECV/h;/"steps/q' | grep -cE "^($1)\("
}
at_most() { # REGEX LIMIT NAME
	local got
	got=$(count "$1")
	note "$got of $1"
	ok "$3" test "$got" -le "$2"
}

# per_call MOST NAME PERL - the keeper's calls from one request of that name to the next: the lower quartile, without
# calls made by the clock (reading the queue of events, reporting to cordon; a cached directory is opened again after 5
# ms and the old one closed; the keeper stays on its processor for 2 ms).
# On a loaded machine most of a run may go by the clock: the best of up to five counts.
per_call() {
	local got tries
	for tries in 1 2 3 4 5; do
		rm -rf d && mkdir d
		traced "$3"
		got=$(calls_of "$2")
		[ "${got:-999}" -gt "$1" ] || break
	done
	ok "$2: ${got:-0} calls" test "${got:-999}" -le "$1"
	[ "${got:-999}" -le "$1" ] || note "$(tail -n 60 "$TEST_TMP/trace")"
}
calls_of() { # NAME
	awk -v name="nr=__NR_$1," '/NOTIF_RECV/ { if (of) print n; n = 0; of = index($0, name) }
		/^openat2\([0-9]*, "d", .*O_PATH.O_DIRECTORY/ { n--; next }
		!/^(read|sendto|epoll_[a-z]*|getpriority|sched_getscheduler)\(|^sched_[gs]etaffinity\(0,/ { n++ }' "$TEST_TMP/trace" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)] }'
}

traced 'for (1..'$n') { open F, ">", "d/a$_" or die; close F; rename "d/a$_", "d/b$_" or die }'
is "$(grep -c NOTIF_RECV "$TEST_TMP/trace")" $((2 * n)) "each call is one request"
if [ "$(slice_of $$)" = 0 ]; then
	skip "the keeper runs in short turns" "Linux 6.12"
else
	is "$slice" 100000 "the keeper runs in short turns"
	is "$agents" "$(slice_of $$)" "what the agent runs does not"
fi
at_most "epoll_ctl|epoll_wait" $((n / 2)) "events of a watched directory are not waited for one by one"

each='for (1..'$n')' made='for (1..'$n') { open F, ">", "d/a$_" or die; close F }'
# shellcheck disable=SC2016
{
	per_call 7 fchmod 'open F, ">", "d/m" or die; '"$each"' { chmod 0600, *F or die }'
	per_call 7 fchown 'open F, ">", "d/m" or die; '"$each"' { chown $<, -1, *F or die }'
	per_call 8 utimensat 'open F, ">", "d/m" or die; '"$each"' { utime 1, 1, *F or die }'
	per_call 13 openat "$made" # three of them that the caller takes it on the processor where it is
	per_call 13 openat 'use Fcntl; for (1..'$n') { sysopen F, "d/a$_", O_CREAT | O_EXCL | O_WRONLY or die; close F }'
	per_call 9 mkdir "$each"' { mkdir "d/a$_" or die }' # one of them watches it
	per_call 7 unlink "$made; $each"' { unlink "d/a$_" or die }'
	per_call 7 rename "$made; $each"' { rename "d/a$_", "d/b$_" or die }' # the third and later find free names
	per_call 8 rename "$made; $each"' { open F, ">", "d/b$_" or die; close F; rename "d/a$_", "d/b$_" or die }'
	per_call 8 chmod "$made; $each"' { chmod 0600, "d/a$_" or die }'
	per_call 8 chown "$made; $each"' { chown $<, -1, "d/a$_" or die }'
	per_call 9 utimensat "$made; $each"' { utime 1, 1, "d/a$_" or die }'
	attribute='my ($n, $v) = ("user.x", "v"); syscall('"$(uname -m | grep -qx x86_64 && echo 190 || echo 7)"', fileno(F), $n, $v, 1, 0) == 0 or die'
	if perl -e 'open F, ">", "d/m" or die; '"$attribute" 2>/dev/null; then
		per_call 8 fsetxattr 'open F, ">", "d/m" or die; '"$each { $attribute }"
	else
		skip "fsetxattr" "a file system with attributes of users"
	fi
	per_call 7 unlinkat "$made;"' system("rm", "-r", "d") == 0 or die; mkdir "d"'
}
# Another thread may have the number by now. Unless a handle that is older than the call excludes that, the keeper asks
# the kernel whether the call still waits, before it changes anything.
asked_first() { # NAME OF A TRAPPED CALL, NUMBER
	awk -v name="nr=__NR_$1," -v most="$2" '/NOTIF_RECV/ { of = index($0, name); n += of > 0; asked = 0 }
		/NOTIF_ID_VALID/ { asked = 1 }
		of && /^mkdirat\(/ && !asked { bad++ }
		END { exit !(n == most && !bad) }' "$TEST_TMP/trace"
}
# shellcheck disable=SC2016
{
	rm -rf d && mkdir d
	traced 'for (1..5) { system("mkdir", "d/a$_") == 0 or die }'
	ok "the first call of a process: does it still wait?" asked_first mkdir 5
	rm -rf d && mkdir d
	traced 'for (1..5) { mkdir "'"$PWD"'/d/a$_" or die }'
	ok "an absolute path: does the call still wait?" asked_first mkdir 5
	if perl -Mthreads -e 1 2>/dev/null; then
		rm -rf d && mkdir d
		traced 'use threads; threads->create(sub { no warnings; exec "/none" })->join; for (1..5) { mkdir "d/a$_" or die }'
		ok "another thread calls execve: does the call still wait?" asked_first mkdir 5
	else
		skip "another thread calls execve: does the call still wait?" "a perl with threads"
	fi
}
# While one caller takes descriptor after descriptor the keeper stays on its processor: up to a limit, and only if
# another processor is idle.
stays() { [[ $(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$1/status") =~ ^[0-9]+$ ]]; }
may_go() { ! stays "$1"; }
# One look proves nothing: the keeper looks every 5 ms, and moves when its caller gets no turn for 2 ms.
was_idle() { # one processor or more for most of the last 30 ms
	local before ticks from=${EPOCHREALTIME/[^0-9]/}
	read -r _ _ _ _ before _ </proc/stat
	sleep 0.03
	read -r _ _ _ _ ticks _ </proc/stat
	[ $(((ticks - before) * 1000000 / $(getconf CLK_TCK))) -ge $(((${EPOCHREALTIME/[^0-9]/} - from) * 8 / 10)) ]
}
if [ "$(slice_of $$)" = 0 ] || [ "$(nproc)" = 1 ]; then
	skip "the keeper stays with its caller" "Linux 6.12 and two processors"
else
	rm -f ready
	"$CORDON" run --headless -- perl -e 'until (-e "stop") { open F, ">", "ready" or die; close F }
		select undef, undef, undef, 0.05 until -e "end"' &
	pid=$!
	wait_for 30 test -e ready
	keeper=$(keeper_of "$pid")
	idle=0 end=$((SECONDS + 20))
	while [ $SECONDS -lt $end ] && [ $idle -lt 100 ]; do
		stays "$keeper" && break
		! was_idle || idle=$((idle + 1))
	done
	if [ $SECONDS -lt $end ]; then
		ok "the keeper stays with its caller" [ $idle -lt 100 ]
	else
		skip "the keeper stays with its caller" "an idle processor"
	fi
	hogs=()
	for ((i = 0; i < $(nproc); i++)); do
		while :; do :; done &
		hogs+=($!)
	done
	ok "but not where no processor is idle" wait_for 30 may_go "$keeper"
	stayed=0
	for ((i = 0; i < 20; i++)); do
		stays "$keeper" && stayed=$((stayed + 1))
		sleep 0.03
	done
	is $stayed 0 "as long as that is so"
	kill "${hogs[@]}" && wait "${hogs[@]}" 2>/dev/null
	touch stop
	ok "and may go anywhere when nothing more is taken" wait_for 30 may_go "$keeper"
	sleep 0.1
	ok "for good" may_go "$keeper"
	touch end
	wait "$pid"
fi
# If every open is trapped: one look for an absolute path, two for a relative one.
if "$CORDON" run --headless --set sandbox.read-gate=trap -- true 2>/dev/null; then
	options=(--set sandbox.read-gate=trap)
	echo x >r && ln -s r to_r
	# shellcheck disable=SC2016
	for path in "$PWD/r" r to_r d/../r /etc/passwd $(test -L /lib && ls /lib/os-release); do
		case $path in /*) most=5 ;; *) most=6 ;; esac
		note "$path"
		per_call $most openat "$each"' { open F, "<", "'"$path"'" or die; close F }'
	done
else
	skip "an open for reading" "needs every open trapped"
fi
done_testing
