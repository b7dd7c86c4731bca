#!/bin/bash
# isolation_on_landlock - isolation.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/isolation.sh"
