/* test_replay - a replay shows at each moment what the session showed at that time. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/record/cast.h"
#include "core/record/encoder.h"
#include "core/record/recorder.h"
#include "core/record/model_changes.h"
#include "tests/support/check.h"
#include "tui/console/replay/replay.h"
#include "tui/term/snapshot.h"

#define SECONDS 240

/* ---- the model ---------------------------------------------------------------------------------
 */

static void fill(struct model *m)
{
	char *was[] = {(char *)(uintptr_t) "gone/a", (char *)(uintptr_t) "gone/b"};
	struct guard_report held = {
		.ask = 9, .step = 2, .what = 0, .count = 50, .held = 1, .n_was = 2};
	struct barrier *edits = xcalloc(1, sizeof(*edits));
	struct step_row *s;

	snprintf(m->session, sizeof(m->session), "s1");
	m->command = xstrdup("claude");
	m->started = true;
	model_add_exec(m, 1, 7, "make \"a\\b\"", "/usr/bin/make");
	model_add_row(m, ROW_TOUCH, 1, 7, 0, "openat", "/w/\xff\x1b[2J", NULL);
	s = model_add_step(m, 1, STEP_COMMAND, "make", 1000);
	s->running = false;
	s->paths = 3;
	s->created = 2;
	s->exit_status = 2;
	model_add_step(m, -2, STEP_AMBIENT, NULL, 2000);
	model_add_ask(m, &(struct ask){.id = 4,
				       .kind = RULE_WRITE,
				       .has_step = true,
				       .up = 3,
				       .bundle = (char *)(uintptr_t) "hooks",
				       .op = (char *)(uintptr_t) "openat",
				       .path = (char *)(uintptr_t) "/w/.git/hooks/x",
				       .program = (char *)(uintptr_t) "/bin/sh",
				       .command = (char *)(uintptr_t) "sh -c x",
				       .reason = (char *)(uintptr_t) "runs later"});
	held.was[0] = was[0];
	held.was[1] = was[1];
	held.command = (char *)(uintptr_t) "rm -r gone";
	model_set_held(m, &held);
	model_add_given(m, &(struct given){.rule = 41,
					   .answer = {.allow = true, .scope = SCOPE_SESSION},
					   .object = (char *)(uintptr_t) "/w/x",
					   .words = (char *)(uintptr_t) "ALLOW writing x"});
	edits->count = 2;
	edits->after = 1;
	edits->n_paths = 2;
	edits->paths = xcalloc(2, sizeof(char *));
	edits->paths[0] = xstrdup("mine");
	edits->paths[1] = xstrdup("mine too");
	model_set_edits(m, edits, 1);
}

static struct recording *open_fd(int fd)
{
	struct recording *r;
	struct err err = {0};

	lseek(fd, 0, SEEK_SET);
	assert_int_equal(recording_open(&r, fd, &err), 0);
	return r;
}

