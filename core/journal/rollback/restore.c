/* restore - restores single paths to their state before a step, as a new step. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/open_recovered.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/step/parts.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"

/* ---- where ------------------------------------------------------------------------------------
 */

struct store { /* the store that has the paths */
	struct journal *j;
	bool guest; /* opened for this restore */
};

static void store_done(struct store *s)
{
	if (s->guest)
		journal_close(s->j);
}

/* Opens another folder that the step also changed. */
static int find_part(struct journal *j, int64_t id, const char *path, struct store *ret,
		     struct err *err)
{
	AUTO_CLOSE int dir = history_find(j, id, NULL, err);
	struct part_folders parts = {0};
	struct journal *k = j;
	int r = dir < 0 ? take_fd(&dir) : parts_load(dir, &parts);

	for (size_t i = 0; r == 0 && i < parts.n; i++) {
		if (!path_is_beneath(path, parts.list[i]))
			continue;
		r = open_sibling(j, parts.list[i], &k, err);
		break;
	}
	part_folders_free(&parts);
	if (r >= 0 && k == j)
		return err_say(err, -ENOENT, "step %" PRId64 " changed no folder that '%s' lies in",
			       id, path);
	*ret = (struct store){.j = k, .guest = r > 0};
	return MIN(r, 0);
}

/* Finds the store of the paths. All must be in one of the step's folders, as each folder has its
 * own history. */
static int find_store(struct journal *j, int64_t id, const char *const *paths, struct store *ret,
		      struct err *err)
{
	struct journal *k = j;

	*ret = (struct store){.j = j};
	if (!paths[0])
		return 0;
	while (!restore_covers(k, paths[0]) && (k = k->sibling) != j)
		continue;
	ret->j = k;
	if (!restore_covers(k, paths[0])) {
		int r = find_part(j, id, paths[0], ret, err);

		if (r < 0)
			return r;
	}
	for (size_t i = 1; paths[i]; i++)
		if (!restore_covers(ret->j, paths[i]))
			return err_say(err, -EINVAL,
				       "'%s' lies in another folder than '%s': restore the paths "
				       "of one folder at a time",
				       paths[i], paths[0]);
	return 0;
}

/* ---- whether ----------------------------------------------------------------------------------
 */

/* Sets *ret if a file is where a directory above the path was. A directory that is restored as well
 * has its own entry. */
static int is_barred(const struct restore *r, int root, const char *path, bool *ret)
{
	AUTO_FREE char *prefix = xstrdup(path);
	struct spot at;
	int e = root_find(r->j, root, path, &at);

	if (e != -ENOTDIR && e != -ELOOP)
		return 0;
	e = 0;
	for (char *slash = strchr(prefix, '/'); e == 0 && slash && !*ret;
	     slash = strchr(slash + 1, '/')) {
		const struct change *own;
		struct object o;

		*slash = '\0';
		own = restore_find(r, root, prefix);
		e = root_look(r->j, root, prefix, &at, &o);
		*ret = e == 0 && o.mode && o.mode != OBJECT_UNSEEN && !S_ISDIR(o.mode) &&
		       !(own && r->pieces[own - r->list].chosen);
		*slash = '/';
	}
	return e;
}

/* Returns the path to which the object returns. */
static const char *place_of(const struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];

	return r->pieces[i].was ? r->pieces[i].was : c->old_path ? c->old_path : c->path;
}

/* Sets *ret if the restore would overwrite an external edit, and *later if it would only overwrite
 * changes of later steps, which are kept. Without an edit the present object becomes the expected
 * one. */
