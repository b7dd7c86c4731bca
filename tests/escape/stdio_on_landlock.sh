#!/bin/bash
# stdio_on_landlock - stdio.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/stdio.sh"
