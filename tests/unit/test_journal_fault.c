/* test_journal_fault - each system call of each operation fails: all or nothing, and the journal
 * continues. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <sys/xattr.h>

#include "core/journal/fs/in_place.h"
#include "core/os/volume.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

#define BIG 100000

static const int errnos[] = {ENOSPC, EIO, EDQUOT, ENOMEM};

/* Makes the files before the operation under test. */
static void prepare(struct fix *f)
{
	static char big[BIG];
	AUTO_FREE char *hole = xasprintf("%s/hole", f->folder);

	memset(big, 'b', sizeof(big) - 1);
	begin(f, "prepare");
	md(f, "d");
	md(f, "d/e");
	md(f, "empty");
	put(f, "a", "alpha");
	put(f, "b", "beta");
	put(f, "big", big);
	put(f, "big2", big);
	put(f, "hole", "h");
	put(f, "linked", "delta");
	ln(f, "linked", "d/link");
	put(f, "d/x", "x-ray");
	sym(f, "a", "s");
	assert_int_equal(truncate(hole, 1 << 20), 0);
	assert_true(commit(f) != 0);
}

/* ---- single operations ------------------------------------------------------------------------
 */

struct job {
	const char *name;
	int (*run)(struct step *s, const struct at *a, const struct at *b);
	const char *path, *path2;
};

