/* test_touch - a step's touched paths while directories move, compared with plain lists. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/base/util.h"
#include "core/journal/fs/object.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/path_set.h"
#include "tests/support/check.h"

/* ---- plain lists -------------------------------------------------------------------------------
 */

struct line {
	char *key;
	bool before, attrs_set;
};

struct lines {
	struct line list[4096];
	size_t n;
};

struct plain {
	struct lines places; /* by their present names */
	struct lines known;  /* the listed paths, by their names at that time */
	struct lines each;   /* by each name that it ever had */
};

static struct line *find(struct lines *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->list[i].key, key))
			return &l->list[i];
	return NULL;
}

static struct line *get(struct lines *l, const char *key, bool before)
{
	struct line *one = find(l, key);

	if (one)
		return one;
	assert_true(l->n < ARRAY_LEN(l->list));
	one = &l->list[l->n++];
	*one = (struct line){.key = xstrdup(key), .before = before};
	return one;
}

static void lines_clear(struct lines *l)
{
	while (l->n)
		free(l->list[--l->n].key);
}

static bool plain_add(struct plain *p, const char *key, bool before)
{
	bool fresh = !find(&p->places, key) && !find(&p->known, key);
	const struct line *place = find(&p->places, key);

	get(&p->known, key, before && !place)->attrs_set |= place && place->attrs_set;
	get(&p->places, key, false);
	get(&p->each, key, before);
	return fresh;
}

static void plain_dress(struct plain *p, const char *key)
{
	plain_add(p, key, false);
	get(&p->known, key, false)->attrs_set = true;
	get(&p->places, key, false)->attrs_set = true;
}

static bool is_below(const char *key, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(key, dir, len) == 0 && key[len] == '/';
}

/* Moves the paths below dir to other, each once. */
static void carry(struct lines *from, struct lines *to, const char *dir, const char *other)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct line *one = &from->list[i];
		AUTO_FREE char *key = NULL;

		if (!is_below(one->key, dir))
			continue;
		key = xasprintf("%s%s", other, one->key + strlen(dir));
		get(to, key, false)->attrs_set |= one->attrs_set;
	}
}

static void leave(struct lines *from, struct lines *to, const char *dir, const char *other)
{
	for (size_t i = 0; i < from->n; i++)
		if (!is_below(from->list[i].key, dir) && !is_below(from->list[i].key, other))
			get(to, from->list[i].key, false)->attrs_set |= from->list[i].attrs_set;
}

static void plain_move(struct plain *p, const char *from, const char *to, bool both)
{
	struct lines *now = xcalloc(1, sizeof(*now));
	struct line *a = find(&p->places, from), *b = find(&p->places, to);
	bool set_attrs = a && a->attrs_set, back = both && b && b->attrs_set;

	leave(&p->places, now, from, to);
	carry(&p->places, now, from, to);
	carry(&p->places, now, to, both ? from : to);
	lines_clear(&p->places);
	p->places = *now;
	free(now);
	if (set_attrs)
		plain_dress(p, to);
	if (back || (both && set_attrs))
		plain_dress(p, from);
	carry(&p->each, &p->each, from, to);
	if (both)
		carry(&p->each, &p->each, to, from);
}

static void plain_done(struct plain *p)
{
	lines_clear(&p->places);
	lines_clear(&p->known);
	lines_clear(&p->each);
	free(p);
}

/* ---- at random ---------------------------------------------------------------------------------
 */

static uint64_t dice;

static unsigned below(unsigned n)
{
	dice = dice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(dice >> 33) % n;
}

/* Returns a path of few names, so that paths meet; some names begin alike. */
static char *random_path(unsigned depth)
{
	static const char *const list[] = {"a", "b", "ab", "c"};
	char *path = xstrdup(list[below(4)]);

	for (unsigned n = below(depth); n; n--) {
		char *longer = xasprintf("%s/%s", path, list[below(4)]);

		free(path);
		path = longer;
	}
	return path;
}

static const struct object there = {.mode = 0100644, .ino = 1, .nlink = 1};
static const struct object nothing;

