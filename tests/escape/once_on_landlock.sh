#!/bin/bash
# once_on_landlock - once.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/once.sh"
