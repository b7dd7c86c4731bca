#!/bin/bash
# soak - the model for as long as it may run, on a memory file system if there is one.
# SPDX-License-Identifier: MIT
#
# usage: soak.sh MODEL ARGUMENTS...      (see tests/model/main.c)
dir=$(mktemp -d /dev/shm/cordon-soak.XXXXXX 2>/dev/null) || dir=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$dir"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
"$@" -d "$dir"
