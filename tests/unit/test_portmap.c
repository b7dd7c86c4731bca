/* test_portmap - entries of a port map are read by every program, or by none. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "backends/interpose/portmap.h"
#include "core/base/err.h"
#include "tests/support/check.h"

static char path[64];

static int make(void)
{
	struct err err = {0};
	int fd = -1;

	snprintf(path, sizeof(path), "/tmp/portmap.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(portmap_create(path, 61000, 4, &fd, &err), 0);
	return fd;
}

TEST(an_entry_is_read_as_it_was_written)
{
	struct portmap_view v;
	int fd = make();

	assert_int_equal(portmap_look(path, 3000, &v), 0);
	assert_int_equal(v.to, 0);
	assert_int_equal(v.base, 61000);
	assert_int_equal(v.count, 4);
	assert_int_equal(portmap_set(fd, 3000, 61003), 0);
	assert_int_equal(portmap_look(path, 3000, &v), 0);
	assert_int_equal(v.to, 61003);
	assert_int_equal(portmap_look(path, 61003, &v), 0);
	assert_int_equal(v.from, 3000);
	close(fd);
	unlink(path);
}

TEST(what_leads_out_of_the_window_is_damage)
{
	struct portmap_view v;
	int fd = make();

	assert_int_equal(portmap_set(fd, 3000, 61004), 0);
	assert_int_equal(portmap_look(path, 3000, &v), -EACCES);
	assert_int_equal(portmap_look(path, 3001, &v), 0);
	close(fd);
	unlink(path);
	assert_int_equal(portmap_look(path, 3001, &v), -EACCES);
}

/* Plays a writer that loses the processor in the middle of an entry. */
static void *stands_still(void *arg)
{
	const int fd = *(int *)arg;
	const uint32_t even = 8;

	usleep(300000);
	return pwrite(fd, &even, sizeof(even), offsetof(struct portmap, seq)) == sizeof(even) ? NULL
											      : arg;
}

TEST(an_entry_is_waited_for)
{
	const uint32_t odd = 7;
	struct portmap_view v;
	pthread_t writer;
	void *failed;
	int fd = make();

	assert_int_equal(portmap_set(fd, 3000, 61003), 0);
	assert_int_equal(pwrite(fd, &odd, sizeof(odd), offsetof(struct portmap, seq)), sizeof(odd));
	assert_int_equal(pthread_create(&writer, NULL, stands_still, &fd), 0);
	assert_int_equal(portmap_look(path, 3000, &v), 0);
	assert_int_equal(v.to, 61003);
	assert_int_equal(pthread_join(writer, &failed), 0);
	assert_null(failed);
	close(fd);
	unlink(path);
}

TEST(nobody_writes_after_a_writer_that_died)
{
	uint32_t odd = 7;
	struct portmap_view v;
	int fd = make();

	assert_int_equal(pwrite(fd, &odd, sizeof(odd), offsetof(struct portmap, seq)), sizeof(odd));
	assert_int_equal(portmap_set(fd, 3000, 61001), -EIO);
	assert_int_equal(portmap_look(path, 3000, &v), -EACCES);
	close(fd);
	unlink(path);
}

TESTS(NULL, NULL)
