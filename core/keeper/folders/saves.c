/* saves - temporary files of programs outside that are about to take a protected name. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/saves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/base/util.h"
#include "core/journal/fs/object.h"
#include "core/keeper/state.h"

#define SAVES_MAX 256 /* remembered; an older one counts as made outside */

struct made {
	struct object obj;
	char *path;
};

struct saves {
	struct made list[SAVES_MAX];
	unsigned next;
	struct made answered[SAVES_MAX];
	unsigned next_answered;
};

static bool is_made(const struct saves *s, const struct object *o)
{
	for (size_t i = 0; s && i < SAVES_MAX; i++)
		if (s->list[i].path && object_same(&s->list[i].obj, o))
			return true;
	return false;
}

int saves_judge(const struct folder *f, enum policy_act act, const struct at *at, const char *path,
		bool creates)
{
	const struct keeper *k = f->keeper;
	struct object o;
	int r;

	/* Changes of modes and times, and new directories, put no content into it. */
	if (act == POLICY_META || act == POLICY_MKDIR || !policy_carries_save(k->policy, path))
		return 0;
	r = object_stat(at->dirfd, at->name, &o);
	if (r < 0)
		return r;
	if (o.mode == 0)
		return creates ? 0 : -ENOENT;
	return S_ISREG(o.mode) && !is_made(k->saves, &o);
}

bool saves_is_free(const struct folder *f, const struct at *at, const char *path)
{
	struct object o;

	return policy_carries_save(f->keeper->policy, path) &&
	       object_stat(at->dirfd, at->name, &o) == 0 && o.mode == 0;
}

static void set(struct made *m, const char *path, const struct object *o)
{
	free(m->path);
	*m = (struct made){.obj = *o, .path = xstrdup(path)};
}

/* Returns an entry whose name is free, or is this one; else the oldest. A stale lock stays known
 * until it is removed. */
static struct made *find_room(struct saves *s, const char *path)
{
	for (size_t i = 0; i < SAVES_MAX; i++) {
		struct made *m = &s->list[s->next++ % SAVES_MAX];
		struct object o;

		if (!m->path || str_eq(m->path, path) ||
		    (object_stat(AT_FDCWD, m->path, &o) == 0 && o.mode == 0))
			return m;
	}
	return &s->list[s->next++ % SAVES_MAX];
}

static void add(struct keeper *k, const char *path, const struct object *o)
{
	if (is_made(k->saves, o))
		return;
	if (!k->saves)
		k->saves = xcalloc(1, sizeof(*k->saves));
	set(find_room(k->saves, path), path, o);
}

void saves_made(const struct folder *f, const struct at *at, const char *path)
{
	struct object o;

	if (policy_carries_save(f->keeper->policy, path) &&
	    object_stat(at->dirfd, at->name, &o) == 0 && S_ISREG(o.mode))
		add(f->keeper, path, &o);
}

bool saves_is_theirs(const struct keeper *k, const char *path, const struct object *o)
{
	return k->policy && policy_carries_save(k->policy, path) && !is_made(k->saves, o);
}

void saves_placed(struct keeper *k, const char *path, const struct object *o)
{
	if (k->policy && policy_carries_save(k->policy, path))
		add(k, path, o);
}

const char *saves_in_use(const struct keeper *k)
{
	for (size_t i = 0; k->saves && i < SAVES_MAX; i++) {
		const char *path = k->saves->list[i].path;
		struct object o;

		if (path && object_stat(AT_FDCWD, path, &o) == 0 && S_ISREG(o.mode) &&
		    !is_made(k->saves, &o))
			return path;
	}
	return NULL;
}

void saves_answered(const struct folder *f, const struct at *at, const char *path)
{
	struct keeper *k = f->keeper;
	struct object o;

	if (object_stat(at->dirfd, at->name, &o) < 0 || !S_ISREG(o.mode))
		return;
	if (!k->saves)
		k->saves = xcalloc(1, sizeof(*k->saves));
	set(&k->saves->answered[k->saves->next_answered++ % SAVES_MAX], path, &o);
}

static const struct object whichever;

void saves_foreseen(struct keeper *k, const char *path)
{
	if (!k->saves)
		k->saves = xcalloc(1, sizeof(*k->saves));
	set(&k->saves->answered[k->saves->next_answered++ % SAVES_MAX], path, &whichever);
}

bool saves_arrived(const struct folder *f, const struct at *at, const char *path)
{
	struct saves *s = f->keeper->saves;
	bool found = false;
	struct object o;

	if (!s || object_stat(at->dirfd, at->name, &o) < 0 || !o.mode)
		return false;
	for (size_t i = 0; i < SAVES_MAX; i++)
		if (s->answered[i].path && !s->answered[i].obj.mode &&
		    str_eq(s->answered[i].path, path)) {
			s->answered[i].obj = o;
			found = true;
		}
	return found;
}

bool saves_is_answered(const struct keeper *k, const char *path, const struct object *o)
{
	for (size_t i = 0; k->saves && i < SAVES_MAX; i++) {
		const struct made *m = &k->saves->answered[i];

		if (m->path && (!m->obj.mode || object_same(&m->obj, o)) && str_eq(m->path, path))
			return true;
	}
	return false;
}

void saves_done(struct keeper *k)
{
	for (size_t i = 0; k->saves && i < SAVES_MAX; i++) {
		free(k->saves->list[i].path);
		free(k->saves->answered[i].path);
	}
	free(k->saves);
	k->saves = NULL;
}
