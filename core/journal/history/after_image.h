/* after_image - writes the after-image of a step: the state of each path at its end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/path_set.h"

struct journal;
struct step;
struct change_side;
struct names;

enum {
	IMAGE_FOREIGN = 1,  /* the object at the path is an external edit: always a conflict */
	IMAGE_RETURNS = 2,  /* undoing this step restores an external edit at this path */
	IMAGE_SHARED = 4,   /* taken after a redo of several: shows what a newer step left */
	IMAGE_PASSING = 8,  /* the step has no record for this path */
	IMAGE_CARRIED = 16, /* a concurrent step moved it there: the before-state is unknown */
};

struct after_image {
	const char *key, *path; /* borrowed */
	int root;
	struct object obj; /* nlink and blocks are not stored */
	uint64_t hash;	   /* of bytes and attributes, of a git index without what git refreshes */
	unsigned flags;	   /* IMAGE_* */
	uint64_t image;	   /* offset of its bytes in the file, or 0 */
	uint64_t seq;	   /* number of the file that it was read from */
	int64_t id;	   /* the step; 0: a step whose redo was dropped */
	bool kept;	   /* the step is committed and not undone */
	bool earlier;	   /* written by an older version after a redo: the step's own image */
};

struct after_image_how {
	struct step *step; /* at its commit: its paths were just read; or NULL */
	bool locked;	   /* some of its paths may lie in a directory without search permission */
	/* New images after a rollback: paths with an external edit; paths where undoing the step
	 * restores one. */
	const struct path_set *foreign, *returns;
	/* paths that the way back removes: their bytes are not stored */
	const struct path_set *absent;
	const struct path_set *shared; /* touched by newer steps that were redone, too */
	const struct path_set *passing;
	const struct path_set *carried; /* moved there by a concurrent step */
	const struct after_images *old;
	/* A file that differs from its note in placed.h is an external edit: its path is added to
	 * `edited` (or NULL). The first n_own keys, and the paths of how->step, are the rollback's
	 * own work. */
	size_t n_own;
	struct path_set *edited;
};

/* Writes the step's after-image file: the present state of each path of how->step, then of keys. */
int after_image_write(struct journal *j, int stepdir, const struct path_set *keys,
		      const struct after_image_how *how) MUST_USE;

/* Life: after_image_begin() -> after_image_next() ... -> after_image_end(), even if the first
 * fails. */
struct after_image_reader {
	struct chunked_in in;
	uint64_t seq;
	uint32_t left;	 /* paths */
	uint64_t at;	 /* offset of the next image */
	uint64_t images; /* offset of the stored bytes in the file */
};
#define AUTO_IMAGE_READER CLEANUP(after_image_end)
int after_image_begin(struct after_image_reader *r, int dir, const char *name) MUST_USE;
/* Returns 1, or 0 at the end. */
int after_image_next(struct after_image_reader *r, struct after_image *ret) MUST_USE;
void after_image_end(struct after_image_reader *r);

/* Reads the bytes that a small text file had when the after-image was written. -ENOENT: not
 * stored. */
int after_image_bytes(int stepdir, int root, const char *path, const struct change_side *want,
		      struct buf *ret) MUST_USE;
uint64_t after_image_peek_seq(int dirfd, const char *name); /* 0: none */

/* The newest image of each path. Life: a zeroed struct is empty -> after_images_done(). */
struct after_images {
	struct path_set keys; /* number i: that of list[i] */
	struct after_image_kept *list;
	size_t cap;
};
static inline size_t after_images_count(const struct after_images *t)
{
	return path_set_count(&t->keys);
}
/* Adds an image, unless the set has a newer one of the path. */
void after_images_take(struct after_images *t, const struct after_image *p);
void after_images_mark(struct after_images *t, const char *key, unsigned flags); /* adds flags */
void after_images_get(const struct after_images *t, size_t i, struct after_image *ret);
bool after_images_find(const struct after_images *t, const char *key, struct after_image *ret);
void after_images_done(struct after_images *t);

/*
 * Calls fn for every image of every step, or only for those in files with these numbers (up to a
 * 0). A negative result of fn ends it. Skips damaged files, unless they belong to a step of group
 * (or NULL): then older images are used, and more paths count as changed.
 */
int after_image_each(struct journal *j, const struct names *group, const uint64_t *files,
		     int (*fn)(void *data, const struct after_image *p), void *data) MUST_USE;
int after_images_load(struct journal *j, struct after_images *ret) MUST_USE;
/*
 * (original_after_image.c) When a step is undone, its after-image file is kept as "left". A redo of
 * several steps writes new images, which show only the state that the newest of them left; "left"
 * still has each step's own.
 */
int original_image_keep(int stepdir) MUST_USE;
/* Returns whether the path has changed after the kept step ended, or there is no such image. */
bool original_image_differs(struct journal *j, int64_t id, const char *key);
/* Loads the states that the given steps left at each path, from those files. */
int original_images_load(struct journal *j, const struct names *dirs, struct after_images *ret)
	MUST_USE;
/*
 * The states of inodes that any images show, under any name. An inode with the ctime of an image
 * has not been changed after that image, so its content is known without reading it. Life: a zeroed
 * struct is empty -> image_stamps_load() -> image_stamps_done(), even if that fails.
 */
struct image_stamp {
	uint64_t hash; /* or 0 */
	uint64_t seq; /* of the newest image of a kept step that shows the step's own state; or 0 */
};
struct image_stamps {
	struct kept_stamp *list; /* hash */
};
int image_stamps_load(struct journal *j, struct image_stamps *ret) MUST_USE;
const struct image_stamp *image_stamps_find(const struct image_stamps *all,
					    const struct object *o); /* or NULL */
void image_stamps_done(struct image_stamps *all);
/* Returns whether the object has the image's state: a new ctime alone is no edit. */
bool after_image_fits(const struct after_image *p, const struct spot *at, const struct object *o);
struct captured_object {
	struct spot at;	  /* where the object lies, if it is no file */
	int fd;		  /* the bytes of a file */
	struct span meta; /* the attributes; empty: those of the object */
};
/* The same of a state that was captured, for an image with a hash. */
bool after_image_fits_capture(const struct after_image *p, const struct change_side *is,
			      const struct captured_object *as);
int after_image_open(const struct spot *at) MUST_USE; /* for reading, without a new atime */
/* Returns whether the path has changed after the image. */
bool after_image_differs(struct journal *j, const struct after_image *p);
