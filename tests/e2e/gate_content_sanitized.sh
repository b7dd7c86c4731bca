#!/bin/bash
# gate_content_sanitized - gate_content.sh, with AddressSanitizer and UBSan in every process of cordon's.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
export SANITIZED=1
. "$(dirname "$0")/gate_content.sh"
