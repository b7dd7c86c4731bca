#!/bin/bash
# release - build/release-VERSION/: all packages that were built, SHA256SUMS, and its signature.
# SPDX-License-Identifier: MIT
#
# usage: release.sh VERSION     MINISIGN_KEY= a secret key of minisign, or SSH_KEY= of ssh-keygen (-n cordon): signs
set -eu
version=$1
out=build/release-$version
rm -rf "$out" && mkdir -p "$out"
for file in build/cordon-"$version".tar.gz build/cordon-"$version"-linux-*.tar.gz build/cordon-"$version"-npm.tgz \
	build/cordon_"$version"_*.deb build/cordon-"$version"-1.*.rpm build/cordon.rb; do
	[ ! -f "$file" ] || cp -p "$file" "$out/"
done
(cd "$out" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
if [ -n "${MINISIGN_KEY:-}" ]; then
	minisign -S -s "$MINISIGN_KEY" -t "cordon $version" -m "$out/SHA256SUMS" >/dev/null
elif [ -n "${SSH_KEY:-}" ]; then
	ssh-keygen -q -Y sign -f "$SSH_KEY" -n cordon "$out/SHA256SUMS" 2>/dev/null
else
	echo "release: not signed: neither MINISIGN_KEY nor SSH_KEY is set" >&2
fi
echo "$out"
