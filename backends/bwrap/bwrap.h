/* bwrap - a backend whose namespaces bubblewrap makes, for hosts that do not let cordon make
 * them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

extern const struct backend backend_bwrap;

/*
 * If bubblewrap started this process, runs pid 1 of the sandbox and does not return. Otherwise does
 * nothing. main() calls it first.
 */
void bwrap_become_first(int argc, char **argv);
