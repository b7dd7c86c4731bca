#!/bin/bash
# resources_on_landlock - resources.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/resources.sh"
