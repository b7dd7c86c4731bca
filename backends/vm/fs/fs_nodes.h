/* fs_nodes - the inodes and open files that a guest knows, by numbers that it cannot forge. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/hash.h"

/*
 * Two tables of slots. What the guest is given is a slot's index and its generation, which changes
 * with each use: a number of an entry that is gone finds nothing. A node has an O_PATH descriptor
 * of its inode, so that the inode's number is nobody else's while the node lives. A guest may know
 * more inodes than a process may have descriptors: of those that were not used for the longest time
 * only the path is kept, and what is there when they are used again must be the same inode.
 */
#define FS_ROOT_ID 1

struct fs_key {
	uint64_t dev, ino;
};

struct fs_node {
	struct fs_key key;
	uint64_t id;
	uint64_t lookups;	     /* that the guest has not forgotten */
	uint32_t pins;		     /* requests under way that name it */
	int fd;			     /* O_PATH; -1: see path. Others ask fs_node_fd() */
	char *path;		     /* then: relative to the root */
	struct fs_node *prev, *next; /* those with a descriptor, the one used last at the end */
	mode_t type;
	bool closed;   /* a directory that shows, and nothing of it opens */
	bool empty;    /* a directory that shows without its entries */
	bool outdated; /* the guest was told to look again, and may open it next time */
	/* What the guest was last told, or did itself. */
	off_t size;
	struct timespec mtime;
	/* At its last open, but in a working folder: what the guest has read since is of that. */
	struct timespec ctime;
	bool settled;	/* then for so long that any later change has another ctime */
	bool unchanged; /* what it has in its cache is still so */
	UT_hash_handle hh;
};

struct fs_handle {
	uint64_t id;
	uint64_t node; /* its id */
	int fd;
	bool dir, writes;
	bool unnamed; /* not removed, either: what it is gets its name once it is closed */
};

struct fs_slots {
	void **slot;	/* NULL: free */
	uint32_t *next; /* generation of the next use */
	uint32_t *free;
	size_t n, n_free, used, max;
};

struct fs_nodes {
	struct fs_slots slots;
	struct fs_node *by_inode;
	struct fs_node *open;		  /* but for the root */
	size_t n_open, max_open, n_paths; /* n_paths: nodes without a descriptor */
	int root;			  /* the root's own */
	char *root_path;
};

struct fs_handles {
	struct fs_slots slots;
};

/* Node 1 is the root: takes fd. max_open: of descriptors, from 8 on. */
int fs_nodes_init(struct fs_nodes *t, int root, size_t max, size_t max_open);
void fs_nodes_done(struct fs_nodes *t);
/* Forgets all but the root. */
void fs_nodes_reset(struct fs_nodes *t);
struct fs_node *fs_node_get(const struct fs_nodes *t, uint64_t id); /* NULL: none */
/* The node of this inode, looked up once more; takes fd, by which it is reached from now on.
 * NULL: too many. */
struct fs_node *fs_node_enter(struct fs_nodes *t, int fd, const struct stat *st);
void fs_node_forget(struct fs_nodes *t, uint64_t id, uint64_t times);
/* Valid until another node is entered or asked for. -ESTALE: another inode has its path. */
int fs_node_fd(struct fs_nodes *t, struct fs_node *n);
/* A name was changed by the guest, or two were exchanged: paths are relative to the root. */
void fs_nodes_renamed(struct fs_nodes *t, const char *from, const char *to, bool exchanged);
/* A request under way keeps a node. */
void fs_node_pin(struct fs_node *n);
void fs_node_unpin(struct fs_nodes *t, struct fs_node *n);
void fs_node_tell(struct fs_node *n, const struct stat *st);
bool fs_node_is_as_told(const struct fs_node *n, const struct stat *st);

void fs_handles_init(struct fs_handles *t, size_t max);
void fs_handles_done(struct fs_handles *t);
void fs_handles_reset(struct fs_handles *t);
struct fs_handle *fs_handle_get(const struct fs_handles *t, uint64_t id);
/* Takes fd. NULL: too many, and fd is closed. */
struct fs_handle *fs_handle_new(struct fs_handles *t, uint64_t node, int fd);
void fs_handle_free(struct fs_handles *t, uint64_t id);
