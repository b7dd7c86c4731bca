/* late - calls that were denied at their deadline while the user's answer was pending. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * A later answer counts for the next try of the same call by the same process, once.
 * Bounded: the oldest of LATE_MAX goes first. Life: a zeroed struct is empty -> late_clear().
 */
#define LATE_MAX 64

struct late_call;

struct late {
	struct late_call *list; /* the oldest first */
	size_t n;
};

void late_add(struct late *l, const struct es_message *m);
/* Notes the answer for the message of that handle, good until that time. No-op if it is not
 * here. */
void late_answer(struct late *l, uint64_t handle, bool allow, int64_t until_us);
/* Returns whether the user has allowed this call, and drops the answer. */
bool late_take(struct late *l, const struct es_message *m, int64_t now_us);
void late_clear(struct late *l);
