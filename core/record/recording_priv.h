/* recording_priv - types and functions shared by recording.c, foreign.c and batch.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* A block and where its lines are. */
struct place {
	struct block block;
	int64_t at, key_at; /* of cordon's own recordings: offsets in the file */
	size_t from, to;    /* of others: offsets in text */
	int64_t base_us;    /* v3: the time that its times start from */
};

struct recording {
	int fd; /* -1: text has everything */
	bool own;
	struct cast_header header;
	struct place *places;
	size_t n, cap;
	struct mark *marks;
	size_t n_marks, cap_marks;
	int64_t duration_us;
	struct buf text; /* of a cast of another program */
	struct packer *packer;
	uint64_t bad; /* unreadable bytes or lines */
	bool torn;
	char *trouble;
};

struct place *recording_add_place(struct recording *r);
void recording_add_mark(struct recording *r, const struct mark *m); /* takes its words over */

/* foreign.c: reads the whole file as text, and finds its blocks. */
int foreign_read(struct recording *r, struct err *err) MUST_USE;
