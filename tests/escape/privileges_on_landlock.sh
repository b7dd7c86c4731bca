#!/bin/bash
# privileges_on_landlock - privileges.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/privileges.sh"
