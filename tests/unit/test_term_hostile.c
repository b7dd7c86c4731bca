/* test_term_hostile - sequences by which an agent could attack its terminal, or the user's. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"

TEST(only_listed_questions_are_answered)
{
	struct pane *p = *state;

	pane_feed(p, "\033[c");
	assert_string_equal(pane_answers(p), "\033[?1;2c");
	pane_feed(p, "ab\033[6n");
	assert_string_equal(pane_answers(p), "\033[1;3R");
	pane_feed(p, "\033[5n");
	assert_string_equal(pane_answers(p), "\033[0n");
	pane_feed(p, "\033[?2004h\033[?2004$p");
	assert_string_equal(pane_answers(p), "\033[?2004;1$y");
	/* Clipboard, colours, title, size. */
	pane_feed(p, "\033]52;c;?\a\033]52;c;aGk=\a\033]10;?\a\033]4;1;?\033\\\033[21t\033[18t"
		     "\033[x\033Z");
	assert_string_equal(pane_answers(p), "");
	/* Version, capabilities, settings: the answers are cordon's own, whatever the question
	 * contains. */
	pane_feed(p, "\033[>q\033P+q544e\033\\\033P+q6B31;rm -rf\033\\\033P$qm\033\\\033Pq~\033\\");
	assert_string_equal(pane_answers(p), "\033P>|cordon\033\\"
					     "\033P1+r544E=787465726D2D323536636F6C6F72\033\\"
					     "\033P0+r\033\\\033P0$r\033\\");
	assert_string_equal(pane_screen(p), "ab||||");
}

/* vim, bat and agents choose their colours by it; others wait for the answer to a later query. */
TEST(colors_are_told_where_they_are_known)
{
	struct pane *p = *state;

	term_set_colors(p->t, COLOR_DEFAULT, COLOR_RGB(0x12, 0xab, 0x00));
	pane_feed(p, "\033]10;?\a\033]11;?\a");
	assert_string_equal(pane_answers(p), "\033]11;rgb:1212/abab/0000\a");
	term_set_colors(p->t, COLOR_INDEX(15), COLOR_DEFAULT);
	pane_feed(p, "\033[5n\033]10;?\033\\\033]11;?\033\\\033[c");
	assert_string_equal(pane_answers(p), "\033[0n\033]10;rgb:ffff/ffff/ffff\033\\\033[?1;2c");
	/* Colours can be queried, never set. */
	pane_feed(p, "\033]10;#123456\a\033]11;?;?\a\033]10;?x\a\033]110;?\a");
	assert_string_equal(pane_answers(p), "");
}

TEST(answers_stay_seven_bit)
{
	struct pane *p = *state;

	pane_feed(p, "\033 G\033[c");
	assert_string_equal(pane_answers(p), "\033[?1;2c");
}

TEST(a_flood_of_questions_is_cut)
{
	struct pane *p = *state;
	struct buf b = BUF_INIT;

	term_set_colors(p->t, COLOR_RGB(1, 2, 3), COLOR_RGB(1, 2, 3));
	for (int i = 0; i < 100000; i++)
		buf_str(&b, i % 2 ? "\033[c" : "\033]11;?\a");
	term_feed(p->t, b.data, b.len);
	assert_true(p->out.len <= REPLIES_MAX);
	assert_true(p->out.len > 0);
	buf_done(&b);
}

static void on_clipboard(void *data, const char *text, size_t len)
{
	buf_fmt(data, "[%.*s]", (int)len, text);
}

static void drop_output(void *data, const void *bytes, size_t len)
{
	(void)data;
	(void)bytes;
	assert_int_equal(len, 0); /* there is no answer */
}

