/* test_recordings - the list of recorded sessions: its rows, and playing one. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>

#include "core/base/path.h"
#include "core/record/recorder.h"
#include "core/record/redact.h"
#include "core/record/ring.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

static char state_dir[64];

static void record(const char *session, const char *folder, const char *command, const char *prompt)
{
	const struct ring_spec ring = {.state_dir = state_dir, .session = session, .keep = 10};
	struct redact *redact;
	struct recorder *rec;
	struct err err = {0};
	int fd = -1;

	assert_int_equal(ring_open(&ring, &fd, &err), 0);
	assert_int_equal(redact_new(&redact, NULL, &err), 0);
	assert_int_equal(recorder_open(&rec,
				       &(struct recorder_spec){.fd = fd,
							       .cols = 80,
							       .rows = 24,
							       .session = session,
							       .folder = folder,
							       .command = command,
							       .redact = redact},
				       &err),
			 0);
	if (prompt) {
		recorder_mark(rec, MARK_TURN, 1, "turn 1"); /* its prompt came later */
		recorder_mark(rec, MARK_TURN, 1, prompt);
		recorder_mark(rec, MARK_TURN, 2, "turn 2: another");
	}
	recorder_close(rec);
}

static int cordon(void *data, const char *const *words, size_t n, struct err *err)
{
	struct scene *s = data;

	(void)err;
	for (size_t i = 0; i < n; i++)
		buf_fmt(&s->said, "%s%s", words[i], i + 1 < n ? " " : "\n");
	return 0;
}

TEST_WITH(they_are_listed_and_played, NULL, NULL)
{
	static const int sizes[][2] = {{120, 40}, {80, 24}, {40, 12}};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct ui_verbs verbs;
		struct scene s;

		scene_init(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_fill(&s);
		s.ui->spec.state_dir = state_dir;
		verbs = *s.ui->spec.verbs;
		verbs.cordon = cordon;
		s.ui->spec.verbs = &verbs;
		buf_clear(&s.said);
		scene_keys(&s, "C-] h");
		scene_golden(&s, "recordings", DEPTH_256);
		scene_keys(&s, "Enter");
		assert_string_equal(s.said.data, "replay 20261124-101500-00c3\n");
		buf_clear(&s.said);
		scene_keys(&s, "/ p a r s e r Enter Enter");
		assert_string_equal(s.said.data, "replay 20261124-090000-00a1\n");
		scene_keys(&s, "q");
		assert_int_equal(s.ui->n_popups, 0);
		scene_done(&s);
	}
}

TEST(none_is_said)
{
	struct scene *s = *state;

	scene_keys(s, "C-] h");
	assert_true(scene_shows(s, "No session is recorded"));
}

static struct held {
	void (*work)(void *job);
	void (*done)(void *job);
	void *job;
} held;

static void hold(void *data, void (*work)(void *job), void (*done)(void *job), void *job)
{
	(void)data;
	held = (struct held){work, done, job};
}

TEST(it_may_close_while_they_are_read)
{
	struct scene *s = *state;
	struct ui_verbs verbs = *s->ui->spec.verbs;

	verbs.submit = hold;
	s->ui->spec.verbs = &verbs;
	s->ui->spec.state_dir = state_dir;
	scene_keys(s, "C-] h");
	assert_true(scene_shows(s, "Reading them..."));
	scene_keys(s, "q");
	held.work(held.job);
	held.done(held.job);
	assert_int_equal(s->ui->n_popups, 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(state_dir, sizeof(state_dir), "/tmp/recordings.XXXXXX");
	assert_non_null(mkdtemp(state_dir));
	setenv("CORDON_TEST_CLOCK", "1795511640", 1);
	record("20261124-090000-00a1", "/home/u/project", "claude --continue",
	       "turn 1: fix the parser");
	record("20261124-093000-00b2", "/home/u/a\033[2Jb/with/a/long/name/below/it", "sh\n-c x",
	       NULL);
	record("20261124-101500-00c3", "/srv/www", "codex",
	       "turn 1: add a licence, then \033[31mgo");
	unsetenv("CORDON_TEST_CLOCK");
	return 0;
}

static int tear_down(void **state)
{
	AUTO_FREE char *command = xasprintf("rm -r %s", state_dir);

	(void)state;
	return system(command);
}

int main(void)
{
	return run_all(scene_set_up, scene_tear_down, set_up, tear_down);
}
