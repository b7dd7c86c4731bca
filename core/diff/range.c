/* range - shows several steps as one: a net change for each path. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/diff/diff_priv.h"

/* What became of one object in the range: where it was before and where it is after. */
struct trail {
	char *key; /* the current "ROOT:path", or the one at its end */
	struct pair pair;
	char *old, *now; /* the heap strings of the pair's paths */
	int root;
	bool claimed; /* a rename of the current step claimed it, and gave it its key */
	UT_hash_handle hh;
};

struct loaded {
	struct change *list;
	size_t n;
};

/* A renamed directory takes everything below it along. */
struct shift {
	const struct change *c; /* of a loaded step */
	size_t step;
};

struct range {
	struct trail *trails; /* by key */
	struct loaded *steps; /* the shifts and pairs point into their lists */
	size_t n_steps;
	struct shift *shifts;
	size_t n_shifts;
};

static char *key_of(int root, const char *path)
{
	return xasprintf("%d:%s", root, path);
}

static void drop(struct range *r, struct trail *t)
{
	HASH_DEL(r->trails, t);
	free(t->key);
	free(t->old);
	free(t->now);
	free(t);
}

static void range_done(struct range *r)
{
	struct trail *t, *next;

	HASH_ITER (hh, r->trails, t, next)
		drop(r, t);
	for (size_t i = 0; i < r->n_steps; i++)
		change_free(r->steps[i].list, r->steps[i].n);
	free(r->steps);
	free(r->shifts);
}

static struct trail *find(struct range *r, int root, const char *path)
{
	AUTO_FREE char *key = key_of(root, path);
	struct trail *t;

	HASH_FIND_STR(r->trails, key, t);
	return t;
}

static void put(struct range *r, struct trail *t, int root, const char *path)
{
	t->root = root;
	t->key = key_of(root, path);
	HASH_ADD_KEYPTR(hh, r->trails, t->key, strlen(t->key), t);
}

static void set_name(char **own, const char **shown, const char *path)
{
	char *p = xstrdup(path);

	free(*own);
	*shown = *own = p;
}

static void rename_to(struct range *r, struct trail *t, const char *path)
{
	HASH_DEL(r->trails, t);
	free(t->key);
	put(r, t, t->root, path);
	set_name(&t->now, &t->pair.new_path, path);
	if (!t->pair.before.exists) /* it had no name before */
		set_name(&t->old, &t->pair.old_path, path);
}

/*
 * Ends the trail of the object that a rename replaced, as a deletion. Changes its key to make room
 * for the new object, with a byte that no path has.
 */
static void displace(struct range *r, struct trail *t)
{
	AUTO_FREE char *ended = xasprintf("%s/\n%p", t->pair.old_path, (void *)t);

	HASH_DEL(r->trails, t);
	free(t->key);
	t->pair.after = (struct change_side){0};
	set_name(&t->now, &t->pair.new_path, t->pair.old_path);
	put(r, t, t->root, ended);
}

/* Returns what a path after the first `steps` steps was called before the range. Heap. */
static char *name_before(const struct range *r, size_t steps, int root, const char *path)
{
	char *name = xstrdup(path);

	for (size_t i = r->n_shifts; i-- > 0;) {
		const struct change *c = r->shifts[i].c;

		if (path_is_inside(name, c->path) && c->root == root && r->shifts[i].step < steps)
			path_carry(&name, c->path, c->old_path);
	}
	return name;
}

static void shift(struct range *r, const struct change *c)
{
	struct trail *t, *next;

	r->shifts = xrealloc(r->shifts, (r->n_shifts + 1) * sizeof(*r->shifts));
	r->shifts[r->n_shifts++] = (struct shift){c, r->n_steps};
	HASH_ITER (hh, r->trails, t, next) {
		AUTO_FREE char *path = NULL;

		if (!path_is_inside(t->pair.new_path, c->old_path) || t->claimed ||
		    t->root != c->root || !t->pair.after.exists)
			continue;
		path = xstrdup(t->pair.new_path);
		path_carry(&path, c->old_path, c->path);
		rename_to(r, t, path);
	}
}

static struct trail *begin(struct range *r, int64_t step, const struct change *c)
{
	struct trail *t = xcalloc(1, sizeof(*t));

