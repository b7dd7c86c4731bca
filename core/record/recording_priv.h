/* recording_priv - types and functions shared by recording.c, foreign.c and batch.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* A block and where its lines are. */
struct place {
	struct block block;
	int64_t at, key_at; /* of cordon's own: in the file */
	size_t from, to;    /* of others: in text */
	int64_t base_us;    /* v3: the time that its times are relative to */
};

struct recording {
	int fd; /* -1: all is in text */
	bool own;
	struct cast_header header;
	struct place *places;
	size_t n, cap;
	struct mark *marks;
	size_t n_marks, cap_marks;
	int64_t duration_us;
	struct buf text; /* of a cast of another program */
	struct packer *packer;
	uint64_t bad; /* bytes or lines that could not be read */
	bool torn;
	char *trouble;
};

struct place *recording_add_place(struct recording *r);
void recording_add_mark(struct recording *r, const struct mark *m); /* takes its words over */

/* foreign.c: the whole file as text, and its blocks. */
int foreign_read(struct recording *r, struct err *err) MUST_USE;
