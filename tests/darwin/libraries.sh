#!/bin/bash
# libraries - collects the headers of this system's libraries alone, and makes linker stubs of their symbols.
# SPDX-License-Identifier: MIT
#
# usage: libraries.sh DIR     DIR/include: links to the libraries' headers, and to no other of /usr/include.
#                             DIR/lib: a .tbd for each, made of the names that the library itself exports.
set -eu
dir=$1
headers='uv.h uv curses.h ncurses.h ncurses_dll.h unctrl.h term.h cjson utf8proc.h zstd.h zstd_errors.h
	vterm.h vterm_keycodes.h xxhash.h sha256.h sha2.h md5.h git2.h git2 gif_lib.h uthash.h utlist.h'
libraries='uv ncursesw tinfo cjson zstd utf8proc vterm xxhash md gif'

mkdir -p "$dir/include" "$dir/lib"
for name in $headers; do
	ln -sfn "/usr/include/$name" "$dir/include/$name"
done

# stub NAME - a text-based stub (tapi-tbd, version 4) of the exported symbols on standard input
stub() {
	printf -- '--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n'
	printf 'install-name: "/usr/local/lib/lib%s.dylib"\nexports:\n  - targets: [ x86_64-macos, arm64-macos ]\n' "$1"
	printf '    symbols: [ %s ]\n...\n' "$(sed 's/^/_/' | sort -u | paste -sd, - | sed 's/,/, /g')"
}

for name in $libraries; do
	file=$(${CC:-gcc} -print-file-name="lib$name.so")
	# Some are linker scripts that name the library.
	[ "$(head -c 4 "$file")" = $'\x7fELF' ] || file=$(${CC:-gcc} -print-file-name="$(grep -oE "lib$name\.so\.[0-9.]+" "$file" | head -n 1)")
	nm -D --defined-only "$file" | awk '$2 ~ /[TBDRVWiGS]/ { sub(/@.*/, "", $3); print $3 }' |
		grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' | stub "$name" >"$dir/lib/lib$name.tbd"
	[ "$(wc -c <"$dir/lib/lib$name.tbd")" -gt 300 ] || { echo "libraries: lib$name exports nothing" >&2; exit 1; }
done
touch "$dir/include/ready"
