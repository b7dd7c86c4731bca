/* test_es_cohort - membership when messages are dropped, late or out of order; and the end. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>

#include "backends/macos/endpoint/cohort.h"
#include "backends/macos/endpoint/es_events.h"
#include "backends/macos/endpoint/es_queue.h"
#include "backends/macos/launch/ending.h"
#include "core/base/util.h"
#include "tests/support/check.h"

#define SECOND INT64_C(1000000)
#define AGENT  ((struct es_id){.pid = 100, .version = 7, .started_us = 1000 * SECOND})
#define PIDS   2048

/* ---- a system: what runs, and what is told of it --------------------------------------------- */

struct process {
	int32_t parent; /* 0: not running */
	int64_t started;
	uint32_t version;
	bool marked, inside; /* inside: the truth */
	bool unlisted;	     /* never found in the process table */
};

static struct world {
	int64_t now;
	struct process process[PIDS];
	struct es_out out;
	struct es_table table;
	struct es_queue *q;
	uint64_t seq, handle;
	int answer; /* the last one; -1: none */
	size_t walks, looks, kills, strangers;
} w;

static struct es_id id_of(int32_t pid)
{
	const struct process *p = &w.process[pid];

	return (struct es_id){.pid = pid, .version = p->version, .started_us = p->started};
}

static void respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	(void)data, (void)kind;
	assert_int_equal(handle, w.handle);
	w.answer = allow;
}

static int64_t now(void *data)
{
	(void)data;
	return w.now;
}

static size_t list(void *data, int32_t *out, size_t max)
{
	size_t n = 0;

	(void)data;
	w.walks++;
	for (int32_t pid = 1; pid < PIDS && n < max; pid++)
		if (w.process[pid].parent && !w.process[pid].unlisted)
			out[n++] = pid;
	return n;
}

static bool look(void *data, int32_t pid, struct es_kin *ret)
{
	(void)data;
	w.looks++;
	if (pid < 0 || pid >= PIDS || !w.process[pid].parent)
		return false;
	*ret = (struct es_kin){.id = id_of(pid), .parent = w.process[pid].parent};
	return true;
}

static bool is_marked(void *data, int32_t pid)
{
	(void)data;
	return w.process[pid].marked;
}

static void exit_of(int32_t pid)
{
	w.process[pid] = (struct process){0};
	for (size_t i = 0; i < PIDS; i++)
		if (w.process[i].parent == pid)
			w.process[i].parent = 1;
}

static bool end(void *data, struct es_id id)
{
	const struct process *p = &w.process[id.pid];

	(void)data;
	if (!p->parent || !es_same_start(id, id_of(id.pid)))
		return false;
	w.kills++;
	w.strangers += !p->inside;
	exit_of(id.pid);
	return true;
}

static void begin_agent(void)
{
	w.process[100] = (struct process){.parent = 50,
					  .started = 1000 * SECOND,
					  .version = 7,
					  .marked = true,
					  .inside = true};
	es_queue_add(w.q, AGENT);
}

static int setup(void **state)
{
	(void)state;
	w = (struct world){.now = SECOND, .answer = -1};
	w.table = (struct es_table){.list = list, .look = look, .is_marked = is_marked};
	w.out = (struct es_out){.respond = respond, .now = now, .end = end, .table = &w.table};
	w.q = es_queue_new(&w.out);
	w.process[1] = (struct process){.parent = 1, .started = SECOND, .version = 1};
	w.process[50] = (struct process){.parent = 1, .started = 500 * SECOND, .version = 3};
	begin_agent();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	es_queue_free(w.q);
	return 0;
}

/* The process is created without a message. */
static void fork_silently(int32_t parent, int32_t child)
{
	static int64_t start = 2000 * SECOND;
	static uint32_t version = 100;

	w.process[child] = w.process[parent];
	w.process[child].parent = parent;
	w.process[child].started = start += 2 * SECOND;
	w.process[child].version = version++;
}

static void tell_fork(struct es_id parent, struct es_id child)
{
	es_queue_put(w.q,
		     &(struct es_message){
			     .kind = ES_FORK, .seq = ++w.seq, .process = parent, .target = child});
}

static void fork_of(int32_t parent, int32_t child)
{
	fork_silently(parent, child);
	tell_fork(id_of(parent), id_of(child));
}

static void tell_exit(struct es_id who)
{
	es_queue_put(w.q, &(struct es_message){.kind = ES_EXIT, .seq = ++w.seq, .process = who});
}

