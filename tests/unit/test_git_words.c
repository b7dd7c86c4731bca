/* test_git_words - an index that is cut or has flipped bits is compared or refused, without
 * overreads. */
/* SPDX-License-Identifier: MIT */
#include "core/base/buf.h"
#include "core/diff/git_words_priv.h"
#include "tests/support/check.h"

/* An entry of version 2 whose object is 20 times this byte. */
static void put_entry(struct buf *b, const char *path, char object)
{
	size_t from = b->len, len = strlen(path);

	for (int i = 0; i < 24; i++)
		buf_ch(b, '\0');
	buf_add(b, "\0\0\x81\xa4", 4);
	for (int i = 0; i < 12; i++)
		buf_ch(b, '\0');
	for (int i = 0; i < 20; i++)
		buf_ch(b, object);
	buf_ch(b, '\0');
	buf_ch(b, (char)len);
	buf_str(b, path);
	do
		buf_ch(b, '\0');
	while ((b->len - from) % 8);
}

static void put_index(struct buf *b, const char *paths, const char *objects)
{
	uint8_t n = (uint8_t)strlen(objects);

	buf_add(b, "DIRC\0\0\0\2\0\0\0", 11);
	buf_ch(b, (char)n);
	for (uint8_t i = 0; i < n; i++)
		put_entry(b, (char[]){paths[i], '\0'}, objects[i]);
	for (int i = 0; i < 20; i++)
		buf_ch(b, '#');
}

TEST(differences)
{
	AUTO_BUF struct buf before = BUF_INIT, after = BUF_INIT;
	struct index_change x;

	put_index(&before, "abcd", "1111");
	put_index(&after, "acde", "1121");
	assert_true(index_compare(&x, before.data, before.len, after.data, after.len));
	assert_int_equal(x.n, 3);
	assert_int_equal(x.gone, 1);
	assert_string_equal(x.names[0], "b");
	assert_string_equal(x.names[1], "d");
	assert_string_equal(x.names[2], "e");
	assert_int_equal(x.hash, 20);
	assert_int_equal(x.object[0], '2');
	index_change_done(&x);
	assert_true(index_compare(&x, NULL, 0, after.data, after.len));
	assert_int_equal(x.n, 4);
	index_change_done(&x);
	assert_true(index_compare(&x, after.data, after.len, after.data, after.len));
	assert_int_equal(x.n, 0);
	index_change_done(&x);
}

/* Each is in a heap block of its own length, so that a sanitizer detects any overread. */
TEST(damaged)
{
	AUTO_BUF struct buf good = BUF_INIT;
	struct index_change x;

	put_index(&good, "abc", "111");
	for (size_t len = 0; len < good.len; len++) {
		AUTO_FREE char *cut = xmalloc(len + 1);

		memcpy(cut, good.data, len);
		if (index_compare(&x, good.data, good.len, cut, len))
			index_change_done(&x);
	}
	for (size_t bit = 0; bit < 8 * good.len; bit++) {
		AUTO_FREE char *flipped = xmalloc(good.len);

		memcpy(flipped, good.data, good.len);
		flipped[bit / 8] = (char)(flipped[bit / 8] ^ 1 << bit % 8);
		if (index_compare(&x, flipped, good.len, good.data, good.len))
			index_change_done(&x);
	}
}

TESTS(NULL, NULL)
