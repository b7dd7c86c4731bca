/* test_homes - paths followed through renames of directories, by the tree and by each rename in
 * turn. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/base/util.h"
#include "core/journal/history/rename_list.h"
#include "tests/support/check.h"

/* ---- move by move ------------------------------------------------------------------------------
 */

static bool carry(int *root, char **path, int from_root, const char *from, int to_root,
		  const char *to)
{
	size_t len = strlen(from);
	char *p;

	if (*root != from_root || strncmp(*path, from, len) != 0 || (*path)[len] != '/')
		return false;
	p = xasprintf("%s%s", to, *path + len);
	free(*path);
	*path = p;
	*root = to_root;
	return true;
}

static bool slow_follow(const struct renames *m, uint64_t seq, int *root, char **path)
{
	bool moved = false;

	for (size_t i = 0; i < m->n; i++) {
		const struct dir_rename *v = &m->list[i];

		if (v->seq <= seq)
			continue;
		if (carry(root, path, v->root, v->from, v->root2, v->to))
			moved = true;
		else if (v->both && carry(root, path, v->root2, v->to, v->root, v->from))
			moved = true;
	}
	return moved;
}

static bool slow_touch(const struct renames *m, int root, const char *path)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct dir_rename *v = &m->list[i];
		size_t len = strlen(v->from), len2 = strlen(v->to);

		if (root == v->root && strncmp(path, v->from, len) == 0 && path[len] == '/')
			return true;
		if (root == v->root2 && strncmp(path, v->to, len2) == 0 && path[len2] == '/')
			return true;
	}
	return false;
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
static char *random_path(unsigned names, unsigned depth)
{
	static const char *const list[] = {"a", "b", "ab", "c", "d", "e", "f", "g"};
	char *path = xstrdup(list[below(names)]);

	for (unsigned n = below(depth); n; n--) {
		char *longer = xasprintf("%s/%s", path, list[below(names)]);

		free(path);
		path = longer;
	}
	return path;
}

static bool is_in(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (!path[len] || path[len] == '/');
}

static void add_random(struct renames *m, uint64_t seq, unsigned names, unsigned depth)
{
	AUTO_FREE char *from = random_path(names, depth);
	AUTO_FREE char *to = random_path(names, depth);
	int root = below(8) == 0, root2 = below(4) ? root : !root;

	if (root == root2 && (is_in(from, to) || is_in(to, from)))
		return;
	renames_add_one(m, &(struct dir_rename){.seq = seq,
						.root = root,
						.root2 = root2,
						.from = from,
						.to = to,
						.both = below(4) == 0});
}

static void assert_same(const char *what, const char *from, int root, const char *path, int root2,
			const char *want)
{
	if (root != root2 || !str_eq(path, want))
		fail_msg("%s '%s': %d/%s and not %d/%s", what, from, root, path, root2, want);
}

static void compare_one(const struct renames *m, uint64_t seq, int root, const char *path)
{
	char *fast = xstrdup(path), *slow = xstrdup(path);
	int r = root, r2 = root;
	bool moved = renames_follow(m, seq, &r, &fast), did = slow_follow(m, seq, &r2, &slow);

	assert_same("follow", path, r, fast, r2, slow);
	assert_int_equal(moved, did);
	free(fast);
	free(slow);
	assert_int_equal(renames_touch(m, root, path), slow_touch(m, root, path));
}

static void compare_some(unsigned n_moves, unsigned names, unsigned depth)
{
	struct renames m = {0};

	for (unsigned i = 0; i < n_moves; i++)
		add_random(&m, 10 * (i + 1), names, depth);
	renames_sort(&m);
	for (int i = 0; i < 60; i++) {
		AUTO_FREE char *path = random_path(names, depth + 2);
		AUTO_FREE char *dir = xasprintf("%s/", path);
		uint64_t seq = below(10 * (n_moves + 2));
		int root = below(8) == 0;

		compare_one(&m, seq, root, path);
		compare_one(&m, seq, root, dir);
		compare_one(&m, 0, root, path);
	}
	renames_done(&m);
}

TEST(the_tree_says_what_each_move_says)
{
	for (dice = 1; dice < 1200; dice++) {
		uint64_t seed = dice;

		compare_some(1 + below(40), 2 + below(7), 1 + below(4));
		dice = seed;
	}
}

/* ---- one after the other -----------------------------------------------------------------------
 */

TEST(what_comes_is_followed_at_once)
{
	struct renames m = {0};
	char *path = xstrdup("a/b/x");
	int root = 0;

	renames_push(&m, 0, "a/b", "c");
	assert_true(renames_follow(&m, 0, &root, &path));
	assert_string_equal(path, "c/x");
	renames_push(&m, 0, "c", "a/d");
	renames_push(&m, 0, "a", "e");
	assert_true(renames_follow(&m, 1, &root, &path));
	assert_string_equal(path, "e/d/x");
	assert_false(renames_follow(&m, 3, &root, &path));
	free(path);
	renames_done(&m);
}

/* A directory that comes again and again to a place which still has earlier names. */
TEST(what_was_at_the_place_is_taken_in_once)
{
	struct renames m = {0};
	int root = 0;

	for (int i = 0; i < 5000; i++) {
		AUTO_FREE char *from = xasprintf("t%d", i);
		AUTO_FREE char *to = xasprintf("out/y%d", i);

		renames_push(&m, 0, from, to);
		renames_push(&m, 0, "tmp", "out");
	}
	for (int i = 0; i < 5000; i++) {
		AUTO_FREE char *path = xasprintf("t%d/x", i);
		AUTO_FREE char *want = xasprintf("out/y%d/x", i);

		assert_true(renames_follow(&m, 0, &root, &path));
		assert_string_equal(path, want);
	}
	renames_done(&m);
}

TESTS(NULL, NULL)
