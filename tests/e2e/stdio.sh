#!/bin/bash
# stdio - cordon run --stdio: between an editor and an agent.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/acp_test.py"
