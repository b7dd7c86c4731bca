/* plan_load - loads the data of a plan: logs, net effects, after-images. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

static int load_log(struct planner *p, const char *dir, struct undo_log *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	int r;

	if (fd < 0)
		return fd;
	r = log_look(p->j, log, fd, p->redo ? "redo" : "undo");
	if (r == 0 && !txn_knows_roots(p->j, log))
		r = -EBADMSG;
	if (r == 0)
		renames_add(&p->moves, log);
	return r < 0 ? history_step_unread(p->err, r, strchr(dir, '/') + 1) : 0;
}

static void find_places(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct rec rec;

	while (undo_log_walk(p->logs, p->dirs->n, &at, &rec)) {
		struct path_set *to = rec.flags & REC_SKIPPED ? &p->idle : &p->places;

		if (rec_is_quiet(rec.type))
			continue;
		renames_add_now(&p->moves, rec.seq, rec.root, rec.path, to);
		if (rec.path2[0])
			renames_add_now(&p->moves, rec.seq, rec.root2, rec.path2, to);
	}
}

static int load_logs(struct planner *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_log(p, p->dirs->list[i], &p->logs[i]);
	if (r < 0)
		return r;
	renames_sort(&p->moves);
	find_places(p);
	return 0;
}

static void take_change(void *data, const struct summary *s, const struct change *c)
{
	struct planner *p = data;

	net_effects_add(&p->fates, c);
	if (!s->info.unprotected || p->redo) /* the redo log has all that the undo replaced */
		return;
	/* Changed without a record: a rollback leaves it as it is. */
	if (!path_set_has(&p->places, c->root, c->path))
		path_set_add(&p->lost, c->root, c->path);
	if (c->old_path && !path_set_has(&p->places, c->root, c->old_path))
		path_set_add(&p->lost, c->root, c->old_path);
}

static int load_effects(struct planner *p)
{
	int r = 0;

	p->plan->ids = xcalloc(p->dirs->n, sizeof(*p->plan->ids));
	for (size_t i = 0; r == 0 && i < p->dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->list[i]);
		AUTO_SUMMARY struct summary s = {0};

		r = fd < 0 ? fd : summary_read(fd, &s, take_change, p);
		if (r < 0)
			return history_step_unread(p->err, r, strchr(p->dirs->list[i], '/') + 1);
		p->plan->ids[p->plan->n_ids++] = s.info.id;
		if (s.info.unprotected && !p->redo)
			path_set_add(&p->lost, 0, s.info.unprotected);
	}
	return r;
}

int plan_read(struct planner *p)
{
	int r = load_logs(p);

	if (p->open)
		return r;
	if (r == 0 && !p->redo)
		r = concurrent_find(p->j, p->dirs, p->logs, &p->overlaps, p->err);
	if (r == 0)
		r = load_effects(p);
	return r == 0 ? plan_compare(p) : r;
}

void plan_forget(struct planner *p)
{
	net_effects_done(&p->fates);
	path_set_done(&p->edited);
	path_set_done(&p->moved_edits);
	path_set_done(&p->named);
	path_set_done(&p->places);
	path_set_done(&p->lost);
	path_set_done(&p->idle);
	path_set_done(&p->overlaps);
	path_set_done(&p->linked);
	for (size_t i = 0; i < p->dirs->n; i++)
		undo_log_close(&p->logs[i]);
	free(p->logs);
	renames_done(&p->moves);
}
