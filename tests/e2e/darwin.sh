#!/bin/bash
# darwin - the program compiles for macOS, arm64 and x86_64, and what can be linked is.
# SPDX-License-Identifier: MIT
# timeout: 900
# root only: compiling is the same whoever does it
#
# Nothing of this runs here: no Mac has confirmed it. tests/darwin/skipped.txt names the files that are left
# out, each with its reason; what the program lacks is exactly what those files have.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x build/zig/zig ] || skip_all "zig was not fetched: nothing can be compiled for macOS"
out=build/darwin
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/zig/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/zig/cache

jobs=$(nproc)
if make -k --no-print-directory DEPS=no B="$B" CC=gcc -j"$jobs" darwin-objects >"$TEST_TMP/log" 2>&1; then
	pass "everything but what is skipped compiles for arm64-macos and x86_64-macos with -Werror"
else
	fail "it compiles for macOS" "$(grep -E 'error|\*\*\*' "$TEST_TMP/log")"
	done_testing
fi
all=$(find core tui backends/interpose backends/macos backends/registry.c -name '*.c' ! -name '*_linux.c' 2>/dev/null | wc -l)
skipped=$(wc -l <tests/darwin/skipped.txt)
note "$((all - skipped)) of $all files of core, tui and backends/{interpose,macos}; left out by design: backends/{linux,bwrap,landlock}, *_linux.c"
sed 's/^/# left out: /' tests/darwin/skipped.txt
missing=
while IFS=$'\t' read -r file reason; do
	[ -f "$file" ] && [ -n "$reason" ] || missing+=" $file"
done <tests/darwin/skipped.txt
is "$missing" "" "every file that is left out exists, and has its reason"

# link ARCH OUT ARG... - with the names of the system's library and of the stubs, and no others.
link() {
	local arch=${1/arm64/aarch64} to=$2
	shift 2
	build/zig/zig cc -target "$arch-macos.13.0" -o "$to" "$@"
}

# What the program lacks, as the linker says.
undefined() { grep -oE 'undefined reference to symbol .*' "$1" | sed -E "s/.*symbol '?_?//; s/'.*//" | sort -u; }
# What the files that are left out define, in the build for this system.
left_out() {
	local objects=()
	mapfile -t objects < <(sed "s|\t.*||; s|^|build/$B/|; s|\.c$|.o|" tests/darwin/skipped.txt)
	nm --defined-only "${objects[@]}" build/"$B"/backends/*/*.o build/"$B"/backends/*/*/*.o 2>/dev/null |
		awk '$2 ~ /[TBDR]/ { print $3 }' | sort -u
}

for arch in arm64 x86_64; do
	ok "the preload library links for $arch-macos" link "$arch" "$TEST_TMP/interpose-$arch.dylib" -shared \
		"$out/$arch/backends/interpose/preload.o" "$out/$arch/backends/interpose/portmap_read.o"
	mapfile -t objects < <(find "$out/$arch" -name '*.o' ! -path '*/interpose/preload.o')
	link "$arch" "$TEST_TMP/cordon-$arch" "${objects[@]}" -L"$out/lib" -Ltests/darwin/lib -lEndpointSecurity -lbsm \
		-luv -lncursesw -ltinfo -lcjson -lzstd -lutf8proc -lvterm -lxxhash -lmd >"$TEST_TMP/link" 2>&1
	other=$(grep 'error: ' "$TEST_TMP/link" | grep -v 'undefined reference')
	lacks=$(comm -23 <(undefined "$TEST_TMP/link") <(left_out))
	is "$lacks$other" "" "the program for $arch-macos lacks nothing but what is left out"
done
is "$(od -An -tx4 -N4 "$TEST_TMP/interpose-arm64.dylib" | tr -d ' ')" feedfacf "it is a Mach-O file"
done_testing
