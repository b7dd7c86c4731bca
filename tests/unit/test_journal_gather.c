/* test_journal_gather - calls that wait at the same time: one sync, and nothing else is different.
 */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/step.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

static unsigned syncs, dir_syncs, fs_syncs;
static char *watched;	      /* a path */
static unsigned still_synced; /* a log, while something was there */

static bool is_log(int fd)
{
	AUTO_FREE char *link = xasprintf("/proc/self/fd/%d", fd);
	char path[PATH_MAX] = "";
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	return n > 5 && str_eq(path + n - 5, "/undo");
}

/* The library's own: what is synced is counted. */
int fdatasync(int fd)
{
	syncs++;
	still_synced += watched && is_log(fd) && access(watched, F_OK) == 0;
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	struct stat st;

	dir_syncs += fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
	return (int)syscall(SYS_fsync, fd);
}

int syncfs(int fd)
{
	fs_syncs++;
	return (int)syscall(SYS_syncfs, fd);
}

static int setup(void **state)
{
	struct fix *f = fix_new();

	f->options.durable = true;
	fix_reopen(f);
	begin(f, "prepare");
	md(f, "d");
	for (char name[] = "f0"; name[1] <= '9'; name[1]++)
		put(f, name, name);
	for (char name[] = "d/0"; name[2] <= '9'; name[2]++)
		put(f, name, name);
	assert_true(commit(f) != 0);
	*state = f;
	return 0;
}

typedef int call(struct fix *f);

/* As the door does it. `n` results, in the order of the calls. */
static void together(struct fix *f, call *const calls[], size_t n, int *result)
{
	for (size_t i = 0; i < n; i++) {
		step_may_wait(f->s, true);
		result[i] = calls[i](f);
	}
	step_may_wait(f->s, false);
	assert_int_equal(journal_gather_sync(f->j), 0);
	for (size_t i = 0; i < n; i++)
		if (result[i] == -JOURNAL_WAITS)
			result[i] = calls[i](f);
	journal_gather_end(f->j);
}

static int put_new(struct fix *f)
{
	return put(f, "new", "new");
}

static int put_other(struct fix *f)
{
	return put(f, "d/new", "other");
}

static int rm_f1(struct fix *f)
{
	return rm(f, "f1");
}

static int rm_d1(struct fix *f)
{
	return rm(f, "d/1");
}

static int chmod_f2(struct fix *f)
{
	return mode(f, "f2", 0600);
}

static int mv_f3(struct fix *f)
{
	return mv(f, "f3", "g3", 0);
}

static int save_f4(struct fix *f)
{
	return mv(f, "f5", "f4", 0);
}

static int mkdir_n(struct fix *f)
{
	return md(f, "n");
}

static int link_f6(struct fix *f)
{
	return ln(f, "f6", "d/f6");
}

static call *const apart[] = {put_new, put_other, rm_f1,   rm_d1,  chmod_f2,
			      mv_f3,   save_f4,	  mkdir_n, link_f6};

