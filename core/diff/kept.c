/* kept - applies only the pieces that the user kept to the files of a commit. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/git_text.h"
#include "core/base/io.h"

struct gathering {
	struct kept *k;
	struct journal *j;
	const struct reviewed *v;
	kept_base base;
	void *data;
	int64_t step;
};

static void side_done(struct kept_side *s)
{
	buf_done(&s->text);
	*s = (struct kept_side){.text = BUF_INIT};
}

void kept_done(struct kept *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->list[i].path);
		side_done(&k->list[i].base);
		side_done(&k->list[i].now);
	}
	free(k->list);
	*k = (struct kept){0};
}

/* Compares like git, which stores only the type of a mode and whether its owner may run it. */
static bool same_side(const struct kept_side *a, const struct kept_side *b)
{
	const mode_t kept = S_IFMT | S_IXUSR;

	return a->exists == b->exists && (!a->exists || ((a->mode & kept) == (b->mode & kept) &&
							 git_text_same(&a->text, &b->text)));
}

bool kept_differs(const struct kept_file *f)
{
	return !same_side(&f->base, &f->now);
}

static void set_side(struct kept_side *to, const struct kept_side *from)
{
	buf_clear(&to->text);
	to->exists = from->exists;
	to->mode = from->mode;
	buf_add(&to->text, from->text.data, from->text.len);
}

/* ---- the folder's files ---------------------------------------------------------------------- */

/* Returns the file. *r: 0, -EFBIG for a file that is left out, or another error. */
static struct kept_file *file_of(struct gathering *g, const char *path, int *r, struct err *err)
{
	struct kept *k = g->k;
	struct kept_file *f;

	for (size_t i = 0; i < k->n; i++)
		if (str_eq(k->list[i].path, path)) {
			*r = k->list[i].barred ? -EFBIG : 0;
			return &k->list[i];
		}
	if (k->n % 64 == 0)
		k->list = xrealloc(k->list, (k->n + 64) * sizeof(*k->list));
	f = &k->list[k->n++];
	*f = (struct kept_file){.path = xstrdup(path), .base.text = BUF_INIT, .now.text = BUF_INIT};
	*r = g->base(g->data, path, &f->base, err);
	f->barred = *r < 0;
	set_side(&f->now, &f->base);
	return f;
}

static int load_fd(struct kept_side *ret, const struct change_side *side, int fd)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = fd < 0 ? 0 : io_read_all(fd, KEPT_FILE_MAX, &text, &len);

	ret->exists = side->exists;
	ret->mode = side->mode;
	if (r == 0)
		buf_add(&ret->text, text, len);
	return r;
}

static int load_side(struct gathering *g, const struct change *c, bool after, struct kept_side *ret,
		     struct err *err)
{
	const struct change_side *side = after ? &c->after : &c->before;
	AUTO_CLOSE int fd = -1;
	int r = 0;

	if (side->exists && side->size > KEPT_FILE_MAX)
		return -EFBIG;
	if (side->exists && (S_ISREG(side->mode) || S_ISLNK(side->mode)))
		r = journal_content(g->j, g->step, c, after, &fd, err);
	return r < 0 ? r : load_fd(ret, side, fd);
}

/* ---- one change ------------------------------------------------------------------------------ */

/* Both sides of a step's change of a file, and which of its pieces were kept. */
struct applied {
	const struct change *c;
	struct kept_side before, after;
	bool whole, mode;
	unsigned *hunks;
	size_t n_hunks;
};

static bool is_kept(const void *data, unsigned number)
{
	const struct applied *a = data;

	for (size_t i = 0; i < a->n_hunks; i++)
		if (a->hunks[i] == number)
			return true;
	return false;
}

static void read_verdicts(const struct gathering *g, struct applied *a)
{
	for (size_t i = 0; i < g->v->n; i++) {
		const struct review_entry *e = &g->v->list[i];

		if (e->step != g->step || !str_eq(e->path, a->c->path) ||
		    reviewed_state(g->v, e->step, e->path, e->number) != PIECE_KEPT)
			continue;
		a->whole |= e->number == 0;
		a->mode |= e->number == HUNK_MODE;
		if (e->number == 0 || e->number == HUNK_MODE)
			continue;
		a->hunks = xrealloc(a->hunks, (a->n_hunks + 1) * sizeof(*a->hunks));
		a->hunks[a->n_hunks++] = e->number;
	}
}

