/* test_term - output of the agent becomes the right cells. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"

TEST(text_and_line_ends)
{
	struct pane *p = *state;

	pane_feed(p, "one\r\ntwo\rT\r\n\tx");
	assert_string_equal(pane_screen(p), "one|Two|        x||");
}

TEST(long_lines_wrap)
{
	struct pane *p = *state;

	pane_feed(p, "0123456789ab\r\n");
	assert_string_equal(pane_screen(p), "0123456789|ab|||");
	pane_feed(p, "\033[?7l0123456789ab");
	assert_string_equal(pane_screen(p), "0123456789|ab|012345678b||");
}

TEST(wide_characters_take_two_columns)
{
	struct pane *p = *state;

	pane_feed(p, "a\xe6\xbc\xa2"
		     "b");
	assert_string_equal(pane_screen(p), "a\xe6\xbc\xa2"
					    "b||||");
	assert_int_equal(pane_cell(p, 0, 1)->width, 2);
	assert_int_equal(pane_cell(p, 0, 2)->width, 0);
	assert_string_equal(pane_cell(p, 0, 3)->text, "b");
	/* One that does not fit goes to the next line as a whole. */
	pane_feed(p, "\r\n012345678\xe6\xbc\xa2");
	assert_string_equal(pane_screen(p), "a\xe6\xbc\xa2"
					    "b|012345678|\xe6\xbc\xa2||");
}

/* Newer than libvterm's own table: U+1F916, U+1FAE0. */
TEST(emoji_are_wide_whatever_libvterm_thinks)
{
	struct pane *p = *state;

	pane_feed(p, "\xf0\x9f\xa4\x96x\xf0\x9f\xab\xa0y");
	assert_int_equal(pane_cell(p, 0, 0)->width, 2);
	assert_string_equal(pane_cell(p, 0, 2)->text, "x");
	assert_string_equal(pane_cell(p, 0, 3)->text, "\xf0\x9f\xab\xa0");
	assert_int_equal(pane_cell(p, 0, 3)->width, 2);
	assert_string_equal(pane_cell(p, 0, 5)->text, "y");
}

TEST(half_a_wide_character_is_a_blank)
{
	struct pane *p = *state;

	pane_feed(p, "\xe6\xbc\xa2\xe6\xbc\xa2\r\033[Cx");
	assert_string_equal(pane_screen(p), " x\xe6\xbc\xa2||||");
	pane_feed(p, "\rab\033[1;3Hc");
	assert_string_equal(pane_screen(p), "abc||||");
	assert_int_equal(pane_cell(p, 0, 2)->width, 1);
}

TEST(marks_combine_but_not_without_end)
{
	struct pane *p = *state;

	pane_feed(p, "e\xcc\x81x");
	assert_string_equal(pane_cell(p, 0, 0)->text, "e\xcc\x81");
	assert_string_equal(pane_cell(p, 0, 1)->text, "x");
	pane_feed(p, "\r");
	for (int i = 0; i < 5000; i++)
		pane_feed(p, "\xcc\x81");
	for (int i = 0; i < 5000; i++)
		pane_feed(p, i ? "\xcc\x81" : "\re");
	assert_true(strlen(pane_cell(p, 0, 0)->text) <= 1 + 2 * MARKS_MAX);
	assert_string_equal(pane_cell(p, 0, 1)->text, "x");
}

TEST(underlines_have_kinds_and_colours)
{
	struct pane *p = *state;
	static const unsigned kinds[] = {UNDERLINE_STRAIGHT, UNDERLINE_DOUBLE, UNDERLINE_CURLY,
					 UNDERLINE_DOTTED, UNDERLINE_DASHED};

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		char text[32];

		snprintf(text, sizeof(text), "\033[4:%u;58:2::1:2:%um%c", i + 1, i, 'a' + (int)i);
		pane_feed(p, text);
	}
	pane_feed(p, "\033[59mx\033[24;58;5;9my\033[4mz");
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pane_cell(p, 0, i)->style.attr, STYLE_UNDERLINE_AS(kinds[i]));
		assert_int_equal(pane_cell(p, 0, i)->style.line, COLOR_RGB(1, 2, i));
	}
	assert_int_equal(pane_cell(p, 0, 5)->style.line, COLOR_DEFAULT);
	assert_int_equal(pane_cell(p, 0, 6)->style.line, COLOR_DEFAULT);
	assert_int_equal(pane_cell(p, 0, 7)->style.line, COLOR_INDEX(9));
	assert_string_equal(pane_screen(p), "abcdexyz||||");
	/* They move with the text, into the history and to another width. */
	pane_feed(p, "\r\n1\r\n2\r\n3\r\n4\r\n");
	term_scroll(p->t, 3);
	assert_int_equal(pane_cell(p, 0, 3)->style.attr, STYLE_UNDERLINE_AS(UNDERLINE_DOTTED));
	term_resize(p->t, 4, 6);
	term_resize(p->t, 12, 10);
	assert_int_equal(pane_cell(p, 0, 4)->style.line, COLOR_RGB(1, 2, 4));
	assert_int_equal(pane_cell(p, 0, 4)->style.attr, STYLE_UNDERLINE_AS(UNDERLINE_DASHED));
}

