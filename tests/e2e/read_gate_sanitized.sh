#!/bin/bash
# read_gate_sanitized - read_gate.sh, with AddressSanitizer and UBSan in every process of cordon's.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
export SANITIZED=1
. "$(dirname "$0")/read_gate.sh"
