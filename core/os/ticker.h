/* ticker - a descriptor that is readable every so many milliseconds. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Non-blocking, closed on exec; negative errno. */
int os_ticker_open(int every_ms);
void os_ticker_read(int fd); /* until the next time */
