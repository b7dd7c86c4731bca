#!/bin/bash
# mine_on_landlock - mine.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/mine.sh"
