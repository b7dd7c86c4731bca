/* test_journal_edited - a rollback of an open step leaves external edits. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/hash.h"
#include "core/base/text.h"
#include "tests/support/journalfix.h"

static void save_over(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	int r = io_write_file(AT_FDCWD, whole, 0644, text, strlen(text),
			      false); /* a save over it */

	must(f, r);
}

static void in_place(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	AUTO_CLOSE int fd = open(whole, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	must(f, io_write_all(fd, "mine\n", 5));
}

/* "place", "save" and "other" exist before the step, "new" and "made" do not. */
static void work(struct fix *f)
{
	begin(f, "first");
	put(f, "place", "old\n");
	put(f, "save", "old\n");
	put(f, "other", "old\n");
	assert_true(commit(f) != 0);
	begin(f, "second");
	put(f, "place", "agent\n");
	put(f, "save", "agent\n");
	put(f, "other", "agent\n");
	put(f, "new", "agent\n");
	md(f, "made");
	put(f, "made/own", "agent\n");
}

/* Makes external edits after the events of the step's own writes were read. */
static void edit(struct fix *f)
{
	assert_false(journal_is_foreign(f->j, "place", SEEN_CLOSED, 0));
	assert_false(journal_is_foreign(f->j, "new", SEEN_CLOSED, 0));
	journal_all_seen(f->j);
	in_place(f, "place");
	in_place(f, "new");
	save_over(f, "save", "mine\n");
	save_over(f, "made/mine", "mine\n");
	assert_true(journal_is_foreign(f->j, "place", SEEN_CLOSED, 0));
	assert_true(journal_is_foreign(f->j, "new", SEEN_CLOSED, 0));
}

static void assert_kept(struct fix *f)
{
	assert_cat(f, "place", "agent\nmine\n");
	assert_cat(f, "new", "agent\nmine\n");
	assert_cat(f, "save", "mine\n");
	assert_cat(f, "made/mine", "mine\n");
	assert_cat(f, "other", "old\n");
	assert_sound(f);
}

static void assert_named(struct fix *f)
{
	static const char *const paths[] = {"'place'", "'new'", "'save'", "'made/mine'"};
	AUTO_FREE char *news = NULL;

	assert_true(journal_urges(f->j));
	news = journal_news(f->j);
	assert_non_null(news);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_non_null(strstr(news, paths[i]));
	assert_null(strstr(news, "'other'"));
}

TEST(while_it_ran)
{
	struct fix *f = *state;

	work(f);
	edit(f);
	assert_int_equal(journal_check_edited(f->s, &f->err), -ESTALE);
	assert_non_null(strstr(f->err.text, "edited from outside"));
	f->err = (struct err){0};
	must(f, journal_roll_back(take_ptr(&f->s), &f->err));
	assert_named(f);
	assert_kept(f);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "place", "agent\nmine\n");
	assert_cat(f, "other", "agent\n");
}

/* Sets the times of the step's log back, as if the process had died an hour ago. */
static void age(struct fix *f)
{
	AUTO_FREE char *log = NULL, *store = NULL;
	const struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};
	struct timespec times[2];
	int64_t id = step_id(f->s);

	must(f, journal_store_path(&store, &spec, &f->err));
	log = xasprintf("%s/open/%lld/undo", store, (long long)id);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= 3600;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, log, times, 0), 0);
}

/* All files are newer than the log: all of them stay. */
TEST(after_a_crash)
{
	struct fix *f = *state;

	work(f);
	age(f);
	fix_reopen(f);
	assert_cat(f, "other", "agent\n");
	assert_cat(f, "made/own", "agent\n");
	assert_true(journal_urges(f->j));
	assert_sound(f);
}

TEST(seen_before_a_crash)
{
	struct fix *f = *state;

	work(f);
	edit(f);
	assert_true(journal_is_foreign(f->j, "save", SEEN_NAMED, 0));
	fix_reopen(f);
	assert_named(f);
	assert_kept(f);
}

