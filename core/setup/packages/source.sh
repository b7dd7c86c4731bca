#!/bin/bash
# source - build/cordon-VERSION.tar.gz of what is committed, and build/cordon.rb, a Homebrew formula for it.
# SPDX-License-Identifier: MIT
#
# usage: source.sh VERSION     URL= says where the tarball will be found; else where it is now
set -eu
version=$1 name=cordon-$1
mkdir -p build
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"build/$name.tar.gz"
url=${URL:-file://$PWD/build/$name.tar.gz}
sum=$(sha256sum "build/$name.tar.gz")
sed "s|@URL@|$url|; s|@SHA256@|${sum%% *}|; s|@VERSION@|$version|" core/setup/packages/cordon.rb.in >build/cordon.rb
echo "build/$name.tar.gz"
echo build/cordon.rb
