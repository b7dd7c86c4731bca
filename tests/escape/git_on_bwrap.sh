#!/bin/bash
# git_on_bwrap - git.sh, where bubblewrap makes the namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/git.sh"
