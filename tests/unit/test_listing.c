/* test_listing - which paths a directory lacks. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/listing.h"
#include "core/base/path.h"
#include "tests/support/check.h"

static char *top;

static bool lacks(const struct listing *l, const char *below)
{
	AUTO_FREE char *path = path_join(top, below);

	return listing_lacks(l, path);
}

TEST(names_of_its_moment)
{
	struct listing *l;

	assert_int_equal(io_mkdir_p(AT_FDCWD, "here/below", 0700), 0);
	l = listing_new(top);
	assert_non_null(l);
	assert_false(lacks(l, "here"));
	assert_false(lacks(l, "HERE/x")); /* another spelling of the same directory, perhaps */
	assert_false(lacks(l, "here/missing"));
	assert_true(lacks(l, "missing"));
	assert_true(lacks(l, "missing/below"));
	assert_true(lacks(l, "her"));
	assert_false(listing_lacks(l, top));
	assert_false(listing_lacks(l, "/elsewhere"));
	listing_free(l);
}

TEST(unknown)
{
	assert_null(listing_new("/missing"));
	assert_false(lacks(NULL, "missing"));
	listing_free(NULL);
}

TEST(directories_are_made)
{
	assert_int_equal(io_mkdir_p(AT_FDCWD, "a/b/c", 0700), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, "a/b/c", 0700), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, "a/b/d", 0700), 0);
	assert_int_equal(access("a/b/d", F_OK), 0);
	assert_int_equal(io_write_file(AT_FDCWD, "file", 0600, "x", 1, false), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, "file/x", 0700), -ENOTDIR);
}

int main(void)
{
	char dir[] = "/tmp/cordon-listing.XXXXXX";
	int r;

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	top = getcwd(NULL, 0);
	r = run_all(NULL, NULL, NULL, NULL);
	r |= io_remove_tree(AT_FDCWD, dir) < 0;
	free(top);
	return r;
}
