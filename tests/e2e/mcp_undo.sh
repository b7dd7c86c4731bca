#!/bin/bash
# mcp_undo - undo and redo by a model through MCP, and its reports about a safeguard.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/mcp_undo_test.py"
