/* renamed_by_others - changes of a step to files that concurrent steps renamed before it ended. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/journal/history/newest_toucher.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * A step calls what it touches by the names of then. Another one that runs at the same time may
 * move a directory above them: by those names nothing is there any more when the first step ends,
 * and where it lies now no record of either speaks of it. Without an image by that name a later
 * change there would be nobody's.
 */

/* Kept, and not over before the step began. */
static int add_kept(const struct step *s, const char *dir, uint64_t began, struct moves *ret)
{
	AUTO_CLOSE int fd = store_open_dir(s->j, dir);
	struct wal log = WAL_NONE;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it had to go since it was listed */
	if (overlap_ended(fd) < began)
		return 0;
	r = log_look(s->j, &log, fd, "undo");
	if (r == 0)
		moves_add(ret, &log);
	wal_close(&log);
	return step_is_damaged(r) ? 0 : r;
}

static int add_others(const struct step *s, struct moves *ret)
{
	uint64_t began = overlap_began(&s->side.log);
	char **names = NULL;
	size_t n = 0;
	int r = store_names(s->j, "steps", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);

		r = add_kept(s, dir, began, ret);
	}
	store_names_free(names, n);
	for (const struct step *p = s->j->open; r == 0 && p; p = p->next)
		if (p->made)
			moves_add(ret, &p->side.log);
	return r;
}

static void add_name(const struct moves *all, uint64_t seq, int root, const char *path,
		     struct names *ret)
{
	AUTO_FREE char *now = NULL;

	if (!*path || !moves_touch(all, root, path))
		return;
	now = xstrdup(path);
	if (moves_follow(all, seq, &root, &now))
		names_add(ret, root, now);
}

int post_moved_on(const struct step *s, struct names *ret)
{
	struct moves all = {0};
	struct rec rec;
	size_t at = 0;
	int r = s->carried ? add_others(s, &all) : 0;

	moves_sort(&all);
	while (r == 0 && all.n && wal_next(&s->side.log, &at, &rec)) {
		if (rec_is_quiet(rec.type))
			continue;
		add_name(&all, rec.seq, rec.root, rec.path, ret);
		add_name(&all, rec.seq, rec.root2, rec.path2, ret);
	}
	moves_done(&all);
	return r;
}
