#!/bin/bash
# sockets_on_landlock - sockets.sh, on that backend.
# SPDX-License-Identifier: MIT
export BACKEND=landlock
. "$(dirname "$0")/sockets.sh"