static int closed(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int run_create(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return closed(op_open(s, a, O_WRONLY | O_CREAT | O_EXCL, 0644, NULL));
}

static int run_trunc(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return closed(op_open(s, a, O_WRONLY | O_CREAT | O_TRUNC, 0644, NULL));
}

static int run_rdonly_trunc(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return closed(op_open(s, a, O_RDONLY | O_TRUNC, 0, NULL));
}

static int run_mkdir(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_mkdir(s, a, 0755, NULL);
}

static int run_fifo(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_mknod(s, a, S_IFIFO | 0644, 0, NULL);
}

static int run_symlink(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_symlink(s, "target", a, NULL);
}

static int run_link(struct step *s, const struct at *a, const struct at *b)
{
	return op_link(s, a, b, NULL);
}

static int run_unlink(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_unlink(s, a, NULL);
}

static int run_rmdir(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_rmdir(s, a, NULL);
}

static int run_rename(struct step *s, const struct at *a, const struct at *b)
{
	return op_rename(s, a, b, 0, NULL);
}

static int run_exchange(struct step *s, const struct at *a, const struct at *b)
{
	return op_rename(s, a, b, RENAME_EXCHANGE, NULL);
}

static int run_truncate(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_truncate(s, a, 3, NULL);
}

static int run_chmod(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_chmod(s, a, 0600, NULL);
}

static int run_chown(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_chown(s, a, geteuid(), geteuid() ? getegid() : 1, NULL);
}

static int run_utimens(struct step *s, const struct at *a, const struct at *b)
{
	static const struct timespec t[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

	(void)b;
	return op_utimens(s, a, t, NULL);
}

static int run_setxattr(struct step *s, const struct at *a, const struct at *b)
{
	(void)b;
	return op_setxattr(s, a, "user.x", "1", 1, 0, NULL);
}

static const struct job jobs[] = {
	{"create", run_create, "n", NULL},
	{"overwrite", run_trunc, "a", NULL},
	{"overwrite a large one", run_trunc, "big", NULL},
	{"overwrite a sparse one", run_trunc, "hole", NULL},
	{"overwrite a linked one", run_trunc, "linked", NULL},
	{"open read-only and truncate", run_rdonly_trunc, "b", NULL},
	{"mkdir", run_mkdir, "d/n", NULL},
	{"mknod", run_fifo, "n", NULL},
	{"symlink", run_symlink, "n", NULL},
	{"link", run_link, "a", "d/n"},
	{"unlink", run_unlink, "d/x", NULL},
	{"unlink a linked one", run_unlink, "linked", NULL},
	{"unlink a symlink", run_unlink, "s", NULL},
	{"rmdir", run_rmdir, "d/e", NULL},
	{"rename", run_rename, "a", "d/n"},
	{"rename over", run_rename, "a", "b"},
	{"rename over a linked one", run_rename, "a", "d/link"},
	{"rename a directory", run_rename, "d", "m"},
	{"rename over a directory", run_rename, "d", "empty"},
	{"exchange", run_exchange, "a", "d"},
	{"truncate", run_truncate, "big2", NULL},
	{"chmod", run_chmod, "a", NULL},
	{"chmod a directory", run_chmod, "d", NULL},
	{"chown", run_chown, "a", NULL},
	{"utimens", run_utimens, "b", NULL},
	{"setxattr", run_setxattr, "a", NULL},
};

struct doing {
	struct fix *f;
	const struct job *job;
	struct at a, b;
	int result;
};

static void do_job(void *arg)
{
	struct doing *d = arg;

	d->result = d->job->run(d->f->s, &d->a, &d->b);
}

static void aim(struct doing *d)
{
	d->a = at(d->f, d->job->path);
	if (d->job->path2)
		d->b = at(d->f, d->job->path2);
}

/* Returns the tree without times of directories: an operation that fails at its last call has
 * reverted its changes. (Undo restores these times, too.) */
static char *timeless(const char *tree)
{
	struct buf b = BUF_INIT;

	for (const char *line = tree, *end; *line; line = end + 1) {
		const char *mode = strchr(line, ' ');

		end = strchr(line, '\n');
		if (strncmp(mode, " 4", 2) == 0)
			buf_fmt(&b, "%.*s\n", (int)(mode + 6 - line), line);
		else
			buf_add(&b, line, (size_t)(end + 1 - line));
	}
	return buf_take(&b);
}

static void assert_unchanged(struct fix *f, const char *before, const char *what, int n,
			     const struct inject *in)
{
	AUTO_FREE char *now = snap(f);
	AUTO_FREE char *a = timeless(before);
	AUTO_FREE char *b = timeless(now);

	if (!tree_same(a, b))
		fail_msg("%s: call %d (number %d) failed and something changed", what, n,
			 in->failed);
}

/* Undoes and redoes, after the operation and after a restart. */
static void walk(struct fix *f, const char *before)
{
	AUTO_FREE char *after = NULL;

	assert_true(commit(f) != 0);
	after = snap(f);
	assert_int_equal(undo(f, 1, false), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, false), 0);
	assert_tree(f, after);
	fix_reopen(f);
	assert_int_equal(undo(f, 1, false), 0);
	assert_tree(f, before);
}

/* Returns false if the operation has fewer calls. */
static bool job_fails_at(const struct job *job, int n, int err)
{
	struct inject in = {.nth = n, .err = err};
	struct fix *f = fix_new();
	struct doing d = {.f = f, .job = job};
	AUTO_FREE char *before = NULL;

	prepare(f);
	before = snap(f);
	begin(f, job->name);
	aim(&d);
	inject_run(&in, do_job, &d);
	if (getenv("CORDON_TEST_SEED"))
		fprintf(stderr, "# %s: call %d (number %d) gives %d: %d\n", job->name, n, in.failed,
			err, d.result);
	if (d.result < 0) {
		assert_unchanged(f, before, job->name, n, &in);
		assert_int_equal(put(f, "later", "x"), 0);
		aim(&d);
		do_job(&d);
		if (d.result < 0)
			fail_msg("%s failed at call %d (%d), and again: %d", job->name, n,
				 in.failed, d.result);
	}
	if (n % 3) {
		walk(f, before);
	} else { /* the process dies: the open step is rolled back */
		fix_reopen(f);
		assert_tree(f, before);
	}
	fix_free(f);
	return in.failed >= 0;
}

/* Each call fails once, with varying errors; CORDON_TEST_THOROUGH: with each error. */
TEST(each_call_of_an_operation)
{
	size_t turn = 0;

	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		bool more = true;

		for (int n = 1; more; n++) {
			size_t tries = getenv("CORDON_TEST_THOROUGH") ? ARRAY_LEN(errnos) : 1;

			while (tries--)
				more = job_fails_at(&jobs[i], n, errnos[turn++ % 4]);
		}
	}
}

static void create_late(void *arg)
{
	struct fix *f = arg;
	struct at a = at(f, "late");

	run_create(f->s, &a, NULL);
}

/* Changes recorded before the step became unprotected can be undone, whatever fails later. */
TEST(in_a_step_without_protection)
{
	struct inject in = {.err = EIO};

	do {
		struct fix *f = fix_new();
		AUTO_FREE char *text = NULL;

		in.nth++;
		prepare(f);
		f->options.step_size = 50000;
		fix_reopen(f);
		begin(f, "work");
		assert_int_equal(rm(f, "a"), 0);
		assert_string_equal(step_why(f->s), "");
		assert_int_equal(put(f, "big", "not kept"), 0);
		assert_string_not_equal(step_why(f->s), "");
		inject_run(&in, create_late, f);
		fix_reopen(f);
		text = cat(f, "a");
		assert_non_null(text);
		assert_string_equal(text, "alpha");
		fix_free(f);
	} while (in.failed >= 0);
}

