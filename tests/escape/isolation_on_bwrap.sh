#!/bin/bash
# isolation_on_bwrap - isolation.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/isolation.sh"
