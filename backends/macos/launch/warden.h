/* warden - ends what is inside if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * Where Endpoint Security decides what Seatbelt leaves open, nobody decides once the keeper is
 * gone: the kernel then lets all of that go on. So a process of its own waits for the keeper's end,
 * and ends the session's. What they do in between, some milliseconds, is neither asked about nor
 * kept.
 *
 * Life:    warden_start() before the agent -> warden_stop() after its end. The caller has one
 * thread.
 */
struct warden;

int warden_start(struct warden **ret, const struct mac_os *os, const char *session, struct err *err)
	MUST_USE;
void warden_stop(struct warden *w); /* NULL is a no-op */
