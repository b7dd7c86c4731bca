#!/bin/bash
# make_run - `make run` fails if cordon does, not if the shell inside does.
# SPDX-License-Identifier: MIT
# root only: a user has a copy of the tree without it
. "$(dirname "$0")/../support/lib.sh"
need make
[ -f Makefile ] || skip_all "no Makefile is here"
recipe=$(make -n DEPS=no run | sed -n '/build\/cordon run/,$p')
named=$(make -n DEPS=no CMD='npm test' run | sed -n '/build\/cordon run/,$p')
like "$recipe" 'build/cordon run ' "make run runs it"
dir=$(new_folder fake)
mkdir "$dir/build"
printf '#!/bin/sh\nexit $STATUS\n' >"$dir/build/cordon"
chmod +x "$dir/build/cordon"
cd "$dir" || exit 1
for status in 0 6 126 127 130 143; do
	STATUS=$status sh -c "$recipe"
	is "$?" 0 "a shell that ends with $status is no error"
done
STATUS=125 sh -c "$recipe"
is "$?" 1 "125 is cordon's own"
# The tests cannot run in a place that the sandbox makes private.
copy=$(mktemp -d /tmp/cordon-test.XXXXXX)
mkdir -p "$copy/tests/support" && cp "$OLDPWD/tests/support/test.sh" "$copy/tests/support/"
out=$("$copy/tests/support/test.sh" '*' 2>&1)
is "$?" 1 "make test in a checkout below /tmp fails"
like "$out" '^make test: /tmp/[^ ]*: the sandbox has its own /tmp[^'$'\n'']*$' "and says why in one line"
rm -rf "$copy"

STATUS=6 sh -c "$named"
is "$?" 6 "that a command of the human's fails is one"
done_testing
