/* test_journal_expected - events caused by steps are recognised without reading files; all others
 * are checked. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static int hold(struct fix *f, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);

	assert_true(fd >= 0);
	return fd;
}

static void edit(struct fix *f, const char *path)
{
	AUTO_CLOSE int fd = openat(journal_folder_fd(f->j), path, O_WRONLY | O_APPEND);

	assert_int_equal(write(fd, "theirs", 6), 6);
}

static bool is_edit(struct fix *f, const char *path, enum seen_what what)
{
	return journal_is_foreign(f->j, path, what, 0);
}

/* Later events are not expected, unless the file may have been closed several times. */
TEST(what_was_opened_once_is_closed_once)
{
	struct fix *f = *state;

	begin(f, "agent");
	for (int i = 0; i < 3; i++) { /* once each time */
		assert_int_equal(put(f, "file", "ours"), 0);
		assert_false(is_edit(f, "file", SEEN_MADE));
		assert_false(is_edit(f, "file", SEEN_CLOSED));
		assert_int_equal(journal_count_shut(f->j), 0);
	}
	edit(f, "file");
	assert_true(is_edit(f, "file", SEEN_CLOSED));
	commit(f);
}

TEST(what_was_opened_twice_is_closed_twice)
{
	struct fix *f = *state;

	begin(f, "agent");
	assert_int_equal(put(f, "file", "ours") || put(f, "file", "ours"), 0);
	assert_false(is_edit(f, "file", SEEN_CLOSED));
	assert_int_equal(journal_count_shut(f->j), 1);
	assert_false(is_edit(f, "file", SEEN_CLOSED));
	assert_int_equal(journal_count_shut(f->j), 1);
	journal_all_seen(f->j);
	edit(f, "file");
	assert_true(is_edit(f, "file", SEEN_CLOSED));
	commit(f);
}

/* At the begin of another step all files are checked that may still be written. */
TEST(a_close_that_was_told_is_not_awaited)
{
	struct fix *f = *state;
	struct step *other = NULL;

	for (int told = 0; told < 2; told++) {
		begin(f, "agent");
		assert_int_equal(put(f, "file", "ours"), 0);
		if (told)
			assert_false(is_edit(f, "file", SEEN_CLOSED));
		assert_int_equal(journal_begin(f->j, STEP_COMMAND, "other", &other, &f->err), 0);
		if (!told)
			assert_false(is_edit(f, "file", SEEN_CLOSED));
		journal_all_seen(f->j);
		edit(f, "file");
		assert_true(is_edit(f, "file", SEEN_CLOSED));
		assert_int_equal(journal_commit(other, 0, &f->err), 0);
		commit(f);
	}
}

/* The first event was for an external descriptor: the second one shows that, and content written by
 * ours is saved for the next step. */
TEST(who_closes_first_does_not_matter)
{
	struct fix *f = *state;
	int fd;

	begin(f, "agent");
	fd = hold(f, "file");
	assert_int_equal(write(fd, "ours", 4), 4);
	edit(f, "file");
	assert_false(is_edit(f, "file", SEEN_CLOSED));
	assert_true(commit(f) > 0);
	begin(f, "next");
	assert_int_equal(put(f, "other", "x"), 0);
	assert_int_equal(pwrite(fd, "OURS", 4, 0), 4);
	close(fd);
	assert_false(is_edit(f, "file", SEEN_CLOSED)); /* ours was found to write later */
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, UNDO_FORCE));
	assert_cat(f, "file", "ourstheirs");

	begin(f, "agent");
	fd = hold(f, "second");
	edit(f, "second");
	assert_false(is_edit(f, "second", SEEN_CLOSED));
	assert_int_equal(write(fd, "ours", 4), 4);
	close(fd);
	assert_true(is_edit(f, "second", SEEN_CLOSED));
	commit(f);
}

TEST(a_writer_is_not_known_by_a_name_that_is_anothers)
{
	struct fix *f = *state;
	int fd;

	begin(f, "agent");
	fd = hold(f, "file");
	assert_int_equal(ln(f, "file", "link"), 0);
	assert_int_equal(rm(f, "file"), 0);
	outside(f, "file", "theirs");
	assert_true(is_edit(f, "file", SEEN_CLOSED));
	close(fd);

	fd = hold(f, "a");
	assert_int_equal(mv(f, "a", "b", 0), 0);
	outside(f, "a", "theirs");
	assert_true(is_edit(f, "a", SEEN_CLOSED));
	close(fd);

	fd = hold(f, "c");
	assert_int_equal(put(f, "d", "ours"), 0);
	assert_int_equal(mv(f, "d", "c", 0), 0);
	journal_all_seen(f->j);
	assert_false(is_edit(f, "c", SEEN_CLOSED)); /* for d, which had no event yet */
	journal_all_seen(f->j);
	edit(f, "c");
	assert_true(is_edit(f, "c", SEEN_CLOSED));
	close(fd);

	/* An external rename, whose event comes first. */
	fd = hold(f, "e");
	outside(f, "new", "theirs");
	assert_int_equal(renameat(journal_folder_fd(f->j), "new", journal_folder_fd(f->j), "e"), 0);
	assert_true(is_edit(f, "e", SEEN_NAMED));
	edit(f, "e");
	assert_true(is_edit(f, "e", SEEN_CLOSED));
	close(fd);
	commit(f);
}

