/* original_after_image - after-states of undone steps that newer steps may have replaced. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/history/after_image.h"
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

bool original_image_differs(struct journal *j, int64_t id, const char *key)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {.in = CHUNKED_IN_NONE};
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct after_image p;

	if (fd < 0 || after_image_begin(&reader, fd, "left") < 0)
		return true;
	while (after_image_next(&reader, &p) > 0)
		if (str_eq(p.key, key))
			return after_image_differs(j, &p);
	return true;
}
