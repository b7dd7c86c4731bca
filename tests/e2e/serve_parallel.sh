#!/bin/bash
# serve_parallel - many requests at once, over the STDIO API, MCP and its socket.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/parallel_test.py"
