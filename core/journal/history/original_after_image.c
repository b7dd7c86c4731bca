/* original_after_image - after-states of undone steps that newer steps may have replaced. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"

/*
 * A step's after-images are written at its commit, and again when it is undone or redone. An image
 * shows the step's own after-state, unless newer steps were redone with it: then it shows their
 * after-state, and the step's own is in the older file, if that exists.
 */

int original_image_keep(int stepdir)
{
	int r = linkat(stepdir, "post", stepdir, "left", 0) < 0 ? -errno : 0;

	if (r == -EPERM || r == -EOPNOTSUPP) /* a file system without hard links */
		return 0;
	return r == -EEXIST || r == -ENOENT ? 0 : r;
}

int original_image_drop(int stepdir)
{
	int r = unlinkat(stepdir, "left", 0) < 0 ? -errno : 0;

	return r == -ENOENT ? 0 : r;
}

static int take_all(int stepdir, struct after_images *ret)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, stepdir, "post");

	if (r == -ENOENT)
		return 0; /* there are no images */
	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0) {
		struct after_image have = {0};

		after_images_find(ret, p.key, &have);
		after_images_take(ret, &p);
		/* An external edit in any step's image counts: an undo of newer steps shows it. */
		after_images_mark(ret, p.key, (have.flags | p.flags) & IMAGE_FOREIGN);
	}
	return r;
}

int original_images_load(struct journal *j, const struct names *dirs, struct after_images *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(j, dirs->list[i]);

		r = fd < 0 ? fd : take_all(fd, ret);
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

static bool differs_behind(struct journal *j, struct reach *w, const struct after_image *left,
			   const struct after_image *newest)
{
	struct change_side was, is;
	bool known, same;
	struct spot at;
	struct object o;

	if (reach_look(j, w, left->root, left->path, &at, &o) < 0)
		return true;
	if (o.mode == OBJECT_UNSEEN)
		return false;
	change_side_set(&was, &left->obj);
	change_side_set(&is, &o);
	/* The newest image has the hash of the present file. */
	known = S_ISREG(o.mode) && left->hash && newest->hash && newest->obj.ino == o.ino &&
		newest->obj.ctime_ns == o.ctime_ns;
	same = left->hash == newest->hash;
	/* Each rollback gives a new time to another user's file. */
	if (known && same && o.size <= CONTENT_HASH_MAX && o.uid != geteuid())
		was.mtime_ns = is.mtime_ns;
	/* A program may have set the times back. */
	return !change_sides_equal(&was, &is) || (known && !same);
}

bool original_image_differs(struct journal *j, const struct after_image *left,
			    const struct after_image *newest)
{
	struct reach reach = {0};
	bool differs;

	if (left->obj.mode == OBJECT_UNSEEN)
		return false;
	differs = differs_behind(j, &reach, left, newest);
	reach_close(j, &reach);
	return differs;
}