static void take_all(void)
{
	const struct es_seam *seam = es_queue_seam(w.q);
	struct es_message m;

	while (es_queue_take(w.q, &m))
		if (es_kind_asks(m.kind))
			seam->answer(seam->data, m.handle, m.kind, false);
}

/* Opens a file as this process. Returns whether it counts as inside: then the test denies it. */
static bool is_gated_as(struct es_id who)
{
	struct es_message m = {.kind = ES_OPEN,
			       .handle = ++w.handle,
			       .seq = ++w.seq,
			       .process = who,
			       .parent = id_of(w.process[who.pid].parent),
			       .deadline_us = w.now + 10 * SECOND};

	w.answer = -1;
	m.parent.started_us = 0; /* a token has no start time */
	if (!es_queue_skips(w.q, &m)) {
		assert_int_equal(w.answer, -1);
		m.path = "/x";
		es_queue_put(w.q, &m);
		take_all();
	}
	assert_true(w.answer >= 0);
	return !w.answer;
}

static bool is_gated(int32_t pid)
{
	return is_gated_as(id_of(pid));
}

/* ---- out of order, and numbers that are used again ------------------------------------------- */

TEST(what_a_child_does_comes_before_its_fork)
{
	fork_silently(100, 101);
	assert_true(is_gated(101));
	tell_fork(id_of(100), id_of(101));
	assert_true(is_gated(101));
	assert_false(is_gated(50));
}

/* It never becomes a member, nor does the next process of its number. */
TEST(an_end_comes_before_the_fork)
{
	struct es_id child;

	fork_silently(100, 101);
	child = id_of(101);
	exit_of(101);
	tell_exit(child);
	tell_fork(id_of(100), child);
	fork_silently(50, 101);
	assert_false(is_gated(101));
	assert_int_equal(es_queue_shut(w.q), 1); /* the agent */
	assert_int_equal(w.strangers, 0);
	assert_true(w.process[101].parent);
}

TEST(a_number_of_a_member_is_used_again)
{
	fork_of(100, 101);
	exit_of(101); /* not told */
	fork_silently(50, 101);
	assert_false(is_gated(101));
	/* And in the opposite order. */
	exit_of(101);
	fork_of(100, 101);
	assert_true(is_gated(101));
	/* An exec of another program keeps the process the same. */
	w.process[101].version += 3;
	assert_true(is_gated(101));
}

/* Versions wrap around, or messages of threads change places: the start time identifies the
 * process. */
TEST_WITH(a_start_says_more_than_a_version, NULL, NULL)
{
	struct cohort *c = cohort_new();
	const struct es_id id = {.pid = 5, .version = 10, .started_us = 7 * SECOND};

	cohort_add(c, (struct es_id){.pid = 5, .version = 10});
	assert_true(cohort_has(c, id));
	cohort_add(c, id);
	assert_true(
		cohort_has(c, (struct es_id){.pid = 5, .version = 2, .started_us = 7 * SECOND}));
	assert_false(
		cohort_has(c, (struct es_id){.pid = 5, .version = 11, .started_us = 9 * SECOND}));
	assert_true(cohort_has(c, (struct es_id){.pid = 5, .version = 11}));
	assert_false(cohort_has(c, (struct es_id){.pid = 5, .version = 9}));
	assert_true(cohort_has(c, (struct es_id){.pid = 5})); /* in doubt */
	/* A start time that was rounded. */
	assert_true(cohort_has(c, (struct es_id){.pid = 5, .started_us = 7 * SECOND + 999999}));
	assert_true(cohort_has(c, (struct es_id){.pid = 5, .started_us = 7 * SECOND - 999999}));
	cohort_add(c, (struct es_id){.pid = 5, .version = 12, .started_us = 9 * SECOND});
	assert_false(cohort_has(c, id));
	assert_int_equal(cohort_size(c), 1);
	cohort_free(c);
}

/* ---- dropped --------------------------------------------------------------------------------- */

static uint32_t found_by_next(void)
{
	struct es_message m;

	es_queue_put(w.q,
		     &(struct es_message){
			     .kind = ES_CREATED, .seq = ++w.seq, .process = AGENT, .path = "/x"});
	assert_true(es_queue_take(w.q, &m));
	return m.found;
}

TEST(a_dropped_fork_is_found_in_the_table)
{
	assert_true(is_gated(100));
	fork_silently(100, 101);
	fork_silently(101, 102);
	fork_silently(102, 103);
	fork_silently(50, 104);
	w.seq += 3;
	assert_false(is_gated(50)); /* its message shows the gap */
	assert_int_equal(w.walks, 1);
	exit_of(101);
	exit_of(102);
	assert_true(is_gated(103)); /* launchd is its parent by then */
	assert_false(is_gated(104));
	assert_int_equal(w.walks, 1);
	assert_int_equal(found_by_next(), 0); /* found with the first message */
}

