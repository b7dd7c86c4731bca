#!/bin/bash
# model - a few hundred random sequences against the model, in memory if possible.
# SPDX-License-Identifier: MIT
#
# MODEL_SEED= and MODEL_N= say which and how many; `make soak` runs many more. A user does not repeat root's.
. "$(dirname "$0")/../support/lib.sh"
dir=$(mktemp -d /dev/shm/cordon-model.XXXXXX 2>/dev/null) || dir=$(new_folder model)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
n=${MODEL_N:-$((300 / ${TEST_FEWER:-1}))}
"$TOOLS/model/model" -d "$dir" -s "${MODEL_SEED:-$((${TEST_AGAIN:+n} + 1))}" -n "$n" -j 2
