/* running - counts the machine's threads that run or are ready to run. */
/* SPDX-License-Identifier: MIT */
#include "core/base/running.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the number before the slash in "0.12 0.34 0.56 1/234 5678". */
int running_now(int loadavg)
{
	char text[64];
	ssize_t n = pread(loadavg, text, sizeof(text) - 1, 0);
	const char *at;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strchr(text, '/');
	while (at && at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at && *at != '/' ? atoi(at) : -1;
}
