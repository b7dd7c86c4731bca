/* test_vm_cache - a guest keeps what it has read of a file until the file is changed. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

#include <time.h>

static void write_to(const struct vm *v, const char *text, const struct timespec *mtime)
{
	AUTO_FREE char *path = path_join(v->folder, "f");
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, *mtime};

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(futimens(fd, times), 0);
}

static bool keeps(struct vm *v, uint64_t node)
{
	const uint64_t fh = vm_open(v, node, O_RDONLY);
	struct fuse_open_out out;

	assert_true(fh);
	memcpy(&out, v->answer, sizeof(out));
	vm_release(v, node, fh);
	return out.open_flags & FOPEN_KEEP_CACHE;
}

/* A change is visible in the change time once the clock has advanced. */
static void wait_for_the_clock(void)
{
	const struct timespec turn = {.tv_nsec = 50000000};
	const time_t end = time(NULL) + 4;

	while (time(NULL) < end)
		nanosleep(&turn, NULL);
}

TEST(what_nobody_has_changed_is_kept)
{
	struct vm *v = *state;
	const struct timespec old = {.tv_sec = 1000000000};
	uint64_t node;

	v->tree.kind = FS_READ_ONLY;
	write_to(v, "one", &old);
	node = vm_walk(v, "f");
	assert_false(keeps(v, node)); /* the first time */
	assert_false(keeps(v, node)); /* too young: its change time may not advance */
	wait_for_the_clock();
	assert_false(keeps(v, node));
	assert_true(keeps(v, node));
	/* The user writes to it, with every trace removed that can be. */
	write_to(v, "two", &old);
	assert_false(keeps(v, node));
	assert_false(keeps(v, node));
	wait_for_the_clock();
	assert_false(keeps(v, node));
	assert_true(keeps(v, node));
	vm_forget(v, node);
}

/* Where the user edits, each open reads again: stores through a mapping leave no trace. */
TEST(in_a_working_folder_nothing_is)
{
	struct vm *v = *state;
	const struct timespec old = {.tv_sec = 1000000000};
	uint64_t node;

	write_to(v, "one", &old);
	wait_for_the_clock();
	node = vm_walk(v, "f");
	for (int i = 0; i < 3; i++)
		assert_false(keeps(v, node));
	vm_forget(v, node);
}

TESTS(vm_setup, vm_teardown)
