/* test_paint - bytes sent to the user's terminal show what the surface has. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"
#include "tui/look/paint.h"

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static uint32_t any_color(void)
{
	switch (rnd(4)) {
	case 0:
		return COLOR_RGB(rnd(256), rnd(256), rnd(256));
	case 1:
		return COLOR_INDEX(rnd(256));
	default:
		return COLOR_DEFAULT;
	}
}

static struct style any_style(void)
{
	struct style st = {.fg = any_color(), .bg = any_color()};

	st.attr = rnd(3) ? 0 : rnd(STYLE_BLINK << 1) & ~(uint32_t)STYLE_UNDERLINE;
	if (!rnd(6))
		st.attr |= STYLE_UNDERLINE_AS(rnd(3));
	return st;
}

static void draw_something(struct surface *s)
{
	static const char *const words[] = {"text", "\xe6\xbc\xa2\xe5\xad\x97", "e\xcc\x81",
					    "   ",  "\xe2\x94\x80\xe2\x94\x82", "\xf0\x9f\x98\x80",
					    "x"};

	for (unsigned k = rnd(12); k; k--) {
		struct style st = any_style();

		surface_text_style(s, (int)rnd((unsigned)s->w), (int)rnd((unsigned)s->h), s->w, &st,
				   words[rnd(ARRAY_LEN(words))]);
	}
	if (!rnd(5))
		surface_fill(s, (struct rect){(int)rnd(20), (int)rnd(5), 9, 3}, 0);
	s->cursor = (struct cursor){.visible = rnd(2),
				    .x = (int)rnd((unsigned)s->w),
				    .y = (int)rnd((unsigned)s->h),
				    .shape = (enum cursor_shape)rnd(3)};
}

static void assert_shows(struct pane *p, const struct surface *s, unsigned round)
{
	struct term_cursor cur;

	for (int y = 0; y < s->h; y++) {
		for (int x = 0; x < s->w; x++) {
			const struct cell *want = surface_cell(s, x, y), *got = pane_cell(p, y, x);

			if (!same_look(want, got))
				fail_msg("round %u: %d,%d: '%s' %x %x %x, got '%s' %x %x %x", round,
					 x, y, want->text, want->style.fg, want->style.bg,
					 want->style.attr, got->text, got->style.fg, got->style.bg,
					 got->style.attr);
		}
	}
	assert_int_equal(term_cursor(p->t, &cur), s->cursor.visible);
	if (s->cursor.visible) {
		assert_int_equal(cur.row, s->cursor.y);
		assert_int_equal(cur.col, s->cursor.x);
		assert_int_equal(cur.shape, s->cursor.shape);
	}
}

TEST(any_frames_are_shown)
{
	for (unsigned round = 0; round < 40; round++) {
		struct paint paint;
		struct surface s;
		struct pane p;
		int w = 20 + (int)(round % 17), h = 5 + (int)(round % 4);

		seed = round + 1;
		pane_init(&p, h, w);
		/* With any former content. */
		pane_feed(&p, "\033[41;4;7mleft over\033[5;5H\xe6\xbc\xa2");
		surface_init(&s, w, h);
		surface_clear(&s, &(struct style){0});
		paint_init(&paint, DEPTH_TRUE, false, false);
		for (int frame = 0; frame < 30; frame++) {
			AUTO_BUF struct buf out = BUF_INIT;

			draw_something(&s);
			if (!rnd(9))
				paint_forget(&paint);
			paint_frame(&paint, &s, &out);
			term_feed(p.t, out.data, out.len);
			assert_shows(&p, &s, round);
			buf_clear(&out);
			paint_frame(&paint, &s, &out);
			assert_int_equal(out.len, 0);
		}
		paint_done(&paint);
		surface_done(&s);
		pane_done(&p);
	}
}

/* Returns the bytes sent after the whole screen was painted once. */
static const char *sent(enum depth depth, bool eight, const struct style *st, const char *text)
{
	static char copy[256];
	AUTO_BUF struct buf out = BUF_INIT;
	struct paint p;
	struct surface s;

	surface_init(&s, 20, 2);
	surface_clear(&s, &(struct style){0});
	paint_init(&p, depth, eight, false);
	paint_frame(&p, &s, &out);
	buf_clear(&out);
	surface_put(&s, 3, 1, text, strlen(text), 1, st);
	paint_frame(&p, &s, &out);
	snprintf(copy, sizeof(copy), "%s", out.data);
	paint_done(&p);
	surface_done(&s);
	return copy;
}