static int has_changed(struct restore *r, size_t i, bool *ret, bool *later)
{
	const struct since *since = &r->pieces[i].since;
	const struct change *c = &r->list[i];
	char *was = c->kind == CHANGE_DELETED ? r->pieces[i].was : NULL;
	struct journal *j = r->j;
	struct change_side now;
	struct spot at;
	struct object o;
	int e;

	*ret = false;
	if (was && !str_eq(was, c->path) && restore_find(r, c->root, was))
		return 0; /* the other path has its own entry */
	e = root_look(j, c->root, was ? was : c->path, &at, &o);

	if (e < 0)
		return e;
	change_side_set(&now, &o);
	*ret = since->outside || !change_sides_equal(&now, &c->after);
	if (*ret && (!was || str_eq(was, c->path)) && !since->broken)
		*later = since->later && change_sides_equal(&now, &since->left);
	*ret = *ret && !*later;
	if (!*ret)
		restore_expect(&r->pieces[i], &o);
	if (!*ret && c->old_path) {
		e = root_look(j, c->root, c->old_path, &at, &o);
		*ret = o.mode != 0;
	}
	if (e < 0 || *ret || !c->before.exists)
		return e;
	return is_barred(r, c->root, place_of(r, i), ret);
}

/* Returns whether the old content is missing: the step was unprotected when it changed this
 * file. */
static bool is_lost(const struct restore *r, size_t i)
{
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct err ignored = {0};

	return r->bare && r->list[i].before.exists &&
	       content_origin_find(r->j, r->id, &r->list[i], false, &o, &ignored) == -ESTALE;
}

static char letter_of(const struct change *c)
{
	if (c->old_path)
		return 'R';
	if (c->before.exists)
		return c->after.exists ? 'M' : 'A';
	return 'D';
}

static const char *path_of(const struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];

	return r->pieces[i].was && !c->after.exists ? r->pieces[i].was : c->path;
}

/* Returns whether the path is a directory as before: entries that later steps made in it stay. */
static bool is_directory_still(const struct restore *r, size_t i)
{
	const struct change_side *was = &r->list[i].before, *now = &r->pieces[i].since.left;

	return S_ISDIR(was->mode) && was->mode == now->mode && was->uid == now->uid &&
	       was->gid == now->gid;
}

static int plan_in(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
		   struct undo_plan **ret, struct err *err)
{
	struct undo_plan *p = xcalloc(1, sizeof(*p));
	struct restore r = {.j = j, .id = id};
	int e = restore_load(&r, paths, err);

	p->kind = UNDO_PATHS;
	p->flags = flags;
	p->n = p->n_ids = 1;
	p->ids = xcalloc(1, sizeof(*p->ids));
	p->ids[0] = id;
	p->entries = xcalloc(r.n + 1, sizeof(*p->entries));
	store_forget_near(j);
	if (e == 0 && (e = restore_load_later(&r)) < 0)
		err_set(err, e, "read the steps after step %" PRId64, id);
	for (size_t i = 0; e == 0 && i < r.n; i++) {
		const struct change *c = &r.list[i];
		struct undo_entry *to = &p->entries[p->n_entries];

		if (!r.pieces[i].chosen)
			continue;
		*to = (struct undo_entry){.root = c->root, .what = letter_of(c)};
		e = has_changed(&r, i, &to->conflict, &to->later);
		if (e < 0)
			err_set(err, e, "look at '%s'", c->path);
		to->later &= !is_directory_still(&r, i);
		to->lost = e == 0 && is_lost(&r, i);
		to->conflict |= to->lost;
		to->path = xstrdup(path_of(&r, i));
		to->other = xstrdup(c->old_path);
		to->fate = flags & UNDO_FORCE && !to->lost ? FATE_FORCED : FATE_STOPS;
		p->n_entries++;
		p->n_paths += !(flags & UNDO_FORCE && to->lost);
		p->n_conflicts += to->conflict;
		p->n_stops += to->conflict && to->fate == FATE_STOPS;
	}
	restore_done(&r);
	if (e < 0)
		undo_plan_free(p);
	else
		*ret = p;
	return e;
}

int journal_restore_plan(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
			 struct undo_plan **ret, struct err *err)
{
	CLEANUP(store_done) struct store in = {0};
	int e = find_store(j, id, paths, &in, err);

	if (e == 0)
		e = plan_in(in.j, id, paths, flags, ret, err);
	for (size_t i = 0; e == 0 && i < (*ret)->n_entries; i++) {
		struct undo_entry *to = &(*ret)->entries[i];

		if (in.j != j || to->root)
			to->base = xstrdup(in.j->roots[to->root].path);
	}
	return e;
}

