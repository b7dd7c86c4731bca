#!/bin/bash
# privileges_on_bwrap - privileges.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/privileges.sh"
