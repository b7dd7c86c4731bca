#!/bin/bash
# vm_contract - the contract of backends for a virtual machine: in one guest, except cases that need their own.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
# shellcheck disable=SC2034 # contract.sh reads it
BACKEND=vm
. "$(dirname "$0")/contract.sh"
