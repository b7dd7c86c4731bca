/* net_effect - the net effect of several steps on each path. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "core/journal/history.h"
#include "core/journal/util/grow.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/util/path_set.h"

static struct net_effect *get(struct net_effects *f, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	bool fresh;
	size_t i = path_set_put(&f->keys, key, &fresh);

	GROW(f->list, f->cap, i);
	if (fresh)
		f->list[i] = (struct net_effect){0};
	return &f->list[i];
}

const struct net_effect *net_effects_find(const struct net_effects *f, const char *key)
{
	size_t i = path_set_find(&f->keys, key);

	return i == PATH_SET_NONE ? NULL : &f->list[i];
}

static struct net_effect *add(struct net_effects *all, int root, const char *path,
			      const struct change_side *before, const struct change_side *after)
{
	struct net_effect *f = get(all, root, path);

	if (!f->seen)
		f->exists_after = after->exists;
	f->seen = true;
	f->exists_before = before->exists;
	return f;
}

void net_effects_add(struct net_effects *all, const struct change *c)
{
	static const struct change_side nothing;
	struct net_effect *f;

	if (c->kind != CHANGE_RENAMED) {
		add(all, c->root, c->path, &c->before, &c->after);
		return;
	}
	add(all, c->root, c->old_path, &c->before, &nothing);
	f = add(all, c->root, c->path, &nothing, &c->after);
	free(f->renamed_from);
	f->renamed_from = xstrdup(c->old_path);
}

void net_effects_done(struct net_effects *f)
{
	for (size_t i = 0; i < path_set_count(&f->keys); i++)
		free(f->list[i].renamed_from);
	free(f->list);
	path_set_done(&f->keys);
	*f = (struct net_effects){0};
}