static void touch_one(struct touched_paths *t, struct plain *p)
{
	AUTO_FREE char *path = random_path(4);
	AUTO_FREE char *key = path_key_make(below(8) == 0, path);
	bool before = below(2);

	assert_int_equal(touched_paths_add(t, key, before ? &there : &nothing),
			 plain_add(p, key, before));
	if (below(4))
		return;
	touched_paths_attrs(t, key);
	plain_dress(p, key);
}

static void move_one(struct touched_paths *t, struct plain *p)
{
	AUTO_FREE char *from = random_path(3), *to = random_path(3);
	int root = below(8) == 0, root2 = below(4) ? root : !root;
	AUTO_FREE char *a = path_key_make(root, from), *b = path_key_make(root2, to);
	bool both = below(4) == 0;

	if (str_eq(a, b) || is_below(a, b) || is_below(b, a))
		return;
	touched_paths_add(t, a, &there);
	touched_paths_add(t, b, &nothing);
	plain_add(p, a, true);
	plain_add(p, b, false);
	touched_paths_move(t, root, from, root2, to, both);
	plain_move(p, a, b, both);
}

static void ask_one(struct touched_paths *t, struct plain *p)
{
	AUTO_FREE char *path = random_path(4);
	AUTO_FREE char *key = path_key_make(0, path);
	bool has = find(&p->places, key) || find(&p->known, key);

	assert_int_equal(touched_paths_find(t, key) != NULL, has);
	if (has && !find(&p->known, key))
		plain_add(p, key, false);
}

static void compare(struct touched_paths *t, struct plain *p)
{
	touched_paths_settle(t);
	for (size_t i = 0; i < p->places.n; i++)
		plain_add(p, p->places.list[i].key, false);
	for (size_t i = 0; i < p->places.n; i++)
		get(&p->known, p->places.list[i].key, false)->attrs_set |=
			p->places.list[i].attrs_set;
	assert_int_equal(touched_paths_count(t), p->known.n);
	for (size_t i = 0; i < p->known.n; i++) {
		const struct line *want = &p->known.list[i];
		const struct touched_path *one = touched_paths_find(t, want->key);

		assert_non_null(one);
		assert_int_equal(one->before != 0, want->before);
		assert_int_equal(one->attrs_set, want->attrs_set);
		assert_non_null(find(&p->each, want->key));
	}
	/* Paths that are left out were intermediate names. */
	for (size_t i = 0; i < p->each.n; i++)
		if (!find(&p->known, p->each.list[i].key))
			assert_false(p->each.list[i].before);
}

TEST(moves_leave_the_first_and_the_last_name)
{
	for (dice = 1; dice < 1500; dice++) {
		struct plain *p = xcalloc(1, sizeof(*p));
		struct touched_paths t = {0};
		uint64_t seed = dice;

		for (unsigned n = 1 + below(60); n; n--) {
			unsigned what = below(8);

			if (what < 3)
				touch_one(&t, p);
			else if (what < 7)
				move_one(&t, p);
			else
				ask_one(&t, p);
			if (below(20) == 0)
				compare(&t, p);
		}
		compare(&t, p);
		touched_paths_done(&t);
		plain_done(p);
		dice = seed;
	}
}

/* ---- again and again ---------------------------------------------------------------------------
 */

#define MANY 20000

TEST(names_on_the_way_are_not_kept)
{
	struct touched_paths t = {0};

	for (int i = 0; i < MANY; i++) {
		AUTO_FREE char *from = xasprintf("d%d", i), *to = xasprintf("d%d", i + 1);
		AUTO_FREE char *file = xasprintf("0/d%d/f%d", i, i);

		touched_paths_add(&t, file, &nothing);
		touched_paths_move(&t, 0, from, 0, to, false);
	}
	touched_paths_settle(&t);
	assert_int_equal(touched_paths_count(&t), 2 * MANY);
	for (int i = 0; i < MANY; i++) {
		AUTO_FREE char *file = xasprintf("0/d%d/f%d", MANY, i);

		assert_non_null(touched_paths_find(&t, file));
	}
	touched_paths_done(&t);
}

TESTS(NULL, NULL)
