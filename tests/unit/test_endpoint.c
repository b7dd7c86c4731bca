/* test_endpoint - Endpoint Security's messages, simulated: who is inside, deadlines, questions. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/macos/endpoint/cohort.h"
#include "backends/macos/endpoint/es_client.h"

#define SECOND	 INT64_C(1000000)
#define HANDLES	 4096
#define AGENT	 ((struct es_id){.pid = 100, .version = 7})
#define CHILD	 ((struct es_id){.pid = 101, .version = 9})
#define OUTSIDER ((struct es_id){.pid = 50, .version = 3})

static struct world {
	int64_t now;
	struct es_seam seam;
	struct es_hooks hooks;
	struct es_client *c;
	uint64_t seq, handle;
	int answers[HANDLES]; /* by handle; -1: none */
	int answered_twice, late;
	int64_t deadlines[HANDLES];
	size_t asked, kept, expired, denied, xpc;
	uint64_t question, lost;
	char dir[64];
	int keep_result;
} w;

static void on_answer(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	(void)data, (void)kind;
	assert_in_range(handle, 1, HANDLES - 1);
	w.answered_twice += w.answers[handle] >= 0;
	w.late += w.now > w.deadlines[handle];
	w.answers[handle] = allow;
}

static int64_t on_now(void *data)
{
	(void)data;
	return w.now;
}

/* /ok is allowed, /no is denied, all else is to be asked about. */
static enum es_verdict on_judge(void *data, const struct es_message *m, const char *path,
				enum es_access access)
{
	(void)data, (void)m, (void)access;
	if (strncmp(path, "/ok/", 4) == 0)
		return ES_ALLOW;
	return strncmp(path, "/no/", 4) == 0 ? ES_DENY : ES_ASK;
}

static enum es_verdict on_keep(void *data, const struct es_message *m)
{
	(void)data, (void)m;
	w.kept++;
	return w.keep_result < 0 ? ES_DENY : ES_ALLOW;
}

static void on_ask(void *data, const struct es_question *q)
{
	(void)data;
	w.asked++;
	w.question = q->id;
	snprintf(w.dir, sizeof(w.dir), "%s", q->dir);
}

static void on_expired(void *data, uint64_t question)
{
	(void)data, (void)question;
	w.expired++;
}

static void on_denied(void *data, const struct es_message *m, const char *why)
{
	(void)data, (void)m;
	assert_true(*why);
	w.denied++;
}

static void on_xpc(void *data, const struct es_message *m)
{
	(void)data;
	assert_string_equal(m->service, "com.apple.pasteboard.1");
	w.xpc++;
}

static void on_lost(void *data, uint64_t n, uint32_t found)
{
	(void)data, (void)found;
	w.lost += n;
}

static int setup(void **state)
{
	(void)state;
	w = (struct world){.now = SECOND};
	w.seam = (struct es_seam){.answer = on_answer, .now = on_now};
	w.hooks = (struct es_hooks){.judge = on_judge,
				    .keep = on_keep,
				    .ask = on_ask,
				    .expired = on_expired,
				    .denied = on_denied,
				    .xpc = on_xpc,
				    .lost = on_lost};
	for (size_t i = 0; i < HANDLES; i++)
		w.answers[i] = -1;
	w.c = es_client_new(&w.seam, &w.hooks, true);
	es_client_add(w.c, AGENT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	es_client_free(w.c);
	for (uint64_t h = 1; h <= w.handle; h++)
		assert_true(w.answers[h] >= 0); /* whatever was asked, answered once and in time */
	assert_int_equal(w.answered_twice, 0);
	assert_int_equal(w.late, 0);
	return 0;
}

static uint64_t take(struct es_message m)
{
	m.seq = ++w.seq;
	if (m.kind < ES_FORK)
		m.handle = ++w.handle;
	if (!m.deadline_us)
		m.deadline_us = w.now + 15 * SECOND;
	w.deadlines[m.handle] = m.deadline_us;
	es_client_take(w.c, &m);
	return m.handle;
}

static uint64_t open_at(struct es_id who, const char *path, bool writes)
{
	return take((struct es_message){
		.kind = ES_OPEN, .process = who, .path = path, .writes = writes});
}

static int answer_of(uint64_t handle)
{
	return w.answers[handle];
}

/* ---- who ------------------------------------------------------------------------------------- */

static void outsiders_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(answer_of(open_at(OUTSIDER, "/no/x", true)), 1);
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_SIGNAL, .process = OUTSIDER, .target = AGENT})),
			 1);
	assert_int_equal(w.denied, 0);
	assert_int_equal(w.kept, 0);
}

