/* rename_tree - the tree of renamed directories at any moment. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/util/grow.h"

/*
 * Theory of operation.
 *
 * A tree of hooks and directories. A hook is a name in a directory. At each moment it holds one
 * directory, or none that is known. A move takes a directory from its hook to another hook;
 * everything below follows without any change. Each hook has a list of the directories that it
 * held, and each directory a list of its hooks, by moment. So a past path is followed down the tree
 * of that moment, as far as directories are known, and from there up the tree of the later moment.
 *
 * Only directories that a move names are in the tree. If a move names a directory for the first
 * time, its hook has held it since the last directory left that hook; the hook is in the directory
 * above, at every moment.
 *
 * If the target hook holds no directory, names below it (of a directory that was created and
 * removed, say) stay until a directory comes to the hook, and belong to that directory afterwards.
 * If it holds one, the two become one: the directory with fewer names is merged into the other,
 * name by name.
 *
 * A mark is on a hook, and moves with the directory in which the hook is a name.
 */

#define NONE	UINT32_MAX
#define KEY_DIR 5 /* characters of a key before the name: the directory's number */

struct turn { /* an entry of a list: its value from moment `since` on */
	uint32_t since, what;
};

struct turns {
	struct turn *list;
	uint32_t n, cap;
};

struct hook {
	uint32_t dir;	   /* the directory that has the name */
	uint32_t next;	   /* the next hook of that directory */
	struct turns held; /* directories, or NONE; before the first entry: NONE */
	unsigned marks;
};

struct hung {
	struct turns hooks;
	uint32_t first, n; /* names in it */
	uint32_t into;	   /* the directory that it was merged into, or NONE */
	uint32_t since;
};

/* ---- moments ----------------------------------------------------------------------------------
 */

static void turn_add(struct turns *t, uint32_t since, uint32_t what)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap + t->cap / 2 : 2;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[t->n++] = (struct turn){.since = since, .what = what};
}

/* Returns how many entries begin at that moment or before. */
static uint32_t turns_by(const struct turns *t, uint32_t then)
{
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->list[mid].since <= then)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

/* Returns a hook's key: the directory's number, in bytes that are never NUL, and the name. */
static char *hook_key(uint32_t dir, const char *name, size_t len)
{
	char *key = xmalloc(KEY_DIR + len + 1);

	for (int i = 0; i < KEY_DIR; i++)
		key[i] = (char)(0x80 | (dir >> 7 * i & 0x7f));
	memcpy(key + KEY_DIR, name, len);
	key[KEY_DIR + len] = '\0';
	return key;
}

static const char *hook_name(const struct rename_tree *h, uint32_t hook)
{
	return path_set_key(&h->names, hook) + KEY_DIR;
}

static uint32_t hook_find(const struct rename_tree *h, uint32_t dir, const char *name, size_t len)
{
	AUTO_FREE char *key = hook_key(dir, name, len);
	size_t i = path_set_find(&h->names, key);

	return i == PATH_SET_NONE ? NONE : (uint32_t)i;
}

static uint32_t hook_get(struct rename_tree *h, uint32_t dir, const char *name, size_t len)
{
	AUTO_FREE char *key = hook_key(dir, name, len);
	bool fresh;
	uint32_t i = (uint32_t)path_set_put(&h->names, key, &fresh);

	if (!fresh)
		return i;
	GROW(h->hooks, h->cap_hooks, i);
	h->hooks[i] = (struct hook){.dir = dir, .next = h->dirs[dir].first};
	h->dirs[dir].first = i;
	h->dirs[dir].n++;
	return i;
}

static uint32_t dir_new(struct rename_tree *h)
{
	GROW(h->dirs, h->cap_dirs, h->n_dirs);
	h->dirs[h->n_dirs] = (struct hung){.first = NONE, .into = NONE};
	return h->n_dirs++;
}

static uint32_t held_now(const struct rename_tree *h, uint32_t hook)
{
	const struct turns *held = &h->hooks[hook].held;

	return held->n ? held->list[held->n - 1].what : NONE;
}

/* Returns the directory that the hook holds now; adds one if none is known. */
static uint32_t dir_of(struct rename_tree *h, uint32_t hook)
{
	struct turns *held = &h->hooks[hook].held;
	struct turn *t;

	if (!held->n)
		turn_add(held, 0, NONE);
	t = &held->list[held->n - 1];
	if (t->what == NONE) {
		t->what = dir_new(h);
		turn_add(&h->dirs[t->what].hooks, t->since, hook);
	}
	return t->what;
}

