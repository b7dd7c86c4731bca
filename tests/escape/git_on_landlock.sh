#!/bin/bash
# git_on_landlock - git.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/git.sh"
