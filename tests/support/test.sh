#!/bin/bash
# test - one prove run over all tests; as root, all of them once more as an ordinary user.
# SPDX-License-Identifier: MIT
#
# usage: test.sh PATTERN FILE...      (from `make test`, with B and JOBS in the environment)
set -u
cd "$(dirname "$0")/../.." || exit 1
# In a mount namespace of its own: in any case the mounts of in_memory() are removed at the end.
if [ -z "${IN_NAMESPACE:-}" ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	IN_NAMESPACE=1 exec unshare -m --propagation private "$0" "$@"
fi
pattern=$1
shift
case $(pwd -P)/ in
/tmp/* | /var/tmp/* | /run/* | /dev/*)
	echo "make test: $(pwd -P): the sandbox has its own /tmp, /run and /dev: clone to another place, such as your home" >&2
	exit 1
	;;
esac

# Not below /tmp or /var/tmp: the sandbox has private ones, and the tests' homes must be real.
if [ "$(id -u)" = 0 ]; then
	base=$(mktemp -d /srv/cordon-test.XXXXXX) || exit 1
	chmod 755 "$base"
else
	mkdir -p "build/$B/tmp" && base=$(mktemp -d "$PWD/build/$B/tmp/XXXXXX") || exit 1
fi
trap 'umount -l "$base/memory" "$base/image" 2>/dev/null; rm -rf "$base"' EXIT
trap 'exit 130' INT TERM HUP

# Files of tests are in memory, if there is enough, on an ext4 with a journal: otherwise every fsync would wait for the
# disk. It takes some hundred MB, and a directory of 100000 names more than once.
in_memory() {
	local have PATH=$PATH:/usr/sbin:/sbin
	have=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	[ -n "${IN_NAMESPACE:-}" ] && [ "${have:-0}" -gt $((4 << 20)) ] && mkdir "$base/memory" "$base/image" &&
		mount -t tmpfs -o size=2500m,mode=700 cordon-test "$base/image" 2>/dev/null || return
	truncate -s 2G "$base/image/ext4" && mkfs.ext4 -q -N 800000 "$base/image/ext4" 2>/dev/null &&
		mount -o loop,noinit_itable "$base/image/ext4" "$base/memory" 2>/dev/null && homes=$base/memory
}
homes=$base
[ "$(id -u)" != 0 ] || in_memory

# "# also with: NAME=VALUE..." in a script: it runs once more with each.
# "# not in CI" in one: continuous integration leaves it to make soak.
shorter=
[ -z "${CI:-}" ] || [ -n "${CORDON_TEST_THOROUGH:-}" ] || shorter=1
files=()
for f; do
	names=("$f")
	[ -z "$shorter" ] || [[ $f != *.sh ]] || ! grep -q '^# not in CI' "$f" || continue
	[[ $f != *.sh ]] || for with in $(sed -n 's/^# also with: //p' "$f"); do names+=("$with/$f"); done
	for name in "${names[@]}"; do
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $name == $pattern ]] && files+=("$name")
	done
done
# The slow ones first, so that parallel runs end together.
mapfile -t files < <(printf '%s\n' "${files[@]}" |
	awk '{ print (/crash/ ? 0 : /escape/ ? 1 : /e2e/ ? 2 : 3), $0 }' | sort -s -k1,1 | cut -d' ' -f2-)

# who FILE - prints how it runs if root can be both: root, user-only, or as-user, which is both.
who() {
	case $1 in
	SANITIZED=*) echo root ;;
	build/"$B"/*) [[ " ${files[*]} " == *" build/asan/${1#"build/$B/"} "* ]] && echo root || echo as-user ;;
	build/asan/tests/screen/* | */test_term_programs | */test_paint | */test_seatbelt_* | */test_endpoint*) echo root ;;
	build/asan/*) [[ " ${files[*]} " == *" build/$B/${1#build/asan/} "* ]] && echo as-user || echo user-only ;;
	*)
		case $(sed -n 's/^# \(root only\|user only\|root and user\)\b.*/\1/p' "${1#*=*/}") in
		'root only') echo root && return ;;
		'root and user') echo as-user && return ;;
		'')
			# Consoles' tests, and tests that do not depend on the user, are the same for root and for a
			# user.
			[[ $1 == tests/e2e/console*.sh ]] || { [[ $1 == tests/e2e/* ]] && ! grep -qE 'id -u|UID' "$1"; } || [[ $1 == *=* ]] ||
				{ echo as-user && return; }
			;;
		esac
		[ -n "$all_twice" ] && echo as-user || echo user-only
		;;
	esac # (a unit test runs with sanitizers as a user, and without them as root)
}
# make soak and make attacks run all twice; root runs tests for which a user gets no namespaces.
all_twice=${CORDON_TEST_THOROUGH:-}${TEST_TAP:-}
[ "$(id -u)" != 0 ] || setpriv --reuid=12345 --regid=12345 --clear-groups unshare -Ur true 2>/dev/null || all_twice=1
user_files=()
if [ "$(id -u)" = 0 ]; then
	# A copy that everyone can read
	stage=$base/tree
	mkdir -p "$stage/build/$B"
	cp -a tests themes keymaps "$stage/" 2>/dev/null
	cp -a --parents core/config/profiles core/api/*.*json tui/look/unifont.hex tui/man "$stage/"
	# (a gigabyte and more, which a user may not write: linked if possible)
	built=("build/$B"/{cordon,interpose.so,safe-tools,tests})
	[[ " ${files[*]}" != *" build/asan/"* ]] || built+=(build/asan/{cordon,tests})
	[ ! -d build/npm ] || cp -a build/npm "$stage/build/"
	cp -al --parents "${built[@]}" "$stage/" 2>/dev/null || cp -a --parents "${built[@]}" "$stage/"
	chmod -R a+rX,go-w "$stage" && chmod 1777 "$stage"
	root_files=()
	for f in "${files[@]}"; do
		by=$(who "$f")
		[ "$by" = user-only ] || [[ $by = as-user && $f == build/asan/* ]] || root_files+=("$f")
		[ "$by" = root ] || user_files+=("$by/$f")
	done
	files=("${root_files[@]}")
fi
export TEST_BASE=$base TEST_HOMES=$homes TEST_FAILED=$base/failed B
# Continuous integration has a time limit: fewer points at which a process is killed or a call fails, and after so many
# seconds a user does not repeat root's tests.
if [ -n "$shorter" ]; then
	export TEST_FEWER=2 TEST_DEADLINE=$(($(date +%s) + ${TEST_SECONDS:-2400}))
fi
mkdir "$TEST_FAILED"
summary=$(mktemp "$base/summary.XXXXXX")
# A test waits for two thirds of its time: run four more than there are processors.
prove --timer -j "$((${JOBS:-1} + 4))" -e tests/support/one.sh "${files[@]}" "${user_files[@]}" | tee "$summary"
r=${PIPESTATUS[0]}

# The output of failed tests, and prove's own last words again.
for f in "$TEST_FAILED"/*; do
	[ -f "$f" ] || continue
	printf '\n---- %s\n' "${f##*/}"
	grep -v '^ok ' "$f" | head -n 150
done
if [ -s "$TEST_FAILED.times" ] && [ "$(wc -l <"$TEST_FAILED.times")" -gt 100 ]; then
	echo "seconds of a processor, the most:"
	awk '{ split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%8.1f %s\n", 60 * (u[1] + s[1]) + u[2] + s[2], $3 }' \
		"$TEST_FAILED.times" | sort -rn | head -n 20
fi
[ "$r" = 0 ] || tail -n 3 "$summary"
exit "$r"