TEST(colours_as_the_terminal_has_them)
{
	struct style st = {.fg = COLOR_RGB(10, 200, 30), .bg = COLOR_INDEX(9)};
	struct style curly = {.attr = STYLE_UNDERLINE_AS(UNDERLINE_CURLY) | STYLE_STRIKE};

	assert_non_null(strstr(sent(DEPTH_TRUE, false, &st, "x"), "\033[0;38;2;10;200;30;101mx"));
	assert_non_null(strstr(sent(DEPTH_256, false, &st, "x"), "\033[0;38;5;40;101mx"));
	assert_non_null(strstr(sent(DEPTH_16, true, &st, "x"), ";41mx"));
	assert_non_null(strstr(sent(DEPTH_MONO, false, &st, "x"), "\033[0mx"));
	assert_non_null(strstr(sent(DEPTH_256, false, &curly, "x"), "\033[0;9;4m\033[4:3mx"));
}

TEST(no_control_gets_through)
{
	static const struct style plain;

	assert_non_null(strstr(sent(DEPTH_256, false, &plain, "\033"), "\033[2;4H\033[0m?"));
	assert_non_null(strstr(sent(DEPTH_256, false, &plain, "\xc2\x9b"), "\033[0m?"));
	assert_non_null(strstr(sent(DEPTH_256, false, &plain, "a\x7f"), "\033[0ma?"));
}

TEST(little_is_sent_for_little)
{
	static const struct style plain;
	AUTO_BUF struct buf out = BUF_INIT;
	struct paint p;
	struct surface s;

	surface_init(&s, 200, 50);
	surface_clear(&s, &(struct style){0});
	paint_init(&p, DEPTH_256, false, false);
	for (int y = 0; y < 50; y++)
		surface_text_style(&s, 0, y, 200, &plain, "a row of text that stays");
	paint_frame(&p, &s, &out);
	buf_clear(&out);
	surface_text_style(&s, 4, 7, 200, &plain, "R");
	paint_frame(&p, &s, &out);
	assert_true(out.len < 64);
	paint_done(&p);
	surface_done(&s);
}

/* A terminal like vt100 gets colours, positions and text. */
TEST(an_old_terminal_gets_old_sequences)
{
	struct style curly = {.attr = STYLE_UNDERLINE_AS(UNDERLINE_CURLY), .line = COLOR_INDEX(3)};
	AUTO_BUF struct buf out = BUF_INIT;
	struct paint p;
	struct surface s;

	surface_init(&s, 20, 2);
	surface_clear(&s, &(struct style){0});
	surface_put(&s, 3, 1, "x", 1, 1, &curly);
	surface_put(&s, 15, 1, "y", 1, 1, &curly);
	s.cursor = (struct cursor){.visible = true};
	paint_init(&p, DEPTH_16, true, true);
	paint_frame(&p, &s, &out);
	assert_string_equal(out.data, "\033[?25l\033[0m\033[2J\033[2;4H\033[0;4mx\033[2;16Hy"
				      "\033[1;1H\033[?25h");
	paint_done(&p);
	surface_done(&s);
}

/* A terminal without UTF-8 obeys some of its bytes. */
TEST(ascii_alone)
{
	static const struct style plain;
	AUTO_BUF struct buf out = BUF_INIT;
	struct paint p;
	struct surface s;

	surface_init(&s, 20, 1);
	surface_clear(&s, &plain);
	surface_text_style(&s, 0, 0, 20, &plain,
			   "a\xc3\x9b"
			   "6n \xe6\xbc\xa2 e\xcc\x81x");
	paint_init(&p, DEPTH_MONO, false, true);
	p.ascii = true;
	paint_frame(&p, &s, &out);
	assert_non_null(strstr(out.data, "a?6n ?? ex"));
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] < 0x80);
	paint_done(&p);
	surface_done(&s);
}

TESTS(NULL, NULL)
