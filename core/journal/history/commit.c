/* commit - commits a step, in each folder that it changed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/attribution.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/overwritten.h"
#include "core/journal/history/session_limits.h"
#include "core/journal/history/redo_stack.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/renamed_by_others.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/parts.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/steps.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/util/path_set.h"

struct ending { /* of one part */
	struct step *s;
	struct step_info info;
	struct nets nets;
	bool keep, lasting; /* lasting: some of its files are still being written */
};

static int write_after_image(struct step *s, bool locked)
{
	struct path_set moved = {0}, carried = {0}, edited = {0};
	struct renames moves = {0};
	int r;

	renames_add(&moves, &s->side.log);
	renames_sort(&moves);
	r = renames_add_images(s->j, &moves, &moved);
	if (r == 0)
		r = renamed_by_others(s, &carried);
	for (size_t i = 0; i < path_set_count(&carried); i++)
		path_set_add_key(&moved, path_set_key(&carried, i));
	if (r == 0)
		r = after_image_write(
			s->j, s->side.dir, &moved,
			&(struct after_image_how){.step = s,
						  .locked = locked,
						  .carried = &carried,
						  .edited = s->noted ? &edited : NULL});
	renames_done(&moves);
	path_set_done(&moved);
	path_set_done(&carried);
	path_set_done(&edited);
	return r;
}

static bool has_one_name(const struct step *s, const struct rec *r)
{
	struct object o;
	char slot[24];

	store_slot_name(slot, r->slot);
	return object_stat(s->side.obj, slot, &o) == 0 && o.mode && o.nlink == 1;
}

/* Returns the path of the record if another process made the file there during the step; or NULL.
 */
static struct touched_path *holds_others_file(struct step *s, const struct rec *r)
{
	AUTO_FREE char *key = path_key_make(r->root, r->path);
	struct touched_path *t = touched_paths_find(&s->touches, key);

	return t && !t->before && !t->foreseen && has_one_name(s, r) ? t : NULL;
}

/* Returns whether the log of a step without a net change holds another process's work: a file that
 * was made or edited from outside during the step, and that the step removed or overwrote. */
static bool holds_others_work(struct step *s)
{
	bool foreign = false;
	size_t at = 0;
	struct rec r;

	for (size_t i = 0; i < touched_paths_count(&s->touches) && !foreign; i++)
		foreign = s->touches.list[i].foreign;
	while (undo_log_next(&s->side.log, &at, &r)) {
		struct touched_path *t = NULL;

		if (rec_has_bytes(&r) && foreign)
			return true;
		if (r.type == REC_GONE)
			t = holds_others_file(s, &r);
		if (t)
			return t->foreign = true; /* an undo asks */
	}
	return false;
}

/* Finds the net changes of one part. */
static int ending_look(struct ending *e, struct step *s, int exit_status)
{
	int r = 0;

	*e = (struct ending){.s = s};
	store_forget_near(s->j);
	if (s->why) /* it changed nothing that was recorded; the mark must not be lost */
		r = step_make(s);
	if (r < 0 || !s->made)
		return r;
	e->info = (struct step_info){.id = s->id,
				     .kind = s->kind,
				     .began_us = s->began_us,
				     .ended_us = clock_wall_us(),
				     .exit_status = exit_status,
				     .incomplete = s->why,
				     .command = xstrdup(s->command),
				     .why = s->why ? xstrdup(s->why) : NULL,
				     .unprotected = s->bare ? xstrdup(s->bare) : NULL};
	attribution_find_unwatched(s);
	e->lasting = step_prune_writers(s);
	touched_paths_settle(&s->touches);
	r = nets_build(s->j, &s->touches, &s->known, false, &e->nets);
	nets_count(&e->nets, &e->info);
	concurrent_tangle(s);
	e->keep = e->nets.n || e->nets.unseen || e->lasting || s->why || s->tangled ||
		  holds_others_work(s);
	return r;
}

