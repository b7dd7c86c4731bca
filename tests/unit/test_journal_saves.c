/* test_journal_saves - rollbacks leave temporary files of external programs unchanged. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Files at "lock" that were made inside, or by a rollback. */
static struct object ours[16];
static size_t n_ours;
static bool by_content; /* the list is lost with a killed process */

static bool is_theirs(void *data, const char *path, const struct object *o)
{
	AUTO_FREE char *text = NULL;

	(void)data;
	if (by_content && io_read_file(AT_FDCWD, path, 64, &text, NULL) < 0)
		return false;
	if (text && !str_eq(text, "host\n"))
		return false;
	for (size_t i = 0; i < n_ours; i++)
		if (object_same(&ours[i], o))
			return false;
	return str_eq(path_base(path), "lock");
}

static void placed(void *data, const char *path, const struct object *o)
{
	(void)data;
	if (str_eq(path_base(path), "lock")) {
		assert_true(n_ours < ARRAY_LEN(ours));
		ours[n_ours++] = *o;
	}
}

static const struct journal_saves saves = {.is_theirs = is_theirs, .placed = placed};

static int setup(void **state)
{
	struct fix *f = fix_new();

	n_ours = 0;
	by_content = false;
	f->saves = &saves;
	fix_reopen(f);
	outside(f, "config", "mine\n");
	*state = f;
	return 0;
}

/* Makes the lock inside, as a new file. */
static void lock(struct fix *f, const char *text)
{
	struct object o;

	must(f, put(f, "lock", text));
	must(f, object_stat(journal_folder_fd(f->j), "lock", &o));
	placed(f, "lock", &o);
}

/* Makes the lock externally, like git, in place of any other. */
static void lock_outside(void *data, const struct undo_plan *plan)
{
	struct fix *f = data;

	(void)plan;
	unlinkat(journal_folder_fd(f->j), "lock", 0);
	outside(f, "lock", "host\n");
}

static void assert_saved(struct fix *f)
{
	int dir = journal_folder_fd(f->j);
	AUTO_FREE char *news = journal_news(f->j);

	assert_non_null(news);
	assert_non_null(strstr(news, "'lock' is left as it is"));
	assert_cat(f, "lock", "host\n");
	must(f, renameat(dir, "lock", dir, "config"));
	assert_cat(f, "config", "host\n");
	assert_sound(f);
}

static void abort_step(struct fix *f)
{
	must(f, journal_abort(take_ptr(&f->s), &f->err));
}

static int undo_late(struct fix *f, size_t n, unsigned flags)
{
	const struct undo_progress late = {.planned = lock_outside, .data = f};

	return journal_undo(f->j, UNDO_BACK, n, flags, &late, &f->err);
}

TEST(made_and_removed)
{
	struct fix *f = *state;

	begin(f, "save");
	lock(f, "evil\n");
	must(f, rm(f, "lock"));
	lock_outside(f, NULL);
	abort_step(f);
	assert_saved(f);
}

TEST(removed_and_made)
{
	struct fix *f = *state;

	begin(f, "one");
	lock(f, "evil\n");
	assert_true(commit(f));
	begin(f, "two");
	must(f, rm(f, "lock"));
	lock(f, "new\n");
	lock_outside(f, NULL);
	abort_step(f);
	assert_saved(f);
}

TEST(renamed)
{
	struct fix *f = *state;

	begin(f, "save");
	lock(f, "evil\n");
	must(f, mv(f, "lock", "config", 0));
	lock_outside(f, NULL);
	abort_step(f);
	assert_cat(f, "config", "mine\n");
	assert_saved(f);
}

TEST(came_by_a_rename)
{
	struct fix *f = *state;

	outside(f, "x", "x\n");
	begin(f, "mv");
	must(f, mv(f, "x", "lock", 0));
	lock_outside(f, NULL);
	abort_step(f);
	assert_cat(f, "x", NULL);
	assert_saved(f);
}

