/* test_asks - which questions are asked, and how long answers count; floods, doors, timeouts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/grants.h"
#include "core/keeper/procs.h"
#include "core/keeper/keeper.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/steps.h"
#include "tests/support/check.h"

#define ALLOWED (UINT64_C(1) << 63)
#define RETRIED (UINT64_C(1) << 62)

struct heard { /* by a door */
	uint64_t last;
	size_t n;
	char granted[256];
	bool allow;
};

struct fixture {
	char *root, *folder, *state, *notes;
	const char *folders[2];
	struct keeper_spec spec;
	struct policy *policy;
	struct keeper k;
	struct door doors[2];
	struct heard heard[2];
	uint64_t heard_as[8]; /* verdicts of the first requests: ALLOWED, RETRIED, or 0 */
	struct caller c;
};

static struct fixture *the; /* door_ops have no user data */

static void on_answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	struct heard *h = &the->heard[d - the->doors];

	h->n++;
	h->last = id | (verdict == VERDICT_ALLOW ? ALLOWED : 0) |
		  (verdict == VERDICT_RETRY ? RETRIED : 0);
	if (id < ARRAY_LEN(the->heard_as))
		the->heard_as[id] = h->last & (ALLOWED | RETRIED);
}

static void on_granted(struct door *d, enum rule_kind kind, const char *dir, const struct answer *a)
{
	struct heard *h = &the->heard[d - the->doors];

	assert_int_equal(kind, RULE_READ);
	h->allow = a->allow;
	snprintf(h->granted, sizeof(h->granted), "%s", dir);
}

static const struct door_ops ops = {.answered = on_answered, .granted = on_granted};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	const char *base = getenv("TEST_TMP"); /* /tmp may be readable by all */
	AUTO_FREE char *here = realpath(base ? base : "build", NULL);
	struct err err = {0};

	f->root = xasprintf("%s/asks-XXXXXX", here);
	assert_non_null(mkdtemp(f->root));
	f->folder = path_join(f->root, "work");
	f->state = path_join(f->root, "state");
	f->notes = path_join(f->root, "notes");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	assert_int_equal(mkdir(f->notes, 0755), 0);
	f->folders[0] = f->folder;
	assert_int_equal(policy_new(&f->policy,
				    &(struct policy_spec){.home = f->root, .dynamic = true}, &err),
			 0);
	f->spec = (struct keeper_spec){.sock = -1,
				       .folders = f->folders,
				       .state_dir = f->state,
				       .policy = f->policy,
				       .ask_again_s = 10,
				       .asks_lists = true};
	assert_int_equal(keeper_init(&f->k, &f->spec, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(f->doors); i++) {
		f->doors[i] = (struct door){.ops = &ops, .fd = -1};
		assert_int_equal(keeper_add_door(&f->k, &f->doors[i]), 0);
	}
	f->c = (struct caller){.op = "openat", .request = 7};
	assert_int_equal(keeper_caller(&f->k, getpid(), &f->c), 0);
	*state = the = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->k.n_doors = 0;
	assert_int_equal(steps_commit_all(&f->k, NULL), 0);
	keeper_done(&f->k);
	policy_free(f->policy);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->state);
	free(f->notes);
	free(f);
	return 0;
}

/* Requests access to a name in ~/notes; the file need not exist. */
static int wish(struct fixture *f, enum rule_kind kind, const char *name)
{
	AUTO_FREE char *path = path_join(f->notes, name);

	return folder_read(&f->k, &f->c, kind, *name ? path : f->notes, NULL);
}

static int wants(struct fixture *f, const char *name)
{
	return wish(f, RULE_READ, name);
}

static size_t frames(struct fixture *f, enum wire_type type)
{
	size_t n = 0, used;

	for (size_t at = 0; at < f->k.out.len; at += used) {
		const struct buf rest = {.data = f->k.out.data + at, .len = f->k.out.len - at};
		struct wire_in in;

		assert_int_equal(wire_next(&rest, &in, &used), 1);
		n += in.type == type;
	}
	return n;
}