static void all_that_wait_share_one(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	int result[ARRAY_LEN(apart)];

	begin(f, "work");
	put(f, "first", "the step has begun, both directories were touched");
	put(f, "d/first", "");
	syncs = 0;
	together(f, apart, ARRAY_LEN(apart), result);
	for (size_t i = 0; i < ARRAY_LEN(apart); i++)
		assert_int_equal(result[i], 0);
	assert_int_equal(syncs, 1);
	syncs = 0;
	rm(f, "f7");
	assert_int_equal(syncs, 1);
	after = snap(f);
	commit(f);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* A call that may wait but has nothing to sync does not. */
static void what_is_the_steps_own_does_not_wait(void **state)
{
	struct fix *f = *state;

	begin(f, "work");
	md(f, "own");
	put(f, "f1", "kept, and written");
	syncs = 0;
	step_may_wait(f->s, true);
	assert_int_equal(put(f, "own/a", ""), 0);
	assert_int_equal(mode(f, "own/a", 0600), 0);
	assert_int_equal(rm(f, "own/a"), 0);
	assert_int_equal(put(f, "f1", "again"), 0);
	step_may_wait(f->s, false);
	assert_int_equal(syncs, 0);
	commit(f);
}

/* Should the record be lost, the directory would not go as a whole. */
static void what_is_made_where_another_is_at_work_is_synced(void **state)
{
	struct fix *f = *state;
	struct step *first, *second;

	begin(f, "second");
	second = f->s;
	begin(f, "first");
	first = f->s;
	md(f, "own");
	syncs = 0;
	put(f, "own/a", "");
	assert_int_equal(syncs, 0);
	f->s = second;
	assert_int_equal(mode(f, "own", 0700), 0);
	f->s = first;
	syncs = 0;
	put(f, "own/b", "");
	assert_int_equal(syncs, 1);
	commit(f);
	f->s = second;
	commit(f);
}

/* What was announced is believed only if nothing else comes behind it. */
static void a_record_of_another_step_brings_what_was_announced(void **state)
{
	struct fix *f = *state;
	call *const calls[] = {rm_f1, chmod_f2};
	int result[ARRAY_LEN(calls)];
	struct step *first, *second;

	begin(f, "first");
	first = f->s;
	put(f, "mine", "");
	begin(f, "second");
	second = f->s;
	put(f, "first", "");
	together(f, calls, ARRAY_LEN(calls), result);
	assert_int_equal(result[0] || result[1], 0);
	f->s = first;
	syncs = 0;
	rm(f, "f7");
	assert_int_equal(syncs, 2);
	syncs = 0;
	rm(f, "f8");
	assert_int_equal(syncs, 1);
	f->s = second;
	commit(f);
	f->s = first;
	commit(f);
}

/* The order of everything is the file system's; that all of it is there is asked of it. */
static void an_end_and_an_undo_bring_all_of_it(void **state)
{
	struct fix *f = *state;

	begin(f, "work");
	put(f, "new", "");
	fs_syncs = 0;
	commit(f);
	assert_int_equal(fs_syncs, 2); /* the folder's, and the store's */
	dir_syncs = 0;
	assert_int_equal(undo(f, 1, 0), 0);
	assert_true(dir_syncs >= 4); /* of the store: an undo is decided there first */
}

static int put_g3(struct fix *f)
{
	return put(f, "g3", "where f3 came to lie");
}

static int mv_g3(struct fix *f)
{
	return mv(f, "g3", "f3", 0);
}

static int rm_f3(struct fix *f)
{
	return rm(f, "f3");
}

static int put_f3(struct fix *f)
{
	return put(f, "f3", "anew");
}

static int excl_new(struct fix *f)
{
	struct at a = at(f, "new");
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT | O_EXCL, 0644, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* The oracle: the same calls, one after the other, where nothing waits. */
static void each_comes_after_those_before_it(void **state)
{
	static call *const calls[] = {mv_f3,   put_g3,	 rm_f3,	 put_f3, rm_f3, mv_g3,
				      put_new, excl_new, put_g3, rm_f1,	 rm_f1, chmod_f2};
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *one = NULL, *other = NULL;
	int result[ARRAY_LEN(calls)], want[ARRAY_LEN(calls)];

	begin(f, "one by one");
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		want[i] = calls[i](f);
	one = tree_take(f->folder, ".cordon");
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	begin(f, "together");
	together(f, calls, ARRAY_LEN(calls), result);
	other = tree_take(f->folder, ".cordon");
	/* Calls at the same moment have no order: a name that is not there yet is none. */
	assert_int_equal(result[1], want[1]);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (result[i] != want[i])
			assert_int_equal(result[i], -ENOENT);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

/* Gathered, and never performed: neither seen in the folder nor in the log. */
static void who_has_gone_leaves_nothing(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	begin(f, "work");
	for (size_t i = 0; i < ARRAY_LEN(apart); i++) {
		step_may_wait(f->s, true);
		assert_int_equal(apart[i](f), -JOURNAL_WAITS);
	}
	step_may_wait(f->s, false);
	assert_tree(f, before);
	assert_int_equal(journal_gather_sync(f->j), 0);
	journal_gather_end(f->j);
	assert_tree(f, before);
	assert_int_equal(commit(f), 0); /* it changed nothing */
	assert_tree(f, before);
}

/* What is below a directory that moves, or goes, means something else then. */
static void a_directory_does_not_wait(void **state)
{
	struct fix *f = *state;

	begin(f, "work");
	md(f, "first");
	put(f, "d/first", "");
	step_may_wait(f->s, true);
	assert_int_equal(rm_f1(f), -JOURNAL_WAITS);
	syncs = 0;
	assert_int_equal(mv(f, "d", "d2", 0), 0);
	assert_int_equal(syncs, 1);
	step_may_wait(f->s, false);
	assert_int_equal(journal_gather_sync(f->j), 0);
	journal_gather_end(f->j);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
}

static void what_goes_is_synced_before(void **state)
{
	AUTO_FREE char *large = xmalloc(100001);
	struct fix *f = *state;

	memset(large, 'l', 100000);
	large[100000] = '\0';
	begin(f, "set up");
	md(f, "empty");
	put(f, "large", large);
	commit(f);
	begin(f, "work");
	put(f, "first", "");
	syncs = 0;
	assert_int_equal(rd(f, "empty"), 0);
	assert_int_equal(syncs, 1);
	/* The copy's bytes, its name, and the record that says so. */
	syncs = dir_syncs = 0;
	assert_int_equal(add(f, "large", "more"), 0);
	assert_true(syncs >= 1);
	assert_int_equal(dir_syncs, 1);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
}

/* In any order they mean the same. */
static void no_two_are_kept_of_one_path(void **state)
{
	struct fix *f = *state;
	size_t len;

	begin(f, "work");
	put(f, "first", "");
	put(f, "d/first", "");
	step_may_wait(f->s, true);
	assert_int_equal(mv_f3(f), -JOURNAL_WAITS);
	len = f->s->side.intents.recs.len;
	assert_true(len > 0);
	assert_int_equal(rm_f3(f), -JOURNAL_WAITS);
	assert_int_equal(put_g3(f), -JOURNAL_WAITS);
	assert_int_equal(f->s->side.intents.recs.len, len);
	assert_int_equal(rm_f1(f), -JOURNAL_WAITS);
	assert_true(f->s->side.intents.recs.len > len);
	step_may_wait(f->s, false);
	commit(f);
}

/* ---- after power was lost ---------------------------------------------------------------------
 */

static void announce(struct fix *f)
{
	begin(f, "work");
	put(f, "first", "");
	put(f, "d/first", "");
	step_may_wait(f->s, true);
	assert_int_equal(put_new(f), -JOURNAL_WAITS);
	assert_int_equal(put_other(f), -JOURNAL_WAITS);
	step_may_wait(f->s, false);
	assert_int_equal(journal_gather_sync(f->j), 0);
}

static void reboot(struct fix *f)
{
	f->j->state->boot = 1;
	fix_reopen(f);
}

/* One was performed, and its record is not on the disk. When power is lost again there may be none
 * but those of the rollback. */
static void what_was_announced_is_rolled_back(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	size_t mark;

	announce(f);
	mark = wal_tail(&f->s->side.log);
	assert_int_equal(put_new(f), 0);
	assert_int_equal(wal_cut(&f->s->side.log, mark), 0);
	watched = xasprintf("%s/new", f->folder);
	still_synced = 0;
	reboot(f);
	free(take_ptr(&watched));
	assert_true(still_synced > 0);
	assert_tree(f, before);
	assert_sound(f);
}

/* A human made it, after the call that had been announced had gone. */
static void what_was_not_performed_is_not_rolled_back(void **state)
{
	struct fix *f = *state;

	announce(f);
	journal_gather_end(f->j);
	outside(f, "d/new", "the human's");
	reboot(f);
	assert_cat(f, "d/new", "the human's");
	assert_sound(f);
}

static void work(void *arg)
{
	struct fix *f = arg;
	int result[ARRAY_LEN(apart)];

	fix_open(f);
	begin(f, "work");
	together(f, apart, ARRAY_LEN(apart), result);
	together(f, (call *const[]){rm_f3, put_f3, mv_g3}, 3, result);
}

static void a_process_that_dies_is_rolled_back(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	int nth = 1;

	bool killed = true;

	for (; killed; nth += comb(17)) {
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
		killed = inject_kill(nth, work, f);
		fix_open(f);
		assert_tree(f, before);
		assert_sound(f);
	}
	assert_true(nth > 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fix_teardown)
	const struct CMUnitTest tests[] = {
		TEST(all_that_wait_share_one),
		TEST(what_is_the_steps_own_does_not_wait),
		TEST(what_is_made_where_another_is_at_work_is_synced),
		TEST(a_record_of_another_step_brings_what_was_announced),
		TEST(an_end_and_an_undo_bring_all_of_it),
		TEST(each_comes_after_those_before_it),
		TEST(who_has_gone_leaves_nothing),
		TEST(a_directory_does_not_wait),
		TEST(what_goes_is_synced_before),
		TEST(no_two_are_kept_of_one_path),
		TEST(what_was_announced_is_rolled_back),
		TEST(what_was_not_performed_is_not_rolled_back),
		TEST(a_process_that_dies_is_rolled_back),
	};

	if (access("/dev/shm", W_OK) == 0) /* real syncs would take minutes */
		setenv("TMPDIR", "/dev/shm", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
