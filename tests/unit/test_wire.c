/* test_wire - frames between cordon and its keeper arrive unchanged, and bad ones are refused. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/keeper/wire.h"
#include "tests/support/check.h"

TEST(fields_come_back_in_order)
{
	AUTO_BUF struct buf b = BUF_INIT;
	struct wire_in in;
	struct span s;
	size_t used, mark = wire_begin(&b, WIRE_TOUCH);

	wire_i64(&b, -7);
	wire_u8(&b, 200);
	wire_u32(&b, UINT32_MAX);
	wire_u64(&b, UINT64_MAX - 1);
	wire_str(&b, "a\0b", 3);
	wire_cstr(&b, NULL);
	wire_end(&b, mark);

	assert_int_equal(wire_next(&b, &in, &used), 1);
	assert_int_equal(used, b.len);
	assert_int_equal(in.type, WIRE_TOUCH);
	assert_int_equal(wire_get_i64(&in), -7);
	assert_int_equal(wire_get_u8(&in), 200);
	assert_int_equal(wire_get_u32(&in), UINT32_MAX);
	assert_true(wire_get_u64(&in) == UINT64_MAX - 1);
	s = wire_get_str(&in);
	assert_int_equal(s.len, 3);
	assert_memory_equal(s.data, "a\0b", 3);
	s = wire_get_str(&in);
	assert_int_equal(s.len, 0);
	assert_false(in.bad);
	assert_ptr_equal(in.p, in.end);
}

TEST(a_frame_in_pieces_is_not_whole)
{
	AUTO_BUF struct buf b = BUF_INIT;
	struct wire_in in;
	size_t used, mark = wire_begin(&b, WIRE_NOTE);

	wire_cstr(&b, "words");
	wire_end(&b, mark);
	for (size_t len = 0; len < b.len; len++) {
		const struct buf part = {.data = b.data, .len = len};

		assert_int_equal(wire_next(&part, &in, &used), 0);
	}
}

TEST(a_wrong_length_ends_it)
{
	static const unsigned char huge[] = {0xff, 0xff, 0xff, 0x7f, 1, 0};
	static const unsigned char tiny[] = {1, 0, 0, 0, 1, 0};
	AUTO_BUF struct buf b = BUF_INIT;
	struct wire_in in;
	size_t used;

	buf_add(&b, huge, sizeof(huge));
	assert_int_equal(wire_next(&b, &in, &used), -EBADMSG);
	buf_clear(&b);
	buf_add(&b, tiny, sizeof(tiny));
	assert_int_equal(wire_next(&b, &in, &used), -EBADMSG);
}

TEST(reading_past_the_end_gives_nothing)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *text = NULL;
	struct wire_in in;
	size_t used, mark = wire_begin(&b, WIRE_NOTE);

	wire_u32(&b, 1000); /* a string that claims to be longer than the frame */
	buf_str(&b, "short");
	wire_end(&b, mark);
	buf_str(&b, "what follows is another frame's and must not be read..............");
	assert_int_equal(wire_next(&b, &in, &used), 1);
	text = wire_get_cstr(&in);
	assert_string_equal(text, "");
	assert_true(in.bad);
	assert_int_equal(wire_get_u64(&in), 0);
	assert_int_equal(wire_get_u8(&in), 0);
}

TEST(long_strings_are_cut)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *text = xcalloc(1, 2 * WIRE_STR_MAX);
	struct wire_in in;
	size_t used, mark = wire_begin(&b, WIRE_NOTE);

	memset(text, 'x', 2 * WIRE_STR_MAX);
	wire_str(&b, text, 2 * WIRE_STR_MAX);
	wire_end(&b, mark);
	assert_int_equal(wire_next(&b, &in, &used), 1);
	assert_int_equal(wire_get_str(&in).len, WIRE_STR_MAX);
}

TESTS(NULL, NULL)
