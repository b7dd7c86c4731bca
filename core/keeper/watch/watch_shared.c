/* watch_shared - judges, collects and reports external edits, for every kind of watcher. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/watch_shared.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/ignored.h"
#include "core/keeper/watch/watch.h"

#define SETTLE_US 250000 /* the events of one save come together */

int64_t watch_wall_ns(void)
{
	return clock_wall_us() * 1000;
}

static void note_edit(struct keeper *k, struct folder *f, const char *path, bool made)
{
	struct watch *w = k->watch;

	for (size_t i = 0; i < w->n_edits; i++) {
		if (w->edits[i].folder != f)
			continue;
		if (!w->settle_at)
			w->settle_at = k->now + SETTLE_US;
		edits_note(&w->edits[i], path, made);
	}
}

void watch_note_filled(const struct watch *w, const struct folder *f, const char *path, bool is_dir)
{
	for (size_t i = 0; i < w->n_edits; i++)
		if (w->edits[i].folder == f)
			filled_note(&w->filled[i], path, is_dir);
}

/* Hides a secret file that an external program created during the session. Processes inside cannot
 * make such a file. */
void watch_cover(struct keeper *k, const struct folder *f, const char *path)
{
	AUTO_FREE char *whole = path_join(f->path, path);
	const char *why;

	if (k->policy && policy_check_read(k->policy, RULE_READ, whole, &why) != POLICY_ALLOW)
		doors_cover(k, whole);
}

bool watch_judge(struct keeper *k, struct folder *f, const char *path, enum seen_what what,
		 bool made)
{
	struct watch *w = k->watch;

	/* For a path that a running step changed as well, the last writer is noted in any case. */
	if (!journal_is_foreign(f->journal, path, what, w->looked_ns - WATCH_SLACK_NS))
		return false;
	if (made)
		watch_cover(k, f, path);
	if (!ignored_has(k->spec->ignored, path))
		note_edit(k, f, path, made);
	return true;
}

static void rescan_found(void *data, const char *path)
{
	const struct edits *in = data;

	if (ignored_has(in->folder->keeper->spec->ignored, path))
		return;
	note_edit(in->folder->keeper, in->folder, path, false);
}

/* After lost events: collects each path that differs from its state after the steps. */
void watch_rescan(struct keeper *k)
{
	struct watch *w = k->watch;

	for (size_t i = 0; i < w->n_edits; i++)
		if (journal_rescan(w->edits[i].folder->journal, rescan_found, &w->edits[i]) < 0)
			log_warn("keeper", "the history cannot be read");
}

/* Also called if nothing is watched: then no event is queued. */
void watch_all_seen(struct keeper *k)
{
	for (size_t i = 0; i < k->n_folders; i++)
		journal_all_seen(k->folders[i]->journal);
}

static void own(struct keeper *k, bool on)
{
	k->watch->owning = on;
	for (size_t i = 0; i < k->watch->n_edits; i++)
		journal_own(k->watch->edits[i].folder->journal, on);
}

bool watch_has_filled(const struct watch *w)
{
	for (size_t i = 0; i < w->n_edits; i++)
		if (path_set_count(&w->filled[i].paths))
			return true;
	return false;
}

/* Also called before a rollback, which could write to such a file through another hard link. The
 * edit itself is noted first, before the step with the copy. */
void watch_settle_filled(struct keeper *k)
{
	struct watch *w = k->watch;

	if (w->settling || !watch_has_filled(w))
		return;
	w->settling = true;
	own(k, true);
	for (size_t i = 0; i < w->n_edits; i++)
		filled_settle(k, &w->filled[i]);
	watch_drain(k);
	own(k, false);
	w->settling = false;
}

void watch_own_begin(struct keeper *k)
{
	if (!k->watch)
		return;
	watch_drain(k);
	watch_settle_filled(k);
	own(k, true);
}

void watch_own_end(struct keeper *k)
{
	if (!k->watch)
		return;
	watch_drain(k);
	own(k, false);
}

void watch_settle(struct keeper *k)
{
	struct watch *w = k->watch;

	if (!w)
		return;
	w->settle_at = 0;
	for (size_t i = 0; i < w->n_edits; i++)
		edits_settle(k, &w->edits[i]);
}

/* Returns how many of the keeper's folders are watched: all but repositories outside, which are the
 * last ones. Other sessions work there, too, so undo only compares. */
static size_t watch_folders(const struct keeper *k)
{
	size_t n = 0;

	while (n < k->n_folders && !k->folders[n]->root)
		n++;
	return n;
}

struct watch *watch_new(struct keeper *k, struct watcher *by)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	*w = (struct watch){.by = by, .looked_ns = watch_wall_ns(), .path = BUF_INIT};
	w->n_edits = watch_folders(k);
	w->edits = xcalloc(w->n_edits + 1, sizeof(*w->edits));
	w->filled = xcalloc(w->n_edits + 1, sizeof(*w->filled));
	for (size_t i = 0; i < w->n_edits; i++) {
		w->edits[i].folder = k->folders[i];
		w->filled[i].edits = &w->edits[i];
	}
	return w;
}

void watch_free(struct watch *w)
{
	for (size_t i = 0; i < w->n_edits; i++) {
		edits_clear(&w->edits[i]);
		path_set_done(&w->filled[i].paths);
	}
	free(w->edits);
	free(w->filled);
	buf_done(&w->path);
	free(w);
}

void watch_note_none(struct keeper *k, int code)
{
	keeper_note(k,
		    "edits from outside are not watched for (%s): an undo still compares every "
		    "path first",
		    strerror(code));
}
