#!/bin/bash
# once_on_bwrap - once.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/once.sh"