TEST(exchanged)
{
	struct fix *f = *state;

	begin(f, "one");
	lock(f, "evil\n");
	must(f, put(f, "x", "x\n"));
	assert_true(commit(f));
	begin(f, "two");
	must(f, mv(f, "x", "lock", RENAME_EXCHANGE));
	lock_outside(f, NULL);
	abort_step(f);
	assert_cat(f, "x", "evil\n");
	assert_saved(f);
}

TEST(written_to)
{
	struct fix *f = *state;
	struct stat st;

	begin(f, "one");
	lock(f, "evil\n");
	assert_true(commit(f));
	begin(f, "two");
	must(f, mode(f, "lock", 0600));
	must(f, add(f, "lock", "more\n"));
	assert_true(commit(f));
	must(f, undo_late(f, 1, 0));
	must(f, fstatat(journal_folder_fd(f->j), "lock", &st, 0));
	assert_int_equal(st.st_mode & 0777, 0666 & ~022);
	assert_saved(f);
}

TEST(later_than_the_plan)
{
	struct fix *f = *state;

	begin(f, "save");
	lock(f, "evil\n");
	must(f, add(f, "lock", "more\n"));
	must(f, rm(f, "lock"));
	must(f, put(f, "y", "y\n"));
	assert_true(commit(f));
	must(f, undo_late(f, 1, 0));
	assert_cat(f, "y", NULL);
	assert_cat(f, "lock", "host\n");
	assert_sound(f);
	must(f, unlinkat(journal_folder_fd(f->j), "lock", 0));
	must(f, redo(f, UNDO_FORCE));
	assert_cat(f, "y", "y\n");
	assert_cat(f, "lock", NULL);
	/* The plan asks about it, and even with force it is not changed. */
	must(f, undo_late(f, 1, UNDO_FORCE));
	assert_saved(f);
}

/* A file made by a rollback is no external save. */
TEST(ours_comes_and_goes)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL, *news = NULL;

	begin(f, "one");
	lock(f, "one\n");
	assert_true(commit(f));
	one_step(f, "two", add(f, "lock", "two\n"));
	after = snap(f);
	for (int i = 0; i < 2; i++) {
		must(f, undo(f, 2, 0));
		assert_tree(f, before);
		must(f, redo(f, 0));
		assert_tree(f, after);
	}
	must(f, undo(f, 1, 0));
	must(f, undo(f, 1, 0));
	assert_tree(f, before);
	news = journal_news(f->j);
	assert_true(!news || !strstr(news, "left as it is"));
	assert_sound(f);
}

static bool cat_is(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *now = cat(f, path);

	return now && str_eq(now, text);
}

static void work(void *arg)
{
	struct fix *f = arg;

	fix_open(f);
	must(f, undo_late(f, 1, UNDO_FORCE));
}

/* Killed anywhere, the next start finishes the rollback: the records still name what was left
 * out. */
TEST(killed)
{
	struct fix *f = *state;
	bool dead = true;
	int nth = 1;

	begin(f, "save");
	lock(f, "evil\n");
	must(f, add(f, "lock", "more\n"));
	must(f, mv(f, "lock", "config", 0));
	must(f, put(f, "y", "y\n"));
	assert_true(commit(f));
	by_content = true;
	for (; dead; nth += comb(5)) {
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
		n_ours = 0;
		dead = inject_kill(nth, work, f);
		fix_open(f);
		if (cat_is(f, "y", "y\n")) /* it had not begun */
			must(f, undo(f, 1, UNDO_FORCE));
		assert_cat(f, "config", "mine\n");
		assert_cat(f, "y", NULL);
		if (!dead)
			assert_cat(f, "lock", "host\n");
		assert_sound(f);
		unlinkat(journal_folder_fd(f->j), "lock", 0);
		must(f, redo(f, UNDO_FORCE));
		assert_cat(f, "config", "evil\nmore\n");
		assert_cat(f, "y", "y\n");
	}
	assert_true(nth > 50);
}

TESTS(setup, fix_teardown)
