/* recording - reads what a recorder wrote, and asciicasts of other programs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/block.h"
#include "core/record/cast.h"

/*
 * Life:    recording_open() -> recording_batch() of the wanted blocks -> recording_free().
 * Kinds:   cordon's own (blocks on the disk, read one at a time), and asciicast 1, 2 and 3, plain,
 *          gzip or zstd, which are read whole, up to RECORDING_MAX bytes.
 * Trust:   none: any user may have written the file. Damaged parts are skipped, and
 *          recording_trouble() reports them in one line.
 * Threads: one at a time.
 */
#define RECORDING_MAX ((size_t)256 << 20)

struct recording;

struct moment {
	int64_t t_us;
	char code; /* CAST_* */
	struct span data;
};

/* Events of one block, by time; they point into bytes. */
struct batch {
	struct buf bytes;
	struct moment *list;
	size_t n;
};

int recording_open(struct recording **ret, int fd, struct err *err) MUST_USE; /* takes fd over */
void recording_free(struct recording *r);				      /* NULL is a no-op */

const struct cast_header *recording_header(const struct recording *r);
bool recording_is_own(const struct recording *r);      /* it has events of cordon's own */
int64_t recording_duration(const struct recording *r); /* microseconds */
const struct mark *recording_marks(const struct recording *r, size_t *ret_n); /* by time */
const char *recording_trouble(const struct recording *r);		      /* NULL: none */

size_t recording_blocks(const struct recording *r);
const struct block *recording_block(const struct recording *r, size_t i);
/* Returns the last block that begins at t or before; 0 if there is none. */
size_t recording_block_at(const struct recording *r, int64_t t_us);
/* Reads the events of block i. own_only: only cordon's own events, which costs less. A damaged
 * block gives its readable part. */
void recording_batch(struct recording *r, size_t i, bool own_only, struct batch *ret);
/* Gets the terminal after block i. Returns false if the block has none, or it is damaged. */
bool recording_key(struct recording *r, size_t i, struct buf *ret);

#define BATCH_INIT                                                                                 \
	{                                                                                          \
		.bytes = BUF_INIT                                                                  \
	}
void batch_done(struct batch *b);
