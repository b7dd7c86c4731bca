/* guarded - keeps content of guarded names before they are removed, for a rollback. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/store.h"

struct step;
struct where;

/*
 * A guarded name is one that the policy lets nobody inside fill unasked (journal_spec.guards). To
 * take a file away from it is allowed, and elsewhere the file may be written to, linked, or found
 * by a descriptor for as long as that lives. So a rollback never gives a guarded name that inode
 * back. Before the file leaves its name its bytes are captured, by that name, in a record of
 * their own (REC_FRESH), and what the rollback puts there is a new file with these bytes.
 *
 * The record of the rename has a list of what was at guarded names: the object itself, "", and the
 * entries below a directory. What is below it on its way back and not in the list came there
 * elsewhere, unasked: it stays out.
 */
struct listed {
	const char *rel; /* below what is renamed; "" is that itself */
	mode_t type;	 /* S_IFMT */
	uint64_t stamp;	 /* of a symbolic link's target or a device's number; else 0 */
};

/* Asked about an object of this type, S_IFMT; 0: about any, as a name can be guarded from links or
 * directories alone. */
bool guarded_name(struct journal *j, int root, const char *path, mode_t type);
/* Whether somebody may still write to this regular file: by a descriptor or mapping that is open
 * for writing, or by another name. In doubt yes. */
bool guarded_is_held(struct journal *j, int dirfd, const char *name, const struct obj *o);

/*
 * Calls `on` for the object at dirfd/name, and for all below it, that is at a guarded name where
 * the object's own path is `path`. overflow: there is more than was looked at; unseen: there are
 * entries in a directory that may not be searched. A negative result of `on` ends it. name "" is
 * dirfd itself.
 */
struct guarded_walk {
	struct journal *j;
	int root;
	const char *path;
	int (*on)(void *data, const char *rel, int dirfd, const char *name, const struct obj *o);
	void *data;
	bool any;   /* names that are guarded from other types than what is there, too */
	size_t max; /* entries; 0: many */
	bool overflow, unseen;
	size_t seen;
};
int guarded_each(struct guarded_walk *w, int dirfd, const char *name) MUST_USE;

uint64_t guarded_stamp(int dirfd, const char *name, const struct obj *o);

/* The list of a record, as bytes. */
void listed_put(struct buf *list, const char *rel, const struct obj *o, uint64_t stamp);
void listed_close(struct buf *list, bool overflow);
/* A record of a rename has one list, that of an exchange has two: which, 0 or 1. Empty: none. */
void listed_join(struct buf *ret, const struct buf *first, const struct buf *second);
struct span listed_get(struct span meta, int which);
bool listed_overflows(struct span list);
bool listed_find(struct span list, const char *rel, struct listed *ret);

/*
 * The object is about to leave its name in this step: captures what the name guards and writes the
 * list. Nothing where the name is not guarded.
 */
int guarded_leave(struct step *s, const struct where *w, struct buf *list) MUST_USE;
