/* calls_fifo - a FIFO of a folder is opened for writing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(perform_fifo);
void fifo_tick(struct ldoor *d); /* has a reader come? */
void fifo_drop(struct ldoor *d);
