#!/bin/bash
# test - one prove run over everything; as root, everything once more as an ordinary user.
# SPDX-License-Identifier: MIT
#
# usage: test.sh PATTERN FILE...      (from `make test`, with B and JOBS in the environment)
set -u
cd "$(dirname "$0")/../.." || exit 1
# In a mount namespace of its own: however this ends, what in_memory() mounts goes too.
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

# Not below /tmp or /var/tmp: the sandbox has its own of those, and the tests' homes must be real.
if [ "$(id -u)" = 0 ]; then
	base=$(mktemp -d /srv/cordon-test.XXXXXX) || exit 1
	chmod 755 "$base"
else
	mkdir -p "build/$B/tmp" && base=$(mktemp -d "$PWD/build/$B/tmp/XXXXXX") || exit 1
fi
trap 'umount -l "$base/memory" "$base/image" 2>/dev/null; rm -rf "$base"' EXIT
trap 'exit 130' INT TERM HUP

# What the tests make lies in memory, where there is enough of that, on an ext4 with a journal: every fsync
# would wait for the disk otherwise. It takes some hundred MB, and a directory of 100000 names more than once.
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

files=()
for f; do
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $f == $pattern ]] && files+=("$f")
done
# The slow ones first, so that two at a time end together.
mapfile -t files < <(printf '%s\n' "${files[@]}" |
	awk '{ print (/crash/ ? 0 : /escape/ ? 1 : /e2e/ ? 2 : 3), $0 }' | sort -s -k1,1 | cut -d' ' -f2-)

user_files=()
if [ "$(id -u)" = 0 ]; then
	# A copy that anybody can read, and a list of names that one.sh knows to run as a user.
	stage=$base/tree
	mkdir -p "$stage/build/$B" "build/$B/as-user"
	cp -a tests themes keymaps "$stage/" 2>/dev/null
	cp -a --parents core/config/profiles core/api/*.*json tui/look/unifont.hex tui/man "$stage/"
	cp -a "build/$B/cordon" "build/$B/interpose.so" "build/$B/safe-tools" "build/$B/tests" "$stage/build/$B/"
	[ ! -d build/npm ] || cp -a build/npm "$stage/build/"
	[[ " ${files[*]}" != *" build/asan/"* ]] || cp -a --parents build/asan/cordon build/asan/tests "$stage/"
	chmod -R a+rX,go-w "$stage" && chmod 1777 "$stage"
	# A unit test runs with sanitizers as a user and without them as root, where the list has both.
	root_files=()
	for f in "${files[@]}"; do
		if [[ $f != build/asan/* || $f == *@(/test_term_programs|/tests/screen/*|/test_@(paint|seatbelt_|endpoint)*) ]]; then
			root_files+=("$f")
			[[ $f != build/asan/* ]] || continue # no file of anybody's: what is drawn, profiles of another system
		fi
		grep -q '^# root only' "$f" && continue
		# What a screen shows does not depend on who looks: once, as a user.
		[[ $f != tests/e2e/console*.sh ]] || unset 'root_files[-1]'
		[[ $f == *_sanitized.sh ]] && continue
		[[ " ${files[*]} " == *" build/asan/${f#"build/$B/"} "* ]] && continue
		name=build/$B/as-user/${f#"build/$B/"}
		mkdir -p "$(dirname "$name")"
		ln -sf "$stage/$f" "$name"
		user_files+=("$name")
	done
	files=("${root_files[@]}")
fi
export TEST_BASE=$base TEST_HOMES=$homes TEST_FAILED=$base/failed B
# Seconds until what root has run is no longer repeated as a user: continuous integration has an end.
[ -z "${CI:-}" ] || export TEST_DEADLINE=$(($(date +%s) + ${TEST_SECONDS:-2400}))
mkdir "$TEST_FAILED"
summary=$(mktemp "$base/summary.XXXXXX")
# A test waits for two thirds of its time: four more than there are processors.
prove --timer -j "$((${JOBS:-1} + 4))" -e tests/support/one.sh "${files[@]}" "${user_files[@]}" | tee "$summary"
r=${PIPESTATUS[0]}

# What was said where something failed, then prove's own last words once more.
for f in "$TEST_FAILED"/*; do
	[ -f "$f" ] || continue
	printf '\n---- %s\n' "${f##*/}"
	grep -v '^ok ' "$f" | head -n 80
done
[ "$r" = 0 ] || tail -n 3 "$summary"
exit "$r"
