/* rename_list - translates paths through the renames of directories, in order. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

struct undo_log;
struct journal;

struct dir_rename { /* of a directory */
	uint64_t seq;
	int root, root2;
	char *from, *to;
	bool both; /* an exchange */
};

struct renames {
	struct dir_rename *list;
	size_t n;
	struct path_set ends;  /* the old and new paths */
	uint64_t *left;	       /* of each, the number of the last rename away from it */
	struct rename_tree on; /* from the oldest rename to the present */
};

void renames_add_one(struct renames *m, const struct dir_rename *one); /* copies the paths */
void renames_add(struct renames *m, const struct undo_log *log);
/* Adds only the renames that the rollback itself performed. */
void renames_add_made(struct renames *m, const struct undo_log *log);
void renames_sort(struct renames *m); /* once, after the last addition */
/* Instead of the above: appends a rename, numbered by its position. */
void renames_push(struct renames *m, int root, const char *from, const char *to);
void renames_done(struct renames *m);
/* Returns whether the path lies below a renamed directory. */
bool renames_touch(const struct renames *m, int root, const char *path);
/* Replaces a path as of record seq (heap string) by its current one. True: it was renamed. */
bool renames_follow(const struct renames *m, uint64_t seq, int *root, char **path);
/* Returns the current path of the object that was at path right after record seq (heap). */
char *renames_now(const struct renames *m, uint64_t seq, int *root, const char *path) MUST_USE;
/* Adds that path to the set. */
void renames_add_now(const struct renames *m, uint64_t seq, int root, const char *path,
		     struct path_set *to);
/* Adds the paths of other steps' after-images below renamed directories, under both names. */
int renames_add_images(struct journal *j, const struct renames *m, struct path_set *add) MUST_USE;
