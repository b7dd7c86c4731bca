#!/bin/bash
# resources_on_bwrap - resources.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
# timeout: 300
export BACKEND=bwrap
. "$(dirname "$0")/resources.sh"
