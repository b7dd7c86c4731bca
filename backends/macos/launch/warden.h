/* warden - ends what is inside if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * A process of its own waits for the keeper's end, and ends the session's. Where Endpoint Security
 * decides what Seatbelt leaves open, nobody decides meanwhile, for some milliseconds: the kernel
 * lets all of that go on, and nothing of it is kept.
 *
 * Life:    warden_start() before the agent -> warden_stop() after its end, or warden_leave() where
 *          somebody is left: it goes on killing by itself. The caller has one thread.
 */
struct warden;

int warden_start(struct warden **ret, const struct mac_os *os, const char *session, struct err *err)
	MUST_USE;
void warden_stop(struct warden *w);  /* NULL is a no-op */
void warden_leave(struct warden *w); /* the same */
