#!/bin/bash
# network_udp_on_bwrap - network_udp.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/network_udp.sh"
