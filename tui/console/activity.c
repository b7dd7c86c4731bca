/* activity - the rows of the model as a human reads them: one for an object and a command, with
 * counts, at a level of detail. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/activity.h"

#include <string.h>

#include "core/base/path.h"
#include "core/session/answers.h"

void activity_done(struct activity *a)
{
	activity_set(a, a->level);
	free(a->items);
	free(a->shown);
	a->items = NULL;
	a->shown = NULL;
	a->cap = a->cap_shown = 0;
}

static void item_free(struct activity *a, struct activity_item *item)
{
	if (*item->key && a->by_key)
		HASH_DEL(a->by_key, item);
	free(item->key);
	free(item);
}

void activity_set(struct activity *a, enum activity_level level)
{
	for (size_t i = 0; i < a->n; i++)
		item_free(a, a->items[i]);
	a->level = level;
	a->n = a->n_shown = 0;
	a->seen_seq = a->purged_seq = 0;
	a->stale = true;
}

const char *activity_level_words(enum activity_level level)
{
	static const char *const words[ACTIVITY_LEVELS] = {
		[ACTIVITY_PLAIN] = "without git's own files",
		[ACTIVITY_STAYS] = "the project's files, and decisions",
		[ACTIVITY_DECIDED] = "asked and refused alone",
		[ACTIVITY_ALL] = "everything",
	};

	return words[level];
}

bool activity_is_group(const struct activity_item *item, const struct row *r)
{
	return item->objects > (r->kind == ROW_DENY);
}

size_t activity_git_dir(const char *path)
{
	const char *at = strstr(path, "/.git/");

	return at ? (size_t)(at - path) + strlen("/.git") : 0;
}

static uint64_t first_seq(const struct model *m)
{
	const struct row *r = model_row(m, 0);

	return r ? r->seq : m->row_seq + 1;
}

const struct row *activity_row(const struct model *m, const struct activity_item *item)
{
	uint64_t first = first_seq(m);

	return item->last >= first ? model_row(m, item->last - first) : NULL;
}

const struct activity_item *activity_at(const struct activity *a, size_t i)
{
	return i < a->n_shown ? a->items[a->shown[i]] : NULL;
}

/* ---- one row -------------------------------------------------------------------------------- */

static bool is_delete(const struct row *r)
{
	return r->kind == ROW_TOUCH && str_eq(answers_op(r->op ? r->op : ""), "delete");
}

static bool is_rename(const struct row *r)
{
	return r->kind == ROW_TOUCH && r->more && str_eq(answers_op(r->op ? r->op : ""), "rename");
}

/* What a row is about: after a rename the new name. */
static const char *object_of(const struct row *r)
{
	return is_rename(r) ? r->more : r->text ? r->text : "";
}

/* What a profile refuses is tried in each step anew, and is one row. */
static long long step_of_refusal(const struct row *r)
{
	return r->expected ? 0 : r->step;
}

/* Heap; "" for a row that stands for itself. */
static char *key_of(const struct activity *a, const struct row *r)
{
	const char *text = r->text ? r->text : "";

	if (a->level == ACTIVITY_ALL)
		return xstrdup("");
	switch (r->kind) {
	case ROW_TOUCH:
		return xasprintf("t%lld:%s", (long long)r->step, object_of(r));
	case ROW_DENY:
		return xasprintf("d%lld:%s:%s", step_of_refusal(r), r->op ? r->op : "", text);
	case ROW_EXEC:
		/* A step is one command, and make runs cc often. Outside of steps each command
		 * counts: `cat ~/.bashrc` does not stand for `cat ~/.ssh/id`. */
		return r->step ? xasprintf("x%lld:%.*s", (long long)r->step,
					   (int)strcspn(text, " "), text)
			       : xasprintf("x0:%s", text);
	case ROW_EXTERNAL:
		return xasprintf("e:%s", text);
	case ROW_ASK:
	case ROW_DECISION:
	case ROW_NOTE:
		break;
	}
	return xstrdup("");
}

static struct activity_item *find(struct activity *a, const char *key)
{
	struct activity_item *item = NULL;

	if (*key)
		HASH_FIND_STR(a->by_key, key, item);
	return item;
}

static struct activity_item *add(struct activity *a, char *key, const struct row *r)
{
	struct activity_item *item = xcalloc(1, sizeof(*item));

	item->key = key;
	item->first = r->seq;
	item->began_us = r->wall_us;
	if (*key)
		HASH_ADD_KEYPTR(hh, a->by_key, item->key, strlen(item->key), item);
	if (a->n == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 256;
		a->items = xrealloc(a->items, a->cap * sizeof(struct activity_item *));
	}
	a->items[a->n++] = item;
	return item;
}

/* A file of the project that the step left there. */
static bool stays(const struct activity *a, const struct activity_item *item, const struct row *r)
{
	const char *path = object_of(r);

	return r->kind == ROW_TOUCH && !item->gone && !item->objects &&
	       (!a->folder || *path != '/' || path_is_beneath(path, a->folder));
}