static void children_are_inside(void **state)
{
	const struct es_id grandchild = {.pid = 102, .version = 11};

	(void)state;
	take((struct es_message){.kind = ES_FORK, .process = AGENT, .target = CHILD});
	assert_int_equal(answer_of(open_at(CHILD, "/no/x", false)), 0);
	/* A fork that was dropped: its parent tells. */
	assert_int_equal(
		answer_of(take((struct es_message){
			.kind = ES_OPEN, .process = grandchild, .parent = CHILD, .path = "/no/x"})),
		0);
	assert_int_equal(answer_of(open_at(grandchild, "/no/x", false)), 0);
}

static void a_process_stays_inside_through_exec(void **state)
{
	(void)state;
	/* Two threads exec at once: whichever version comes. */
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_EXEC, .process = AGENT, .path = "/ok/sh"})),
			 1);
	for (uint32_t version = 8; version < 12; version++)
		assert_int_equal(
			answer_of(open_at((struct es_id){.pid = AGENT.pid, .version = version},
					  "/no/x", 0)),
			0);
	/* An earlier one was somebody else's. */
	assert_int_equal(
		answer_of(open_at((struct es_id){.pid = AGENT.pid, .version = 6}, "/no/x", 0)), 1);
}

static void a_number_that_is_used_again_is_outside(void **state)
{
	(void)state;
	take((struct es_message){.kind = ES_FORK, .process = AGENT, .target = CHILD});
	take((struct es_message){.kind = ES_EXIT, .process = CHILD});
	assert_int_equal(
		answer_of(open_at((struct es_id){.pid = CHILD.pid, .version = 90}, "/no/x", false)),
		1);
}

static void versions_wrap(void **state)
{
	struct cohort *c = cohort_new();

	(void)state;
	cohort_add(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 1});
	assert_true(cohort_has(c, (struct es_id){.pid = 1, .version = UINT32_MAX}));
	assert_true(cohort_has(c, (struct es_id){.pid = 1, .version = 3}));
	assert_false(cohort_has(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 2}));
	cohort_remove(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 2});
	assert_int_equal(cohort_size(c), 1);
	cohort_free(c);
}

static void signals_and_debuggers_stay_inside(void **state)
{
	const enum es_kind kinds[] = {ES_SIGNAL, ES_GET_TASK};

	(void)state;
	take((struct es_message){.kind = ES_FORK, .process = AGENT, .target = CHILD});
	for (size_t i = 0; i < 2; i++) {
		struct es_message m = {.kind = kinds[i], .process = CHILD, .target = AGENT};

		assert_int_equal(answer_of(take(m)), 1);
		m.target = OUTSIDER;
		assert_int_equal(answer_of(take(m)), 0);
	}
	es_client_free(w.c);
	w.c = es_client_new(&w.seam, &w.hooks, false);
	es_client_add(w.c, AGENT);
	w.seq = 0;
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_GET_TASK, .process = AGENT, .target = AGENT})),
			 0);
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_SIGNAL, .process = AGENT, .target = AGENT})),
			 1);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void what_changes_is_kept_first(void **state)
{
	(void)state;
	assert_int_equal(answer_of(open_at(AGENT, "/ok/a", false)), 1);
	assert_int_equal(w.kept, 0);
	assert_int_equal(answer_of(open_at(AGENT, "/ok/a", true)), 1);
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_UNLINK, .process = AGENT, .path = "/ok/a"})),
			 1);
	assert_int_equal(w.kept, 2);
	w.keep_result = -ENOSPC;
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_UNLINK, .process = AGENT, .path = "/ok/a"})),
			 0);
}

static void both_names_of_a_rename_count(void **state)
{
	struct es_message m = {
		.kind = ES_RENAME, .process = AGENT, .path = "/ok/a", .path2 = "/no/b"};
	uint64_t h;

	(void)state;
	assert_int_equal(answer_of(take(m)), 0);
	m.path = "/no/a", m.path2 = "/ok/b";
	assert_int_equal(answer_of(take(m)), 0);
	m.path = "/x/a", m.path2 = "/y/b";
	h = take(m);
	assert_string_equal(w.dir, "/x");
	assert_int_equal(es_client_answer(w.c, w.question, true, SECOND), 0);
	assert_int_equal(answer_of(h), -1); /* the other is still to be asked about */
	assert_string_equal(w.dir, "/y");
	assert_int_equal(es_client_answer(w.c, w.question, true, SECOND), 0);
	assert_int_equal(answer_of(h), 1);
	assert_int_equal(w.kept, 1);
	m.path = "/z/a";
	h = take(m);
	assert_string_equal(w.dir, "/z");
	assert_int_equal(es_client_answer(w.c, w.question, false, SECOND), 0);
	assert_int_equal(answer_of(h), 0);
}

