#!/bin/bash
# filled_on_bwrap - filled.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/filled.sh"
