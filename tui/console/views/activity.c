/* activity - groups the model's rows into items with counts, at a level of detail. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/activity.h"

#include <string.h>

#include "core/base/path.h"
#include "core/keeper/service.h"
#include "core/session/answers/answers.h"

#define QUESTIONS_BACK 500 /* items among which an answer looks for its question */

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
	free(item->below);
	free(item);
}

void activity_set(struct activity *a, enum activity_level level)
{
	for (size_t i = 0; i < a->n; i++)
		item_free(a, a->items[i]);
	activity_procs_done(&a->procs);
	a->level = level;
	a->n = a->n_shown = 0;
	a->seen_seq = a->purged_seq = 0;
	a->stale = true;
}

const char *activity_level_words(enum activity_level level)
{
	static const char *const words[ACTIVITY_LEVELS] = {
		[ACTIVITY_PLAIN] = "without git's own files",
		[ACTIVITY_STAYS] = "project and decisions",
		[ACTIVITY_DECIDED] = "asked and refused alone",
		[ACTIVITY_ALL] = "everything",
	};

	return words[level];
}

bool activity_is_group(const struct activity_item *item, const struct row *r)
{
	return !item->below && item->objects > (r->kind == ROW_DENY);
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
	uint64_t seq = item->children && item->first >= first ? item->first : item->last;

	return seq >= first ? model_row(m, seq - first) : NULL;
}

