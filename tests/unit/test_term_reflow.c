/* test_term_reflow - lines are laid out for another size as in tmux, without a loss. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/term_fixture.h"

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Appends history and screen as rows, without the empty ones at the end. */
static void all_rows(struct term *t, struct buf *out)
{
	size_t keep = 0;

	buf_clear(out);
	for (uint64_t line = t->first_line; line < term_end(t); line++) {
		struct span text = line_text(term_line(t, line));

		while (text.len && text.data[text.len - 1] == ' ')
			text.len--;
		buf_add(out, text.data, text.len);
		buf_ch(out, '\n');
		if (text.len)
			keep = out->len;
	}
	buf_truncate(out, keep);
}

/* Writes lines like those of compilers, listings, logs and a shell, of any length. */
static void output(struct buf *b, unsigned lines)
{
	static const char *const words[] = {
		"warning: ",
		"\033[1;31merror\033[m: ",
		"src/main.c:10 ",
		"\xe6\xbc\xa2\xe5\xad\x97",
		"e\xcc\x81t\xc3\xa9 ",
		"x",
		"\033[44m bg \033[m",
		"\033[4:4;58:5:9m dotted \033[m",
		"\033]8;;https://example.org\033\\link\033]8;;\033\\",
		"\xf0\x9f\x91\xa8",
		"a_long_word_of_some_length_",
		"    ",
		"\xe2\x94\x80\xe2\x94\x80",
		"\033[7mturned\033[27m",
	};

	while (lines--) {
		bool empty = rnd(8) == 0;

		for (unsigned k = empty ? 0 : rnd(4) ? rnd(12) : rnd(60); k; k--)
			buf_str(b, words[rnd(ARRAY_LEN(words))]);
		buf_str(b, empty ? "\r\n" : "\033[m.\r\n");
	}
	buf_str(b, "$ ls");
}

TEST(there_and_back)
{
	static const int sizes[][2] = {{60, 20}, {10, 5}, {2, 2}, {200, 50}, {31, 7}, {120, 35}};

	for (unsigned round = 0; round < 60; round++) {
		AUTO_BUF struct buf b = BUF_INIT, before = BUF_INIT, after = BUF_INIT;
		struct pane p;
		size_t history;
		int back;

		seed = round + 1;
		pane_init(&p, 35, 120);
		output(&b, round % 3 ? rnd(400) : rnd(20));
		if (round % 5 == 0)
			buf_str(&b, "\033[H\033[2J\033[31mtop\r\n$ ");
		term_feed(p.t, b.data, b.len);
		all_rows(p.t, &before);
		history = term_history(p.t);
		back = (int)rnd(2);
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			term_resize(p.t, sizes[i][1], sizes[i][0]);
			if (back)
				term_scroll(p.t, (long)rnd(20) - 8);
		}
		all_rows(p.t, &after);
		assert_string_equal(before.data, after.data);
		assert_int_equal(history, term_history(p.t));
		/* The cursor is where it was: typed text continues. */
		pane_feed(&p, " -l\r\nend");
		all_rows(p.t, &after);
		assert_non_null(strstr(after.data, round % 5 ? "$ ls -l\nend" : "top\n$  -l\nend"));
		pane_done(&p);
	}
}

TEST(styles_go_along)
{
	struct pane p;

	pane_init(&p, 4, 10);
	pane_feed(&p, "\033[31mred\033[1;4;38;2;1;2;3m bold text\033[m\r\n\xe6\xbc\xa2x");
	term_resize(p.t, 6, 5);
	assert_string_equal(pane_screen(&p), "red b|old t|ext|\xe6\xbc\xa2x|||");
	assert_int_equal(pane_cell(&p, 0, 2)->style.fg, COLOR_INDEX(1));
	assert_int_equal(pane_cell(&p, 1, 4)->style.fg, COLOR_RGB(1, 2, 3));
	assert_int_equal(pane_cell(&p, 1, 4)->style.attr, STYLE_BOLD | STYLE_UNDERLINE);
	assert_int_equal(pane_cell(&p, 3, 0)->width, 2);
	pane_feed(&p, "y");
	term_resize(p.t, 4, 20);
	assert_string_equal(pane_screen(&p), "red bold text|\xe6\xbc\xa2xy|||");
	pane_done(&p);
}

TEST(hard_ends_stay)
{
	struct pane p;

	pane_init(&p, 6, 4);
	/* Full rows that end; one that wraps; a shell's output for a full line. */
	pane_feed(&p, "abcd\r\nefgh\r\nijklmn\r\n$ xy \rz");
	assert_string_equal(pane_screen(&p), "abcd|efgh|ijkl|mn|$ xy|z|");
	term_resize(p.t, 6, 10);
	assert_string_equal(pane_screen(&p), "abcd|efgh|ijklmn|$ xyz|||");
	pane_done(&p);
}

/* A full row waits for the next character to wrap; sequences that move no cursor do not change
 * that. */