static bool is_shown(const struct activity *a, struct activity_item *item, const struct row *r)
{
	bool decided = r->kind == ROW_DENY || r->kind == ROW_ASK || r->kind == ROW_DECISION;

	if (item->hidden)
		return false;
	if (a->level == ACTIVITY_DECIDED && !decided)
		return false;
	if (a->level == ACTIVITY_STAYS && !decided && r->kind != ROW_EXTERNAL &&
	    r->kind != ROW_NOTE && !stays(a, item, r))
		return false;
	if (!a->filter || !*a->filter)
		return true;
	if (item->match == MATCH_UNKNOWN)
		item->match = a->matches(a->data, r) ? MATCH_YES : MATCH_NO;
	return item->match == MATCH_YES;
}

static void show(struct activity *a, struct activity_item *item, size_t index)
{
	if (a->n_shown == a->cap_shown) {
		a->cap_shown = a->cap_shown ? a->cap_shown * 2 : 256;
		a->shown = xrealloc(a->shown, a->cap_shown * sizeof(*a->shown));
	}
	item->shown = true;
	a->shown[a->n_shown++] = index;
}

static void count(struct activity *a, struct activity_item *item, const struct row *r, bool new)
{
	bool was = item->shown, now;

	item->last = r->seq;
	item->match = MATCH_UNKNOWN;
	item->ended_us = r->wall_us;
	item->rows++;
	item->gone = is_delete(r) && !new;
	now = is_shown(a, item, r);
	if (new &&now)
		show(a, item, a->n - 1);
	else if (!new &&now != was)
		a->stale = true;
}

/* Heap: what one row stands for, with others that are like it; NULL: it stands alone. Git's own
 * files of a step, and what one rule refused in one directory: a program that saves a copy under a
 * new name each time tries many. */
static char *group_of(const struct activity *a, const struct row *r)
{
	const char *text = r->text ? r->text : "", *base = path_base(text);
	size_t dir = r->kind == ROW_TOUCH ? activity_git_dir(object_of(r)) : 0;

	if (a->level == ACTIVITY_ALL)
		return NULL;
	if (dir)
		return xasprintf("g%lld:%.*s", (long long)r->step, (int)dir, object_of(r));
	if (r->kind == ROW_DENY && *text == '/' && base > text + 1)
		return xasprintf("D%lld:%s:%.*s:%s", step_of_refusal(r), r->op ? r->op : "",
				 (int)(base - text), text, r->more ? r->more : "");
	return NULL;
}

/* Each is remembered, and one row stands for them all. */
static void take_grouped(struct activity *a, const struct row *r, char *key)
{
	char *own = key_of(a, r);
	struct activity_item *group = find(a, key), *file = find(a, own);
	bool new = !group, new_file = !file;

	if (new_file) {
		file = add(a, own, r);
		file->hidden = true;
	} else {
		free(own);
	}
	count(a, file, r, new_file);
	if (new)
		group = add(a, key, r);
	else
		free(key);
	group->objects += new_file;
	count(a, group, r, new);
}

/* The old name of what was renamed has gone. */
static void leave(struct activity *a, const struct row *r)
{
	AUTO_FREE char *key = xasprintf("t%lld:%s", (long long)r->step, r->text ? r->text : "");
	struct activity_item *item = find(a, key);

	if (!item || item->gone)
		return;
	item->gone = true;
	a->stale = true;
}

static void take(struct activity *a, const struct row *r)
{
	char *key = group_of(a, r);
	struct activity_item *item;
	bool new;

	if (key) {
		take_grouped(a, r, key);
		return;
	}
	if (is_rename(r) && a->level != ACTIVITY_ALL)
		leave(a, r);
	key = key_of(a, r);
	item = find(a, key);
	new = !item;
	if (new)
		item = add(a, key, r);
	else
		free(key);
	count(a, item, r, new);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void purge(struct activity *a, uint64_t first)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (a->items[i]->last < first)
			item_free(a, a->items[i]);
		else
			a->items[kept++] = a->items[i];
	}
	a->stale |= kept != a->n;
	a->n = kept;
	a->purged_seq = first;
}

static void collect(struct activity *a, const struct model *m)
{
	a->n_shown = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct row *r = activity_row(m, a->items[i]);

		a->items[i]->shown = false;
		if (r && is_shown(a, a->items[i], r))
			show(a, a->items[i], i);
	}
	a->stale = false;
}

void activity_filter(struct activity *a, const char *filter)
{
	a->filter = filter;
	a->stale = true;
	for (size_t i = 0; i < a->n; i++)
		a->items[i]->match = MATCH_UNKNOWN;
}

void activity_update(struct activity *a, const struct model *m)
{
	uint64_t first = first_seq(m);

	if (m->row_seq < a->seen_seq || first < a->purged_seq)
		activity_set(a, a->level);
	if (first > a->purged_seq)
		purge(a, first);
	for (size_t i = a->seen_seq >= first ? a->seen_seq - first + 1 : 0; i < m->row_count; i++)
		take(a, model_row(m, i));
	a->seen_seq = m->row_seq;
	if (a->stale)
		collect(a, m);
}
