/* saved_versions - opens the versions of a file that a saved redo holds. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/base/util.h"
#include "core/journal/log/undo_log.h"

struct journal;

struct saved_part { /* one of the steps */
	int dir, obj;
	struct undo_log log;
	size_t at;
	struct rec rec; /* the next one, if `more` */
	bool more;
	bool seen; /* the newest version that its rollback has put away was found */
};

struct saved_parts {
	struct saved_part *list;
	size_t n;
};

/* Life: saved_parts_open() -> saved_parts_done(), even if the first fails. saved: "saved/N". */
int saved_parts_open(struct journal *j, const char *saved, struct saved_parts *ret) MUST_USE;
void saved_parts_done(struct saved_parts *p);
void saved_parts_rewind(struct saved_parts *p);
/* Returns the step with the next record, in the order of the rollback; NULL: there are no more. */
struct saved_part *saved_parts_next(struct saved_parts *p, struct rec *ret);
bool saved_is_overwritten(const struct saved_parts *all); /* see overwritten.h */
/* Opens a version of the file: the one from right before the rollback, or the oldest if the
 * rollback left the path as it was. Or an older version, if it was written from outside between two
 * of the steps, or during the step. newer: how many versions are passed over. */
int saved_version_open(struct saved_parts *all, const char *path, size_t newer) MUST_USE;