TEST(the_model_comes_back)
{
	int fd = memfd_create("r", MFD_CLOEXEC);
	struct redact *redact;
	struct recorder *rec;
	struct teller *teller;
	struct recording *in;
	struct past *past;
	struct model m, got;
	struct err err = {0};
	int64_t middle;

	model_init(&m);
	model_init(&got);
	fill(&m);
	assert_int_equal(redact_new(&redact, NULL, &err), 0);
	assert_int_equal(recorder_open(&rec,
				       &(struct recorder_spec){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
							       .cols = 80,
							       .rows = 24,
							       .session = "s1",
							       .redact = redact},
				       &err),
			 0);
	teller = tell_new(rec);
	m.prompts = 1; /* its prompt comes later */
	m.prompt = xstrdup("");
	tell_news(teller, &m);
	free(m.prompt);
	m.prompt = xstrdup("fix it");
	tell_news(teller, &m);
	usleep(3000);
	middle = recorder_now(rec);
	usleep(3000);
	model_remove_ask(&m, 4);
	model_step(&m, -2)->running = false;
	model_step(&m, 1)->undone = true;
	model_add_row(&m, ROW_NOTE, 0, 0, 0, "note", "later", NULL);
	m.exited = true;
	m.wait_status = 256;
	tell_news(teller, &m);
	tell_news(teller, &m); /* without changes */
	tell_free(teller);
	recorder_close(rec);
	in = open_fd(fd);
	past = past_new(in);

	past_seek(past, &got, middle);
	assert_string_equal(got.session, "s1");
	assert_int_equal(got.n_turns, 1);
	assert_string_equal(got.turns[0].words, "fix it");
	assert_int_equal(got.turns[0].after, 0);
	assert_int_equal(got.n_steps, 2);
	assert_int_equal(got.row_count, 2);
	assert_string_equal(model_row(&got, 0)->text, "make \"a\\b\"");
	assert_string_equal(model_row(&got, 1)->text, "/w/\xff\x1b[2J");
	assert_int_equal(model_step(&got, 1)->paths, 3);
	assert_int_equal(model_step(&got, 1)->exit_status, 2);
	assert_false(model_step(&got, 1)->undone);
	assert_true(model_step(&got, -2)->running);
	assert_int_equal(got.n_asks, 2);
	assert_string_equal(model_ask(&got, 4)->reason, "runs later");
	assert_true(model_ask(&got, 4)->has_step);
	assert_int_equal(model_ask(&got, 4)->up, 3);
	assert_string_equal(model_ask(&got, 4)->bundle, "hooks");
	assert_true(model_ask(&got, 4)->since_us < clock_mono_us() - 2000); /* it waited before */
	assert_int_equal(model_step(&got, 1)->created, 2);
	assert_int_equal(model_ask(&got, 9)->held->n_was, 2);
	assert_string_equal(model_ask(&got, 9)->held->was[1], "gone/b");
	assert_int_equal(got.n_given, 1);
	assert_string_equal(got.given[0].words, "ALLOW writing x");
	assert_int_equal(got.n_edits, 1);
	assert_string_equal(got.edits[0].paths[1], "mine too");
	assert_false(got.exited);

	past_seek(past, &got, INT64_MAX);
	assert_int_equal(got.n_asks, 1);
	assert_int_equal(got.row_count, 3);
	assert_true(model_step(&got, 1)->undone);
	assert_true(got.exited);
	assert_int_equal(got.wait_status, 256);
	past_seek(past, &got, middle); /* and back */
	assert_int_equal(got.n_asks, 2);
	past_free(past);
	recording_free(in);
	model_done(&m);
	model_done(&got);
	close(fd);
}

/* ---- the terminal
 * -------------------------------------------------------------------------------- */

struct show {
	int fd;
	char *screens[SECONDS]; /* the screen after each second */
};

static char *screen_of(struct term *t)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct term_cursor c = {0};

	term_text(t, &out);
	buf_fmt(&out, "%d", term_cursor(t, &c));
	buf_fmt(&out, " %d,%d", c.row, c.col);
	return buf_take(&out);
}

static void write_block(struct encoder *e, struct packer *p, int fd)
{
	AUTO_BUF struct buf out = BUF_INIT;
	size_t head;

	encoder_finish(e);
	assert_int_equal(block_write(p, &out, &e->block, (struct span){e->text.data, e->text.len},
				     (struct span){e->own.data, e->own.len},
				     (struct span){e->key.data, e->key.len}, &head),
			 0);
	assert_int_equal(io_write_all(fd, out.data, out.len), 0);
	encoder_next(e);
}

static size_t some_output(unsigned *seed, char *out, size_t size, int n)
{
	static const char *const parts[] = {
		"\033[%d;%dHspot",  "line %d of %d\r\n", "\033[3%dm%d\033[m", "\033[%d;1H\033[K%d",
		"\033[?1049h%d %d", "\033[?1049l%d %d",	 "\r\n%d\t%d"};
	size_t len = (size_t)snprintf(out, size, "second %d ", n);

	for (int i = rand_r(seed) % 8; i > 0; i--) {
		const char *part = parts[(size_t)rand_r(seed) % ARRAY_LEN(parts)];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		len += (size_t)snprintf(out + len, size - len, part, rand_r(seed) % 8 + 1,
					rand_r(seed) % 20 + 1);
#pragma GCC diagnostic pop
	}
	return len;
}

