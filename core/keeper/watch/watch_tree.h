/* watch_tree - the watched directories, by inotify watch and by name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/hash.h"

/* A watched directory. Its path is found by going up: a rename changes one node. */
struct watched_dir {
	int wd;
	struct watched_dir *parent; /* NULL: a folder itself */
	struct watched_dir *children, *prev, *next;
	void *folder;
	char *name;
	size_t queued; /* index in the queue + 1, until its entries are listed; or 0 */
	bool late;     /* it or its parent was created externally during the session */
	bool whole;    /* no close of a file in it was missed */
	UT_hash_handle hh;
};

struct watched_tree {
	int fd;			  /* inotify */
	struct watched_dir *dirs; /* by wd */
	struct watched_dir **queue;
	size_t head, n_queue; /* from head on */
	size_t most;	      /* directories */
	bool full;	      /* the kernel allows no more */
};

void watch_tree_done(struct watched_tree *t);
struct watched_dir *watch_tree_find(const struct watched_tree *t, int wd);
/* Appends the path below the folder, "" for the folder itself; name may be NULL. */
void watch_dir_path(const struct watched_dir *d, const char *name, struct buf *ret);
/* Returns the newest child of that name, or NULL. A removed one may still be in the tree. */
struct watched_dir *watch_dir_child(const struct watched_dir *d, const char *name);
/* Returns whether the host runs files in directories of that name: such a directory is listed at
 * once. */
bool watch_dir_is_run(const struct watched_dir *d, const char *name);
/* Watches the directory of this name in dirfd, or dirfd itself (NULL), in the kernel only. Returns
 * the watch, -EMFILE if the tree is full, -ENOSPC if the kernel allows no more. */
int watch_tree_begin(const struct watched_tree *t, int dirfd, const char *name);
/* Adds a watched directory to the tree, and queues it to be listed. Returns NULL if it is above the
 * parent: its move is still to be reported. */
struct watched_dir *watch_tree_put(struct watched_tree *t, int wd, struct watched_dir *parent,
				   void *folder, const char *name);
/* Like both, for the directory of this descriptor. Returns 0 or a negative errno. */
int watch_tree_add(struct watched_tree *t, struct watched_dir *parent, void *folder,
		   const char *name, int fd);
void watch_tree_move(struct watched_dir *d, struct watched_dir *parent, const char *name);
void watch_tree_drop(struct watched_tree *t, struct watched_dir *d,
		     bool watched); /* with all directories below */
void watch_tree_queue(struct watched_tree *t, struct watched_dir *d);
struct watched_dir *watch_tree_pop(struct watched_tree *t); /* NULL: the queue is empty */