static int apply_hunks(const struct applied *a, struct kept_file *f, struct err *err)
{
	AUTO_BUF struct buf with = BUF_INIT, merged = BUF_INIT;
	int r;

	if (!f->now.exists)
		return -ESTALE;
	r = git_text_compose(&a->before.text, &a->after.text, is_kept, a, &with, err);
	if (r == 0)
		r = git_text_merge(
			&(struct git_text_sides){&a->before.text, &f->now.text, &with, NULL, NULL},
			&merged, err);
	if (r < 0)
		return r;
	if (git_text_same(&merged, &f->now.text))
		f->left_out = 0; /* the base already has the pieces */
	buf_clear(&f->now.text);
	buf_add(&f->now.text, merged.data, merged.len);
	return 0;
}

/* Moves the file to its new name and applies the step's changes. */
static int apply_rename(struct gathering *g, const struct applied *a, const char *path,
			struct err *err)
{
	AUTO_BUF struct buf merged = BUF_INIT;
	struct kept_file *old, *f;
	int r = 0;

	old = file_of(g, a->c->old_path, &r, err);
	if (r < 0)
		return r;
	if (!old->now.exists)
		return 0; /* the base has it under its new name, or lacks it */
	r = git_text_merge(&(struct git_text_sides){&a->before.text, &old->now.text, &a->after.text,
						    NULL, NULL},
			   &merged, err);
	if (r < 0)
		return r;
	f = file_of(g, path, &r, err);
	if (r < 0 || f->now.exists)
		return r < 0 ? r : -ESTALE;
	f->now.exists = true;
	f->now.mode = a->after.mode;
	buf_add(&f->now.text, merged.data, merged.len);
	old = file_of(g, a->c->old_path, &r, err); /* the list may have moved in memory */
	old->now.exists = false;
	return r;
}

/* Applies a change of a whole file: created, removed or not text. */
static int apply_whole(struct gathering *g, const struct applied *a, struct kept_file *f,
		       struct err *err)
{
	if (a->c->kind == CHANGE_RENAMED)
		return apply_rename(g, a, a->c->path, err);
	if (same_side(&f->now, &a->after) || (f->now.exists && a->c->kind == CHANGE_CREATED))
		return 0;
	if (!same_side(&f->now, &a->before))
		return -ESTALE;
	set_side(&f->now, &a->after);
	return 0;
}

static int apply(struct gathering *g, const struct applied *a, struct kept_file *f, struct err *err)
{
	int r = 0;

	if (a->whole)
		r = apply_whole(g, a, f, err);
	else if (a->n_hunks)
		r = apply_hunks(a, f, err);
	if (r == 0 && a->mode && f->now.exists)
		f->now.mode = a->after.mode;
	return r;
}

static bool is_left_out(int r)
{
	return r == -ESTALE || r == -EFBIG;
}

static int gather_change(struct gathering *g, const struct change *c, struct err *err)
{
	struct applied a = {.c = c, .before.text = BUF_INIT, .after.text = BUF_INIT};
	struct err why = {0};
	struct kept_file *f;
	size_t pieces;
	int r = 0;

	read_verdicts(g, &a);
	pieces = a.n_hunks + a.whole + a.mode;
	if (!pieces)
		return 0;
	f = file_of(g, c->path, &r, &why);
	if (r == 0)
		r = load_side(g, c, false, &a.before, &why);
	if (r == 0)
		r = load_side(g, c, true, &a.after, &why);
	if (r == 0)
		r = apply(g, &a, f, &why);
	r = is_left_out(r) || r == 0 ? r : err_wrap(err, r, "%s", why.text);
	f = file_of(g, c->path, &(int){0}, &why); /* the list may have moved in memory */
	f->pieces += pieces;
	f->left_out += is_left_out(r) ? pieces : 0;
	side_done(&a.before);
	side_done(&a.after);
	free(a.hunks);
	return is_left_out(r) ? 0 : r;
}

