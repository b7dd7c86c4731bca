/* test_journal_parents - the directories above a restored path. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static void assert_mode(struct fix *f, const char *path, mode_t want)
{
	struct stat st;

	assert_int_equal(fstatat(journal_folder_fd(f->j), path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, want);
}

/* Makes a step whose directories a later step removes. Returns its number. */
static int64_t remove_all(struct fix *f)
{
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "d/e/f", "text\n"), 0);
	assert_int_equal(mode(f, "d/e", 0500), 0);
	assert_int_equal(mode(f, "d", 0700), 0);
	assert_true(commit(f) > 0);
	begin(f, "rm f");
	assert_int_equal(mode(f, "d/e", 0700), 0);
	assert_int_equal(rm(f, "d/e/f"), 0);
	assert_int_equal(mode(f, "d/e", 0500), 0);
	id = commit(f);
	assert_true(id > 0);
	begin(f, "rm -r");
	assert_int_equal(rd(f, "d/e"), 0);
	assert_int_equal(rd(f, "d"), 0);
	assert_true(commit(f) > 0);
	return id;
}

TEST(they_are_as_they_were)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *text = NULL;

	must(f, restore(f, remove_all(f), "d/e/f", UNDO_FORCE));
	assert_mode(f, "d", 0700);
	assert_mode(f, "d/e", 0500);
	text = cat(f, "d/e/f");
	assert_string_equal(text, "text\n");
	assert_int_equal(undo(f, 4, 0), 0);
	assert_tree(f, before);
}

/* Removed externally, they are made with an ordinary mode. */
TEST(those_of_nobody_are_made)
{
	struct fix *f = *state;
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/f", "text\n"), 0);
	assert_int_equal(mode(f, "d", 0700), 0);
	assert_true(commit(f) > 0);
	id = one_step(f, "rm f", rm(f, "d/f"));
	assert_int_equal(unlinkat(journal_folder_fd(f->j), "d", AT_REMOVEDIR), 0);
	must(f, restore(f, id, "d/f", UNDO_FORCE));
	assert_mode(f, "d", 0755);
}

static void instead(struct fix *f, const char *dir, const char *target)
{
	AUTO_FREE char *path = xasprintf("%s/%s", f->folder, dir);

	assert_int_equal(io_remove_tree(AT_FDCWD, path), 0);
	if (target)
		assert_int_equal(symlink(target, path), 0);
	else
		outside(f, dir, "mine\n");
}

/* An external file or link is in the place of a directory: with force it is moved to where undo can
 * restore it. */
TEST(what_stands_in_their_place_goes_by_force)
{
	struct fix *f = *state;
	int64_t changed, removed;

	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "d/e/f", "was\n"), 0);
	assert_int_equal(put(f, "d/e/g", "was\n"), 0);
	assert_true(commit(f) > 0);
	changed = one_step(f, "change", put(f, "d/e/f", "is\n"));
	removed = one_step(f, "remove", rm(f, "d/e/g"));
	instead(f, "d/e", NULL);
	assert_int_equal(restore(f, changed, "d/e/f", 0), -ESTALE);
	assert_int_equal(restore(f, removed, "d/e/g", 0), -ESTALE);
	assert_cat(f, "d/e", "mine\n");
	must(f, restore(f, removed, "d/e/g", UNDO_FORCE));
	assert_cat(f, "d/e/g", "was\n");
	must(f, restore(f, changed, "d/e/f", UNDO_FORCE));
	assert_cat(f, "d/e/f", "was\n");
	assert_int_equal(undo(f, 2, 0), 0);
	assert_cat(f, "d/e", "mine\n");
	instead(f, "d", "..");
	assert_int_equal(restore(f, removed, "d/e/g", 0), -ESTALE);
	must(f, restore(f, removed, "d/e/g", UNDO_FORCE));
	assert_cat(f, "d/e/g", "was\n");
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(faccessat(journal_folder_fd(f->j), "d/work/d", F_OK, 0), 0);
}

TESTS(fix_setup, fix_teardown)
