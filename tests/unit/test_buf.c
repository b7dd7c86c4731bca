/* test_buf - builds text: formats it into the available room, quotes it for JSON. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "tests/support/check.h"

/* For each room and each length around it: the text, its end and earlier text are right. */
TEST(fits_or_not_the_text_is_whole)
{
	char want[256], words[128];

	memset(words, 'w', sizeof(words));
	for (int before = 0; before < 70; before++)
		for (int len = 0; len < (int)sizeof(words) - 1; len++) {
			AUTO_BUF struct buf b = BUF_INIT;

			buf_add(&b, words, (size_t)before);
			buf_fmt(&b, "<%.*s>%d", len, words, len);
			snprintf(want, sizeof(want), "%.*s<%.*s>%d", before, words, len, words,
				 len);
			assert_string_equal(b.data, want);
			assert_int_equal(b.len, strlen(want));
			assert_true(b.len < b.cap);
		}
}

static void quoted_is(const char *raw, size_t len, const char *want)
{
	AUTO_BUF struct buf b = BUF_INIT;

	json_quote(&b, raw, len);
	assert_string_equal(b.data, want);
}

TEST(what_is_plain_stands_as_it_is)
{
	quoted_is("", 0, "\"\"");
	quoted_is("a", 1, "\"a\"");
	quoted_is("a/b c~", 6, "\"a/b c~\"");
	quoted_is("caf\xc3\xa9", 5, "\"caf\xc3\xa9\"");
}

TEST(what_is_not_is_escaped_wherever_it_is)
{
	quoted_is("\"a\\", 3, "\"\\\"a\\\\\"");
	quoted_is("a\"\"b", 4, "\"a\\\"\\\"b\"");
	quoted_is("a\nb", 3, "\"a\\u000ab\"");
	quoted_is("a\0b", 3, "\"a\\u0000b\"");
	quoted_is("\x7f", 1, "\"\\u007f\"");
	quoted_is("a\xff", 2, "\"a\\udcff\"");
}

static void fitted_is(const char *text, int cols, const char *want)
{
	AUTO_BUF struct buf b = BUF_INIT;

	text_fit_middle(&b, text, cols);
	assert_string_equal(b.data, want);
	assert_true(text_width(b.data) <= cols);
}

TEST(only_the_first_member_has_no_comma)
{
	static const char *const list[] = {"a", "\"", NULL};
	AUTO_BUF struct buf b = BUF_INIT;

	buf_ch(&b, '{');
	json_member(&b, "one", "{");
	json_member(&b, "two", NULL);
	json_strings(&b, "three", list, SIZE_MAX);
	json_strings(&b, "four", list, 1);
	json_strings(&b, "five", NULL, 1);
	buf_ch(&b, '}');
	assert_string_equal(b.data, "{\"one\":\"{\",\"two\":null,\"three\":[\"a\",\"\\\"\"],"
				    "\"four\":[\"a\"],\"five\":[]}");
}

TEST(a_path_loses_whole_directories)
{
	fitted_is("src/a.c", 7, "src/a.c");
	fitted_is("~/.local/share/opencode/repos", 28, "~/.local/…/opencode/repos");
	fitted_is("~/.local/share/opencode/repos", 20, "~/…/opencode/repos");
	fitted_is("~/.local/share/opencode/repos", 12, "~/…/repos");
	fitted_is("/usr/lib/x", 9, "/…/lib/x");
	fitted_is("~/a-name-that-has-no-room.lock", 12, "~/a…oom.lock");
	fitted_is("writing ~/project/.git/hooks/pre-commit once", 37,
		  "writing ~/…/hooks/pre-commit once");
	fitted_is("writing ~/project/.git/hooks/pre-commit once", 28,
		  "writing ~/…/pre-commit once");
	fitted_is("writing all of it, once", 12, "wri…it, once");
}

TESTS(NULL, NULL)
