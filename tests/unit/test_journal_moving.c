/* test_journal_moving - another program appends to a file while it is captured and overwritten. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* The line is written before the n-th system call of the operation, for each n. Afterwards the file
 * must have it, or have it again after the operation is reverted. */
#define LINE "a line of another program\n"

struct moving;

struct scene {
	size_t size;
	bool held, linked;
	bool grows;  /* the operation makes the file larger */
	bool inside; /* the line goes over the first bytes of the file */
	int (*agent)(struct fix *f);
	void (*run)(void *arg);
	int (*back)(struct moving *m);
};

struct moving {
	struct fix *f;
	const struct scene *s;
	struct inject i;
	int fd; /* -1: the program opens the file for each line */
	bool wrote;
	int nr; /* the call before which it wrote */
	int64_t id;
	int r;
};

/* Between the last check of the file and these calls no protection is possible. */
static bool is_too_late(const struct scene *s, int nr)
{
	return nr == SYS_ftruncate || nr == SYS_truncate ||
	       (nr == SYS_pwrite64 && (s->grows || s->inside));
}

static void append(void *arg)
{
	struct moving *m = arg;
	AUTO_FREE char *path = xasprintf("%s/f", m->f->folder);
	AUTO_CLOSE int own = -1;
	int fd = m->fd;

	if (is_too_late(m->s, m->i.nr))
		return;
	if (fd < 0) /* not blocking: the thread that holds the file waits for us */
		fd = own = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	m->nr = m->i.nr;
	if (m->s->inside)
		lseek(fd, 0, SEEK_SET);
	m->wrote = fd >= 0 && write(fd, LINE, sizeof(LINE) - 1) == sizeof(LINE) - 1;
}

static void run_undo(void *arg)
{
	struct moving *m = arg;

	m->r = undo(m->f, 1, 0);
}

static void run_force(void *arg)
{
	struct moving *m = arg;

	m->r = undo(m->f, 1, UNDO_FORCE);
}

static int back_redo(struct moving *m)
{
	return redo(m->f, UNDO_FORCE);
}

static void run_restore(void *arg)
{
	struct moving *m = arg;

	m->r = restore(m->f, m->id, "f", 0);
}

static int back_undo(struct moving *m)
{
	return undo(m->f, 1, UNDO_FORCE);
}

static void run_empty(void *arg)
{
	struct moving *m = arg;
	struct at a = at(m->f, "f");

	m->r = op_open(m->f->s, &a, O_WRONLY | O_TRUNC, 0, NULL);
	if (m->r >= 0)
		close(m->r);
}

static void run_cut(void *arg)
{
	struct moving *m = arg;
	struct at a = at(m->f, "f");

	m->r = op_truncate(m->f->s, &a, 10, NULL);
}

static int back_step(struct moving *m)
{
	return commit(m->f) > 0 ? undo(m->f, 1, UNDO_FORCE) : -1;
}

static int agent_appends(struct fix *f)
{
	return add(f, "f", "agent\n");
}

static int agent_empties(struct fix *f)
{
	return put(f, "f", "agent\n");
}

static bool has_line(struct fix *f)
{
	AUTO_FREE char *text = cat(f, "f");

	return text && strstr(text, LINE);
}

static void prepare(struct moving *m, const struct scene *s)
{
	AUTO_FREE char *text = xmalloc(s->size + 1), *path = xasprintf("%s/f", m->f->folder);
	AUTO_FREE char *second = xasprintf("%s/second", m->f->folder);

	memset(text, 'x', s->size);
	text[s->size] = '\0';
	outside(m->f, "f", text);
	if (s->linked)
		assert_int_equal(link(path, second), 0);
	begin(m->f, "agent");
	if (s->agent) {
		assert_int_equal(s->agent(m->f), 0);
		m->id = committed(m->f);
	}
	fix_drop_dirs(m->f);
	if (s->held)
		m->fd = open(path, O_WRONLY | (s->inside ? 0 : O_APPEND) | O_CLOEXEC);
	assert_true(m->fd >= 0 || !s->held);
}

/* Returns false if the operation has fewer calls. */
static bool play(const struct scene *s, int nth)
{
	struct fix *f = fix_new();
	struct moving m = {.f = f, .s = s, .fd = -1, .i = {.nth = nth, .meanwhile = append}};
	bool more;

	prepare(&m, s);
	inject_run(&m.i, s->run, &m);
	more = m.i.seen >= nth;
	if (m.wrote && !has_line(f)) {
		must(f, m.r);
		must(f, s->back(&m));
		if (!has_line(f))
			fail_msg("lost what was written before call %d, which is %d", nth, m.nr);
		f->s = NULL;
	}
	if (!s->agent && f->s)
		assert_true(commit(f) >= 0);
	assert_sound(f);
	if (m.fd >= 0)
		close(m.fd);
	fix_free(f);
	return more;
}