	t->pair.before = c->before;
	t->pair.before_step = step;
	t->pair.before_change = c;
	/* An old name may be in a directory that the step renamed earlier. If it is not, no rename
	 * made that directory. */
	t->old = name_before(r, r->n_steps + 1, c->root, c->old_path ? c->old_path : c->path);
	t->pair.old_path = t->old;
	put(r, t, c->root, c->path);
	return t;
}

static struct trail *find_claimed(struct range *r, size_t i)
{
	AUTO_FREE char *key = xasprintf("claimed %zu", i); /* keys of paths have a number there */
	struct trail *t;

	HASH_FIND_STR(r->trails, key, t);
	return t;
}

/* Claims what the step's renames move, under the names before the step: a directory that it renamed
 * later did not take these along. */
static void claim(struct range *r, const struct loaded *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct change *c = &l->list[i];
		struct trail *t = c->old_path ? find(r, c->root, c->old_path) : NULL;

		if (!t || !t->pair.after.exists)
			continue;
		HASH_DEL(r->trails, t);
		free(t->key);
		t->key = xasprintf("claimed %zu", i);
		t->claimed = true;
		HASH_ADD_KEYPTR(hh, r->trails, t->key, strlen(t->key), t);
	}
}

static void follow(struct range *r, int64_t step, const struct change *c, struct trail *t)
{
	if (t)
		t->claimed = false;
	else
		t = find(r, c->root, c->old_path ? c->old_path : c->path);
	if (c->old_path) {
		struct trail *there = find(r, c->root, c->path);

		/* Its directory was renamed as well, and took it along. */
		if (!t && there && there->pair.after.ino == c->before.ino)
			t = there;
		if (there && there != t)
			displace(r, there);
		if (t && t != there)
			rename_to(r, t, c->path);
	}
	if (!t)
		t = begin(r, step, c);
	t->pair.after = c->after;
	t->pair.after_step = step;
	t->pair.after_change = c;
	set_name(&t->now, &t->pair.new_path, c->path);
	/* Created and removed again, or back under its first name. */
	if (!t->pair.before.exists && !t->pair.after.exists)
		drop(r, t);
	else if (!t->pair.before.exists)
		set_name(&t->old, &t->pair.old_path, t->pair.new_path);
	else if (!t->pair.after.exists) /* whatever its names in between */
		set_name(&t->now, &t->pair.new_path, t->pair.old_path);
}

static int by_path(struct trail *a, struct trail *b)
{
	return a->root != b->root ? a->root - b->root : strcmp(a->pair.new_path, b->pair.new_path);
}

/* Lists the numbers of the kept steps: *ret is the caller's also after an error. Returns -ENOENT,
 * and says why, if there is none. */
static int list_steps(struct journal *j, int64_t **ret, size_t *ret_n, struct err *err)
{
	AUTO_FREE int64_t *undone = NULL;
	size_t n = 0;
	int k = journal_ids(j, false, ret, ret_n, err);

	if (k == 0 && *ret_n == 0)
		k = journal_ids(j, true, &undone, &n, err);
	if (k < 0 || *ret_n > 0)
		return k;
	err_say(err, -ENOENT,
		n ? "all steps are undone: nothing to show, until a redo or a new step"
		  : "no steps yet: nothing to show");
	return -ENOENT;
}

static int load_step(struct range *r, struct journal *j, int64_t id, struct err *err)
{
	struct loaded *l = &r->steps[r->n_steps];
	int k = journal_changes(j, id, &l->list, &l->n, err);

	if (k < 0)
		return k;
	claim(r, l);
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].old_path && S_ISDIR(l->list[i].after.mode))
			shift(r, &l->list[i]);
	for (size_t i = 0; i < l->n; i++)
		follow(r, id, &l->list[i], find_claimed(r, i));
	r->n_steps++;
	return 0;
}

/* Finds a step in a list, newest first; id 0: the given end. */
static int find_step(struct journal *j, const int64_t *list, size_t n, int64_t id, size_t end,
		     size_t *ret, struct err *err)
{
	bool other = false;

	for (*ret = id ? 0 : end; *ret < n && id && list[*ret] != id; ++*ret)
		other |= list[*ret] == -id;
	return *ret < n ? 0 : step_unknown(j, id, other, err);
}

