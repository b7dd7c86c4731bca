#!/bin/bash
# same - one scenario through the STDIO API, MCP, MCP's socket and the console: the same tree and audit log.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need python3
need_sandbox tmux
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/same_test.py"
