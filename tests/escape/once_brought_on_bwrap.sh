#!/bin/bash
# once_brought_on_bwrap - once_brought.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/once_brought.sh"
