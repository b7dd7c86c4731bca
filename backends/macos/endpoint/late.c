/* late - calls that were denied at their deadline while the user's answer was pending. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/late.h"

#include <utlist.h>

#include "core/base/util.h"

struct late_call {
	uint64_t handle;
	struct es_id process;
	enum es_kind kind;
	char *path, *path2;
	bool allowed;
	int64_t until_us;
	struct late_call *prev, *next;
};

static void drop(struct late *l, struct late_call *one)
{
	DL_DELETE(l->list, one);
	l->n--;
	free(one->path);
	free(one->path2);
	free(one);
}

void late_add(struct late *l, const struct es_message *m)
{
	struct late_call *one = xcalloc(1, sizeof(*one));

	if (l->n == LATE_MAX)
		drop(l, l->list);
	*one = (struct late_call){.handle = m->handle,
				  .process = m->process,
				  .kind = m->kind,
				  .path = xstrdup(m->path),
				  .path2 = xstrdup(m->path2)};
	DL_APPEND(l->list, one);
	l->n++;
}

void late_answer(struct late *l, uint64_t handle, bool allow, int64_t until_us)
{
	struct late_call *one;

	DL_SEARCH_SCALAR(l->list, one, handle, handle);
	if (one && !allow) {
		drop(l, one);
	} else if (one) {
		one->allowed = true;
		one->until_us = until_us;
	}
}

static bool is_same(const struct late_call *one, const struct es_message *m)
{
	return one->process.pid == m->process.pid && es_same_start(one->process, m->process) &&
	       one->kind == m->kind && str_eq(one->path, m->path) &&
	       (!one->path2 || str_eq(one->path2, m->path2));
}

bool late_take(struct late *l, const struct es_message *m, int64_t now_us)
{
	struct late_call *one, *next;

	DL_FOREACH_SAFE (l->list, one, next) {
		bool good = one->allowed && one->until_us >= now_us;

		if (!one->allowed || !is_same(one, m))
			continue;
		drop(l, one);
		if (good)
			return true;
	}
	return false;
}

void late_clear(struct late *l)
{
	while (l->list)
		drop(l, l->list);
}
