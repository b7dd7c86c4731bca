#!/bin/bash
# held_on_landlock - held.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
# timeout: 2400
export BACKEND=landlock
. "$(dirname "$0")/held.sh"
