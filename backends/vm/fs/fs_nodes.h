/* fs_nodes - tables of the inodes and open files that a guest refers to by number. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/hash.h"

/*
 * Two tables of slots. The guest gets a slot's index and its generation, which changes with each
 * use: the number of a removed entry finds nothing. A node has an O_PATH descriptor of its inode,
 * so that the inode number is not reused while the node lives. A guest may know more inodes than a
 * process may have descriptors: the least recently used nodes keep only their path, and at the
 * next use the path must lead to the same inode.
 */
#define FS_ROOT_ID 1

struct fs_key {
	uint64_t dev, ino;
};

struct fs_node {
	struct fs_key key;
	uint64_t id;
	uint64_t lookups;	     /* look-ups that the guest has not forgotten */
	uint32_t pins;		     /* pending requests that name it */
	int fd;			     /* O_PATH; -1: see path. Use fs_node_fd() */
	char *path;		     /* if fd is -1: relative to the root */
	struct fs_node *prev, *next; /* nodes with a descriptor, the least recently used first */
	mode_t type;
	bool closed;   /* a directory that shows, but does not open, nor does its content */
	bool empty;    /* a directory that shows without its entries */
	bool readable; /* the rules allow a read by the name of the newest look-up */
	bool outdated; /* the last open failed on purpose, so that the guest looks; the next
			* succeeds */
	/* As last reported to the guest, or after its own last write. */
	off_t size;
	struct timespec mtime;
	/* Time of change at the last open, except in a working folder: identifies the guest's
	 * cached content. */
	struct timespec ctime;
	bool settled;	/* a change after that open must have another ctime */
	bool unchanged; /* the guest's cached content is current */
	UT_hash_handle hh;
};

struct fs_handle {
	uint64_t id;
	uint64_t node; /* its id */
	int fd;
	bool dir, writes;
	bool unnamed; /* a new file that gets its name once it is closed */
};

struct fs_slots {
	void **slot;	/* free ones are NULL */
	uint32_t *next; /* generation of the next use */
	uint32_t *free;
	size_t n, n_free, used, max;
};

struct fs_nodes {
	struct fs_slots slots;
	struct fs_node *by_inode;
	struct fs_node *open;		  /* nodes with a descriptor, but for the root */
	size_t n_open, max_open, n_paths; /* n_paths: nodes without a descriptor */
	int root;			  /* the root's own */
	char *root_path;
};

struct fs_handles {
	struct fs_slots slots;
};

/* Initialises the table; node 1 is the root. Takes root. max_open: descriptors, at least 8. */
int fs_nodes_init(struct fs_nodes *t, int root, size_t max, size_t max_open);
void fs_nodes_done(struct fs_nodes *t);
/* Forgets all nodes but the root. */
void fs_nodes_reset(struct fs_nodes *t);
struct fs_node *fs_node_get(const struct fs_nodes *t, uint64_t id); /* NULL: none */
/* Returns the node of this inode and counts a look-up. Takes fd, which becomes the node's
 * descriptor.
 * NULL: too many nodes. */
struct fs_node *fs_node_enter(struct fs_nodes *t, int fd, const struct stat *st);
void fs_node_forget(struct fs_nodes *t, uint64_t id, uint64_t times);
/* Returns the node's descriptor, valid until the next fs_node_enter() or fs_node_fd(). -ESTALE: its
 * path leads to another inode. */
int fs_node_fd(struct fs_nodes *t, struct fs_node *n);
/* Updates paths after the guest has renamed a file, or exchanged two. Paths relative to the
 * root. */
void fs_nodes_renamed(struct fs_nodes *t, const char *from, const char *to, bool exchanged);
/* Keeps a node while a request is pending. */
void fs_node_pin(struct fs_node *n);
void fs_node_unpin(struct fs_nodes *t, struct fs_node *n);
void fs_node_tell(struct fs_node *n, const struct stat *st);
bool fs_node_is_as_told(const struct fs_node *n, const struct stat *st);

void fs_handles_init(struct fs_handles *t, size_t max);
void fs_handles_done(struct fs_handles *t);
void fs_handles_reset(struct fs_handles *t);
struct fs_handle *fs_handle_get(const struct fs_handles *t, uint64_t id);
/* Takes fd. Returns NULL if there are too many handles; fd is closed. */
struct fs_handle *fs_handle_new(struct fs_handles *t, uint64_t node, int fd);
void fs_handle_free(struct fs_handles *t, uint64_t id);