static uint32_t hook_of_key(struct rename_tree *h, const char *key)
{
	const char *p = key, *slash;
	uint32_t dir = 0;

	if (!h->n_dirs)
		dir_new(h);
	while ((slash = strchr(p, '/'))) {
		dir = dir_of(h, hook_get(h, dir, p, (size_t)(slash - p)));
		p = slash + 1;
	}
	return hook_get(h, dir, p, strlen(p));
}

static uint32_t hook_of(struct rename_tree *h, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);

	return hook_of_key(h, key);
}

/* ---- moves ------------------------------------------------------------------------------------
 */

struct landing { /* a directory comes to a hook */
	uint32_t hook, dir;
};

struct landings {
	struct landing *list;
	size_t n, cap;
};

static void land_later(struct landings *l, uint32_t hook, uint32_t dir)
{
	GROW(l->list, l->cap, l->n);
	l->list[l->n++] = (struct landing){.hook = hook, .dir = dir};
}

static void hang(struct rename_tree *h, uint32_t hook, uint32_t dir)
{
	turn_add(&h->hooks[hook].held, h->now, dir);
	turn_add(&h->dirs[dir].hooks, h->now, hook);
}

/* Merges `dir` into `into`. Its directories will land on the hooks of the same names there. */
static void take_in(struct rename_tree *h, uint32_t dir, uint32_t into, struct landings *l)
{
	struct hung *d = &h->dirs[dir];
	uint32_t next;

	d->into = into;
	d->since = h->now;
	for (uint32_t hook = d->first; hook != NONE; hook = next) {
		uint32_t held = held_now(h, hook), to;
		unsigned marks = h->hooks[hook].marks;
		const char *name = hook_name(h, hook);

		next = h->hooks[hook].next;
		if (held == NONE && !marks)
			continue;
		to = hook_get(h, into, name, strlen(name));
		h->hooks[to].marks |= marks;
		if (held != NONE)
			land_later(l, to, held);
	}
}

static void land(struct rename_tree *h, const struct landing *one, struct landings *l)
{
	uint32_t there = held_now(h, one->hook);

	if (there == NONE) {
		hang(h, one->hook, one->dir);
	} else if (h->dirs[one->dir].n <= h->dirs[there].n) {
		take_in(h, one->dir, there, l);
	} else {
		hang(h, one->hook, one->dir);
		take_in(h, there, one->dir, l);
	}
}

static void land_all(struct rename_tree *h, uint32_t hook, uint32_t dir)
{
	struct landings l = {0};

	land_later(&l, hook, dir);
	while (l.n) {
		struct landing one = l.list[--l.n];

		land(h, &one, &l);
	}
	free(l.list);
}

void rename_tree_move(struct rename_tree *h, int root, const char *from, int root2, const char *to,
		      bool both)
{
	uint32_t a, b, dir, other;

	h->now++;
	/* A name on itself changes nothing. No kernel renames a directory into itself or onto one
	 * above it: the log is damaged. */
	if (root == root2 && (path_is_beneath(to, from) || path_is_beneath(from, to)))
		return;
	a = hook_of(h, root, from);
	b = hook_of(h, root2, to);
	dir = dir_of(h, a);
	if (both) {
		other = dir_of(h, b);
		hang(h, a, other);
		hang(h, b, dir);
	} else {
		turn_add(&h->hooks[a].held, h->now, NONE);
		land_all(h, b, dir);
	}
}

/* ---- following a path ---------------------------------------------------------------------------
 */

struct walk { /* a way down the tree */
	uint32_t dir, then, until;
};

/* Returns the directory that the hook holds, or else the next one that comes to it, or NONE. */
static uint32_t held_then(const struct turns *held, struct walk *w)
{
	uint32_t i = turns_by(held, w->then);

	if (i && held->list[i - 1].what != NONE)
		return held->list[i - 1].what;
	if (i == held->n || held->list[i].since > w->until)
		return NONE;
	w->then = held->list[i].since;
	return held->list[i].what;
}

