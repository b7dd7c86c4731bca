/* test_journal_scale - cost is linear in the size of a step, not quadratic; few descriptors. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/support/journalfix.h"

#define FEW  100
#define MANY (FEW * 6)

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Returns the processor time of the work alone, in a new folder. */
static int64_t once(size_t n, int64_t (*prepare)(struct fix *f, size_t n),
		    void (*work)(struct fix *f, size_t n, int64_t id))
{
	struct fix *f = fix_new();
	int64_t id = prepare(f, n), began;

	fix_reopen(f);
	began = cpu_us();
	work(f, n, id);
	began = cpu_us() - began;
	fix_free(f);
	return began;
}

/* For six times as many files the cost may be about six times as high, but not 36 times. */
static void assert_grows(int64_t (*prepare)(struct fix *f, size_t n),
			 void (*work)(struct fix *f, size_t n, int64_t id))
{
	int64_t few = INT64_MAX, many = INT64_MAX;

	for (int turn = 0; turn < 3 && (turn == 0 || many >= few * 14); turn++) {
		few = MIN(few, once(FEW, prepare, work));
		many = MIN(many, once(MANY, prepare, work));
	}
	print_message("# %d: %" PRId64 " us, %d: %" PRId64 " us\n", FEW, few, MANY, many);
	if (many >= few * 14)
		fail_msg("%d: %" PRId64 " us, %d: %" PRId64 " us", FEW, few, MANY, many);
}

static const char *name(char out[32], const char *dir, size_t i)
{
	snprintf(out, 32, "%s%05zu", dir, i);
	return out;
}

/* ---- a file by many names ---------------------------------------------------------------------
 */

static int64_t a_file_loses_its_names(struct fix *f, size_t n)
{
	char path[32];

	begin(f, "ln");
	must(f, md(f, "d"));
	must(f, put(f, "one", "was\n"));
	for (size_t i = 0; i < n; i++)
		must(f, ln(f, "one", name(path, "d/", i)));
	assert_true(commit(f) > 0);
	begin(f, "rm");
	for (size_t i = 0; i < n; i++)
		must(f, rm(f, name(path, "d/", i)));
	return commit(f);
}

static void read_all_of(struct fix *f, size_t n, int64_t id)
{
	struct change *list;
	size_t n_list;

	must(f, journal_changes(f->j, id, &list, &n_list, &f->err));
	assert_int_equal(n_list, n);
	for (size_t i = 0; i < n; i++) {
		int fd = -1;

		must(f, journal_content(f->j, id, &list[i], false, &fd, &f->err));
		close(fd);
	}
	change_free(list, n_list);
}

TEST(names_of_one_file_are_read_each_by_itself)
{
	assert_grows(a_file_loses_its_names, read_all_of);
}

/* ---- files that were edited externally by another name --------------------------------------- */

static int64_t names_are_written_by_and_gone(struct fix *f, size_t n)
{
	char path[32], kept[32];

	begin(f, "ln");
	must(f, md(f, "d"));
	must(f, md(f, "k"));
	for (size_t i = 0; i < n; i++) {
		must(f, put(f, name(path, "d/", i), "was\n"));
		must(f, ln(f, path, name(kept, "k/", i)));
		fix_drop_dirs(f);
	}
	assert_true(commit(f) > 0);
	begin(f, "rm");
	for (size_t i = 0; i < n; i++) {
		must(f, put(f, name(path, "d/", i), "is\n"));
		must(f, rm(f, path));
	}
	commit(f);
	for (size_t i = 0; i < n; i++)
		outside(f, name(kept, "k/", i), "a human's\n");
	return 0;
}

static void plan_an_undo(struct fix *f, size_t n, int64_t id)
{
	struct undo_plan *plan = NULL;

	(void)id;
	must(f, journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err));
	assert_int_equal(plan->n_conflicts, n);
	undo_plan_free(plan);
}

TEST(what_a_human_wrote_to_many_files)
{
	assert_grows(names_are_written_by_and_gone, plan_an_undo);
}

/* ---- descriptors ------------------------------------------------------------------------------
 */

/* Each step's log has the bytes of one file. */
TEST_WITH(the_past_of_many_logs_needs_few_descriptors, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	struct change *list;
	struct rlimit was;
	char path[32];
	int64_t id;
	size_t n;

	begin(f, "set up");
	for (size_t i = 0; i < FEW; i++)
		assert_int_equal(put(f, name(path, "f", i), path), 0);
	id = commit(f);
	for (size_t i = 0; i < FEW; i++)
		one_step(f, "echo more >>f", add(f, name(path, "f", i), "more\n"));
	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	assert_int_equal(n, FEW);
	usleep(50000); /* what is read within a tick of a commit is not kept */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){FEW / 2, was.rlim_max}), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *text = NULL;
		int fd = -1;

		must(f, journal_content(f->j, id, &list[i], true, &fd, &f->err));
		assert_int_equal(io_read_all(fd, 1 << 20, &text, NULL), 0);
		close(fd);
		assert_string_equal(text, list[i].path);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	change_free(list, n);
}

TESTS(NULL, NULL)
