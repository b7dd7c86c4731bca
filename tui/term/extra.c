/* extra - attributes of cells that libvterm does not support: links, underlines, joined emoji. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/extra.h"

#include <string.h>

#define LOOK_BACK 64 /* extras searched for an equal one: a program uses few at a time */

void extras_done(struct extras *x)
{
	for (size_t i = 0; i < EXTRA_LINKS; i++)
		free(x->links[i]);
	free(x->list);
	*x = (struct extras){0};
}

static bool is_same(const struct extra *a, const struct extra *b)
{
	return a->line == b->line && a->link == b->link && a->underline == b->underline &&
	       str_eq(a->cluster, b->cluster);
}

unsigned extras_add(struct extras *x, const struct extra *e)
{
	if (is_same(e, &(struct extra){0}))
		return 0;
	for (size_t i = x->n; i > x->n - MIN(x->n, (size_t)LOOK_BACK); i--)
		if (is_same(e, &x->list[i - 1]))
			return (unsigned)i;
	if (x->n == EXTRA_MAX - 1)
		return 0;
	if (x->n == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 16;
		x->list = xrealloc(x->list, x->cap * sizeof(*x->list));
	}
	x->list[x->n++] = *e;
	return (unsigned)x->n;
}

const struct extra *extras_at(const struct extras *x, unsigned number)
{
	return number && number <= x->n ? &x->list[number - 1] : NULL;
}

uint32_t extras_link(struct extras *x, const char *url, size_t len)
{
	char **slot;

	if (!len || len > LINK_MAX || x->n_links == UINT32_MAX)
		return 0;
	for (size_t i = 0; i < len; i++)
		if (url[i] <= ' ' || url[i] >= 0x7f)
			return 0;
	for (uint32_t n = x->n_links; n > x->n_links - MIN(x->n_links, (uint32_t)LOOK_BACK); n--) {
		const char *old = x->links[n % EXTRA_LINKS];

		if (strlen(old) == len && memcmp(old, url, len) == 0)
			return n;
	}
	slot = &x->links[++x->n_links % EXTRA_LINKS];
	free(*slot);
	*slot = xstrndup(url, len);
	return x->n_links;
}

const char *extras_url(const struct extras *x, uint32_t link)
{
	if (!link || link > x->n_links || x->n_links - link >= EXTRA_LINKS)
		return NULL;
	return x->links[link % EXTRA_LINKS];
}
