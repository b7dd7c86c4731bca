#!/bin/bash
# app - build/Cordon.app: the programs, their libraries, signed, and notarised where that is asked for.
# SPDX-License-Identifier: MIT
#
# usage: app.sh VERSION DIR LIBGIT2     DIR has the programs, linked to open @executable_path/../Frameworks/libgit2.dylib
#
#   SIGN=     an identity of codesign's, "Developer ID Application: NAME (TEAM)"; "-" (the default): for this Mac alone,
#             and with System Integrity Protection off also a client of Endpoint Security
#   PROFILE=  a provisioning profile with com.apple.developer.endpoint-security.client. Without one an identity signs
#             without that entitlement, as the system kills a program that claims it and has none
#   ID=       the bundle's name in the profile
#   NOTARY=   a keychain profile of notarytool's: sends the bundle to Apple, and staples the ticket
set -eu
version=$1 program=$2 libgit2=$3
sign=${SIGN:--} id=${ID:-org.cordon.cordon}
app=build/Cordon.app contents=build/Cordon.app/Contents
team=$(printf '%s\n' "$sign" | sed -n 's/.*(\([A-Z0-9]*\))$/\1/p')
umask 022

die() {
	echo "app: $*" >&2
	exit 1
}
[ -z "${PROFILE:-}" ] || [ -n "$team" ] || die "a PROFILE needs SIGN='Developer ID Application: NAME (TEAM)'"
[ -z "${NOTARY:-}" ] || [ "$sign" != - ] || die "NOTARY needs SIGN: Apple takes no bundle that is signed for one Mac"

rm -rf "$app"
mkdir -p "$contents/MacOS" "$contents/Frameworks" "$contents/Resources/safe-tools"
for file in cordon cordon-seatbelt cordon-loopback interpose.dylib; do
	cp "$program/$file" "$contents/MacOS/$file"
done
for tool in "$program"/safe-tools/*; do
	ln -s ../../MacOS/cordon "$contents/Resources/safe-tools/${tool##*/}"
done
cp LICENSE tui/man/*.[157] "$contents/Resources/"
sed "s|@ID@|$id|; s|@VERSION@|$version|" core/setup/packages/Info.plist.in >"$contents/Info.plist"

# ---- libraries ---------------------------------------------------------------------------------
# Those of Homebrew are the user's to change, and root runs this program: it has its own, signed with it.
foreign() {
	otool -L "$1" | sed -n 's/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | grep -vE '^/(usr/lib|System)/' || true
}
# take LIBRARY NAME - copies it to Frameworks, and those that it needs.
take() {
	local copy=$contents/Frameworks/$2
	[ ! -e "$copy" ] || return 0
	cp "$1" "$copy"
	chmod u+w "$copy"
	install_name_tool -id "@executable_path/../Frameworks/$2" "$copy"
	own "$copy"
}
own() {
	local library
	for library in $(foreign "$1"); do
		[ "${library##*/}" != "${1##*/}" ] || continue # itself
		take "$library" "${library##*/}"
		install_name_tool -change "$library" "@executable_path/../Frameworks/${library##*/}" "$1"
	done
}
own "$contents/MacOS/cordon"
own "$contents/MacOS/cordon-seatbelt"
take "$libgit2" libgit2.dylib

# ---- signing -----------------------------------------------------------------------------------
# From the inside out: a signature covers what is signed in it.
options=(--force --sign "$sign")
# (the hardened runtime loads no library without a team)
[ "$sign" = - ] || options+=(--options runtime --timestamp)
for file in "$contents"/Frameworks/* "$contents"/MacOS/interpose.dylib "$contents"/MacOS/cordon-*; do
	codesign "${options[@]}" "$file"
done
if [ "$sign" = - ] || [ -n "${PROFILE:-}" ]; then
	[ -z "${PROFILE:-}" ] || cp "$PROFILE" "$contents/embedded.provisionprofile"
	unknown=
	[ -n "$team" ] || unknown='/application-identifier/,/<string>@TEAM@</d'
	sed "$unknown; s|@ID@|$id|; s|@TEAM@|$team|" core/setup/packages/cordon.entitlements.in >build/cordon.entitlements
	options+=(--entitlements build/cordon.entitlements)
else
	echo 'app: without PROFILE it is no client of Endpoint Security: no questions about files, no undo' >&2
fi
codesign "${options[@]}" "$app"
codesign --verify --deep --strict "$app"

# ---- notarising --------------------------------------------------------------------------------
if [ -n "${NOTARY:-}" ]; then
	ditto -c -k --keepParent "$app" build/Cordon.zip
	xcrun notarytool submit build/Cordon.zip --keychain-profile "$NOTARY" --wait
	rm build/Cordon.zip
	xcrun stapler staple "$app"
fi
echo "$app"