/* ---- commit, abort, undo, redo, restore, recovery ---------------------------------------------
 */

static void work(struct fix *f)
{
	begin(f, "work");
	put(f, "new", "new");
	add(f, "a", "more");
	add(f, "linked", "more");
	add(f, "big", "more");
	mv(f, "a", "a2", 0);
	put(f, "tmp", "replacement");
	mv(f, "tmp", "b", 0);
	rm(f, "d/x");
	rd(f, "d/e");
	md(f, "n");
	put(f, "n/in", "in");
	mv(f, "d", "n/d", 0);
	mv(f, "b", "hole", RENAME_EXCHANGE);
	mode(f, "hole", 0600);
	mode(f, "n/d", 0700);
	md(f, "z");
	mv(f, "z", "empty", 0);
	put(f, "a", "another a");
}

struct stage {
	const char *name;
	void (*ready)(struct fix *f); /* runs after work() */
	void (*run)(void *fix);	      /* sets f->err.code and f->done */
};

static int result;

static void run_commit(void *arg)
{
	struct fix *f = arg;

	result = journal_commit(f->s, 0, &f->err);
}

static void run_abort(void *arg)
{
	struct fix *f = arg;

	result = journal_abort(f->s, &f->err);
	f->s = NULL;
}

static void run_undo(void *arg)
{
	result = undo(arg, 1, false);
}

static void run_redo(void *arg)
{
	result = redo(arg, false);
}

static void run_open(void *arg)
{
	struct fix *f = arg;
	struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};

	f->j = NULL;
	result = journal_open(&f->j, &spec, NULL, &f->err);
}

static void run_restore(void *arg)
{
	static const char *const paths[] = {"a", "big", "linked", "new", NULL};
	struct fix *f = arg;

	result = journal_restore(f->j, 2, paths, false, &f->err);
}

static void ready_nothing(struct fix *f)
{
	(void)f;
}

static void ready_committed(struct fix *f)
{
	assert_true(commit(f) != 0);
}

static void ready_undone(struct fix *f)
{
	ready_committed(f);
	assert_int_equal(undo(f, 1, false), 0);
}

static void ready_closed(struct fix *f)
{
	fix_drop_dirs(f);
	journal_close(f->j);
	f->j = NULL;
	f->s = NULL;
}

static const struct stage stages[] = {
	{"commit", ready_nothing, run_commit},	   {"abort", ready_nothing, run_abort},
	{"undo", ready_committed, run_undo},	   {"redo", ready_undone, run_redo},
	{"restore", ready_committed, run_restore}, {"recovery", ready_closed, run_open},
};

/* Undo and redo must lead from any state to before and after. */
static void check(struct fix *f, const struct stage *st, const char *before, const char *after,
		  const struct inject *in)
{
	AUTO_FREE char *now = snap(f);
	bool old = str_eq(now, before), new = str_eq(now, after);

	if (result < 0 && getenv("CORDON_TEST_SEED"))
		fprintf(stderr, "# %s: call %d (number %d): %s\n", st->name, in->nth, in->failed,
			f->err.text);
	if (st->run == run_restore && result == 0) {
		assert_int_equal(undo(f, 1, false), 0);
		assert_tree(f, after);
		return;
	}
	if (!old && !new) {
		tree_same(after, now);
		fail_msg("%s at call %d (%d): neither old nor new", st->name, in->nth, in->failed);
	}
	if (f->s) { /* still open, and can continue */
		assert_true(new);
		assert_int_equal(put(f, "later", "x"), 0);
		assert_true(commit(f) != 0);
		assert_int_equal(undo(f, 1, false), 0);
		assert_tree(f, before);
		return;
	}
	if (result < 0 && !in->lasting) {
		if (st->run == run_undo || st->run == run_restore)
			assert_true(new);
		if (st->run == run_redo)
			assert_true(old);
	}
	if (new) {
		int r = undo(f, 1, false);

		/* A file that could not be checked may have been edited: undo asks. */
		if (r == -ESTALE && result == 0 && in->failed == SYS_statx)
			r = undo(f, 1, UNDO_FORCE);
		/* -EAGAIN: only the failed operation was finished. */
		if (r != 0 && r != -EAGAIN)
			fail_msg("undo after %s: %s", st->name, f->err.text);
		assert_tree(f, before);
	}
	if (redo(f, false) == 0) {
		assert_tree(f, after);
		assert_int_equal(undo(f, 1, false), 0);
		assert_tree(f, before);
	}
}