/* The file with notes of edits cannot grow: this process's rollback still knows the edits. */
TEST(with_a_full_disk)
{
	struct fix *f = *state;
	struct rlimit was;

	work(f);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_false(journal_is_foreign(f->j, "place", SEEN_CLOSED, 0));
	assert_false(journal_is_foreign(f->j, "new", SEEN_CLOSED, 0));
	journal_all_seen(f->j);
	in_place(f, "place");
	in_place(f, "new");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){3, was.rlim_max}), 0);
	assert_true(journal_is_foreign(f->j, "place", SEEN_CLOSED, 0));
	assert_true(journal_is_foreign(f->j, "new", SEEN_CLOSED, 0));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(journal_check_edited(f->s, &f->err), -ESTALE);
	f->err = (struct err){0};
	must(f, journal_roll_back(take_ptr(&f->s), &f->err));
	assert_cat(f, "place", "agent\nmine\n");
	assert_cat(f, "new", "agent\nmine\n");
	assert_cat(f, "other", "old\n");
	assert_sound(f);
}

TEST(nothing_was_edited)
{
	struct fix *f = *state;

	work(f);
	must(f, journal_check_edited(f->s, &f->err));
	journal_live(f->j);
	fix_reopen(f);
	assert_cat(f, "other", "old\n");
	assert_false(journal_urges(f->j));
	assert_sound(f);
}

/* Saved by another step's commit, whatever path the rollback took to the file. */
TEST(replaced_and_saved)
{
	struct fix *f = *state;
	struct saved_redo *list = NULL;
	AUTO_CLOSE int fd = -1;
	char text[32] = "";
	size_t n = 0;

	work(f);
	must(f, mv(f, "place", "moved", 0));
	assert_true(commit(f) != 0);
	in_place(f, "moved");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "place", "old\n");
	must(f, journal_saved_redos(f->j, &list, &n, &f->err));
	assert_int_equal(n, 0);
	saved_redos_free(list, n);
	one_step(f, "third", put(f, "third", "x"));
	assert_int_equal(redo(f, 0), -ENOENT);
	must(f, journal_saved_redos(f->j, &list, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(list->n_paths, 1);
	assert_string_equal(list->paths[0], "moved");
	must(f, journal_saved_redo_open(f->j, list->number, "moved", 0, &fd, &f->err));
	assert_int_equal(io_read_full(fd, text, sizeof(text) - 1), 11);
	assert_string_equal(text, "agent\nmine\n");
	saved_redos_free(list, n);
	fix_reopen(f);
	assert_sound(f);
}

/* Checks the newest saved file of a rollback; overwritten ones have their own test. */
static void assert_saved(struct fix *f, const char *path, const char *want)
{
	struct saved_redo *list = NULL;
	AUTO_CLOSE int fd = -1;
	char text[32] = "";
	size_t n = 0, named = 0;

	must(f, journal_saved_redos(f->j, &list, &n, &f->err));
	assert_true(n == 1 || (n == 2 && list[1].overwritten));
	assert_false(list->overwritten);
	must(f, journal_saved_redo_open(f->j, list->number, path, 0, &fd, &f->err));
	must(f, (int)MIN(io_read_full(fd, text, sizeof(text) - 1), 0));
	assert_string_equal(text, want);
	for (size_t i = 0; i < list->n_paths; i++)
		named += str_eq(list->paths[i], path);
	assert_int_equal(named, 1);
	saved_redos_free(list, n);
}

static void assert_nothing_saved(struct fix *f)
{
	struct saved_redo *list = NULL;
	size_t n = 0;

	must(f, journal_saved_redos(f->j, &list, &n, &f->err));
	assert_int_equal(n, 0);
	saved_redos_free(list, n);
}

/* The files stay as the user has them: the content before the steps is in the steps only. */
TEST(left_and_saved)
{
	struct fix *f = *state;

	outside(f, "in", "before\n");
	outside(f, "gone", "before it went\n");
	outside(f, "other", "other\n");
	one_step(f, "echo >in", put(f, "in", "agent\n"));
	one_step(f, "echo >>in", add(f, "in", "more\n"));
	begin(f, "rm gone; echo >other");
	must(f, rm(f, "gone"));
	must(f, put(f, "other", "agent\n"));
	assert_true(commit(f) > 0);
	in_place(f, "in");
	outside(f, "gone", "anew\n");
	must(f, undo(f, 3, UNDO_KEEP_MINE));
	assert_nothing_saved(f);
	must(f, redo(f, UNDO_KEEP_MINE));
	must(f, undo(f, 3, UNDO_KEEP_MINE));
	assert_cat(f, "in", "agent\nmore\nmine\n");
	assert_cat(f, "gone", "anew\n");
	assert_cat(f, "other", "other\n");
	one_step(f, "last", put(f, "last", "x"));
	assert_saved(f, "in", "before\n");
	assert_saved(f, "gone", "before it went\n");
	fix_reopen(f);
	assert_saved(f, "in", "before\n");
	assert_sound(f);
}

/* A rollback that left nothing, or only files made by a step, ends in the trash. */
TEST(nothing_to_save)
{
	struct fix *f = *state;

	outside(f, "old", "before\n");
	one_step(f, "echo >old", put(f, "old", "agent\n"));
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	one_step(f, "echo >new", put(f, "new", "agent\n"));
	in_place(f, "new");
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	assert_cat(f, "new", "agent\nmine\n");
	one_step(f, "last", put(f, "last", "x"));
	assert_nothing_saved(f);
	assert_sound(f);
}

enum how {
	APPENDED,
	SAVED_OVER,
	SAVED_UNSEEN
};

/* The agent makes a file; the user edits it. */
static void make_and_edit(struct fix *f, enum how how)
{
	begin(f, "make, wait, remove");
	must(f, put(f, "f", "agent\n"));
	assert_false(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0));
	journal_all_seen(f->j);
	if (how == APPENDED) {
		in_place(f, "f");
		assert_true(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0));
		return;
	}
	save_over(f, "f", "agent\nmine\n");
	if (how == SAVED_OVER)
		assert_true(journal_is_foreign(f->j, "f", SEEN_NAMED, 0));
}

