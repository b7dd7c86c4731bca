#!/bin/bash
# model - a few hundred random sequences against the model, in memory where that is possible.
# SPDX-License-Identifier: MIT
#
# MODEL_SEED= and MODEL_N= say which and how many; `make soak` runs many more.
. "$(dirname "$0")/../support/lib.sh"
dir=$(mktemp -d /dev/shm/cordon-model.XXXXXX 2>/dev/null) || dir=$(new_folder model)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
"$TOOLS/model/model" -d "$dir" -s "${MODEL_SEED:-1}" -n "${MODEL_N:-300}" -j 2
