/* test_es_queue - messages between threads: each is answered once, in time, with any thread
 * stuck. */
/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "backends/macos/endpoint/es_client.h"
#include "backends/macos/endpoint/es_queue.h"
#include "backends/macos/endpoint/late.h"
#include "core/base/util.h"
#include "tests/support/check.h"

#define SECOND	 INT64_C(1000000)
#define AGENT	 ((struct es_id){.pid = 100, .version = 7})
#define OUTSIDER ((struct es_id){.pid = 50, .version = 3})
#define HANDLES	 20000

static struct world {
	_Atomic int64_t now;
	struct es_out out;
	struct es_queue *q;
	_Atomic int answers[HANDLES]; /* by handle; 0: none, 1: no, 2: yes; 3 and more: several */
} w;

static void respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	(void)data, (void)kind;
	assert_in_range(handle, 1, HANDLES - 1);
	w.answers[handle] += allow ? 2 : 1;
}

static int64_t now(void *data)
{
	(void)data;
	return w.now;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.now = SECOND;
	w.out = (struct es_out){.respond = respond, .now = now};
	w.q = es_queue_new(&w.out);
	es_queue_add(w.q, AGENT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	es_queue_free(w.q);
	for (size_t i = 0; i < HANDLES; i++)
		assert_in_range(w.answers[i], 0, 2);
	return 0;
}

static void put(struct es_id who, uint64_t handle, uint64_t seq)
{
	es_queue_put(w.q, &(struct es_message){.kind = ES_OPEN,
					       .handle = handle,
					       .seq = seq,
					       .process = who,
					       .deadline_us = w.now + 10 * SECOND,
					       .path = "/x"});
}

static bool is_readable(void)
{
	struct pollfd p = {.fd = es_queue_fd(w.q), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static void answer(uint64_t handle, bool allow)
{
	const struct es_seam *seam = es_queue_seam(w.q);

	seam->answer(seam->data, handle, ES_OPEN, allow);
}

/* The keeper waits for the helper, which may become the agent without it; later calls go to the
 * keeper. */
TEST(the_start_needs_no_keeper)
{
	const struct es_id child = {.pid = 101, .version = 1};
	struct es_message m = {
		.kind = ES_EXEC, .process = AGENT, .deadline_us = w.now + 10 * SECOND, .seq = 3};

	es_queue_let_start(w.q, AGENT);
	put(AGENT, 1, 1);
	assert_int_equal(w.answers[1], 2);
	es_queue_put(w.q, &(struct es_message){.kind = ES_FORK, .process = AGENT, .target = child});
	put(child, 2, 2); /* none was put */
	assert_int_equal(w.answers[2], 0);
	m.handle = 3;
	es_queue_put(w.q, &m);
	assert_int_equal(w.answers[3], 2);
	m.handle = 4;
	m.seq = 4;
	es_queue_put(w.q, &m);
	put(AGENT, 5, 5);
	assert_int_equal(w.answers[4] + w.answers[5], 0);
	es_queue_shut(w.q);
	assert_int_equal(w.answers[4], 1);
}

/* Programs outside do not wait for the keeper. */
TEST(outsiders_are_answered_at_once)
{
	struct es_message m;

	put(OUTSIDER, 1, 1);
	assert_int_equal(w.answers[1], 2);
	assert_false(is_readable());
	assert_false(es_queue_take(w.q, &m));
	/* The child of a process inside is inside. */
	es_queue_put(w.q, &(struct es_message){.kind = ES_FORK,
					       .process = AGENT,
					       .target = {.pid = 101, .version = 1}});
	put((struct es_id){.pid = 101, .version = 1}, 2, 2);
	assert_int_equal(w.answers[2], 0);
	assert_true(is_readable());
	assert_true(es_queue_take(w.q, &m));
	assert_int_equal(m.kind, ES_FORK);
	assert_true(es_queue_take(w.q, &m));
	assert_string_equal(m.path, "/x");
	answer(m.handle, true);
	assert_int_equal(w.answers[2], 2);
	assert_false(is_readable());
}

TEST(a_keeper_that_is_stuck_costs_no_deadline)
{
	struct es_message m;

	put(AGENT, 1, 1);
	es_queue_backstop(w.q);
	assert_int_equal(w.answers[1], 0);
	w.now += 10 * SECOND - ES_MARGIN_US; /* the client's own margin comes first */
	es_queue_backstop(w.q);
	assert_int_equal(w.answers[1], 0);
	w.now += ES_MARGIN_US - ES_BACKSTOP_US;
	es_queue_backstop(w.q);
	assert_int_equal(w.answers[1], 1);
	assert_true(es_queue_take(w.q, &m));
	answer(m.handle, true); /* too late, so it has no effect */
	assert_int_equal(w.answers[1], 1);
}

/* With no time for an answer the kernel would end the client, and so the sandbox. */
TEST(short_deadlines_are_denied_at_once)
{
	const int64_t left[] = {-SECOND, 0, 1, ES_HASTE_US - 1, ES_HASTE_US};
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/x"};

	w.now = 20 * SECOND;
	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		m.handle = i + 1;
		m.deadline_us = w.now + left[i];
		es_queue_put(w.q, &m);
		assert_int_equal(w.answers[m.handle], left[i] < ES_HASTE_US ? 1 : 0);
	}
}

/* Deadlines of any length, at any phase of the timer that watches them (a little over 50 ms). */
TEST(no_deadline_is_missed)
{
	struct es_message m = {.kind = ES_OPEN, .process = AGENT, .path = "/x"};
	uint64_t handle = 0;

	for (int64_t left = ES_HASTE_US; left < SECOND; left += 23000)
		for (int64_t phase = 0; phase < 55000; phase += 5000) {
			int64_t end = 20 * SECOND + left;

			w.now = 20 * SECOND;
			m.handle = ++handle;
			m.deadline_us = end;
			es_queue_put(w.q, &m);
			for (w.now += phase; w.now < end; w.now += 55000)
				es_queue_backstop(w.q);
			if (!w.answers[handle])
				fail_msg("left %d, phase %d", (int)left, (int)phase);
		}
}

TEST(a_full_queue_denies)
{
	struct es_message m;
	uint64_t last = 0;

	for (uint64_t h = 1; h <= ES_QUEUE_MAX + 10; h++)
		put(AGENT, h, h);
	assert_int_equal(w.answers[ES_QUEUE_MAX], 0);
	assert_int_equal(w.answers[ES_QUEUE_MAX + 1], 1);
	while (es_queue_take(w.q, &m)) {
		assert_int_equal(m.seq, last + 1); /* without a gap, which would look like a loss */
		last = m.seq;
		answer(m.handle, true);
	}
	assert_int_equal(w.answers[1], 2);
}

/* Messages that the kernel dropped are reported; filtered ones are not. */
TEST(gaps_are_the_kernels)
{
	struct es_message m;

	put(AGENT, 1, 10);
	put(OUTSIDER, 2, 11);
	put(AGENT, 3, 12);
	put(AGENT, 4, 15);
	assert_true(es_queue_take(w.q, &m));
	assert_int_equal(m.seq, 1);
	assert_true(es_queue_take(w.q, &m));
	assert_int_equal(m.seq, 2);
	assert_true(es_queue_take(w.q, &m));
	assert_int_equal(m.seq, 5);
}

/* A million bytes for each of thousands of commands would use up the keeper's memory. */
TEST(long_commands_are_cut)
{
	struct es_message m = {.kind = ES_EXEC, .process = AGENT, .path = "/bin/x"}, got;
	AUTO_FREE char *argv = xcalloc(1, 1u << 20);

	memset(argv, 'x', (1u << 20) - 1);
	m.argv = argv;
	m.deadline_us = w.now + 10 * SECOND;
	for (size_t len = ES_ARGV_MAX - 1; len < ES_ARGV_MAX * 3; len++) {
		m.handle++;
		m.argv_len = len;
		es_queue_put(w.q, &m);
		assert_true(es_queue_take(w.q, &got));
		assert_int_equal(got.argv_len, MIN(len, (size_t)ES_ARGV_MAX));
		if (len > ES_ARGV_MAX)
			assert_memory_equal(got.argv + got.argv_len - 5, "x\0...", 5);
		else
			assert_int_equal(got.argv[got.argv_len - 1], 'x');
		len += len > ES_ARGV_MAX + 1 ? ES_ARGV_MAX / 2 : 0;
		answer(got.handle, true);
	}
}

TEST(shut_is_no)
{
	put(AGENT, 1, 1);
	es_queue_shut(w.q);
	assert_int_equal(w.answers[1], 1);
	put(AGENT, 2, 2);
	put(OUTSIDER, 3, 3);
	assert_int_equal(w.answers[2], 1);
	assert_int_equal(w.answers[3], 2);
}

/* Three threads put messages, one denies late ones, one answers: each handle gets one answer. */
#define EACH 3000
static atomic_bool over;

static void *putter(void *data)
{
	uint64_t first = (uint64_t)(uintptr_t)data;

	for (uint64_t h = first; h < first + EACH; h++) {
		put(h % 7 ? AGENT : OUTSIDER, h, 0);
		w.now += 1000;
	}
	return NULL;
}

static void *backstop(void *data)
{
	(void)data;
	while (!over)
		es_queue_backstop(w.q);
	return NULL;
}

TEST(threads)
{
	pthread_t t[4];
	size_t taken = 0;

	over = false;
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, putter, (void *)(1 + i * EACH)), 0);
	assert_int_equal(pthread_create(&t[3], NULL, backstop, NULL), 0);
	for (size_t all = 0; all < 3 * EACH;) {
		struct es_message m;

		while (es_queue_take(w.q, &m))
			answer(m.handle, taken++ % 2);
		all = 0;
		for (uint64_t h = 1; h <= 3 * EACH; h++)
			all += w.answers[h] > 0;
	}
	over = true;
	for (size_t i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (uint64_t h = 1; h <= 3 * EACH; h++)
		assert_in_range(w.answers[h], h % 7 ? 1 : 2, 2);
}

/* The end comes between messages: afterwards no process inside is allowed a call, and all are
 * answered. */
TEST(the_end_comes_in_the_middle)
{
	pthread_t t[4];
	uint64_t allowed = 0;

	over = false;
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, putter, (void *)(1 + i * EACH)), 0);
	assert_int_equal(pthread_create(&t[3], NULL, backstop, NULL), 0);
	for (struct es_message m; allowed < 50;)
		if (es_queue_take(w.q, &m)) {
			answer(m.handle, true);
			allowed++;
		}
	es_queue_shut(w.q);
	for (struct es_message m; es_queue_take(w.q, &m);)
		answer(m.handle, true); /* too late for all of them */
	for (size_t i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	over = true;
	pthread_join(t[3], NULL);
	for (uint64_t h = 1; h <= 3 * EACH; h++) {
		assert_in_range(w.answers[h], h % 7 ? 1 : 2, 2);
		allowed -= h % 7 && w.answers[h] == 2;
	}
	assert_int_equal(allowed, 0); /* only answers from before the end */
}

