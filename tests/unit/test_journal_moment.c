/* test_journal_moment - external edits at the very moment when a rollback restores a file. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "tests/support/journalfix.h"

/* The external editor is a function called during the rollback: when the file "now" is at its
 * place, which is reported to watchers for saves. */
static void (*human)(struct fix *f);
static const char *moment = "now";
static unsigned came; /* number of calls */

static bool is_theirs(void *data, const char *path, const struct object *o)
{
	(void)data, (void)path, (void)o;
	return false;
}

static void act(struct fix *f, const char *path)
{
	void (*fn)(struct fix *) = human;

	if (!fn || !str_eq(path_base(path), moment))
		return;
	human = NULL;
	came++;
	fn(f);
}

static void placed(void *data, const char *path, const struct object *o)
{
	(void)o;
	act(data, path);
}

static const struct journal_saves saves = {.is_theirs = is_theirs, .placed = placed};

static int setup(void **state)
{
	struct fix *f = fix_new();

	human = NULL;
	moment = "now";
	came = 0;
	f->saves = &saves;
	fix_reopen(f);
	*state = f;
	return 0;
}

/* Makes the file that the step will find, with an old time. */
static void found(struct fix *f, const char *path, const char *text)
{
	static const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	outside(f, path, text);
	assert_int_equal(utimensat(journal_folder_fd(f->j), path, old, 0), 0);
}

static void append(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	FILE *out = fopen(whole, "ae");

	assert_non_null(out);
	fputs("human\n", out);
	fclose(out);
}

static void append_now(struct fix *f)
{
	append(f, "now");
}

static void append_file(struct fix *f)
{
	append(f, "file");
}

static void write_same_size(struct fix *f)
{
	outside(f, "now", "HUMAN");
}

static void save_by_name(struct fix *f)
{
	outside(f, "file.tmp", "human\n");
	assert_int_equal(
		renameat(journal_folder_fd(f->j), "file.tmp", journal_folder_fd(f->j), "file"), 0);
}

static void chmod_file(struct fix *f)
{
	assert_int_equal(fchmodat(journal_folder_fd(f->j), "file", 0700, 0), 0);
}

/* The next undo or redo must stop at the edit, also after it was forced and reverted. */
static void assert_stops(struct fix *f, bool undone, const char *path, const char *text)
{
	assert_int_equal(came, 1);
	assert_cat(f, path, text);
	assert_int_equal(undone ? redo(f, 0) : undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, path));
	assert_cat(f, path, text);
	fix_reopen(f);
	assert_int_equal(undone ? redo(f, 0) : undo(f, 1, 0), -ESTALE);
	must(f, undone ? redo(f, UNDO_FORCE) : undo(f, 1, UNDO_FORCE));
	must(f, undone ? undo(f, 1, UNDO_FORCE) : redo(f, UNDO_FORCE));
	assert_cat(f, path, text);
	assert_sound(f);
}

TEST(a_new_file_comes_back)
{
	struct fix *f = *state;

	one_step(f, "agent", put(f, "now", "agent\n"));
	must(f, undo(f, 1, 0));
	human = append_now;
	must(f, redo(f, 0));
	assert_stops(f, false, "now", "agent\nhuman\n");
}

TEST(of_the_same_size)
{
	struct fix *f = *state;

	one_step(f, "agent", put(f, "now", "agent"));
	must(f, undo(f, 1, 0));
	usleep(20000); /* one tick of the kernel's clock, for the file's time */
	human = write_same_size;
	must(f, redo(f, 0));
	assert_stops(f, false, "now", "HUMAN");
}

TEST(a_removed_file_comes_back)
{
	struct fix *f = *state;

	found(f, "now", "found\n");
	one_step(f, "agent", rm(f, "now"));
	human = append_now;
	must(f, undo(f, 1, 0));
	assert_stops(f, true, "now", "found\nhuman\n");
}

TEST(a_changed_file_comes_back)
{
	struct fix *f = *state;

	found(f, "now", "found\n");
	one_step(f, "agent", put(f, "now", "agent\n"));
	human = append_now;
	must(f, undo(f, 1, 0));
	assert_stops(f, true, "now", "found\nhuman\n");
}

