/* block - the format of a second of a recording: a head that players skip, and zstd frames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * A recording is a row of zstd frames: `zstd -dc FILE` is an asciicast v2. A block is
 *
 *   skippable frame   struct block: sizes, times, marks, and the terminal as it is after the block
 *   frame             lines of the terminal: o, r, m, i
 *   frame             cordon's own lines (c), if there are any; their true time is in them
 *
 * and is written by one write(2): a process that dies leaves whole blocks, and at most one
 * incomplete one, which is not read. The last frame of a recording that was closed is a seek table
 * in zstd's seekable format.
 */
#define BLOCK_MAX   ((size_t)64 << 20) /* bytes of each part, in any form */
#define BLOCK_LABEL 200		       /* bytes of a mark's words */
#define BLOCK_MARKS 65535

enum mark_kind {
	MARK_STEP,
	MARK_TURN,
	MARK_APPROVAL,
	MARK_EDIT, /* an external edit */
	MARK_OTHER,
	MARK_KINDS,
};

struct mark {
	int64_t t_us;
	enum mark_kind kind;
	int64_t id;  /* number of the step; 0: none */
	char *words; /* owned */
};

struct block {
	int64_t first_us, last_us;
	uint32_t text_packed, text_len; /* bytes of the frame, and unpacked */
	uint32_t own_packed, own_len;
	uint32_t key_packed, key_len; /* of the terminal after the block; 0: absent */
	uint32_t rows;		      /* rows of activity in its own lines */
	struct mark *marks;
	size_t n_marks;
};

void block_done(struct block *b);

/* zstd's working memory, for one writer or reader. */
struct packer;
struct packer *packer_new(void) MUST_USE;
void packer_free(struct packer *p); /* NULL is a no-op */

/* Appends the bytes of the block to out; fills in the sizes of b. head: length of the skippable
 * frame. */
int block_write(struct packer *p, struct buf *out, struct block *b, struct span text,
		struct span own, struct span key, size_t *ret_head) MUST_USE;

/* Returns the size of the whole head; -EBADMSG: no head of cordon begins here. */
ssize_t block_head_size(const char *p, size_t len) MUST_USE;
/* Reads a head, which is complete in [p, p+len). *ret_key is the offset of the packed terminal in
 * it. */
int block_read(const char *p, size_t len, struct block *ret, size_t *ret_key) MUST_USE;
/* Unpacks one frame of exactly want bytes. */
int block_unpack(struct packer *p, const char *from, size_t packed, size_t want, struct buf *out)
	MUST_USE;

/* The seek table at the end. */
struct seek_table {
	struct buf entries;
	uint32_t n;
};
void seek_table_add(struct seek_table *t, size_t packed, size_t len);
void seek_table_write(struct seek_table *t, struct buf *out);
