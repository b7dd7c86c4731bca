/* test_endpoint - simulated messages of Endpoint Security: members, deadlines, held calls. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "backends/macos/endpoint/cohort.h"
#include "backends/macos/endpoint/es_client.h"
#include "tests/support/check.h"

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
	size_t asked, kept, denied, xpc;
	uint64_t lost;
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

/* Allows /ok, denies /no, and asks about all other paths. */
static enum es_verdict on_judge(void *data, const struct es_message *m, const char *path,
				enum es_access access)
{
	(void)data, (void)access;
	if (strncmp(path, "/no/", 4) == 0)
		return ES_DENY;
	if (m->granted || strncmp(path, "/ok/", 4) == 0)
		return ES_ALLOW;
	w.asked++;
	return ES_HELD;
}

static enum es_verdict on_keep(void *data, const struct es_message *m)
{
	(void)data, (void)m;
	w.kept++;
	return w.keep_result < 0 ? ES_DENY : ES_ALLOW;
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
		assert_true(w.answers[h] >= 0); /* each call got one answer, in time */
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

TEST(outsiders_are_left_alone)
{
	assert_int_equal(answer_of(open_at(OUTSIDER, "/no/x", true)), 1);
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_SIGNAL, .process = OUTSIDER, .target = AGENT})),
			 1);
	assert_int_equal(w.denied, 0);
	assert_int_equal(w.kept, 0);
}

TEST(children_are_inside)
{
	const struct es_id grandchild = {.pid = 102, .version = 11};

	take((struct es_message){.kind = ES_FORK, .process = AGENT, .target = CHILD});
	assert_int_equal(answer_of(open_at(CHILD, "/no/x", false)), 0);
	/* The message of a fork was dropped: the parent shows it. */
	assert_int_equal(
		answer_of(take((struct es_message){
			.kind = ES_OPEN, .process = grandchild, .parent = CHILD, .path = "/no/x"})),
		0);
	assert_int_equal(answer_of(open_at(grandchild, "/no/x", false)), 0);
}

TEST(a_process_stays_inside_through_exec)
{
	/* Two threads exec at the same time: either version may come first. */
	assert_int_equal(answer_of(take((struct es_message){
				 .kind = ES_EXEC, .process = AGENT, .path = "/ok/sh"})),
			 1);
	for (uint32_t version = 8; version < 12; version++)
		assert_int_equal(
			answer_of(open_at((struct es_id){.pid = AGENT.pid, .version = version},
					  "/no/x", 0)),
			0);
	/* An earlier one was of another process. */
	assert_int_equal(
		answer_of(open_at((struct es_id){.pid = AGENT.pid, .version = 6}, "/no/x", 0)), 1);
}

TEST(a_number_that_is_used_again_is_outside)
{
	take((struct es_message){.kind = ES_FORK, .process = AGENT, .target = CHILD});
	take((struct es_message){.kind = ES_EXIT, .process = CHILD});
	assert_int_equal(
		answer_of(open_at((struct es_id){.pid = CHILD.pid, .version = 90}, "/no/x", false)),
		1);
}

TEST(versions_wrap)
{
	struct cohort *c = cohort_new();

	cohort_add(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 1});
	assert_true(cohort_has(c, (struct es_id){.pid = 1, .version = UINT32_MAX}));
	assert_true(cohort_has(c, (struct es_id){.pid = 1, .version = 3}));
	assert_false(cohort_has(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 2}));
	cohort_remove(c, (struct es_id){.pid = 1, .version = UINT32_MAX - 2});
	assert_int_equal(cohort_size(c), 1);
	cohort_free(c);
}

TEST(signals_and_debuggers_stay_inside)
{
	const enum es_kind kinds[] = {ES_SIGNAL, ES_GET_TASK};

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

TEST(what_changes_is_kept_first)
{
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

TEST(both_names_of_a_rename_count)
{
	struct es_message m = {
		.kind = ES_RENAME, .process = AGENT, .path = "/ok/a", .path2 = "/no/b"};
	uint64_t h;

	assert_int_equal(answer_of(take(m)), 0);
	m.path = "/no/a", m.path2 = "/ok/b";
	assert_int_equal(answer_of(take(m)), 0);
	m.path = "/x/a", m.path2 = "/y/b";
	h = take(m);
	assert_int_equal(w.asked, 1);
	es_client_resume(w.c, h, ES_RESUME_GRANTED);
	assert_int_equal(answer_of(h), 1);
	assert_int_equal(w.kept, 1);
	m.path = "/ok/a";
	h = take(m);
	assert_int_equal(w.asked, 2); /* about the other name */
	es_client_resume(w.c, h, ES_RESUME_DENY);
	assert_int_equal(answer_of(h), 0);
	assert_int_equal(w.kept, 1);
}

TEST(a_path_that_is_not_whole_is_denied)
{
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/ok/a", .cut = true};

	assert_int_equal(answer_of(take(m)), 0);
	m.cut = false, m.path = "ok/a";
	assert_int_equal(answer_of(take(m)), 0);
	m.path = NULL;
	assert_int_equal(answer_of(take(m)), 0);
	m.kind = ES_RENAME, m.path = "/ok/a";
	assert_int_equal(answer_of(take(m)), 0);
}

/* ---- held calls ------------------------------------------------------------------------------ */

TEST(each_held_call_goes_on_by_its_answer)
{
	uint64_t h[3];

	for (size_t i = 0; i < 3; i++)
		h[i] = open_at(AGENT, "/d/a", true);
	es_client_resume(w.c, h[2], ES_RESUME_DENY);
	es_client_resume(w.c, h[0], ES_RESUME_GRANTED);
	es_client_resume(w.c, h[1], ES_RESUME_AGAIN);
	assert_int_equal(answer_of(h[0]), 1);
	assert_int_equal(w.kept, 1);
	assert_int_equal(answer_of(h[1]), -1); /* nothing has changed, so it waits again */
	assert_int_equal(answer_of(h[2]), 0);
	assert_int_equal(w.asked, 4);
	es_client_resume(w.c, HANDLES - 1, ES_RESUME_GRANTED); /* no such call */
	assert_int_equal(answer_of(open_at(AGENT, "/d/a", true)), -1);
}

static uint64_t denied_at_its_deadline(void)
{
	uint64_t h = open_at(AGENT, "/d/a", false);

	assert_int_equal(es_client_next(w.c), w.now + 15 * SECOND - ES_MARGIN_US);
	w.now = es_client_next(w.c) - 1;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), -1);
	w.now++;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), 0);
	assert_int_equal(es_client_next(w.c), 0);
	return h;
}

