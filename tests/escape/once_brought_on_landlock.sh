#!/bin/bash
# once_brought_on_landlock - once_brought.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/once_brought.sh"
