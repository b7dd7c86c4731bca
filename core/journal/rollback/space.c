/* space - estimates the disk space that a rollback may need, to reserve it before any change. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/rollback/space.h"

#include <sys/stat.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"

/* Returns the bytes that a record needs: for a restored file, and for a captured one that stays. */
static off_t content_need(struct txn *t, const struct rec *r)
{
	struct span meta, bytes;
	struct spot at;
	struct object o;
	off_t need;

	undo_log_content(r, &meta, &bytes);
	need = 4096; /* the last block: bytes of the log become a file */
	if (root_look(t->j, r->root, r->path, &at, &o) == 0 && S_ISREG(o.mode) && o.nlink > 1)
		need += 2 * (off_t)MIN(o.size, o.blocks * 512); /* holes are kept as holes */
	return need;
}

/* Returns the inodes that the rollback may need: its own files, and one for each record that may
 * create a file. All other objects are moved. */
uint64_t space_inodes_for(struct txn *t)
{
	uint64_t need = 6;

	for (size_t i = 0; i < t->n; i++) {
		const struct undo_log *log = &txn_from(t, &t->list[i])->log;
		size_t at = 0;
		struct rec r;

		while (!t->list[i].arrived && undo_log_next(log, &at, &r))
			need += r.type == REC_CONTENT || r.type == REC_XINODE ||
				r.type == REC_DIR_GONE;
	}
	return need;
}

/* Estimates the bytes: the other log grows as long as this one, with 512 bytes for each directory's
 * times; restored and captured content; the rest is for after-images. */
off_t space_for(struct txn *t)
{
	off_t need = 0;

	store_forget_near(t->j);
	for (size_t i = 0; i < t->n; i++) {
		const struct undo_log *log = &txn_from(t, &t->list[i])->log;
		size_t at = 0, start = 0;
		struct rec r;

		while (!t->list[i].arrived && undo_log_next(log, &at, &r)) {
			need += (off_t)(at - start) + 512;
			start = at;
			if (r.type == REC_CONTENT)
				need += content_need(t, &r);
		}
	}
	store_forget_near(t->j);
	return need + RESERVE_LEAST;
}