TEST(it_is_told)
{
	assert_true(is_gated(100));
	fork_silently(100, 101);
	fork_silently(101, 102);
	w.seq += 2;
	assert_int_equal(found_by_next(), 2);
	assert_int_equal(found_by_next(), 0);
}

/* All processes between it and the agent have ended before the gap shows: its profile shows
 * membership. */
TEST(an_orphan_is_told_by_its_profile)
{
	assert_true(is_gated(100));
	fork_silently(100, 101);
	fork_silently(101, 102);
	exit_of(101);
	w.seq += 3;
	assert_true(is_gated(102));
}

TEST(a_dropped_end_is_found_as_well)
{
	fork_of(100, 101);
	exit_of(101);
	w.seq += 1;
	assert_true(is_gated(100));
	fork_silently(50, 101);
	w.process[101].started = 0; /* its start time is unknown */
	w.process[101].version = 200;
	assert_false(is_gated(101));
}

/* While the table is read, all programs of the machine wait. */
TEST(gaps_in_a_row_cost_one_look_each_while)
{
	int64_t begin = w.now;
	size_t walks;

	assert_true(is_gated(100));
	for (int i = 0; i < 1000; i++) {
		w.seq += 5;
		assert_false(is_gated(50));
		w.now = begin + i * 100; /* over a tenth of a second */
	}
	walks = w.walks;
	assert_in_range(walks, 1, 3);
	/* A process that sends a message meanwhile is looked up by itself. */
	fork_silently(100, 101);
	fork_silently(50, 102);
	w.seq++;
	w.now = begin + 99950;
	assert_true(is_gated(101));
	assert_false(is_gated(102));
	assert_int_equal(w.walks, walks);
	/* An owed rebuild also happens by time. */
	w.now += ES_REBUILD_US;
	es_queue_backstop(w.q);
	assert_int_equal(w.walks, walks + 1);
	es_queue_backstop(w.q);
	assert_int_equal(w.walks, walks + 1);
}

/* The chain of parents is endless, or circular. */
TEST(a_descent_is_bounded)
{
	assert_true(is_gated(100));
	for (int32_t pid = 200; pid < 200 + 2 * COHORT_DEPTH; pid++)
		w.process[pid] = (struct process){.parent = pid + 1,
						  .started = pid * 9 * SECOND,
						  .version = 1,
						  .inside = true};
	w.process[200 + 2 * COHORT_DEPTH - 1].parent = 200;
	w.seq++;
	assert_true(is_gated(200));
	assert_false(is_gated(50));
}

/* With any messages dropped: a process inside that sends a second message is gated; one outside
 * never is. */
TEST(random_drops)
{
	unsigned seed = 3;

	assert_true(is_gated(100));
	for (int i = 0; i < 20000; i++) {
		unsigned r = (unsigned)rand_r(&seed);
		int32_t a = (int32_t)((unsigned)rand_r(&seed) % 900 + 120);
		int32_t b = (int32_t)(r / 64 % 900 + 120);
		bool told = r / 65536 % 4;
		struct es_id gone = id_of(b);

		if (w.process[b].parent && r & 1) {
			exit_of(b);
			if (told)
				tell_exit(gone);
			else
				w.seq++;
		} else if (!w.process[b].parent) {
			a = w.process[a].parent ? a : b % 2 ? 100 : 50;
			fork_silently(a, b);
			if (told)
				tell_fork(id_of(a), id_of(b));
			else
				w.seq++;
		}
		w.now += r % 20000;
		take_all();
		a = (int32_t)((unsigned)rand_r(&seed) % 900 + 120);
		if (w.process[a].parent && is_gated(a) != w.process[a].inside)
			fail_msg("turn %d: process %d, inside %d", i, a, w.process[a].inside);
	}
}

/* ---- the end --------------------------------------------------------------------------------- */

TEST(at_the_end_all_are_killed_and_denied)
{
	fork_of(100, 101);
	fork_of(101, 102);
	exit_of(101);
	tell_exit(AGENT); /* and 100 goes on: a false message changes nothing for others */
	take_all();
	assert_int_equal(es_queue_shut(w.q), 1);
	assert_false(w.process[102].parent);
	assert_int_equal(es_queue_shut(w.q), 0);
	assert_int_equal(w.strangers, 0);
	/* A process that starts meanwhile. */
	fork_silently(100, 103);
	es_queue_add(w.q, id_of(103));
	assert_true(is_gated(103));
	assert_false(w.process[103].parent);
	assert_false(is_gated(50));
}

