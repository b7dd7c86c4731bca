#!/bin/bash
# debian - from a package to a running command with two commands, on a newly installed Debian.
# SPDX-License-Identifier: MIT
# timeout: 1800
#
# `make test-fresh`: not part of `make test`, because it downloads two Debians from the mirrors of apt.
. "$(dirname "$0")/../support/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
need debootstrap pivot_root unshare apt-get dpkg-shlibdeps
[ "$(id -u)" = 0 ] || skip_all "a root of its own needs root"
[ -c /dev/fuse ] || note "no /dev/fuse here: reads are trapped"
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
[ -n "$mirror" ] || skip_all "apt has no source here"
deb=$(echo build/cordon_*_"$(dpkg --print-architecture)".deb) tarball=$(echo build/cordon-*-linux-"$(uname -m)".tar.gz)
[ -f "$deb" ] && [ -f "$tarball" ] || skip_all "no packages: make deb dist"
own=$(. /etc/os-release && echo "$VERSION_CODENAME")

# in_root COMMAND - in $root with the parts of a machine: /proc, /sys, /dev, names of hosts
in_root() {
	unshare -mpf sh -c '
		mount --make-rprivate / && mount --bind "$0" "$0" && cd "$0" || exit 1
		mount -t proc proc proc && mount --rbind /sys sys && mount --rbind /dev dev || exit 1
		pivot_root . mnt && umount -l /mnt || exit 1 # a process in a chroot gets no user namespace
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$1"' \
		"$root" "$1" </dev/null 2>&1
}
fresh() { # CODENAME
	root=$TEST_TMP/$1
	debootstrap --variant=minbase "$1" "$root" "$mirror" >"$TEST_TMP/log" 2>&1 || return 1
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	in_root 'useradd -m me && mkdir /home/me/project && chown me: /home/me/project' >/dev/null
}
as_me() { in_root "cd /home/me/project && setpriv --reuid me --regid me --clear-groups env HOME=/home/me $1"; }
inside='run --headless -- sh -c "echo made >made; cat made; ls /home"'

# ---- the package, on the Debian that it was made on
if fresh "$own"; then
	cp "$deb" "$root/cordon.deb"
	out=$(in_root 'apt-get install -qq -y --no-install-recommends /cordon.deb')
	ok "$own: one command installs it" test -x "$root/usr/bin/cordon"
	out=$(as_me "cordon $inside")
	like "$out" made "another one runs a command inside" || note "$out"
	is "$(cat "$root/home/me/project/made" 2>/dev/null)" made "its change is in the folder"
	like "$(as_me 'cordon diff')" '+made' "cordon diff shows it"
	as_me 'cordon undo' >/dev/null
	ok "and undo takes it back" test ! -e "$root/home/me/project/made"
else
	skip "$own" "debootstrap: $(tail -n 1 "$TEST_TMP/log")"
fi

# ---- the tarball, which has its libraries with it, on the next one
next=trixie
if [ "$own" = "$next" ]; then
	skip "$next" "the package was made for it"
elif fresh "$next"; then
	cp "$tarball" "$root/cordon.tar.gz"
	in_root 'apt-get install -qq -y --no-install-recommends fuse3' >/dev/null
	in_root 'tar -xzf /cordon.tar.gz -C /opt' >/dev/null
	out=$(as_me "sh -c 'exec /opt/cordon-*/bin/cordon $inside'")
	like "$out" made "$next: one command unpacks it, another one runs a command inside"
	is "$(cat "$root/home/me/project/made" 2>/dev/null)" made "its change is in the folder"
	like "$(as_me "sh -c 'exec /opt/cordon-*/bin/cordon diff'")" '+made' "cordon diff finds the libraries of libgit2"
else
	skip "$next" "debootstrap: $(tail -n 1 "$TEST_TMP/log")"
fi
rm -rf --one-file-system "${TEST_TMP:?}/$own" "${TEST_TMP:?}/$next"
done_testing
