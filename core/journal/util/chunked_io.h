/* chunked_io - reads and writes files of the store in chunks, however long they are. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/codec.h"

/* Writes name.tmp and renames it to name at the end. Errors are kept for chunked_out_end(). */
struct chunked_out {
	int dirfd, fd;
	const char *name; /* borrowed */
	/* Append to it by codec_put_u32() and so on; call chunked_out_spill() after each record. */
	struct buf buf;
	uint64_t written;
	int r;
};

#define CHUNKED_OUT_NONE                                                                           \
	{                                                                                          \
		.fd = -1, .buf = BUF_INIT                                                          \
	}

void chunked_out_begin(struct chunked_out *o, int dirfd, const char *name);
void chunked_out_spill(struct chunked_out *o);
void chunked_out_add(struct chunked_out *o, struct span bytes); /* for many bytes */
uint64_t chunked_out_len(const struct chunked_out *o);
/* Finishes the file. head (may be empty) overwrites its first bytes. why: an error removes the
 * file. */
int chunked_out_end(struct chunked_out *o, int why, struct span head) MUST_USE;

/* Reads a file through a window. If the window ends within a record, call chunked_in_more() and
 * parse the record again. */
struct chunked_in {
	struct buf win;
	size_t at; /* offset in win */
	int fd;	   /* owned */
};

#define CHUNKED_IN_NONE                                                                            \
	{                                                                                          \
		.win = BUF_INIT, .fd = -1                                                          \
	}
#define AUTO_CHUNKED_IN CLEANUP(chunked_in_done)

int chunked_in_open(struct chunked_in *in, int dirfd, const char *name) MUST_USE;
struct codec_reader chunked_in_get(const struct chunked_in *in);
int chunked_in_more(struct chunked_in *in) MUST_USE; /* -EBADMSG: end of file */
void chunked_in_took(struct chunked_in *in, const struct codec_reader *g);
void chunked_in_done(struct chunked_in *in);
