#!/bin/bash
# deb - build/cordon_VERSION_ARCH.deb of what is built; the same sources give the same bytes.
# SPDX-License-Identifier: MIT
set -eu
version=$1 program=$2 # VERSION, the release build's directory
arch=$(dpkg --print-architecture) name=cordon_${version}_$arch
root=build/deb/$name
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)}
export LC_ALL=C TZ=UTC
umask 022

rm -rf build/deb && mkdir -p "$root/DEBIAN" "$root/usr/share/doc/cordon"
make --no-print-directory DEPS=no PREFIX=/usr DESTDIR="$PWD/$root" O="$program" install >/dev/null
strip --strip-unneeded --remove-section=.comment "$root/usr/bin/cordon" "$root/usr/lib/cordon/interpose.so"
gzip -9n "$root"/usr/share/man/man?/*
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_cordon" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

# The libraries that it is linked with, and those that it opens when it needs them.
opened=$(strings -a "$root/usr/bin/cordon" | grep -xE 'lib(git2|ssl)\.so\.[0-9.]+' | sort -u)
mkdir -p build/deb/debian && printf 'Source: cordon\n\nPackage: cordon\nArchitecture: any\n' >build/deb/debian/control
depends=$(cd build/deb && dpkg-shlibdeps -O "$name/usr/bin/cordon" | sed -n 's/^shlibs:Depends=//p')
for lib in $opened; do depends="$depends, $(dpkg-query -S "*/$lib" | sed -n '1s/:.*//p')"; done
who=$(git log -1 --format='%an <%ae>' 2>/dev/null || echo 'cordon <cordon@example.org>')

cat >"$root/DEBIAN/control" <<C
Package: cordon
Version: $version
Architecture: $arch
Maintainer: $who
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends
Recommends: bubblewrap, fuse3
Suggests: fd-find, ripgrep
Section: utils
Priority: optional
Description: run a coding agent where it can be watched, asked about, and undone
 cordon runs a coding agent in a sandbox and a full-screen console. Every file
 that it touches is shown, what no rule allows waits for an answer, and every
 command that it ran is a step that can be looked at as a diff and undone.
C
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: 2026 the cordon authors\nLicense: Expat\n'
	tail -n +5 LICENSE | sed 's/^$/./; s/^/ /'
	printf '\nFiles: tui/look/unifont.hex\nCopyright: 1998-2022 Roman Czyborra, Paul Hardy and others\nLicense: OFL-1.1\n'
	sed -n 's/^# \{0,1\}//p' tui/look/unifont.hex | sed -n '/^SIL OPEN FONT/,$p' | sed 's/^$/./; s/^/ /'
} >"$root/usr/share/doc/cordon/copyright"
changes=$(sed -n "/^## $version\$/,/^## [^$version]/{ s/^- /  * /p; s/^  \([^ *]\)/    \1/p; }" CHANGELOG.md |
	fold -s -w 74 | sed '/^  \* /!s/^ */    /; s/ *$//')
printf 'cordon (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n' \
	"$version" "${changes:-  * Release $version.}" "$who" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" |
	gzip -9n >"$root/usr/share/doc/cordon/changelog.gz"
# The guest of a virtual machine has no libraries. The name of the database of packages is one of a list of places.
mkdir -p "$root/usr/share/lintian/overrides"
printf 'cordon: %s\n' 'statically-linked-binary [usr/libexec/cordon/vm-init]' 'uses-dpkg-database-directly [usr/bin/cordon]' \
	>"$root/usr/share/lintian/overrides/cordon"
# Ubuntu lets only programs with a profile make user namespaces.
if [ -f "$root/etc/apparmor.d/cordon" ]; then
	echo /etc/apparmor.d/cordon >"$root/DEBIAN/conffiles"
	cat >"$root/DEBIAN/postinst" <<'S'
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser >/dev/null; then
	apparmor_parser -r /etc/apparmor.d/cordon || :
fi
S
	chmod 755 "$root/DEBIAN/postinst"
fi
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -print0 | xargs -0 touch -hd "@$SOURCE_DATE_EPOCH"
dpkg-deb --root-owner-group -Zxz --build "$root" "build/$name.deb" >/dev/null
echo "build/$name.deb"
