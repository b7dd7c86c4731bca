/* session_pick - finds the running session that a command means. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/socket/link.h"

struct session_pick {
	const char *who;    /* "attach": for messages */
	const char *wanted; /* name, or the end of it; NULL: the only session */
	const char *here;   /* with several, prefers the session of this directory; or NULL */
};

/* Connects to the session and greets it. The caller calls link_done(), also on failure. -ESRCH: no
 * session matches, or several do; err says which. */
int session_pick(const struct session_pick *p, struct link *ret, struct err *err) MUST_USE;
