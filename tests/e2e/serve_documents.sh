#!/bin/bash
# serve_documents - the recorded example session is replayed, and the documents' own messages are run unchanged.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
cd "$TEST_TMP" || exit 1
PYTHONPATH=$OLDPWD/tests/support exec python3 -B "$OLDPWD/tests/support/documents_test.py"
