/* fuzz_term - hostile terminal output, resizes, input, scrolling and searching in any order. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "tui/term/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_output(void *data, const void *bytes, size_t len)
{
	const char *p = bytes;
	const bool *typing = data;

	/* An answer contains nothing that would have an effect as input of its reader. */
	for (size_t i = 0; i < len && !*typing; i++)
		assert(p[i] == '\033' || (p[i] >= ' ' && p[i] < 0x7f));
}

static void drop(void *data, const void *bytes, size_t len)
{
	(void)data;
	(void)bytes;
	(void)len;
}

/* Every cell on the screen must be allowed there. */
static void check_cells(const struct surface *s)
{
	for (int i = 0; i < s->w * s->h; i++) {
		const struct cell *c = &s->cells[i];

		assert(c->width <= 2);
		for (const char *p = c->text; *p; p++)
			assert((unsigned char)*p >= ' ' && *p != 0x7f);
		if (c->text[0])
			assert((unsigned char)c->text[0] != 0xc2 ||
			       (unsigned char)c->text[1] >= 0xa0);
	}
}

static void copy(struct term *t, uint8_t a, uint8_t b)
{
	struct buf text = BUF_INIT;
	int row, col;

	term_copy(t, a % 8 != 0);
	term_copy_at(t, b % 16, b / 4);
	term_copy_select(t, (enum copy_kind)(b % 4));
	for (int i = 0; i < a % 32; i++)
		term_copy_move(t, (enum copy_move)((a + i) % (COPY_WORD_PREV + 1)), b % 9);
	if (term_copy_cursor(t, &row, &col))
		assert(row >= 0 && row < t->rows && col >= 0 && col < t->cols);
	if (term_copying(t) && term_copy_text(t, &text))
		assert(text.len < 2 * COPY_MAX);
	buf_done(&text);
}

/* A recording's snapshot must make a terminal. */
static void snapshot(struct term *t)
{
	static const struct term_events none = {.output = drop};
	struct buf key = BUF_INIT, screen = BUF_INIT;
	struct term *again;

	term_snapshots(t, NULL);
	if (term_snapshot(t, &key, &screen)) {
		again = term_from_snapshot(key.data, key.len, &none, NULL);
		assert(again && again->rows == t->rows && again->cols == t->cols);
		term_free(again);
	}
	buf_done(&key);
	buf_done(&screen);
}

static void act(struct term *t, struct surface *s, uint8_t what, uint8_t a, uint8_t b, bool *typing)
{
	struct event ev = {.type = (enum event_type)(a % 4)};
	struct rect r = {1, 1, 30, 10};
	size_t current;

	switch (what % 10) {
	case 0:
		term_resize(t, 1 + a % 40, 1 + b % 100);
		break;
	case 1:
		term_scroll(t, (long)a - 128);
		break;
	case 2:
		term_search(t, (char[]){(char)(b % 96 + 32), '\0'});
		break;
	case 3:
		term_search_next(t, a & 1);
		term_search_count(t, &current);
		break;
	case 4:
		ev.key = (struct key){.sym = b & 1 ? SYM_UP + b / 2 % 22 : b, .mods = a & 7};
		ev.mouse = (struct mouse){
			(enum mouse_action)(b % 6), a % 4, a % 40, b % 20, b & 7, false};
		ev.paste = (struct span){(const char[]){(char)a, (char)b}, 2};
		ev.paste_begins = ev.paste_ends = b & 1;
		*typing = true;
		term_input(t, &ev, r);
		*typing = false;
		break;
	case 5:
		copy(t, a, b);
		break;
	case 6:
		snapshot(t);
		break;
	default:
		term_draw(t, s, r);
		check_cells(s);
	}
}

/* 0xff, which is not in UTF-8, begins an action of three bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct term_events on = {.output = on_output};
	bool typing = false;
	struct surface s;
	struct term *t = term_new(12, 40, &on, &typing);
	struct buf text = BUF_INIT;

	surface_init(&s, 32, 12);
	while (size) {
		const uint8_t *stop = memchr(data, 0xff, size);
		size_t n = stop ? (size_t)(stop - data) : size;

		term_feed(t, data, n);
		data += n;
		size -= n;
		if (size < 4)
			break;
		act(t, &s, data[1], data[2], data[3], &typing);
		data += 4;
		size -= 4;
	}
	term_draw(t, &s, (struct rect){0, 0, 32, 12});
	check_cells(&s);
	term_text(t, &text);
	buf_done(&text);
	surface_done(&s);
	term_free(t);
	return 0;
}
