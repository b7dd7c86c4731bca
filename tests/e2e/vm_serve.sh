#!/bin/bash
# vm_serve - a virtual machine driven by another program: cordon serve, with a guest that keeps its changes.
# SPDX-License-Identifier: MIT
# not in CI: vm.sh, vm_contract.sh and vm_cases.sh look at each part of it; each boot takes long
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/lib.sh"
need python3
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not here"
. "$(dirname "$0")/../support/vm.sh"
vm_settings ''
tree=$PWD
cd "$TEST_TMP" || exit 1
PYTHONPATH=$tree/tests/support exec python3 -B "$tree/tests/support/vm_serve_test.py"
