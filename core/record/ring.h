/* ring - keeps the newest recordings in the state folder, which is hidden from the agent. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct ring_spec {
	const char *state_dir; /* recordings/ is in it, readable only by this user */
	const char *session;
	int64_t keep; /* number of recordings, the new one included */
	/* Bytes of all recordings: old ones may use three quarters; 0: no limit. */
	int64_t size;
};

/* Removes recordings above these limits, always the oldest one of the folder that uses most, and
 * creates the session's file. The descriptor holds a lock: a recording that is being written is not
 * removed. */
int ring_open(const struct ring_spec *spec, int *ret_fd, struct err *err) MUST_USE;
void ring_remove(const char *state_dir, const char *session);
/* Opens the newest recording, or the one `back` places before it, for reading. Returns 0 or
 * -ENOENT. */
int ring_newest(const char *state_dir, size_t back, int *ret_fd, struct err *err) MUST_USE;
/* Opens a recording by session, or the end of its name, for reading. Returns 0 or -ENOENT. */
int ring_find(const char *state_dir, const char *session, int *ret_fd, struct err *err) MUST_USE;
