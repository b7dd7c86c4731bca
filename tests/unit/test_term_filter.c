/* test_term_filter - which output of a program reaches the user's own terminal. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tui/term/filter.h"

/* Whole, and byte by byte. */
static void passes(const char *bytes, size_t len, const char *want)
{
	for (size_t piece = 1; piece <= len; piece += len > 1 ? len - 1 : 1) {
		AUTO_BUF struct buf out = BUF_INIT;
		struct term_filter f = {0};

		for (size_t at = 0; at < len; at += piece)
			term_filter_feed(&f, bytes + at, MIN(piece, len - at), &out);
		assert_string_equal(out.data, want);
	}
}

static void same(const char *bytes)
{
	passes(bytes, strlen(bytes), bytes);
}

static void drops(const char *bytes)
{
	AUTO_FREE char *text = xasprintf("a%sb", bytes);

	passes(text, strlen(text), "ab");
}

TEST(test_drawing_passes)
{
	same("plain text\r\n\ttab\bback \xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x8e\x89\a");
	same("\033[1;38;2;1;2;3mcolour\033[4:3mcurly\033[m");
	same("\033[H\033[2J\033[5;10Hx\033[K\033[3A\033[2P\033[10@\033[2;20r\033[4h\033[4l");
	same("\0337\033[?1049h\033[?25l\033[?25h\033[?1049l\0338\033[2 "
	     "q\033[!p\033(0lqk\033(B\033#8");
	passes("\033[?1049;25;9999l", 17, "\033[?1049l\033[?25l");
}

TEST(test_the_rest_is_dropped)
{
	drops("\033]52;c;QUJD\a");	 /* the clipboard */
	drops("\033]0;title\033\\");	 /* a title */
	drops("\033]8;;http://x\033\\"); /* a link */
	drops("\033Pq#0;2;0;0;0\033\\"); /* sixel */
	drops("\033P$qm\033\\");	 /* DECRQSS */
	drops("\033_Gf=24;AAAA\033\\");	 /* kitty's graphics */
	drops("\033^pm\033\\\033Xsos\033\\\033kname\033\\");
	drops("\033[c\033[>c\033[=c\033[5n\033[6n\033[?6n\033[21t\033[18t\033[x\033[?25$p\033[>q");
	drops("\033[>1u\033[<u\033[=1u\033[?u\033[>4;1m"); /* keyboards */
	drops("\033[?2031h\033[?9001h\033[20h\033[3J\033c\033[5i\033[?5i");
	drops("\033[99999A\033[1$r\033[0;0\"p\005\001");
	passes("a\302\233"
	       "31mb",
	       7,
	       "a\xef\xbf\xbd"
	       "31mb"); /* CSI as U+009B */
	passes("a\233"
	       "31mb",
	       6,
	       "a\xef\xbf\xbd"
	       "31mb"); /* as a byte */
	passes("a\xed\xa0\x80"
	       "b\xc0\xaf",
	       7,
	       "a\xef\xbf\xbd"
	       "b\xef\xbf\xbd\xef\xbf\xbd");
	passes("\033[31\033[32mx", 11, "\033[32mx");
	passes("\033]0;a\033[31mx", 12, "\033[31mx"); /* ESC ends a string */
}

/* A terminal of 8-bit characters interprets the bytes 0x80 to 0x9f. */
TEST(test_eight_bits)
{
	static const char bytes[] = "caf\xc3\xa9 \xc3\x9b"
				    "6n \xe2\x82\x9b\x9b \xf0\x9f\x8e\x89 \033[31m\xc3";
	struct term_filter f = {.ascii = true};
	AUTO_BUF struct buf out = BUF_INIT;

	for (int i = 0; i < 2; i++) {
		buf_clear(&out);
		term_filter_feed(&f, bytes, sizeof(bytes) - 1, &out);
		term_filter_end(&f, &out);
		assert_string_equal(out.data, "caf? ?6n ?? ? \033[31m?\033[m");
	}
}

TEST(test_end_resets)
{
	static const struct {
		const char *bytes, *end;
	} of[] = {
		{"plain\r\n", ""},
		{"\033[31mred\033[0m", ""},
		{"\033[31mred", "\033[m"},
		{"\033[?1049h\033[?25l\033[?1000h", "\033[?1049l\033[?1000l\033[?25h"},
		{"\033[?1049h\033[?1049l\033[?25l\033[?25h", ""},
		{"\033[2;5r", "\017\033[!p\033[m"},
		{"\033]0;never ends", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		AUTO_BUF struct buf out = BUF_INIT;
		struct term_filter f = {0};

		term_filter_feed(&f, of[i].bytes, strlen(of[i].bytes), &out);
		buf_clear(&out);
		term_filter_end(&f, &out);
		assert_string_equal(out.data, of[i].end);
	}
}

/* Of random bytes no string and no query passes. */
TEST(test_random)
{
	static const char letters[] = "\033\033\033[[]P_?>;:01239cntqumhlpx\\\a\x9b\xc2 a$!";
	struct term_filter f = {0};

	srandom(1);
	for (int round = 0; round < 2000; round++) {
		AUTO_BUF struct buf out = BUF_INIT;
		char bytes[200];

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = letters[(size_t)random() % (sizeof(letters) - 1)];
		term_filter_feed(&f, bytes, sizeof(bytes), &out);
		for (size_t i = 0; i + 1 < out.len; i++) {
			size_t n;

			assert_false(out.data[i] == '\033' && strchr("]P_^Xkc", out.data[i + 1]));
			if (out.data[i] != '\033' || out.data[i + 1] != '[')
				continue;
			n = strspn(out.data + i + 2, "?>;:0123456789 !$");
			assert_null(strchr("cntx", out.data[i + 2 + n]));
		}
	}
}

TESTS(NULL, NULL)
