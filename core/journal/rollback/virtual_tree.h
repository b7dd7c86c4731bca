/* virtual_tree - the folder as it was before the newest records of some steps; changes nothing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

struct journal;
struct names;
struct rec;

struct vfind { /* what a record of the steps is about to take away */
	enum {
		VFIND_HELD,   /* a name that the steps gave back, in a directory that they made */
		VFIND_LEFT,   /* a file of the folder, in a directory that they made, */
		VFIND_IN_WAY, /* or in one that is in the way; true: look into it, too */
		/* The record removes a name of a file that is in another state now: true: edited */
		VFIND_LINKED,
		VFIND_WRITTEN, /* an edited one is written */
	} what;
	const struct rec *by;
	int root;
	const char *path; /* LEFT, IN_WAY: of the folder; else of the moment of the record */
	uint64_t ino;
	size_t log; /* LINKED: the step */
};

/*
 * A node is an inode, an entry is a name in a directory. The tree begins as the folder, and has
 * nodes and entries of its own only where a record was reversed: all others are read from the
 * folder. A node lies where its inode is: in the folder, under its present name, or in a step's
 * objects. So a renamed directory takes its content along, and all names of a file show one state.
 * Life: a zeroed struct with the first four fields -> vtree_reverse() ... -> vtree_done().
 */
struct vtree {
	struct journal *j;
	const struct names *dirs;			     /* of the steps */
	bool (*found)(void *data, const struct vfind *find); /* or NULL */
	void *data;
	struct u64_set written; /* inodes that the records change in place; sorted */
	struct path_set names;	/* entries; number i: that of child[i] */
	uint32_t *child;	/* number of a node + 1, or 0: the name does not exist */
	size_t cap_child;
	struct vnode *nodes;
	uint32_t n_nodes, cap_nodes;
	struct vstate *states;
	uint32_t n_states, cap_states;
	struct linked_node *linked; /* hash: nodes of files with several hard links */
	int obj;		    /* objects of step obj_log - 1, if that is not 0 */
	size_t obj_log;
	struct buf key, path; /* scratch */
};

struct vstate { /* of a node that a record changed in place */
	struct change_side side;
	struct span bytes; /* its content, if has_content and slot is 0 */
	uint64_t slot;
	uint32_t log;
	bool has_content;
};

/* Reverses a record of the step at index log. Records come newest first. */
void vtree_reverse(struct vtree *t, const struct rec *r, size_t log);

struct vobject {
	struct object o;	    /* mode 0: the path does not exist */
	struct spot at;		    /* where it lies; valid until the next call, or reach_close() */
	int root;		    /* of the folder, or granted place, in which it lies; or -1 */
	bool in_folder;		    /* it lies there at this very path */
	const struct vstate *state; /* or NULL: as it lies there */
};
/* Looks at a path of the tree. */
int vtree_look(struct vtree *t, int root, const char *path, struct reach *w, struct vobject *ret)
	MUST_USE;
/* Opens the content of that state for reading. */
int vtree_open(struct vtree *t, const struct vstate *s) MUST_USE;
void vtree_done(struct vtree *t);
