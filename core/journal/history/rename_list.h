/* rename_list - translates paths through the renames of directories, in order. */
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
	struct rename_tree on,
		turned; /* from the first of them to the present, and the other way */
};

void moves_add_one(struct moves *m, const struct move *one); /* copies the paths */
void moves_add(struct moves *m, const struct wal *log);
/* Only the renames that the rollback itself performed. */
void moves_add_made(struct moves *m, const struct wal *log);
void moves_sort(struct moves *m); /* once, after the last of these */
/* Instead of the above: appends a rename, numbered by its position. */
void moves_push(struct moves *m, int root, const char *from, const char *to);
void moves_done(struct moves *m);
bool moves_touch(const struct moves *m, int root, const char *path); /* below one of them */
/* Replaces a path as of record seq (heap string) by its current one. True: it was renamed. */
bool moves_follow(const struct moves *m, uint64_t seq, int *root, char **path);
/* The inverse: replaces a current path by the path that the object had right after record seq. */
void moves_back(const struct moves *m, uint64_t seq, int *root, char **path);
/* Like moves_follow(), but stops at a rename that replaced a directory above the path. Returns that
 * rename's sequence number, or 0 if the path still exists. */
uint64_t moves_trace(const struct moves *m, uint64_t seq, int *root, char **path);
void moves_turn(struct moves *m); /* before the first of these two */
/* The rename replaced a directory above the path, so that the path ceased to exist. */
bool move_covers(const struct move *v, int root, const char *path);
/* Below a directory that a record with one of these numbers renamed. */
bool moves_touch_in(const struct moves *m, uint64_t first, uint64_t last, int root,
		    const char *path);
