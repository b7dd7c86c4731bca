/* still_open - finds the files that processes still hold open after a grant was revoked. */
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
	size_t n, more; /* processes in the list, and further ones */
	size_t unseen;	/* processes that could not be inspected */
	bool cut;	/* the search ended early */
	int last;	/* last pid counted */
};
/* Returns whether the revoked grant covers this open file. path: absolute, as /proc reports it. */
typedef bool (*remains_is)(void *data, int pid, enum hold what, const char *path);
void remains_look(struct keeper *k, remains_is is, void *data, struct remains *ret);
/* Sends WIRE_LEFT_OPEN. rule: the revoked one; 0: rules of settings files. */
void remains_tell(struct keeper *k, uint64_t rule, const struct remains *r);
