#!/bin/bash
# left_open - what is written through a descriptor after the human has undone the step that opened it.
# SPDX-License-Identifier: MIT
# timeout: 240
. "$(dirname "$0")/../support/lib.sh"
need python3
need_sandbox
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
use_backend
support=$PWD/tests/support
cd "$TEST_TMP" || exit 1
PYTHONPATH=$support exec python3 -B "$support/left_open_test.py"
