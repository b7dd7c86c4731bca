#!/bin/bash
# folder_itself - the working folder is the same folder under each of its names, as it is outside.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
calls=$PWD/tests/support/folder_itself.py
dir=$(new_folder work)
cd "$dir" || exit 1
cp "$calls" calls.py
outside=$(python3 calls.py)
like "$outside" 'access \$PWD: True.*O_TMPFILE \.\./name: None' "outside each call does what it should"
for backend in native bwrap landlock; do
	"$CORDON" run --headless --backend $backend -- true 2>/dev/null || continue
	is "$("$CORDON" run --headless --backend $backend -- python3 calls.py 2>"$TEST_TMP/err")" "$outside" "$backend: each gives the same inside"
	is "$(cat "$TEST_TMP/err")" "" "$backend: and nothing of it was outside the project"
done
done_testing
