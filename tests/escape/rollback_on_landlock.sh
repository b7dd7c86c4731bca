#!/bin/bash
# rollback_on_landlock - rollback.sh, where there are no namespaces.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/rollback.sh"
