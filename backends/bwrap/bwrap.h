/* bwrap - the backend whose namespaces bubblewrap makes, where cordon itself may not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

extern const struct backend backend_bwrap;

/*
 * For main(), before anything else: when this process is what bubblewrap was told to run, it stays
 * as pid 1 of the sandbox and this does not return. Anywhere else it does nothing.
 */
void bwrap_become_first(int argc, char **argv);
