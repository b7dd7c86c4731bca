#!/bin/bash
# vm_shim - the first program of a guest compiles and links for another processor, arm64.
# SPDX-License-Identifier: MIT
# root only: compiling is the same whoever does it
#
# No guest of that processor is started here: cordon's virtual machines run on x86-64 only so far.
. "$(dirname "$0")/../support/lib.sh"

[ -x build/zig/zig ] && [ -d build/zig/lib/libc/musl ] || skip_all "zig with musl was not fetched: nothing can be compiled for arm64"
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/zig/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/zig/cache
# The options of the Makefile's vm-init; without options of ours (musl's own sources have some).
options=(-target aarch64-linux-musl -std=c17 -D_GNU_SOURCE -I. -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef
	-Wstrict-prototypes -Wmissing-prototypes -Werror -Os -fno-strict-aliasing -fstack-protector-strong)
compile() { build/zig/zig cc "${options[@]}" "$@" 2>>"$TEST_TMP/err" || { head -n 20 "$TEST_TMP/err" && false; }; }
for file in backends/vm/shim/*.c; do ok "$file compiles" compile -c -o "$TEST_TMP/o" "$file"; done
is "$(cat "$TEST_TMP/err")" "" "without a word"
# musl itself is compiled for it, which takes minutes on a slow machine: in continuous integration only if it is built
[ -z "${TEST_FEWER:-}" ] || [ -n "$(find build/zig/cache -name libc.a -print -quit 2>/dev/null)" ] || done_testing
ok "it links" compile -static -s -o "$TEST_TMP/vm-init" backends/vm/shim/*.c
is "$(grep -c '^backends/' "$TEST_TMP/err")" 0 "without a warning of its own"
word() { od -An -t"$1" -j"$2" -N"$3" "$TEST_TMP/vm-init" | tr -d ' '; } # FORMAT OFFSET LENGTH
is "$(word c 1 3) $(word u2 18 2)" "ELF 183" "for arm64"
is "$(grep -c ld-musl "$TEST_TMP/vm-init")" 0 "and needs no loader"
done_testing
