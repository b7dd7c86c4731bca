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
	size_t queued; /* its place in the queue + 1: its entries are not listed yet; or 0 */
	bool late;     /* it came from outside during the session, or its parent did */
	bool whole;    /* each close of a file in it since was reported, or looked for */
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
/* Returns the newest child of that name: one that is gone may still be there. Or NULL. */
struct watched_dir *watch_dir_child(const struct watched_dir *d, const char *name);
/* Returns whether the host runs files in directories of that name: such a directory is listed at
 * once. */
bool watch_dir_is_run(const struct watched_dir *d, const char *name);
/* Watches the directory of this name in dirfd, or dirfd itself (NULL), in the kernel only. Returns
 * the watch, -EMFILE if the tree is full, -ENOSPC if the kernel allows no more. */
int watch_tree_begin(const struct watched_tree *t, int dirfd, const char *name);
/* Adds a watched directory to the tree, and queues it to be listed. Returns it, or NULL if it lies
 * above the parent: its move is still to be reported. */
struct watched_dir *watch_tree_put(struct watched_tree *t, int wd, struct watched_dir *parent,
				   void *folder, const char *name);
/* Does both for a directory that fd is open on. Returns 0 or a negative errno. */
int watch_tree_add(struct watched_tree *t, struct watched_dir *parent, void *folder,
		   const char *name, int fd);
void watch_tree_move(struct watched_dir *d, struct watched_dir *parent, const char *name);
void watch_tree_drop(struct watched_tree *t, struct watched_dir *d,
		     bool watched); /* with all below it */
void watch_tree_queue(struct watched_tree *t, struct watched_dir *d);
struct watched_dir *watch_tree_pop(struct watched_tree *t); /* NULL: the queue is empty */
