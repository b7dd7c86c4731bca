/* warden - the helper that ends the session's processes if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "backends/macos/helper/helper.h"
#include "backends/macos/launch/ending.h"

/* Kills all processes, without a time limit, because no user waits for it. */
static void end_all(const struct mac_os *os, const char *session)
{
	const struct ending e = {.os = os,
				 .session = session,
				 .kill = kill,
				 .round_us = 10000,
				 .patience = 3000,
				 .quiet = 20};

	(void)end_inside(&e);
}

/* Runs the warden. It has its own session, so the terminal's end does not end it. */
void helper_warden(const struct mac_os *os, const struct order *o)
{
	char c;
	ssize_t n;

	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	do
		n = read(HELPER_ORDER, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		end_all(os, o->word);
	_exit(0);
}
