#!/bin/sh
# validators - fetches ajv, TypeScript, and the schemas of the Model Context Protocol, for tests, into a folder.
# SPDX-License-Identifier: MIT
#
# usage: validators.sh DIR     Nothing of them runs on installing. The schemas are those that the protocol's
#                              own conformance suite carries: one for each revision from 2025-03-26 on.
set -eu
dir=$1
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12
sum=6cd489231fe6a90de07ce940b1945ffef7d11063d17558b0a4c12a00f0e6f41f
mkdir -p "$dir"
npm install --silent --prefix "$dir" --ignore-scripts --no-audit --no-fund ajv@8.20.0 ajv-formats@3.0.1 \
	json-schema-to-typescript@15.0.4 typescript@5.9.3 @types/node@20.19.43
tarball=$(npm pack --silent --pack-destination "$dir" "$suite")
echo "$sum  $dir/$tarball" | sha256sum --check --quiet
tar -xzf "$dir/$tarball" -C "$dir" package/dist/index.js
node "$(dirname "$0")/validate.js" --schemas "$dir/package/dist/index.js" "$dir"
rm -rf "$dir/package" "${dir:?}/$tarball"
