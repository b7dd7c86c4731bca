/* virtual_tree - the folder as it was before the newest records of some steps; changes nothing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

#define NO_NODE UINT32_MAX

struct journal;
struct names;

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
 * Life: a zeroed struct with the first four fields, below = -1 -> tree_reverse() ... ->
 * tree_done().
 */
struct vversion {	/* what a name held before a record was performed */
	uint64_t seq;	/* of that record */
	uint32_t child; /* as in vtree.child */
	uint32_t next;	/* index + 1 of the version at the next record, or 0 */
};

struct vchange { /* a record about the object of a node: how that was before */
	uint64_t seq, slot, ino, at;
	int64_t mtime_ns; /* of the file before it, on demand; VCHANGE_NOT_ASKED */
	uint32_t log;
	uint32_t next; /* index + 1 of the next newer one of the node, or 0 */
	/* GONE: this name was removed. DIR_GONE: as META. MARK: the object was changed without a
	 * record, perhaps created or removed: no older state of it is known. */
	enum rec_type type;
	unsigned flags;
};
#define VCHANGE_NOT_ASKED INT64_MIN

struct vtree {
	struct journal *j;
	const struct names *dirs;			     /* of the steps */
	bool (*found)(void *data, const struct vfind *find); /* or NULL */
	void *data;
	struct u64_set written; /* inodes that the records change in place; sorted */
	struct path_set names;	/* entries; number i: that of child[i] */
	uint32_t *child;	/* number of a node + 1, or 0: the name does not exist */
	size_t cap_child;
	/* If `keeps` is set, child[] stays that of the folder, and the tree shows each moment: that
	 * before the record `moment`. The list of entry i begins at index past[i] - 1. */
	bool keeps;
	uint64_t moment, seq; /* seq: of the record that is being reversed */
	struct vversion *versions;
	uint32_t n_versions, cap_versions, *past;
	size_t cap_past;
	struct vchange *changes; /* vnode.state is the index + 1 of the oldest one of the node */
	uint32_t n_changes, cap_changes;
	struct vnode *nodes;
	uint32_t n_nodes, cap_nodes;
	struct vstate *states;
	uint32_t n_states, cap_states;
	struct linked_node *linked; /* hash: nodes of files with several hard links */
	int obj;		    /* objects of step obj_log - 1, if that is not 0 */
	int below;		    /* the directory in an object that was seen last */
	size_t obj_log;
	struct buf key, path; /* scratch */
};

struct vstate { /* of a node that a record changed in place */
	struct change_side side;
	struct span meta;  /* its attributes; empty: those of the object in the slot */
	struct span bytes; /* its content, if has_content and slot is 0 */
	uint64_t slot;
	uint32_t log;
	bool has_content;
	bool packed; /* the slot's content is compressed; side.size is that of the plain one */
};

/* Reverses a record of the step at index log. Records come newest first. */
void tree_reverse(struct vtree *t, const struct rec *r, size_t log);

/* The same with `keeps`, without any look at the folder. at: where it is in the step's log. */
void tree_keep(struct vtree *t, const struct rec *r, size_t log, uint64_t at);
/* Returns the first change of the node from the moment on, or NULL, and the next one. */
struct vchange *tree_change(const struct vtree *t, uint32_t node, uint64_t moment);
struct vchange *tree_next_change(const struct vtree *t, const struct vchange *c);
/* Returns the record that put the node among the objects of a step, or NULL: it lies in the folder.
 */
const struct vchange *tree_removal(const struct vtree *t, uint32_t node);

struct vobject {
	struct object o;	    /* mode 0: the path does not exist */
	struct spot at;		    /* where it lies; valid until the next call, or reach_close() */
	int root;		    /* of the folder, or granted place, in which it lies; or -1 */
	bool in_folder;		    /* it lies there at this very path */
	const struct vstate *state; /* or NULL: as it lies there */
};
/* Looks at a path of the tree. */
int tree_look(struct vtree *t, int root, const char *path, struct reach *w, struct vobject *ret)
	MUST_USE;
/* Returns the node at a path, which may not exist where the node lies; or NO_NODE. */
uint32_t tree_node(struct vtree *t, int root, const char *path);
/* Looks at the object of a node. Returns 0, or -errno. */
int tree_look_at_node(struct vtree *t, uint32_t node, struct reach *w, struct vobject *ret)
	MUST_USE;
/* Opens the objects of a step. Returns a descriptor, borrowed until the next call, or -errno. */
int tree_objects_of(struct vtree *t, size_t log);
/* Opens the content of that state for reading. -EFBIG: it is compressed, and large. */
int tree_open(struct vtree *t, const struct vstate *s) MUST_USE;
void tree_done(struct vtree *t);
