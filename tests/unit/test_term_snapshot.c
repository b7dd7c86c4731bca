/* test_term_snapshot - a terminal made from a snapshot behaves like the original. */
/* SPDX-License-Identifier: MIT */
#include "core/base/text.h"
#include "core/record/redact.h"
#include "tests/unit/term_fixture.h"

static int setup(void **state)
{
	static struct pane p;

	pane_init(&p, 12, 30);
	term_snapshots(p.t, NULL);
	*state = &p;
	return 0;
}

static struct pane sink = {.out = BUF_INIT};

/* Returns the copy, or NULL if there can be no snapshot at this moment. */
static struct term *copy_of(struct term *t)
{
	AUTO_BUF struct buf key = BUF_INIT;
	AUTO_BUF struct buf screen = BUF_INIT;
	struct term *copy;

	if (!term_snapshot(t, &key, &screen))
		return NULL;
	copy = term_from_snapshot(key.data, key.len, &pane_events, &sink);
	assert_non_null(copy);
	return copy;
}

static void assert_same(struct term *a, struct term *b, const char *what)
{
	struct surface s[2];
	struct term *const both[] = {a, b};
	struct term_cursor cursor[2] = {0};
	bool shown[2];
	int rows, cols;

	for (int i = 0; i < 2; i++) {
		term_scroll_end(both[i]);
		term_size(both[i], &rows, &cols);
		surface_init(&s[i], cols, rows);
		term_draw(both[i], &s[i], (struct rect){0, 0, cols, rows});
		shown[i] = term_cursor(both[i], &cursor[i]);
	}
	assert_int_equal(s[0].w, s[1].w);
	assert_int_equal(s[0].h, s[1].h);
	for (int y = 0; y < rows; y++) {
		for (int x = 0; x < cols; x++) {
			struct cell *c = surface_cell(&s[0], x, y);
			struct cell *d = surface_cell(&s[1], x, y);
			const char *url = term_link(a, c->style.link);
			const char *same = term_link(b, d->style.link);

			if (!url != !same || (url && !str_eq(url, same)))
				fail_msg("%s: row %d column %d: leads to %s and %s", what, y, x,
					 url ? url : "-", same ? same : "-");
			c->style.link = d->style.link = 0; /* each terminal has its own numbers */
			if (strcmp(c->text, d->text) != 0 || c->width != d->width ||
			    memcmp(&c->style, &d->style, sizeof(c->style)) != 0)
				fail_msg("%s: row %d column %d: '%s' %d %x %x %x and '%s' %d %x %x "
					 "%x",
					 what, y, x, c->text, c->width, c->style.fg, c->style.bg,
					 c->style.attr, d->text, d->width, d->style.fg, d->style.bg,
					 d->style.attr);
		}
	}
	if (shown[0] != shown[1] || cursor[0].row != cursor[1].row ||
	    cursor[0].col != cursor[1].col || cursor[0].shape != cursor[1].shape)
		fail_msg("%s: cursor %d %d,%d %d and %d %d,%d %d", what, shown[0], cursor[0].row,
			 cursor[0].col, (int)cursor[0].shape, shown[1], cursor[1].row,
			 cursor[1].col, (int)cursor[1].shape);
	for (int i = 0; i < 2; i++)
		surface_done(&s[i]);
}

TEST(plain_text_and_colours)
{
	struct pane *p = *state;
	struct term *copy;

	pane_feed(p, "\033]2;title\amore \033[1;31mred\033[0m \033[48;2;1;2;3mdeep\r\n"
		     "\033[7mturned \xe4\xb8\xad\xe6\x96\x87 e\xcc\x81 \033[0;4m");
	copy = copy_of(p->t);
	assert_non_null(copy);
	assert_same(p->t, copy, "at once");
	assert_string_equal(term_title(copy), "title");
	pane_feed(p, "goes on\033[3b");
	term_feed(copy, "goes on\033[3b", 11);
	assert_same(p->t, copy, "later");
	term_free(copy);
}

TEST(what_lies_under_the_alternate_screen)
{
	static const char back[] = "\033[?1049lback";
	struct pane *p = *state;
	struct term *copy;

	pane_feed(p, "shell$ vi\r\n$ \033[?1049h\033[H\033[2Jfile\r\n~\r\n");
	term_resize(p->t, 9, 24);
	term_resize(p->t, 14, 40);
	pane_feed(p, "\033[Hagain");
	copy = copy_of(p->t);
	assert_non_null(copy);
	assert_same(p->t, copy, "in the editor");
	pane_feed(p, back);
	term_feed(copy, back, sizeof(back) - 1);
	assert_same(p->t, copy, "after it");
	assert_non_null(strstr(pane_screen(p), "shell$ vi|$ back|"));
	term_free(copy);
}

