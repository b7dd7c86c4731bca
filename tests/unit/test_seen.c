/* test_seen - the record returns the names of directories; a damaged one never returns others. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/trees/seen.h"
#include "tests/support/check.h"

#define N 400

static struct seen_dir dir_of(size_t i)
{
	return (struct seen_dir){.dev = i % 3, .ino = (i * 7919) % N, .sec = 1000 + i, .nsec = i};
}

static size_t held_of(size_t i, char *out, size_t size)
{
	size_t n = 0;

	for (size_t k = 0; k < i % 4; k++)
		n += (size_t)snprintf(out + n, size - n, "\4name-%zu-%zu", i, k) + 1;
	return n;
}

/* Returns how many are found, with exactly the entries that were added. */
static size_t find_all(const char *path)
{
	struct seen *s = seen_load(path);
	size_t found = 0;

	for (size_t i = 0; i < N; i++) {
		struct seen_dir d = dir_of(i);
		struct span held;
		char want[256];
		size_t len = held_of(i, want, sizeof(want));

		if (!seen_find(s, &d, &held))
			continue;
		assert_int_equal(held.len, len);
		assert_memory_equal(held.data, want, len);
		found++;
		d.nsec++;
		assert_false(seen_find(s, &d, &held));
	}
	seen_free(s);
	return found;
}

static void save(const char *path, size_t fresh)
{
	struct seen_part all = SEEN_PART_INIT, part = SEEN_PART_INIT;

	for (size_t i = 0; i < N; i++) {
		const struct seen_dir d = dir_of(i);
		char held[256];
		size_t len = held_of(i, held, sizeof(held));

		seen_part_add(&part, &d, held, len);
		if (i % 100 == 99)
			seen_part_move(&all, &part);
	}
	all.fresh = fresh;
	seen_save(path, &all);
	seen_part_done(&all);
}

TEST(is_found_again)
{
	assert_int_equal(find_all("dir/record"), 0);
	save("dir/record", 10); /* not worth a file */
	assert_int_equal(access("dir/record", F_OK), -1);
	save("dir/record", N);
	assert_int_equal(find_all("dir/record"), N);
}

TEST(damaged)
{
	AUTO_FREE char *data = NULL;
	size_t len, found = 0;

	save("record", N);
	assert_int_equal(io_read_file(AT_FDCWD, "record", 1 << 20, &data, &len), 0);
	for (size_t i = 0; i < len; i += 1 + i % 97) {
		data[i] ^= (char)(1u << (i % 8));
		assert_int_equal(io_write_file(AT_FDCWD, "bad", 0600, data, len, false), 0);
		found += find_all("bad") > 0;
		data[i] ^= (char)(1u << (i % 8));
	}
	assert_true(found > 0); /* the others are still found */
	for (size_t n = 0; n < len; n += 997) {
		assert_int_equal(io_write_file(AT_FDCWD, "bad", 0600, data, n, false), 0);
		find_all("bad");
		/* As after a power cut: the size is right, the bytes are missing. */
		assert_int_equal(truncate("bad", (off_t)len), 0);
		find_all("bad");
	}
}

TEST(of_a_directory)
{
	struct seen_part p = SEEN_PART_INIT;
	struct seen_dir d;

	assert_int_equal(io_mkdir_p(AT_FDCWD, "new", 0700), 0);
	assert_false(
		seen_identify(&p, AT_FDCWD, "new", &d)); /* may change again within this tick */
	assert_false(seen_identify(&p, AT_FDCWD, "missing", &d));
	assert_false(
		seen_identify(&p, AT_FDCWD, "/proc/self", &d)); /* the kernel invents names there */
	seen_part_done(&p);
}

int main(void)
{
	char top[] = "/tmp/cordon-seen-XXXXXX";
	int r;

	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	r = run_all(NULL, NULL, NULL, NULL);
	if (chdir("/") < 0 || io_remove_tree(AT_FDCWD, top) < 0)
		return 1;
	return r;
}