TEST(links_are_underlined_and_told)
{
	struct pane *p = *state;

	pane_feed(p, "a\033]8;id=1;https://example.org/x\033\\bc\033[1md\033[m\033]8;;\ae "
		     "\033]8;;not printable\033\\f");
	assert_int_equal(pane_cell(p, 0, 1)->style.attr, STYLE_UNDERLINE);
	assert_int_equal(pane_cell(p, 0, 3)->style.attr, STYLE_UNDERLINE | STYLE_BOLD);
	assert_int_equal(pane_cell(p, 0, 4)->style.attr, 0);
	assert_int_equal(pane_cell(p, 0, 6)->style.link, 0);
	assert_string_equal(term_link(p->t, pane_cell(p, 0, 3)->style.link),
			    "https://example.org/x");
	term_copy(p->t, true);
	term_copy_at(p->t, 0, 2);
	assert_string_equal(term_copy_link(p->t), "https://example.org/x");
	term_copy_at(p->t, 0, 4);
	assert_null(term_copy_link(p->t));
	term_copy(p->t, false);
}

/* An old number never leads to a newer address. */
TEST(old_links_are_forgotten)
{
	struct pane *p = *state;
	uint32_t first;

	pane_feed(p, "\033]8;;https://first\033\\a\033]8;;\033\\");
	first = pane_cell(p, 0, 0)->style.link;
	for (int i = 0; i < 3 * EXTRA_LINKS; i++) {
		char text[80];

		snprintf(text, sizeof(text), "\033]8;;https://%d\033\\\033[2;1Hb\033]8;;\033\\", i);
		pane_feed(p, text);
	}
	assert_int_equal(pane_cell(p, 0, 0)->style.link, first);
	assert_null(term_link(p->t, first));
	assert_string_equal(term_link(p->t, pane_cell(p, 1, 0)->style.link), "https://1535");
	for (int i = 0; i < 70000; i++) {
		char text[80];

		snprintf(text, sizeof(text), "\033]8;;https://%d\033\\\033[2;1Hb\033]8;;\033\\", i);
		pane_feed(p, text);
	}
	assert_string_equal(pane_cell(p, 1, 0)->text, "b");
	assert_int_equal(pane_cell(p, 1, 0)->style.link, 0);
}

#define FAMILY "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"
#define THUMB  "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd"

TEST(joined_emoji_are_one_cell)
{
	struct pane *p = *state;

	pane_feed(p, "a" FAMILY "b" THUMB "c");
	assert_string_equal(pane_screen(p), "a" FAMILY "b" THUMB "c||||");
	assert_string_equal(pane_cell(p, 0, 1)->text, FAMILY);
	assert_int_equal(pane_cell(p, 0, 1)->width, 2);
	assert_string_equal(pane_cell(p, 0, 3)->text, "b");
	/* In the last columns; one more wraps. */
	pane_feed(p, "\r\n01234567" FAMILY "x");
	assert_string_equal(pane_screen(p), "a" FAMILY "b" THUMB "c|01234567" FAMILY "|x||");
	term_resize(p->t, 4, 6);
	term_resize(p->t, 4, 10);
	assert_string_equal(pane_screen(p), "a" FAMILY "b" THUMB "c|01234567" FAMILY "|x||");
	/* A joiner does not join letters, and a skin tone alone does not belong to the next
	 * cell. */
	pane_feed(p, "\033[2J\033[H"
		     "a\xe2\x80\x8d\xf0\x9f\x91\xa8\033[2H\xe6\xbc\xa2\033[2;3H"
		     "\xf0\x9f\x8f\xbd"
		     "b");
	assert_string_equal(pane_screen(p), "a\xf0\x9f\x91\xa8|\xe6\xbc\xa2\xef\xbc\x9f"
					    "b|||");
}