/* Returns the newest rule that was reported. */
static uint64_t rule(struct fixture *f)
{
	uint64_t id = 0;
	size_t used;

	for (size_t at = 0; at < f->k.out.len; at += used) {
		const struct buf rest = {.data = f->k.out.data + at, .len = f->k.out.len - at};
		struct wire_in in;

		assert_int_equal(wire_next(&rest, &in, &used), 1);
		if (in.type == WIRE_GIVEN)
			id = wire_get_u64(&in);
	}
	return id;
}

static void answer(struct fixture *f, struct answer a)
{
	asks_answer(&f->k, f->k.last_question, &a);
}

/* Gives the process its own command, as in a console. */
static struct command *enter_command(struct fixture *f)
{
	struct command *c = command_new(&f->k, STEP_COMMAND);

	c->refs = 1;
	f->c.proc->command = c;
	return c;
}

/* ---- how long -------------------------------------------------------------------------------- */

TEST(once_is_for_this_call_and_its_repetition)
{
	struct fixture *f = *state;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true});
	assert_true(f->heard[0].last == (7 | ALLOWED));
	f->c.granted = true;
	assert_int_equal(wants(f, "a"), 0);
	f->c.granted = false;
	assert_int_equal(wants(f, "a"), 0); /* it opens the kernel's file */
	assert_int_equal(wants(f, "b"), -FOLDER_HELD);
	f->k.now += 11 * 1000000;
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	assert_int_equal(frames(f, WIRE_ASK), 3);
	assert_int_equal(frames(f, WIRE_GIVEN), 0);
}

TEST(a_denial_is_not_asked_again_at_once)
{
	struct fixture *f = *state;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){0});
	assert_true(f->heard[0].last == 7);
	for (int i = 0; i < 100; i++)
		assert_int_equal(wants(f, "a"), -EACCES);
	assert_int_equal(frames(f, WIRE_ASK), 1);
	assert_int_equal(frames(f, WIRE_DENY), 1);
	f->k.now += 11 * 1000000;
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
}

/* Another process must ask for itself, even one with the same pid. */
TEST(once_is_for_one_process)
{
	struct fixture *f = *state;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true});
	f->c.pid = f->c.tid = getppid();
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	f->c.pid = f->c.tid = getpid();
	asks_drop_all(&f->k);
	assert_int_equal(wants(f, "a"), 0);
	grants_leave(&f->k, f->c.proc);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
}

/* Other calls for the same path, and the same call of other processes, are not the wish on the
 * screen. */
TEST(once_is_for_what_was_shown)
{
	struct fixture *f = *state;
	static const struct {
		const char *op;
		bool other; /* another process */
		bool meant;
	} t[] = {{"fchmodat", false, true},
		 {"fchmodat", false, false}, /* another thread */
		 {"openat", false, false},
		 {"fchmodat", true, false}};
	AUTO_FREE char *path = path_join(f->folder, ".envrc");

	for (int round = 0; round < 2; round++) {
		uint64_t id = 0;

		f->heard[0].n = 0;
		for (size_t i = 0; i < ARRAY_LEN(t); i++) {
			f->c.op = t[i].op;
			f->c.tid = 2000 + (int)i;
			f->c.pid = t[i].other ? getppid() : getpid();
			f->c.request = i + 1;
			assert_int_equal(
				asks_park(&f->k, &f->c,
					  &(struct wished){.kind = RULE_WRITE, .path = path}),
				-FOLDER_HELD);
			id = f->k.last_question;
		}
		assert_int_equal(HASH_COUNT(f->k.questions), 1);
		asks_answer(&f->k, id, &(struct answer){.allow = round == 0});
		assert_int_equal(f->heard[0].n, ARRAY_LEN(t));
		for (size_t i = 0; i < ARRAY_LEN(t); i++) {
			uint64_t is = round == 1 ? 0 : t[i].meant ? ALLOWED : RETRIED;

			assert_true(f->heard_as[i + 1] == is);
		}
		assert_int_equal(f->k.n_waiting, 0);
	}
}

