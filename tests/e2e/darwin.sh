#!/bin/bash
# darwin - the program compiles and links for macOS, arm64 and x86_64.
# SPDX-License-Identifier: MIT
# timeout: 900
# root only: compiling is the same whoever does it
#
# Nothing of this runs here: no Mac has confirmed it. Left out are backends/{linux,bwrap,landlock,vm} and each
# *_linux.c. What no library of the toolchain's has comes from stubs: Debian's libraries by what they export here
# (tests/darwin/libraries.sh), Apple's that are missing by the names that we use (tests/darwin/lib).
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x build/zig/zig ] || skip_all "zig was not fetched: nothing can be compiled for macOS"
out=build/darwin
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/zig/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/zig/cache

jobs=$(nproc)
if make -k --no-print-directory DEPS=no B="$B" CC=gcc -j"$jobs" darwin-objects >"$TEST_TMP/log" 2>&1; then
	pass "all of core, tui and the backend compiles for arm64-macos and x86_64-macos with -Werror"
else
	fail "it compiles for macOS" "$(grep -E 'error|\*\*\*' "$TEST_TMP/log")"
	done_testing
fi
all=$(find core tui backends/interpose backends/macos backends/registry.c -name '*.c' ! -name '*_linux.c' | wc -l)
note "$all files of core, tui and backends/{interpose,macos}; for Linux alone: $(find core tui -name '*_linux.c' | wc -l)"
# link ARCH OUT ARG... - with the names of the system's library and of the stubs, and no others.
link() {
	local arch=${1/arm64/aarch64} to=$2
	shift 2
	build/zig/zig cc -target "$arch-macos.13.0" -o "$to" "$@"
}

libraries=(-L"$out/lib" -Ltests/darwin/lib -lEndpointSecurity -lbsm -lCoreServices
	-luv -lncursesw -ltinfo -lcjson -lzstd -lutf8proc -lvterm -lxxhash -lmd -lgif)
echo 'int es_no_such_name(void); int main(void) { return es_no_such_name(); }' >"$TEST_TMP/none.c"
# Of sources that are still there.
objects_of() {
	local file
	find "$out/$1" -name '*.o' ! -path '*/interpose/preload.o' ! -path '*/alias/helper_darwin.o' | while read -r file; do
		file=${file#"$out/$1/"}
		if [ -f "${file%.o}.c" ] || [ "${file#*gen/}" != "$file" ]; then echo "$out/$1/$file"; fi
	done
}

for arch in arm64 x86_64; do
	ok "the preload library links for $arch-macos" link "$arch" "$TEST_TMP/interpose-$arch.dylib" -shared \
		"$out/$arch/backends/interpose/preload.o" "$out/$arch/backends/interpose/portmap_read.o"
	ok "the helper for loopback addresses links for $arch-macos, with nothing of the program's but its rules" \
		link "$arch" "$TEST_TMP/cordon-loopback-$arch" "$out/$arch/backends/macos/alias/helper_darwin.o" \
		"$out/$arch/backends/macos/alias/alias.o"
	mapfile -t objects < <(objects_of "$arch")
	ok "the program links for $arch-macos: no name is missing" link "$arch" "$TEST_TMP/cordon-$arch" "${objects[@]}" \
		"${libraries[@]}"
	like "$(link "$arch" "$TEST_TMP/none" "$TEST_TMP/none.c" "${libraries[@]}" 2>&1)" "undefined.*es_no_such_name" \
		"and one would be told of"
done
is "$(od -An -tx4 -N4 "$TEST_TMP/cordon-arm64" | tr -d ' ')" feedfacf "it is a Mach-O file"
done_testing
