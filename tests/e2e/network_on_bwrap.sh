#!/bin/bash
# network_on_bwrap - network.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/network.sh"