static void remove_it(struct fix *f, int way)
{
	if (way == 1)
		must(f, mv(f, "f", "g", 0));
	if (way == 2)
		must(f, put(f, "f", "again\n"));
	if (way == 3) {
		must(f, put(f, "tmp", "again\n"));
		must(f, mv(f, "tmp", "f", 0));
	}
	must(f, rm(f, way == 1 ? "g" : "f"));
}

/* The file exists neither before nor after the step. The step is kept nevertheless, and an undo
 * asks: redo, or cordon redo --saved, has the user's text. */
TEST(made_edited_and_removed)
{
	for (int i = 0; i < 3 * 4 * 2; i++) {
		struct fix *f = fix_new();
		enum how how = i % 3;
		int way = i / 3 % 4;
		bool force = i >= 12, by_g = way == 1 && (how == SAVED_UNSEEN || !force);

		make_and_edit(f, how);
		remove_it(f, way);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		must(f, undo(f, 1, force ? UNDO_FORCE : UNDO_KEEP_MINE));
		assert_sound(f);
		one_step(f, "next", put(f, "next", "x"));
		assert_saved(f, by_g ? "g" : "f", "agent\nmine\n");
		fix_free(f);
	}
}

/* A file that only the step made and removed leaves no step. */
TEST(made_and_removed)
{
	struct fix *f = *state;

	begin(f, "make, link, remove");
	must(f, put(f, "f", "agent\n"));
	must(f, put(f, "tmp", "agent\n"));
	must(f, mv(f, "tmp", "f", 0));
	must(f, ln(f, "f", "g"));
	must(f, rm(f, "f"));
	must(f, rm(f, "g"));
	assert_int_equal(commit(f), 0);
	outside(f, "old", "x");
	begin(f, "link and unlink");
	must(f, ln(f, "old", "g"));
	must(f, rm(f, "g"));
	commit(f);
	assert_sound(f);
}

/* At most 20 are kept: the newest. */
TEST(the_oldest_go)
{
	struct fix *f = *state;
	struct saved_redo *list = NULL;
	size_t n = 0;

	for (int i = 0; i < 25; i++) {
		one_step(f, "change", put(f, "file", i & 1 ? "one\n" : "other\n"));
		in_place(f, "file");
		assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	}
	one_step(f, "last", put(f, "last", "x"));
	must(f, journal_saved_redos(f->j, &list, &n, &f->err));
	assert_int_equal(n, 20);
	assert_true(list[0].number > list[19].number);
	saved_redos_free(list, n);
	assert_sound(f);
}

TESTS(fix_setup, fix_teardown)
