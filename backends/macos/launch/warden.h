/* warden - ends the session's processes if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * A helper (helper/helper.h) waits for the keeper's end, then ends the session's processes. In the
 * milliseconds between, calls that Seatbelt allows and Endpoint Security would decide are allowed
 * by the kernel, and their changes are not recorded.
 *
 * Life:    warden_start() before the agent -> warden_stop() after its end, or warden_leave() if
 *          processes are left: the warden goes on killing by itself. helper NULL: the one beside
 *          this program.
 */
struct warden;

int warden_start(struct warden **ret, const char *helper, const char *session, struct err *err)
	MUST_USE;
void warden_stop(struct warden *w);  /* NULL is a no-op */
void warden_leave(struct warden *w); /* the same */