bool activity_is_dir(const struct activity_item *item)
{
	return item->below && item->objects >= ACTIVITY_MANY;
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

/* Returns the object of a row: after a rename the new name. */
static const char *object_of(const struct row *r)
{
	return is_rename(r) ? r->more : r->text ? r->text : "";
}

/* Returns the step of a refusal; 0 if the profile expects it: such refusals are one row for all
 * steps. */
static long long step_of_refusal(const struct row *r)
{
	return r->expected ? 0 : r->step;
}

/* Returns the key of the item that a row belongs to; "" if it has an item of its own. Heap. */
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
		/* Outside steps each command line counts: `cat ~/.bashrc` does not represent `cat
		 * ~/.ssh/id`. */
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

/* Returns whether it is a commit, or a file of the project that exists after the step. */
static bool stays(const struct activity *a, const struct activity_item *item, const struct row *r)
{
	const char *path = object_of(r);

	if (item->commit)
		return true;
	return r->kind == ROW_TOUCH && !item->gone && (!item->objects || item->below) &&
	       (!a->folder || *path != '/' || path_is_beneath(path, a->folder));
}

/* Returns whether a profile expects this refusal on every start; an attempt to find a secret is
 * still news. */
static bool is_usual(const struct row *r)
{
	return r->kind == ROW_DENY && r->expected && !str_eq(r->op, LOOKED_FOR);
}

static bool is_shown(const struct activity *a, struct activity_item *item, const struct row *r)
{
	bool decided = (r->kind == ROW_DENY && (a->level != ACTIVITY_STAYS || !is_usual(r))) ||
		       r->kind == ROW_ASK || r->kind == ROW_DECISION;

	if (r->kind == ROW_ASK && item->gone && a->level <= ACTIVITY_STAYS)
		return false;
	if (item->hidden || item->moved || (item->below && !activity_is_dir(item)) ||
	    (item->dir && activity_is_dir(item->dir)))
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

/* Sets `gone`, and counts the directory's remaining files. Files that existed before count, too. */
static void set_gone(struct activity *a, struct activity_item *item, bool gone)
{
	if (item->below)
		return;
	if (item->dir && item->gone != gone) {
		item->dir->objects += gone ? (size_t)-1 : 1;
		a->stale = true;
	}
	item->gone = gone;
}

static void count(struct activity *a, struct activity_item *item, const struct row *r, bool new)
{
	bool was = item->shown, now;

	item->last = r->seq;
	item->match = MATCH_UNKNOWN;
	item->ended_us = r->wall_us;
	item->rows++;
	item->moved = false;
	set_gone(a, item, is_delete(r) && !new);
	now = is_shown(a, item, r);
	if (new &&now)
		show(a, item, a->n - 1);
	else if (!new &&now != was)
		a->stale = true;
}

/* Returns the key of the group that a row belongs to: git's own files of a step, or refusals by one
 * rule in one directory (a program that saves copies under new names tries many). NULL: no group.
 * Heap. */
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

/* Counts a row in its own, hidden item and in its group, which is shown. */
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
	group->commit |= r->kind == ROW_TOUCH && str_ends(object_of(r), "/COMMIT_EDITMSG");
	count(a, group, r, new);
}

/* Marks the old name of a renamed file as gone. */
static void leave(struct activity *a, const struct row *r)
{
	AUTO_FREE char *key = xasprintf("t%lld:%s", (long long)r->step, r->text ? r->text : "");
	struct activity_item *item = find(a, key);

	if (!item || item->gone)
		return;
	set_gone(a, item, true);
	item->moved = a->stale = true;
}

/* Returns the length of the path's directory directly below the project's folder; 0: there is
 * none. */
static size_t top_dir(const struct activity *a, const char *path)
{
	size_t len = a->folder ? strlen(a->folder) : 0;
	const char *slash;

	if (!len || !path_is_beneath(path, a->folder) || path[len] != '/')
		return 0;
	slash = strchr(path + len + 1, '/');
	return slash ? (size_t)(slash - path) : 0;
}

/* Hides the question that was answered. */
static void close_question(struct activity *a, const struct model *m, const struct row *answer)
{
	for (size_t i = a->n, seen = 0; i-- > 0 && seen < QUESTIONS_BACK; seen++) {
		const struct row *r = activity_row(m, a->items[i]);

		if (!r || r->kind != ROW_ASK || a->items[i]->gone ||
		    !str_eq(answers_op(r->op), answers_op(answer->op)) ||
		    !str_eq(r->text, answer->text))
			continue;
		a->items[i]->gone = a->stale = true;
		return;
	}
}

/* Shortens the directory to the longest one that contains path, too. */
static void narrow(struct activity_item *dir, const char *path)
{
	size_t same = 0, len = 0;

	for (; dir->below[same] && dir->below[same] == path[same]; same++)
		if (dir->below[same] == '/')
			len = same;
	if (!dir->below[same] && path[same] == '/')
		len = same;
	dir->below[len] = '\0';
}

/* Counts a file in its directory, which gets a row of its own in place of the files' from
 * ACTIVITY_MANY files on. */
static void join_dir(struct activity *a, struct activity_item *file, const struct row *r)
{
	const char *path = object_of(r);
	size_t len = r->kind == ROW_TOUCH && r->step ? top_dir(a, path) : 0;
	AUTO_FREE char *key = NULL;
	struct activity_item *dir;
	bool was, new;

	if (!len || a->level == ACTIVITY_ALL)
		return;
	key = xasprintf("f%lld:%.*s", (long long)r->step, (int)len, path);
	dir = find(a, key);
	new = !dir;
	if (new) {
		dir = add(a, take_ptr(&key), r);
		dir->below = xstrndup(path, (size_t)(path_base(path) - path) - 1);
	}
	was = activity_is_dir(dir);
	narrow(dir, path);
	dir->objects += file->dir == NULL;
	dir->removed += file->dir == NULL && is_delete(r);
	file->dir = dir;
	count(a, dir, r, false);
	a->stale |= was != activity_is_dir(dir) || (file->shown && activity_is_dir(dir));
}

/* Returns the key of a row; for programs that of the command whose process runs them. */
static char *command_key(struct activity *a, const struct row *r, bool *ret_child)
{
	AUTO_FREE char *own = key_of(a, r);

	*ret_child = false;
	if (r->kind != ROW_EXEC || a->level == ACTIVITY_ALL)
		return take_ptr(&own);
	return activity_procs_key(&a->procs, r, own, a->agent ? a->agent : "", ret_child);
}

static void take(struct activity *a, const struct model *m, const struct row *r)
{
	char *key = group_of(a, r);
	struct activity_item *item;
	bool new, child;

	if (key) {
		take_grouped(a, r, key);
		return;
	}
	if (r->kind == ROW_DECISION && r->ask)
		close_question(a, m, r);
	if (is_rename(r) && a->level != ACTIVITY_ALL)
		leave(a, r);
	key = command_key(a, r, &child);
	item = find(a, key);
	new = !item;
	if (new)
		item = add(a, key, r);
	else
		free(key);
	item->children += child && !new;
	count(a, item, r, new);
	join_dir(a, item, r);
}

/* ---- all rows -------------------------------------------------------------------------------- */

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
		take(a, m, model_row(m, i));
	a->seen_seq = m->row_seq;
	if (a->stale)
		collect(a, m);
}