/* Ours has not written after the check at the first event. */
TEST(who_closes_second_need_not_have_written_since)
{
	struct fix *f = *state;
	int fd;

	outside(f, "file", "before");
	begin(f, "agent");
	fd = hold(f, "file");
	edit(f, "file");
	assert_false(is_edit(f, "file", SEEN_CLOSED));
	close(fd);
	assert_true(journal_is_foreign(f->j, "file", SEEN_CLOSED, INT64_MAX));
	assert_true(commit(f) > 0);
	assert_int_not_equal(undo(f, 1, 0), 0);
	assert_cat(f, "file", "beforetheirs");
}

/* The file is closed, and the event queued, when another name is removed: no writer is found then,
 * but the event must still be recognised. Not by the removed name, which leads nowhere. */
TEST(a_close_is_awaited_when_another_name_goes)
{
	struct fix *f = *state;

	outside(f, "old", "before");
	begin(f, "agent");
	assert_int_equal(ln(f, "old", "second") || put(f, "second", "ours"), 0);
	assert_int_equal(rm(f, "old"), 0);
	assert_false(is_edit(f, "old", SEEN_GONE));
	assert_false(is_edit(f, "second", SEEN_CLOSED));
	journal_all_seen(f->j);
	edit(f, "second");
	assert_true(is_edit(f, "second", SEEN_CLOSED));

	outside(f, "first", "before");
	assert_int_equal(ln(f, "first", "other") || put(f, "first", "ours"), 0);
	assert_int_equal(rm(f, "first"), 0);
	assert_false(is_edit(f, "first", SEEN_CLOSED));
	journal_all_seen(f->j);
	edit(f, "other");
	assert_true(is_edit(f, "other", SEEN_CLOSED));
	commit(f);
}

TEST(a_writer_is_not_known_by_the_name_of_a_directory_that_moved)
{
	struct fix *f = *state;
	int fd;

	begin(f, "agent");
	assert_int_equal(md(f, "d"), 0);
	fd = hold(f, "d/file");
	assert_int_equal(mv(f, "d", "moved", 0), 0);
	mkdirat(journal_folder_fd(f->j), "d", 0755);
	outside(f, "d/file", "theirs");
	assert_true(is_edit(f, "d/file", SEEN_CLOSED));
	close(fd);
	assert_false(is_edit(f, "moved/file", SEEN_CLOSED));
	commit(f);
}

TEST(the_name_that_a_rename_gave)
{
	struct fix *f = *state;

	begin(f, "agent");
	for (int watched = 0; watched < 2; watched++) {
		assert_int_equal(put(f, "a", "ours"), 0);
		assert_int_equal(mv(f, "a", "b", 0), 0);
		if (watched)
			assert_false(is_edit(f, "b", SEEN_NAMED));
		journal_all_seen(f->j);
		outside(f, "new", "theirs");
		assert_int_equal(
			renameat(journal_folder_fd(f->j), "new", journal_folder_fd(f->j), "b"), 0);
		assert_true(is_edit(f, "b", SEEN_NAMED));
	}
	/* The name was taken externally at once. */
	assert_int_equal(put(f, "a", "ours") || mv(f, "a", "c", 0), 0);
	outside(f, "new", "theirs");
	assert_int_equal(renameat(journal_folder_fd(f->j), "new", journal_folder_fd(f->j), "c"), 0);
	assert_false(is_edit(f, "c", SEEN_NAMED));
	assert_true(is_edit(f, "c", SEEN_NAMED));
	commit(f);
}

/* Events were lost, or a directory is newly watched. */
TEST(nothing_is_expected_any_more)
{
	struct fix *f = *state;

	begin(f, "agent");
	assert_int_equal(put(f, "file", "ours"), 0);
	assert_int_equal(put(f, "a", "ours") || mv(f, "a", "b", 0), 0);
	journal_expect_nothing(f->j);
	assert_false(is_edit(f, "file", SEEN_CLOSED)); /* checked by reading */
	assert_int_equal(journal_count_shut(f->j), 1);
	outside(f, "new", "theirs");
	assert_int_equal(renameat(journal_folder_fd(f->j), "new", journal_folder_fd(f->j), "b"), 0);
	assert_true(is_edit(f, "b", SEEN_NAMED));
	commit(f);
}

/* Without single events for each change, every path is checked. */
TEST_WITH(nothing_is_expected_of_others, fix_setup, fix_teardown)
{
	struct fix *f = *state;

	begin(f, "agent");
	assert_int_equal(put(f, "file", "ours"), 0);
	assert_false(is_edit(f, "file", SEEN_CLOSED));
	assert_int_equal(journal_count_shut(f->j), 1);
	commit(f);
}

static int setup(void **state)
{
	int r = fix_setup(state);
	struct fix *f = *state;

	journal_expect_events(f->j);
	return r;
}

TESTS(setup, fix_teardown)