/* Enters the directory of that name. Returns false if none is known. */
static bool go_down(const struct rename_tree *h, struct walk *w, const char *name,
		    const char *slash)
{
	uint32_t hook = slash ? hook_find(h, w->dir, name, (size_t)(slash - name)) : NONE;
	uint32_t dir = hook == NONE ? NONE : held_then(&h->hooks[hook].held, w);

	if (dir == NONE)
		return false;
	w->dir = dir;
	return true;
}

static bool go_into(const struct rename_tree *h, struct walk *w)
{
	const struct hung *d = &h->dirs[w->dir];

	if (d->into == NONE || d->since > w->until)
		return false;
	w->then = d->since;
	w->dir = d->into;
	return true;
}

static uint32_t hook_then(const struct rename_tree *h, uint32_t dir, uint32_t then)
{
	const struct turns *hooks = &h->dirs[dir].hooks;
	uint32_t i = turns_by(hooks, then);

	return hooks->list[i ? i - 1 : 0].what;
}

/* Returns the key of the name `rest` in the directory, as the tree is at that moment; heap. */
static char *go_up(const struct rename_tree *h, uint32_t dir, uint32_t then, const char *rest)
{
	size_t tail = strlen(rest), len = tail;
	char *path, *p;

	for (uint32_t hook, d = dir; d; d = h->hooks[hook].dir) {
		hook = hook_then(h, d, then);
		len += strlen(hook_name(h, hook)) + 1;
	}
	path = xmalloc(len + 1);
	p = path + len - tail;
	memcpy(p, rest, tail + 1);
	for (uint32_t hook, d = dir; d; d = h->hooks[hook].dir) {
		size_t n;

		hook = hook_then(h, d, then);
		n = strlen(hook_name(h, hook));
		*--p = '/';
		memcpy(p -= n, hook_name(h, hook), n);
	}
	return path;
}

void rename_tree_follow(const struct rename_tree *h, uint32_t since, uint32_t until, int *root,
			char **path)
{
	struct walk w = {.then = since, .until = until};
	AUTO_FREE char *key = NULL, *now = NULL;
	const char *rest, *below;

	if (since == until || !h->n_dirs)
		return;
	rest = key = path_key_make(*root, *path);
	for (;;) {
		const char *slash = strchr(rest, '/');

		if (go_down(h, &w, rest, slash))
			rest = slash + 1;
		else if (!go_into(h, &w))
			break;
	}
	now = go_up(h, w.dir, until, rest);
	*root = path_key_root(now, &below);
	free(*path);
	*path = xstrdup(below);
}

/* ---- marks --------------------------------------------------------------------------------------
 */

unsigned rename_tree_mark(struct rename_tree *h, const char *key, unsigned marks)
{
	uint32_t hook = hook_of_key(h, key);
	unsigned had = h->hooks[hook].marks;

	h->hooks[hook].marks |= marks;
	return had;
}

unsigned rename_tree_marks(const struct rename_tree *h, const char *key)
{
	const char *p = key, *slash;
	uint32_t dir = 0, hook;

	while (h->n_dirs && (slash = strchr(p, '/'))) {
		hook = hook_find(h, dir, p, (size_t)(slash - p));
		dir = hook == NONE ? NONE : held_now(h, hook);
		if (dir == NONE)
			return 0;
		p = slash + 1;
	}
	hook = h->n_dirs ? hook_find(h, dir, p, strlen(p)) : NONE;
	return hook == NONE ? 0 : h->hooks[hook].marks;
}

void rename_tree_each(const struct rename_tree *h,
		      void (*fn)(void *data, const char *key, unsigned marks), void *data)
{
	for (uint32_t i = 0, n = (uint32_t)path_set_count(&h->names); i < n; i++) {
		uint32_t dir = h->hooks[i].dir;
		AUTO_FREE char *key = NULL;

		if (!h->hooks[i].marks || h->dirs[dir].into != NONE)
			continue;
		key = go_up(h, dir, h->now, hook_name(h, i));
		fn(data, key, h->hooks[i].marks);
	}
}

void rename_tree_done(struct rename_tree *h)
{
	for (size_t i = 0; i < path_set_count(&h->names); i++)
		free(h->hooks[i].held.list);
	for (uint32_t i = 0; i < h->n_dirs; i++)
		free(h->dirs[i].hooks.list);
	path_set_done(&h->names);
	free(h->hooks);
	free(h->dirs);
	*h = (struct rename_tree){0};
}