TEST(not_in_the_middle_of_something)
{
	static const char *const middles[] = {
		"\033[", "\xe2\x82", "\033[3;5r", "\033[?2026h", "\033[3;30Hx", "\033H", "\033[20h",
	};
	struct pane *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(middles); i++) {
		pane_feed(p, "\033c");
		pane_feed(p, "x");
		assert_non_null(p->t);
		pane_feed(p, middles[i]);
		assert_null(copy_of(p->t));
		pane_feed(p, "\030");
	}
}

/* The pane uses the filter as long as it exists; free the result after that. */
static struct redact *star_secrets(struct pane *p, struct snapshot_filter *filter)
{
	struct redact *r;
	struct err err = {0};

	assert_int_equal(redact_new(&r, NULL, &err), 0);
	*filter = (struct snapshot_filter){.redact = (void (*)(void *, char *, size_t))redact_text,
					   .data = r};
	term_snapshots(p->t, filter);
	return r;
}

TEST(secrets_that_wrap_are_starred)
{
	struct pane *p = *state;
	AUTO_BUF struct buf key = BUF_INIT;
	AUTO_BUF struct buf screen = BUF_INIT;
	struct snapshot_filter filter;
	struct redact *r = star_secrets(p, &filter);

	pane_feed(p, "the token is: ghp_abcdefghijklmnopqrstuvwxyz012345 so on");
	assert_true(term_snapshot(p->t, &key, &screen));
	assert_non_null(strstr(key.data, "the token is: ****************"));
	assert_null(strstr(key.data, "abc"));
	assert_null(strstr(key.data, "xyz"));
	assert_null(strstr(screen.data, "xyz"));
	redact_free(r);
}

/* In the history, on the screen, under the alternate one, and in later output. */
TEST(links_are_kept)
{
	static const char more[] = "goes on\r\n\0338back";
	struct pane *p = *state;
	struct term *copy;

	for (int i = 0; i < 30; i++)
		pane_feed(p, "\033]8;;https://example.org/old\033\\old\033]8;;\033\\ line\r\n");
	pane_feed(p, "\033]8;;https://example.org/a?b=c\033\\a link that is long enough to go "
		     "over the end of a line of the pane\033]8;;\033\\\r\n");
	pane_feed(p, "\033]8;;https://example.org/saved\033\\\0337\033]8;;\033\\and this ");
	copy = copy_of(p->t);
	assert_non_null(copy);
	assert_same(p->t, copy, "links");
	pane_feed(p, more);
	term_feed(copy, more, sizeof(more) - 1);
	assert_same(p->t, copy, "what follows");
	term_free(copy);
	pane_feed(p, "\033]8;;\033\\\033[?1049hx");
	copy = copy_of(p->t);
	assert_non_null(copy);
	pane_feed(p, "\033[?1049l");
	term_feed(copy, "\033[?1049l", 8);
	assert_same(p->t, copy, "under the alternate screen");
	term_resize(p->t, 40, 60);
	term_resize(copy, 40, 60);
	assert_same(p->t, copy, "the history");
	term_free(copy);
}

TEST(secrets_in_links_are_starred)
{
	struct pane *p = *state;
	AUTO_BUF struct buf key = BUF_INIT;
	AUTO_BUF struct buf screen = BUF_INIT;
	struct snapshot_filter filter;
	struct redact *r = star_secrets(p, &filter);

	pane_feed(p, "\033]8;;https://x.org/"
		     "?t=ghp_abcdefghijklmnopqrstuvwxyz012345\033\\here\033]8;;\033\\.");
	assert_true(term_snapshot(p->t, &key, &screen));
	assert_non_null(strstr(key.data, "https://x.org/?t=*****"));
	assert_null(strstr(key.data, "abc"));
	assert_null(strstr(screen.data, "abc"));
	redact_free(r);
}

/* With a link of maximum length in each cell the snapshot stays small. */
TEST(links_have_room)
{
	struct pane *p = *state;
	AUTO_BUF struct buf key = BUF_INIT;
	AUTO_BUF struct buf screen = BUF_INIT;
	AUTO_FREE char *path = xmalloc(2001);

	memset(path, 'p', 2000);
	path[2000] = '\0';
	for (int i = 0; i < 500; i++) {
		AUTO_FREE char *one = xasprintf("\033]8;;https://x.org/%d/%s\033\\x", i, path);

		pane_feed(p, one);
	}
	pane_feed(p, "\033]8;;\033\\\r.");
	assert_true(term_snapshot(p->t, &key, &screen));
	assert_true(key.len < 1 << 20);
}

