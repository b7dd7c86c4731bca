#!/bin/bash
# left_open_on_bwrap - left_open.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/left_open.sh"
