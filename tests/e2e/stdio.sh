#!/bin/bash
# stdio - cordon run --stdio: an editor before it, an agent behind it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/acp_test.py"