/* Vowel signs of Hindi and Tamil, Hangul as macOS writes it in names, emoji selectors. */
#define HINDI  "\xe0\xa4\x95\xe0\xa4\xbf"
#define TAMIL  "\xe0\xae\xa8\xe0\xae\xbf"
#define HANGUL "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"
#define HEART  "\xe2\x9d\xa4\xef\xb8\x8f"
#define KEYCAP "1\xef\xb8\x8f\xe2\x83\xa3"

TEST(marks_that_take_a_column_elsewhere_are_kept)
{
	struct pane *p = *state;
	const char *all = HINDI TAMIL "a\xed\x95\x9c" HEART KEYCAP "b|||";

	pane_feed(p, HINDI TAMIL "a" HANGUL HEART KEYCAP "b");
	assert_string_equal(pane_screen(p), HINDI TAMIL "a\xed\x95\x9c" HEART KEYCAP "b||||");
	assert_string_equal(pane_cell(p, 0, 5)->text, "\xed\x95\x9c");
	assert_int_equal(pane_cell(p, 0, 5)->width, 2);
	term_resize(p->t, 4, 6);
	term_resize(p->t, 4, 10);
	assert_memory_equal(pane_screen(p), all, strlen(all));
	/* In the last column, and without a base character. */
	pane_feed(p, "\033[2J\033[H\xef\xb8\x8f"
		     "012345678" HEART "x");
	assert_string_equal(pane_screen(p), "012345678" HEART "|x|||");
}

TEST(calls_are_heard_without_their_words)
{
	struct pane *p = *state;

	pane_feed(p, "\033]9;4;1;50\033\\");
	assert_int_equal(p->calls, 0);
	pane_feed(p, "\033]9;done\033\\");
	pane_feed(p, "\033]777;notify;title;done\a");
	assert_int_equal(p->calls, 2);
	assert_string_equal(pane_screen(p), "||||");
}

TEST(colours_of_three_kinds)
{
	struct pane *p = *state;

	pane_feed(p, "\033[31ma\033[1;92;44mb\033[38;5;200mc\033[48;2;1;2;3md\033[38:2::9:8:7me"
		     "\033[38:5:17mf\033[39;49mg\033[mh");
	assert_int_equal(pane_cell(p, 0, 0)->style.fg, COLOR_INDEX(1));
	assert_int_equal(pane_cell(p, 0, 1)->style.fg, COLOR_INDEX(10));
	assert_int_equal(pane_cell(p, 0, 1)->style.bg, COLOR_INDEX(4));
	assert_int_equal(pane_cell(p, 0, 2)->style.fg, COLOR_INDEX(200));
	assert_int_equal(pane_cell(p, 0, 3)->style.bg, COLOR_RGB(1, 2, 3));
	assert_int_equal(pane_cell(p, 0, 4)->style.fg, COLOR_RGB(9, 8, 7));
	assert_int_equal(pane_cell(p, 0, 5)->style.fg, COLOR_INDEX(17));
	assert_int_equal(pane_cell(p, 0, 6)->style.fg, COLOR_DEFAULT);
	assert_int_equal(pane_cell(p, 0, 6)->style.attr, STYLE_BOLD);
	assert_int_equal(pane_cell(p, 0, 7)->style.attr, 0);
}

TEST(attributes_come_and_go)
{
	struct pane *p = *state;

	pane_feed(p, "\033[1;2;3;4;7;9ma\033[22;23mb\033[24;27;29mc\033[4:3md\033[4:0me\033[8mf"
		     "\033[28;58;2;1;2;3mg");
	assert_int_equal(pane_cell(p, 0, 0)->style.attr, STYLE_BOLD | STYLE_DIM | STYLE_ITALIC |
								 STYLE_UNDERLINE | STYLE_REVERSE |
								 STYLE_STRIKE);
	assert_int_equal(pane_cell(p, 0, 1)->style.attr,
			 STYLE_UNDERLINE | STYLE_REVERSE | STYLE_STRIKE);
	assert_int_equal(pane_cell(p, 0, 2)->style.attr, 0);
	assert_int_equal(pane_cell(p, 0, 3)->style.attr, STYLE_UNDERLINE_AS(UNDERLINE_CURLY));
	assert_int_equal(pane_cell(p, 0, 4)->style.attr, 0);
	assert_string_equal(pane_cell(p, 0, 5)->text, "");
	assert_string_equal(pane_cell(p, 0, 6)->text, "g");
	/* The parameters of an underline colour are not attributes. */
	assert_int_equal(pane_cell(p, 0, 6)->style.attr, 0);
	pane_feed(p, "\r\n\033[5;21mh\033[25;4:4mi\033[24mj");
	assert_int_equal(pane_cell(p, 1, 0)->style.attr,
			 STYLE_BLINK | STYLE_UNDERLINE_AS(UNDERLINE_DOUBLE));
	assert_int_equal(pane_cell(p, 1, 1)->style.attr, STYLE_UNDERLINE_AS(UNDERLINE_DOTTED));
	assert_int_equal(pane_cell(p, 1, 2)->style.attr, 0);
}

