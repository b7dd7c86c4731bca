/* describe_history - steps, plans and diffs as JSON. */
/* SPDX-License-Identifier: MIT */
#include "core/api/describe.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/diff.h"

#define STEP_PATHS 100	/* paths listed for each step of a history */
#define CHANGES	   1000 /* changes listed in a plan */

/* ---- steps ----------------------------------------------------------------------------------- */

/* Returns the path as the session's first folder sees it: absolute outside this folder. */
static char *whole_path(const struct change *c)
{
	return c->base && !path_is_beneath(c->path, "/") ? path_join(c->base, c->path)
							 : xstrdup(c->path);
}

cJSON *describe_paths(struct journal *j, int64_t step, size_t most, size_t *ret_n)
{
	cJSON *list = cJSON_CreateArray();
	struct change *changes = NULL;
	size_t n = 0;

	*ret_n = 0;
	if (!j || journal_changes(j, step, &changes, &n, NULL) < 0)
		return list;
	for (size_t i = 0; i < n && i < most; i++) {
		AUTO_FREE char *path = whole_path(&changes[i]);

		cJSON_AddItemToArray(list, describe_text(path));
	}
	change_free(changes, n);
	*ret_n = n;
	return list;
}

cJSON *describe_step(struct journal *j, const struct step_info *s)
{
	static const char *const kinds[] = {
		[STEP_COMMAND] = "command", [STEP_AMBIENT] = "ambient", [STEP_API] = "api"};
	cJSON *o = cJSON_CreateObject();
	size_t n;

	cJSON_AddNumberToObject(o, "step_id", (double)s->id);
	cJSON_AddStringToObject(o, "kind", kinds[s->kind]);
	describe_add(o, "command", s->command ? s->command : "");
	cJSON_AddNumberToObject(o, "began_us", (double)s->began_us);
	cJSON_AddNumberToObject(o, "ended_us", (double)s->ended_us);
	cJSON_AddNumberToObject(o, "exit_code", s->exit_status);
	cJSON_AddNumberToObject(o, "created", (double)s->created);
	cJSON_AddNumberToObject(o, "modified", (double)s->modified);
	cJSON_AddNumberToObject(o, "deleted", (double)s->deleted);
	cJSON_AddNumberToObject(o, "renamed", (double)s->renamed);
	cJSON_AddBoolToObject(o, "incomplete", s->incomplete);
	describe_add(o, "why", s->why);
	if (j)
		cJSON_AddItemToObject(o, "affected_paths",
				      describe_paths(j, s->id, STEP_PATHS, &n));
	return o;
}

/* crossed: the rollback passes this barrier. */
static cJSON *describe_barrier(const struct barrier *b, bool crossed)
{
	cJSON *o = cJSON_CreateObject(), *paths = cJSON_AddArrayToObject(o, "paths");
	const char *message;

	cJSON_AddNumberToObject(o, "after_step", (double)b->after);
	cJSON_AddNumberToObject(o, "first_us", (double)b->first_us);
	cJSON_AddNumberToObject(o, "last_us", (double)b->last_us);
	cJSON_AddNumberToObject(o, "count", (double)b->count);
	if (b->own)
		cJSON_AddTrueToObject(o, "own");
	for (size_t i = 0; i < b->n_paths; i++)
		cJSON_AddItemToArray(paths, describe_text(b->paths[i]));
	if (crossed)
		message = "edits from outside: this rollback goes past them, and stops only at a "
			  "path that has changed since";
	else if (b->own)
		message = "the step is the human's own: a rollback that would take it back stops "
			  "here unless it is told to go on";
	else
		message = "edits from outside: a rollback of the step before them stops here "
			  "unless it is told to go on, or undo.external is warn";
	cJSON_AddStringToObject(o, "message", message);
	return o;
}

static int add_steps(cJSON *o, const char *name, struct journal *j, bool undone, size_t limit,
		     struct err *err)
{
	cJSON *list = cJSON_AddArrayToObject(o, name);
	struct step_info *steps = NULL;
	size_t n = 0;
	int r = journal_list(j, undone, &steps, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n && i < limit; i++)
		cJSON_AddItemToArray(list, describe_step(j, &steps[i]));
	step_info_free(steps, n);
	return n > limit;
}

