/* edited - shows external edits of a barrier, between the steps around it. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/edited.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/diff/diff_priv.h"

/* A step's change of one of the paths, copied, as the list is freed. */
struct found {
	int64_t step; /* 0: no step changed it */
	struct change change;
	bool absent; /* a move: on our side there is no file at this path */
};

struct file {
	struct change shown;
	struct found before, after;
};

struct edited {
	struct journal *j;
	struct file *list;
	size_t n;
};

static void found_done(struct found *f)
{
	free(f->change.path);
	free(f->change.old_path);
	free(f->change.base);
	*f = (struct found){0};
}

void edited_free(struct edited *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++) {
		free(e->list[i].shown.path);
		found_done(&e->list[i].before);
		found_done(&e->list[i].after);
	}
	free(e->list);
	free(e);
}

size_t edited_count(const struct edited *e)
{
	return e->n;
}

const struct change *edited_change(const struct edited *e, size_t i)
{
	return &e->list[i].shown;
}

/* ---- which steps ------------------------------------------------------------------------------
 */

static bool is_path(const struct change *c, const char *name, const char *path)
{
	const char *below = !name ? NULL : c->base ? path_below(path, c->base) : path;

	return below && str_eq(below, name);
}

static void keep(struct found *f, int64_t step, const struct change *c, bool absent)
{
	found_done(f);
	*f = (struct found){.step = step, .change = *c, .absent = absent};
	f->change.path = xstrdup(c->path);
	f->change.old_path = c->old_path ? xstrdup(c->old_path) : NULL;
	f->change.base = c->base ? xstrdup(c->base) : NULL;
}

/* Matches a change. Of an older step the after-state is used, of a newer one the before-state. */
static void match(struct file *f, int64_t step, bool newer, const struct change *c)
{
	const char *path = f->shown.path;
	bool here = is_path(c, c->path, path), from = is_path(c, c->old_path, path);

	if (!newer && !f->before.step && (here || from))
		keep(&f->before, step, c, !here);
	else if (newer && (here || from))
		keep(&f->after, step, c, !from && c->old_path);
}

static int match_step(struct edited *e, int64_t step, bool newer, struct err *err)
{
	struct change *list = NULL;
	size_t n = 0;
	struct err why = {0};
	int r = journal_changes(e->j, step, &list, &n, &why);

	if (r == -EBADMSG) /* what a damaged step did is unknown, and stays in the diff */
		return 0;
	if (r < 0 && err)
		*err = why;
	for (size_t i = 0; r == 0 && i < n; i++)
		for (size_t k = 0; k < e->n; k++)
			match(&e->list[k], step, newer, &list[i]);
	change_free(list, n);
	return r;
}

/* ---- both sides -------------------------------------------------------------------------------
 */

static struct change_side side_of(const struct found *f, bool after)
{
	if (f->absent)
		return (struct change_side){0};
	return after ? f->change.after : f->change.before;
}

static int look(struct edited *e, struct file *f, struct err *err)
{
	struct change *c = &f->shown;
	int fd = -1, r = 0;

	c->before = side_of(&f->before, true);
	if (f->after.step)
		c->after = side_of(&f->after, false);
	else
		r = journal_present(e->j, c->path, &c->after, &fd, err);
	util_close_fd(&fd);
	if (f->before.step && !c->before.exists)
		c->kind = CHANGE_CREATED;
	else
		c->kind = c->after.exists ? CHANGE_MODIFIED : CHANGE_DELETED;
	return r;
}

int edited_open(struct edited **ret, struct journal *j, const struct barrier *b, struct err *err)
{
	struct edited *e = xcalloc(1, sizeof(*e));
	AUTO_FREE int64_t *list = NULL;
	size_t n = 0;
	int r = journal_ids(j, false, &list, &n, err);

	e->j = j;
	e->list = xcalloc(b->n_paths + 1, sizeof(*e->list));
	for (; e->n < b->n_paths; e->n++)
		e->list[e->n].shown.path = xstrdup(b->paths[e->n]);
	for (size_t i = 0; r == 0 && i < n; i++) /* newest first */
		r = match_step(e, list[i], llabs(list[i]) > llabs(b->after), err);
	for (size_t i = 0; r == 0 && i < e->n; i++)
		r = look(e, &e->list[i], err);
	if (r < 0)
		edited_free(e);
	else
		*ret = e;
	return r;
}

int edited_diff(struct edited *e, size_t i, diff_on_line on, void *data, struct err *err)
{
	const struct file *f = &e->list[i];
	const struct sink to = {on, data};
	const struct pair p = {
		.old_path = f->shown.path,
		.new_path = f->shown.path,
		.before = f->shown.before,
		.after = f->shown.after,
		.before_step = f->before.step,
		.after_step = f->after.step,
		.before_change = &f->before.change,
		.after_change = f->after.step ? &f->after.change : NULL,
		.between = true,
	};
	int r;

	if (f->before.step)
		return diff_pair(e->j, &p, &to, err);
	r = diff_write_first(&p, &to);
	if (r == 0)
		r = sink_fmt(&to, DIFF_META,
			     "%s; no step had changed it before: what it was is "
			     "not kept",
			     p.after.exists ? "Changed" : "Removed");
	return r;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Git writes it at each commit. */
#define MESSAGE "COMMIT_EDITMSG"

bool git_files_add(struct git_files *g, const char *path)
{
	const char *rest = diff_below_git(path);

	if (!rest || !diff_is_gits_own(path))
		return false;
	g->n++;
	g->message |= str_eq(rest, MESSAGE);
	g->branch |= str_starts(rest, "refs/heads/") || str_eq(rest, "HEAD");
	return true;
}

bool git_files_commit(const struct git_files *g)
{
	return g->message && g->branch;
}

enum edited_what edited_what(const struct barrier *b)
{
	struct git_files g = {0};

	for (size_t i = 0; i < b->n_paths; i++)
		if (!git_files_add(&g, b->paths[i]))
			return EDITED_FILES;
	if (b->count != b->n_paths)
		return EDITED_FILES;
	return git_files_commit(&g) ? EDITED_COMMIT : EDITED_GIT;
}

bool edited_is_noise(enum edited_what what, const char *path)
{
	const char *rest = diff_below_git(path);

	return what == EDITED_COMMIT && rest && str_eq(rest, MESSAGE);
}

bool edited_git_name(const char *path, char *ret, size_t size)
{
	static const struct {
		const char *below, *what;
	} gits[] = {
		{"refs/heads/", "branch"}, {"refs/tags/", "tag"},  {"refs/remotes/", "remote"},
		{"refs/stash", "stash"},   {"index", "index"},	   {"HEAD", "HEAD"},
		{"packed-refs", "refs"},   {"config", "settings"}, {"COMMIT_EDITMSG", "message"},
	};
	const char *below = str_starts(path, ".git/") ? path + strlen(".git/") : NULL;

	for (size_t i = 0; below && i < ARRAY_LEN(gits); i++) {
		const char *dir = gits[i].below;
		const size_t n = strlen(dir);

		if (!str_starts(below, dir) || (dir[n - 1] != '/' && below[n]))
			continue;
		snprintf(ret, size, below[n] ? "git %s %s" : "git %s", gits[i].what, below + n);
		return true;
	}
	return false;
}
