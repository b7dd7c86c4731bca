#!/bin/bash
# network_udp_on_bwrap - network_udp.sh, on that backend.
# SPDX-License-Identifier: MIT
# timeout: 200
export BACKEND=bwrap
. "$(dirname "$0")/network_udp.sh"
