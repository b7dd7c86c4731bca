/* resolution - decides each conflict: overwrite, keep, or merge the external edit. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/journal/history/rename_list.h"
#include "core/journal/history/virtual_tree.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/git_objects.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

void resolution_done(struct resolution *m)
{
	u64_set_done(&m->skips);
	for (size_t i = 0; i < m->n_merges; i++)
		merge_file_done(&m->merges[i]);
	free(m->merges);
	path_set_done(&m->replaced);
	path_set_done(&m->kept);
	*m = (struct resolution){0};
}

static void add_merge(struct resolution *m, const struct merged *one)
{
	m->merges = xrealloc(m->merges, (m->n_merges + 1) * sizeof(*m->merges));
	m->merges[m->n_merges++] = *one;
}

static void drop_merge(struct resolution *m, const struct undo_entry *e)
{
	for (size_t i = 0; i < m->n_merges; i++) {
		if (m->merges[i].root != e->root || !str_eq(m->merges[i].now, e->path))
			continue;
		merge_file_done(&m->merges[i]);
		m->merges[i] = m->merges[--m->n_merges];
		return;
	}
}

/* Returns whether the plan leaves everything in granted places as it is. */
static bool leaves_places(const struct undo_plan *p)
{
	return p->kind == UNDO_BACK && !(p->flags & UNDO_ALL_PLACES);
}

static bool stays_elsewhere(const struct undo_plan *p, const struct undo_entry *e)
{
	return !e->own && leaves_places(p);
}

static void add_name_now(const struct journal *j, const struct emptied *logs, const struct rec *r,
			 int root, const char *path, struct path_set *to)
{
	AUTO_FREE char *now = renames_now(logs->moves, r->seq, &root, path);

	if (!root_is_own(j, root))
		path_set_add(to, root, now);
}

/* Adds the paths of all records in granted places: a file that a step created and removed is no
 * entry of the plan. */
static void add_places(const struct journal *j, const struct emptied *logs, struct path_set *to)
{
	struct undo_log_walk at = {0};
	struct rec r;

	while (undo_log_walk(logs->logs, logs->dirs->n, &at, &r)) {
		if (rec_is_idle(&r))
			continue;
		if (!root_is_own(j, r.root))
			add_name_now(j, logs, &r, r.root, r.path, to);
		if (!root_is_own(j, r.root2))
			add_name_now(j, logs, &r, r.root2, r.path2, to);
	}
}

static enum undo_fate without_merge(unsigned flags)
{
	return flags & UNDO_KEEP_MINE ? FATE_KEPT : flags & UNDO_FORCE ? FATE_FORCED : FATE_STOPS;
}

/* Returns whether the path will be a regular file after the rollback, if no record is skipped.
 * False if unsure. */
static bool predicted_is_file(struct journal *j, const struct emptied *e, int root,
			      const char *path)
{
	struct vtree t = {.j = j, .dirs = e->dirs, .below = -1, .key = BUF_INIT, .path = BUF_INIT};
	struct undo_log_back walk = undo_log_back_begin(e->logs, e->dirs->n);
	struct reach w = {0};
	struct vobject o;
	struct rec r = {0};
	bool file;

	store_forget_near(j);
	while (undo_log_back(&walk, &r))
		tree_reverse(&t, &r, walk.log);
	file = tree_look(&t, root, path, &w, &o) == 0 && o.o.mode != OBJECT_UNSEEN &&
	       S_ISREG(o.state ? o.state->side.mode : o.o.mode);
	reach_close(j, &w);
	store_forget_near(j);
	undo_log_back_end(&walk);
	tree_done(&t);
	return file;
}

struct merger {
	struct journal *j;
	struct story story;
	const struct emptied *logs;
	struct resolution *remedy;
};

static int try_merge(const struct merger *g, struct undo_entry *e, unsigned flags, struct err *err)
{
	struct resolution *m = g->remedy;
	const char *why = NULL;
	struct merged one;
	int r = merge_make(g->j, &g->story, e->root, e->path, &one, &why, err);

	if (r < 0)
		return r;
	e->fate = without_merge(flags);
	if (r == 0 && !predicted_is_file(g->j, g->logs, one.root, one.path)) {
		merge_file_done(&one);
		why = "it was not there before";
		r = 1;
	}
	if (r > 0) {
		e->why = xstrdup(why);
		return 0;
	}
	if (one.clean || (flags & UNDO_FORCE)) {
		e->fate = one.clean ? FATE_MERGED : FATE_MARKED;
		add_merge(m, &one);
		return 0;
	}
	e->why = xstrdup("both sides changed the same lines");
	merge_file_done(&one);
	return 0;
}