static void a_path_that_is_not_whole_is_denied(void **state)
{
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/ok/a", .cut = true};

	(void)state;
	assert_int_equal(answer_of(take(m)), 0);
	m.cut = false, m.path = "ok/a";
	assert_int_equal(answer_of(take(m)), 0);
	m.path = NULL;
	assert_int_equal(answer_of(take(m)), 0);
	m.kind = ES_RENAME, m.path = "/ok/a";
	assert_int_equal(answer_of(take(m)), 0);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void one_question_for_a_directory(void **state)
{
	uint64_t reads[3], writes;

	(void)state;
	reads[0] = open_at(AGENT, "/d/a", false);
	reads[1] = open_at(AGENT, "/d/b", false);
	reads[2] = open_at(AGENT, "/d/sub/c", false);
	assert_int_equal(w.asked, 2);
	assert_int_equal(es_client_answer(w.c, 1, true, 60 * SECOND), 0);
	assert_int_equal(answer_of(reads[0]), 1);
	assert_int_equal(answer_of(reads[1]), 1);
	assert_int_equal(answer_of(reads[2]), -1); /* beneath is another directory */
	assert_int_equal(es_client_answer(w.c, 1, true, SECOND), -ENOENT);
	/* Remembered, for reading only and for its time. */
	assert_int_equal(answer_of(open_at(AGENT, "/d/e", false)), 1);
	writes = open_at(AGENT, "/d/e", true);
	assert_int_equal(answer_of(writes), -1);
	assert_int_equal(w.asked, 3);
	w.now += 61 * SECOND;
	es_client_tick(w.c);
	w.late = 0; /* the clock has jumped over the deadlines */
	assert_int_equal(answer_of(open_at(AGENT, "/d/f", false)), -1);
	assert_int_equal(w.asked, 4);
}

static void a_question_outlives_who_waits(void **state)
{
	uint64_t h = open_at(AGENT, "/d/a", false);

	(void)state;
	assert_int_equal(es_client_next(w.c), w.now + 15 * SECOND - ES_MARGIN_US);
	w.now = es_client_next(w.c) - 1;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), -1);
	w.now++;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), 0);
	assert_int_equal(w.expired, 1);
	assert_int_equal(es_client_next(w.c), 0);
	h = open_at(AGENT, "/d/a", false); /* the same question */
	assert_int_equal(w.asked, 1);
	assert_int_equal(es_client_answer(w.c, w.question, true, 60 * SECOND), 0);
	assert_int_equal(answer_of(h), 1);
	es_client_forget(w.c); /* the rules have changed */
	open_at(AGENT, "/d/a", false);
	assert_int_equal(w.asked, 2);
}

static void short_deadlines_are_met(void **state)
{
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/d/a"};
	uint64_t h;

	(void)state;
	m.deadline_us = w.now + 1000;
	h = take(m);
	assert_int_equal(es_client_next(w.c), w.now + 500);
	w.now += 500;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), 0);
	m.deadline_us = w.now;
	assert_int_equal(answer_of(take(m)), 0);
}

static void nobody_to_ask_is_no(void **state)
{
	uint64_t h = open_at(AGENT, "/d/a", false);

	(void)state;
	es_client_failsafe(w.c, true);
	assert_int_equal(answer_of(h), 0);
	assert_int_equal(answer_of(open_at(AGENT, "/d/b", false)), 0);
	assert_int_equal(answer_of(open_at(AGENT, "/ok/b", false)), 1);
	es_client_failsafe(w.c, false);
	assert_int_equal(answer_of(open_at(AGENT, "/d/b", false)), -1);
	w.hooks.ask = NULL;
	assert_int_equal(answer_of(open_at(AGENT, "/e/b", false)), 0);
}

static void a_flood_is_bounded(void **state)
{
	char path[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/d%d/a", i);
		open_at(AGENT, path, false);
	}
	assert_true(w.asked <= 64);
	for (int i = 0; i < 1000; i++)
		open_at(AGENT, "/d0/a", false);
	assert_int_equal(es_client_waiting(w.c), ES_WAITING_MAX);
	/* Questions that nobody waits for make room. */
	w.now = es_client_next(w.c);
	es_client_tick(w.c);
	w.asked = 0;
	open_at(AGENT, "/new/a", false);
	assert_int_equal(w.asked, 1);
}

