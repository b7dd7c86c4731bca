/* restore_later - finds the changes of later steps to the paths of a restore. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/edits.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/store/store.h"

/*
 * A restore reverts later steps' changes without asking, as it captures the state that it replaces.
 * Only external edits need the user's decision. So each later step must have found the path as the
 * step before had left it, and the present state must be the last step's after-state.
 *
 * An external edit while a step ran is part of that step's after-state, so no comparison shows it:
 * its barrier does. An edit after the step is seen by comparing. If a barrier names only some of
 * its paths, its time alone decides.
 */
#define NOTICED_LATE_US (2 * 1000 * 1000) /* a barrier may be noted this long after the edit */

static struct since *since_of(struct restore *r, int root, char *path)
{
	const struct change *own = restore_find(r, root, path);

	return own ? &r->pieces[own - r->list].since : NULL;
}

static void follow(struct since *s, const struct change_side *found, const struct change_side *left)
{
	s->later = true;
	s->broken |= !change_sides_equal(&s->left, found);
	s->left = *left;
}

/* A later step renamed a directory. No object is left below its old path; each went as it was. The
 * states below its new path are unknown to this step. */
static void take_below(struct restore *r, const struct change *c)
{
	static const struct change_side none;

	for (size_t i = restore_below(r, c->root, c->old_path);
	     restore_is_inside(r, i, c->root, c->old_path); i++)
		follow(&r->pieces[i].since, &r->pieces[i].since.left, &none);
	for (size_t i = restore_below(r, c->root, c->path);
	     restore_is_inside(r, i, c->root, c->path); i++)
		r->pieces[i].since.broken = true;
}

static void take(void *data, const struct summary *head, const struct change *c)
{
	static const struct change_side none;
	struct restore *r = data;
	struct since *to = since_of(r, c->root, c->path);
	struct since *from = c->old_path ? since_of(r, c->root, c->old_path) : NULL;

	(void)head;
	if (c->old_path && S_ISDIR(c->after.mode))
		take_below(r, c);
	if (from)
		follow(from, &c->before, &none);
	if (to)
		follow(to, c->old_path ? &none : &c->before, &c->after);
}

/* Marks all paths: the later step's changes are unknown, in whole or in part. */
static void break_all(struct restore *r)
{
	for (size_t i = 0; i < r->n; i++)
		r->pieces[i].since.broken = true;
}

static void mark_outside(struct since *s, bool within)
{
	s->broken = s->outside = true;
	s->within |= within;
}

/* Reads the step's after-image: it shows edits without a barrier, in a repository outside the
 * folder. A damaged image shows none. */
static void read_image(struct restore *r, int dir, bool within)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {0};
	struct after_image p;

	if (after_image_begin(&reader, dir, "post") < 0)
		return;
	while (after_image_next(&reader, &p) > 0) {
		AUTO_FREE char *path = xstrdup(p.path);
		struct since *s = p.flags & IMAGE_FOREIGN ? since_of(r, p.root, path) : NULL;

		if (s)
			mark_outside(s, within);
	}
}

static int read_step(struct restore *r, const char *name)
{
	AUTO_FREE char *dir = xasprintf("steps/%s", name);
	AUTO_CLOSE int fd = store_open_dir(r->j, dir);
	AUTO_SUMMARY struct summary head = {0};
	int e;

	if (fd == -ENOENT) /* it was pruned after the listing */
		break_all(r);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	e = summary_read(fd, &head, take, r);
	if (e < 0 || head.partial)
		break_all(r);
	read_image(r, fd, false);
	return history_step_is_damaged(e) ? 0 : e;
}

/* ---- edits from outside -----------------------------------------------------------------------
 */

/* Returns the time at which the step ended; far in the future if that is unknown. */
static int64_t end_of(const struct restore *r, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);
	AUTO_CLOSE int fd = store_open_dir(r->j, dir);
	AUTO_SUMMARY struct summary head = {0};
	int64_t end = INT64_MAX - NOTICED_LATE_US;

	if (fd >= 0 && summary_load(fd, false, &head) == 0)
		end = head.info.ended_us;
	return end;
}

static void take_barrier(struct restore *r, struct barrier *b, int64_t own_end)
{
	bool within = b->first_us <= own_end + NOTICED_LATE_US;

	if (b->first_us > end_of(r, b->after) + NOTICED_LATE_US)
		return;
	for (size_t i = 0; b->count > b->n_paths && i < r->n; i++)
		mark_outside(&r->pieces[i].since, within);
	for (size_t i = 0; i < b->n_paths; i++) {
		struct since *s = since_of(r, 0, b->paths[i]);

		if (s)
			mark_outside(s, within);
	}
}

static int take_barriers(struct restore *r)
{
	const int64_t own_end = end_of(r, r->id);
	struct barrier *list = NULL;
	struct err ignored = {0};
	size_t n = 0;
	int e = journal_barriers(r->j, &list, &n, &ignored);

	for (size_t i = 0; e == 0 && i < n; i++)
		if (llabs(list[i].after) >= llabs(r->id))
			take_barrier(r, &list[i], own_end);
	barrier_free(list, n);
	return e;
}

static void read_own_image(struct restore *r)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, r->id);
	AUTO_CLOSE int fd = store_open_dir(r->j, dir);

	if (fd >= 0)
		read_image(r, fd, true);
}

int restore_load_later(struct restore *r)
{
	AUTO_NAMES struct names names = {0};
	int e = store_names(r->j, "steps", &names);

	for (size_t i = 0; i < r->n; i++)
		r->pieces[i].since.left = r->list[i].after;
	read_own_image(r);
	for (size_t i = 0; e == 0 && i < names.n; i++)
		if (llabs(atoll(names.list[i])) > llabs(r->id))
			e = read_step(r, names.list[i]);
	return e < 0 ? e : take_barriers(r);
}