TEST(what_may_be_run_may_be_read)
{
	struct fixture *f = *state;

	assert_int_equal(wish(f, RULE_EXEC, "tool"), -FOLDER_HELD);
	assert_int_equal(wants(f, "tool"), -FOLDER_HELD); /* not yet */
	answer(f, (struct answer){0});
	asks_answer(&f->k, 1, &(struct answer){.allow = true});
	assert_int_equal(wish(f, RULE_EXEC, "tool"), 0);
	assert_int_equal(wants(f, "tool"), -EACCES); /* it was asked about separately */
	assert_int_equal(wish(f, RULE_EXEC, "other"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true});
	assert_int_equal(wants(f, "other"), 0);
	assert_int_equal(wants(f, "third"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true});
	assert_int_equal(wish(f, RULE_EXEC, "third"), -FOLDER_HELD);
}

TEST(a_step_is_a_step)
{
	struct fixture *f = *state;
	struct command *own = enter_command(f), *other;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_STEP, .extent = EXTENT_DIR});
	assert_int_equal(wants(f, "a"), 0);
	assert_int_equal(wants(f, "b"), 0);
	assert_int_equal(wants(f, "deep/c"), -FOLDER_HELD);
	asks_drop_all(&f->k);
	assert_int_equal(frames(f, WIRE_GIVEN), 1);
	assert_string_equal(f->heard[0].granted, "");
	other = enter_command(f);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	asks_drop_all(&f->k);
	own->refs = other->refs = 0;
	f->c.proc->command = NULL;
	command_retire(&f->k, own);
	command_retire(&f->k, other);
	assert_int_equal(frames(f, WIRE_GIVEN_OVER), 1);
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* Returns the newest words about what is still open; heap. */
static char *left(struct fixture *f, uint64_t *ret_rule, uint64_t *ret_processes)
{
	char *words = NULL;
	size_t used;

	for (size_t at = 0; at < f->k.out.len; at += used) {
		const struct buf rest = {.data = f->k.out.data + at, .len = f->k.out.len - at};
		struct wire_in in;

		assert_int_equal(wire_next(&rest, &in, &used), 1);
		if (in.type != WIRE_LEFT_OPEN)
			continue;
		*ret_rule = wire_get_u64(&in);
		*ret_processes = wire_get_u64(&in);
		free(words);
		words = wire_get_cstr(&in);
	}
	return words;
}

/* Holds a working directory, a file open for reading, one for writing, a mapped one, and one
 * elsewhere. */
static NORETURN void hold_all(const struct fixture *f, const char *name, int ready)
{
	AUTO_FREE char *file = path_join(f->notes, "held");
	AUTO_FREE char *other = path_join(f->folder, "other");
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0644);
	bool good = fd >= 0 && open(other, O_RDONLY | O_CREAT, 0644) >= 0 &&
		    open(file, O_RDONLY) >= 0 && ftruncate(fd, 10) == 0 &&
		    mmap(NULL, 10, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED &&
		    chdir(f->notes) == 0 && prctl(PR_SET_NAME, name) == 0;

	if (!good || write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Starts a process that holds these. If possible it is in its own pid namespace, as the agent is:
 * otherwise all processes of the host are searched. */
static pid_t hold(struct fixture *f, const char *name)
{
	int ready[2], told[2];
	pid_t outer, pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(told), 0);
	outer = fork();
	if (outer == 0) {
		if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
			_exit(2);
		pid = fork();
		if (pid == 0)
			hold_all(f, name, ready[1]);
		_exit(write(told[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	assert_true(outer > 0);
	close(told[1]);
	if (read(told[0], &pid, sizeof(pid)) != sizeof(pid)) {
		pid = fork();
		if (pid == 0)
			hold_all(f, name, ready[1]);
	}
	assert_int_equal(waitpid(outer, NULL, 0), outer);
	f->k.agent_pid = pid;
	close(told[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/* Ends the process. Another process may reap it. */
static void let_go(pid_t pid)
{
	char cwd[64], to[8];

	snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", (int)pid);
	kill(pid, SIGKILL);
	while (readlink(cwd, to, sizeof(to)) >= 0 && waitpid(pid, NULL, WNOHANG) != pid)
		sched_yield();
}

TEST(what_is_open_when_it_is_taken_back_is_told)
{
	struct fixture *f = *state;
	pid_t pid = hold(f, "holds\033it");
	AUTO_FREE char *want = xasprintf("holds\033it (pid %d) a directory, a file, a file it can "
					 "write, a mapped file",
					 (int)pid);
	AUTO_FREE char *words = NULL;
	AUTO_FREE char *after = NULL;
	uint64_t told = 0, n = 0;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE});
	assert_null(left(f, &told, &n));
	grants_revoke(&f->k, rule(f));
	words = left(f, &told, &n);
	assert_string_equal(words, want);
	assert_int_equal(told, rule(f));
	assert_int_equal(n, 1);
	let_go(pid);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE});
	grants_revoke(&f->k, rule(f));
	after = left(f, &told, &n);
	assert_string_equal(after, "nothing");
	assert_int_equal(n, 0);
}

/* One of two answers that allow the same is revoked: no open file is reported. */
TEST(what_another_answer_allows_is_not_told)
{
	struct fixture *f = *state;
	pid_t pid = hold(f, "holder");
	AUTO_FREE char *words = NULL;
	uint64_t told = 0, n = 0, first;

	assert_int_equal(wants(f, "held"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE});
	first = rule(f);
	assert_true(policy_answer(f->policy, RULE_READ, f->notes,
				  &(struct answer){.allow = true,
						   .scope = SCOPE_SESSION,
						   .extent = EXTENT_EXACT}) != 0);
	grants_revoke(&f->k, first);
	words = left(f, &told, &n);
	assert_non_null(words);
	assert_null(strstr(words, "directory"));
	assert_non_null(strstr(words, "a mapped file"));
	let_go(pid);
}

/* Without a command there is no step, so the answer is for once. */
TEST(no_step_no_answer_for_it)
{
	struct fixture *f = *state;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_STEP, .extent = EXTENT_TREE});
	assert_true(f->heard[0].last == (7 | ALLOWED));
	assert_int_equal(wants(f, "b"), -FOLDER_HELD);
	assert_int_equal(frames(f, WIRE_GIVEN), 0);
}

TEST(a_step_that_ends_while_it_is_asked_is_answered_once)
{
	struct fixture *f = *state;
	struct command *own = enter_command(f);

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	own->refs = 0;
	f->c.proc->command = NULL;
	command_retire(&f->k, own);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_STEP});
	assert_true(f->heard[0].last == (7 | ALLOWED));
	assert_int_equal(frames(f, WIRE_GIVEN), 0);
}

