/* test_ignored - which external changes are no edits: the shipped list, and bad lines. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/builtin.h"
#include "core/keeper/watch/ignored.h"
#include "tests/support/check.h"

TEST(the_shipped_list)
{
	static const char *const yes[] = {".git/index",
					  "sub/module/.git/index",
					  ".git/ORIG_HEAD",
					  ".git/logs/HEAD",
					  ".git/logs/refs/heads/main",
					  ".git/objects/pack/pack-1.idx",
					  ".main.c.swp",
					  "src/.main.c.swo",
					  "src/.main.c.un~",
					  "src/main.c~",
					  "4913",
					  "#main.c#",
					  "src/.#main.c",
					  ".DS_Store",
					  "a/b/.DS_Store",
					  NULL};
	static const char *const no[] = {"index",
					 "git/index",
					 ".git/HEAD",
					 ".git/config",
					 ".git/refs/heads/main",
					 ".git/hooks/pre-commit",
					 "main.c",
					 "logs/HEAD",
					 "swp",
					 "DS_Store",
					 "49131",
					 "",
					 NULL};
	struct ignored *i = NULL;
	struct err err = {0};

	assert_int_equal(ignored_new(&i, builtin_find("edits.ignore"), &err), 0);
	for (size_t k = 0; yes[k]; k++)
		if (!ignored_has(i, yes[k]))
			fail_msg("not ignored: %s", yes[k]);
	for (size_t k = 0; no[k]; k++)
		if (ignored_has(i, no[k]))
			fail_msg("ignored: %s", no[k]);
	assert_false(ignored_has(NULL, ".DS_Store"));
	ignored_free(i);
}

TEST(bad_lines_are_named)
{
	static const char *const bad[][2] = {{"# words\na[b\n", "line 2: 'a[b'"},
					     {"ok\n\na//b", "line 3: 'a//b'"},
					     {"**", "line 1: '**'"},
					     {"/", "line 1: '/'"}};

	for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
		struct ignored *i = NULL;
		struct err err = {0};

		assert_int_equal(ignored_new(&i, bad[k][0], &err), -EINVAL);
		assert_memory_equal(err.text, bad[k][1], strlen(bad[k][1]));
	}
}

TESTS(NULL, NULL)
