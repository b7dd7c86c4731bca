/* guarded - captures the content of guarded names before they are removed, for a rollback. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/store/roots.h"

struct step;
struct op_target;
struct object;

/*
 * No process inside may create a file at a guarded name without a question (journal_spec.guards).
 * But a process may move a file away from it, and then write to the file, link it, or hold a
 * descriptor of it. So a rollback never gives that inode back to the guarded name. Before the file
 * leaves the name its bytes are captured in a record of their own (REC_FRESH), and the rollback
 * puts a new file with these bytes there.
 *
 * The record of the rename lists the objects at guarded names: the renamed object itself, "", and
 * the entries below a directory. On the way back, an entry that is not in the list was created
 * elsewhere, without a question: it does not come back to the guarded name.
 */
struct listed {
	const char *rel; /* below the renamed object; "" is that object */
	mode_t type;	 /* S_IFMT */
	uint64_t stamp;	 /* of a symbolic link's target or a device's number; else 0 */
};

/* Returns whether a process may still write to this regular file: by a descriptor or mapping that
 * is open for writing, or by another hard link. True if that is unknown. */
bool guarded_is_held(struct journal *j, int dirfd, const char *name, const struct object *o);

/*
 * Calls `on` for the object at dirfd/name and each object below it whose name is guarded, where the
 * object's own path is `path`. overflow: not all entries were visited; unseen: entries lie in a
 * directory without search permission. A negative result of `on` ends the walk. name "" is dirfd
 * itself.
 */
struct guarded_walk {
	struct journal *j;
	int root;
	const char *path;
	int (*on)(void *data, const char *rel, int dirfd, const char *name, const struct object *o);
	void *data;
	bool any;   /* also names that are guarded from another type only */
	size_t max; /* at most so many entries; 0: the default */
	bool overflow, unseen;
	size_t seen;
};
int guarded_each(struct guarded_walk *w, int dirfd, const char *name) MUST_USE;

uint64_t guarded_stamp(int dirfd, const char *name, const struct object *o);

/* Encodes a record's list. */
void guarded_list_put(struct buf *list, const char *rel, const struct object *o, uint64_t stamp);
void guarded_list_close(struct buf *list, bool overflow);
/* A rename's record has one list, an exchange's two; which: 0 or 1. Empty: no list. */
void guarded_list_join(struct buf *ret, const struct buf *first, const struct buf *second);
struct span guarded_list_get(struct span meta, int which);
bool guarded_list_overflows(struct span list);
bool guarded_list_find(struct span list, const char *rel, struct listed *ret);

/*
 * Captures the files at guarded names before the object leaves its name in this step, and writes
 * the list. Does nothing if the name is not guarded.
 */
int guarded_leave(struct step *s, const struct op_target *w, struct buf *list) MUST_USE;
