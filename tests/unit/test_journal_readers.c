/* test_journal_readers - reads a history at its limit while a session writes it. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>

#include "core/diff/diff.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

#define ROUNDS 150

static void made(struct fix *f, int i)
{
	AUTO_FREE char *text = xasprintf("%d\n", i), *name = xasprintf("made-%d", i);

	begin(f, "made");
	assert_int_equal(put(f, "x", text), 0);
	assert_int_equal(put(f, name, text), 0);
	assert_int_equal(rm(f, name), 0);
	assert_int_equal(put(f, "y", text), 0);
	commit(f);
}

static pid_t begin_session(struct fix *f, size_t steps)
{
	pid_t pid;

	f->options.steps = steps;
	fix_reopen(f);
	for (int i = 0; i < 4; i++)
		made(f, i);
	journal_close(f->j);
	f->j = NULL;
	pid = fork();
	if (pid == 0) {
		fix_open(f);
		for (int i = 4;; i++)
			made(f, i);
	}
	assert_true(pid > 0);
	return pid;
}

static void end_session(struct fix *f, pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fix_open(f);
}

static bool count(void *data, enum diff_line_kind kind, const char *text, size_t len, int old_line,
		  int new_line)
{
	size_t *n = data;

	(void)kind, (void)text, (void)len, (void)old_line, (void)new_line;
	++*n;
	return true;
}

static struct journal *look(struct fix *f)
{
	const struct journal_spec spec = {
		.folder = f->folder, .state_dir = f->state, .read_only = true};
	struct journal *j;

	f->err = (struct err){0};
	if (journal_open(&j, &spec, NULL, &f->err) < 0)
		fail_msg("open: %s", f->err.text);
	return j;
}

static void works(struct fix *f, const char *what, int r)
{
	if (r < 0)
		fail_msg("%s: %d %s", what, r, f->err.text);
	assert_int_equal(f->err.code, 0);
}

static void read_all(struct fix *f)
{
	const char *const paths[] = {"x"};
	struct journal *j = look(f);
	struct journal_sound sound;
	struct step_info *list;
	bool touched[8] = {false};
	size_t n = 0, lines = 0;

	works(f, "diff", diff_newest_paths(j, NULL, count, &lines, &f->err));
	assert_true(lines > 0);
	works(f, "diff ..", diff_range_paths(j, 0, 0, NULL, count, &lines, &f->err));
	works(f, "log", journal_list(j, false, &list, &n, &f->err));
	assert_true(n > 0 && n < ARRAY_LEN(touched));
	works(f, "log x", journal_touched(j, list, n, paths, 1, touched, &f->err));
	step_info_free(list, n);
	works(f, "verify", journal_verify(j, print_damage, NULL, &sound, &f->err));
	journal_close(j);
}

TEST(nothing_fails)
{
	struct fix *f = *state;

	for (size_t steps = 1; steps < 4; steps += 2) {
		pid_t pid = begin_session(f, steps);

		for (int i = 0; i < ROUNDS; i++)
			read_all(f);
		end_session(f, pid);
	}
}

struct thrown {
	struct fix *f;
	size_t lines;
};

static bool throw(void *data, const char *old_path, const char *new_path)
{
	struct journal_prune all = {.steps = 0};
	struct thrown *t = data;

	(void)old_path, (void)new_path;
	assert_int_equal(journal_prune(t->f->j, &all), 0);
	return true;
}

static bool count_thrown(void *data, enum diff_line_kind kind, const char *text, size_t len,
			 int old_line, int new_line)
{
	struct thrown *t = data;

	return count(&t->lines, kind, text, len, old_line, new_line);
}

/* Missing parts are reported as missing, the rest is shown. */
TEST(it_goes_while_it_is_shown)
{
	struct thrown t = {.f = *state};
	struct journal *j;

	made(t.f, 1);
	made(t.f, 2);
	j = look(t.f);
	works(t.f, "diff", diff_newest_paths(j, throw, count_thrown, &t, &t.f->err));
	assert_true(t.lines > 0);
	journal_close(j);
}

/* ---- the session's changes at each call of the reader ---------------------------------------- */

struct reader {
	struct fix *f;
	int (*read)(struct journal *j, struct err *err);
	void (*meanwhile)(struct fix *f);
	int r;
	struct err err;
};

static void read_it(void *arg)
{
	struct reader *one = arg;
	const struct journal_spec spec = {
		.folder = one->f->folder, .state_dir = one->f->state, .read_only = true};
	struct journal *j = NULL;

	one->err = (struct err){0};
	one->r = journal_open(&j, &spec, NULL, &one->err);
	if (one->r == 0)
		one->r = one->read(j, &one->err);
	journal_close(j);
}

static void meanwhile(void *arg)
{
	struct reader *one = arg;

	one->meanwhile(one->f);
}

static int verify(struct journal *j, struct err *err)
{
	struct journal_sound sound;

	return journal_verify(j, print_damage, NULL, &sound, err);
}

static int diff(struct journal *j, struct err *err)
{
	size_t lines = 0;
	int r = diff_newest_paths(j, NULL, count, &lines, err);

	return r == 0 && !lines ? -ENODATA : r;
}

/* Runs all of `what` right before the n-th call of the reader, for each call of an undisturbed
 * run. */
