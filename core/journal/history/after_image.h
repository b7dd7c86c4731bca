/* after_image - what paths looked like when a step ended: one file for each step, read path by
 * path. */
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
	POST_FOREIGN = 1,  /* what lies there is somebody else's work: always a conflict */
	POST_RETURNS = 2,  /* the way back brings such work back, whatever lies there now */
	POST_SHARED = 4,   /* a newer step came back with this one: that is what lies there */
	POST_PASSING = 8,  /* no record of the step is about the path itself (any more) */
	POST_CARRIED = 16, /* another step moved it there: what was found here is not known */
};

struct post {
	const char *key, *path; /* borrowed */
	int root;
	struct obj obj; /* nlink and blocks are not kept */
	uint64_t hash;
	unsigned flags; /* POST_* */
	uint64_t image; /* where its bytes are in the file, or 0 */
	uint64_t seq;	/* of the file it came from */
	int64_t id;	/* the step; 0: one whose redo is gone */
	bool kept;	/* the step is not undone */
	bool earlier;	/* from before newer steps that came back with this one changed the file */
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
};

/* Look at every path now and write it as the step's post-image: those of how->step, then keys. */
int post_write(struct journal *j, int stepdir, const struct names *keys, const struct post_how *how)
	MUST_USE;

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
 * (original_after_image.c) The images of a step that goes are kept, as "left": one that comes back
 * with newer steps has no others of what it left itself. Where a human's work is kept, replaced or
 * merged on the way that is not what it leaves any more.
 */
int left_keep(int stepdir) MUST_USE;
int left_drop(int stepdir) MUST_USE;
/* What the group's steps left at each path. */
int left_load(struct journal *j, const struct group *dirs, struct posts *ret) MUST_USE;
/* Is it not that any more, though it looks like the newest image? */
bool left_differs(struct journal *j, const struct post *left, const struct post *newest);

/* The newest image of each file, under whatever name. */
struct inode_image;
void inodes_take(struct inode_image **set, const struct post *p);
void inodes_done(struct inode_image *set);
/* 0: there is none; else the number of the file it came from. */
uint64_t inodes_find(const struct inode_image *set, uint64_t ino, struct obj *ret);
/* Has the path changed since? */
bool post_differs(struct journal *j, const struct post *p, const struct inode_image *inodes);
