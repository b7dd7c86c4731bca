/* test_mask - no piece of a stream shows a secret that the whole stream has. */
/* SPDX-License-Identifier: MIT */
#include "core/net/mask.h"
#include "tests/support/check.h"

static const char *const secrets[] = {"S3CRET", NULL, "SS-other", ""};

static void becomes(const char *text, const char *expected, size_t covered)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		AUTO_BUF struct buf out = BUF_INIT;
		struct mask m = {.held = BUF_INIT};
		size_t n = 0;

		for (size_t at = 0; at < strlen(text); at += piece)
			n += mask_feed(&m, secrets, ARRAY_LEN(secrets), text + at,
				       MIN(piece, strlen(text) - at), &out);
		mask_end(&m, &out);
		mask_done(&m);
		assert_string_equal(out.data, expected);
		assert_int_equal(n, covered);
	}
}

TEST(secrets_are_covered_wherever_they_are_split)
{
	becomes("key=S3CRET.", "key=******.", 1);
	becomes("S3CRETS3CRET", "************", 2);
	becomes("SSS3CRETSS-otherS3CRET", "SS********************", 3);
	becomes("S3CRES3CRE SS-othe", "S3CRES3CRE SS-othe", 0);
}

TEST(only_a_beginning_is_held_back)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct mask m = {.held = BUF_INIT};

	mask_feed(&m, secrets, ARRAY_LEN(secrets), "abc", 3, &out);
	assert_string_equal(out.data, "abc");
	mask_feed(&m, secrets, ARRAY_LEN(secrets), "S3", 2, &out);
	assert_string_equal(out.data, "abc");
	mask_feed(&m, secrets, ARRAY_LEN(secrets), "\n", 1, &out);
	assert_string_equal(out.data, "abcS3\n");
	mask_done(&m);
}

TEST(the_rest_is_covered_after_a_pause)
{
	static const char *const pieces[] = {"SS3",  "CR", "ETS3", "C.SS-o",
					     "ther", "S3", "",	   "CRET"};
	AUTO_BUF struct buf out = BUF_INIT;
	struct mask m = {.held = BUF_INIT};

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		mask_feed(&m, secrets, ARRAY_LEN(secrets), pieces[i], strlen(pieces[i]), &out);
		mask_end(&m, &out);
		assert_false(mask_holds(&m));
	}
	assert_string_equal(out.data, "SS3CR**S3C.SS-o****S3****");
	mask_done(&m);
}

TESTS(NULL, NULL)
