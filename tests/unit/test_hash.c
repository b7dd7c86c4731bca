/* test_hash - every byte of a file counts, but no hole. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "tests/support/check.h"

static int unnamed(void)
{
	const char *tmp = getenv("TMPDIR");
	int fd = open(tmp ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void fill(int fd, const char *bytes, size_t size, off_t at)
{
	assert_int_equal(io_pwrite_all(fd, bytes, size, at), 0);
}

TEST(a_file_has_the_hash_of_its_bytes)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 65536, 70001, 200000};
	AUTO_FREE char *bytes = xmalloc(200000);

	for (size_t i = 0; i < 200000; i++)
		bytes[i] = (char)(i * 7 + i / 4096);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		AUTO_CLOSE int fd = unnamed();
		uint64_t hash = content_hash_all(bytes, sizes[i]);

		fill(fd, bytes, sizes[i], 0);
		assert_true(content_hash_whole(fd, sizes[i]) == hash);
		if (!sizes[i])
			continue;
		fill(fd, "?", 1, (off_t)sizes[i] / 2);
		assert_true(content_hash_whole(fd, sizes[i]) != hash);
	}
}

/* The same bytes, written or left as holes. */
TEST(a_copy_with_other_holes_has_the_same)
{
	AUTO_CLOSE int holes = unnamed(), dense = unnamed();
	AUTO_FREE char *zeros = xcalloc(1, 300001);
	uint64_t hash;

	fill(dense, zeros, 300001, 0);
	fill(dense, "x", 1, 150000);
	assert_int_equal(ftruncate(holes, 300001), 0);
	fill(holes, "x", 1, 150000);
	hash = content_hash_whole(holes, 300001);
	assert_true(hash != 0);
	assert_true(content_hash_whole(dense, 300001) == hash);
	assert_true(content_hash_whole(holes, 300000) != hash);
	fill(holes, "x", 1, 250000);
	assert_true(content_hash_whole(holes, 300001) != hash);
}

TEST(what_is_nearly_all_hole_is_not_read)
{
	const off_t size = (off_t)1 << 40;
	AUTO_CLOSE int fd = unnamed();
	uint64_t began;

	assert_int_equal(ftruncate(fd, size), 0);
	fill(fd, "x", 1, size - 1);
	began = clock_wall_us();
	assert_true(content_hash_whole(fd, (uint64_t)size) != 0);
	assert_true(clock_wall_us() - began < 10 * 1000 * 1000);
}

TESTS(NULL, NULL)
