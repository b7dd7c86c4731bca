#!/bin/bash
# dist - build/cordon-VERSION-linux-ARCH.tar.gz: the program and its libraries, to be unpacked anywhere.
# SPDX-License-Identifier: MIT
#
# usage: dist.sh VERSION DIR     DIR has a program that was linked to look for its libraries in
#                                $ORIGIN/../lib/cordon. It runs with the C library that it was built with, and newer
#                                ones: build it where that is old.
set -eu
version=$1 program=$2
name=cordon-$version-linux-$(uname -m)
root=$PWD/build/tar/$name
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)}
export LC_ALL=C TZ=UTC
umask 022

rm -rf build/tar && mkdir -p "$root/lib/cordon"
make --no-print-directory DEPS=no PREFIX= DESTDIR="$root" APPARMOR="$root/share/cordon/apparmor.d" O="$program" install >/dev/null
strip --strip-unneeded --remove-section=.comment "$root/bin/cordon"
cp LICENSE README.md "$root/"

# All but the C library, which is the system's; and those that are opened when they are needed.
{
	ldd "$root/bin/cordon"
	for lib in $(strings -a "$root/bin/cordon" | grep -xE 'lib(git2|ssl)\.so\.[0-9.]+' | sort -u); do
		path=$(ldconfig -p 2>/dev/null | sed -n "s|^[[:space:]]*$lib .*=> ||p" | head -n 1)
		[ -n "$path" ] || path=$(find /usr/lib* /lib* -name "$lib" 2>/dev/null | head -n 1)
		ldd "$path"
		echo "$lib => $path"
	done
} | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\).*/\1 \2/p' | sort -u |
	grep -vE '^(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^ ]*)\.so' |
	while read -r lib path; do
		cp -L "$path" "$root/lib/cordon/$lib"
		chmod 644 "$root/lib/cordon/$lib"
	done
find "$root" -print0 | xargs -0 touch -hd "@$SOURCE_DATE_EPOCH"
tar -C build/tar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"build/$name.tar.gz"
oldest=$(find "$root/bin/cordon" "$root/lib/cordon" -type f -exec objdump -T {} + 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
echo "build/$name.tar.gz (needs glibc ${oldest#GLIBC_} or newer)"
