/* test_trees - rules for everything except some places, compared with the right of each path. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "tests/support/check.h"

#define ALL (LANDLOCK_READ | LANDLOCK_EXEC)

struct fixture {
	char *dir;
	char *names[400];
	size_t n;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	f->dir = xasprintf("%s/test_trees.XXXXXX", cwd);
	if (!mkdtemp(f->dir))
		return -1;
	/* Three levels of three directories, each with a file. */
	for (int i = 0; i < 3 + 9 + 27; i++) {
		int level = i < 3    ? 0
			    : i < 12 ? 1
				     : 2,
		    k = i - (level == 0	  ? 0
			     : level == 1 ? 3
					  : 12);
		char *path = level == 0 ? xasprintf("%s/%d", f->dir, k)
			     : level == 1
				     ? xasprintf("%s/%d/%d", f->dir, k / 3, k % 3)
				     : xasprintf("%s/%d/%d/%d", f->dir, k / 9, k / 3 % 3, k % 3);

		if (mkdir(path, 0755) < 0)
			return -1;
		f->names[f->n++] = path;
		path = xasprintf("%s/file", path);
		close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		f->names[f->n++] = path;
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r = io_remove_tree(AT_FDCWD, f->dir);

	for (size_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->dir);
	free(f);
	return r;
}

/* The nearest place of both lists decides; if both are equally near, the path is closed. */
static bool should(const char *path, const char *const *closed, const char *const *open)
{
	size_t shut = 0, free_again = 0;
	bool is_shut = false;

	for (; *closed; closed++) {
		if (path_is_beneath(path, *closed)) {
			is_shut = true;
			shut = MAX(shut, strlen(*closed));
		}
	}
	for (; *open; open++)
		if (path_is_beneath(path, *open))
			free_again = MAX(free_again, strlen(*open));
	return !is_shut || free_again > shut;
}

TEST(rights_are_those_of_the_nearest_place)
{
	struct fixture *f = *state;
	unsigned seed = 1;

	for (int round = 0; round < 200; round++) {
		const char *closed[4] = {NULL}, *open[4] = {NULL};
		struct trees t = {0};
		size_t n_closed = 1 + (size_t)rand_r(&seed) % 3, n_open = (size_t)rand_r(&seed) % 4;

		for (size_t i = 0; i < n_closed; i++)
			closed[i] = f->names[(size_t)rand_r(&seed) % f->n];
		for (size_t i = 0; i < n_open; i++)
			open[i] = f->names[(size_t)rand_r(&seed) % f->n];
		trees_add(&t, ALL, closed, open);
		trees_sort(&t);
		for (size_t i = 0; i < f->n; i++) {
			bool want = should(f->names[i], closed, open);
			unsigned got = trees_rights(&t, f->names[i], -1, NULL);

			/* Such a directory has no right of its own: only that may differ. */
			if (trees_is_way(&t, f->names[i])) {
				assert_true(want);
				assert_int_equal(got, 0);
			} else {
				assert_int_equal(got, want ? ALL : 0);
			}
		}
		assert_int_equal(trees_rights(&t, "/usr/bin/env", -1, NULL), ALL);
		assert_int_equal(trees_rights(&t, "/", -1, NULL), 0);
		trees_done(&t);
	}
}

TEST_WITH(nothing_closed_is_one_rule, NULL, NULL)
{
	static const char *const none[] = {NULL};
	struct trees t = {0};

	trees_add(&t, ALL, none, NULL);
	trees_add(&t, LANDLOCK_EXEC, NULL, none);
	trees_sort(&t);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.list[0].path, "/");
	assert_int_equal(trees_rights(&t, "/any/where", -1, NULL), ALL);
	trees_done(&t);
}

TEST(rights_of_both_passes_add_up)
{
	struct fixture *f = *state;
	AUTO_FREE char *secret = xasprintf("%s/0/file", f->dir),
		       *other = xasprintf("%s/0/1", f->dir);
	const char *const closed[] = {secret, NULL};
	struct trees t = {0};

	trees_add(&t, LANDLOCK_EXEC, NULL, NULL);
	trees_add(&t, LANDLOCK_READ, closed, NULL);
	trees_sort(&t);
	assert_int_equal(trees_rights(&t, secret, -1, NULL), LANDLOCK_EXEC);
	assert_int_equal(trees_rights(&t, other, -1, NULL), ALL);
	/* A name that only begins like a rule's is not covered by it. */
	free(other);
	other = xasprintf("%s/0/10", f->dir);
	assert_int_equal(trees_rights(&t, other, -1, NULL), LANDLOCK_EXEC);
	trees_done(&t);
}

/* Only in an open place: elsewhere the sandbox may show another directory of that name. */
TEST(what_is_made_anew_has_no_rule)
{
	struct fixture *f = *state;
	AUTO_FREE char *secret = xasprintf("%s/0/file", f->dir),
		       *other = xasprintf("%s/0/1", f->dir), *below = xasprintf("%s/x", other),
		       *away = xasprintf("%s/0/away", f->dir);
	const char *const closed[] = {secret, NULL}, *const places[] = {f->dir, NULL};
	AUTO_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct trees t = {0};

	trees_add(&t, ALL, closed, places);
	trees_sort(&t);
	assert_int_equal(trees_rights(&t, below, root, NULL), ALL);
	assert_int_equal(rename(other, away), 0);
	assert_int_equal(mkdir(other, 0755), 0);
	assert_int_equal(trees_rights(&t, below, root, NULL), 0);
	assert_int_equal(trees_rights(&t, below, -1, NULL), ALL);
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(rename(away, other), 0);
	assert_int_equal(trees_rights(&t, below, root, NULL), ALL);
	trees_done(&t);
}

TESTS(set_up, tear_down)