TEST(erasing_leaves_the_background_only)
{
	struct pane *p = *state;

	pane_feed(p, "\033[1;4;7;31;45m\033[2J");
	assert_int_equal(pane_cell(p, 2, 5)->style.bg, COLOR_INDEX(5));
	assert_int_equal(pane_cell(p, 2, 5)->style.attr, 0);
	pane_feed(p, "\033[m\033[2J");
	assert_int_equal(pane_cell(p, 2, 5)->style.bg, COLOR_DEFAULT);
}

TEST(pen_is_saved_with_the_cursor)
{
	struct pane *p = *state;

	pane_feed(p, "\033[2;31m\0337\033[m\033[3;1Hx\0338y");
	assert_int_equal(pane_cell(p, 0, 0)->style.fg, COLOR_INDEX(1));
	assert_int_equal(pane_cell(p, 0, 0)->style.attr, STYLE_DIM);
	/* The same in SCO's form. */
	pane_feed(p, "\033[s\033[H\033[uz");
	assert_string_equal(pane_screen(p), "yz||x||");
}

TEST(alternate_screen_comes_and_goes)
{
	struct pane *p = *state;

	pane_feed(p, "shell$ \033[?1049h\033[2J\033[Hvim");
	assert_true(term_alt_screen(p->t));
	assert_string_equal(pane_screen(p), "vim||||");
	pane_feed(p, "\r\n\n\n\n\n\n\n");
	assert_int_equal(term_history(p->t), 0);
	pane_feed(p, "\033[?1049lls");
	assert_false(term_alt_screen(p->t));
	assert_string_equal(pane_screen(p), "shell$ ls||||");
	pane_feed(p, "\033[?3hwide");
	assert_string_equal(pane_screen(p), "wide||||");
	pane_feed(p, "\033[?3l");
	/* A reset while the alternate screen is shown. */
	pane_feed(p, "\033[?1049h\033c");
	assert_false(term_alt_screen(p->t));
}

TEST(margins_scroll_a_part)
{
	struct pane *p = *state;

	pane_feed(p, "a\r\nb\r\nc\r\nd\033[2;3r\033[3;1H\nX");
	assert_string_equal(pane_screen(p), "a|c|X|d|");
	assert_int_equal(term_history(p->t), 0);
	pane_feed(p, "\033[r\033[4;1H\n");
	assert_int_equal(term_history(p->t), 1);
	/* Invalid margins are ignored. */
	pane_feed(p, "\033[3;2r\033[4;1H\n");
	assert_int_equal(term_history(p->t), 2);
}

TEST(line_drawing)
{
	struct pane *p = *state;

	pane_feed(p, "\033(0lqk\033(Blqk\033)0\016x\017x");
	assert_string_equal(pane_screen(p),
			    "\xe2\x94\x8c\xe2\x94\x80\xe2\x94\x90lqk\xe2\x94\x82x||||");
}

TEST(several_modes_in_one_sequence)
{
	struct pane *p = *state;

	pane_feed(p, "\033[?25;1002;1006;2004h");
	assert_true(term_wants_mouse(p->t));
	pane_feed(p, "\033[?1002;25l");
	assert_false(term_wants_mouse(p->t));
}

TEST(cursor_is_where_and_what_it_should)
{
	struct pane *p = *state;
	struct term_cursor c;

	pane_feed(p, "\033[2;3H\033[5 q");
	assert_true(term_cursor(p->t, &c));
	assert_int_equal(c.row, 1);
	assert_int_equal(c.col, 2);
	assert_int_equal(c.shape, CURSOR_BAR);
	pane_feed(p, "\033[?25l");
	assert_false(term_cursor(p->t, &c));
	pane_feed(p, "\033[?25h\033[4;1H");
	pane_feed(p, "\n");
	term_scroll(p->t, 1);
	assert_false(term_cursor(p->t, &c));
}

