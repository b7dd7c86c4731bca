/* applier - builds a model from the events of a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/reader.h"
#include "core/session/model.h"

struct moment;

/*
 * The model must have no other source. Recordings are not trusted: numbers are clamped, unknown
 * events and fields are skipped.
 */
struct applier {
	struct audit_record record;
	/* now_us: monotonic; at_us: the time in the recording that the model shows. Both give how
	 * long a request has waited. */
	int64_t now_us, at_us;
};

void applier_init(struct applier *a);
void applier_done(struct applier *a);
/* Empties the model, when the state of the moment is unknown. */
void applier_reset(struct model *m);
/* Reads the time of an event in microseconds, and whether it is a row of activity. Returns 0, or
 * -EBADMSG: not an event. */
int apply_peek(const char *json, size_t len, int64_t *ret_us, bool *ret_row) MUST_USE;
bool applier_is_row(const struct moment *e); /* whether it is a row of activity */
/* Returns whether the event only reports memory and processor use, as one does every few
 * seconds. */
bool apply_is_measure(const char *json, size_t len);
/* Applies one event. Returns 0, or -EBADMSG: the model is unchanged. */
int apply_event(struct applier *a, struct model *m, const char *json, size_t len) MUST_USE;