static void answers_are_forgotten_in_turn(void **state)
{
	struct verdicts *v = verdicts_new();
	char dir[32];

	(void)state;
	for (int i = 0; i < VERDICTS_MAX; i++) {
		snprintf(dir, sizeof(dir), "/%d", i);
		verdicts_add(v, dir, ES_READS, i % 2, 10);
	}
	assert_int_equal(verdicts_find(v, "/0", ES_READS, 1), 0); /* used: the last to go */
	verdicts_add(v, "/more", ES_READS, true, 10);
	assert_int_equal(verdicts_find(v, "/0", ES_READS, 1), 0);
	assert_int_equal(verdicts_find(v, "/1", ES_READS, 1), -ENOENT);
	assert_int_equal(verdicts_find(v, "/more", ES_RUNS, 1), -ENOENT);
	assert_int_equal(verdicts_find(v, "/more", ES_READS, 9), 1);
	assert_int_equal(verdicts_find(v, "/more", ES_READS, 10), -ENOENT);
	verdicts_free(v);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void dropped_messages_are_told_of(void **state)
{
	(void)state;
	open_at(AGENT, "/ok/a", false);
	w.seq += 5;
	open_at(AGENT, "/ok/a", false);
	assert_int_equal(w.lost, 5);
}

static void connections_to_services_are_told_of(void **state)
{
	struct es_message m = {
		.kind = ES_XPC_CONNECT, .process = AGENT, .service = "com.apple.pasteboard.1"};

	(void)state;
	take(m);
	m.process = OUTSIDER;
	take(m);
	assert_int_equal(w.xpc, 1);
}

static void what_is_missing_is_said(void **state)
{
	(void)state;
	for (enum es_lack lack = ES_LACKS_ENTITLEMENT; lack <= ES_LACKS_SYSTEM; lack++) {
		struct err err = {0};

		assert_true(es_lack_say(lack, &err) < 0);
		assert_null(strchr(err.text, '\n'));
		assert_true(strlen(err.text) > 30);
	}
	assert_int_equal(es_lack_say(ES_LACKS_NOTHING, NULL), 0);
}

/* Any order of messages, answers and time: each is answered once, before its deadline, and nothing
 * that a rule denies is ever allowed. */
static void random_sequences(void **state)
{
	static const char *const paths[] = {"/ok/a", "/no/a", "/d/a", "/d/b", "/e/a"};
	static bool forbidden[HANDLES];
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		unsigned r = (unsigned)rand_r(&seed);
		struct es_message m = {.kind = (enum es_kind)(r / 16 % ES_FORK),
				       .process = AGENT,
				       .target = r & 1 ? AGENT : OUTSIDER,
				       .path = paths[r / 256 % 5],
				       .path2 = paths[r / 2048 % 5],
				       .writes = r & 2,
				       .deadline_us = w.now + 1 + r % (20 * SECOND)};
		uint64_t h = take(m);
		bool about = m.kind == ES_SIGNAL || m.kind == ES_GET_TASK;

		forbidden[h] =
			about ? !(r & 1)
			      : m.path == paths[1] || (m.kind == ES_RENAME && m.path2 == paths[1]);
		if (r / 64 % 4 == 0)
			es_client_answer(w.c, 1 + r % (w.question + 1), r & 4, r % SECOND);
		if (es_client_next(w.c) && es_client_next(w.c) < w.now + SECOND)
			w.now = MAX(w.now, es_client_next(w.c));
		es_client_tick(w.c);
		w.now += r % 100;
		if (es_client_next(w.c) && es_client_next(w.c) <= w.now)
			es_client_tick(w.c);
	}
	es_client_failsafe(w.c, true);
	for (uint64_t h = 1; h <= w.handle; h++)
		assert_true(!forbidden[h] || w.answers[h] == 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(outsiders_are_left_alone),
		T(children_are_inside),
		T(a_process_stays_inside_through_exec),
		T(a_number_that_is_used_again_is_outside),
		T(versions_wrap),
		T(signals_and_debuggers_stay_inside),
		T(what_changes_is_kept_first),
		T(both_names_of_a_rename_count),
		T(a_path_that_is_not_whole_is_denied),
		T(one_question_for_a_directory),
		T(a_question_outlives_who_waits),
		T(short_deadlines_are_met),
		T(nobody_to_ask_is_no),
		T(a_flood_is_bounded),
		T(answers_are_forgotten_in_turn),
		T(dropped_messages_are_told_of),
		T(connections_to_services_are_told_of),
		T(what_is_missing_is_said),
		T(random_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
