/* inode_history - follows one inode through the history from a given moment on. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/path_index_lookup.h"

/*
 * Captures are kept per inode and step: of a file with several names, what happened to it may be
 * recorded under another one. So each search by path is followed by one by inode number. Numbers
 * are used again, and not everybody who writes leaves a record: each record tells the time of
 * modification that the file had by then, which must be the one that the last who is known to have
 * set it had left. Who that was is told by the records, what he left by his step's summary. A
 * rollback may have brought the file back as another inode than the summary tells.
 */
struct seek {
	struct journal *j;
	const struct trails *t;
	const struct trail_log *own; /* of the step that is asked; NULL: it has no records */
	const struct change_side *want;
	const struct change_side *left; /* by that step at its other end */
	size_t at;			/* where the way to the present begins */
	int root;			/* and at which path */
	char *start;
};

/* The first record of these kinds in [s->at, end) that tells of the very file as it was then; end:
 * none. */
size_t seek_record(const struct seek *s, size_t at, size_t end, unsigned wanted, uint64_t ino);
/* That which has its bytes. */
size_t seek_bytes(const struct seek *s, size_t end, uint64_t ino);
/* Are those at mark `end`, of a file with this number, size and time, the bytes of then? */
bool seek_is_same(const struct seek *s, size_t end, uint64_t ino, uint64_t size, int64_t mtime_ns);
