/* gate_nodes - what the kernel knows of a gated tree: names, each with the object it last meant. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "backends/linux/gate/inode_set.h"
#include "core/base/util.h"

/*
 * The kernel names files by node. A node here is a name in a directory, not an inode: two hard
 * links are two nodes, so that the path of what is opened is the one that was opened. It holds no
 * descriptor: each use walks from the tree's root, beneath it and over no link, and ends at the
 * object that the kernel was shown, or with ESTALE, upon which the kernel looks the name up anew.
 *
 * The kernel believes attributes for a second, but those of files that cordon lets the agent change
 * not at all: of a changing inode, and of each entry of a changing directory. When one begins to
 * change, gate_tree_disbelieve() names every node that the kernel may still believe. Names are
 * believed in any case: the attributes of a name that is gone or means another object are asked
 * for, which ends in ENOENT, or in ESTALE and a new lookup.
 *
 * Threads: one. Nodes live until the kernel forgets them; NODES_MAX bounds them.
 */
#define NODES_MAX	(1u << 19)
#define GATE_BELIEVED_S 1.0

struct gate_node;
struct gate_tree {
	const char *path; /* absolute; borrowed */
	int root;	  /* O_PATH */
	struct gate_node *top;
	struct gate_node *nodes;	  /* by parent and name */
	struct gate_node *first, *last;	  /* whose attributes may be believed, the oldest first */
	const struct inode_set *changing; /* borrowed */
	size_t n;
	size_t most; /* of n, since memory was last given back */
};

/* Opens path in this process's view. 0 or negative errno; tree is zeroed memory but for what is
 * borrowed. */
int gate_tree_init(struct gate_tree *t, const char *path) MUST_USE;
void gate_tree_done(struct gate_tree *t);

/* Path beneath the tree, of a node or of a name in it, "." for the top. Length or -ENAMETOOLONG. */
int gate_node_path(const struct gate_node *n, const char *name, char *out, size_t size);
/* Any object at a path beneath the tree, links not followed. */
int gate_tree_open(const struct gate_tree *t, const char *below, int flags) MUST_USE;
/* The node's object; st may be NULL. -ESTALE: the name means another object now. */
int gate_node_open(const struct gate_tree *t, const struct gate_node *n, int flags, struct stat *st)
	MUST_USE;
/* The node of that name for what st describes, known to the kernel once more; NULL: too many. */
struct gate_node *gate_node_enter(struct gate_tree *t, struct gate_node *parent, const char *name,
				  const struct stat *st) MUST_USE;
/* Returns for how many seconds the kernel may believe these attributes, which it is told next. */
double gate_node_tell(struct gate_tree *t, struct gate_node *n, const struct stat *st);
/* Returns a node whose attributes the kernel may believe, which are not from now on; NULL. */
struct gate_node *gate_tree_disbelieve(struct gate_tree *t);
bool gate_node_is_as_told(const struct gate_node *n, const struct stat *st);
void gate_node_forget(struct gate_tree *t, struct gate_node *n, uint64_t times);
mode_t gate_node_type(const struct gate_node *n);
