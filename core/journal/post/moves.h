/* moves - directories that were renamed, and where what lies in them is now. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/wal.h"

struct move { /* of a directory */
	uint64_t seq;
	int root, root2;
	char *from, *to;
	bool both; /* they changed places */
};

struct moves {
	struct move *list;
	size_t n;
};

void moves_add(struct moves *m, const struct wal *log);
/* Only those that the rollback which wrote the log has made. */
void moves_add_made(struct moves *m, const struct wal *log);
void moves_sort(struct moves *m); /* after the last of these */
void moves_done(struct moves *m);
/* A path right after record seq: where it lies now. *path is a heap string. True: elsewhere. */
bool moves_touch(const struct moves *m, int root, const char *path); /* it lies in one of them */
bool moves_follow(const struct moves *m, uint64_t seq, int *root, char **path);
/* The other way: what lies at a path now, and where that was right after record seq. */
void moves_back(const struct moves *m, uint64_t seq, int *root, char **path);
