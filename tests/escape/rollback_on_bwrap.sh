#!/bin/bash
# rollback_on_bwrap - rollback.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/rollback.sh"
