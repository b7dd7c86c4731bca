/* past - the folder's tree at each moment since a step, by the records of the steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/step_names.h"
#include "core/journal/history/virtual_tree.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/names.h"

struct change;

/*
 * The records of all steps are reversed in a virtual tree, the newest first. The tree keeps what
 * each name held before and after, so it shows every moment: the content at a path is in the next
 * record that captured that object, or else where the object lies now. Undone steps have a tree of
 * their own, by their redo logs: its "past" is the state that a redo would restore.
 *
 * Life: past_get() makes it, and it stays with the journal for later calls. If it grows old, it may
 * lead to objects that no longer exist (an error), but never to wrong ones: call past_drop() and
 * try again. It holds only names and numbers; the folder is looked at in past_find() and later.
 */
struct past_left { /* the state that the step left of a file */
	uint32_t node;
	struct change_side side; /* exists is false: an external edit is part of it */
};

struct past_log {
	int64_t id;
	uint64_t first, last; /* numbers of its records */
	uint64_t end;	      /* the record at which the step ended */
	bool named, asked;    /* `names`, `left` are loaded */
	struct step_names names;
	struct past_left *left;	       /* sorted by node */
	struct past_left *left_by_ino; /* the same, on demand */
	size_t n_left, cap_left;
};

struct past_inode { /* a record about an object, by its inode number */
	uint64_t ino;
	uint32_t change, node;
};

struct past {
	bool undone;
	int64_t made_ns;    /* wall clock */
	int64_t changed_ns; /* time of the store's last change at that time */
	uint64_t since;	    /* steps that end before this number are not here */
	struct names dirs;  /* of the steps */
	struct past_log *logs;
	size_t n_logs;
	int fd; /* of the log that was read last, at index fd_log; or -1 */
	uint32_t fd_log;
	struct vtree tree;
	struct past_blind { /* the end of a damaged step: its changes are unknown */
		uint64_t seq;
		int64_t id;
	} * blind;
	size_t n_blind;
	bool linked;		   /* past_load_links() was called */
	struct past_inode *inodes; /* on demand; sorted, the oldest record first */
};

/* Makes the tree for a step, or returns the present one. Borrowed until the next call of this or of
 * a function that calls it: content_origin_find(), journal_content(), past_drop(). */
int past_get(struct journal *j, int64_t id, bool undone, struct past **ret) MUST_USE;
void past_drop(struct journal *j);
/* Returns whether steps were added or removed since the tree was made; true if unknown. */
bool past_is_old(const struct journal *j);
/* Returns the step's log, or NULL. */
struct past_log *past_log(struct past *p, int64_t id);
/* Returns the node of a change's object before or after the step; NO_NODE: no object had that name.
 * *moment: the state of the object at that side is the one before this record. */
uint32_t past_find(struct past *p, struct past_log *log, const struct change *c, bool after,
		   uint64_t *moment);
/* Notes the nodes with changes of each file with several hard links: as tree_linked_find(), and on
 * from vnode.held. */
void past_load_links(struct past *p);
/* Returns how many records are about objects with this inode number. Sets *ret to the first. */
size_t past_of_inode(struct past *p, uint64_t ino, const struct past_inode **ret);
/* Reads the whole record of a change. */
int past_fetch(struct past *p, const struct vchange *c, struct buf *mem, struct rec *ret) MUST_USE;
/* Returns the state that the change's step left of the file, or NULL if it is unknown.
 * (past_left.c)
 */
const struct change_side *past_left_of(struct past *p, uint32_t log, uint32_t node);
/* Does the same by inode number, for a file whose name may be unknown. */
const struct change_side *past_left_of_inode(struct past *p, uint32_t log, uint64_t ino);
