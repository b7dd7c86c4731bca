/* current_name - translates a path in a step's records into the current path of its object. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/current_name.h"

#include <inttypes.h>
#include <string.h>

#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/path_set.h"

#define MOVES_MAX 64 /* of a cluster, that are looked through for each path */

/*
 * Steps move directories, and what one calls a/x another calls b/x. A step itself calls it by both:
 * what it found there, by the name at which it first spoke of it; what it left, by that of its end.
 * Of steps that overlapped, and were redone since, nobody knows when each had ended.
 */

void called_step(struct caller *c, const struct chain_step *step)
{
	c->now = *step;
	names_done(&c->said);
	free(take_ptr(&c->said_at));
}

void caller_done(struct caller *c)
{
	names_done(&c->said);
	free(take_ptr(&c->said_at));
}

char *called_gone(const char *key, uint64_t move)
{
	return xasprintf("%s//%" PRIu64, key, move); /* no path has that */
}

bool called_is_gone(const char *key)
{
	return strstr(key, "//");
}

char *called_now(const struct caller *c, uint64_t seq, int root, const char *path)
{
	AUTO_FREE char *now = NULL, *key = NULL;
	uint64_t gone;

	if (!c->moves->n)
		return key_make(root, path);
	now = xstrdup(path);
	gone = moves_trace(c->moves, seq, &root, &now);
	key = key_make(root, now);
	return gone ? called_gone(key, gone) : take_ptr(&key);
}

static void listen(struct caller *c)
{
	struct rec rec;
	size_t at = 0, cap = 0;

	while (wal_next(c->now.log, &at, &rec)) {
		const char *const paths[] = {rec.path, rec.path2};
		const int roots[] = {rec.root, rec.root2};

		for (int i = 0; i < 2 && !rec_is_quiet(rec.type) && *paths[i]; i++) {
			if (!names_add(&c->said, roots[i], paths[i]))
				continue;
			if (names_count(&c->said) > cap) {
				cap = cap ? cap + cap / 2 : 16;
				c->said_at = xrealloc(c->said_at, cap * sizeof(*c->said_at));
			}
			c->said_at[names_count(&c->said) - 1] = rec.seq;
		}
	}
}

/* The record in which the step first spoke of the path; 0: it did not. */
static uint64_t said_at(struct caller *c, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	size_t i;

	if (!names_count(&c->said))
		listen(c);
	i = names_find(&c->said, key);
	return i == NAMES_NONE ? 0 : c->said_at[i];
}

bool called_find(struct caller *c, int root, const char *path, struct called *ret)
{
	bool moved = moves_touch_in(c->moves, c->now.first, c->now.last, root, path);
	uint64_t at = 0;

	*ret = (struct called){0};
	if (moved && (!c->now.end || (c->now.turned && !c->now.alone)))
		return false;
	ret->left = called_now(c, moved ? c->now.end : c->now.last, root, path);
	if (moved)
		at = c->now.turned ? c->now.first - 1 : said_at(c, root, path);
	if (!moved)
		ret->found = xstrdup(ret->left);
	else if (at)
		ret->found = called_now(c, at, root, path);
	return true;
}

bool called_any(const struct caller *c, int root, const char *path, struct names *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < c->moves->n; i++) {
		uint64_t seq = c->moves->list[i].seq;

		if (seq < c->now.first || seq > c->now.last)
			continue;
		if (++n > MOVES_MAX)
			return false;
		for (int after = 0; after < 2; after++) {
			AUTO_FREE char *key = called_now(c, seq - !after, root, path);

			names_add_key(ret, key);
		}
	}
	return true;
}

void called_done(struct called *called)
{
	free(called->found);
	free(called->left);
}