/* Makes a recording of a few minutes with a key now and then, without waiting. */
static int make_show(void **state)
{
	static struct show s;
	struct term *t = term_new(12, 40, NULL, NULL);
	struct packer *p = packer_new();
	struct redact *redact;
	struct encoder e;
	struct err err = {0};
	unsigned seed = 7;
	AUTO_BUF struct buf head = BUF_INIT;

	s.fd = memfd_create("r", MFD_CLOEXEC);
	assert_int_equal(redact_new(&redact, NULL, &err), 0);
	encoder_init(&e, redact);
	term_snapshots(t, NULL);
	cast_header_format(&head, &(struct cast_header){.version = 2, .cols = 40, .rows = 12});
	buf_add(&e.text, head.data, head.len);
	e.any = true;
	write_block(&e, p, s.fd);
	for (int n = 0; n < SECONDS; n++) {
		AUTO_BUF struct buf queue = BUF_INIT;
		AUTO_BUF struct buf key = BUF_INIT;
		AUTO_BUF struct buf screen = BUF_INIT;
		char text[1024];
		size_t len = some_output(&seed, text, sizeof(text), n), at = 0;
		int64_t now = n * (int64_t)1000000;

		if (n % 50 == 30) {
			int rows = 8 + n % 7, cols = 30 + n % 23;
			char size[24];
			int k = snprintf(size, sizeof(size), "%dx%d", cols, rows);

			term_resize(t, rows, cols);
			item_add(&queue,
				 &(struct item){
					 .t_us = now, .code = CAST_RESIZE, .len = (uint32_t)k},
				 size);
		}
		term_feed(t, text, len);
		item_add(&queue,
			 &(struct item){.t_us = now, .code = CAST_OUTPUT, .len = (uint32_t)len},
			 text);
		if (n % 11 == 0 && term_snapshot(t, &key, &screen))
			item_add(&queue,
				 &(struct item){
					 .t_us = now, .code = ITEM_KEY, .len = (uint32_t)key.len},
				 key.data);
		s.screens[n] = screen_of(t);
		while (encoder_feed(&e, &queue, &at))
			write_block(&e, p, s.fd);
		encoder_flush(&e, now, true);
		if (encoder_has_block(&e))
			write_block(&e, p, s.fd);
	}
	encoder_done(&e);
	packer_free(p);
	redact_free(redact);
	term_free(t);
	*state = &s;
	return 0;
}

static int end_show(void **state)
{
	struct show *s = *state;

	for (int i = 0; i < SECONDS; i++)
		free(s->screens[i]);
	close(s->fd);
	return 0;
}

static struct replay *replay_show(const struct show *s)
{
	return replay_new(open_fd(fcntl(s->fd, F_DUPFD_CLOEXEC, 3)));
}

static void assert_screen(struct replay *r, const struct show *s, int second)
{
	AUTO_FREE char *got = screen_of(replay_term(r));

	assert_string_equal(got, s->screens[second]);
}

TEST(a_seek_shows_what_was_there)
{
	struct show *s = *state;
	struct replay *r = replay_show(s);
	unsigned seed = 3;

	for (int i = 0; i < 300; i++) {
		int n = rand_r(&seed) % SECONDS;

		replay_seek(r, n * (int64_t)1000000 + 500000, 0);
		assert_screen(r, s, n);
	}
	replay_free(r);
}

TEST(playing_shows_the_same)
{
	struct show *s = *state;
	struct replay *r = replay_show(s);
	int64_t now = 0;

	replay_set_idle(r, 0, 0);
	replay_set_speed(r, 4, 0);
	replay_play(r, true, 0);
	for (int n = 0; n < SECONDS - 1; n++) {
		int64_t due = n * (int64_t)1000000 + 500000;

		/* A busy machine may play less at a time than is due, and continues from there. */
		while (replay_position(r) < due)
			replay_tick(r, now += 250);
		assert_screen(r, s, n);
	}
	while (replay_playing(r))
		replay_tick(r, now += 1000000);
	assert_screen(r, s, SECONDS - 1);
	replay_free(r);
}

TEST(frames_go_both_ways)
{
	struct show *s = *state;
	struct replay *r = replay_show(s);

	replay_seek(r, 100500000, 0);
	replay_frame(r, true, 0);
	assert_screen(r, s, 101);
	replay_frame(r, false, 0);
	assert_screen(r, s, 100);
	replay_frame(r, false, 0);
	assert_screen(r, s, 99);
	replay_free(r);
}

