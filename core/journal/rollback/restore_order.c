/* restore_order - finds where each object of a restore is now, and the order of the moves. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/history/list.h"
#include "core/journal/history/step_names.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/store/roots.h"

/*
 * The step's net changes are reverted one by one by ordinary operations, which are captured in a
 * new step. Objects that the step created are removed. Moved objects get their old names back, by
 * way of temporary names, because renames may form a cycle. Directories are recreated from the top
 * down. Then come the files: first those whose inode still exists, then their further hard links.
 * Last come the directories' metadata and times. Bytes that lie in the folder are opened before
 * anything moves.
 */

/* Finds and opens all objects that are needed, before any of them is moved. */
static int look_around(struct restore *r, struct err *err)
{
	int e = 0;

	restore_look_back(r, true);
	for (size_t i = 0; e == 0 && i < r->n; i++) {
		struct content_origin *o = &r->pieces[i].here;

		if (!r->pieces[i].chosen || !r->pieces[i].was)
			continue;
		e = content_origin_find(r->j, r->id, &r->list[i], false, o, err);
		if (e < 0)
			return e;
		if (!o->present && !S_ISDIR(r->list[i].before.mode))
			content_origin_done(
				o); /* it is safe in the store: found again in its turn */
		else if (o->present && str_eq(o->present, r->pieces[i].was))
			util_close_fd(&o->fd);
		util_close_fd(&o->slots);
	}
	return e;
}

/* The order of work. */
enum rank {
	RANK_DIR,
	RANK_HERE,  /* content is at its place */
	RANK_INODE, /* inode has its place, content does not */
	RANK_AWAY,
	RANKS
};

static enum rank rank_of(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	const struct piece *p = &r->pieces[i];
	struct spot at;
	struct object o;

	if (S_ISDIR(c->before.mode))
		return RANK_DIR;
	if (p->here.present && p->here.fd < 0)
		return RANK_HERE;
	if (root_find(r->j, c->root, p->was, &at) == 0 && object_stat(at.fd, at.name, &o) == 0 &&
	    o.mode && o.ino == c->before.ino)
		return RANK_INODE;
	return RANK_AWAY;
}

static int say(struct err *err, int e, const char *path)
{
	if (e == -RESTORE_EDITED)
		return restore_say_edited(path, err);
	if (e != -ENOTEMPTY && e != -EEXIST)
		return err_set(err, e, "restore '%s'", path);
	return err_say(err, e,
		       "restore '%s': a directory is in its place, with something in it that the "
		       "step did not put there: move it away first",
		       path);
}

/* Calls the function for each piece that `which` selects. backwards: from the bottom up. */
static int pass(struct restore *r, bool backwards, bool (*which)(const struct restore *r, size_t i),
		int (*work)(struct restore *r, size_t i), struct err *err)
{
	for (size_t k = 0; k < r->n; k++) {
		size_t i = backwards ? r->n - 1 - k : k;
		int e = r->pieces[i].chosen && which(r, i) ? work(r, i) : 0;

		if (e < 0)
			return say(err, e, r->list[i].path);
	}
	return 0;
}

static bool was_made(const struct restore *r, size_t i)
{
	return !r->list[i].before.exists && !r->pieces[i].leaves && !r->pieces[i].gone;
}

static bool has_source(const struct restore *r, size_t i)
{
	return r->pieces[i].source != SIZE_MAX;
}

static bool was_dir(const struct restore *r, size_t i)
{
	return S_ISDIR(r->list[i].before.mode);
}

/* Moves objects to their old names. Their pieces need not be chosen. */
static int move_back(struct restore *r, struct err *err)
{
	int e = 0;

	for (size_t i = r->n; e == 0 && i-- > 0;)
		if (r->pieces[i].leaves && (e = restore_out(r, i)) < 0)
			e = say(err, e, r->list[i].path);
	return e < 0 ? e : pass(r, false, has_source, restore_back, err);
}

static int bring_objects(struct restore *r, struct err *err)
{
	AUTO_FREE enum rank *ranks = xcalloc(r->n + 1, sizeof(*ranks));
	int e = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->pieces[i].chosen && r->list[i].before.exists)
			ranks[i] = rank_of(r, i);
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; e == 0 && i < r->n; i++)
			if (r->pieces[i].chosen && r->list[i].before.exists &&
			    (int)ranks[i] == rank && (e = restore_object(r, i)) < 0)
				e = say(err, e, r->list[i].path);
	return e;
}

static int bring_times(struct restore *r, const struct rec *rec, const char *const *paths,
		       struct err *err)
{
	AUTO_FREE char *inside = path_join(rec->path, ".");
	struct change c = {.root = rec->root};
	AUTO_FREE char *path = step_names_first(&r->names, rec->seq, &c.root, inside);
	int e;

	path[strlen(path) - MIN(strlen(path), (size_t)2)] = '\0'; /* without "/." */
	c.path = path;
	if (!restore_wants(r->j, &c, paths))
		return 0;
	e = restore_times(r, c.root, path, rec);
	return e < 0 ? err_set(err, e, "restore the times of '%s'", path) : 0;
}

/* Restores the times of directories of which the step changed only the entries: they are not in the
 * changes, only in the log. */
static int bring_all_times(struct restore *r, const char *const *paths, struct err *err)
{
	AUTO_CLOSE int dir = history_find(r->j, r->id, NULL, err);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	int e = dir < 0 ? take_fd(&dir) : log_look(r->j, &log, dir, "undo");
	size_t at = e == 0 ? undo_log_tail(&log) : 0;
	struct rec rec;

	/* Backwards, so that the first record of a directory is applied last. */
	while (e == 0 && undo_log_last(&log, at, &rec, &at))
		if (rec.type == REC_DTIME)
			e = bring_times(r, &rec, paths, err);
	return dir >= 0 && e < 0 && err && !err->code ? err_set(err, e, "read step %" PRId64, r->id)
						      : e;
}

/* Refuses to move a whole directory to a guarded name: it may have entries of other origin. */
static int refuse_guarded(const struct restore *r, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct piece *p = &r->pieces[i];
		AUTO_BUF struct buf shown = BUF_INIT;

		if (!p->chosen || !p->was || p->source == SIZE_MAX ||
		    !S_ISDIR(r->list[i].before.mode) ||
		    !root_guards(r->j, r->list[i].root, p->was, S_IFDIR))
			continue;
		text_escape(&shown, p->was, strlen(p->was));
		return err_say(err, -EOPNOTSUPP,
			       "'%.300s' is protected, and was moved as a whole: undo the step, "
			       "not a part of it",
			       shown.data);
	}
	return 0;
}

int restore_all(struct restore *r, const char *const *paths, struct err *err)
{
	int e = look_around(r, err);

	if (e == 0)
		e = refuse_guarded(r, err);
	if (e == 0)
		e = pass(r, true, was_made, restore_remove, err);
	if (e == 0)
		e = move_back(r, err);
	if (e == 0) /* directories created as targets of moves */
		e = pass(r, true, was_made, restore_remove, err);
	if (e == 0)
		e = bring_objects(r, err);
	if (e == 0)
		e = pass(r, true, was_dir, restore_attrs, err);
	if (e == 0)
		e = bring_all_times(r, paths, err);
	if (e == 0 && (e = restore_parents(r)) < 0)
		err_set(err, e, "restore the directories above");
	return e;
}
