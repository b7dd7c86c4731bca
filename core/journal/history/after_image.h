/* after_image - writes the after-image of a step: the state of each path at its end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/path_set.h"

struct journal;
struct step;
struct change_side;
struct group;

enum {
	POST_FOREIGN = 1,  /* the object at the path is an external edit: always a conflict */
	POST_RETURNS = 2,  /* undoing this step restores an external edit at this path */
	POST_SHARED = 4,   /* taken after a redo of several: shows what a newer step left */
	POST_PASSING = 8,  /* the step has no record for this path */
	POST_CARRIED = 16, /* a concurrent step moved it there: the before-state is unknown */
};

struct post {
	const char *key, *path; /* borrowed */
	int root;
	struct obj obj; /* nlink and blocks are not kept */
	uint64_t hash;	/* of bytes and attributes; of a git index as post_index_hash() */
	unsigned flags; /* POST_* */
	uint64_t image; /* where its bytes are in the file, or 0 */
	uint64_t seq;	/* of the file it came from */
	int64_t id;	/* the step; 0: one whose redo is gone */
	bool kept;	/* the step is committed and not undone */
	bool earlier;	/* newer steps that were redone with this one changed the file after it */
};

struct post_how {
	struct step *step; /* at its commit: its paths were looked at, a moment ago; or NULL */
	bool locked;	   /* and lie in a locked directory, perhaps */
	/* Renewed: whose paths are foreign, or will be; and what was there, for the former. */
	const struct names *foreign, *returns;
	const struct names *absent; /* what was not there: the way back takes it away */
	const struct names *shared; /* with newer steps that came back as well */
	const struct names *passing;
	const struct names *carried; /* there by another step that ran at the same time */
	const struct posts *old;
	const struct posts *left; /* what the step had left there: it does so again */
	/* What is not as placed.h has it is foreign and goes into `edited`, or that is NULL. The
	 * first so many keys, and the paths of how->step, are the rollback's own work. */
	size_t n_own;
	struct names *edited;
};

/* Look at every path now and write it as the step's post-image: those of how->step, then keys. */
int post_write(struct journal *j, int stepdir, const struct names *keys, const struct post_how *how)
	MUST_USE;

/* Of a file that is a git index: what it says, and its attributes. 0: it is none. */
uint64_t post_index_hash(int fd, size_t size);

/* Life: post_begin() -> post_next() ... -> post_end(), whatever came of the first. */
struct post_reader {
	struct in in;
	uint64_t seq;
	uint32_t left;	 /* paths */
	uint64_t at;	 /* how far it was read */
	uint64_t images; /* where they begin in the file */
};
#define AUTO_POST_READER CLEANUP(post_end)
int post_begin(struct post_reader *r, int dir, const char *name) MUST_USE;
int post_next(struct post_reader *r, struct post *ret) MUST_USE; /* 1; 0: that was all */
void post_end(struct post_reader *r);

/* The bytes that a small text file had when the step's post-image was written. -ENOENT: not kept.
 */
int post_image(int stepdir, int root, const char *path, const struct change_side *want,
	       struct buf *ret) MUST_USE;
uint64_t post_peek_seq(int dirfd, const char *name); /* 0: none */

/* The newest image of each path. Life: a zeroed struct is empty -> posts_done(). */
struct posts {
	struct names keys; /* number i: that of list[i] */
	struct post_kept *list;
	size_t cap;
};
static inline size_t posts_count(const struct posts *t)
{
	return names_count(&t->keys);
}
void posts_take(struct posts *t, const struct post *p);		   /* unless it has a newer one */
void posts_mark(struct posts *t, const char *key, unsigned flags); /* these as well */
void posts_get(const struct posts *t, size_t i, struct post *ret);
bool posts_find(const struct posts *t, const char *key, struct post *ret);
void posts_done(struct posts *t);

/*
 * Every image of every step, or only those in files of these numbers (up to a 0); fn's negative
 * result ends it. Files that are damaged are left out, unless they are those of the group (or
 * NULL): older images then stand for theirs, and more counts as changed since.
 */
int post_each(struct journal *j, const struct group *group, const uint64_t *files,
	      int (*fn)(void *data, const struct post *p), void *data) MUST_USE;
/* The newest number of those of steps that are not kept; 0: there is none. */
int post_undone(struct journal *j, uint64_t *ret) MUST_USE;
int post_load_all(struct journal *j, struct posts *ret) MUST_USE;
/*
 * (original_after_image.c) When a step is undone, its after-image file is kept as "left". A redo of
 * several steps writes new images, which show only the state that the newest of them left; "left"
 * still has each step's own. It is deleted when the rollback keeps, replaces or merges an external
 * edit, because the step's own state is then no longer restored.
 */
int left_keep(int stepdir) MUST_USE;
int left_drop(int stepdir) MUST_USE;
/* The state that the group's steps left at each path, from those files. */
int left_load(struct journal *j, const struct group *dirs, struct posts *ret) MUST_USE;
/* Does the path differ from `left`, although it equals the newest image? */
bool left_differs(struct journal *j, const struct post *left, const struct post *newest);

/* The newest image of each inode, under any of its names. */
struct inode_image;
void inodes_take(struct inode_image **set, const struct post *p);
void inodes_done(struct inode_image *set);
/* 0: there is none; else the number of the file it came from. */
uint64_t inodes_find(const struct inode_image *set, uint64_t ino, struct obj *ret);
/* Has the path changed since? */
bool post_differs(struct journal *j, const struct post *p, const struct inode_image *inodes);