/* It forks and ends before it is looked up: the message of the fork kills its child. */
TEST(who_is_never_there_is_killed_by_its_fork)
{
	int32_t at = 100;

	es_queue_shut(w.q);
	assert_false(w.process[100].parent);
	begin_agent();
	for (int32_t next = 200; next < 300; next++) {
		struct es_id was = id_of(at);

		fork_silently(at, next);
		exit_of(at);
		/* The message comes a little late, rarely in time. */
		if (next % 10)
			at = next;
		tell_fork(was, id_of(next));
		tell_exit(was);
		if (!w.process[next].parent)
			break;
	}
	assert_int_equal(w.strangers, 0);
	for (int32_t pid = 200; pid < 300; pid++)
		assert_false(w.process[pid].parent);
}

/* ---- ending, round by round ------------------------------------------------------------------ */

static struct hunt {
	struct mac_os os;
	int rounds, storm; /* so many rounds have a new process */
	pid_t stuck;	   /* never ends; 0: none */
	size_t known;	   /* known to Endpoint Security, one fewer each round */
	int kills;
	int quiet_until; /* invisible before this round */
} h;

static size_t hunted(void *data, const char *session, pid_t root, pid_t *out, size_t max)
{
	size_t n = 0;

	(void)data, (void)root;
	assert_string_equal(session, "s");
	assert_true(max > 2);
	h.rounds++;
	if (h.rounds <= h.storm && h.rounds >= h.quiet_until)
		out[n++] = 0x10000000 + h.rounds % 100000; /* not the number of a process */
	if (h.stuck)
		out[n++] = h.stuck;
	out[n++] = 1; /* never */
	return n;
}

static int hunt_kill(pid_t pid, int sig)
{
	assert_int_equal(sig, SIGKILL);
	assert_true(pid > 1);
	h.kills++;
	return 0;
}

static size_t hunt_known(void *data)
{
	(void)data;
	return h.known ? --h.known : 0;
}

static int64_t h_limit;

static size_t hunt(int storm, pid_t stuck, size_t known, int quiet_until)
{
	const struct ending e = {.os = &h.os,
				 .session = "s",
				 .kill = hunt_kill,
				 .known = hunt_known,
				 .round_us = 1,
				 .patience = 20,
				 .quiet = 3,
				 .limit_us = h_limit};

	h = (struct hunt){
		.storm = storm, .stuck = stuck, .known = known, .quiet_until = quiet_until};
	h.os = (struct mac_os){.list_inside = hunted};
	return end_inside(&e);
}

TEST_WITH(the_last_is_found, NULL, NULL)
{
	assert_int_equal(hunt(0, 0, 0, 0), 0);
	assert_int_equal(h.rounds, 3);
	/* Without a limit of time. */
	assert_int_equal(hunt(5000, 0, 0, 0), 0);
	assert_int_equal(h.kills, 5000);
	/* Invisible for two looks. */
	assert_int_equal(hunt(4, 0, 0, 3), 0);
	assert_int_equal(h.kills, 2);
	/* Known only to Endpoint Security. */
	assert_int_equal(hunt(0, 0, 10, 0), 0);
	assert_true(h.rounds >= 12);
	/* Limited if a user waits. */
	h_limit = 20000;
	assert_int_equal(hunt(INT32_MAX, 0, 0, 0), 1);
	h_limit = 0;
	/* A process that does not end is reported, and waited for only until a limit. */
	assert_int_equal(hunt(3, 0x20000000, 0, 0), 1);
	assert_in_range(h.rounds, 20, 30);
}

/* ---- the table of events --------------------------------------------------------------------- */

TEST_WITH(each_event_is_asked_for_once, NULL, NULL)
{
	static const struct {
		const char *name;
		enum es_kind kind;
		unsigned since;
	} rows[] = {
#define ROW(name, kind, since) {#name, kind, since},
		ES_EVENTS(ROW)
#undef ROW
	};
	bool has[ES_KINDS] = {false};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rows[i].name, rows[k].name);
		assert_int_equal(es_kind_asks(rows[i].kind), str_starts(rows[i].name, "AUTH_"));
		assert_in_range(rows[i].since, 1015, 1599);
		/* An event that asks is needed: without it the operation would not be judged. */
		assert_true(rows[i].since <= ES_EVENTS_NEEDED || !es_kind_asks(rows[i].kind));
		has[rows[i].kind] = true;
	}
	for (size_t k = 0; k < ES_KINDS; k++)
		assert_true(has[k]);
}

TESTS(setup, teardown)