/* From any recording: the saved cursor is outside the screen on which it is restored. */
TEST(a_saved_cursor_outside_is_clamped)
{
	static const char *const saves[] = {"\0337", "\033[?1048h", "\033[?1049h"};
	static const char *const restores[] = {"\0338x", "\033[?1048lx", "\033[?1049lx"};

	for (size_t i = 0; i < ARRAY_LEN(saves); i++) {
		AUTO_FREE char *before = xasprintf("\033[40;100H%s\033[H", saves[i]);
		AUTO_FREE char *key =
			xasprintf("S 40 100\nF %zu\n%sR 2 3\nF %zu\n%s", strlen(before), before,
				  strlen(restores[i]), restores[i]);
		struct term *t = term_from_snapshot(key, strlen(key), &pane_events, &sink);
		struct term_cursor cur = {0};
		int rows, cols;

		assert_non_null(t);
		term_size(t, &rows, &cols);
		term_cursor(t, &cur);
		assert_true(cur.row >= 0 && cur.row < rows && cur.col >= 0 && cur.col < cols);
		term_free(t);
	}
}

TEST(no_snapshot_is_refused)
{
	static const char *const bad[] = {
		"X",
		"S",
		"S 3",
		"S 3 x",
		"F 3\nabc",
		"S 3 4\nF 10\nabc",
		"S 3 4\nS 3 4\n",
		"S 3 4\nF 99999999999\n",
		"L 65\n",
		"S 3 4\nR 3\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_null(term_from_snapshot(bad[i], strlen(bad[i]), &pane_events, NULL));
	assert_null(term_from_snapshot("", 0, &pane_events, NULL));
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Returns output of the kinds that programs make, in any order. */
static size_t any_output(unsigned *seed, char *out, size_t size)
{
	static const char *const parts[] = {
		"text ",
		"\r\n",
		"\033[%d;%dH",
		"\033[%dm",
		"\033[38;5;%dm",
		"\033[48;2;%d;%d;9m",
		"\033[K",
		"\033[2J",
		"\033[%dA",
		"\033[%dC",
		"\033[%dL",
		"\033[%dM",
		"\033[%dP",
		"\033[%d@",
		"\0337",
		"\0338",
		"\033[?1049h",
		"\033[?1049l",
		"\033[?25l",
		"\033[?25h",
		"\033[?5h",
		"\033[?5l",
		"\033[4h",
		"\033[4l",
		"\033[?7l",
		"\033[?7h",
		"\033(0",
		"\033(B",
		"\016",
		"\017",
		"lqqk ",
		"\xe4\xb8\xad",
		"e\xcc\x81",
		"\033[%d q",
		"\033M",
		"\033[%d;%dr",
		"\033[r",
		"\033[0m",
		"\033]8;;https://example.org/%d\033\\",
		"\033]8;;\033\\",
		"\033[3b",
		"\t",
		"\033[7;1;3;4:5;58:5:9;5;9m",
		("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 a long line that wraps around the "
		 "edge of the pane"),
		"\b",
		"\033[!p",
		"\033[8mx\033[0m",
		"\033[2mdim",
	};
	size_t len = 0;

	while (len + 80 < size && rand_r(seed) % 12) {
		const char *part = parts[(size_t)rand_r(seed) % ARRAY_LEN(parts)];
		int a = rand_r(seed) % 12 + 1, b = rand_r(seed) % 40 + 1;

		if (strstr(part, "%d q"))
			a = a % 7;
		len += (size_t)snprintf(out + len, size - len, part, a, b);
	}
	return len;
}

TEST(any_program_goes_on_the_same)
{
	/* A full row left by an insertion, a mark in the last row, an erased wide character. */
	static const unsigned rare[] = {3313, 3795, 4134, 4220, 5426, 5978, 6570};
	int taken = 0;

	for (unsigned n = 0; n < 3000 + (unsigned)ARRAY_LEN(rare); n++) {
		unsigned seed = n < 3000 ? n : rare[n - 3000];
		struct term *t = term_new(10, 24, &pane_events, &sink);
		struct term *copy = NULL;
		char what[32];

		snprintf(what, sizeof(what), "seed %u", n < 3000 ? n : rare[n - 3000]);
		term_snapshots(t, NULL);
		for (int i = 0; i < 24; i++) {
			char bytes[1024];
			size_t len = any_output(&seed, bytes, sizeof(bytes));

			term_feed(t, bytes, len);
			if (copy)
				term_feed(copy, bytes, len);
			if (rand_r(&seed) % 8 == 0) {
				int rows = rand_r(&seed) % 12 + 2, cols = rand_r(&seed) % 30 + 3;

				term_resize(t, rows, cols);
				if (copy)
					term_resize(copy, rows, cols);
			}
			if (copy)
				assert_same(t, copy, what);
			/* A cursor that was saved outside the present screen is clamped. */
			if (i > 8 && !copy && t->saved_row < t->rows && t->saved_col < t->cols &&
			    (copy = copy_of(t))) {
				taken++;
				assert_same(t, copy, what);
			}
		}
		term_free(copy);
		term_free(t);
	}
	assert_true(taken > 500);
}

TESTS(setup, pane_teardown)
