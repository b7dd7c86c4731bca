/* points - the comments of a review: written, sent in rounds, handled by the agent, reopened. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/diff/reviewed.h"

#define NAMED_MAX 10 /* open points named in an error */

/* Returns the index of the oldest point that was sent, or handled; n_points if there is none. */
static size_t oldest(const struct reviewed *v, bool handled)
{
	size_t i = 0;

	while (i < v->n_points && (!v->points[i].round || (handled && !v->points[i].done)))
		i++;
	return i;
}

static bool make_room(struct reviewed *v)
{
	size_t i = oldest(v, true);

	if (i == v->n_points)
		i = oldest(v, false);
	if (i == v->n_points)
		return false;
	free(v->points[i].path);
	free(v->points[i].text);
	memmove(&v->points[i], &v->points[i + 1], (--v->n_points - i) * sizeof(*v->points));
	return true;
}

struct point *point_add(struct reviewed *v)
{
	if (v->n_points == POINTS_MAX && !make_room(v))
		return NULL;
	if (!v->points)
		v->points = xcalloc(POINTS_MAX, sizeof(*v->points));
	v->points[v->n_points] = (struct point){0};
	return &v->points[v->n_points++];
}

bool reviewed_comment(struct reviewed *v, const struct hunk *h, int line, const char *text)
{
	struct point *p = *text ? point_add(v) : NULL;

	if (!p)
		return false;
	*p = (struct point){.step = h->step,
			    .hunk = h->number,
			    .path = xstrdup(h->path),
			    .text = xstrndup(text, MIN(strlen(text), (size_t)POINT_BYTES)),
			    .line = line};
	return true;
}

/* ---- by number ------------------------------------------------------------------------------- */

static struct point *find(const struct reviewed *v, unsigned round, unsigned number)
{
	for (size_t i = 0; round && i < v->n_points; i++)
		if (v->points[i].round == round && v->points[i].number == number)
			return &v->points[i];
	return NULL;
}

/* Reads "3.2": digits, a dot, digits. */
static bool parse(const char *name, unsigned *round, unsigned *number)
{
	int end = 0;

	return name[strspn(name, "0123456789.")] == '\0' &&
	       sscanf(name, "%6u.%6u%n", round, number, &end) == 2 && !name[end];
}

/* Adds "; open: 3.1, 3.4". */
static void add_open(const struct reviewed *v, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_points; i++) {
		const struct point *p = &v->points[i];

		if (p->round && !p->done && n++ < NAMED_MAX)
			buf_fmt(out, "%s%u.%u", n == 1 ? "; open: " : ", ", p->round, p->number);
	}
	if (n > NAMED_MAX)
		buf_fmt(out, " and %zu more", n - NAMED_MAX);
	if (!n)
		buf_str(out, "; none is open");
}

const struct point *reviewed_handle(struct reviewed *v, const char *name, struct err *err)
{
	unsigned round = 0, number = 0;
	const bool read = parse(name, &round, &number);
	struct point *p = read ? find(v, round, number) : NULL;
	AUTO_BUF struct buf open = BUF_INIT;

	if (p && !p->done) {
		p->done = true;
		return p;
	}
	add_open(v, &open);
	if (p)
		err_say(err, -EALREADY, "point %u.%u is done already%s", round, number, open.data);
	else if (read)
		err_say(err, -ENOENT, "no point %u.%u was sent%s", round, number, open.data);
	else
		err_say(err, -EINVAL, "a point is a number such as 3.2%s", open.data);
	return NULL;
}

const struct point *reviewed_reopen(struct reviewed *v, unsigned round, unsigned number)
{
	struct point *p = find(v, round, number);

	if (!p || !p->done)
		return NULL;
	p->done = false;
	return p;
}
