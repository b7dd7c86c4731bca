/* fs_tree - one share as the fs server sees it: names, attributes and content, read natively. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "backends/vm/fs/fs_channel.h"
#include "backends/vm/fs/fs_nodes.h"
#include "backends/vm/fs/fs_server.h"

struct policy;

/*
 * What FUSE and 9P have in common. Everything is found from a node's descriptor, one component at a
 * time; no link is followed, and no path of the guest's is ever a path here. Functions return 0 or
 * a negative errno.
 */

/* What all shares of a server have in common. */
struct fs_view {
	const struct policy *policy; /* the rules as of the fork; NULL: none (tests) */
	const char *const *hidden;   /* absolute, NULL-terminated, or NULL */
	const struct fs_page *page;  /* or NULL */
	struct fs_channel *channel;
};

#define FS_DEVS_MAX 64

struct fs_tree {
	const struct fs_view *view;
	const char *path; /* "" for / */
	enum fs_kind kind;
	uint32_t share;
	struct fs_key store; /* the undo store: shows, and does not open; ino 0: none in here */
	struct fs_nodes nodes;
	struct fs_handles handles;
	uint64_t devs[FS_DEVS_MAX]; /* file systems that were met; the share's own is the first */
	size_t n_devs;
};

struct fs_tree_spec {
	const char *path;
	enum fs_kind kind;
	uint32_t share;
	struct fs_key store;
	size_t max_nodes, max_open, max_handles; /* max_open: descriptors for nodes */
};

int fs_tree_init(struct fs_tree *t, const struct fs_view *view, const struct fs_tree_spec *spec);
void fs_tree_done(struct fs_tree *t);
/* The guest starts anew: it knows nothing but the root, and has nothing open. */
void fs_tree_reset(struct fs_tree *t);

/* ---- names ----------------------------------------------------------------------------------- */

/* 0, -EINVAL, -ENAMETOOLONG. */
int fs_check_name(const char *name);
/* Counted: fs_node_forget() is to follow. */
int fs_lookup(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_node **ret,
	      struct stat *st);
/* The node of a file that the keeper has opened, which need not have its name yet. */
int fs_enter_fd(struct fs_tree *t, int fd, struct fs_node **ret, struct stat *st);
int fs_getattr(struct fs_tree *t, struct fs_node *n, struct stat *st);
/* An inode number for the guest: two file systems of the host's never give the same. */
uint64_t fs_ino(struct fs_tree *t, const struct stat *st);
ssize_t fs_readlink(struct fs_tree *t, struct fs_node *n, char *out, size_t size);
/* "/proc/self/fd/N", valid as fs_node_fd() is. */
int fs_node_link(struct fs_tree *t, struct fs_node *n, char out[32]);
/* Absolute. -ESTALE: it has none in this share. */
int fs_node_path(struct fs_tree *t, struct fs_node *n, char out[PATH_MAX]);

/* ---- opening for reading --------------------------------------------------------------------- */

/* 0; 1: ask the keeper for that path; or negative. */
int fs_may_read(struct fs_tree *t, struct fs_node *n, char path[PATH_MAX]);
/* A regular file or a directory. -ESTALE, once: the human has changed it since it was told of. */
int fs_open_native(struct fs_tree *t, struct fs_node *n);
/* The host changed the file since the guest was told of it: never twice in a row, for a file that
 * somebody goes on writing opens, too. To be called at each open, as n->unchanged is about the one
 * before. */
bool fs_was_edited(struct fs_tree *t, struct fs_node *n);

/* A file was open for writing, and had no name when it was opened: it may get it now. */
void fs_closed_unnamed(struct fs_tree *t, struct fs_node *n);

/* ---- listings -------------------------------------------------------------------------------- */

struct fs_dirent {
	uint64_t ino, next; /* next: the offset behind it */
	unsigned char type; /* DT_* */
	const char *name;
};
/* Calls each(data, e) for the entries from offset on until it returns false. */
int fs_readdir(struct fs_tree *t, const struct fs_handle *h, uint64_t offset,
	       bool (*each)(void *data, const struct fs_dirent *e), void *data);

/* ---- messages -------------------------------------------------------------------------------- */

/* Room for a directory's path in a message. */
struct fs_where {
	char dir[PATH_MAX], name[NAME_MAX + 1];
};
/* "dir/name". Heap string. */
char *fs_where_path(const char *dir, const char *name);
/* The name in that directory. */
int fs_spot_name(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_spot *spot,
		 struct fs_where *where);
/* An object by the name that it has now. -ESTALE: none leads to it any more. */
int fs_spot_object(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where);
/* For a change of attributes: a file that no name leads to goes along with the message itself. */
int fs_spot_itself(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where);
