#!/bin/bash
# filled_on_landlock - filled.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/filled.sh"