static int held_note(struct step *s)
{
	/* The log's own size is cut back to its tail after this. */
	struct held h = {.bytes = s->held + undo_log_tail(&s->side.log) +
				  store_weigh(s->side.dir, "summary") +
				  store_weigh(s->side.dir, "post")};

	for (size_t i = 0; i < s->n_clones; i++) {
		char name[24];

		store_slot_name(name, s->clones[i]);
		h.bytes += extents_unshared(s->side.obj, name);
	}
	h.slots = s->copies;
	h.n = s->n_copies;
	return usage_held_write(s->side.dir, &h);
}

/* A step without the record, because the disk is full, can be undone as well (plan_compare.c). */
static void note_end(struct step *s)
{
	struct rec end = {.type = REC_END, .path = "", .path2 = ""};

	if (store_seq_keep(s->j) < 0)
		return;
	end.seq = store_seq(s->j);
	if (undo_log_append(&s->side.log, &end) < 0)
		log_warn("journal", "no room for the end of step %" PRId64 " in its log", s->id);
}

static int ending_write(struct ending *e)
{
	int r;

	note_end(e->s);
	r = summary_write(e->s->j, e->s->side.dir, &e->info, false, &e->nets);
	/* With undo off, no later state is compared with the images. */
	if (r == 0 && !e->s->j->options.off)
		r = write_after_image(e->s, e->nets.locked);
	return r < 0 ? r : held_note(e->s);
}

static int move_step(struct journal *j, int64_t id, const char *from, const char *to)
{
	AUTO_FREE char *old = xasprintf("%s/%" PRId64, from, id);
	AUTO_FREE char *new = xasprintf("%s/%" PRId64, to, id);

	return renameat(j->store, old, j->store, new) < 0 ? -errno : 0;
}

/* Moves the parts that are kept to steps/. On an error, moves them back to open/. */
static int publish(struct ending *list, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		if (list[i].keep)
			r = move_step(list[i].s->j, list[i].s->id, "open", "steps");
	for (i -= r < 0; r < 0 && i-- > 0;)
		if (list[i].keep && move_step(list[i].s->j, list[i].s->id, "steps", "open") < 0)
			list[i].s->j->stuck = true;
	return r;
}

/* Writes the files that a kept part needs before its commit. */
static int endings_write(struct ending *list, size_t n)
{
	AUTO_BUF struct buf names = BUF_INIT;
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		const char *folder = list[i].s->j->folder;

		if (!list[i].keep)
			continue;
		buf_add(&names, folder, strlen(folder) + 1);
		kept++;
	}
	if (kept < 2)
		buf_clear(&names);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!list[i].keep)
			continue;
		r = ending_write(&list[i]);
		if (r == 0)
			r = parts_write(list[i].s, &names);
	}
	return r;
}

/* The parts are at their places: removes those without changes. */
static void endings_settle(struct ending *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct step *s = list[i].s;
		AUTO_FREE char *dir = xasprintf("open/%" PRId64, s->id);

		if (s->made && !list[i].keep && store_trash(s->j, dir) < 0)
			s->j->stuck = true;
	}
}

/* Returns whether the step is kept in that folder. */
static bool is_kept_in(const struct ending *list, size_t n, const struct journal *j)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].s->j == j)
			return list[i].keep;
	return false;
}

/* Drops all undone steps in all stores of the session. Stores that keep the new step come last: as
 * long as such a store has undone steps, the next start or redo finds the rest (redo_drop.c). */
static void end_redo(struct ending *list, size_t n)
{
	struct journal *first = list->s->j, *j = first;

	for (int last = 0; last < 2; last++)
		do {
			int r = 0;

			if (!j->stuck && is_kept_in(list, n, j) == last)
				do
					r = redo_drop_all(j);
				while (r < 0 && reserve_give(j, r));
			if (r < 0)
				log_warn("journal", "undone steps stay in '%s': %s", j->folder,
					 strerror(-r));
		} while ((j = j->sibling) != first);
}

/* Returns the number of changes, at least 1: a kept step may have only a mark or an open file. */
static int endings_changed(const struct ending *list, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].info.created + list[i].info.modified + list[i].info.deleted +
		       list[i].info.renamed;
	return (int)MIN(MAX(sum, (size_t)1), (size_t)INT_MAX);
}