TEST(text_for_the_clipboard_is_bounded_and_whole)
{
	static const struct term_events on = {.output = drop_output, .clipboard = on_clipboard};
	AUTO_BUF struct buf got = BUF_INIT, flood = BUF_INIT;
	struct term *t = term_new(4, 20, &on, &got);

	buf_str(&flood,
		"\033]52;c;aGk=\a\033]52;;aGk=\033\\\033]52;c;?\a\033]52;c;aGk\a\033]52;c;\a"
		"\033]52;c\a\033]52;\a\033]52\a\033]52;c;aGk=\030\033]521;c;aGk=\a");
	for (size_t i = 0; i < flood.len; i++)
		term_feed(t, flood.data + i, 1);
	assert_string_equal(got.data, "[hi][hi]");
	buf_clear(&got);
	buf_clear(&flood);
	buf_str(&flood, "\033]52;c;");
	for (int i = 0; i < 3 * TERM_CLIP_MAX; i++)
		buf_ch(&flood, 'A');
	buf_str(&flood, "\a\033]0;title\a");
	term_feed(t, flood.data, flood.len);
	assert_string_equal(got.data, "");
	assert_string_equal(term_title(t), "title");
	assert_true(t->sieve.clip.len == 0);
	term_free(t);
}

TEST(titles_are_escaped_and_cut)
{
	struct pane *p = *state;

	pane_feed(p, "\033]0;a\xe2\x80\xae"
		     "b\x9b\033\\");
	assert_string_equal(term_title(p->t), "a\\u{202e}b\\x9b");
	pane_feed(p, "\033]2;");
	for (int i = 0; i < 100000; i++)
		pane_feed(p, "0123456789");
	pane_feed(p, "\a");
	assert_true(strlen(term_title(p->t)) < TERM_TITLE_MAX);
	assert_string_equal(pane_screen(p), "||||");
	assert_int_equal(p->titles, 2);
	pane_feed(p, "\033]0;padded to a width   \a");
	assert_string_equal(term_title(p->t), "padded to a width");
	pane_feed(p, "\033]0;   \a");
	assert_string_equal(term_title(p->t), "");
}

TEST(strings_are_swallowed)
{
	struct pane *p = *state;

	pane_feed(p, "a\033]8;;http://x\033\\b\033]8;;\ac\033Pq#0;2;0;0;0~~\033\\d\033_Gx\033\\e"
		     "\033^pm\033\\f\033Xsos\033\\g\033ktitle\033\\h");
	assert_string_equal(pane_screen(p), "abcdefgh||||");
	/* Cut off by CAN, and by another sequence. */
	pane_feed(p, "\r\033]0;xx\030a\033]0;xx\033[1mb");
	assert_string_equal(pane_screen(p), "abcdefgh||||");
	assert_string_equal(term_title(p->t), "");
}

TEST(too_many_parameters_do_no_harm)
{
	struct pane *p = *state;

	pane_feed(p, "\033[");
	for (int i = 0; i < 100000; i++)
		pane_feed(p, "1;");
	pane_feed(p, "31mx\033[99999999999999999999999999999By");
	assert_string_equal(pane_cell(p, 0, 0)->text, "x");
	assert_string_equal(pane_cell(p, 3, 1)->text, "y");
	pane_feed(p, "\033[1;2;3;4$$$$$z\033[<<<<m\033[?>5h\033[;;;;H*");
	assert_string_equal(pane_cell(p, 0, 0)->text, "*");
}

TEST(broken_utf8_is_a_replacement)
{
	struct pane *p = *state;

	pane_feed(p, "\xc3(\xff\xed\xa0\x80\xf4\x90\x80\x80");
	assert_string_equal(pane_cell(p, 0, 0)->text, "\xef\xbf\xbd");
	assert_string_equal(pane_cell(p, 0, 1)->text, "(");
	assert_string_equal(pane_cell(p, 0, 2)->text, "\xef\xbf\xbd");
	/* A part of a character, and much later the rest. */
	pane_feed(p, "\033c\xe6");
	pane_feed(p, "\xbc");
	pane_feed(p, "\xa2!");
	assert_string_equal(pane_screen(p), "\xe6\xbc\xa2!||||");
	pane_feed(p, "\033c\xe6\033[1mA");
	assert_string_equal(pane_screen(p), "\xef\xbf\xbd"
					    "A||||");
}

