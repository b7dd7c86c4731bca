#!/bin/bash
# chaos_on_bwrap - chaos.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/chaos.sh"
