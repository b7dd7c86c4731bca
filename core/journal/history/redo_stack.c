/* redo_stack - removes undone steps that can no longer be redone. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/history/redo_stack.h"
#include "core/journal/history/saved_redo.h"
#include "core/journal/store/store.h"

/* Keeps the step's after-image: it may be the only one with the present state of its paths. */
static int keep_after_image(struct journal *j, const char *dir)
{
	AUTO_FREE char *post = xasprintf("%s/post", dir);
	AUTO_FREE char *kept = xasprintf("posts/%" PRIu64, store_seq(j));

	if (linkat(j->store, post, j->store, kept, 0) < 0 && errno != ENOENT &&
	    renameat(j->store, post, j->store, kept) < 0)
		return -errno;
	return 0;
}

int redo_drop_undone(struct journal *j, const char *dir)
{
	int r = keep_after_image(j, dir);

	if (r < 0)
		return r;
	return saved_redo_is_marked(j, dir) ? saved_redo_take(j, dir) : store_trash(j, dir);
}

int redo_drop_all(struct journal *j)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "redo", &names);

	for (size_t i = names.n; r == 0 && i-- > 0;) {
		AUTO_FREE char *dir = xasprintf("redo/%s", names.list[i]);

		r = redo_drop_undone(j, dir);
	}
	return r;
}