static void between(struct fix *f, int (*read)(struct journal *j, struct err *err),
		    void (*what)(struct fix *f), void (*before)(struct fix *f))
{
	struct reader one = {.f = f, .read = read, .meanwhile = what};
	struct inject in = {0};

	inject_run(&in, read_it, &one);
	for (int calls = in.seen, n = 1; n <= calls; n++) {
		in = (struct inject){.nth = n, .meanwhile = meanwhile};
		before(f);
		inject_run(&in, read_it, &one);
		if (one.r < 0)
			fail_msg("before call %d: %d %s", n, one.r, one.err.text);
	}
}

static void log_length(struct fix *f, off_t len)
{
	int fd = openat(journal_store_fd(f->j), "steps/1/undo", O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, len), 0);
	close(fd);
}

static off_t tail;

static void lengthen(struct fix *f)
{
	log_length(f, 65536);
}

static void trim(struct fix *f)
{
	log_length(f, tail);
}

/* The log is shortened after the step is kept and visible. */
TEST(a_log_gives_back_its_space)
{
	struct fix *f = *state;
	struct stat st;

	made(f, 1);
	assert_int_equal(fstatat(journal_store_fd(f->j), "steps/1/undo", &st, 0), 0);
	tail = st.st_size;
	assert_true(tail < 65536);
	between(f, verify, trim, lengthen);
}

static void changed(struct fix *f)
{
	fix_drop_dirs(f);
	begin(f, "changed");
	assert_int_equal(put(f, "big", "small\n"), 0);
	assert_int_equal(rm(f, "x"), 0);
	assert_int_equal(put(f, "y", "other\n"), 0);
	assert_int_equal(md(f, "dir"), 0);
	assert_int_equal(mv(f, "y", "dir/y", 0), 0);
	assert_int_equal(mode(f, "dir", 0700), 0);
	commit(f);
}

static void two_steps(struct fix *f)
{
	AUTO_FREE char *big = xcalloc(1, 50001);

	memset(big, 'a', 50000); /* too large for a log */
	begin(f, "made");
	assert_int_equal(put(f, "big", big), 0);
	assert_int_equal(put(f, "x", "text\n"), 0);
	assert_int_equal(put(f, "y", "text\n"), 0);
	commit(f);
	changed(f);
}

static void back(struct fix *f)
{
	must(f, undo(f, 1, 0));
}

static void again(struct fix *f)
{
	must(f, redo(f, 0));
}

static void back_and_again(struct fix *f)
{
	back(f);
	again(f);
}

/* A redone step has a new log. */
static void anew(struct fix *f)
{
	back(f);
	changed(f);
}

TEST(a_step_is_undone_and_redone)
{
	struct fix *f = *state;

	two_steps(f);
	between(f, verify, back_and_again, anew);
	between(f, diff, back_and_again, anew);
}

static void undone(struct fix *f)
{
	if (has(f, "steps/2"))
		back(f);
}

static void redone(struct fix *f)
{
	if (has(f, "redo/2"))
		again(f);
}

TEST(a_step_is_undone)
{
	struct fix *f = *state;

	two_steps(f);
	between(f, verify, back, redone);
	between(f, diff, back, redone);
	between(f, verify, again, undone);
	between(f, diff, again, undone);
}

struct going {
	struct fix *f;
	int (*go)(struct fix *f);
	int r;
};

static int go_back(struct fix *f)
{
	return undo(f, 1, 0);
}

static int go_again(struct fix *f)
{
	return redo(f, 0);
}

static void go(void *arg)
{
	struct going *g = arg;

	g->r = g->go(g->f);
}

static void look_in(void *arg)
{
	struct going *g = arg;
	struct reader one = {.f = g->f, .read = verify};

	read_it(&one);
	if (one.r < 0)
		fail_msg("%d %s", one.r, one.err.text);
	one.read = diff;
	read_it(&one);
	if (one.r < 0)
		fail_msg("%d %s", one.r, one.err.text);
}

/* The reader runs right before the n-th call of the session, for each n. */
TEST(a_rollback_is_under_way)
{
	struct fix *f = *state;
	struct going g = {.f = f};
	bool more = true;

	two_steps(f);
	for (int n = 1; more; n++) {
		struct inject in = {.nth = n, .meanwhile = look_in};

		g.go = go_back;
		inject_run(&in, go, &g);
		must(f, g.r);
		more = in.seen >= n;
		g.go = go_again;
		inject_run(&in, go, &g);
		must(f, g.r);
		more |= in.seen >= n;
	}
}

/* The reader has already read the list of directories. */
TEST(a_directory_is_granted)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = xasprintf("%s/granted", f->top);
	struct journal *j = look(f);
	struct change *list;
	struct at a = {.dir = "", .name = "file"};
	size_t n;
	int fd;

	assert_int_equal(mkdir(dir, 0755), 0);
	a.root = journal_add_root(f->j, dir, false, &f->err);
	a.dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(a.root > 0 && a.dirfd >= 0);
	begin(f, "there");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);
	assert_true(fd >= 0 && io_write_all(fd, "text\n", 5) == 0);
	close(fd);
	close(a.dirfd);
	works(f, "changes", journal_changes(j, commit(f), &list, &n, &f->err));
	works(f, "verify", verify(j, &f->err));
	works(f, "diff", diff(j, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(list[0].base, dir);
	change_free(list, n);
	journal_close(j);
}

TESTS(fix_setup, fix_teardown)
