#!/bin/bash
# system_on_landlock - system.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/system.sh"