/* Returns the newest step that changed a working folder, as undo does; if there is none, the
 * newest. A step that cannot be read counts. */
static int64_t newest_here(struct journal *j, const int64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct step_info s = {0};
		struct err why = {0};
		const int k = journal_info(j, list[i], &s, &why);
		const bool elsewhere = s.elsewhere;

		step_info_done(&s);
		if (!elsewhere && k != -ENOENT)
			return list[i];
	}
	return list[0];
}

/* Loads the newest step. Another session may remove it at any time: then the next one is the
 * newest. */
static int load_newest(struct range *r, struct journal *j, struct err *err)
{
	struct err why = {0};
	int k;

	free(r->steps);
	r->steps = xcalloc(1, sizeof(*r->steps));
	do {
		AUTO_FREE int64_t *list = NULL;
		size_t n = 0;

		k = list_steps(j, &list, &n, err);
		if (k < 0)
			return k;
		why = (struct err){0};
		k = load_step(r, j, newest_here(j, list, n), &why);
	} while (k == -ENOENT);
	return k < 0 ? err_say(err, k, "%s", why.text) : 0;
}

/* Loads the steps between the two in order of time, with ambient ones. */
static int load_steps(struct range *r, struct journal *j, int64_t from, int64_t to, struct err *err)
{
	AUTO_FREE int64_t *list = NULL;
	struct err why = {0};
	size_t n = 0, first = 0, last = 0;
	int k;

	if (from && from == to) { /* the step may be undone */
		r->steps = xcalloc(1, sizeof(*r->steps));
		return load_step(r, j, from, err);
	}
	k = list_steps(j, &list, &n, err);
	if (k == 0)
		k = find_step(j, list, n, from, n - 1, &first, err);
	if (k == 0)
		k = find_step(j, list, n, to, 0, &last, err);
	if (last > first) { /* newest first */
		size_t swap = first;

		first = last;
		last = swap;
	}
	if (k == 0)
		r->steps = xcalloc(first - last + 1, sizeof(*r->steps));
	for (size_t i = first + 1; k == 0 && i > last; i--) {
		k = load_step(r, j, list[i - 1], &why);
		if (k == -ENOENT && !from && (i - 1 > last || !to)) /* show what still exists */
			k = 0;
		else if (k < 0)
			err_say(err, k, "%s", why.text);
	}
	return k == 0 && r->n_steps == 0 ? load_newest(r, j, err) : k;
}

/* Gives a path in another folder its absolute name. */
static void name_whole(struct trail *t)
{
	const struct change *c =
		t->pair.after_change ? t->pair.after_change : t->pair.before_change;
	AUTO_FREE char *old = c->base ? path_join(c->base, t->pair.old_path) : NULL;
	AUTO_FREE char *now = c->base ? path_join(c->base, t->pair.new_path) : NULL;

	if (!now)
		return;
	set_name(&t->old, &t->pair.old_path, old);
	set_name(&t->now, &t->pair.new_path, now);
}

/* Shows what was loaded, unless loading failed (r). */
static int show(struct range *range, struct journal *j, int r, diff_want want,
		const struct sink *to, struct err *err)
{
	struct trail *t, *next;

	HASH_SORT(range->trails, by_path);
	HASH_ITER (hh, range->trails, t, next) {
		if (r < 0)
			break;
		name_whole(t);
		if (!want || want(to->data, t->pair.old_path, t->pair.new_path))
			r = diff_pair(j, &t->pair, to, err);
	}
	range_done(range);
	return r;
}

int diff_range_paths(struct journal *j, int64_t from, int64_t to, diff_want want, diff_on_line on,
		     void *data, struct err *err)
{
	struct range range = {0};
	int r = load_steps(&range, j, from, to, err);

	return show(&range, j, r, want, &(struct sink){on, data}, err);
}

int diff_newest_paths(struct journal *j, diff_want want, diff_on_line on, void *data,
		      struct err *err)
{
	struct range range = {0};
	int r = load_newest(&range, j, err);

	return show(&range, j, r, want, &(struct sink){on, data}, err);
}
