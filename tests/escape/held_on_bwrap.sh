#!/bin/bash
# held_on_bwrap - held.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
# timeout: 2400
export BACKEND=bwrap
. "$(dirname "$0")/held.sh"
