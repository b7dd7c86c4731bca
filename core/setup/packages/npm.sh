#!/bin/bash
# npm - build/cordon-VERSION-npm.tgz: the tarball of dist.sh as a package, for `npx` and `npm install`.
# SPDX-License-Identifier: MIT
#
# usage: npm.sh VERSION     after dist.sh; NPM_NAME= names the package. Nothing runs when it is installed.
set -eu
version=$1 arch=$(uname -m)
dist=build/cordon-$version-linux-$arch.tar.gz
root=build/npm-package/package
case $arch in x86_64) cpu=x64 ;; aarch64) cpu=arm64 ;; *) cpu=$arch ;; esac
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)}
export LC_ALL=C TZ=UTC
umask 022

rm -rf build/npm-package && mkdir -p "$root"
tar -xzf "$dist" -C "$root" --strip-components=1
# npm keeps no links. A copy of the program would look for its libraries beside itself.
find "$root" -type l | while read -r link; do
	to=$(readlink "$link")
	rm "$link"
	printf '#!/bin/bash\nexec -a "$0" "${0%%/*}/%s" "$@"\n' "$to" >"$link"
	chmod 755 "$link"
done
cat >"$root/package.json" <<J
{
  "name": "${NPM_NAME:-cordon}",
  "version": "$version",
  "description": "Run a coding agent where you can see what it touches, are asked, and can undo",
  "license": "MIT",
  "bin": { "cordon": "bin/cordon" },
  "os": ["linux"],
  "cpu": ["$cpu"],
  "libc": ["glibc"]
}
J
find "$root" -print0 | xargs -0 touch -hd "@$SOURCE_DATE_EPOCH"
tar -C build/npm-package --sort=name --owner=0 --group=0 --numeric-owner -cf - package | gzip -9n >"build/cordon-$version-npm.tgz"
rm -rf build/npm-package
echo "build/cordon-$version-npm.tgz"
