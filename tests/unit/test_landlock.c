/* test_landlock - what a process can still change after it has restricted itself. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/linux/landlock.h"
#include "core/base/io.h"

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

/* Restrict a child to a and b and let it try; its exit status is the errno that it saw. */
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

static void writes_stay_in_the_named_places(void **state)
{
	assert_int_equal(try_in_child(*state, create_in_a), 0);
	assert_int_equal(try_in_child(*state, create_in_c), EACCES);
}

static void files_move_between_named_places_only(void **state)
{
	int r = try_in_child(*state, rename_a_to_c);

	assert_int_equal(try_in_child(*state, rename_a_to_b), 0);
	assert_true(r == EACCES || r == EXDEV);
}

static void reading_is_free(void **state)
{
	assert_int_equal(try_in_child(*state, read_c), 0);
}

static void a_descriptor_for_reading_gives_no_right_to_write(void **state)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int path = open("/", O_PATH | O_CLOEXEC);

	(void)state;
	assert_int_equal(landlock_stdio(in), -1);
	assert_int_equal(landlock_stdio(out), out);
	assert_int_equal(landlock_stdio(path), -1);
	assert_int_equal(landlock_stdio(-1), -1);
	close(in);
	close(out);
	close(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_stay_in_the_named_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_move_between_named_places_only, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(reading_is_free, set_up, tear_down),
		cmocka_unit_test(a_descriptor_for_reading_gives_no_right_to_write),
	};

	if (landlock_abi() < LANDLOCK_ABI_NEEDED) {
		printf("1..0 # SKIP this kernel has no Landlock of ABI %d\n", LANDLOCK_ABI_NEEDED);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
