/* test_term_bulk - the fast path for plain lines has the same result as the slow path. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void simple(struct buf *b)
{
	static const char *const piece[] = {
		"\033[m",
		"\033[31m",
		"\033[1;44m",
		"\033[7;4m",
		"\033[4:3;5m",
		"\033[4:5;58:5:9m",
		"\033[58:2::1:2:3m",
		"\033]8;;https://example.org\033\\",
		"\033]8;;\033\\",
		"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
		"\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd",
		"\xe2\x80\x8d",
		"\033[K",
		"\033[2K",
		"\r",
		"\r\033[K",
		"\033[2K\r",
		"\033[0;2;38;5;99m\033[K",
		"\t",
		"\xe6\xbc\xa2",
		"\xe2\x94\x80",
		"\xf0\x9f\xab\xa0",
		"\xe2\x80\xae",
		"\xe4\xb7\x80",
		"\xc3\xa9",
		"\033[38:2::1:2:3m",
		"\033[8m",
		"\033[28m",
		"e\xcc\x81",
		"\xf3\xa0\x81\xa1",
		"\xcd\xb8",
		"\033[48;5;3m",
		"\033[49m",
		"\033[0m",
	};

	buf_str(b, piece[rnd(ARRAY_LEN(piece))]);
}

static void plain_lines(struct buf *b, unsigned n, unsigned width)
{
	bool coloured = rnd(2);

	while (n--) {
		for (unsigned k = rnd(3) ? rnd(width) : rnd(3 * width); k; k--) {
			if (coloured && !rnd(6))
				simple(b);
			else
				buf_ch(b, rnd(5) ? (char)('!' + rnd(94)) : ' ');
		}
		buf_str(b, rnd(200) ? "\r\n" : "\n");
	}
}

/* Output of programs, and hostile output. */
static void something(struct buf *b)
{
	static const char *const piece[] = {
		"\033[31m",
		"\033[m",
		"\033[1;44m",
		"\033[7m",
		"\033[2;38;5;99m",
		"\033[8m",
		"\033[K",
		"\033[J",
		"\033[2J",
		"\033[H",
		"\033[5A",
		"\033[3C",
		"\033[3;8r",
		"\033[r",
		"\033[2;2H",
		"\033[?6h",
		"\033[?6l",
		"\033[4h",
		"\033[4l",
		"\033[?7l",
		"\033[?7h",
		"\033[?5h",
		"\033[?5l",
		"\033(0",
		"\033(B",
		"\016",
		"\017",
		"\033)0",
		"\033)B",
		"\0337",
		"\0338",
		"\033[?1049h",
		"\033[?1049l",
		"\033[20h",
		"\033[20l",
		"\033M",
		"\033D",
		"\033E",
		"\b\b",
		"\t",
		"\xe6\xbc\xa2",
		"\xe2\x94\x80",
		"\xf0\x9f\xab\xa0",
		"\033]0;t\a",
		"\033c",
		"\033[S",
		"\033[2T",
		"\033[L",
		"\033[M",
		"\033[@",
		"\033[P",
		"\033[9b",
		"\033[3J",
		"\r",
		"\n",
		"\033[!p",
		"\xe6\xbc",
		"\033[",
		"\033",
		"abc",
		"0123456789012345678901234567890",
	};

	buf_str(b, piece[rnd(ARRAY_LEN(piece))]);
}

static void stream(struct buf *b, unsigned cols)
{
	for (unsigned i = 2 + rnd(12); i; i--) {
		for (unsigned k = rnd(4); k; k--)
			something(b);
		plain_lines(b, rnd(4) ? rnd(120) : rnd(10), cols);
	}
	for (unsigned k = rnd(4); k; k--)
		something(b);
}

