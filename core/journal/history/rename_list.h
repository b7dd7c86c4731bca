/* rename_list - directories that were renamed, and where what lies in them is now. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/rename_tree.h"
#include "core/journal/log/undo_log.h"

struct move { /* of a directory */
	uint64_t seq;
	int root, root2;
	char *from, *to;
	bool both; /* they changed places */
};

struct moves {
	struct move *list;
	size_t n;
	struct names ends; /* from where, and whereto */
	uint64_t *left;	   /* of each, the number of the last that took something from there */
	struct homes on, turned; /* from the first of them to the present, and the other way */
};

void moves_add_one(struct moves *m, const struct move *one); /* copies the paths */
void moves_add(struct moves *m, const struct wal *log);
/* Only those that the rollback which wrote the log has made. */
void moves_add_made(struct moves *m, const struct wal *log);
void moves_sort(struct moves *m); /* once, after the last of these */
/* Instead of these: one that comes after the others, its number that of how many there are. */
void moves_push(struct moves *m, int root, const char *from, const char *to);
void moves_done(struct moves *m);
bool moves_touch(const struct moves *m, int root, const char *path); /* it lies in one of them */
/* A path right after record seq: where it lies now. *path is a heap string. True: it was moved. */
bool moves_follow(const struct moves *m, uint64_t seq, int *root, char **path);
/* The other way: what lies at a path now, and where that was right after record seq. */
void moves_back(const struct moves *m, uint64_t seq, int *root, char **path);
/* As moves_follow(), up to a move that covers it: the number of that; 0: it is there. */
uint64_t moves_trace(const struct moves *m, uint64_t seq, int *root, char **path);
void moves_turn(struct moves *m); /* before the first of these two */
/* The directory was moved to where one above the path had been, so that this was no more. */
bool move_covers(const struct move *v, int root, const char *path);
/* It lies in one that was moved by a record of these numbers. */
bool moves_touch_in(const struct moves *m, uint64_t first, uint64_t last, int root,
		    const char *path);
