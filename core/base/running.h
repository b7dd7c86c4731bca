/* running - how many threads of this machine run now, or want to. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Of /proc/loadavg, open for reading; the caller's thread is one of them. -1: it cannot be read. */
int running_now(int loadavg);