/* Returns how long a replay takes for a user, in microseconds. */
static int64_t time_to_play(const char *events)
{
	AUTO_FREE char *cast = xasprintf("{\"version\":2,\"width\":20,\"height\":4}\n%s", events);
	int fd = memfd_create("c", MFD_CLOEXEC);
	struct replay *r;
	int64_t now = 0;

	assert_int_equal(io_write_all(fd, cast, strlen(cast)), 0);
	r = replay_new(open_fd(fd));
	replay_play(r, true, 0);
	while (replay_playing(r) && now < 20000000)
		replay_tick(r, now += 100000);
	replay_free(r);
	return now;
}

TEST(long_pauses_are_cut)
{
	assert_in_range(time_to_play("[1,\"o\",\"a\"]\n[100,\"o\",\"b\"]\n"), 3000000, 3500000);
}

/* A session measures its memory every few seconds, even without activity. */
TEST(a_pause_with_measures_is_a_pause)
{
	AUTO_BUF struct buf cast = BUF_INIT;

	buf_str(&cast, "[1,\"o\",\"a\"]\n");
	for (int s = 5; s < 600; s += 5)
		buf_fmt(&cast,
			"[%d,\"c\",\"{\\\"t\\\":%d000000,\\\"e\\\":\\\"state\\\","
			"\\\"memory\\\":%d}\"]\n",
			s, s, s);
	buf_str(&cast, "[600,\"o\",\"b\"]\n");
	assert_in_range(time_to_play(cast.data), 3000000, 3500000);
	/* A row counts as activity, and so does the end. */
	buf_str(&cast, "[601,\"c\",\"{\\\"t\\\":601000000,\\\"e\\\":\\\"row\\\"}\"]\n"
		       "[700,\"c\",\"{\\\"t\\\":700000000,\\\"e\\\":\\\"state\\\","
		       "\\\"exited\\\":1}\"]\n"
		       "[800,\"o\",\"c\"]\n");
	assert_in_range(time_to_play(cast.data), 8000000, 8500000);
}

static enum replay_found find(struct replay *r, const char *needle, bool next)
{
	enum replay_found found;
	int64_t at;

	replay_find(r, needle, next);
	do {
		replay_tick(r, clock_mono_us());
		found = replay_finding(r, &at);
	} while (found == FIND_SEARCHING);
	return found;
}

/* Returns the first second after which it was on the screen. */
static int first_with(const struct show *s, const char *needle)
{
	int n = 0;

	while (n < SECONDS && !strstr(s->screens[n], needle))
		n++;
	assert_in_range(n, 1, SECONDS - 1);
	return n;
}

TEST(a_search_goes_to_the_moment)
{
	struct show *s = *state;
	struct replay *r = replay_show(s);
	char needle[32] = "second 60 ";
	int n = 60;

	assert_int_equal(find(r, "SECOND 137 ", true), FIND_NO_HIT);
	assert_int_equal(find(r, "second 137 ", true), FIND_HIT);
	assert_int_equal(replay_position(r), first_with(s, "second 137 ") * (int64_t)1000000);
	while (!strstr(s->screens[n], needle)) /* the same second may clear the words */
		snprintf(needle, sizeof(needle), "second %d ", --n);
	assert_int_equal(find(r, needle, true), FIND_NO_HIT);
	assert_int_equal(find(r, needle, false), FIND_HIT);
	assert_in_range(replay_position(r), n * 1000000, 136000000);
	assert_non_null(strstr(s->screens[replay_position(r) / 1000000], needle));
	replay_free(r);
}

/* The last words of a program: a marker right after them is not output. */
TEST(what_a_marker_follows_at_once_is_found)
{
	static const char cast[] = "{\"version\":2,\"width\":20,\"height\":3}\n"
				   "[1.0,\"o\",\"first\"]\n[1.05,\"o\",\" last words\"]\n"
				   "[1.1,\"m\",\"over\"]\n";
	int fd = memfd_create("c", MFD_CLOEXEC);
	struct replay *r;

	assert_int_equal(io_write_all(fd, cast, sizeof(cast) - 1), 0);
	r = replay_new(open_fd(fd));
	assert_int_equal(find(r, "last words", true), FIND_HIT);
	replay_free(r);
}

int main(void)
{
	return run_all(NULL, NULL, make_show, end_show);
}
