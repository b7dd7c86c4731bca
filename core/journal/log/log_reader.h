/* log_reader - reads a log from front to back without loading file contents. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/undo_log.h"

/*
 * For readers: a log may hold hundreds of megabytes of small files' bytes, of which a reader wants
 * a few. Lengths are checked while scanning, the checksum when a record is fetched. The log of a
 * step that is kept or undone does not grow; one that is being emptied meanwhile reads as damaged.
 * Life: scan_open() -> scan_next()... -> scan_close().
 */
struct scan {
	int fd;
	uint64_t at, tail; /* of the next record; the end */
	struct buf chunk;  /* what was read ahead, from chunk_at */
	uint64_t chunk_at;
};

#define SCAN_NONE                                                                                  \
	{                                                                                          \
		.fd = -1, .chunk = BUF_INIT                                                        \
	}

int scan_open(struct scan *s, int dirfd, const char *name) MUST_USE;
void scan_close(struct scan *s);
/* 1 and the record (paths are borrowed until the next call, meta has only its length), 0 at the
 * end, -EBADMSG. *ret_at is for scan_fetch(). */
int scan_next(struct scan *s, struct rec *r, uint64_t *ret_at) MUST_USE;
/* The number of the last record, or 0 when there is none. */
int scan_last_seq(const struct scan *s, uint64_t *ret) MUST_USE;
/* One whole record, verified; it lives in *mem. */
int scan_fetch(int fd, uint64_t at, struct buf *mem, struct rec *r) MUST_USE;
