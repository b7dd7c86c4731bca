/* test_log - the diagnostic log at its limit. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/util.h"
#include "tests/support/check.h"

static char top[64];

static int set_up(void **state)
{
	AUTO_CLOSE int fd = -1;

	(void)state;
	snprintf(top, sizeof(top), "/tmp/test_log.XXXXXX");
	if (!mkdtemp(top) || chdir(top) < 0)
		return -1;
	fd = open("cordon.log", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return ftruncate(fd, (8 << 20) + 1);
}

static int tear_down(void **state)
{
	(void)state;
	log_open(-1, LOG_ERROR, NULL);
	return chdir("/") < 0 ? -1 : io_remove_tree(AT_FDCWD, top);
}

static ino_t number(const char *name)
{
	struct stat st;

	return stat(name, &st) < 0 ? 0 : st.st_ino;
}

static off_t size(const char *name)
{
	struct stat st;

	return stat(name, &st) < 0 ? -1 : st.st_size;
}

TEST(a_full_one_is_put_aside)
{
	ino_t full = number("cordon.log");
	int fd = log_open_in(top, LOG_ERROR, NULL);

	assert_true(fd >= 0);
	assert_int_equal(number("cordon.log.1"), full);
	assert_int_equal(size("cordon.log"), 0);
	log_error("test", "to the new one");
	close(fd);
	assert_true(size("cordon.log") > 0);
	/* This one is not full. */
	fd = log_open_in(top, LOG_ERROR, NULL);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(number("cordon.log.1"), full);
}

/* Returns how many descriptors of that process lead to the file. */
static int opened(pid_t pid, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", top, name);
	char link[64], target[128] = "";
	int n = 0;

	for (int fd = 0; fd < 64; fd++) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
		memset(target, 0, sizeof(target));
		n += readlink(link, target, sizeof(target) - 1) > 0 && str_eq(target, path);
	}
	return n;
}

/* Two starting processes both find it full: the second one must get the first one's new file. */
TEST(it_is_put_aside_once)
{
	AUTO_CLOSE int first = open("cordon.log", O_RDONLY | O_CLOEXEC);
	ino_t full = number("cordon.log");
	int status;
	pid_t second;

	assert_int_equal(flock(first, LOCK_EX | LOCK_NB), 0);
	second = fork();
	if (second == 0)
		_exit(log_open_in(top, LOG_ERROR, NULL) < 0);
	while (opened(second, "cordon.log") < 2) /* it has `first` open, too */
		usleep(1000);
	assert_int_equal(rename("cordon.log", "cordon.log.1"), 0);
	close(open("cordon.log", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	flock(first, LOCK_UN);
	assert_int_equal(waitpid(second, &status, 0), second);
	assert_int_equal(status, 0);
	assert_int_equal(number("cordon.log.1"), full);
	assert_int_equal(size("cordon.log"), 0);
}

TESTS(set_up, tear_down)
