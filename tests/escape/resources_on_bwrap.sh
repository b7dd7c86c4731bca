#!/bin/bash
# resources_on_bwrap - resources.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/resources.sh"
