/* ring - the newest recordings, in the state folder, which does not exist for the agent. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct ring_spec {
	const char *state_dir; /* recordings/ below it, of this user alone */
	const char *session;
	int64_t keep; /* how many there are with the new one */
	int64_t size; /* bytes of all of them: the old ones take three quarters at most; 0: no limit
		       */
};

/* Removes those that are too many, of the folder that has most the oldest first, and makes the
 * session's file. The descriptor carries a lock: a recording that is being written is not removed.
 */
int ring_open(const struct ring_spec *spec, int *ret_fd, struct err *err) MUST_USE;
void ring_remove(const char *state_dir, const char *session);
/* The newest, or the one so many before it. A descriptor for reading; -ENOENT. */
int ring_newest(const char *state_dir, size_t back, int *ret_fd, struct err *err) MUST_USE;
/* By session, or the end of its name. A descriptor for reading; -ENOENT. */
int ring_find(const char *state_dir, const char *session, int *ret_fd, struct err *err) MUST_USE;
