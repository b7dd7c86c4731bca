/* watch_tree - the watched directories, by inotify watch and by name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/hash.h"

#define WATCH_DIRS_MAX 65536 /* each costs the kernel about a kilobyte */

/* A watched directory. Its path is found by going up: a rename changes one node. */
struct wdir {
	int wd;
	struct wdir *parent; /* NULL: a folder itself */
	struct wdir *children, *prev, *next;
	void *folder;
	char *name;
	bool queued; /* its entries are still to be looked at */
	UT_hash_handle hh;
};

struct wtree {
	int fd;		   /* inotify */
	struct wdir *dirs; /* by wd */
	struct wdir **queue;
	size_t head, n_queue; /* from head on */
	bool full;	      /* the kernel allows no more */
};

void wtree_done(struct wtree *t);
struct wdir *wtree_find(const struct wtree *t, int wd);
/* Path below the folder, "" for itself; name may be NULL. */
void wdir_path(const struct wdir *d, const char *name, struct buf *ret);
struct wdir *wdir_child(const struct wdir *d, const char *name);
/* A directory of that name is one from which the host runs things: it does not wait to be listed.
 */
bool wdir_is_run(const struct wdir *d, const char *name);
/* Watches a directory that fd is open on, and queues it to be listed. Returns -EMFILE if the tree
 * is full, -ENOSPC if the kernel allows no more. */
int wtree_add(struct wtree *t, struct wdir *parent, void *folder, const char *name, int fd);
void wtree_move(struct wdir *d, struct wdir *parent, const char *name);
void wtree_drop(struct wtree *t, struct wdir *d, bool watched); /* with all below it */
void wtree_queue(struct wtree *t, struct wdir *d);
struct wdir *wtree_pop(struct wtree *t); /* NULL: the queue is empty */