static void assert_same(struct term *a, struct term *b, uint64_t round)
{
	VTermPos pa, pb;

	if (a->first_line != b->first_line || a->history.count != b->history.count)
		fail_msg("round %llu: %zu lines from %llu, %zu from %llu",
			 (unsigned long long)round, a->history.count,
			 (unsigned long long)a->first_line, b->history.count,
			 (unsigned long long)b->first_line);
	for (uint64_t line = a->first_line; line < term_end(a); line++) {
		struct span la = term_line(a, line), lb = term_line(b, line);

		if (la.len != lb.len || memcmp(la.data, lb.data, la.len))
			fail_msg("round %llu: line %llu of %llu..%llu: '%.*s' and '%.*s' (flags %x "
				 "and %x)",
				 (unsigned long long)round, (unsigned long long)line,
				 (unsigned long long)a->first_line, (unsigned long long)term_end(a),
				 (int)line_text(la).len, line_text(la).data, (int)line_text(lb).len,
				 line_text(lb).data, line_flags(la), line_flags(lb));
	}
	vterm_state_get_cursorpos(a->state, &pa);
	vterm_state_get_cursorpos(b->state, &pb);
	assert_int_equal(pa.row, pb.row);
	assert_int_equal(pa.col, pb.col);
	assert_true(pen_equal(&a->sieve.pen, &b->sieve.pen));
	assert_int_equal(a->sieve.last, b->sieve.last);
	assert_int_equal(a->alt, b->alt);
	assert_int_equal(a->reverse, b->reverse);
	assert_string_equal(a->title, b->title);
}

/* Single bytes never take the fast path, and split every sequence everywhere. */
static void feed_bytes(struct term *t, const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		term_feed(t, b->data + i, 1);
}

static void feed_pieces(struct term *t, const struct buf *b)
{
	size_t i = 0;

	while (i < b->len) {
		size_t n = 1 + rnd(4000);

		n = MIN(n, b->len - i);
		term_feed(t, b->data + i, n);
		i += n;
	}
}

TEST(random_streams_end_alike)
{
	for (uint64_t round = 1; round <= 300; round++) {
		struct buf b = BUF_INIT;
		struct pane p, q;
		unsigned rows, cols;

		seed = round * 7919;
		rows = 2 + rnd(12);
		cols = 2 + rnd(30);
		pane_init(&p, (int)rows, (int)cols);
		pane_init(&q, (int)rows, (int)cols);
		for (int part = 0; part < 3; part++) {
			buf_clear(&b);
			stream(&b, cols);
			feed_bytes(p.t, &b);
			if (rnd(2))
				term_feed(q.t, b.data, b.len);
			else
				feed_pieces(q.t, &b);
			assert_same(p.t, q.t, round);
			rows = 2 + rnd(12);
			cols = 2 + rnd(30);
			term_resize(p.t, (int)rows, (int)cols);
			term_resize(q.t, (int)rows, (int)cols);
			assert_same(p.t, q.t, round);
		}
		pane_done(&p);
		pane_done(&q);
		buf_done(&b);
	}
}

TEST(the_short_way_is_taken)
{
	struct buf b = BUF_INIT;
	struct pane p;
	size_t slow;

	pane_init(&p, 24, 80);
	for (int i = 1; i <= 1000; i++)
		buf_fmt(&b, "%d\r\n", i);
	/* Not before the cursor is on the last row. */
	assert_int_equal(bulk_feed(p.t, b.data, b.len, &slow), 0);
	assert_int_equal(slow, 9 * 3 + 14 * 4);
	pane_feed(&p, "\033[24;1H");
	assert_int_equal(bulk_feed(p.t, b.data, b.len, &slow), b.len);
	assert_int_equal(term_history(p.t), 1000);
	assert_true(str_starts(pane_screen(&p), "978|979|980|"));
	pane_feed(&p, "\033[2;5r\033[24;1H");
	assert_int_equal(bulk_feed(p.t, b.data, b.len, &slow), 0);
	pane_feed(&p, "\033[r\033[24;1H\033[?1049h");
	assert_int_equal(bulk_feed(p.t, b.data, b.len, &slow), 0);
	pane_feed(&p, "\033[?1049l\033[31m$ ");
	assert_int_equal(bulk_feed(p.t, b.data, b.len, &slow), b.len);
	pane_done(&p);
	buf_done(&b);
}

TESTS(NULL, NULL)