TEST(reverse_video_of_the_whole_screen)
{
	struct pane *p = *state;

	pane_feed(p, "a\033[7mb\033[m\033[?5h");
	assert_int_equal(pane_cell(p, 0, 0)->style.attr, STYLE_REVERSE);
	assert_int_equal(pane_cell(p, 0, 1)->style.attr, 0);
	assert_int_equal(pane_cell(p, 3, 9)->style.attr, STYLE_REVERSE);
	pane_feed(p, "\033[?5l");
	assert_int_equal(pane_cell(p, 3, 9)->style.attr, 0);
}

TEST(repeat_repeats)
{
	struct pane *p = *state;

	pane_feed(p, "ab\033[3b");
	assert_string_equal(pane_screen(p), "abbbb||||");
}

TEST(dirty_until_drawn)
{
	struct pane *p = *state;

	pane_screen(p);
	assert_false(term_dirty(p->t));
	pane_feed(p, "x");
	assert_true(term_dirty(p->t));
	pane_screen(p);
	pane_feed(p, "\033[6n");
	assert_false(term_dirty(p->t));
}

TEST(a_repaint_is_held_until_it_is_whole)
{
	struct pane *p = *state;

	pane_screen(p);
	pane_feed(p, "\033[?2026$p\033[?2026hhalf\033[?2026$p");
	assert_string_equal(pane_answers(p), "\033[?2026;2$y\033[?2026;1$y");
	assert_false(term_dirty(p->t));
	p->t->held_until = 1; /* the time is over */
	assert_true(term_dirty(p->t));
	pane_feed(p, "\033[?2026h");
	assert_false(term_dirty(p->t));
	pane_feed(p, "whole\033[?2026l");
	assert_true(term_dirty(p->t));
}

TEST(drawn_into_a_part_of_the_surface)
{
	struct pane *p = *state;
	struct surface s;

	pane_feed(p, "0123456789abc\xe6\xbc\xa2");
	surface_init(&s, 9, 3);
	term_draw(p->t, &s, (struct rect){1, 1, 4, 2});
	assert_string_equal(surface_cell(&s, 0, 1)->text, "");
	assert_string_equal(surface_cell(&s, 1, 1)->text, "0");
	assert_string_equal(surface_cell(&s, 4, 1)->text, "3");
	assert_string_equal(surface_cell(&s, 5, 1)->text, "");
	/* A wide character that would extend beyond the edge. */
	assert_string_equal(surface_cell(&s, 3, 2)->text, "c");
	assert_string_equal(surface_cell(&s, 4, 2)->text, "");
	surface_done(&s);
}

/* Screens of agents, cut to the columns that matter. */
TEST(a_menu_waits_for_the_user)
{
	static const struct {
		const char *screen;
		bool menu;
	} cases[] = {
		{"Do you trust?\r\n \xe2\x9d\xaf 1. Yes\r\n   2. No, exit\r\n Esc to cancel", true},
		{"\xe2\x94\x82 Trust this folder?\r\n\xe2\x94\x82 \xe2\x97\x8f 1. Trust\r\n"
		 "\xe2\x94\x82   2. Don't trust",
		 true},
		{"  1. Yes, continue\r\n     and ask no more\r\n\xe2\x80\xba 2. No, quit\r\n enter",
		 true},
		{"> 1. Yes\r\n  2. No", true},
		{"", false},
		{"$ cat list\r\n1. one\r\n2. two\r\n$ ", false},
		{"> 1. quoted\r\n> 2. twice", false},
		{"\xe2\x97\x8f 1. First\r\n  2. Then\r\n\xe2\x9d\xaf",
		 false}, /* an answer, the prompt */
		{"\xe2\x80\xba 1. mend it\r\n  2. test it\r\n\xe2\x80\xba Ask Codex", false},
		{"\xe2\x80\xba version 2.\r\n  3. text", false},
		{"\xe2\x9d\xaf 1. alone", false},
	};
	struct pane p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		pane_init(&p, 5, 40);
		pane_feed(&p, cases[i].screen);
		if (term_shows_menu(p.t) != cases[i].menu)
			fail_msg("%s", cases[i].screen);
		pane_feed(&p, "\r\n\r\n\r\n\r\n\r\n\r\n"); /* in the history only */
		assert_false(term_shows_menu(p.t));
		term_scroll(p.t, 6);
		assert_false(term_shows_menu(p.t));
		pane_done(&p);
	}
}

TESTS(pane_setup, pane_teardown)
