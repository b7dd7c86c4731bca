/* fs_tree - one share as the fs server sees it: names, attributes and content, read natively. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "backends/vm/fs/fs_channel.h"
#include "backends/vm/fs/fs_nodes.h"
#include "backends/vm/fs/fs_server.h"

struct policy;

/*
 * Resolves names from a node's descriptor, one component at a time: follows no link, and never uses
 * bytes of the guest as a path of several components. Functions return 0 or a negative errno.
 */

/* State that all shares of a server have in common. */
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
	struct fs_key store; /* the undo store: shows, but does not open; ino 0: none in here */
	struct fs_nodes nodes;
	struct fs_handles handles;
	uint64_t devs[FS_DEVS_MAX]; /* file systems seen so far; the share's own is the first */
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
/* Drops all nodes but the root and all handles, for a guest that starts anew. */
void fs_tree_reset(struct fs_tree *t);

/* ---- names ----------------------------------------------------------------------------------- */

/* Looks a name up and counts that in the node: the guest will send a matching forget. */
int fs_lookup(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_node **ret,
	      struct stat *st);
/* Gets the node of a file that the keeper has opened. The file may have no name yet. */
int fs_enter_fd(struct fs_tree *t, int fd, struct fs_node **ret, struct stat *st);
int fs_getattr(struct fs_tree *t, struct fs_node *n, struct stat *st);
/* Returns an inode number for the guest. Files of different host file systems get different
 * ones. */
uint64_t fs_ino(struct fs_tree *t, const struct stat *st);
ssize_t fs_readlink(struct fs_tree *t, struct fs_node *n, char *out, size_t size);
/* Writes "/proc/self/fd/N", valid as long as the result of fs_node_fd(). */
int fs_node_link(struct fs_tree *t, struct fs_node *n, char out[32]);

/* ---- opening for reading --------------------------------------------------------------------- */

/* Returns 0, 1 if the caller must ask the keeper for `path`, or negative errno. */
int fs_may_read(struct fs_tree *t, struct fs_node *n, char path[PATH_MAX]);
/* Opens a regular file or a directory for reading. Returns a descriptor or negative errno. */
int fs_open_native(struct fs_tree *t, struct fs_node *n);
/* Returns whether the host has changed the file after its attributes were last reported to the
 * guest. Never returns true twice in a row, so that a file with a constant writer can be opened.
 * Sets n->unchanged, so call it at each open. */
bool fs_was_edited(struct fs_tree *t, struct fs_node *n);

/* Tells the keeper that a file without a name was closed after writing: it may get its name now. */
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

/* Buffers for the directory and the name of a message. */
struct fs_where {
	char dir[PATH_MAX], name[NAME_MAX + 1];
};
/* Returns "dir/name". Heap string. */
char *fs_where_path(const char *dir, const char *name);
/* Fills spot and where for a name in a directory. */
int fs_spot_name(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_spot *spot,
		 struct fs_where *where);
/* Fills spot and where for a node by its current name. -ESTALE: it has no name. */
int fs_spot_object(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where);
/* The same for a change of attributes: attaches the descriptor of a regular file without a name. */
int fs_spot_itself(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where);
