/* pending_undo - the undo, redo or restore of a session that is under way, up to its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/engine.h"

struct pending_undo {
	uint64_t request; /* 0: none is under way */
	bool planning;
	char **paths; /* of a restore; it is planned first, so that the answer can name the changes
		       */
	int64_t step;
	unsigned flags;
	engine_on_undo fn;
	void *data;
};

/* As engine_undo(). */
int pending_undo_begin(struct pending_undo *u, struct session *s, const struct undo_call *c,
		       engine_on_undo fn, void *data, struct err *err) MUST_USE;
/* The model has changed: goes on, or calls the listener and ends. */
void pending_undo_check(struct pending_undo *u, struct session *s);
void pending_undo_done(struct pending_undo *u);
