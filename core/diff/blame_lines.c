/* blame_lines - follows lines of a file from one state back to an older one. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/diff/blame_priv.h"

size_t blame_count_lines(const struct content *c)
{
	size_t n = c->len && c->data[c->len - 1] != '\n';

	for (const char *p = c->data; (p = memchr(p, '\n', c->len - (size_t)(p - c->data))); p++)
		n++;
	return n;
}

void blame_state_done(struct state *s)
{
	content_done(&s->text);
	free(s->present);
	*s = (struct state){0};
}

static void settle(struct walk *w, size_t line, const struct writer *by)
{
	struct blame_line *l = &w->blame->lines[w->at.present[line]];

	l->by = by->by;
	l->step = by->step;
	l->unsure = by->unsure;
	w->at.present[line] = NO_LINE;
	w->open--;
}

void blame_settle_all(struct walk *w, const struct writer *by)
{
	for (size_t i = 0; i < w->at.n; i++)
		if (w->at.present[i] != NO_LINE)
			settle(w, i, by);
}

struct comparison {
	struct walk *w;
	struct state *older;
	const struct writer *by;
	size_t old_at, new_at; /* lines before these were compared */
};

/* Passes the lines before a hunk to the older state: both states have them. */
static void carry(struct comparison *c, size_t old_end, size_t new_end)
{
	old_end = MIN(old_end, c->older->n);
	new_end = MIN(new_end, c->w->at.n);
	for (; c->old_at < old_end && c->new_at < new_end; c->old_at++, c->new_at++)
		c->older->present[c->old_at] = c->w->at.present[c->new_at];
	c->old_at = old_end;
	c->new_at = new_end;
}

static void on_hunk(void *data, const struct hunk *h)
{
	struct comparison *c = data;

	carry(c, h->old_at, h->new_at);
	for (size_t i = h->new_at; i < MIN(h->new_at + h->new_n, c->w->at.n); i++)
		if (c->w->at.present[i] != NO_LINE)
			settle(c->w, i, c->by);
	c->old_at += h->old_n;
	c->new_at += h->new_n;
}

int blame_go_back(struct walk *w, struct content *older, const struct writer *by, struct err *err)
{
	struct state s = {.text = *older};
	struct comparison c = {.w = w, .older = &s, .by = by};
	int r;

	*older = (struct content){0};
	s.n = blame_count_lines(&s.text);
	s.present = xcalloc(s.n + 1, sizeof(*s.present));
	memset(s.present, 0xff, s.n * sizeof(*s.present));
	r = diff_hunks(&s.text, &w->at.text, on_hunk, &c, err);
	if (r == 0)
		carry(&c, s.n, w->at.n);
	blame_state_done(&w->at);
	w->at = s;
	return r;
}

static void count_new(void *data, const struct hunk *h)
{
	*(size_t *)data += h->new_n;
}

int blame_count_common(const struct walk *w, const struct content *text, size_t *ret,
		       struct err *err)
{
	size_t added = 0;
	int r = diff_hunks(text, &w->at.text, count_new, &added, err);

	*ret = w->at.n - MIN(added, w->at.n);
	return r;
}