TEST(what_waits_to_wrap_goes_on_waiting)
{
	static const char *const quiet[] = {"\033[2M", "\033[2L", "\0337",     "\033(B",
					    "\033[0K", "\033[m",  "\033[?25h", "\033[2X",
					    "\033[2P", "\033=",	  "\033[1b"};

	for (size_t i = 0; i < ARRAY_LEN(quiet); i++) {
		struct pane p;
		VTermPos pos;
		int first;

		pane_init(&p, 6, 8);
		pane_feed(&p, "one\r\n12345678");
		first = strstr(quiet[i], "1b") ? 2 : 1; /* REP repeats the 8 */
		pane_feed(&p, quiet[i]);
		pane_feed(&p, "ab");
		sieve_flush(p.t);
		vterm_state_get_cursorpos(p.t->state, &pos);
		assert_int_equal(pos.row, 2);
		assert_int_equal(pos.col, first + 1);
		assert_int_equal(p.t->sieve.col, pos.col);
		pane_done(&p);
	}
}

TEST(a_full_screen_program_is_left_alone)
{
	struct pane p;

	pane_init(&p, 5, 20);
	pane_feed(&p, "a line that is long enough\r\n$ vi\r\n\033[?1049h\033[H\033[2Jtwenty "
		      "columns long!");
	term_resize(p.t, 3, 8);
	assert_string_equal(pane_screen(&p), "twenty c|||");
	term_resize(p.t, 6, 13);
	pane_feed(&p, "\033[2J\033[Hx\033[?1049l$ ");
	assert_string_equal(pane_screen(&p), "a line that i|s long enough|$ vi|$|||");
	/* The program ended, and the screen was cleared. */
	pane_feed(&p, "\033[?1049h\033c");
	term_resize(p.t, 4, 9);
	assert_string_equal(pane_screen(&p), "||||");
	pane_done(&p);
}

TEST(the_view_stays_on_its_line)
{
	struct pane p;
	char line[40];

	pane_init(&p, 4, 20);
	for (int i = 0; i < 50; i++) {
		snprintf(line, sizeof(line), "%d: some words here\r\n", i);
		pane_feed(&p, line);
	}
	term_scroll(p.t, 20);
	assert_true(str_starts(pane_screen(&p), "27: some words here|"));
	term_resize(p.t, 4, 8);
	assert_true(str_starts(pane_screen(&p), "27: some| words h|"));
	term_resize(p.t, 4, 20);
	assert_true(str_starts(pane_screen(&p), "27: some words here|28:"));
	pane_done(&p);
}

/* ---- tmux -------------------------------------------------------------------------------------
 */

static char dir[64];
static unsigned server;

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void run(struct buf *out, const char *fmt, ...)
{
	char cmd[512];
	size_t at = (size_t)snprintf(cmd, sizeof(cmd), "TMUX= tmux -u -S %s/s%u -f /dev/null ", dir,
				     server);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd + at, sizeof(cmd) - at, fmt, ap);
	va_end(ap);
	read_command(out, cmd);
}

static void tmux_rows(struct buf *out)
{
	buf_clear(out);
	run(out, "capture-pane -p -S - -E -");
	while (out->len && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
	if (out->len)
		buf_ch(out, '\n');
}

/* tmux works asynchronously. */
static void expect_rows(const struct buf *want, const char *when)
{
	AUTO_BUF struct buf got = BUF_INIT;

	for (int i = 0; i < 2000; i++) {
		tmux_rows(&got);
		if (str_eq(got.data, want->data))
			return;
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	print_error("%s\n", when);
	assert_string_equal(want->data, got.data);
}

TEST(as_tmux_does)
{
	static const int sizes[][2] = {{60, 20}, {10, 5}, {37, 12}, {120, 35}};

	strcpy(dir, "/tmp/reflow.XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (unsigned round = 0; round < 4; round++) {
		AUTO_BUF struct buf b = BUF_INIT, mine = BUF_INIT;
		struct pane p;
		char name[96], when[64];
		FILE *f;

		seed = round + 100;
		server = round;
		output(&b, 20 + 60 * round);
		snprintf(name, sizeof(name), "%s/bytes", dir);
		f = fopen(name, "w");
		assert_non_null(f);
		fwrite(b.data, 1, b.len, f);
		fclose(f);
		pane_init(&p, 35, 120);
		term_feed(p.t, b.data, b.len);
		run(NULL,
		    "new-session -d -x 120 -y 35 'stty raw -echo; cat %s; sleep 60' "
		    "\\; set -g status off \\; set -g history-limit 5000 \\; "
		    "set -g window-size manual \\; resize-window -x 120 -y 35",
		    name);
		all_rows(p.t, &mine);
		expect_rows(&mine, "at first");
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			term_resize(p.t, sizes[i][1], sizes[i][0]);
			run(NULL, "resize-window -x %d -y %d", sizes[i][0], sizes[i][1]);
			snprintf(when, sizeof(when), "round %u at %dx%d", round, sizes[i][0],
				 sizes[i][1]);
			all_rows(p.t, &mine);
			expect_rows(&mine, when);
		}
		run(NULL, "kill-server");
		pane_done(&p);
		unlink(name);
		snprintf(name, sizeof(name), "%s/s%u", dir, round);
		unlink(name);
	}
	rmdir(dir);
}

TESTS(NULL, NULL)
