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
	bool queued; /* its entries are not listed yet */
	bool late;   /* it came from outside during the session, or its parent did */
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
struct watched_dir *watch_dir_child(const struct watched_dir *d, const char *name);
/* Returns whether the host runs files in directories of that name: such a directory is listed at
 * once. */
bool watch_dir_is_run(const struct watched_dir *d, const char *name);
/* Watches a directory that fd is open on, and queues it to be listed. Returns -EMFILE if the tree
 * is full, -ENOSPC if the kernel allows no more. */
int watch_tree_add(struct watched_tree *t, struct watched_dir *parent, void *folder,
		   const char *name, int fd);
void watch_tree_move(struct watched_dir *d, struct watched_dir *parent, const char *name);
void watch_tree_drop(struct watched_tree *t, struct watched_dir *d,
		     bool watched); /* with all below it */
void watch_tree_queue(struct watched_tree *t, struct watched_dir *d);
struct watched_dir *watch_tree_pop(struct watched_tree *t); /* NULL: the queue is empty */
