/* gate_nodes - names of a gated tree that the kernel has cached, each with its last object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "backends/linux/gate/inode_set.h"
#include "core/base/util.h"

/*
 * FUSE addresses files by node. A node here is a name in a directory, not an inode: two hard links
 * are two nodes, so that an open is judged by the path that the program used. A node holds no
 * descriptor: each use walks from the tree's root, beneath it and over no link. The walk ends at
 * the object that the kernel was shown, or with ESTALE; then the kernel looks the name up anew.
 *
 * The kernel caches attributes for a second, except those of files that cordon lets the agent
 * change: a changing inode, and each entry of a changing directory. When one begins to change,
 * gate_tree_disbelieve() returns every node whose attributes may be cached. Names are always
 * cached: if a name is gone or leads to another object, the kernel's request for its attributes
 * ends in ENOENT, or in ESTALE and a new lookup.
 *
 * Threads: one. Nodes live until the kernel forgets them; NODES_MAX bounds them.
 */
#define NODES_MAX	(1u << 19)
#define GATE_BELIEVED_S 1.0

struct gate_node;
struct gate_tree {
	const char *path; /* absolute; borrowed */
	int root;	  /* O_PATH */
	int points;	  /* O_PATH; directories that the host lacks (tool_dirs.h); or -1 */
	struct gate_node *top;
	struct gate_node *nodes;	  /* by parent and name */
	struct gate_node *first, *last;	  /* nodes with cached attributes, the oldest first */
	const struct inode_set *changing; /* borrowed */
	size_t n;
	size_t most; /* highest n since the last os_trim_heap() */
};

/* Opens path in this process's view, and the directory of points (NULL: none). Returns 0 or
 * negative errno. The tree must be zeroed but for the pointers that it borrows. */
int gate_tree_init(struct gate_tree *t, const char *path, const char *points) MUST_USE;
void gate_tree_done(struct gate_tree *t);

/* Writes the path beneath the tree of a node, or of a name in it; "." for the top. Returns its
 * length or -ENAMETOOLONG. */
int gate_node_path(const struct gate_node *n, const char *name, char *out, size_t size);
/* Opens the object at a path beneath the tree, links not followed. If there is none, opens the
 * tool's directory of that name in `points`. Returns a descriptor or negative errno. */
int gate_tree_open(const struct gate_tree *t, const char *below, int flags) MUST_USE;
/* Opens the node's object. st may be NULL. -ESTALE: the name now leads to another object. */
int gate_node_open(const struct gate_tree *t, const struct gate_node *n, int flags, struct stat *st)
	MUST_USE;
/* Returns the node of that name for the object of st, with one more kernel reference; NULL: too
 * many nodes. */
struct gate_node *gate_node_enter(struct gate_tree *t, struct gate_node *parent, const char *name,
				  const struct stat *st) MUST_USE;
/* Returns for how many seconds the kernel may cache these attributes, and notes them in the node.
 */
double gate_node_tell(struct gate_tree *t, struct gate_node *n, const struct stat *st);
/* Takes a node off the list of nodes with cached attributes. Returns it, or NULL if none is left.
 */
struct gate_node *gate_tree_disbelieve(struct gate_tree *t);
bool gate_node_is_as_told(const struct gate_node *n, const struct stat *st);
void gate_node_forget(struct gate_tree *t, struct gate_node *n, uint64_t times);
mode_t gate_node_type(const struct gate_node *n);
