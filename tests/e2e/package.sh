#!/bin/bash
# package - the Debian package: what is in it, what it depends on, twice the same bytes.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
command -v dpkg-shlibdeps >/dev/null || skip_all "dpkg-shlibdeps is not here"
[ -w build ] || skip_all "build/ is not this user's"
version=0.0.$$
mkdir "$TEST_TMP/tree" && git ls-files | tar c -T - | tar x -C "$TEST_TMP/tree"
cd "$TEST_TMP/tree" || exit 1
mkdir -p build/package && cp "$CORDON" build/package/cordon && cp "$(dirname "$CORDON")/interpose.so" build/package
# The program is there already: nothing is compiled.
sed -i 's/^\t\$(Q)\$(again) all$/\t@:/' Makefile
export SOURCE_DATE_EPOCH=1700000000
deb=build/cordon_${version}_$(dpkg --print-architecture).deb
ok "a package is made" core/setup/packages/deb.sh $version build/package
first=$(md5sum <"$deb")
ok "and once more" core/setup/packages/deb.sh $version build/package
is "$(md5sum <"$deb")" "$first" "with the same bytes"
depends=$(dpkg-deb -f "$deb" Depends)
for lib in libc6 libuv1 libncursesw6 libseccomp2 libgit2-; do
	like "$depends" "$lib" "it depends on $lib"
done
dpkg-deb -x "$deb" "$TEST_TMP/root"
like "$("$TEST_TMP/root/usr/bin/cordon" --version)" '^cordon [0-9]' "the program in it runs"
for file in usr/share/man/man1/cordon.1.gz usr/share/bash-completion/completions/cordon \
	usr/share/cordon/profiles/claude.profile usr/share/cordon/themes/default.theme usr/share/doc/cordon/copyright; do
	ok "it has $file" test -s "$TEST_TMP/root/$file"
done
done_testing
