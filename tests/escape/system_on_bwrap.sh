#!/bin/bash
# system_on_bwrap - system.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/system.sh"
