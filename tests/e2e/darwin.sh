#!/bin/bash
# darwin - the program compiles and links for macOS: arm64; with DARWIN_ARCHS (make check-darwin) x86_64, too.
# SPDX-License-Identifier: MIT
# timeout: 2400
# root only: compiling is the same whoever does it
#
# Nothing of this runs here: no Mac has confirmed it. Left out are backends/{linux,bwrap,landlock,vm} and each
# *_linux.c. What no library of the toolchain's has comes from stubs: Debian's libraries by what they export here
# (tests/darwin/libraries.sh), Apple's that are missing by the names that we use (tests/darwin/lib).
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

[ -x build/zig/zig ] || skip_all "zig was not fetched: nothing can be compiled for macOS"
out=build/darwin
read -ra archs <<<"${DARWIN_ARCHS:=arm64}"

if make -k --no-print-directory DEPS=no -j"$(nproc)" DARWIN_ARCHS="$DARWIN_ARCHS" darwin >"$TEST_TMP/log" 2>&1; then
	pass "what make builds on a Mac compiles with -Werror and links, for $DARWIN_ARCHS"
else
	fail "it compiles and links for macOS" "$(grep -E 'error|undefined|\*\*\*' "$TEST_TMP/log" | head -n 40)"
	done_testing
fi
echo 'int es_no_such_name(void); int main(void) { return es_no_such_name(); }' >"$TEST_TMP/none.c"
for arch in "${archs[@]}"; do
	for file in cordon interpose.dylib cordon-loopback cordon-seatbelt; do
		is "$(od -An -tx4 -N4 "$out/$arch/$file" | tr -d ' ')" feedfacf "$file for $arch is a Mach-O file"
	done
	like "$(tests/darwin/cc.sh "$arch" -o "$TEST_TMP/none" "$TEST_TMP/none.c" -lEndpointSecurity 2>&1)" \
		"undefined.*es_no_such_name" "a name that no library has would be told of"
	ok "cordon for $arch asks not to be told of programs that were there before" \
		grep -q _es_mute_process "$out/$arch/cordon"
	ok "the helper for $arch enters profiles" grep -q _sandbox_init_with_parameters "$out/$arch/cordon-seatbelt"
	unlike "$(strings -a "$out/$arch/cordon-seatbelt")" "libEndpointSecurity|libCoreServices|libncurses" \
		"and loads nothing that starts threads, nor what it does not use"
	# Files for Linux or of the other program are not included.
	objects=$(build/zig/zig ar t "$out/$arch/libcordon.a")
	like "$objects" "seatbelt_darwin.o" "the program for $arch has files for macOS"
	unlike "$objects" "_linux.o|preload.o|helper_darwin.o|main_darwin.o" "and none of Linux's, nor of another program's"
done
is "$(grep -rlE '(^|[^a-z_])v?fork(_bare)?\(\)' backends/macos --include='*.c')" "" "nothing of the backend forks a keeper that has threads"
done_testing
