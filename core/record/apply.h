/* apply - the events of a recording make a model again. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/reader.h"
#include "core/session/model.h"

/*
 * A model that is filled by nothing else. What a recording holds is not trusted: numbers are
 * clamped, unknown events and fields are skipped.
 */
struct applier {
	struct audit_record record;
	int64_t now_us, at_us; /* monotonic; the recording's time that it shows: for how long what
				* waits has waited */
};

void applier_init(struct applier *a);
void applier_done(struct applier *a);
/* The same for what is not known any more: an empty model. */
void applier_reset(struct model *m);
/* The event's own time in microseconds, and whether it is a row of activity; -EBADMSG: no event. */
int apply_peek(const char *json, size_t len, int64_t *ret_us, bool *ret_row) MUST_USE;
/* It tells of the session's memory and processor alone, as one does every few seconds. */
bool apply_is_measure(const char *json, size_t len);
/* 0, or -EBADMSG: nothing was applied. */
int apply_event(struct applier *a, struct model *m, const char *json, size_t len) MUST_USE;