static void each_call(const struct scene *s)
{
	const int stride = getenv("CORDON_TEST_THOROUGH") || !s->agent ? 1 : 3;
	int nth = 1;

	while (play(s, nth))
		nth += stride;
	print_message("# %d calls\n", nth);
}

#define SMALL 1000
#define LARGE 150000 /* too large for the log; several blocks */

TEST(an_undo_that_cuts_a_log)
{
	struct scene s = {.agent = agent_appends, .back = back_redo, .held = true};

	s.size = SMALL;
	s.run = run_undo;
	each_call(&s);
	s.size = LARGE;
	s.run = run_force;
	each_call(&s);
}

TEST(an_undo_that_brings_back_a_log)
{
	const struct scene s = {.size = LARGE,
				.held = true,
				.grows = true,
				.agent = agent_empties,
				.run = run_undo,
				.back = back_redo};

	each_call(&s);
}

TEST(an_undo_of_a_file_that_is_overwritten)
{
	struct scene s = {.held = true,
			  .inside = true,
			  .agent = agent_appends,
			  .run = run_force,
			  .back = back_redo};

	s.size = SMALL;
	each_call(&s);
	s.size = LARGE;
	each_call(&s);
}

TEST(an_undo_of_a_file_with_two_names)
{
	struct scene s = {
		.linked = true, .agent = agent_appends, .run = run_force, .back = back_redo};

	s.size = SMALL;
	each_call(&s);
	s.size = LARGE;
	each_call(&s);
}

TEST(a_restore_in_place)
{
	struct scene s = {.held = true,
			  .linked = true,
			  .agent = agent_appends,
			  .run = run_restore,
			  .back = back_undo};

	s.size = SMALL;
	each_call(&s);
	s.size = LARGE;
	each_call(&s);
}

TEST(a_file_that_the_agent_empties)
{
	struct scene s = {.held = true, .run = run_empty, .back = back_step};

	s.size = SMALL;
	each_call(&s);
	s.size = LARGE;
	each_call(&s);
}

TEST(a_file_that_the_agent_cuts)
{
	const struct scene s = {.size = LARGE, .held = true, .run = run_cut, .back = back_step};

	each_call(&s);
}

/* To write to it, its owner adds permissions first. */
TEST_WITH(a_held_file_without_permissions_keeps_its_mode, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/f", f->folder), *after = NULL;
	AUTO_CLOSE int fd = -1;
	struct stat st;

	outside(f, "f", "before\n");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	begin(f, "agent");
	assert_int_equal(agent_appends(f), 0);
	assert_int_equal(mode(f, "f", 0), 0);
	assert_true(commit(f) > 0);
	after = snap(f);
	must(f, undo(f, 1, 0));
	assert_cat(f, "f", "before\n");
	must(f, redo(f, 0));
	assert_true(stat(path, &st) == 0 && (st.st_mode & 07777) == 0);
	assert_tree(f, after);
}

/* ---- a file that changes all the time -------------------------------------------------------- */

/* Appends before each call, from the copy on. */
static void append_on(void *arg)
{
	struct moving *m = arg;

	if (m->wrote || m->i.nr == SYS_copy_file_range)
		append(m);
}

static void without_rest(struct moving *m, const struct scene *s)
{
	*m = (struct moving){.f = m->f,
			     .s = s,
			     .fd = -1,
			     .i = {.nth = 1, .lasting = true, .meanwhile = append_on}};
	prepare(m, s);
	inject_run(&m->i, s->run, m);
	close(m->fd);
}

TEST_WITH(an_undo_is_refused_and_force_goes_on, fix_setup, fix_teardown)
{
	struct scene s = {.size = LARGE, .held = true, .agent = agent_appends, .run = run_undo};
	struct moving m = {.f = *state};
	AUTO_FREE char *text = NULL;

	without_rest(&m, &s);
	if (!m.wrote) /* the file was cloned at once */
		skip();
	assert_int_equal(m.r, -EAGAIN);
	assert_non_null(strstr(m.f->err.text, "at 'f', which another program is writing to"));
	text = cat(m.f, "f");
	assert_non_null(text);
	assert_int_equal(strncmp(text + LARGE, "agent\n" LINE, sizeof("agent\n" LINE) - 1), 0);
	s.run = run_force;
	without_rest(&m, &s);
	must(m.f, m.r);
	assert_sound(m.f);
}

TEST_WITH(the_step_is_incomplete, fix_setup, fix_teardown)
{
	const struct scene s = {.size = LARGE, .held = true, .run = run_empty};
	struct moving m = {.f = *state};
	struct step_info *list = NULL;
	size_t n = 0;

	without_rest(&m, &s);
	assert_true(m.r >= 0);
	assert_true(commit(m.f) > 0);
	if (!m.wrote)
		skip();
	assert_int_equal(journal_list(m.f->j, false, &list, &n, &m.f->err), 0);
	assert_true(n == 1 && list[0].incomplete);
	assert_non_null(strstr(list[0].why, "'f' was being written to by another program"));
	step_info_free(list, n);
}

TESTS(NULL, NULL)
