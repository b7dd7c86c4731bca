#!/bin/bash
# on_bwrap - the attacks of run.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
# timeout: 400
export BACKEND=bwrap
. "$(dirname "$0")/run.sh"
