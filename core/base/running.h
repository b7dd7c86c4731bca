/* running - counts the machine's threads that run or are ready to run. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns the number of these threads, including the caller. loadavg: /proc/loadavg, open for
 * reading. -1: it cannot be read. */
int running_now(int loadavg);