TEST(time_ends_it)
{
	struct fixture *f = *state;
	struct command *own = enter_command(f);

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_STEP, .until = time(NULL) + 100});
	assert_int_equal(wants(f, "a"), 0);
	own->grants->answer.until = time(NULL) - 1;
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	asks_drop_all(&f->k);
	own->refs = 0;
	f->c.proc->command = NULL;
	command_retire(&f->k, own);
}

/* ---- how much -------------------------------------------------------------------------------- */

TEST_WITH(extents_cover_what_they_say, NULL, NULL)
{
	static const struct {
		const char *object;
		enum answer_extent extent;
		const char *path;
		bool covers;
	} t[] = {
		{"/h/a", EXTENT_EXACT, "/h/a", true},	  {"/h/a", EXTENT_EXACT, "/h/ab", false},
		{"/h/a", EXTENT_EXACT, "/h", false},	  {"/h/d/", EXTENT_EXACT, "/h/d", true},
		{"/h/d/", EXTENT_EXACT, "/h/d/x", false}, {"/", EXTENT_EXACT, "/", true},
		{"/h/a", EXTENT_DIR, "/h/b", true},	  {"/h/a", EXTENT_DIR, "/h", true},
		{"/h/a", EXTENT_DIR, "/h/d/b", false},	  {"/h/a", EXTENT_DIR, "/hx", false},
		{"/h/d/", EXTENT_DIR, "/h/d/b", true},	  {"/h/d/", EXTENT_DIR, "/h/b", false},
		{"/h/a", EXTENT_TREE, "/h/d/e/f", true},  {"/h/a", EXTENT_TREE, "/hx/d", false},
		{"/h/d/", EXTENT_TREE, "/h/d", true},	  {"/h/d/", EXTENT_TREE, "/h/da", false},
		{"/a", EXTENT_DIR, "/b", true},		  {"/a", EXTENT_DIR, "/b/c", false},
		{"/a", EXTENT_TREE, "/b/c", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (grants_cover(RULE_READ, t[i].object, t[i].extent, t[i].path) != t[i].covers)
			fail_msg("%s %d %s", t[i].object, t[i].extent, t[i].path);
}

TEST(a_wide_answer_frees_what_it_covers)
{
	struct fixture *f = *state;

	for (f->c.request = 1; f->c.request <= 5; f->c.request++) {
		char name[16];

		f->c.tid = 1000 + (int)f->c.request;
		snprintf(name, sizeof(name), "%s%d", f->c.request == 5 ? "../x" : "sub/f",
			 (int)f->c.request);
		if (f->c.request == 5) {
			AUTO_FREE char *other = path_join(f->root, "other");

			assert_int_equal(folder_read(&f->k, &f->c, RULE_READ, other, NULL),
					 -FOLDER_HELD);
		} else {
			assert_int_equal(wants(f, name), -FOLDER_HELD);
		}
	}
	asks_answer(&f->k, 2,
		    &(struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE});
	assert_int_equal(f->heard[0].n, 4);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 3);
	assert_int_equal(HASH_COUNT(f->k.questions), 1);
	assert_int_equal(wants(f, "sub/f9"), 0);
	assert_true(str_ends(f->heard[1].granted, "/notes/sub"));
	assert_true(f->heard[1].allow);
	grants_revoke(&f->k, rule(f));
	assert_int_equal(wants(f, "sub/f9"), -FOLDER_HELD);
	assert_false(f->heard[1].allow);
	assert_int_equal(frames(f, WIRE_GIVEN_OVER), 1);
	grants_revoke(&f->k, rule(f)); /* the second time has no effect */
	assert_int_equal(frames(f, WIRE_GIVEN_OVER), 1);
}

TEST(a_directory_is_its_own_directory)
{
	struct fixture *f = *state;
	AUTO_FREE char *neighbour = path_join(f->root, "neighbour");

	assert_int_equal(wants(f, ""), -FOLDER_HELD);
	answer(f, (struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE});
	assert_int_equal(wants(f, "x"), 0);
	assert_int_equal(folder_read(&f->k, &f->c, RULE_READ, neighbour, NULL), -FOLDER_HELD);
	assert_true(str_ends(f->heard[0].granted, "/notes"));
}

/* ---- doors, time, floods --------------------------------------------------------------------- */

TEST(each_door_hears_of_its_own)
{
	struct fixture *f = *state;

	f->c.door = &f->doors[1];
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	f->c.door = &f->doors[0];
	f->c.tid = 1;
	assert_int_equal(wants(f, "b"), -FOLDER_HELD);
	keeper_request_gone(&f->k, &f->doors[0], 7);
	assert_int_equal(f->k.n_waiting, 1);
	asks_answer(&f->k, 1, &(struct answer){.allow = true});
	assert_int_equal(f->heard[0].n, 0);
	assert_true(f->heard[1].last == (7 | ALLOWED));
}

static int until_withdrawn(struct fixture *f)
{
	int moments = 0;

	while (frames(f, WIRE_ASK_GONE) == 0 && moments < 5) {
		f->k.now += 1000000;
		asks_tick(&f->k);
		moments++;
	}
	return moments;
}

/* Ctrl-C and Ctrl-Z interrupt a call: a process stopped by Ctrl-Z makes it again later. */
TEST(a_question_waits_for_who_is_stopped)
{
	struct fixture *f = *state;
	int pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	f->c.pid = f->c.tid = pid;
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	keeper_request_gone(&f->k, &f->doors[0], f->c.request);
	assert_int_equal(until_withdrawn(f), 5);
	assert_true(asks_next(&f->k) > f->k.now);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, NULL, WCONTINUED), pid);
	f->k.now += 1000000; /* the time is not over yet */
	asks_tick(&f->k);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 0);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	assert_int_equal(frames(f, WIRE_ASK), 1);
	keeper_request_gone(&f->k, &f->doors[0], f->c.request);
	assert_int_equal(until_withdrawn(f), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* After the process has ended, its number may belong to another process that is stopped. */
TEST(a_question_goes_with_who_left)
{
	struct fixture *f = *state;

	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	keeper_request_gone(&f->k, &f->doors[0], f->c.request);
	assert_true(asks_next(&f->k) > f->k.now);
	asks_leave(&f->k, f->c.pid);
	asks_tick(&f->k);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 1);
}

