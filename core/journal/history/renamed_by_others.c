/* renamed_by_others - current names of the paths that concurrent steps renamed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/journal/history/concurrent.h"
#include "core/journal/history/list.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/renamed_by_others.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * A step's records have the names at the time of each change. A concurrent step may rename a
 * directory above: then the recorded paths no longer exist when the first step ends, and no record
 * of either step has the new paths. Without an after-image under the new path, a later change there
 * would belong to no step.
 */

/* Adds the renames of a kept step, unless it ended before this one began. */
static int add_kept(const struct step *s, const char *dir, uint64_t began, struct renames *ret)
{
	AUTO_CLOSE int fd = store_open_dir(s->j, dir);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* pruned meanwhile */
	if (concurrent_ended(fd) < began)
		return 0;
	r = log_look(s->j, &log, fd, "undo");
	if (r == 0)
		renames_add(ret, &log);
	return history_step_is_damaged(r) ? 0 : r;
}

static int add_others(const struct step *s, struct renames *ret)
{
	uint64_t began = concurrent_began(&s->side.log);
	AUTO_NAMES struct names names = {0};
	int r = store_names(s->j, "steps", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names.list[i]);

		r = add_kept(s, dir, began, ret);
	}
	for (const struct step *p = s->j->open; r == 0 && p; p = p->next)
		if (p->made)
			renames_add(ret, &p->side.log);
	return r;
}

static void add_name(const struct renames *all, uint64_t seq, int root, const char *path,
		     struct path_set *ret)
{
	AUTO_FREE char *now = NULL;

	if (!*path || !renames_touch(all, root, path))
		return;
	now = xstrdup(path);
	if (renames_follow(all, seq, &root, &now))
		path_set_add(ret, root, now);
}

int renamed_by_others(const struct step *s, struct path_set *ret)
{
	struct renames all = {0};
	struct rec rec;
	size_t at = 0;
	int r = s->carried ? add_others(s, &all) : 0;

	renames_sort(&all);
	while (r == 0 && all.n && undo_log_next(&s->side.log, &at, &rec)) {
		if (rec_is_quiet(rec.type))
			continue;
		add_name(&all, rec.seq, rec.root, rec.path, ret);
		add_name(&all, rec.seq, rec.root2, rec.path2, ret);
	}
	renames_done(&all);
	return r;
}
