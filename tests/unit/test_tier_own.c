/* test_tier_own - a session's directory, and those that other sessions have left. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/landlock/tier_priv.h"
#include "core/base/io.h"
#include "tests/support/check.h"

static char top[64];

static int set_up(void **state)
{
	AUTO_CLOSE int dir = -1;

	(void)state;
	snprintf(top, sizeof(top), "/tmp/test_tier_own.XXXXXX");
	if (!mkdtemp(top) || chdir(top) < 0 || mkdir("tmp", 0700) < 0 ||
	    mkdir("tmp/left", 0700) < 0 || mkdir("tmp/held", 0700) < 0)
		return -1;
	dir = open("tmp/left", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return io_write_file(dir, "file", 0600, "x", 1, false) || chmod("tmp/left", 0) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") < 0 ? -1 : io_remove_tree(AT_FDCWD, top);
}

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Lists the names that came to and left tmp/, "+name-name". */
static void tell(int watch, char *ret, size_t size)
{
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t n = read(watch, buf, sizeof(buf));

	assert_true(n > 0);
	*ret = '\0';
	for (char *p = buf; p < buf + n;) {
		const struct inotify_event *e = (const void *)p;
		size_t len = strlen(ret);

		snprintf(ret + len, size - len, "%c%s", e->mask & IN_CREATE ? '+' : '-', e->name);
		p += sizeof(*e) + e->len;
	}
}

/* Slow removals are done when no session waits for the lock. */
TEST(others_do_not_wait_for_what_is_removed)
{
	AUTO_CLOSE int held = open("tmp/held", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int all = open("tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int watch = inotify_init1(IN_CLOEXEC);
	const struct spawn_spec spec = {.state_dir = top, .session = "own"};
	struct plan p = {0};
	struct err err = {0};
	char told[256];

	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	assert_true(inotify_add_watch(watch, "tmp", IN_CREATE | IN_DELETE) >= 0);
	assert_int_equal(temp_dir_own(&p, &spec, &err), 0);
	tell(watch, told, sizeof(told));
	assert_string_equal(told, "+own-left");
	assert_false(is_there("tmp/left"));
	assert_true(is_there("tmp/held"));
	assert_int_equal(flock(all, LOCK_EX | LOCK_NB), 0);
	close(p.own_lock);
	free(p.own);
}

/* A second directory of that name is refused, and the remains are removed all the same. */
TEST(it_is_not_taken_from_another)
{
	const struct spawn_spec spec = {.state_dir = top, .session = "held"};
	AUTO_CLOSE int held = open("tmp/held", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct plan p = {0};
	struct err err = {0};

	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(temp_dir_own(&p, &spec, &err), -EEXIST);
	assert_true(is_there("tmp/held"));
	assert_false(is_there("tmp/left"));
	free(p.own);
}

TESTS(set_up, tear_down)
