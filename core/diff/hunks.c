/* hunks - splits changes of steps into pieces that the user keeps or reverts one by one. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/hunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"

struct reading {
	struct hunks *h;
	const atomic_bool *stop;
	const struct change *change;
	int64_t step;
	char *path;
	bool single; /* the file has a piece for each hunk */
	unsigned number;
};

void hunks_done(struct hunks *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->list[i].path);
	free(h->list);
	free(h->lines);
	buf_done(&h->text);
	*h = (struct hunks){.text = BUF_INIT};
}

static struct hunk *add_piece(struct reading *r, unsigned number)
{
	struct hunks *h = r->h;
	struct hunk *p;

	if (h->n == HUNKS_MAX) {
		h->cut = true;
		return NULL;
	}
	if (h->n % 64 == 0)
		h->list = xrealloc(h->list, (h->n + 64) * sizeof(*h->list));
	p = &h->list[h->n++];
	*p = (struct hunk){.step = r->step,
			   .path = xstrdup(r->path),
			   .number = number,
			   .kind = r->change->kind,
			   .first = h->n_lines};
	return p;
}

static void add_line(struct hunks *h, struct hunk *p, const struct hunk_line *line,
		     const char *text)
{
	if (h->n_lines == HUNKS_LINES) {
		h->cut = true;
		return;
	}
	if (h->n_lines == h->cap_lines) {
		h->cap_lines = h->cap_lines ? 2 * h->cap_lines : 256;
		h->lines = xrealloc(h->lines, h->cap_lines * sizeof(*h->lines));
	}
	h->lines[h->n_lines] = *line;
	h->lines[h->n_lines++].at = h->text.len;
	buf_add(&h->text, text, line->len);
	p->n++;
}

/* Skips headings of a file, which the caller draws. A change without hunks has nothing else. */
static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	struct reading *r = data;
	struct hunks *h = r->h;
	const struct hunk_line line = {.kind = kind,
				       .old_line = old_line,
				       .new_line = new_line,
				       .len = (uint32_t)MIN(len, (size_t)4096)};
	struct hunk *p;

	if (r->stop && atomic_load(r->stop))
		return false;
	if (r->single && kind == DIFF_HUNK && !add_piece(r, ++r->number))
		return false;
	if ((r->single && !r->number) || !h->n)
		return true;
	p = &h->list[h->n - 1];
	add_line(h, p, &line, text);
	p->added += kind == DIFF_ADD;
	p->deleted += kind == DIFF_DEL;
	if (!p->line && (kind == DIFF_ADD || kind == DIFF_DEL || kind == DIFF_CONTEXT))
		p->line = new_line;
	if (kind == DIFF_ADD && p->added == 1 && !p->deleted)
		p->line = new_line;
	return true;
}

/* Returns whether the diff of this file has hunks that can be reverted one by one. */
static bool is_text_edit(const struct change *c)
{
	return c->kind == CHANGE_MODIFIED && S_ISREG(c->before.mode) && S_ISREG(c->after.mode);
}

static mode_t mode_of(const struct change *c)
{
	return c->after.exists ? c->after.mode : c->before.mode;
}

static bool is_left_out(const struct change *c)
{
	return c->root != 0 || S_ISDIR(mode_of(c)) || diff_is_gits_own(c->path);
}

static bool has_new_mode(const struct change *c)
{
	return c->before.mode != c->after.mode || c->before.uid != c->after.uid ||
	       c->before.gid != c->after.gid;
}

/* Adds "old mode 100644", "new mode 100755", "owner 0:0 -> 1:1". */
static void add_mode_lines(struct hunks *h, struct hunk *p, const struct change *c)
{
	const struct change_side *a = &c->before, *b = &c->after;
	AUTO_BUF struct buf text = BUF_INIT;

	if (a->mode != b->mode)
		buf_fmt(&text, "old mode %06o\nnew mode %06o\n", a->mode, b->mode);
	if (a->uid != b->uid || a->gid != b->gid)
		buf_fmt(&text, "owner %u:%u -> %u:%u\n", (unsigned)a->uid, (unsigned)a->gid,
			(unsigned)b->uid, (unsigned)b->gid);
	for (const char *at = text.data; *at; at += strcspn(at, "\n") + 1)
		add_line(h, p,
			 &(struct hunk_line){.kind = DIFF_META,
					     .old_line = -1,
					     .new_line = -1,
					     .len = (uint32_t)strcspn(at, "\n")},
			 at);
}

static int read_change(struct reading *r, struct journal *j, struct err *err)
{
	const struct change *c = r->change;
	AUTO_FREE char *path = c->base ? path_join(c->base, c->path) : xstrdup(c->path);
	size_t before = r->h->n;
	int e;

	r->path = path;
	r->number = 0;
	r->single = is_text_edit(c);
	if (!r->single && !add_piece(r, 0))
		return 0;
	e = diff_change(j, r->step, c, on_line, r, err);
	if (e == 0 && r->single && r->h->n == before) { /* binary, too large, or a mode */
		r->single = false;
		if (add_piece(r, 0))
			e = diff_change(j, r->step, c, on_line, r, err);
	} else if (e == 0 && r->single && has_new_mode(c)) {
		struct hunk *p = add_piece(r, HUNK_MODE);

		if (p)
			add_mode_lines(r->h, p, c);
	}
	if (e == -ECANCELED && r->h->cut)
		return 0;
	return e;
}

static int read_step(struct reading *r, struct journal *j, struct err *err)
{
	struct change *list = NULL;
	size_t n = 0;
	int e = journal_changes(j, r->step, &list, &n, err);

	for (size_t i = 0; e == 0 && i < n && !r->h->cut; i++) {
		r->change = &list[i];
		if (is_left_out(&list[i]))
			r->h->left_out += !S_ISDIR(mode_of(&list[i]));
		else
			e = read_change(r, j, err);
	}
	change_free(list, n);
	return e;
}

static int by_place(const void *a, const void *b)
{
	const struct hunk *x = a, *y = b;
	int cmp = strcmp(x->path, y->path);

	if (!cmp)
		cmp = llabs(x->step) < llabs(y->step) ? -1 : llabs(x->step) > llabs(y->step);
	return cmp ? cmp : x->number < y->number ? -1 : x->number > y->number;
}

int hunks_load(struct hunks *ret, struct journal *j, const int64_t *steps, size_t n,
	       const atomic_bool *stop, struct err *err)
{
	struct reading r = {.h = ret, .stop = stop};
	int e = 0;

	*ret = (struct hunks){.text = BUF_INIT};
	for (size_t i = 0; e == 0 && i < n && !ret->cut; i++) {
		r.step = steps[i];
		e = read_step(&r, j, err);
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_place);
	return e;
}
