#!/bin/bash
# rpm - build/cordon-VERSION-1.ARCH.rpm of what is built; the same sources give the same bytes.
# SPDX-License-Identifier: MIT
set -eu
version=$1 program=$2 # VERSION, the release build's directory
top=$PWD/build/rpm
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)}
export LC_ALL=C TZ=UTC
umask 022

rm -rf "$top" && mkdir -p "$top/root"
make --no-print-directory DEPS=no PREFIX=/usr DESTDIR="$top/root" O="$program" install >/dev/null
strip --strip-unneeded --remove-section=.comment "$top/root/usr/bin/cordon"
gzip -9n "$top/root"/usr/share/man/man?/*
opened=$(strings -a "$top/root/usr/bin/cordon" | grep -xE 'lib(git2|ssl)\.so\.[0-9.]+' | sort -u | sed 's/.*/Requires: &()(64bit)/')
(cd "$top/root" && find . ! -type d -printf '/%P\n' | sort) | sed 's|^/etc/|%config(noreplace) &|' >"$top/files"

cat >"$top/cordon.spec" <<S
Name: cordon
Version: $version
Release: 1
Summary: Run a coding agent where it can be watched, asked about, and undone
License: MIT
$opened
Recommends: bubblewrap, fuse3
Suggests: fd-find, ripgrep
%description
cordon runs a coding agent in a sandbox and a full-screen console. Every file
that it touches is shown, what no rule allows waits for an answer, and every
command that it ran is a step that can be looked at as a diff and undone.
%install
cp -a $top/root/. %{buildroot}/
%files -f $top/files
S
rpmbuild --quiet -bb "$top/cordon.spec" --define "_topdir $top" --define "_rpmdir $top/out" --define '__os_install_post %{nil}' \
	--define '_build_id_links none' --define 'debug_package %{nil}' --define '_buildhost cordon' --define '_binary_payload w6.gzdio' \
	--define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' >"$top/log" 2>&1 ||
	{ cat "$top/log" >&2 && exit 1; }
cp "$top"/out/*/*.rpm build/
echo "build/$(basename "$top"/out/*/*.rpm)"
