/* calls_fifo - opens a FIFO of a folder for writing, without waiting for its reader. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(perform_fifo);
void fifo_tick(struct ldoor *d); /* retries the opens that wait for a reader */
void fifo_drop(struct ldoor *d);
