/* test_remove - trees that resist removal are removed, and no file beside them. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tests/support/check.h"

static char top[] = "/tmp/cordon-remove-XXXXXX";

static int enter(void **state)
{
	(void)state;
	memcpy(strrchr(top, '-') + 1, "XXXXXX", 6);
	return mkdtemp(top) ? chdir(top) : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") < 0 ? -1 : io_remove_tree(AT_FDCWD, top);
}

static void touch(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* Makes `levels` nested directories with a file in each; the inner ones get their mode first. */
static void make_deep(const char *name, int levels, mode_t mode)
{
	int fd = AT_FDCWD;
	int *dirs = calloc((size_t)levels, sizeof(*dirs));

	for (int i = 0; i < levels; i++) {
		const char *at = i ? "d" : name;

		assert_int_equal(mkdirat(fd, at, 0700), 0);
		dirs[i] = openat(fd, at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(dirs[i] >= 0);
		fd = dirs[i];
		touch(fd, "file");
		touch(fd, ".deep-1");
	}
	for (int i = levels; i-- > 0;) {
		assert_int_equal(fchmod(dirs[i], mode), 0);
		close(dirs[i]);
	}
	free(dirs);
}

TEST(a_deep_tree_is_removed)
{
	make_deep("tree", 300, 0700);
	assert_int_equal(io_remove_tree(AT_FDCWD, "tree"), 0);
	assert_int_equal(access("tree", F_OK), -1);
}

TEST(closed_directories_are_removed)
{
	make_deep("tree", 150, 0);
	assert_int_equal(io_remove_tree(AT_FDCWD, "tree"), 0);
	assert_int_equal(access("tree", F_OK), -1);
	make_deep("tree", 3, 0500);
	assert_int_equal(io_remove_tree(AT_FDCWD, "tree"), 0);
}

TEST(links_are_not_followed)
{
	struct stat st;

	assert_int_equal(mkdir("kept", 0700), 0);
	touch(AT_FDCWD, "kept/file");
	assert_int_equal(chmod("kept", 0500), 0);
	make_deep("tree", 2, 0700);
	assert_int_equal(symlink("../kept", "tree/link"), 0);
	assert_int_equal(symlink("../../kept", "tree/d/link"), 0);
	assert_int_equal(symlink("kept", "tree-link"), 0);
	assert_int_equal(io_remove_tree(AT_FDCWD, "tree"), 0);
	assert_int_equal(io_remove_tree(AT_FDCWD, "tree-link"), 0);
	assert_int_equal(stat("kept", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0500);
	assert_int_equal(access("kept/file", F_OK), 0);
}

TEST(what_is_not_there_is_removed)
{
	assert_int_equal(io_remove_tree(AT_FDCWD, "nothing"), 0);
}

/* The fence and the next session both remove the remains of a killed session. */
TEST(two_may_remove_the_same)
{
	for (int round = 0; round < 6; round++) {
		int status;
		pid_t other;

		assert_int_equal(mkdir("tree", 0700), 0);
		for (int i = 0; i < 300; i++) {
			char name[32];

			snprintf(name, sizeof(name), "tree/%d", i);
			make_deep(name, 1, 0700);
		}
		other = fork();
		if (other == 0)
			_exit(io_remove_tree(AT_FDCWD, "tree") != 0);
		assert_int_equal(io_remove_tree(AT_FDCWD, "tree"), 0);
		assert_int_equal(waitpid(other, &status, 0), other);
		assert_int_equal(status, 0);
		assert_int_equal(access("tree", F_OK), -1);
	}
}

/* One session removes its last directory while another makes its first. */
TEST(what_is_made_may_be_removed_meanwhile)
{
	int status;
	pid_t other = fork();

	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (access("over", F_OK) < 0)
			usleep(rmdir("all") < 0 ? 10 : 200);
		_exit(0);
	}
	for (int round = 0; round < 300; round++) {
		assert_int_equal(io_mkdir_p(AT_FDCWD, "all/mine", 0700), 0);
		assert_int_equal(rmdir("all/mine"), 0);
	}
	touch(AT_FDCWD, "over");
	assert_int_equal(waitpid(other, &status, 0), other);
}

TESTS(enter, leave)
