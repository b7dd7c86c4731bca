/* bwrap - the backend whose namespaces bubblewrap makes, for hosts where cordon itself may not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

extern const struct backend backend_bwrap;

/*
 * Runs pid 1 of the sandbox and does not return, if bubblewrap started this process; else does
 * nothing. main() calls it first.
 */
void bwrap_become_first(int argc, char **argv);