/* Checks that no chosen object was edited externally or is missing in the store. */
static int check(struct restore *r, struct err *err)
{
	const char *lost = NULL;
	bool rest = false;
	int e = restore_load_later(r);

	if (e < 0)
		return err_set(err, e, "read the steps after step %" PRId64, r->id);
	store_forget_near(r->j);
	for (size_t i = 0; i < r->n; i++) {
		bool conflict = false, later = false;

		if (!r->pieces[i].chosen)
			continue;
		e = has_changed(r, i, &conflict, &later);
		if (e < 0)
			return err_set(err, e, "look at '%s'", r->list[i].path);
		if (is_lost(r, i)) {
			lost = lost ? lost : path_of(r, i);
			continue;
		}
		rest = true;
		if (conflict)
			return err_say(err, -ESTALE,
				       "'%s' has changed since: look at it, then use --force",
				       path_of(r, i));
	}
	if (lost && rest)
		return err_say(
			err, -ESTALE,
			"what was at '%s' before step %" PRId64
			" is not kept, because the step was beyond the limits of undo by then: "
			"--dry-run shows what cannot come back, --force brings back the rest",
			lost, r->id);
	return 0;
}

/* Deselects missing objects, unless all are missing. */
static void leave_lost(struct restore *r)
{
	AUTO_FREE bool *lost = xcalloc(r->n + 1, sizeof(*lost));
	bool rest = false;

	for (size_t i = 0; i < r->n; i++) {
		lost[i] = r->pieces[i].chosen && is_lost(r, i);
		rest |= r->pieces[i].chosen && !lost[i];
	}
	for (size_t i = 0; rest && i < r->n; i++)
		r->pieces[i].chosen &= !lost[i];
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Returns "undo --step 5 -- a b", or "undo --step 5" for all of its paths. */
static char *command_of(int64_t id, const char *const *paths)
{
	AUTO_BUF struct buf command = BUF_INIT;
	const char *before = " -- ";

	buf_fmt(&command, "undo --step %" PRId64, id);
	for (size_t i = 0; paths[i] && *paths[i] && command.len < 4096; i++) {
		buf_fmt(&command, "%s%s", before, paths[i]);
		before = " ";
	}
	return buf_take(&command);
}

int restore_begin(struct restore *r, const char *command, struct err *err)
{
	int e = journal_begin(r->j, STEP_API, command, &r->s, err);

	if (e < 0)
		return e;
	placed_begin(r->j);
	r->s->noted = r->s->careful = true;
	step_spare(r->s);
	store_forget_near(r->j);
	return 0;
}

int restore_end(struct restore *r, int e, struct err *err)
{
	struct err ignored = {0};

	if (e == 0)
		e = restore_taken(r, err);
	if (e == 0)
		e = journal_commit(r->s, 0, err);
	if (e < 0 && journal_abort(r->s, &ignored) < 0)
		e = err_wrap(err, e, "put back after a restore that failed");
	if (e < 0 || !r->j->owning)
		placed_end(r->j);
	return MIN(e, 0);
}

static int restore_in(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
		      struct err *err)
{
	AUTO_FREE char *command = command_of(id, paths);
	struct restore r = {.j = j, .id = id, .strict = !(flags & UNDO_FORCE)};
	mode_t mask;
	int e;

	if (j->open)
		return err_say(err, -EBUSY, "a step is still running: wait for it to end");
	e = restore_load(&r, paths, err);
	if (e == 0 && flags & UNDO_FORCE)
		leave_lost(&r);
	else if (e == 0)
		e = check(&r, err);
	j->evict_below = llabs(id); /* even a full disk must not prune this step */
	if (e == 0)
		e = restore_begin(&r, command, err);
	mask = umask(0);
	if (e == 0)
		e = restore_all(&r, paths, err);
	umask(mask);
	if (r.s)
		e = restore_end(&r, e, err);
	j->evict_below = 0;
	restore_done(&r);
	return e;
}

int journal_restore(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
		    struct err *err)
{
	CLEANUP(store_done) struct store in = {0};
	int e = find_store(j, id, paths, &in, err);

	return e < 0 ? e : restore_in(in.j, id, paths, flags, err);
}
