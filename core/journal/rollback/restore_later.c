/* restore_later - finds out what later steps did to the paths of a restore. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/history/net_effect.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * What a later step did is kept, as what the restore takes away is: only where somebody else had a
 * hand in it the human decides. So each later step must have found the path as the one before had
 * left it, and what lies there now must be what the last of them left.
 */

static struct since *since_of(struct restore *r, int root, char *path)
{
	const struct change *own = restore_find(r, root, path);

	return own ? &r->pieces[own - r->list].since : NULL;
}

static void follow(struct since *s, const struct change_side *found, const struct change_side *left)
{
	s->later = true;
	s->broken |= !sides_equal(&s->left, found);
	s->left = *left;
}

/* Below a directory that it moved away nothing is left, and that went as it was. What came to the
 * place of another is nothing that this step knew. */
static void take_below(struct restore *r, const struct change *c)
{
	static const struct change_side none;

	for (size_t i = restore_below(r, c->root, c->old_path);
	     restore_is_inside(r, i, c->root, c->old_path); i++)
		follow(&r->pieces[i].since, &r->pieces[i].since.left, &none);
	for (size_t i = restore_below(r, c->root, c->path);
	     restore_is_inside(r, i, c->root, c->path); i++)
		r->pieces[i].since.broken = true;
}

static void take(void *data, const struct summary *head, const struct change *c)
{
	static const struct change_side none;
	struct restore *r = data;
	struct since *to = since_of(r, c->root, c->path);
	struct since *from = c->old_path ? since_of(r, c->root, c->old_path) : NULL;

	(void)head;
	if (c->old_path && S_ISDIR(c->after.mode))
		take_below(r, c);
	if (from)
		follow(from, &c->before, &none);
	if (to)
		follow(to, c->old_path ? &none : &c->before, &c->after);
}

/* What it did is not known, or not all of it. */
static void break_all(struct restore *r)
{
	for (size_t i = 0; i < r->n; i++)
		r->pieces[i].since.broken = true;
}

static int read_step(struct restore *r, const char *name)
{
	AUTO_FREE char *dir = xasprintf("steps/%s", name);
	AUTO_CLOSE int fd = store_open_dir(r->j, dir);
	struct summary head = {0};
	int e;

	if (fd == -ENOENT) /* it had to go since it was listed */
		break_all(r);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	e = summary_read(fd, &head, take, r);
	if (e < 0 || head.partial)
		break_all(r);
	summary_done(&head);
	return step_is_damaged(e) ? 0 : e;
}

int since_load(struct restore *r)
{
	char **names = NULL;
	size_t n = 0;
	int e = store_names(r->j, "steps", &names, &n);

	for (size_t i = 0; i < r->n; i++)
		r->pieces[i].since.left = r->list[i].after;
	for (size_t i = 0; e == 0 && i < n; i++)
		if (llabs(atoll(names[i])) > llabs(r->id))
			e = read_step(r, names[i]);
	store_names_free(names, n);
	return e;
}
