#!/bin/bash
# package - the Debian package: its content, its dependencies, the same bytes twice.
# SPDX-License-Identifier: MIT
# root only: it writes into build
. "$(dirname "$0")/../support/lib.sh"
command -v dpkg-shlibdeps >/dev/null || skip_all "dpkg-shlibdeps is not here"
[ -w build ] || skip_all "build/ is not this user's"
version=0.0.$$
mkdir "$TEST_TMP/tree" && git ls-files | tar c -T - | tar x -C "$TEST_TMP/tree"
cd "$TEST_TMP/tree" || exit 1
mkdir -p build/package && cp "$CORDON" build/package/cordon && cp "$(dirname "$CORDON")"/{interpose.so,vm-init} build/package
# The program exists: nothing is compiled.
sed -i 's/^\t\$(Q)\$(again) all$/\t@:/' Makefile
export SOURCE_DATE_EPOCH=1700000000
deb=build/cordon_${version}_$(dpkg --print-architecture).deb
ok "a package is made" core/setup/packages/deb.sh $version build/package
first=$(md5sum <"$deb")
ok "and once more" core/setup/packages/deb.sh $version build/package
is "$(md5sum <"$deb")" "$first" "with the same bytes"
depends=$(dpkg-deb -f "$deb" Depends)
for lib in libc6 libuv1 libtinfo6 libseccomp2 libgif7 libgit2- libssl3; do
	like "$depends" "$lib" "it depends on $lib"
done
dpkg-deb -x "$deb" "$TEST_TMP/root"
like "$("$TEST_TMP/root/usr/bin/cordon" --version)" '^cordon [0-9]' "the program in it runs"
for file in usr/share/man/man1/cordon.1.gz usr/share/man/man5/cordon-config.5.gz usr/share/man/man7/cordon-limits.7.gz \
	usr/share/bash-completion/completions/cordon \
	usr/share/cordon/profiles/claude.profile usr/share/cordon/themes/default.theme usr/share/doc/cordon/copyright; do
	ok "it has $file" test -s "$TEST_TMP/root/$file"
done
like "$(cat "$TEST_TMP/root/usr/share/doc/cordon/copyright")" 'unifont.hex.*OPEN FONT LICENSE.*DISCLAIMER' "and the font's licence"
is "$(readlink "$TEST_TMP/root/usr/libexec/cordon/safe-tools/find")" ../../../bin/cordon "its front ends are links to it"
like "$(cat "$TEST_TMP/root/etc/apparmor.d/cordon")" 'profile cordon /usr/bin/cordon flags' "AppArmor's profile is about it"

# ---- the tarball with its libraries, and the source with a formula
tarball=build/cordon-$version-linux-$(uname -m).tar.gz
ok "a tarball is made" core/setup/packages/dist.sh $version build/package
mkdir "$HOME/apps" && tar -xzf "$tarball" -C "$HOME/apps"
there=$(echo "$HOME"/apps/cordon-*)
libraries=$(ls "$there/lib/cordon")
for lib in libuv.so.1 libgit2.so libssl.so libcrypto.so libseccomp.so.2 libfuse3.so.3; do like "$libraries" "$lib" "it has $lib"; done
unlike "$libraries" 'libc\.so|ld-linux' "and not the C library"
like "$(LD_LIBRARY_PATH=$there/lib/cordon "$there/bin/cordon" --version)" "^cordon [0-9].*libraries: .*libgit2" "it says with what it runs"
like "$(make -n DEPS=no B=release BESIDE=yes -W tui/main.c build/release/cordon 2>&1 | tr -d "'")" 'rpath,.?\$ORIGIN/../lib/cordon' "and is linked to find them"
git init -q . && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm t
ok "the source, with a formula" core/setup/packages/source.sh $version
like "$(cat build/cordon.rb)" "sha256 \"$(sha256sum <"build/cordon-$version.tar.gz" | cut -d' ' -f1)\"" "which names its hash"
! command -v ruby >/dev/null || ok "and is Ruby" ruby -c build/cordon.rb
if command -v rpmbuild >/dev/null; then
	ok "an rpm is made" core/setup/packages/rpm.sh $version build/package
	like "$(rpm -qlp build/cordon-$version-1.*.rpm)" '/usr/bin/cordon.*/usr/libexec/cordon/safe-tools/find.*/usr/share/man' "with the same files"
	like "$(rpm -qp --requires build/cordon-$version-1.*.rpm)" 'libgit2.*libssl' "it depends on what it opens, too"
else
	skip "an rpm" "rpmbuild is not here"
fi

# ---- the package of npm, and a release with sums and a signature
ok "a package of npm is made" core/setup/packages/npm.sh $version
if command -v npm >/dev/null; then
	mkdir "$HOME/node"
	"$OLDPWD/tests/support/npm_registry.py" build/cordon-$version-npm.tgz >"$TEST_TMP/port" &
	server=$!
	wait_for 20 test -s "$TEST_TMP/port"
	echo "registry=http://127.0.0.1:$(cat "$TEST_TMP/port")/" >"$HOME/.npmrc"
	out=$(cd "$HOME/node" && npx --yes cordon --version 2>&1)
	like "$out" "^cordon [0-9].*libraries: .*libgit2" "npx cordon fetches it from a registry, and it runs"
	ok "npm installs it" npm install --silent --no-audit --no-fund --prefix "$HOME/node" cordon@$version
	kill $server
	like "$("$HOME/node/node_modules/.bin/cordon" --version)" '^cordon [0-9]' "which runs where npm puts it"
	like "$(cd "$HOME/node" && npx --offline cordon --version)" '^cordon [0-9]' "and npx finds it there"
	tools=$HOME/node/node_modules/cordon/libexec/cordon/safe-tools
	is "$(cd "$HOME/node" && PATH=$tools:$PATH find . -maxdepth 0)" . "its front ends start the program that they are named after"
	is "$(cd "$HOME/node" && PATH=$tools:$PATH CORDON_TOOLS=on find . -delete 2>/dev/null; echo $?; ls -d node_modules)" $'1\nnode_modules' "or refuse"
else
	skip "npm installs it" "npm is not here"
fi
if ssh-keygen -q -t ed25519 -N '' -f "$HOME/key" 2>/dev/null; then
	ok "a release is signed" env SSH_KEY="$HOME/key" core/setup/packages/release.sh $version
	release=$PWD/build/release-$version
	for file in "$deb" "$tarball" build/cordon-$version-npm.tgz build/cordon-$version.tar.gz; do
		like "$(cat "$release/SHA256SUMS")" "[0-9a-f]{64}  $(basename "$file")" "it has $(basename "$file")"
	done
	ok "whose sums are right" sh -c 'cd "$0" && sha256sum --check --strict --quiet SHA256SUMS' "$release"
	echo "releases $(cat "$HOME/key.pub")" >"$HOME/signers"
	verify() { ssh-keygen -Y verify -f "$HOME/signers" -I releases -n cordon -s "$release/SHA256SUMS.sig" <"$release/SHA256SUMS"; }
	ok "and verified by the public key" verify
	echo >>"$release/SHA256SUMS"
	is "$(verify >/dev/null 2>&1; echo $?)" 255 "until a byte changes"
else
	skip "a release is signed" "ssh-keygen is not here"
fi
if command -v lintian >/dev/null; then
	is "$(lintian --fail-on error --tag-display-limit 0 "$deb" | grep '^[EW]:')" "" "lintian has nothing to say"
else
	skip "lintian" "it is not here"
fi
done_testing
