/* test_journal_claim - a folder and one within it are never changed by two processes. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/journal/journal.h"
#include "tests/support/journalfix.h"

#define STARTS 6
#define ROUNDS 10

static int open_there(const struct fix *f, const char *folder, bool session, struct journal **ret,
		      struct err *err)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = f->state, .lasting = true, .settled = !session};

	return journal_open(ret, &spec, NULL, err);
}

/* Makes directories "work/sub" and "work-2"; the journal of the fixture is closed. */
static struct fix *prepare(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *sub = xasprintf("%s/sub", f->folder), *next = xasprintf("%s-2", f->folder);

	journal_close(take_ptr(&f->j));
	assert_int_equal(mkdir(sub, 0755), 0);
	assert_int_equal(mkdir(next, 0755), 0);
	return f;
}

TEST(nested_folders_are_refused)
{
	struct fix *f = prepare(state);
	AUTO_FREE char *sub = xasprintf("%s/sub", f->folder), *next = xasprintf("%s-2", f->folder);
	const char *const pairs[][2] = {{f->folder, sub}, {sub, f->folder}};
	struct journal *first = NULL, *second = NULL;

	for (int i = 0; i < 8; i++) {
		struct err err = {0};

		assert_int_equal(open_there(f, pairs[i / 4][0], i & 1, &first, &err), 0);
		assert_int_equal(open_there(f, pairs[i / 4][1], i & 2, &second, &err), -EBUSY);
		assert_non_null(strstr(err.text, pairs[i / 4][0]));
		assert_non_null(strstr(err.text, i < 4 ? "which holds" : "which lies in"));
		assert_non_null(strstr(err.text, "end it first"));
		err = (struct err){0};
		assert_int_equal(open_there(f, next, true, &second, &err), 0);
		journal_close(first);
		journal_close(second);
	}
}

TEST(a_reader_needs_no_claim)
{
	struct fix *f = prepare(state);
	AUTO_FREE char *sub = xasprintf("%s/sub", f->folder);
	const struct journal_spec look = {
		.folder = f->folder, .state_dir = f->state, .read_only = true};
	struct journal *first = NULL, *second = NULL;

	assert_int_equal(open_there(f, sub, true, &first, &f->err), 0);
	assert_int_equal(journal_open(&second, &look, NULL, &f->err), 0);
	journal_close(first);
	journal_close(second);
}

/* Starts a process that opens the folder's journal at the end of file of go, and reports the
 * result. */
static pid_t start(const struct fix *f, const char *folder, const int go[2], int result)
{
	struct journal *j = NULL;
	struct err err = {0};
	pid_t pid = fork();
	char won;

	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &won, 1) < 0)
		_exit(1);
	won = open_there(f, folder, true, &j, &err) == 0 ? 'y' : 'n';
	if (write(result, &won, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static char result_of(int fd)
{
	char c = 0;

	assert_int_equal(read(fd, &c, 1), 1);
	return c;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* No folder has a store yet that would name it. */
TEST(of_those_that_start_at_once_one_wins)
{
	struct fix *f = prepare(state);
	AUTO_FREE char *folder = xstrdup(f->folder);

	for (int round = 0; round < ROUNDS; round++) {
		pid_t pids[STARTS];
		int go[2], result[2], won = 0;

		assert_int_equal(io_remove_tree(AT_FDCWD, f->state), 0);
		assert_int_equal(pipe(go) | pipe(result), 0);
		for (size_t i = 0; i < STARTS; i++) {
			char *below = xasprintf("%s/d", folder);

			pids[i] = start(f, folder, go, result[1]);
			assert_true(pids[i] > 0);
			free(folder);
			folder = below;
			assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
		}
		free(folder);
		folder = xstrdup(f->folder);
		close(go[0]);
		close(go[1]);
		for (size_t i = 0; i < STARTS; i++)
			won += result_of(result[0]) == 'y';
		for (size_t i = 0; i < STARTS; i++)
			end(pids[i]);
		close(result[0]);
		close(result[1]);
		assert_int_equal(won, 1);
	}
}

TEST(the_dead_have_no_claim)
{
	struct fix *f = prepare(state);
	AUTO_FREE char *sub = xasprintf("%s/sub", f->folder);
	AUTO_FREE char *lock = xasprintf("%s/claims/.lock", f->state);
	AUTO_FREE char *claims = xasprintf("%s/claims", f->state);
	struct journal *j = NULL;
	int go[2], result[2];
	pid_t pid;

	assert_int_equal(pipe(go) | pipe(result), 0);
	pid = start(f, f->folder, go, result[1]);
	close(go[0]);
	close(go[1]);
	assert_int_equal(result_of(result[0]), 'y');
	journal_forget_claims(f->state);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(rmdir(claims), -1); /* the running process's file stays */
	end(pid);
	assert_int_equal(open_there(f, sub, true, &j, &f->err), 0);
	journal_close(j);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(rmdir(claims), 0); /* the ended process's file is gone as well */
	journal_forget_claims(f->state);    /* without making the directory */
	assert_int_equal(rmdir(claims), -1);
	close(result[0]);
	close(result[1]);
}

/* Opens the folder, which is refused. Returns how long that took. */
static int64_t refused_after_us(const struct fix *f)
{
	int64_t began = clock_mono_us();
	struct journal *j = NULL;
	struct err err = {0};

	assert_int_equal(open_there(f, f->folder, true, &j, &err), -EBUSY);
	return clock_mono_us() - began;
}

/* The others are waited for: that takes a second, however fast the machine is. */
TEST(a_session_that_stays_is_not_waited_for)
{
	struct fix *f = prepare(state);
	pid_t dead = fork();
	struct journal *first = NULL;
	int64_t took = 1000000;

	if (dead == 0)
		_exit(0);
	assert_int_equal(open_there(f, f->folder, true, &first, &f->err), 0);
	assert_true(refused_after_us(f) >= 1000000);
	journal_stays(first, true);
	for (int tries = 0; took >= 1000000 && tries < 5; tries++)
		took = refused_after_us(f);
	assert_true(took < 1000000);
	journal_stays(first, false);
	assert_true(refused_after_us(f) >= 1000000);
	journal_close(first);
	assert_int_equal(waitid(P_PID, (id_t)dead, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(journal_open(&first,
				      &(struct journal_spec){.folder = f->folder,
							     .state_dir = f->state,
							     .lasting = true,
							     .pid = dead},
				      NULL, &f->err),
			 0);
	journal_stays(first, true); /* what the dead one left; its keeper still ends */
	assert_true(refused_after_us(f) >= 1000000);
	journal_close(first);
	end(dead);
}

TESTS(fix_setup, fix_teardown)
