/* still_open - finds what processes still hold open of a grant that was taken back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;

enum hold {
	HOLD_DIR, /* its working directory, too */
	HOLD_FILE,
	HOLD_WRITTEN, /* open for writing */
	HOLD_MAP,
	HOLD_PROGRAM,
	HOLD_KINDS,
};
struct remains {
	struct remain {
		int pid;
		size_t n[HOLD_KINDS];
	} list[6];
	size_t n, more; /* processes in the list, and besides */
	size_t unseen;	/* that could not be looked into */
	bool cut;	/* not all was looked at */
	int last;	/* pid that was counted last */
};
/* Is it about this? path: what /proc says of an open file, absolute. */
typedef bool (*remains_is)(void *data, int pid, enum hold what, const char *path);
void remains_look(struct keeper *k, remains_is is, void *data, struct remains *ret);
/* WIRE_LEFT_OPEN. rule: what was taken back, or 0. */
void remains_tell(struct keeper *k, uint64_t rule, const struct remains *r);