/* The system reuses a message's number as soon as the message has its answer. */
TEST(an_answer_is_for_the_message_that_was_judged)
{
	struct es_message first, second;

	put(AGENT, 1, 1);
	assert_true(es_queue_take(w.q, &first));
	w.now += 10 * SECOND;
	es_queue_backstop(w.q);
	assert_int_equal(w.answers[1], 1);
	w.answers[1] = 0;
	put(AGENT, 1, 2);
	answer(first.handle, true);
	assert_int_equal(w.answers[1], 0);
	assert_true(es_queue_take(w.q, &second));
	answer(second.handle, false);
	assert_int_equal(w.answers[1], 1);
}

static enum es_verdict judge_no(void *data, const struct es_message *m, const char *path,
				enum es_access access)
{
	(void)data, (void)m, (void)path, (void)access;
	return ES_DENY;
}

static void serve(struct es_client *c)
{
	struct es_message m;

	while (es_queue_take(w.q, &m))
		es_client_take(c, &m);
}

/* The keeper gets no message of the fork; the child's parent ends, so launchd becomes its
 * parent. */
TEST(a_child_of_a_full_queue_is_inside)
{
	const struct es_id child = {.pid = 101, .version = 1}, gone = {.pid = 102, .version = 2},
			   again = {.pid = 102, .version = 90}, launchd = {.pid = 1, .version = 1};
	const struct es_hooks hooks = {.judge = judge_no};
	struct es_client *c = es_client_new(es_queue_seam(w.q), &hooks, true);
	uint64_t h = 0;

	es_client_add(c, AGENT);
	es_queue_put(w.q, &(struct es_message){.kind = ES_FORK, .process = AGENT, .target = gone});
	serve(c);
	while (h < ES_QUEUE_MAX)
		put(AGENT, ++h, 0);
	es_queue_put(w.q, &(struct es_message){.kind = ES_FORK, .process = AGENT, .target = child});
	es_queue_put(w.q, &(struct es_message){.kind = ES_EXIT, .process = gone});
	serve(c);
	es_queue_put(w.q, &(struct es_message){.kind = ES_OPEN,
					       .handle = ++h,
					       .process = child,
					       .parent = launchd,
					       .deadline_us = w.now + 10 * SECOND,
					       .path = "/x"});
	serve(c);
	assert_int_equal(w.answers[h], 1);
	/* Nor of the exit: another program has the number. */
	es_queue_put(w.q, &(struct es_message){.kind = ES_SIGNAL,
					       .handle = ++h,
					       .process = AGENT,
					       .target = again,
					       .deadline_us = w.now + 10 * SECOND});
	serve(c);
	assert_int_equal(w.answers[h], 1);
	es_queue_put(w.q, &(struct es_message){.kind = ES_SIGNAL,
					       .handle = ++h,
					       .process = AGENT,
					       .target = child,
					       .deadline_us = w.now + 10 * SECOND});
	serve(c);
	assert_int_equal(w.answers[h], 2);
	es_client_free(c);
}