static int gather_step(struct gathering *g, struct err *err)
{
	struct change *list = NULL;
	size_t n = 0;
	int r = journal_changes(g->j, g->step, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (list[i].root == 0 && !list[i].base && !diff_is_gits_own(list[i].path))
			r = gather_change(g, &list[i], err);
	change_free(list, n);
	return r;
}

/* ---- is it in the folder? -------------------------------------------------------------------- */

static int look_now(struct gathering *g, const char *path, struct kept_side *ret, struct err *err)
{
	struct change_side side = {0};
	AUTO_CLOSE int fd = -1;
	int r = journal_present(g->j, path, &side, &fd, err);

	return r < 0 ? r : load_fd(ret, &side, fd);
}

struct picking {
	const struct kept_file *f;
	const struct buf *present;
	unsigned only; /* number of the only hunk; 0: all that fit */
	bool *good;
};

static bool is_picked(const void *data, unsigned number)
{
	const struct picking *p = data;

	return p->only ? number == p->only : p->good[number];
}

/* Returns whether the folder's file has this hunk. */
static int is_present(struct picking *p, unsigned number, struct err *err)
{
	AUTO_BUF struct buf with = BUF_INIT, merged = BUF_INIT;
	int r;

	p->only = number;
	r = git_text_compose(&p->f->base.text, &p->f->now.text, is_picked, p, &with, err);
	if (r == 0)
		r = git_text_merge(
			&(struct git_text_sides){&p->f->base.text, &with, p->present, NULL, NULL},
			&merged, err);
	p->only = 0;
	return r == 0 ? git_text_same(&merged, p->present) : r == -ESTALE ? 0 : r;
}

/* Drops the hunks that the folder's file lacks. */
static int pick_present(struct kept_file *f, const struct buf *present, struct err *err)
{
	AUTO_BUF struct buf picked = BUF_INIT;
	struct picking p = {.f = f, .present = present};
	int n = git_text_hunks(&f->base.text, &f->now.text, err), r = n;

	if (n < 0)
		return n;
	p.good = xcalloc((size_t)n + 1, sizeof(*p.good));
	for (int i = 1; r >= 0 && i <= n; i++) {
		r = is_present(&p, (unsigned)i, err);
		p.good[i] = r > 0;
		f->left_out += r == 0;
	}
	if (r >= 0)
		r = git_text_compose(&f->base.text, &f->now.text, is_picked, &p, &picked, err);
	if (r == 0) {
		buf_clear(&f->now.text);
		buf_add(&f->now.text, picked.data, picked.len);
	}
	free(p.good);
	return r;
}

static bool is_text(const struct kept_side *s)
{
	return s->exists && S_ISREG(s->mode) && s->text.len <= DIFF_MAX_BYTES &&
	       !memchr(s->text.data, '\0', s->text.len);
}

/* Drops kept hunks that were reverted or edited later. */
static int check_file(struct gathering *g, struct kept_file *f, struct err *err)
{
	struct kept_side present = {.text = BUF_INIT};
	int r = kept_differs(f) ? look_now(g, f->path, &present, err) : 0;

	if (r == -EFBIG) {
		r = 0;
		present.exists = false;
	} else if (!kept_differs(f) || r < 0) {
		return r;
	}
	if (is_text(&f->base) && is_text(&f->now) && is_text(&present)) {
		r = pick_present(f, &present.text, err);
		if ((f->now.mode ^ present.mode) & (f->now.mode ^ f->base.mode) & S_IXUSR) {
			f->now.mode = f->base.mode;
			f->left_out++;
		}
	} else if (f->now.exists
			   ? !present.exists || (present.mode & S_IFMT) != (f->now.mode & S_IFMT) ||
				     (f->base.exists && !same_side(&f->now, &present))
			   : present.exists) {
		set_side(&f->now, &f->base);
		f->left_out = f->pieces;
	}
	side_done(&present);
	return r;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Counts pieces outside the folder, which have absolute paths. */
static size_t count_elsewhere(const struct reviewed *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		n += v->list[i].is == PIECE_KEPT && *v->list[i].path == '/';
	return n;
}

int kept_gather(struct kept *ret, struct journal *j, const struct reviewed *v, const int64_t *steps,
		size_t n, kept_base base, void *data, struct err *err)
{
	struct gathering g = {.k = ret, .j = j, .v = v, .base = base, .data = data};
	int r = 0;

	*ret = (struct kept){.elsewhere = count_elsewhere(v)};
	for (size_t i = 0; r == 0 && i < n; i++) {
		g.step = steps[i];
		r = gather_step(&g, err);
	}
	for (size_t i = 0; r == 0 && i < ret->n; i++)
		r = check_file(&g, &ret->list[i], err);
	return r;
}
