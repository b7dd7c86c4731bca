/* restore - restores single paths to their state before a step, as a new step. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_names.h"

struct object;
struct rec;

struct made { /* an inode of the old step that has its name again */
	uint64_t ino;
	int root;
	char *path;
	UT_hash_handle hh;
};

struct parent { /* a directory that was recreated for its entries */
	int root;
	char *path;
	struct buf meta;
};

struct since { /* later changes of a path; see restore_later.c */
	struct change_side left;
	bool later;  /* a later step changed the path and left this state */
	bool broken; /* an external edit changed it since, or that is unknown */
	/* Edited externally while this step or a later one ran: the edit is part of their
	 * after-state. */
	bool outside;
	bool within; /* the same, while this step ran */
};

/* How one change of the list is restored. */
struct piece {
	bool chosen;
	bool leaves;   /* its object belongs to the path of another change, and moves there */
	bool gone;     /* the step created it: it is removed */
	size_t source; /* the change whose object belongs here, or SIZE_MAX */
	char *was;     /* path when the step began; NULL: it did not exist */
	char *temp;    /* temporary name while other objects are moved */
	struct since since;
	struct change_side expected; /* state at its path when it was checked */
	bool checked;
	/* Its bytes, if they are in the folder: opened before any object is moved. */
	struct content_origin here;
};

struct restore {
	struct journal *j;
	struct step *s; /* the new step */
	int64_t id;
	struct change *list; /* changes of the old step, sorted by path */
	struct piece *pieces;
	size_t n;
	bool strict;		 /* replace only objects that were checked */
	bool bare;		 /* the old step was unprotected */
	struct step_names names; /* of the old step */
	struct renames moved;	 /* renames made so far, of files as well */
	struct made *made;
	struct parent *parents; /* in the order of creation */
	size_t n_parents;
	unsigned tmp; /* temporary names used so far */
};

/* Begins the new step: notes each file that it places, and replaces only the captured objects. */
int restore_begin(struct restore *r, const char *command, struct err *err) MUST_USE;
/* Ends the new step. e: the result so far. Aborts the step after an error, or if an object was
 * edited meanwhile. */
int restore_end(struct restore *r, int e, struct err *err) MUST_USE;
/* Loads the changes of step r->id of r->j that `paths` select, and those they depend on. Call
 * restore_done() also on failure. */
int restore_load(struct restore *r, const char *const *paths, struct err *err) MUST_USE;
void restore_done(struct restore *r);
/* Returns whether the folder or a root of j covers the path. */
bool restore_covers(const struct journal *j, const char *path);
/* Returns whether the change is about one of these paths, or a path beneath one. */
bool restore_wants(const struct journal *j, const struct change *c, const char *const *paths);
/* Returns the change that is recorded under this path, or NULL. */
const struct change *restore_find(const struct restore *r, int root, const char *path);
/* Returns the index of the first change below a directory; these changes are contiguous. */
size_t restore_below(const struct restore *r, int root, const char *dir);
bool restore_is_inside(const struct restore *r, size_t i, int root, const char *dir);
int restore_load_later(struct restore *r) MUST_USE;
/* Sets `was` of each chosen piece, or of all. */
void restore_look_back(struct restore *r, bool chosen);
/* Restores everything chosen, in the new step. */
int restore_all(struct restore *r, const char *const *paths, struct err *err) MUST_USE;

/*
 * (restore_moment.c) restore_expect() notes the state of the object at a piece's path. If the
 * object differs when the restore removes it, the result is -RESTORE_EDITED. Objects that were not
 * checked are not compared.
 */
#define RESTORE_EDITED 4099 /* not an errno: the caller of the restore gets -ESTALE */
void restore_expect(struct piece *p, const struct object *now);
bool restore_expects(const struct restore *r, int root, const char *path, const struct object *o);
int restore_say_edited(const char *path, struct err *err); /* -ESTALE */
/* Checks all objects that the restore removed, before the new step is committed. Returns 0 or
 * -ESTALE. */
int restore_taken(const struct restore *r, struct err *err) MUST_USE;

/* Returns whether the step changed the mode or owner, perhaps besides other changes. */
static inline bool changes_mode(const struct change *c)
{
	return c->before.mode != c->after.mode || c->before.uid != c->after.uid ||
	       c->before.gid != c->after.gid;
}

/* Returns whether the object has the mode and owner of that side of a change. */
static inline bool has_mode_of(const struct object *o, const struct change_side *side)
{
	return o->mode == side->mode && o->uid == side->uid && o->gid == side->gid;
}

/* Each restores one change of the list. Returns 0 or a negative errno. */
int restore_text(struct restore *r, size_t i, struct span text) MUST_USE; /* writes these bytes */
/* Restores mode and owner of a file that stays. */
int restore_owner_mode(struct restore *r, size_t i) MUST_USE;
int restore_out(struct restore *r, size_t i) MUST_USE;	/* moves a source to a temporary name */
int restore_back(struct restore *r, size_t i) MUST_USE; /* moves it to its old name */
/* Restores content; only creates directories. */
int restore_object(struct restore *r, size_t i) MUST_USE;
int restore_attrs(struct restore *r, size_t i) MUST_USE; /* a directory's metadata */
int restore_parents(struct restore *r) MUST_USE; /* metadata of recreated parents, except times */
/* Removes an object that the step created. */
int restore_remove(struct restore *r, size_t i) MUST_USE;
/* Restores the times of a directory whose entries the step changed. path: at the step's beginning;
 * rec: the step's record. */
int restore_times(struct restore *r, int root, const char *path, const struct rec *rec) MUST_USE;
