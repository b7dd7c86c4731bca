#!/bin/bash
# on_bwrap - the attacks of run.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/run.sh"
