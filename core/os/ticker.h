/* ticker - a descriptor that becomes readable at a fixed interval. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns a descriptor, non-blocking and closed on exec, or negative errno. */
int os_ticker_open(int every_ms);
void os_ticker_read(int fd); /* until the next time */
