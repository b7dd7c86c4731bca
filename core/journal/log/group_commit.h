/* group_commit - several waiting operations share one sync of the log. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/log/undo_log.h"

struct side;
struct step;

/*
 * Records as they would lie in the log, back to back, of operations that were begun and taken back
 * at their sync. journal_gather_sync() brings them to the disk as one REC_INTENT; an operation that
 * then pushes such a record needs no sync of its own. Any other record ends the rest of them.
 */
struct intents {
	struct buf recs; /* type 0: has been pushed */
	uint64_t turn;	 /* of the journal's directories, when they were made */
	size_t next;	 /* where the one behind the last match begins */
	bool ready;	 /* on the disk */
};

/* Keep the step's records from mark on, for whoever cuts the log there now. -JOURNAL_WAITS. */
int intents_keep(struct step *s, size_t mark) MUST_USE;
/* This record is on the disk as an intent. If not, none of them counts any more. */
bool intents_match(struct side *s, const struct rec *r);
/* The slot that an intent of this kind has, else a new one. */
uint64_t intents_slot(struct side *s, enum rec_type type, int root, const char *path, uint64_t ino);
void intents_drop(struct side *s);

/* For records that lie in a buffer: the one at *at, which moves behind it. False: the end. */
bool recs_next(const struct buf *recs, size_t *at, struct rec *r);
/* Mark the one that is like r as pushed. from: where to begin looking, or NULL. */
bool recs_take(struct buf *recs, const struct rec *r, size_t *from);
