/* late - calls that were denied for their deadline while a human was still being asked. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * The answer then counts for the next try of the same call by the same process, once.
 * Bounded: the oldest of LATE_MAX goes first. Life: a zeroed struct is empty -> late_clear().
 */
#define LATE_MAX 64

struct late_call;

struct late {
	struct late_call *list; /* the oldest first */
	size_t n;
};

void late_add(struct late *l, const struct es_message *m);
/* Of the message with that handle: until that time. Nothing if it is not here. */
void late_answer(struct late *l, uint64_t handle, bool allow, int64_t until_us);
/* A human has allowed this call. */
bool late_take(struct late *l, const struct es_message *m, int64_t now_us);
void late_clear(struct late *l);