/* ---- late answers ---------------------------------------------------------------------------- */

TEST_WITH(a_late_answer_is_good_once, NULL, NULL)
{
	struct late l = {0};
	struct es_message m = {.kind = ES_OPEN, .handle = 5, .process = AGENT, .path = "/x"};

	m.process.started_us = 5 * SECOND;
	late_add(&l, &m);
	assert_false(late_take(&l, &m, 10)); /* not answered yet */
	late_answer(&l, 5, true, 100);
	m.kind = ES_UNLINK;
	assert_false(late_take(&l, &m, 10));
	m.kind = ES_OPEN, m.process = OUTSIDER;
	assert_false(late_take(&l, &m, 10));
	m.process = AGENT, m.process.started_us = 100 * SECOND; /* another process */
	assert_false(late_take(&l, &m, 10));
	m.process = AGENT, m.path = "/y";
	assert_false(late_take(&l, &m, 10));
	m.path = "/x";
	assert_true(late_take(&l, &m, 10));
	assert_false(late_take(&l, &m, 10));
	late_add(&l, &m);
	late_answer(&l, 5, true, 100);
	assert_false(late_take(&l, &m, 101)); /* too long ago */
	late_add(&l, &m);
	late_answer(&l, 5, false, 100);
	assert_false(late_take(&l, &m, 10));
	for (uint64_t h = 1; h < 3 * LATE_MAX; h++) {
		m.handle = h;
		late_add(&l, &m);
		assert_in_range(l.n, 1, LATE_MAX);
	}
	late_clear(&l);
	assert_int_equal(l.n, 0);
}

TESTS(setup, teardown)
