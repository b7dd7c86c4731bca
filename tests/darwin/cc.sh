#!/bin/sh
# cc - plays the C compiler of a Mac: compiles with zig's clang, links with zig's linker.
# SPDX-License-Identifier: MIT
#
# usage: cc.sh arm64|x86_64 ARGUMENT...     Headers and libraries are stubs: build/darwin has Debian's (libraries.sh),
#                                           tests/darwin Apple's.
set -eu
arch=$1
shift
export ZIG_GLOBAL_CACHE_DIR="$PWD/build/zig/cache" ZIG_LOCAL_CACHE_DIR="$PWD/build/zig/cache"
for argument; do
	case $argument in
	-c | -E)
		exec build/zig/zig clang -target "$arch-apple-macos13" -nostdinc -isystem build/zig/lib/include \
			-isystem tests/darwin/include -isystem build/darwin/include \
			-isystem build/zig/lib/libc/include/any-macos-any "$@"
		;;
	esac
done
[ "$arch" = x86_64 ] || arch=aarch64
exec build/zig/zig cc -target "$arch-macos.13.0" -Lbuild/darwin/lib -Ltests/darwin/lib "$@"