TEST(nobody_answers_in_time)
{
	struct fixture *f = *state;

	f->spec.ask_timeout_s = 30;
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	assert_true(asks_next(&f->k) == f->k.now + 30 * 1000000);
	f->k.now += 29 * 1000000;
	asks_tick(&f->k);
	assert_int_equal(f->heard[0].n, 0);
	f->k.now += 1000000;
	asks_tick(&f->k);
	assert_true(f->heard[0].last == 7);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 1);
	assert_int_equal(asks_next(&f->k), 0);
	assert_int_equal(wants(f, "a"), -FOLDER_HELD); /* the question was not denied */
}

/* Returns the time that the newest question has: ASK_CALL_ONLY and the seconds. */
static uint32_t told_time(struct fixture *f, uint8_t *ret_flag)
{
	uint32_t seconds = 0;
	size_t used;

	for (size_t at = 0; at < f->k.out.len; at += used) {
		const struct buf rest = {.data = f->k.out.data + at, .len = f->k.out.len - at};
		struct wire_in in;

		assert_int_equal(wire_next(&rest, &in, &used), 1);
		if (in.type != WIRE_ASK)
			continue;
		for (int i = 0; i < 3; i++) /* id, step, pid */
			(void)wire_get_u64(&in);
		(void)wire_get_u8(&in);
		*ret_flag = wire_get_u8(&in) & ASK_CALL_ONLY;
		seconds = wire_get_u32(&in);
	}
	return seconds;
}

