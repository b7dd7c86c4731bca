#!/bin/bash
# on_landlock - the attacks of run.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/run.sh"