TEST(a_renamed_file_comes_back)
{
	struct fix *f = *state;

	found(f, "now", "found\n");
	one_step(f, "agent", mv(f, "now", "then", 0));
	human = append_now;
	must(f, undo(f, 1, 0));
	assert_stops(f, true, "now", "found\nhuman\n");
}

/* "now" is the step's first change, and the last to be undone. */
static void begin_with_now(struct fix *f)
{
	found(f, "now", "now\n");
	begin(f, "agent");
	must(f, rm(f, "now"));
}

static void undone_meanwhile(struct fix *f, void (*edit)(struct fix *), const char *text)
{
	assert_true(commit(f) > 0);
	human = edit;
	must(f, undo(f, 1, 0));
	assert_stops(f, true, "file", text);
}

TEST(bytes_come_back_in_place)
{
	struct fix *f = *state;

	found(f, "file", "found\n");
	assert_int_equal(
		linkat(journal_folder_fd(f->j), "file", journal_folder_fd(f->j), "other", 0), 0);
	begin_with_now(f);
	must(f, put(f, "file", "agent\n"));
	undone_meanwhile(f, append_file, "found\nhuman\n");
}

TEST(a_mode_comes_back)
{
	struct fix *f = *state;

	found(f, "file", "found\n");
	begin_with_now(f);
	must(f, mode(f, "file", 0600));
	undone_meanwhile(f, append_file, "found\nhuman\n");
}

TEST(its_mode_is_changed)
{
	struct fix *f = *state;

	found(f, "file", "found\n");
	begin_with_now(f);
	must(f, put(f, "file", "agent\n"));
	undone_meanwhile(f, chmod_file, "found\n");
}

TEST(it_is_saved_by_a_temporary_name)
{
	struct fix *f = *state;

	found(f, "file", "found\n");
	begin_with_now(f);
	must(f, put(f, "file", "agent\n"));
	undone_meanwhile(f, save_by_name, "human\n");
}

TEST(what_goes_is_made_anew)
{
	struct fix *f = *state;

	begin_with_now(f);
	must(f, put(f, "file", "agent\n"));
	undone_meanwhile(f, append_file, "human\n");
}

TEST(names_of_one_file)
{
	struct fix *f = *state;

	found(f, "file", "found\n");
	begin_with_now(f);
	must(f, ln(f, "file", "other"));
	must(f, add(f, "other", "agent\n"));
	assert_true(commit(f) > 0);
	for (int i = 0; i < 3; i++) { /* without an edit */
		must(f, undo(f, 1, 0));
		must(f, redo(f, 0));
	}
	human = append_file;
	must(f, undo(f, 1, 0));
	assert_stops(f, true, "file", "found\nhuman\n");
}

/* The other files are the rollback's own, and so are all once the edit is gone. */
TEST(the_rest_is_its_own)
{
	struct undo_plan *plan = NULL;
	struct fix *f = *state;

	begin(f, "agent");
	must(f, put(f, "now", "agent\n"));
	must(f, put(f, "file", "agent\n"));
	must(f, md(f, "dir"));
	must(f, put(f, "dir/file", "agent\n"));
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	human = append_now;
	must(f, redo(f, 0));
	must(f, journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err));
	assert_int_equal(plan->n_conflicts, 1);
	undo_plan_free(plan);
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	assert_cat(f, "now", "agent\nhuman\n");
	assert_cat(f, "file", NULL);
	assert_cat(f, "dir/file", NULL);
}

/* A keeper's watcher must report the edit, and nothing else. */
TEST(the_watcher_is_told)
{
	struct fix *f = *state;

	begin(f, "agent");
	must(f, put(f, "now", "agent\n"));
	must(f, put(f, "file", "agent\n"));
	assert_true(commit(f) > 0);
	journal_all_seen(f->j);
	journal_own(f->j, true);
	must(f, undo(f, 1, 0));
	journal_own(f->j, false);
	journal_own(f->j, true);
	human = append_now;
	must(f, redo(f, 0));
	assert_true(journal_is_foreign(f->j, "now", SEEN_CLOSED, 0));
	assert_false(journal_is_foreign(f->j, "file", SEEN_NAMED, 0));
	assert_false(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
	append_file(f); /* after the check of all files, and before their events */
	assert_true(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
	journal_own(f->j, false);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

TESTS(setup, fix_teardown)
