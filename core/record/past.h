/* past - reconstructs the model of a session at any moment of its recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/applier.h"
#include "core/record/recording.h"

/*
 * Life:    past_new() reads cordon's own events of the whole recording once: events that change the
 *          state stay in memory, rows of activity are only counted -> past_seek() -> past_free().
 * Threads: one.
 */
struct past;

struct past *past_new(struct recording *r) MUST_USE;
void past_free(struct past *p); /* NULL is a no-op */
/* Sets m to its state at t: the last MODEL_ROWS rows, and every step, request and answer. */
void past_seek(struct past *p, struct model *m, int64_t t_us);
/* Applies the next event. */
void past_event(struct past *p, struct model *m, const struct moment *e);
