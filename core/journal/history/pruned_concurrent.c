/* pruned_concurrent - logs of pruned steps that were concurrent with one that stays. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/pruned_concurrent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"

/*
 * Of two concurrent steps that changed the same path, none is undone alone (concurrent.c), even if
 * the other one can no longer be undone. So when the other is pruned, its log and images stay in
 * "beside/", without its objects, until no step is left that began before it ended. They count
 * towards the store's size, and are the last to be removed.
 */

struct pruned_log {
	char *name;
	uint64_t ended; /* as a number of the store */
	uint64_t bytes;
	bool gone;
};

static char *path_of(const char *name)
{
	return xasprintf(BESIDE_DIR "/%s", name);
}

/* Returns the earlier one of `first` and the step's beginning. A step whose log cannot be read is
 * never undone, so it does not count. */
static uint64_t earlier(const struct journal *j, const char *where, const char *name,
			uint64_t first)
{
	AUTO_FREE char *log = xasprintf("%s/%s/undo", where, name);
	uint64_t began;

	return undo_log_peek_first(j->store, log, &began) == 0 ? MIN(first, began) : first;
}

static uint64_t first_of(const struct journal *j, const char *where)
{
	uint64_t first = UINT64_MAX;
	AUTO_NAMES struct names names = {0};

	if (store_names(j, where, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++)
		first = earlier(j, where, names.list[i], first);
	return first;
}

bool pruned_concurrent_look(struct pruned_concurrent *b)
{
	size_t k;

	if (!b->since) {
		b->since = xcalloc(b->n_steps + 1, sizeof(*b->since));
		b->unread = b->n_steps;
		b->since[b->unread] = MIN(first_of(b->j, "redo"), first_of(b->j, "open"));
		return true;
	}
	if (!b->unread)
		return false;
	k = --b->unread;
	b->since[k] = earlier(b->j, "steps", b->steps[k], b->since[k + 1]);
	return true;
}

static uint64_t since(struct pruned_concurrent *b, size_t i)
{
	while (pruned_concurrent_look(b))
		;
	return b->since[i];
}

static void add(struct pruned_concurrent *b, const char *name, uint64_t ended, uint64_t bytes)
{
	if (b->n % 16 == 0)
		b->list = xrealloc(b->list, (b->n + 16) * sizeof(*b->list));
	b->list[b->n++] =
		(struct pruned_log){.name = xstrdup(name), .ended = ended, .bytes = bytes};
}

/* Removes a log. If that fails, the next pruning tries again. */
static uint64_t drop(struct pruned_concurrent *b, struct pruned_log *one)
{
	AUTO_FREE char *dir = path_of(one->name);

	one->gone = true;
	b->dropped |= !b->look_only && store_trash(b->j, dir) == 0;
	return one->bytes;
}

/* Those that ended before all that is left began. */
static uint64_t drop_before(struct pruned_concurrent *b, uint64_t first)
{
	uint64_t freed = 0;

	for (size_t i = 0; i < b->n; i++)
		if (!b->list[i].gone && b->list[i].ended < first)
			freed += drop(b, &b->list[i]);
	return freed;
}

uint64_t pruned_concurrent_drop_alone(struct pruned_concurrent *b)
{
	return b->n ? drop_before(b, since(b, 0)) : 0;
}

/* It only makes room: a step that was moved and no more is finished with next time. */
static void strip(struct journal *j, const char *name)
{
	AUTO_FREE char *obj = xasprintf(BESIDE_DIR "/%s/obj", name);

	if (faccessat(j->store, obj, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		store_trash(j, obj);
}

int pruned_concurrent_begin(struct pruned_concurrent *b)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(b->j, BESIDE_DIR, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = path_of(names.list[i]);
		AUTO_CLOSE int fd = store_open_dir(b->j, dir);
		uint64_t ended = 0;

		if (fd < 0 || summary_seq(fd, &ended) < 0)
			ended = 0; /* unknown: removed first */
		add(b, names.list[i], ended, fd < 0 ? 0 : usage_held_files(fd));
		if (!b->look_only)
			strip(b->j, names.list[i]);
	}
	return r == -ENOENT ? 0 : r; /* only looked at, and made by an older version */
}

/* Returns whether the step ended after `first`, and the bytes of its logs. False if its summary
 * cannot be read: perhaps no file can. */
static bool ended_after(const struct journal *j, const char *dir, uint64_t first,
			uint64_t *ret_ended, uint64_t *ret_bytes)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);

	*ret_bytes = 0;
	if (fd < 0 || summary_seq(fd, ret_ended) < 0 || *ret_ended <= first)
		return false;
	*ret_bytes = usage_held_files(fd);
	return true;
}

int pruned_concurrent_let_go(struct pruned_concurrent *b, size_t i, uint64_t held,
			     uint64_t *ret_freed)
{
	AUTO_FREE char *dir = xasprintf("steps/%s", b->steps[i]), *to = path_of(b->steps[i]);
	uint64_t first = since(b, i + 1), ended = 0, bytes;
	bool stays = ended_after(b->j, dir, first, &ended, &bytes);
	int r = 0;

	if (!b->look_only && !stays)
		r = store_trash(b->j, dir);
	else if (!b->look_only && renameat(b->j->store, dir, b->j->store, to) < 0)
		r = -errno;
	if (r < 0)
		return r;
	if (stays)
		add(b, b->steps[i], ended, bytes);
	if (stays && !b->look_only)
		strip(b->j, b->steps[i]);
	*ret_freed = held - (stays ? MIN(bytes, held) : 0) + drop_before(b, first);
	return 0;
}

bool pruned_concurrent_drop_one(struct pruned_concurrent *b, uint64_t *ret_freed)
{
	for (size_t i = 0; i < b->n; i++)
		if (!b->list[i].gone) {
			*ret_freed = drop(b, &b->list[i]);
			return true;
		}
	return false;
}

void pruned_concurrent_done(struct pruned_concurrent *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->list[i].name);
	free(b->list);
	free(b->since);
}

bool pruned_concurrent_clear(struct journal *j)
{
	struct pruned_concurrent b = {.j = j};
	uint64_t freed;

	if (pruned_concurrent_begin(&b) == 0)
		while (pruned_concurrent_drop_one(&b, &freed))
			;
	pruned_concurrent_done(&b);
	return b.dropped;
}