static int merge_all(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		     struct resolution *m, struct err *err)
{
	struct merger g = {.j = j, .logs = logs, .remedy = m};
	int r = merge_story_load(j, p, logs->dirs, &g.story);

	if (r < 0)
		err_set(err, r, "read the steps");
	for (size_t i = 0; r == 0 && i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];

		if (e->conflict && e->linked)
			e->why = xstrdup("it was changed by another of its names");
		else if (e->conflict && !e->lost && !stays_elsewhere(p, e))
			r = try_merge(&g, e, p->flags, err);
	}
	merge_story_done(&g.story);
	return r;
}

static const struct merged *merge_of(const struct resolution *m, const struct undo_entry *e)
{
	for (size_t i = 0; i < m->n_merges; i++)
		if (m->merges[i].root == e->root && str_eq(m->merges[i].now, e->path))
			return &m->merges[i];
	return NULL;
}

/* Returns whether the entry cannot be merged because the merged file's path is left as it is. */
static bool has_no_place(const struct resolution *m, const struct undo_entry *e,
			 const struct path_set *left)
{
	const struct merged *one = merge_of(m, e);

	return one && !path_set_has(left, e->root, e->path) &&
	       path_set_has(left, one->root, one->path);
}

static void keep(struct resolution *m, struct undo_entry *e)
{
	drop_merge(m, e);
	e->fate = FATE_KEPT;
}

/* Fills *left with the paths that stay and paths that depend on them; m->skips with their records.
 * Returns false if the dependencies are too intricate. */
static bool build_left(struct journal *j, const struct undo_plan *p, const struct emptied *logs,
		       struct resolution *m, struct path_set *left)
{
	path_set_done(left);
	u64_set_done(&m->skips);
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].fate == FATE_KEPT)
			path_set_add(left, p->entries[i].root, p->entries[i].path);
	if (leaves_places(p))
		add_places(j, logs, left);
	if (p->kind != UNDO_REDO)
		git_objects_leave(j, logs, p->flags & UNDO_KEEP_MINE, left);
	return !path_set_count(left) || excluded_build(j, logs, left, &m->skips);
}

static bool leave_out(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		      struct resolution *m)
{
	AUTO_PATH_SET struct path_set left = {0};
	bool more, settled;

	do {
		more = false;
		settled = build_left(j, p, logs, m, &left);
		for (size_t i = 0; i < p->n_entries; i++)
			if (has_no_place(m, &p->entries[i], &left)) {
				keep(m, &p->entries[i]);
				more = true;
			}
	} while (more && settled);
	for (size_t i = 0; i < p->n_entries; i++)
		if (path_set_has(&left, p->entries[i].root, p->entries[i].path))
			keep(m, &p->entries[i]);
	return settled;
}

/*
 * If an external edit already restored a file, its conflict needs no decision: its records are
 * skipped. This does not apply if records of other paths would be skipped as well, or if the flags
 * overwrite the file, with its times.
 */
static int leave_those_there(struct journal *j, struct undo_plan *p, const struct emptied *logs,
			     struct resolution *m)
{
	AUTO_FREE bool *there = xcalloc(p->n_entries + 1, sizeof(*there));
	struct story story = {0};
	AUTO_PATH_SET struct path_set left = {0};
	bool alone = true;
	size_t n = 0;
	int r = merge_story_load(j, p, logs->dirs, &story);

	for (size_t i = 0; r == 0 && i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];

		there[i] = e->conflict && e->what == 'M' && !e->lost && !e->linked && !e->beside &&
			   e->root == 0 && merge_is_there(j, &story, e->root, e->path);
		if (there[i])
			e->fate = FATE_KEPT;
		n += there[i];
	}
	merge_story_done(&story);
	if (!n)
		return r;
	alone = build_left(j, p, logs, m, &left);
	for (size_t i = 0; i < p->n_entries; i++)
		alone &= p->entries[i].fate == FATE_KEPT ||
			 !path_set_has(&left, p->entries[i].root, p->entries[i].path);
	for (size_t i = 0; i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];

		if (!there[i])
			continue;
		if (!alone) {
			e->fate = without_merge(p->flags);
			continue;
		}
		path_set_add(&m->kept, e->root, e->path);
		e->conflict = false;
		p->n_conflicts--;
	}
	return 0;
}

