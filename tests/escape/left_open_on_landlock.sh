#!/bin/bash
# left_open_on_landlock - left_open.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/left_open.sh"
