/* test_term_history - scrollback, the view into it, resizing and searching. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"

static void feed_lines(struct pane *p, int from, int to)
{
	char line[32];

	for (int i = from; i <= to; i++) {
		snprintf(line, sizeof(line), "line %d\r\n", i);
		pane_feed(p, line);
	}
}

TEST(lines_scroll_into_history)
{
	struct pane *p = *state;

	feed_lines(p, 1, 10);
	assert_int_equal(term_history(p->t), 7);
	assert_string_equal(pane_screen(p), "line 8|line 9|line 10||");
	term_scroll(p->t, 3);
	assert_string_equal(pane_screen(p), "line 5|line 6|line 7|line 8|");
	assert_int_equal(term_scrolled(p->t), 3);
	term_scroll(p->t, 1000);
	assert_string_equal(pane_screen(p), "line 1|line 2|line 3|line 4|");
	term_scroll(p->t, -1);
	assert_string_equal(pane_screen(p), "line 2|line 3|line 4|line 5|");
	term_scroll_end(p->t);
	assert_string_equal(pane_screen(p), "line 8|line 9|line 10||");
}

/* The agent may clear the history in which the user selects: then the selection is empty. */
TEST(a_selection_may_leave_with_the_history)
{
	static const enum copy_kind kinds[] = {COPY_NONE, COPY_CHARS, COPY_LINES, COPY_BLOCK};
	struct pane *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		AUTO_BUF struct buf out = BUF_INIT;

		pane_feed(p, "\033c");
		feed_lines(p, 1, 200);
		term_copy(p->t, true);
		term_copy_move(p->t, COPY_UP, 150);
		term_copy_select(p->t, kinds[i]);
		term_copy_move(p->t, COPY_UP, 3);
		pane_feed(p, "\033[3J");
		assert_null(term_copy_link(p->t));
		assert_string_equal(pane_screen(p), "line 198|line 199|line 200||");
		assert_true(!term_copy_text(p->t, &out) || out.len <= 10);
		term_copy(p->t, false);
	}
}

TEST(the_view_stays_while_lines_arrive)
{
	struct pane *p = *state;

	feed_lines(p, 1, 10);
	term_scroll(p->t, 3);
	feed_lines(p, 11, 500);
	assert_string_equal(pane_screen(p), "line 5|line 6|line 7|line 8|");
	assert_int_equal(term_scrolled(p->t), 493);
	/* Until its content is gone. */
	feed_lines(p, 501, 2 * TERM_SCROLLBACK_LINES);
	assert_int_equal(term_history(p->t), TERM_SCROLLBACK_LINES);
	assert_int_equal(term_scrolled(p->t), TERM_SCROLLBACK_LINES);
	assert_string_equal(pane_screen(p), "line 9998|line 9999|line 10000|line 10001|");
}

TEST(styles_survive)
{
	struct pane *p = *state;

	pane_feed(p, "\033[1;38;2;1;2;3mbo\033[m \033[44m\xe6\xbc\xa2\033[K\033[m\r\n"
		     "e\xcc\x81\033[2mdim\033[m\r\n");
	feed_lines(p, 1, 10);
	term_scroll(p->t, 1000);
	assert_string_equal(pane_screen(p), "bo \xe6\xbc\xa2|e\xcc\x81"
					    "dim|line 1|line 2|");
	assert_int_equal(pane_cell(p, 0, 1)->style.fg, COLOR_RGB(1, 2, 3));
	assert_int_equal(pane_cell(p, 0, 1)->style.attr, STYLE_BOLD);
	assert_int_equal(pane_cell(p, 0, 2)->style.bg, COLOR_DEFAULT);
	assert_int_equal(pane_cell(p, 0, 3)->width, 2);
	assert_int_equal(pane_cell(p, 0, 9)->style.bg, COLOR_INDEX(4));
	assert_int_equal(pane_cell(p, 1, 2)->style.attr, STYLE_DIM);
	assert_int_equal(pane_cell(p, 2, 0)->style.attr, 0);
}

TEST(growing_brings_lines_back)
{
	struct pane *p = *state;

	pane_feed(p, "\033[31m\xf0\x9f\xab\xa0"
		     "e\xcc\x81\033[m\r\n");
	feed_lines(p, 1, 6);
	assert_int_equal(term_history(p->t), 4);
	term_resize(p->t, 8, 10);
	assert_int_equal(term_history(p->t), 0);
	assert_string_equal(pane_screen(p), "\xf0\x9f\xab\xa0"
					    "e\xcc\x81|line 1|line 2|line 3|"
					    "line 4|line 5|line 6||");
	assert_int_equal(pane_cell(p, 0, 0)->style.fg, COLOR_INDEX(1));
	assert_int_equal(pane_cell(p, 0, 0)->width, 2);
	/* And back again. */
	term_resize(p->t, 4, 10);
	assert_string_equal(pane_screen(p), "line 4|line 5|line 6||");
	assert_int_equal(term_history(p->t), 4);
	term_scroll(p->t, 1000);
	assert_int_equal(pane_cell(p, 0, 0)->width, 2);
}

