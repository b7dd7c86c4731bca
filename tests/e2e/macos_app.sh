#!/bin/bash
# macos_app - the bundle for macOS: its layout, property lists, and the order in which it is signed.
# SPDX-License-Identifier: MIT
# root only: copying is the same whoever does it
#
# Apple's tools are stand-ins that write down how they are called: no bundle is run or checked by a Mac here.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

log=$TEST_TMP/log tree=$TEST_TMP/tree
mkdir -p "$TEST_TMP/bin" "$tree" && git ls-files | tar c -T - | tar x -C "$tree"
cd "$tree" || exit 1
mkdir -p dir/safe-tools lib
for file in cordon cordon-seatbelt cordon-loopback interpose.dylib; do echo "$file" >"dir/$file"; done
for tool in find rm; do ln -s ../cordon dir/safe-tools/$tool; done
for name in uv.1 git2 ssl; do echo "$name" >"lib/lib$name.dylib"; done
# cordon needs libuv; libgit2 needs itself and libssl.
cat >"$TEST_TMP/bin/otool" <<T
#!/bin/sh
echo "\$2:"
echo "	/usr/lib/libSystem.B.dylib (compatibility version 1.0.0)"
case \$2 in
*/MacOS/cordon*) echo "	$tree/lib/libuv.1.dylib (compatibility version 2.0.0)" ;;
*/libgit2.dylib) echo "	$tree/lib/libgit2.dylib (compatibility version 1.7.0)"
	echo "	$tree/lib/libssl.dylib (compatibility version 3.0.0)" ;;
esac
T
for tool in install_name_tool codesign ditto xcrun; do
	printf '#!/bin/sh\necho "%s $*" >>%s\n[ "$1" != -c ] || touch build/Cordon.zip\n' $tool "$log" >"$TEST_TMP/bin/$tool"
done
chmod +x "$TEST_TMP"/bin/*
PATH=$TEST_TMP/bin:$PATH
contents=build/Cordon.app/Contents
# make_app SETTING... - prints its output
make_app() {
	rm -f "$log"
	env "$@" core/setup/packages/app.sh 1.2.3 dir "$tree/lib/libgit2.dylib" 2>&1
}
# plist FILE KEY - its value by another parser
plist() { python3 -c 'import plistlib, sys; print(plistlib.load(open(sys.argv[1], "rb")).get(sys.argv[2]))' "$@"; }

# ---- for this Mac
like "$(make_app)" 'build/Cordon\.app$' "a bundle is made"
is "$(cd $contents && find . ! -type d ! -name '*.[157]' | sort | tr '\n' ' ')" \
	"./Frameworks/libgit2.dylib ./Frameworks/libssl.dylib ./Frameworks/libuv.1.dylib ./Info.plist ./MacOS/cordon ./MacOS/cordon-loopback ./MacOS/cordon-seatbelt ./MacOS/interpose.dylib ./Resources/LICENSE ./Resources/safe-tools/find ./Resources/safe-tools/rm " \
	"with programs, libraries and the libraries' own"
ok "and the manual" test -s $contents/Resources/cordon.1
is "$(cat $contents/Resources/safe-tools/find)" cordon "the front ends are links to the program"
is "$(plist $contents/Info.plist CFBundleExecutable) $(plist $contents/Info.plist CFBundleVersion)" "cordon 1.2.3" "Info.plist is a property list"
is "$(plist build/cordon.entitlements com.apple.developer.endpoint-security.client)" True "the entitlement is claimed"
is "$(plist build/cordon.entitlements com.apple.developer.team-identifier)" None "of no team"
ok "the stand-in was asked to change a library's place" \
	grep -qx "install_name_tool -change $tree/lib/libuv.1.dylib @executable_path/../Frameworks/libuv.1.dylib $contents/MacOS/cordon" "$log"
ok "also that of a library's library" \
	grep -qx "install_name_tool -change $tree/lib/libssl.dylib @executable_path/../Frameworks/libssl.dylib $contents/Frameworks/libgit2.dylib" "$log"
unlike "$(cat "$log")" 'change [^ ]*/libgit2\.dylib ' "no library is made to need itself"
is "$(grep ^codesign "$log" | sed 's/.* //' | tail -n 2 | tr '\n' ' ')" "build/Cordon.app build/Cordon.app " "the bundle is signed last, and looked at"
is "$(grep -c -- '--entitlements' "$log")" 1 "the entitlement is the bundle's alone"
unlike "$(cat "$log")" 'timestamp|runtime|xcrun' "without the hardened runtime, and nothing is sent to Apple"

# ---- for others
identity='Developer ID Application: A B (TEAM12345)'
echo profile >profile
like "$(make_app SIGN="$identity")" 'without PROFILE' "an identity alone signs without the entitlement, which is said"
unlike "$(cat "$log")" 'entitlements' "and does so"
is "$(grep -c -- '--options runtime --timestamp' "$log")" 7 "each file with the hardened runtime"
like "$(make_app SIGN="$identity" PROFILE=profile ID=com.x.y NOTARY=keys)" 'Cordon\.app$' "with a profile"
is "$(cat $contents/embedded.provisionprofile)" profile "it is in the bundle"
is "$(plist build/cordon.entitlements com.apple.application-identifier) $(plist $contents/Info.plist CFBundleIdentifier)" \
	"TEAM12345.com.x.y com.x.y" "identity and name are those of the profile"
like "$(tail -n 2 "$log" | tr '\n' ' ')" '^xcrun notarytool submit build/Cordon.zip --keychain-profile keys --wait xcrun stapler staple build/Cordon.app $' \
	"it is notarised, and the ticket stapled"
like "$(make_app PROFILE=profile)" 'needs SIGN' "a profile of nobody is refused"
like "$(make_app NOTARY=keys)" 'needs SIGN' "and so is notarising for one Mac"
done_testing
