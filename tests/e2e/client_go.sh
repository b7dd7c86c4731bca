#!/bin/bash
# client_go - a client of cordon serve in Go: all numbers and ids in integers of 64 bits.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox go
GOCACHE=$TEST_TMP/go-cache GOFLAGS=-mod=mod go build -o "$TEST_TMP/client" "$(dirname "$0")/../support/client.go" || skip_all "go does not build here"
dir=$(new_folder work)
exec "$TEST_TMP/client" "$CORDON" "$dir"
