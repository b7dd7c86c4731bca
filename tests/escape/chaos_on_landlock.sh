#!/bin/bash
# chaos_on_landlock - chaos.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/chaos.sh"
