#!/bin/bash
# make_install - `make install` and `uninstall` below a home: complete without root, and nothing is left.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need make
[ -f Makefile ] || skip_all "no Makefile is here"
mkdir "$TEST_TMP/tree"
cp -r --parents Makefile tui/man themes keymaps core/config core/setup core/api backends/linux/apparmor.in "$TEST_TMP/tree"
cd "$TEST_TMP/tree" || exit 1
mkdir -p build/release && cp "$CORDON" build/release/cordon && cp "$(dirname "$CORDON")"/{interpose.so,vm-init} build/release
# The program exists: nothing is compiled.
sed -i 's/^\t\$(Q)\$(again) all$/\t@:/' Makefile
installed=$TEST_TMP/home/local
make_here() { # TARGET APPARMOR-DIRECTORY
	"${drop[@]}" make -s DEPS=no PREFIX="$installed" APPARMOR="$2" "$1" 2>&1
}
mkdir -p "$TEST_TMP/home" "$TEST_TMP/open" "$TEST_TMP/closed"

closed=$TEST_TMP/closed
echo "root's" >"$closed/cordon" && chmod 555 "$closed"
# Without capabilities root cannot enter a closed directory either.
drop=()
[ "$(id -u)" != 0 ] || drop=(setpriv --inh-caps=-all --bounding-set=-all)
out=$(make_here install "$closed")
is "$?" 0 "who may not write AppArmor's profile installs all the same"
like "$out" "not installed: $closed/cordon, which is for root" "and is told"
like "$out" "not in your PATH: $installed/bin" "and what the shell lacks to find it"
out=$(make_here uninstall "$closed")
is "$?" 0 "and uninstalls"
is "$(find "$installed" -type f)" "" "all of it"
is "$(cat "$closed/cordon")" "root's" "but for the profile that is root's"
chmod 755 "$closed"
drop=()

out=$(PATH=$installed/bin:$PATH make_here install "$TEST_TMP/open")
unlike "$out" "not in your PATH" "no word of it where the shell finds it"
like "$("$installed/bin/cordon" --version)" '^cordon [0-9]' "the program runs from there"
for page in man1/cordon.1 man1/cordon-undo.1 man5/cordon-config.5 man7/cordon-limits.7; do
	ok "its manual is there: $page" test -s "$installed/share/man/$page"
done
like "$(cat "$TEST_TMP/open/cordon")" "profile cordon $installed/bin/cordon flags" "who may, has a profile for this program"
make_here uninstall "$TEST_TMP/open" >/dev/null
is "$(find "$installed" "$TEST_TMP/open" -type f)" "" "which goes with it"
done_testing