int resolution_find(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		    struct resolution *ret, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];

		if (stays_elsewhere(p, e))
			e->fate = FATE_KEPT;
		else if (e->conflict)
			e->fate = without_merge(p->flags);
	}
	if (p->n_conflicts && !(p->flags & UNDO_FORCE))
		r = leave_those_there(j, p, logs, ret);
	if (r < 0)
		return err_set(err, r, "read the steps");
	if (p->n_conflicts && p->flags & UNDO_MERGE)
		r = merge_all(j, p, logs, ret, err);
	if (r < 0)
		return r;
	if (!leave_out(j, p, logs, ret))
		return err_say(err, -ELOOP,
			       "what would be left out and what would come back depend on each "
			       "other: undo fewer steps at once, or move those files away first");
	for (size_t i = 0; i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];

		if (!e->conflict)
			continue;
		if (stays_elsewhere(p, e)) { /* left without a conflict */
			path_set_add(&ret->kept, e->root, e->path);
			e->conflict = e->lost = e->beside = e->linked = false;
			p->n_conflicts--;
			continue;
		}
		p->n_stops += e->fate == FATE_STOPS;
		if (e->lost)
			continue;
		path_set_add(e->fate == FATE_KEPT ? &ret->kept : &ret->replaced, e->root, e->path);
	}
	return 0;
}

int resolution_keep(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		    struct resolution *ret)
{
	for (size_t i = 0; i < p->n_entries; i++) {
		p->entries[i].fate = FATE_KEPT;
		path_set_add(&ret->kept, p->entries[i].root, p->entries[i].path);
	}
	return leave_out(j, p, logs, ret) ? 0 : -ELOOP;
}

/* ---- as text ----------------------------------------------------------------------------------
 */

static void put_hex(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_fmt(b, "%02x", (unsigned char)*s);
	buf_ch(b, '\n');
}

static char *get_hex(const char *hex)
{
	size_t len = strlen(hex) / 2;
	char *s = xcalloc(len + 1, 1);

	for (size_t i = 0; i < len; i++) {
		unsigned v = 0;

		sscanf(hex + 2 * i, "%2x", &v);
		s[i] = (char)v;
	}
	return s;
}

void resolution_put(struct buf *b, const struct resolution *m)
{
	for (size_t i = 0; i < m->skips.n; i++)
		buf_fmt(b, "skip %" PRIu64 "\n", m->skips.list[i]);
	for (size_t i = 0; i < m->n_merges; i++) {
		const struct merged *one = &m->merges[i];

		buf_fmt(b, "merge %d %" PRIu64 " %o ", one->root, one->slot, (unsigned)one->mode);
		put_hex(b, one->path);
	}
	for (size_t k = 0; k < path_set_count(&m->replaced); k++) {
		buf_str(b, "mine ");
		put_hex(b, path_set_key(&m->replaced, k));
	}
	for (size_t k = 0; k < path_set_count(&m->kept); k++) {
		buf_str(b, "kept ");
		put_hex(b, path_set_key(&m->kept, k));
	}
}

static int get_merge(const char *line, struct resolution *m)
{
	struct merged one = {.external = BUF_INIT, .text = BUF_INIT, .clean = true};
	int end = 0;
	unsigned mode;

	if (sscanf(line, "merge %d %" SCNu64 " %o %n", &one.root, &one.slot, &mode, &end) != 3 ||
	    !end)
		return -EBADMSG;
	one.mode = mode;
	one.path = get_hex(line + end);
	add_merge(m, &one);
	return 1;
}

int resolution_get(const char *line, struct resolution *m)
{
	uint64_t seq;

	if (strncmp(line, "mine ", 5) == 0 || strncmp(line, "kept ", 5) == 0) {
		AUTO_FREE char *key = get_hex(line + 5);

		if (!strchr(key, '/'))
			return -EBADMSG;
		path_set_add_key(*line == 'm' ? &m->replaced : &m->kept, key);
		return 1;
	}
	if (strncmp(line, "merge ", 6) == 0)
		return get_merge(line, m);
	if (sscanf(line, "skip %" SCNu64, &seq) != 1)
		return 0;
	u64_set_add(&m->skips, seq); /* they were written in order */
	return 1;
}
