/* test_landlock - changes that a process can still make after it has restricted itself. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/base/io.h"
#include "tests/support/check.h"

struct fixture {
	char dir[64];
	int fd;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/test_landlock.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->fd = open(f->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(f->fd, "a", 0755) < 0 || mkdirat(f->fd, "b", 0755) < 0 ||
	    mkdirat(f->fd, "c", 0755) < 0)
		return -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r;

	close(f->fd);
	r = io_remove_tree(AT_FDCWD, f->dir);
	free(f);
	return r;
}

/* Restricts a child to a and b and lets it try. Returns its exit status, an errno. */
static int try_in_child(struct fixture *f, int (*attempt)(int dir))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fds[] = {openat(f->fd, "a", O_PATH | O_CLOEXEC), -1,
			     openat(f->fd, "b", O_PATH | O_CLOEXEC)};
		struct landlock_spec spec = {.writable = fds, .n = ARRAY_LEN(fds)};
		struct err err = {0};

		if (landlock_restrict(&spec, &err) < 0)
			_exit(255);
		_exit(attempt(f->fd) < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int create_in_a(int dir)
{
	return openat(dir, "a/x", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

static int create_in_c(int dir)
{
	return openat(dir, "c/x", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

static int rename_a_to_b(int dir)
{
	close(create_in_a(dir));
	return renameat(dir, "a/x", dir, "b/x");
}

static int rename_a_to_c(int dir)
{
	close(create_in_a(dir));
	return renameat(dir, "a/x", dir, "c/x");
}

static int read_c(int dir)
{
	return openat(dir, "c", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(writes_stay_in_the_named_places)
{
	assert_int_equal(try_in_child(*state, create_in_a), 0);
	assert_int_equal(try_in_child(*state, create_in_c), EACCES);
}

TEST(files_move_between_named_places_only)
{
	int r = try_in_child(*state, rename_a_to_c);

	assert_int_equal(try_in_child(*state, rename_a_to_b), 0);
	assert_true(r == EACCES || r == EXDEV);
}

TEST(reading_is_free)
{
	assert_int_equal(try_in_child(*state, read_c), 0);
}

/* With c/out as standard output, and a and b as writable places. */
static int try_stdio(struct fixture *f, int flags, int again)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = openat(f->fd, "c/out", O_CREAT | O_CLOEXEC | flags, 0600);
		int stdio[] = {-1, fd, openat(f->fd, "c", O_PATH | O_CLOEXEC)};
		struct landlock_spec spec = {.stdio = stdio};
		struct err err = {0};
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (fd < 0 || landlock_restrict(&spec, &err) < 0)
			_exit(255);
		_exit(open(link, again | O_CLOEXEC) < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(a_descriptor_for_reading_gives_no_right_to_write)
{
	assert_int_equal(try_stdio(*state, O_RDONLY, O_WRONLY), EACCES);
	assert_int_equal(try_stdio(*state, O_WRONLY, O_WRONLY), 0);
	assert_int_equal(try_stdio(*state, O_RDWR, O_WRONLY), 0);
}

/* Allows reading and running below c/in only, except for closed places there. */
static int try_reading(struct fixture *f, const char *path, int flags)
{
	AUTO_FREE char *in = xasprintf("%s/c/in", f->dir), *shut = xasprintf("%s/c/in/no", f->dir);
	AUTO_FREE char *again = xasprintf("%s/c/in/no/but", f->dir);
	const char *const closed[] = {"/", shut, NULL}, *const open_again[] = {in, again, NULL};
	struct trees trees = {0};
	int status;
	pid_t pid;

	trees_add(&trees, LANDLOCK_READ | LANDLOCK_EXEC, closed, open_again);
	trees_sort(&trees);
	pid = fork();
	if (pid == 0) {
		struct landlock_spec spec = {.trees = trees.list, .n_trees = trees.n};
		struct err err = {0};

		if (landlock_restrict(&spec, &err) < 0)
			_exit(255);
		_exit(openat(f->fd, path, flags | O_CLOEXEC) < 0 ? errno : 0);
	}
	trees_done(&trees);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(reading_stays_in_the_named_trees)
{
	struct fixture *f = *state;
	static const char *const dirs[] = {"c/in", "c/in/yes", "c/in/no", "c/in/no/but"};
	static const char *const files[] = {"c/x", "c/in/x", "c/in/yes/x", "c/in/no/x",
					    "c/in/no/but/x"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		assert_int_equal(mkdirat(f->fd, dirs[i], 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		close(openat(f->fd, files[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(try_reading(f, "c/x", O_RDONLY), EACCES);
	assert_int_equal(try_reading(f, "c/in/x", O_RDONLY), 0);
	assert_int_equal(try_reading(f, "c/in/yes/x", O_RDONLY), 0);
	assert_int_equal(try_reading(f, "c/in/yes", O_RDONLY | O_DIRECTORY), 0);
	assert_int_equal(try_reading(f, "c/in/no/x", O_RDONLY), EACCES);
	assert_int_equal(try_reading(f, "c/in/no", O_RDONLY | O_DIRECTORY), EACCES);
	assert_int_equal(try_reading(f, "c/in/no/but/x", O_RDONLY), 0);
	/* A directory above a closed place is not listed without the keeper; attributes are
	 * free. */
	assert_int_equal(try_reading(f, "c/in", O_RDONLY | O_DIRECTORY), EACCES);
	assert_int_equal(try_reading(f, "c/in/no/x", O_PATH), 0);
}

int main(void)
{
	if (landlock_abi() < LANDLOCK_ABI_NEEDED) {
		printf("1..0 # SKIP this kernel has no Landlock of ABI %d\n", LANDLOCK_ABI_NEEDED);
		return 0;
	}
	return run_all(set_up, tear_down, NULL, NULL);
}
