#!/bin/bash
# sockets_on_bwrap - sockets.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=bwrap
. "$(dirname "$0")/sockets.sh"