static bool stage_fails_at(const struct stage *st, struct inject *in)
{
	struct fix *f = fix_new();
	AUTO_FREE char *before = NULL, *after = NULL;
	int n = in->nth;

	prepare(f);
	before = snap(f);
	work(f);
	after = snap(f);
	st->ready(f);
	inject_run(in, st->run, f);
	if (st->run == run_commit && result >= 0)
		f->s = NULL;
	if (!f->j || in->lasting || n % 3 == 0) { /* as the next start finds it */
		fix_drop_dirs(f);
		journal_close(f->j);
		f->s = NULL;
		fix_open(f);
	}
	check(f, st, before, after, in);
	fix_free(f);
	return in->failed >= 0;
}

static void each_call_of(const struct stage *st, int apart)
{
	bool more = true, thorough = getenv("CORDON_TEST_THOROUGH");
	size_t turn = 0;

	for (int n = 1; more; n += comb(apart)) {
		size_t tries = thorough ? ARRAY_LEN(errnos) : 1;

		while (tries--) {
			struct inject in = {.nth = n, .err = errnos[turn++ % 4]};

			more = stage_fails_at(st, &in);
		}
	}
	/* The disk is full from some call on: every call that needs space fails. */
	more = true;
	for (int n = 1; more; n += comb(apart)) {
		struct inject in = {.nth = n, .err = ENOSPC, .lasting = true, .space = true};

		more = stage_fails_at(st, &in);
	}
}

TEST(in_commit)
{
	each_call_of(&stages[0], 1);
}

TEST(in_abort)
{
	each_call_of(&stages[1], 3);
}

TEST(in_undo)
{
	each_call_of(&stages[2], 3);
}

TEST(in_redo)
{
	each_call_of(&stages[3], 3);
}

TEST(in_restore)
{
	each_call_of(&stages[4], 3);
}

TEST(in_recovery)
{
	each_call_of(&stages[5], 1);
}

/* ---- overlapping steps in a store that is not written in place --------------------------------
 */

static bool copies_on_write;

/* Replaces the library's function: the logs are written by pwrite(), which may fail. */
bool in_place_writes(int fd)
{
	const int volume = os_volume(fd);

	return !copies_on_write && (volume == VOLUME_IN_PLACE || volume == VOLUME_MEMORY);
}

void in_place_keep(int fd)
{
	(void)fd;
}

static void run_undo_both(void *arg)
{
	result = undo(arg, 2, false);
}

/* The disk is full for one call, and the reserve lets the rollback go on. Returns false if it has
 * fewer calls. */
static bool both_fail_at(int n, bool redone)
{
	struct inject in = {.nth = n, .err = ENOSPC, .space = true};
	struct fix *f = fix_new();
	AUTO_FREE char *before = snap(f), *after = NULL;
	struct step *first, *second;

	/* Each record needs the one before it, which is of the other step. */
	begin(f, "touch x; ...; mv y z");
	assert_int_equal(put(f, "x", "first\n"), 0);
	first = f->s;
	begin(f, "mv x y");
	assert_int_equal(mv(f, "x", "y", 0), 0);
	second = f->s;
	f->s = first;
	assert_int_equal(mv(f, "y", "z", 0), 0);
	committed(f);
	f->s = second;
	committed(f);
	after = snap(f);
	if (redone)
		must(f, undo(f, 2, 0));
	inject_run(&in, redone ? run_redo : run_undo_both, f);
	if (getenv("CORDON_TEST_SEED"))
		fprintf(stderr, "# call %d (number %d): %d %s\n", n, in.failed, result,
			f->err.text);
	assert_tree(f, redone == (result == 0) ? after : before);
	assert_sound(f);
	if (result == 0)
		must(f, redone ? undo(f, 2, 0) : redo(f, 0));
	assert_tree(f, redone ? before : after);
	fix_free(f);
	return in.failed >= 0;
}

TEST(in_overlapping_steps_where_logs_are_not_written_in_place)
{
	copies_on_write = true;
	for (int redone = 0; redone < 2; redone++)
		for (int n = 1; both_fail_at(n, redone); n++)
			;
	copies_on_write = false;
}

int main(void)
{
	/* Thousands of small stores: in memory, unless CORDON_TEST_THOROUGH wants the disk. */
	if (!getenv("CORDON_TEST_THOROUGH") && access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	return run_all(NULL, NULL, NULL, NULL);
}
