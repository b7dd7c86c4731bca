#!/bin/bash
# vm_contract - what every backend has to give, given by a virtual machine: in one guest but for what needs its own.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
# shellcheck disable=SC2034 # contract.sh reads it
BACKEND=vm
. "$(dirname "$0")/contract.sh"
