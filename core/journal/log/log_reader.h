/* log_reader - reads a log from front to back without loading file contents. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/util.h"

struct buf;
struct rec;

/*
 * A log may hold hundreds of megabytes of small files' bytes, and a reader needs few of them.
 * Lengths are checked during the scan, the checksum when a record is fetched. The log of a kept or
 * undone step does not grow; a log that is being emptied meanwhile reads as damaged.
 * Life: log_reader_open() -> log_reader_next()... -> log_reader_close().
 */
struct log_reader {
	int fd;
	uint64_t at, tail; /* offset of the next record; of the end */
	struct buf chunk;  /* bytes read ahead, from offset chunk_at */
	uint64_t chunk_at;
};

#define LOG_READER_NONE                                                                            \
	{                                                                                          \
		.fd = -1, .chunk = BUF_INIT                                                        \
	}

int log_reader_open(struct log_reader *s, int dirfd, const char *name) MUST_USE;
void log_reader_close(struct log_reader *s);
/* Reads the next record: paths are borrowed until the next call, meta has only its length. *ret_at
 * is for log_reader_fetch(). Returns 1, 0 at the end, or -EBADMSG. */
int log_reader_next(struct log_reader *s, struct rec *r, uint64_t *ret_at) MUST_USE;
/* Sets *ret to the sequence number of the last record, or 0 if there is none. */
int log_reader_last_seq(const struct log_reader *s, uint64_t *ret) MUST_USE;
/* Reads one whole record and verifies it; it lives in *mem. */
int log_reader_fetch(int fd, uint64_t at, struct buf *mem, struct rec *r) MUST_USE;