TEST(narrowing_loses_nothing)
{
	struct pane *p = *state;

	feed_lines(p, 1, 6);
	term_resize(p->t, 4, 5);
	term_scroll(p->t, 1000);
	assert_string_equal(pane_screen(p), "line|1|line|2|");
	term_resize(p->t, 4, 10);
	term_scroll(p->t, 1000);
	assert_string_equal(pane_screen(p), "line 1|line 2|line 3|line 4|");
	/* A wide character that does not fit goes into the next row. */
	pane_feed(p, "\033c\033[3J\xe6\xbc\xa2\xe6\xbc\xa2\r\n");
	feed_lines(p, 1, 3);
	term_resize(p->t, 9, 3);
	assert_string_equal(pane_screen(p), "\xe6\xbc\xa2|\xe6\xbc\xa2|lin|e 1|lin|e 2|lin|e 3||");
	term_resize(p->t, 9, 10);
	assert_string_equal(pane_screen(p), "\xe6\xbc\xa2\xe6\xbc\xa2|line 1|line 2|line 3||||||");
}

TEST(the_agent_may_clear_its_history)
{
	struct pane *p = *state;

	feed_lines(p, 1, 100);
	term_scroll(p->t, 10);
	pane_feed(p, "\033[2J\033[3J\033[H$ ");
	assert_int_equal(term_history(p->t), 0);
	assert_int_equal(term_scrolled(p->t), 0);
	assert_string_equal(pane_screen(p), "$||||");
	feed_lines(p, 1, 5);
	assert_int_equal(term_history(p->t), 2);
}

TEST(memory_is_bounded)
{
	struct pane *p = *state;
	char cell[64];

	term_resize(p->t, 4, 1000);
	for (int i = 0; i < 1000 * 1000; i++) {
		snprintf(cell, sizeof(cell), "\033[38;2;%d;%d;%dm\xe6\xbc\xa2", i % 251,
			 i >> 8 & 255, i >> 16 & 255);
		pane_feed(p, cell);
	}
	assert_true(p->t->history.cap <= SCROLLBACK_BYTES);
	assert_true(term_history(p->t) > 500);
	term_scroll(p->t, 100000);
	assert_int_equal(pane_cell(p, 0, 998)->width, 2);
}

TEST(search_goes_from_newest_to_oldest_and_around)
{
	struct pane *p = *state;
	size_t current;

	feed_lines(p, 1, 100);
	assert_true(term_search(p->t, "LINE 9") == false);
	assert_true(term_search(p->t, "line 9"));
	assert_int_equal(term_search_count(p->t, &current), 11);
	assert_int_equal(current, 11);
	assert_int_equal(term_scrolled(p->t), 0);
	assert_int_equal(pane_cell(p, 1, 0)->style.attr,
			 STYLE_REVERSE | STYLE_BOLD | STYLE_UNDERLINE);
	assert_int_equal(pane_cell(p, 0, 0)->style.attr, STYLE_REVERSE);
	assert_int_equal(pane_cell(p, 1, 5)->style.attr,
			 STYLE_REVERSE | STYLE_BOLD | STYLE_UNDERLINE);
	assert_int_equal(pane_cell(p, 1, 6)->style.attr, 0);
	for (int i = 0; i < 10; i++)
		assert_true(term_search_next(p->t, true));
	term_search_count(p->t, &current);
	assert_int_equal(current, 1);
	assert_string_equal(pane_screen(p), "line 7|line 8|line 9|line 10|");
	assert_true(term_search_next(p->t, true));
	term_search_count(p->t, &current);
	assert_int_equal(current, 11);
	assert_true(term_search_next(p->t, false));
	term_search_count(p->t, &current);
	assert_int_equal(current, 1);
	assert_false(term_search(p->t, ""));
	assert_int_equal(term_search_count(p->t, &current), 0);
	assert_int_equal(pane_cell(p, 1, 0)->style.attr, 0);
}

TEST(search_folds_case_and_finds_several_on_a_line)
{
	struct pane *p = *state;
	size_t current;

	pane_feed(p, "aB Ab \xe6\xbc\xa2"
		     "ab");
	assert_true(term_search(p->t, "ab"));
	assert_int_equal(term_search_count(p->t, &current), 3);
	assert_int_equal(pane_cell(p, 0, 8)->style.attr,
			 STYLE_REVERSE | STYLE_BOLD | STYLE_UNDERLINE);
	assert_true(term_search_next(p->t, true));
	term_search_count(p->t, &current);
	assert_int_equal(current, 2);
	assert_true(term_search_next(p->t, false));
	assert_true(term_search_next(p->t, false));
	term_search_count(p->t, &current);
	assert_int_equal(current, 1);
	assert_true(term_search(p->t, "Ab"));
	assert_int_equal(term_search_count(p->t, &current), 1);
	assert_true(term_search(p->t, "\xe6\xbc\xa2"));
	assert_int_equal(pane_cell(p, 0, 6)->style.attr,
			 STYLE_REVERSE | STYLE_BOLD | STYLE_UNDERLINE);
}

TEST(a_match_that_left_the_history)
{
	struct pane *p = *state;

	pane_feed(p, "needle\r\n");
	assert_true(term_search(p->t, "needle"));
	feed_lines(p, 1, TERM_SCROLLBACK_LINES + 10);
	assert_false(term_search_next(p->t, true));
	pane_feed(p, "needle\r\n");
	assert_true(term_search_next(p->t, true));
}

TEST(text_of_the_view)
{
	struct pane *p = *state;
	struct buf b = BUF_INIT;

	feed_lines(p, 1, 5);
	pane_feed(p, "\033[31mx  \033[m");
	term_scroll(p->t, 1);
	term_text(p->t, &b);
	assert_string_equal(b.data, "line 2\nline 3\nline 4\nline 5\n");
	term_scroll_end(p->t);
	buf_clear(&b);
	term_text(p->t, &b);
	assert_string_equal(b.data, "line 3\nline 4\nline 5\nx\n");
	buf_done(&b);
}

TESTS(pane_setup, pane_teardown)
