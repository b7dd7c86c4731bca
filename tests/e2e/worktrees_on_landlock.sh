#!/bin/bash
# worktrees_on_landlock - the same where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/worktrees.sh"