TEST(a_late_answer_counts_for_the_next_try)
{
	uint64_t h = denied_at_its_deadline();

	es_client_resume(w.c, h, ES_RESUME_GRANTED);
	assert_int_equal(answer_of(open_at(CHILD, "/d/a", false)), 1); /* from a process outside */
	h = open_at(AGENT, "/d/b", false);
	assert_int_equal(answer_of(h), -1); /* another call */
	es_client_resume(w.c, h, ES_RESUME_DENY);
	assert_int_equal(answer_of(open_at(AGENT, "/d/a", false)), 1);
	h = denied_at_its_deadline(); /* it counts once */
	es_client_resume(w.c, h, ES_RESUME_GRANTED);
	w.now += ES_LATE_US + 1;
	h = denied_at_its_deadline(); /* it is too old */
	es_client_resume(w.c, h, ES_RESUME_GRANTED);
	es_client_forget(w.c); /* as after a change of the rules */
	assert_int_equal(answer_of(open_at(AGENT, "/d/a", false)), -1);
}

TEST(short_deadlines_are_met)
{
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/d/a"};
	uint64_t h;

	m.deadline_us = w.now + 1000;
	h = take(m);
	assert_int_equal(es_client_next(w.c), w.now + 500);
	w.now += 500;
	es_client_tick(w.c);
	assert_int_equal(answer_of(h), 0);
	m.deadline_us = w.now;
	assert_int_equal(answer_of(take(m)), 0);
}

TEST(a_session_that_stops_denies)
{
	uint64_t h = open_at(AGENT, "/d/a", false);

	es_client_drop(w.c);
	assert_int_equal(answer_of(h), 0);
	assert_int_equal(es_client_next(w.c), 0);
	assert_int_equal(answer_of(open_at(AGENT, "/ok/b", false)), 1);
}

static size_t count_waiting(void)
{
	size_t n = 0;

	for (uint64_t h = 1; h <= w.handle; h++)
		n += w.answers[h] < 0;
	return n;
}

TEST(a_flood_is_bounded)
{
	for (int i = 0; i < 2000; i++)
		open_at(AGENT, "/d/a", false);
	assert_int_equal(count_waiting(), ES_WAITING_MAX);
	w.now = es_client_next(w.c);
	es_client_tick(w.c);
	assert_int_equal(count_waiting(), 0);
	assert_int_equal(answer_of(open_at(AGENT, "/d/a", false)), -1);
}

/* ---- the rest -------------------------------------------------------------------------------- */

TEST(dropped_messages_are_told_of)
{
	open_at(AGENT, "/ok/a", false);
	w.seq += 5;
	open_at(AGENT, "/ok/a", false);
	assert_int_equal(w.lost, 5);
}

TEST(connections_to_services_are_told_of)
{
	struct es_message m = {
		.kind = ES_XPC_CONNECT, .process = AGENT, .service = "com.apple.pasteboard.1"};

	take(m);
	m.process = OUTSIDER;
	take(m);
	assert_int_equal(w.xpc, 1);
}

TEST(what_is_missing_is_said)
{
	for (enum es_lack lack = ES_LACKS_ENTITLEMENT; lack <= ES_LACKS_SYSTEM; lack++) {
		struct err err = {0};

		assert_true(es_lack_say(lack, &err) < 0);
		assert_null(strchr(err.text, '\n'));
		assert_true(strlen(err.text) > 30);
	}
	assert_int_equal(es_lack_say(ES_LACKS_NOTHING, NULL), 0);
}

/* Random messages, answers and times: each call is answered once, before its deadline, and a call
 * that a rule denies is never allowed. */
TEST(random_sequences)
{
	static const char *const paths[] = {"/ok/a", "/no/a", "/d/a", "/d/b", "/e/a"};
	static bool forbidden[HANDLES];
	unsigned seed = 1;

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
			es_client_resume(w.c, 1 + r % w.handle, (enum es_resume)(r / 4096 % 3));
		if (es_client_next(w.c) && es_client_next(w.c) < w.now + SECOND)
			w.now = MAX(w.now, es_client_next(w.c));
		es_client_tick(w.c);
		w.now += r % 100;
		if (es_client_next(w.c) && es_client_next(w.c) <= w.now)
			es_client_tick(w.c);
	}
	es_client_drop(w.c);
	for (uint64_t h = 1; h <= w.handle; h++)
		assert_true(!forbidden[h] || w.answers[h] == 0);
}

TESTS(setup, teardown)
