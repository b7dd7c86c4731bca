/* current_name - translates a path in a step's records into the current path of its object. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/current_name.h"

#include <inttypes.h>
#include <string.h>

#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

#define MOVES_MAX 64 /* renames in a cluster that are searched for each path */

/*
 * A step that renames a directory uses both names in its records: the old one before the rename,
 * the new one after. Its summary has an object's before-state under the name at which the step
 * first touched it, and the after-state under the name at the step's end. For concurrent steps that
 * were redone, it is unknown when each had ended.
 */

void current_names_step(struct current_names *c, const struct chain_step *step)
{
	c->now = *step;
	path_set_done(&c->said);
	free(take_ptr(&c->said_at));
}

void current_names_done(struct current_names *c)
{
	path_set_done(&c->said);
	free(take_ptr(&c->said_at));
}

char *current_name_gone(const char *key, uint64_t move)
{
	return xasprintf("%s//%" PRIu64, key, move); /* no path contains "//" */
}

bool current_name_is_gone(const char *key)
{
	return strstr(key, "//");
}

char *current_name_of(const struct current_names *c, uint64_t seq, int root, const char *path)
{
	AUTO_FREE char *now = NULL, *key = NULL;
	uint64_t gone;

	if (!c->moves->n)
		return path_key_make(root, path);
	now = xstrdup(path);
	gone = renames_trace(c->moves, seq, &root, &now);
	key = path_key_make(root, now);
	return gone ? current_name_gone(key, gone) : take_ptr(&key);
}

static void listen(struct current_names *c)
{
	struct rec rec;
	size_t at = 0, cap = 0;

	while (undo_log_next(c->now.log, &at, &rec)) {
		const char *const paths[] = {rec.path, rec.path2};
		const int roots[] = {rec.root, rec.root2};

		for (int i = 0; i < 2 && !rec_is_quiet(rec.type) && *paths[i]; i++) {
			if (!path_set_add(&c->said, roots[i], paths[i]))
				continue;
			GROW(c->said_at, cap, path_set_count(&c->said) - 1);
			c->said_at[path_set_count(&c->said) - 1] = rec.seq;
		}
	}
}

/* Returns the number of the step's first record of the path, or 0. */
static uint64_t said_at(struct current_names *c, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	size_t i;

	if (!path_set_count(&c->said))
		listen(c);
	i = path_set_find(&c->said, key);
	return i == PATH_SET_NONE ? 0 : c->said_at[i];
}

bool current_name_find(struct current_names *c, int root, const char *path,
		       struct current_name *ret)
{
	bool moved = renames_touch_in(c->moves, c->now.first, c->now.last, root, path);
	uint64_t at = 0;

	*ret = (struct current_name){0};
	if (moved && (!c->now.end || (c->now.turned && !c->now.alone)))
		return false;
	ret->left = current_name_of(c, moved ? c->now.end : c->now.last, root, path);
	if (moved)
		at = c->now.turned ? c->now.first - 1 : said_at(c, root, path);
	if (!moved)
		ret->found = xstrdup(ret->left);
	else if (at)
		ret->found = current_name_of(c, at, root, path);
	return true;
}

bool current_name_any(const struct current_names *c, int root, const char *path,
		      struct path_set *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < c->moves->n; i++) {
		uint64_t seq = c->moves->list[i].seq;

		if (seq < c->now.first || seq > c->now.last)
			continue;
		if (++n > MOVES_MAX)
			return false;
		for (int after = 0; after < 2; after++) {
			AUTO_FREE char *key = current_name_of(c, seq - !after, root, path);

			path_set_add_key(ret, key);
		}
	}
	return true;
}

void current_name_done(struct current_name *called)
{
	free(called->found);
	free(called->left);
}
