/* replay - undoes one record: performs its inverse and logs that. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"

struct pop {
	struct journal *j;
	struct side *from, *to;
	const struct rec *r;
	size_t start;	/* where it begins in `from` */
	size_t mark;	/* of `to`, before y */
	bool pushed;	/* y is on `to` */
	bool performed; /* so much that y must stay */
};

/* Finds the path's location and object. Returns 0 also if the path or its parent does not exist. */
int pop_find(struct pop *p, int root, const char *path, struct spot *at, struct obj *o) MUST_USE;
/* Times of the directory that holds path; at is where spot_find() found it. */
int pop_touch_parent(struct pop *p, int root, const char *path, const struct spot *at) MUST_USE;
/* Appends y, the inverse record, to `to`. */
int pop_push(struct pop *p, struct rec *y) MUST_USE;
/* Frees the name and creates its parent. */
int pop_make_room(struct pop *p, int root, const char *path, struct spot *at) MUST_USE;
/* Restores metadata, as far as permissions allow. */
int pop_set_attrs(struct pop *p, int fd, struct span meta) MUST_USE;
/* Moves the slot's object to a free name. */
int pop_unstash(struct pop *p, const char *slot, const struct spot *at) MUST_USE;

/* The slot's file replaces the regular file there: by exchange, or if the inode must stay, by
 * copying bytes and metadata (then p->performed). */
int pop_exchange(struct pop *p, const struct spot *at, const struct obj *o, const char *slot)
	MUST_USE;

/* Adds permissions to locked directories above the record's paths, and to those themselves. Returns
 * their number. (replay_unlock.c) */
int unlock_paths(struct pop *p) MUST_USE;

/* Moves the object at path into a slot of `to`. src: the record that is being undone, or 0. */
int pop_stash(struct pop *p, int root, const char *path, const struct spot *at, const struct obj *o,
	      uint64_t src) MUST_USE;

/* ---- guarded names (replay_guarded.c) ---------------------------------------------------------
 */

/*
 * The object at (root, path) is about to come to a name that was guarded when it left: list is what
 * was there then. Whatever the record's own captures bring back, or was not there, goes out of the
 * way first.
 */
int pop_secure(struct pop *p, int root, const char *path, int to_root, const char *to,
	       struct span list) MUST_USE;
/* As guarded_leave(), for what this rollback moves away from a name of (root, path). */
int pop_leave(struct pop *p, int root, const char *path, const struct spot *at, struct buf *list)
	MUST_USE;
/* A file about to be put away whose name is guarded: its bytes, if they may change meanwhile. */
int pop_keep_held(struct pop *p, int root, const char *path, const struct spot *at,
		  const struct obj *o) MUST_USE;
/* The slot's object is about to come to a guarded name: a copy takes the place of each file of it
 * that somebody may still write to. */
int pop_renew_slot(struct pop *p, const char *slot) MUST_USE;
bool pop_is_guarded(const struct pop *p);
void pop_say_fresh(struct pop *p, const char *path);

/* ---- saves of somebody outside (replay_saves.c) -----------------------------------------------
 */

/* Does somebody outside save by way of this file? */
bool saves_have(struct journal *j, int root, const char *path, const struct obj *o);
#define POP_LEFT 4098 /* no errno: the record is to be left out; nothing was done */
/* o lies at (root, path) and is about to be changed or moved. 0, or -POP_LEFT: it stays. */
int pop_mind_saves(const struct pop *p, int root, const char *path, const struct obj *o) MUST_USE;
/* The record's path has got a file: who asks next is told that it is no save of theirs. */
void pop_placed(const struct pop *p, const struct spot *at);

/* ---- the inverse of one kind of record (replay_data.c, replay_moves.c) */

int pop_content(struct pop *p) MUST_USE;
int pop_xinode(struct pop *p) MUST_USE;
int pop_rename(struct pop *p) MUST_USE;
int pop_xchg(struct pop *p) MUST_USE;
