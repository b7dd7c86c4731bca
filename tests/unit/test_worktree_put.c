/* test_worktree_put - writes files into a new worktree: no path and no link leads out of it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/util.h"
#include "tests/support/check.h"
#include "tui/commands/git.h"
#include "tui/commands/worktree_put.h"

static char dir[] = "/tmp/cordon-put.XXXXXX";
static struct put put;
static int top = -1;

static int make(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdirat(top, "from", 0700);
	mkdirat(top, "to", 0700);
	mkdirat(top, "out", 0700);
	put.from = openat(top, "from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put.to = openat(top, "to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	close(put.from);
	close(put.to);
	close(top);
	return io_remove_tree(AT_FDCWD, dir);
}

static void write_file(int at, const char *path, const char *text)
{
	assert_int_equal(io_write_file(at, path, 0644, text, strlen(text), false), 0);
}

static void has(const char *path, const char *text)
{
	AUTO_FREE char *is = NULL;
	size_t len;

	assert_int_equal(io_read_file(top, path, 4096, &is, &len), 0);
	assert_string_equal(is, text);
}

static void has_not(const char *path)
{
	assert_int_equal(faccessat(top, path, F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static int put_text(const char *path, const char *text, mode_t mode)
{
	AUTO_CLOSE int fd = git_input(text, strlen(text));

	return put_bytes(&put, path, fd, mode);
}

TEST(refuses_paths)
{
	static const char *const bad[] = {"",
					  "/x",
					  "../out/x",
					  "a/../../out/x",
					  "a//x",
					  "./x",
					  "x/",
					  ".git",
					  "a/.git/x",
					  ".GIT/x",
					  "..",
					  ".",
					  ".git/hooks/post-checkout"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(put_text(bad[i], "x", S_IFREG | 0644), -EINVAL);
		assert_int_equal(put_copy(&put, bad[i]), -EINVAL);
		assert_int_equal(put_nothing(&put, bad[i]), -EINVAL);
		assert_int_equal(put_dir(&put, bad[i]), -EINVAL);
		assert_int_equal(put_rename(&put, bad[i], "y"), -EINVAL);
	}
	has_not("out/x");
}

TEST(follows_no_link_of_the_target)
{
	assert_int_equal(symlinkat("../out", put.to, "link"), 0);
	write_file(top, "out/kept", "kept");
	assert_int_equal(put_nothing(&put, "link/kept"), 0);
	assert_true(put_rename(&put, "link/kept", "mine") < 0);
	has("out/kept", "kept");
	assert_int_equal(put_text("link/x", "x", S_IFREG | 0644), 0); /* the link is replaced */
	has("to/link/x", "x");
	has_not("out/x");
	assert_int_equal(symlinkat("../out/kept", put.to, "file"), 0);
	assert_int_equal(put_text("file", "new", S_IFREG | 0755), 0);
	has("to/file", "new");
	has("out/kept", "kept");
}

TEST(follows_no_link_of_the_source)
{
	char target[32] = "";

	write_file(top, "out/secret", "secret");
	assert_int_equal(symlinkat("../out", put.from, "way"), 0);
	assert_int_equal(symlinkat("../out/secret", put.from, "leaf"), 0);
	assert_int_equal(put_copy(&put, "way/secret"), 0); /* no such file: removed */
	has_not("to/way/secret");
	assert_int_equal(put_copy(&put, "leaf"), 0);
	assert_true(readlinkat(put.to, "leaf", target, sizeof(target) - 1) > 0);
	assert_string_equal(target, "../out/secret");
	assert_true(put_open_dir(put.from, "way") < 0);
}

TEST(copies)
{
	struct stat was, is;

	mkdirat(put.from, "d", 0700);
	write_file(put.from, "d/f", "one");
	assert_int_equal(fchmodat(put.from, "d/f", 04751, 0), 0);
	assert_int_equal(put_copy(&put, "d/f"), 0);
	has("to/d/f", "one");
	assert_int_equal(fstatat(put.from, "d/f", &was, 0) | fstatat(put.to, "d/f", &is, 0), 0);
	assert_int_equal(is.st_mode & 07777, 0751);
	assert_int_equal(is.st_mtime, was.st_mtime);
	assert_int_equal(put_copy(&put, "d"), 1);
	assert_int_equal(mkfifoat(put.from, "pipe", 0600), 0);
	assert_int_equal(put_copy(&put, "pipe"), -EOPNOTSUPP);
	assert_int_equal(unlinkat(put.from, "d/f", 0), 0);
	assert_int_equal(put_copy(&put, "d/f"), 0);
	has_not("to/d/f");
	assert_int_equal(put_text("d/g", "g", S_IFREG | 0644), 0);
	assert_int_equal(put_text("d", "file", S_IFREG | 0644), -ENOTEMPTY);
	assert_int_equal(put_nothing(&put, "d/g"), 0);
	assert_int_equal(put_text("d", "file", S_IFREG | 0644), 0);
	has("to/d", "file");
}

TEST(removes_directories_that_the_source_has_not)
{
	mkdirat(put.from, "k", 0700);
	assert_int_equal(put_text("k/a/b/c", "c", S_IFREG | 0644), 0);
	assert_int_equal(put_text("k/a/more", "more", S_IFREG | 0644), 0);
	assert_int_equal(put_copy(&put, "k/a/b/c"), 0);
	has_not("to/k/a/b");
	has("to/k/a/more", "more");
	assert_int_equal(put_copy(&put, "k/a/more"), 0);
	has_not("to/k/a");
	assert_int_equal(faccessat(put.to, "k", F_OK, 0), 0);
	assert_int_equal(put_text("q", "q", S_IFREG | 0644), 0);
	assert_int_equal(put_copy(&put, "q"), 0);
	has_not("to/q");
}

int main(void)
{
	return run_all(NULL, NULL, make, drop);
}