static void add_barriers(cJSON *o, const struct barrier *list, size_t n, unsigned flags)
{
	cJSON *array = cJSON_AddArrayToObject(o, "barriers");

	for (size_t i = 0; i < n && i < CHANGES; i++)
		cJSON_AddItemToArray(array,
				     describe_barrier(&list[i], (flags & UNDO_SETTLES) != 0));
}

static void add_plan_barriers(cJSON *o, const struct undo_plan *p)
{
	add_barriers(o, p ? p->barriers : NULL, p ? p->n_barriers : 0, p ? p->flags : 0);
}

int describe_history(struct engine *e, size_t limit, cJSON **ret, struct fault *f)
{
	struct journal *j = session_journal(engine_session(e));
	cJSON *o = cJSON_CreateObject();
	struct barrier *barriers = NULL;
	struct err err = {0};
	size_t n = 0;
	int r, more;

	if (!j) {
		cJSON_Delete(o);
		return fault_say(f, FAULT_UNDO_FAILED, "the history cannot be read");
	}
	more = add_steps(o, "steps", j, false, limit, &err);
	r = add_steps(o, "undone", j, true, limit, &err);
	if (more >= 0 && r >= 0)
		r = journal_barriers_all(j, &barriers, &n, &err);
	if (more < 0 || r < 0) {
		cJSON_Delete(o);
		return fault_err(f, FAULT_UNDO_FAILED, &err);
	}
	add_barriers(o, barriers, n, 0);
	barrier_free(barriers, n);
	cJSON_AddBoolToObject(o, "more", more > 0);
	*ret = o;
	return 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const char *change_name(char what)
{
	switch (what) {
	case 'A':
		return "restored";
	case 'D':
		return "removed";
	case 'R':
		return "renamed";
	default:
		return "changed";
	}
}

static cJSON *describe_entry(const struct undo_entry *u)
{
	static const char *const fates[] = {[FATE_STOPS] = "stops",
					    [FATE_FORCED] = "forced",
					    [FATE_KEPT] = "kept",
					    [FATE_MERGED] = "merged",
					    [FATE_MARKED] = "marked"};
	AUTO_FREE char *path = u->base ? path_join(u->base, u->path) : xstrdup(u->path);
	cJSON *o = cJSON_CreateObject();

	describe_add(o, "path", path);
	cJSON_AddStringToObject(o, "change", change_name(u->what));
	if (u->other && *u->other)
		describe_add(o, "to", u->other);
	if (!u->conflict)
		return o;
	cJSON_AddBoolToObject(o, "conflict", true);
	cJSON_AddStringToObject(o, "fate", fates[u->fate]);
	if (u->why && *u->why)
		describe_add(o, "why", u->why);
	return o;
}

static void add_changes(cJSON *o, const struct undo_plan *p, bool conflicts)
{
	cJSON *list = cJSON_AddArrayToObject(o, "changes");

	for (size_t i = 0; p && i < p->n_entries && i < CHANGES; i++)
		if (!conflicts || p->entries[i].conflict)
			cJSON_AddItemToArray(list, describe_entry(&p->entries[i]));
}

cJSON *describe_plan(const struct undo_plan *p, bool dry_run)
{
	cJSON *o = cJSON_CreateObject(), *steps = cJSON_AddArrayToObject(o, "steps");

	for (size_t i = 0; p && i < p->n_ids; i++)
		cJSON_AddItemToArray(steps, cJSON_CreateNumber((double)p->ids[i]));
	cJSON_AddNumberToObject(o, "paths", p ? (double)p->n_paths : 0);
	add_changes(o, p, false);
	cJSON_AddNumberToObject(o, "conflicts", p ? (double)p->n_conflicts : 0);
	add_plan_barriers(o, p);
	cJSON_AddBoolToObject(o, "dry_run", dry_run);
	return o;
}

/* Returns the words with options spelled as in a request: "--keep-mine" as "keep_mine". Heap. */
static char *options_as_members(const char *words)
{
	char *copy = xstrdup(words), *to = copy;

	for (const char *at = words; *at;) {
		bool option = strncmp(at, "--", 2) == 0 && at[2] >= 'a' && at[2] <= 'z' &&
			      (at == words || at[-1] == ' ');

		for (at += option ? 2 : 0; option && ((*at >= 'a' && *at <= 'z') || *at == '-');
		     at++)
			*to++ = (char)(*at == '-' ? '_' : *at);
		if (!option)
			*to++ = *at++;
	}
	*to = '\0';
	return copy;
}

int describe_undo_fault(struct fault *f, int result, const char *words, const struct undo_plan *p)
{
	AUTO_FREE char *said = options_as_members(words);
	enum fault_code code = FAULT_UNDO_FAILED;

	if (result == -ESTALE)
		code = p && !p->n_stops && p->n_barriers ? FAULT_UNDO_BARRIER : FAULT_UNDO_CONFLICT;
	else if (result == -ENOENT || result == -ENODATA)
		code = FAULT_UNDO_NOTHING;
	else if (result == -EBUSY || result == -EAGAIN)
		code = FAULT_UNDO_BUSY;
	else if (result == -EPROTO)
		code = FAULT_UNDO_VERSION;
	fault_say(f, code, "%s", *said ? said : "it could not be done");
	if (code == FAULT_UNDO_CONFLICT || code == FAULT_UNDO_BARRIER) {
		f->data = cJSON_CreateObject();
		add_changes(f->data, p, true);
		add_plan_barriers(f->data, p);
	}
	return -1;
}

/* ---- diffs ----------------------------------------------------------------------------------- */

struct diffing {
	const struct diff_request *d;
	struct buf text;
	cJSON *files, *file;
	int added, deleted;
	bool cut, binary;
};

static void close_file(struct diffing *g)
{
	if (!g->file)
		return;
	cJSON_AddNumberToObject(g->file, "added", g->added);
	cJSON_AddNumberToObject(g->file, "deleted", g->deleted);
	cJSON_AddBoolToObject(g->file, "binary", g->binary);
	g->file = NULL;
}

static bool is_wanted(const struct diff_request *d, const char *path)
{
	for (size_t i = 0; d->paths && d->paths[i]; i++)
		if (!*d->paths[i] || path_is_beneath(path, d->paths[i]))
			return true;
	return !d->paths || !d->paths[0];
}

static bool on_file(void *data, const char *old_path, const char *new_path)
{
	struct diffing *g = data;

	if (!is_wanted(g->d, old_path) && !is_wanted(g->d, new_path))
		return false;
	close_file(g);
	g->added = g->deleted = 0;
	g->binary = false;
	g->file = cJSON_CreateObject();
	describe_add(g->file, "path", new_path);
	if (!str_eq(old_path, new_path))
		describe_add(g->file, "old_path", old_path);
	cJSON_AddItemToArray(g->files, g->file);
	return true;
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	static const char signs[] = {[DIFF_CONTEXT] = ' ', [DIFF_ADD] = '+', [DIFF_DEL] = '-'};
	struct diffing *g = data;

	(void)old_line, (void)new_line;
	g->added += kind == DIFF_ADD;
	g->deleted += kind == DIFF_DEL;
	g->binary |= kind == DIFF_META && len && *text != '\\';
	if (g->text.len + len + 2 > g->d->most) {
		g->cut = true;
		return true; /* files and numbers are still counted */
	}
	if (g->cut)
		return true;
	if (kind == DIFF_CONTEXT || kind == DIFF_ADD || kind == DIFF_DEL)
		buf_ch(&g->text, signs[kind]);
	buf_add(&g->text, text, len);
	buf_ch(&g->text, '\n');
	return true;
}

int describe_diff(struct engine *e, const struct diff_request *d, cJSON **ret, struct fault *f)
{
	struct journal *j = session_journal(engine_session(e));
	struct diffing g = {.d = d, .text = BUF_INIT, .files = cJSON_CreateArray()};
	struct err err = {0};
	cJSON *o;
	int r = -ENOENT;

	if (!j)
		err_say(&err, r, "the history cannot be read");
	else if (!d->from && !d->to)
		r = diff_newest_paths(j, on_file, on_line, &g, &err);
	else
		r = diff_range_paths(j, d->from, d->to, on_file, on_line, &g, &err);
	close_file(&g);
	if (r < 0) {
		cJSON_Delete(g.files);
		buf_done(&g.text);
		return fault_err(f, r == -ENOENT ? FAULT_UNDO_NO_STEP : FAULT_UNDO_FAILED, &err);
	}
	o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "diff", describe_text(g.text.data));
	cJSON_AddBoolToObject(o, "truncated", g.cut);
	cJSON_AddItemToObject(o, "files", g.files);
	buf_done(&g.text);
	*ret = o;
	return 0;
}
