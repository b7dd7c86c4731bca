/* replay - undoes one record: performs its inverse and logs that (replay_record.c). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/util.h"

struct journal;
struct object;
struct rec;
struct capture;
struct spot;

struct record_replay {
	struct journal *j;
	struct capture *from, *to;
	const struct rec *r;
	size_t start;	/* offset of r in `from` */
	size_t mark;	/* tail of `to` before y */
	bool pushed;	/* y is on `to` */
	bool performed; /* the change was performed in part: y must stay */
};

/* Finds the path's location and object. Returns 0 also if the path or its parent does not exist. */
int replay_locate(struct record_replay *p, int root, const char *path, struct spot *at,
		  struct object *o) MUST_USE;
/* Records the times of the path's directory in `to`; at: from root_find(). */
int replay_touch_parent(struct record_replay *p, int root, const char *path, const struct spot *at)
	MUST_USE;
/* Appends y, the inverse record, to `to`. */
int replay_push(struct record_replay *p, struct rec *y) MUST_USE;
/* Frees the name and creates its parent. */
int replay_make_room(struct record_replay *p, int root, const char *path, struct spot *at) MUST_USE;
/* Restores metadata, as far as permissions allow. */
int replay_set_attrs(struct record_replay *p, int fd, struct span meta) MUST_USE;
/* Moves the slot's object to a free name. */
int replay_unstash(struct record_replay *p, const char *slot, const struct spot *at) MUST_USE;

/* Replaces the regular file there by the slot's: by exchange, or if the inode must stay, by copying
 * bytes and metadata (then sets p->performed). */
int replay_exchange(struct record_replay *p, const struct spot *at, const struct object *o,
		    const char *slot) MUST_USE;

/* Adds permissions to locked directories above the record's paths, and to the paths themselves.
 * Returns the number of directories. (replay_unlock.c) */
int unlock_paths(struct record_replay *p) MUST_USE;

/* Moves the object at path into a slot of `to`. src: the record that is being undone, or 0. */
int replay_stash(struct record_replay *p, int root, const char *path, const struct spot *at,
		 const struct object *o, uint64_t src) MUST_USE;

/* Called before the slot's object moves to a guarded name: replaces each of its files that a
 * process may still write to by a copy. */
int replay_renew_slot(struct record_replay *p, const char *slot) MUST_USE;
/* Captures these bytes under the path's name. */
int replay_keep(struct record_replay *p, int root, const char *path, int dirfd, const char *name,
		const struct object *o) MUST_USE;
bool replay_is_guarded(const struct record_replay *p);
void replay_say_fresh(struct record_replay *p, const char *path);
/* Tells the user that another program wrote to the file at the record's path meanwhile. */
void replay_say_written(struct record_replay *p, const char *so);

/* ---- guarded names (replay_guarded.c) ---------------------------------------------------------
 */

/*
 * Called before the object at (root, path) moves to (to_root, to), a name that was guarded when the
 * object left it. list: the objects at guarded names at that time. First moves files away that the
 * record's own captures will restore, and objects that are not in the list.
 */
int replay_secure(struct record_replay *p, int root, const char *path, int to_root, const char *to,
		  struct span list) MUST_USE;
/* Like guarded_leave(), for an object that this rollback moves away from (root, path). */
int replay_leave(struct record_replay *p, int root, const char *path, const struct spot *at,
		 struct buf *list) MUST_USE;
/* ---- saves by programs outside (replay_saves.c) ---- */

/* Returns whether a program outside is saving by way of this file (struct journal_saves). */
bool replay_saves_have(struct journal *j, int root, const char *path, const struct object *o);
#define REPLAY_LEFT 4098 /* not an errno: skip the record; nothing was done */
/* Checks the object at (root, path) before it is changed or moved. Returns 0, or -REPLAY_LEFT if it
 * must stay, which the user is told. */
int replay_mind_saves(const struct record_replay *p, int root, const char *path,
		      const struct object *o) MUST_USE;
/* Notes that the rollback placed the file at the record's path, so that it does not count as a
 * save. */
void replay_placed(const struct record_replay *p, const struct spot *at);

/* ---- the inverse of one kind of record (replay_data.c, replay_moves.c) */

int replay_rec_content(struct record_replay *p) MUST_USE;
int replay_rec_xinode(struct record_replay *p) MUST_USE;
int replay_rec_rename(struct record_replay *p) MUST_USE;
int replay_rec_xchg(struct record_replay *p) MUST_USE;