/* C1 in UTF-8 moved libvterm's cursor to column -1. */
TEST(controls_of_every_kind_are_not_cells)
{
	struct pane *p = *state;

	pane_feed(p, "\xc2\x9b"
		     "31m\xc2\x85\xc2\x80");
	assert_string_equal(pane_cell(p, 0, 0)->text, "\xef\xbf\xbd");
	pane_feed(p, "\033c\x05\x7f\x01\x10 a\x9b!");
	assert_string_equal(pane_screen(p), " a\xef\xbf\xbd!||||");
}

TEST(invisible_and_turning_characters_are_dropped)
{
	struct pane *p = *state;

	/* RLO, ZWSP, ZWJ, BOM, a tag, variation selector 16, soft hyphen, line separator */
	pane_feed(p, "a\xe2\x80\xae"
		     "b\xe2\x80\x8b"
		     "c\xe2\x80\x8d"
		     "d\xef\xbb\xbf"
		     "e\xf3\xa0\x81\xa1"
		     "f\xef\xb8\x8f"
		     "g\xc2\xad"
		     "h\xe2\x80\xa8");
	assert_string_equal(pane_screen(p), "abcdefgh\xef\xbf\xbd||||");
}

TEST(repeat_after_a_mark_ends)
{
	struct pane *p = *state;

	pane_feed(p, "\xcc\x81\033[5b\033[H\xcc\x81\033[9999ba\xcc\x81\033[99999b");
	assert_string_equal(pane_cell(p, 0, 1)->text, "a");
}

TEST(cursors_saved_before_a_resize_are_inside_after_it)
{
	struct pane *p = *state;
	struct term_cursor c;

	term_resize(p->t, 40, 90);
	pane_feed(p, "\033[10;39r\033[40;90H\0337\033[?1049h\033[40;90H");
	term_resize(p->t, 3, 5);
	pane_feed(p, "\n\n\nx\033[?1049lx\n\0338y\033[@\033[L\t\033[Xz");
	assert_true(term_cursor(p->t, &c));
	assert_true(c.row < 3 && c.col < 5);
}

TEST(shrinking_below_a_high_cursor)
{
	struct pane *p = *state;
	struct term_cursor c;

	pane_feed(p, "a\r\nb\r\nc\r\nd\033[H");
	term_resize(p->t, 2, 10);
	assert_true(term_cursor(p->t, &c));
	assert_int_equal(c.row, 0);
	assert_string_equal(pane_screen(p), "a|b|");
	assert_int_equal(term_history(p->t), 0);
}

TEST(sizes_are_clamped)
{
	struct pane *p = *state;
	int rows, cols;

	pane_feed(p, "\xe6\xbc\xa2\033#6");
	term_resize(p->t, 0, -5);
	pane_feed(p, "\xe6\xbc\xa2x\xe6\xbc\xa2\r\n");
	term_size(p->t, &rows, &cols);
	assert_int_equal(rows, TERM_MIN);
	assert_int_equal(cols, TERM_MIN);
	term_resize(p->t, 100000, 100000);
	term_size(p->t, &rows, &cols);
	assert_int_equal(rows, TERM_MAX);
	assert_int_equal(cols, TERM_MAX);
}

TEST(ten_megabytes_on_one_line)
{
	struct pane *p = *state;
	size_t len = 10 * 1024 * 1024;
	char *text = malloc(len);

	term_resize(p->t, 24, 80);
	memset(text, 'x', len);
	term_feed(p->t, text, len);
	free(text);
	assert_int_equal(term_history(p->t), TERM_SCROLLBACK_LINES);
	assert_string_equal(pane_cell(p, 5, 79)->text, "x");
}

TEST(no_end_to_a_sequence)
{
	struct pane *p = *state;

	for (int i = 0; i < 100000; i++)
		pane_feed(p, i ? "/////////" : "\033");
	pane_feed(p, "cok");
	assert_string_equal(pane_screen(p), "ok||||");
}

TEST(bells_are_counted_once)
{
	struct pane *p = *state;

	pane_feed(p, "\a\a\a\a\a");
	assert_int_equal(p->bells, 1);
	pane_feed(p, "\033]0;x\a");
	assert_int_equal(p->bells, 1);
}

TESTS(pane_setup, pane_teardown)
