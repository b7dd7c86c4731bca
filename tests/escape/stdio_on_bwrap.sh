#!/bin/bash
# stdio_on_bwrap - stdio.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/stdio.sh"
