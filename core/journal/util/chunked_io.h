/* chunked_io - reads and writes files of the store in chunks, however long they are. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/undo_log.h"

/* Written to name.tmp, which takes the name when it is whole. Errors are kept for out_end(). */
struct out {
	int dirfd, fd;
	const char *name; /* borrowed */
	struct buf buf;	  /* put_u32() and the like add here, out_spill() after each record */
	uint64_t written;
	int r;
};

#define OUT_NONE                                                                                   \
	{                                                                                          \
		.fd = -1, .buf = BUF_INIT                                                          \
	}

void out_begin(struct out *o, int dirfd, const char *name);
void out_spill(struct out *o);
void out_add(struct out *o, struct span bytes); /* many */
uint64_t out_len(const struct out *o);
/* head (may be empty) goes over what was written first. With an error in `why` nothing is kept. */
int out_end(struct out *o, int why, struct span head, bool durable) MUST_USE;

/* What is read next. A record that turns out to be cut off is parsed again after in_more(). */
struct in {
	struct buf win;
	size_t at; /* in win */
	int fd;	   /* owned */
};

#define IN_NONE                                                                                    \
	{                                                                                          \
		.win = BUF_INIT, .fd = -1                                                          \
	}
#define AUTO_IN CLEANUP(in_done)

int in_open(struct in *in, int dirfd, const char *name) MUST_USE;
struct get in_get(const struct in *in);
int in_more(struct in *in) MUST_USE; /* -EBADMSG: there is no more */
void in_took(struct in *in, const struct get *g);
void in_done(struct in *in);