/* Returns whether the step surely changed granted places alone: what an agent notes down is no new
 * work, and the undone steps can still be redone. */
static bool is_only_notes(const struct ending *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ending *e = &list[i];

		if (e->keep && (e->info.incomplete || e->info.unprotected || e->lasting ||
				e->nets.unseen || !nets_elsewhere(&e->nets, e->s->j)))
			return false;
	}
	return true;
}

/* Everything that can fail for want of space comes first; then one rename for each part. Returns 1
 * if the step is kept. */
static int endings_keep(struct ending *list, size_t n)
{
	bool keep = false;
	int r;

	for (size_t i = 0; i < n; i++)
		keep |= list[i].keep;
	r = keep ? endings_write(list, n) : 0;
	if (r == 0)
		r = publish(list, n);
	if (r < 0)
		return r;
	endings_settle(list, n);
	if (keep && !is_only_notes(list, n))
		end_redo(list, n);
	return keep;
}

/* Frees space of the reserves of all stores: which disk is full is unknown. */
static bool give_room(struct journal *j, int why)
{
	struct journal *k = j;
	bool given = false;

	do
		given |= reserve_give(k, why);
	while ((k = k->sibling) != j);
	return given;
}

static void ending_done(struct ending *e)
{
	nets_done(&e->nets);
	free(e->info.command);
	free(e->info.why);
	free(e->info.unprotected);
}

static void ending_clean(struct ending *e)
{
	struct journal *j = e->s->j;
	int64_t id = e->s->id;
	int r;

	if (e->keep)
		undo_log_trim(&e->s->side.log);
	step_drop(e->s);
	if (e->lasting)
		open_files_pass_on(j);
	r = e->keep ? prune_after_step(j, id) : 0;
	if (r < 0)
		log_warn("journal", "the oldest steps of '%s' stay: %s", j->folder, strerror(-r));
	if (!j->tidy)
		store_empty_trash(j, NULL);
}

static void tell_changes(const struct step *s, const struct ending *e)
{
	const struct journal *j = e->s->j;

	for (size_t i = 0; i < e->nets.n; i++) {
		struct change c;

		nets_get(&e->nets, i, &c);
		if (e->s != s || c.root > 0)
			c.base = j->roots[c.root].path;
		s->witness->change(s->witness_data, &c);
	}
}

static void tell_witness(const struct step *s, struct ending *list, size_t n)
{
	const char *name;

	if (!s->witness)
		return;
	s->witness->begin(s->witness_data);
	for (size_t i = 0; i < n; i++)
		tell_changes(s, &list[i]);
	name = s->witness->name(s->witness_data);
	for (size_t i = 0; i < n; i++) {
		list[i].info.granted = s->witness->granted(s->witness_data);
		if (!name || !list[i].info.command)
			continue;
		free(list[i].info.command);
		list[i].info.command = xstrdup(name);
	}
}

static void save_overwritten(const struct ending *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *dir = xasprintf("open/%" PRId64, list[i].s->id);

		if (list[i].s->noted_at)
			overwritten_save(list[i].s->j, dir);
	}
}

int journal_commit(struct step *s, int exit_status, struct err *err)
{
	struct ending list[PARTS_MAX];
	struct step *p = s;
	int64_t id = s->id;
	mode_t mask = umask(077);
	size_t n = 0;
	int r = 0;

	step_settle(s);
	do
		r = ending_look(&list[n++], p, exit_status);
	while (r == 0 && (p = p->part) != s);
	if (r == 0) {
		tell_witness(s, list, n);
		save_overwritten(list, n);
	}
	if (r == 0)
		do
			r = endings_keep(list, n);
		while (r < 0 && give_room(list->s->j, r));
	umask(mask);
	if (r > 0)
		r = endings_changed(list, n);
	for (size_t i = 0; i < n; i++) {
		struct journal *j = list[i].s->j;

		ending_done(&list[i]);
		if (r >= 0)
			ending_clean(&list[i]);
		reserve_refill(j);
	}
	if (r < 0) /* the step stays open; it may go on, and be committed later */
		return err_set(err, r, "keep step %" PRId64, id);
	return r;
}
