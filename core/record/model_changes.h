/* model_changes - writes the changes of a session's model to its recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recorder.h"
#include "core/session/model.h"

/*
 * Life:    tell_new() -> tell_news() whenever the model has changed -> tell_free().
 * Threads: main loop.
 * Each event is one flat JSON object; applier.c reads them. "t" is its time in microseconds, "e"
 * its type: session, row, step, step-gone, ask, ask-gone, held, given, edits, edit, state.
 */
struct teller;

struct teller *tell_new(struct recorder *r) MUST_USE;
void tell_free(struct teller *t); /* NULL is a no-op */
void tell_news(struct teller *t, const struct model *m);
