/* running - counts the threads of this machine that run or are ready to run. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns the number of such threads, the caller included; loadavg: /proc/loadavg, open for
 * reading. -1: it cannot be read. */
int running_now(int loadavg);
