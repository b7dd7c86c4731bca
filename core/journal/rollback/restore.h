/* restore - restores single paths to their state before a step, as a new step. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/content.h"
#include "core/journal/history/rename_list.h"

struct made { /* an inode of the old step that has been given a name again */
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

struct since { /* of its path; see restore_later.c */
	struct change_side left;
	bool later;  /* a later step changed the path and left this state */
	bool broken; /* so did an external edit, or that is unknown */
};

/* How one change of the list is restored. */
struct piece {
	bool chosen;
	bool leaves;   /* its object belongs at the place of another change: it moves there */
	bool gone;     /* created by the step, and removed */
	size_t source; /* the change whose object belongs here, or SIZE_MAX */
	char *was;     /* path when the step began; NULL: it was not there */
	char *temp;    /* its temporary name while others are moved */
	struct since since;
	struct change_side expected; /* what is at its path, when it was checked */
	bool checked;
	struct origin here; /* bytes that lie in the folder: opened before anything moves */
};

struct restore {
	struct journal *j;
	struct step *s; /* the new one */
	int64_t id;
	struct change *list; /* of the old one, sorted by path */
	struct piece *pieces;
	size_t n;
	bool strict;	    /* nothing but what was checked may be replaced */
	bool bare;	    /* the old step went on without capture */
	bool dirs_moved;    /* by it, or perhaps so */
	struct moves moved; /* what has been moved so far, files too */
	struct made *made;
	struct parent *parents; /* in the order of making */
	size_t n_parents;
	unsigned tmp; /* names given so far */
};

/* Loads the changes of step r->id of r->j that `paths` select, with those they depend on. Call
 * restore_done() also on failure. */
int restore_load(struct restore *r, const char *const *paths, struct err *err) MUST_USE;
void restore_done(struct restore *r);
bool restore_covers(const struct journal *j, const char *path); /* by its folders */
/* One of these paths, or beneath one? */
bool restore_wants(const struct journal *j, const struct change *c, const char *const *paths);
/* The change that is recorded under this path, or NULL. */
const struct change *restore_find(const struct restore *r, int root, char *path);
/* The index of the first change below a directory; they are contiguous. */
size_t restore_below(const struct restore *r, int root, const char *dir);
bool restore_is_inside(const struct restore *r, size_t i, int root, const char *dir);
int since_load(struct restore *r) MUST_USE;
/* Finds the current path of each change: of the chosen ones, or of all. */
int restore_look_back(struct restore *r, bool chosen, struct err *err) MUST_USE;
/* Restores everything chosen, in the new step. */
int restore_all(struct restore *r, const char *const *paths, struct err *err) MUST_USE;

/*
 * (restore_moment.c) p->expected is what the object at its path is like, and has to be until it is
 * taken away: else -RESTORE_EDITED. What was not checked may be anything.
 */
#define RESTORE_EDITED 4099 /* no errno: -ESTALE for whoever asked for the restore */
void restore_expect(struct piece *p, const struct obj *now);
bool restore_expects(const struct restore *r, int root, char *path, const struct obj *o);
int restore_say_edited(const char *path, struct err *err); /* -ESTALE */
/* Before the new step is committed: 0, or -ESTALE. */
int restore_taken(const struct restore *r, struct err *err) MUST_USE;

/* Each does one change of the list; negative errno. */
int bring_text(struct restore *r, size_t i, struct span text) MUST_USE; /* these bytes */
int bring_out(struct restore *r, size_t i) MUST_USE;	 /* a source gets a name for the way */
int bring_back(struct restore *r, size_t i) MUST_USE;	 /* and its old name */
int bring_object(struct restore *r, size_t i) MUST_USE;	 /* content; directories are only made */
int bring_attrs(struct restore *r, size_t i) MUST_USE;	 /* a directory's metadata */
int bring_parents(struct restore *r) MUST_USE;		 /* of those above, all but times */
int bring_nothing(struct restore *r, size_t i) MUST_USE; /* what the step made goes */
/* Times of a directory whose entries the step changed; path as the step began, rec of the step. */
int bring_times(struct restore *r, int root, const char *path, const struct rec *rec) MUST_USE;