/* A door that cannot hold a call for that long denies it by itself; the question stays. */
TEST(a_call_that_cannot_wait_is_told)
{
	struct fixture *f = *state;
	uint8_t flag = 0;

	f->c.held_for_s = 4;
	assert_int_equal(wants(f, "a"), -FOLDER_HELD);
	assert_int_equal(told_time(f, &flag), 4);
	assert_int_equal(flag, ASK_CALL_ONLY);
	assert_int_equal(asks_next(&f->k), 0);
	f->spec.ask_timeout_s = 3;
	assert_int_equal(wants(f, "b"), -FOLDER_HELD);
	assert_int_equal(told_time(f, &flag), 3);
	assert_int_equal(flag, 0);
}

TEST(where_nobody_answers_it_is_denied)
{
	struct fixture *f = *state;

	f->spec.headless = true;
	assert_int_equal(wants(f, "a"), -EACCES);
	assert_int_equal(frames(f, WIRE_ASK), 0);
	assert_int_equal(frames(f, WIRE_DENY), 1);
}

/* Of 50 000 wishes the oldest are kept and shown. The rest is refused, each with its own line. */
TEST(a_flood_is_bounded_and_hides_nothing)
{
	struct fixture *f = *state;
	size_t held = 0, refused = 0;

	for (int i = 0; i < 50000; i++) {
		char name[32];
		int r;

		snprintf(name, sizeof(name), "d%d/f%d", i % 977, i);
		f->c.tid = 1000 + i;
		f->c.request = (uint64_t)i;
		r = wants(f, name);
		held += r == -FOLDER_HELD;
		refused += r == -EACCES;
	}
	assert_int_equal(held, ASKS_MAX);
	assert_int_equal(refused, 50000 - ASKS_MAX);
	assert_int_equal(frames(f, WIRE_ASK), ASKS_MAX);
	assert_int_equal(frames(f, WIRE_DENY), 50000 - ASKS_MAX);
	assert_int_equal(f->heard[0].n, 0);
	asks_answer(&f->k, 1, &(struct answer){.allow = true}); /* the oldest still exists */
	assert_true(f->heard[0].last == ALLOWED);
	asks_drop_all(&f->k);
	assert_int_equal(f->k.n_waiting, 0);
}

TEST(answers_kept_are_bounded)
{
	struct fixture *f = *state;

	for (int i = 0; i < RECENT_MAX + 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(wants(f, name), -FOLDER_HELD);
		answer(f, (struct answer){.allow = true});
		assert_int_equal(wants(f, "f0"), 0); /* in use, so not the oldest */
	}
	assert_int_equal(HASH_COUNT(f->k.recent), RECENT_MAX);
	assert_int_equal(wants(f, "f1"), -FOLDER_HELD);
}

TESTS(setup, teardown)
