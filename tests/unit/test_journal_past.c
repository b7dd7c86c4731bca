/* test_journal_past - the content at a path before a step, wherever it is saved. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Returns a descriptor of the content before or after the step, or a negative errno. */
static int open_side(struct fix *f, int64_t id, const char *path, bool after)
{
	struct change *list;
	int fd = -1, r = -ENOENT;
	size_t n;

	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].path, path))
			r = journal_content(f->j, id, &list[i], after, &fd, &f->err);
	change_free(list, n);
	return r < 0 ? r : fd;
}

static int open_then(struct fix *f, int64_t id, const char *path)
{
	return open_side(f, id, path, false);
}

static void assert_side(struct fix *f, int64_t id, const char *path, bool after, const char *want)
{
	AUTO_FREE char *text = NULL;
	int fd = open_side(f, id, path, after);

	if (fd < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(io_read_all(fd, 1 << 20, &text, NULL), 0);
	close(fd);
	assert_string_equal(text, want);
}

static void assert_was(struct fix *f, int64_t id, const char *path, const char *want)
{
	assert_side(f, id, path, false, want);
}

static void assert_after(struct fix *f, int64_t id, const char *path, const char *want)
{
	assert_side(f, id, path, true, want);
}

/* The logs were written anew after a query for the content. */
TEST(what_was_there_is_found_after_a_redo)
{
	struct fix *f = *state;
	int64_t id;

	one_step(f, "set up", put(f, "a", "was\n"));
	begin(f, "change");
	assert_int_equal(put(f, "b", "b\n"), 0);
	assert_int_equal(put(f, "a", "is\n"), 0);
	id = commit(f);
	for (int turn = 0; turn < 3; turn++) {
		assert_was(f, id, "a", "was\n");
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(redo(f, 0), 0);
	}
}

/* In one step a file gets another name and a time, and is written to and loses its first name, in
 * either order. */
TEST_WITH(what_was_written_by_another_name, NULL, NULL)
{
	static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};

	for (int later = 0; later < 2; later++) {
		struct fix *f = fix_new();
		struct at a;

		(void)state;
		one_step(f, "touch a", put(f, "a", "was\n"));
		begin(f, "ln a b; touch -d @2000 a; echo >b; rm a");
		assert_int_equal(ln(f, "a", "b"), 0);
		a = at(f, "a");
		assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
		assert_int_equal(later ? rm(f, "a") : 0, 0);
		assert_int_equal(put(f, "b", "is\n"), 0);
		assert_int_equal(later ? 0 : rm(f, "a"), 0);
		assert_was(f, commit(f), "b", "was\n");
		fix_free(f);
	}
}

static int64_t a_name_is_removed(struct fix *f)
{
	begin(f, "touch a; ln a b");
	assert_int_equal(put(f, "a", "was\n"), 0);
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_true(commit(f) > 0);
	begin(f, "rm a");
	assert_int_equal(rm(f, "a"), 0);
	return commit(f);
}

/* Its time is set before another step changes the file by its other name. */
TEST(a_removed_name_shows_what_it_named)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	struct fix *f = *state;
	int64_t id = a_name_is_removed(f);
	struct at b;

	assert_was(f, id, "a", "was\n");
	begin(f, "touch -d b");
	b = at(f, "b");
	assert_int_equal(op_utimens(f->s, &b, times, NULL), 0);
	assert_true(commit(f) > 0);
	assert_was(f, id, "a", "was\n");
	one_step(f, "echo >>b", add(f, "b", "more\n"));
	assert_was(f, id, "a", "was\n");
}

TEST(what_a_human_changed_is_not_what_was_there)
{
	const char *const path[] = {"a", NULL};
	struct fix *f = *state;
	int64_t id = a_name_is_removed(f);

	outside(f, "b", "the human's\n");
	assert_int_equal(open_then(f, id, "a"), -ESTALE);
	assert_int_equal(journal_restore(f->j, id, path, 0, &f->err), -ESTALE);
}

static void touch(struct fix *f, const char *path, time_t when)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = when}};
	struct at a = at(f, path);

	assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
}

static int64_t its_time_is_set(struct fix *f)
{
	one_step(f, "echo was >a", put(f, "a", "was\n"));
	begin(f, "touch -d a");
	touch(f, "a", 1000);
	return commit(f);
}

/* The file is written to by another name, and later by its own. */
TEST(what_only_its_time_was_set_of)
{
	struct fix *f = *state;
	int64_t id = its_time_is_set(f);

	assert_was(f, id, "a", "was\n");
	begin(f, "ln a b; echo is >b");
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_int_equal(put(f, "b", "is\n"), 0);
	assert_true(commit(f) > 0);
	assert_was(f, id, "a", "was\n");
	one_step(f, "echo more >>a", add(f, "a", "more\n"));
	assert_was(f, id, "a", "was\n");
	must(f, restore(f, id, "a", UNDO_FORCE));
	assert_cat(f, "a", "was\n");
	assert_cat(f, "b", "was\n");
}

/* A later step sets the time, and then writes to the file, replaces it, or removes it. */
TEST_WITH(what_a_step_took_once_it_had_set_its_time, NULL, NULL)
{
	for (int how = 0; how < 3; how++) {
		struct fix *f = fix_new();
		int64_t id = its_time_is_set(f);

		(void)state;
		begin(f, "touch -d a; ...");
		touch(f, "a", 2000);
		assert_int_equal(how ? 0 : put(f, "a", "is\n"), 0);
		assert_int_equal(how != 1 ? 0 : put(f, "b", "b\n"), 0);
		assert_int_equal(how != 1 ? 0 : mv(f, "b", "a", 0), 0);
		assert_int_equal(how != 2 ? 0 : rm(f, "a"), 0);
		assert_true(commit(f) > 0);
		assert_was(f, id, "a", "was\n");
		fix_free(f);
	}
}

/* It is restored as another inode than the one in the summary. */
TEST(what_only_its_time_was_set_of_after_a_redo)
{
	struct fix *f = *state;
	int64_t id = its_time_is_set(f);

	one_step(f, "echo is >a", put(f, "a", "is\n"));
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
	assert_was(f, id, "a", "was\n");
	must(f, undo(f, 1, 0));
	assert_was(f, id, "a", "was\n");
	outside(f, "a", "his\n");
	assert_int_equal(open_then(f, id, "a"), -ESTALE);
}

/* The two steps that set its time one after the other have records of two inodes. */
TEST_WITH(what_two_steps_set_the_time_of, NULL, NULL)
{
	for (int n = 1; n <= 3; n++) {
		struct fix *f = fix_new();
		int64_t id = its_time_is_set(f);

		(void)state;
		begin(f, "touch -d a");
		touch(f, "a", 2000);
		assert_true(commit(f) > 0);
		one_step(f, "echo is >a", put(f, "a", "is\n"));
		must(f, undo(f, n, 0));
		must(f, redo(f, 0));
		assert_was(f, id, "a", "was\n");
		must(f, restore(f, id, "a", UNDO_FORCE));
		assert_cat(f, "a", "was\n");
		fix_free(f);
	}
}

/* A directory is now at the path that it had. */
TEST(what_changed_places_and_got_a_time_after_a_redo)
{
	struct fix *f = *state;
	int64_t id;

	one_step(f, "echo was >b", put(f, "b", "was\n"));
	begin(f, "mkdir a; exch a b; touch -d a");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(mv(f, "a", "b", RENAME_EXCHANGE), 0);
	touch(f, "a", 1000);
	id = commit(f);
	one_step(f, "echo is >a", put(f, "a", "is\n"));
	assert_was(f, id, "b", "was\n");
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
	assert_was(f, id, "b", "was\n");
	must(f, undo(f, 1, 0));
	outside(f, "a", "his\n");
	assert_int_equal(open_then(f, id, "b"), -ESTALE);
}

/* No summary lists the remaining name, but the record of the removed name does. */
TEST(what_lost_a_name_when_its_time_was_set)
{
	struct fix *f = *state;
	int64_t id;

	begin(f, "echo was >a; ln a b");
	assert_int_equal(put(f, "a", "was\n"), 0);
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_true(commit(f) > 0);
	begin(f, "touch -d a; rm a");
	touch(f, "a", 1000);
	assert_int_equal(rm(f, "a"), 0);
	id = commit(f);
	assert_was(f, id, "a", "was\n");
	begin(f, "touch -d b");
	touch(f, "b", 2000);
	assert_true(commit(f) > 0);
	assert_was(f, id, "a", "was\n");
	one_step(f, "echo is >b", put(f, "b", "is\n"));
	assert_was(f, id, "a", "was\n");
	outside(f, "b", "his\n");
	assert_was(f, id, "a", "was\n");
}

/* The file loses its last name, and another one is made there. */
TEST_WITH(what_got_a_time_and_then_lost_its_name, NULL, NULL)
{
	for (int names = 1; names <= 2; names++) {
		struct fix *f = fix_new();
		int64_t id;

		(void)state;
		begin(f, "echo was >a; ln a b");
		assert_int_equal(put(f, "a", "was\n"), 0);
		assert_int_equal(ln(f, "a", "b"), 0);
		assert_true(commit(f) > 0);
		begin(f, "rm b");
		assert_int_equal(names == 1 ? rm(f, "b") : 0, 0);
		assert_int_equal(put(f, "c", "c\n"), 0);
		assert_true(commit(f) > 0);
		begin(f, "touch -d a; rm a; echo another >a");
		touch(f, "a", 1000);
		assert_int_equal(rm(f, "a"), 0);
		assert_int_equal(put(f, "a", "another\n"), 0);
		id = commit(f);
		assert_was(f, id, "a", "was\n");
		must(f, undo(f, 1, 0));
		must(f, redo(f, 0));
		assert_was(f, id, "a", "was\n");
		fix_free(f);
	}
}

static int rm_by(struct fix *f, struct step *s, const char *path)
{
	struct at a = at(f, path);

	return op_unlink(s, &a, NULL);
}

/* An overlapping step removes the file: the last time set is in no summary. */
TEST_WITH(what_was_taken_while_its_time_was_set, NULL, NULL)
{
	for (int turn = 0; turn < 2; turn++) {
		struct fix *f = fix_new();
		int64_t id = its_time_is_set(f);
		struct step *takes;

		(void)state;
		begin(f, "rm a");
		takes = f->s;
		begin(f, "touch -d a");
		touch(f, "a", 2000);
		if (turn) {
			assert_int_equal(rm_by(f, takes, "a"), 0);
			assert_true(commit(f) > 0);
		} else {
			assert_true(commit(f) > 0);
			assert_int_equal(rm_by(f, takes, "a"), 0);
		}
		f->s = takes;
		assert_true(commit(f) > 0);
		assert_was(f, id, "a", "was\n");
		must(f, undo(f, 3, 0));
		must(f, redo(f, 0));
		assert_was(f, id, "a", "was\n");
		fix_free(f);
	}
}

/* The external edit has the same length. */
TEST_WITH(what_a_human_wrote_once_its_time_was_set, NULL, NULL)
{
	for (int then = 0; then < 2; then++) {
		struct fix *f = fix_new();
		int64_t id = its_time_is_set(f);

		(void)state;
		outside(f, "a", "his\n");
		assert_int_equal(open_then(f, id, "a"), -ESTALE);
		begin(f, "touch -d a");
		touch(f, "a", 2000);
		assert_true(commit(f) > 0);
		assert_int_equal(open_then(f, id, "a"), -ESTALE);
		one_step(f, "echo is >a", put(f, "a", "is\n"));
		assert_int_equal(open_then(f, id, "a"), -ESTALE);
		assert_int_equal(restore(f, id, "a", UNDO_FORCE), -ESTALE);
		assert_cat(f, "a", "is\n");
		fix_free(f);
	}
}

TEST_WITH(what_a_human_wrote_while_its_time_was_set, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		int64_t id;

		(void)state;
		one_step(f, "echo was >a", put(f, "a", "was\n"));
		journal_no_writers(f->j);
		begin(f, "chmod a; touch -d a");
		assert_int_equal(mode(f, "a", 0600), 0);
		if (human) {
			outside(f, "a", "his\n");
			assert_true(journal_is_foreign(f->j, "a", SEEN_CLOSED, 0));
		}
		touch(f, "a", 1000);
		id = commit(f);
		if (human)
			assert_int_equal(open_then(f, id, "a"), -ESTALE);
		else
			assert_was(f, id, "a", "was\n");
		one_step(f, "echo is >a", put(f, "a", "is\n"));
		if (human)
			assert_int_equal(open_then(f, id, "a"), -ESTALE);
		else
			assert_was(f, id, "a", "was\n");
		fix_free(f);
	}
}

/* Two overlapping steps: the first one's record of the file is from its end, when the other had
 * changed it as well. */
TEST_WITH(what_another_took_while_its_attributes_were_set, NULL, NULL)
{
	enum {
		CUT,
		REPLACED,
		MOVED_AND_REPLACED,
		WAYS
	};

	for (int way = 0; way < WAYS; way++) {
		struct fix *f = fix_new();
		struct step *first, *second;
		struct at a;
		int64_t id;

		one_step(f, "touch a", put(f, "a", "was\n"));
		begin(f, "setfattr a");
		a = at(f, "a");
		if (op_setxattr(f->s, &a, "user.x", "1", 1, 0, NULL) == -EOPNOTSUPP)
			assert_int_equal(mode(f, "a", 0600), 0);
		if (way == MOVED_AND_REPLACED)
			assert_int_equal(mv(f, "a", "b", 0), 0);
		first = f->s;
		begin(f, "another");
		if (way == CUT) {
			assert_int_equal(put(f, "a", "is now\n"), 0);
		} else {
			assert_int_equal(put(f, "c", "is now\n"), 0);
			assert_int_equal(mv(f, "c", way == REPLACED ? "a" : "b", 0), 0);
		}
		second = f->s;
		f->s = first;
		id = commit(f);
		f->s = second;
		assert_true(commit(f) > 0);
		assert_was(f, id, "a", "was\n");
		/* After a redo its records are in sequence. */
		must(f, undo(f, 2, 0));
		must(f, redo(f, 0));
		assert_was(f, id, "a", "was\n");
		fix_free(f);
	}
}

/* The name that a step removed was the last one by then. */
TEST(what_a_human_wrote_to_what_was_removed)
{
	struct fix *f = *state;
	AUTO_FREE char *b = xasprintf("%s/b", f->folder);
	int64_t id = a_name_is_removed(f);

	outside(f, "b", "the human's\n");
	assert_int_equal(unlink(b), 0);
	assert_int_equal(open_then(f, id, "a"), -ESTALE);
}

/* Writes to a file by the name b, or sets its time, and an editor of the human takes that name. */
TEST_WITH(what_another_name_says_that_a_human_took_away, NULL, NULL)
{
	for (int way = 0; way < 4; way++) {
		struct fix *f = fix_new();
		AUTO_FREE char *b = xasprintf("%s/b", f->folder);
		AUTO_FREE char *c = xasprintf("%s/c", f->folder);
		int64_t id, first;

		(void)state;
		begin(f, "touch a; ln a b");
		assert_int_equal(put(f, "a", "was\n"), 0);
		assert_int_equal(ln(f, "a", "b"), 0);
		first = committed(f);
		begin(f, way < 2 ? "echo is >b" : "touch -d b");
		if (way < 2)
			assert_int_equal(put(f, "b", "is now\n"), 0);
		else
			touch(f, "b", 1000);
		id = committed(f);
		assert_int_equal(way % 2 ? rename(b, c) : unlink(b), 0);
		one_step(f, "touch b", put(f, "b", "another\n"));
		assert_after(f, first, "a", "was\n");
		if (way < 2)
			assert_was(f, id, "b", "was\n");
		fix_free(f);
	}
}

/* The human replaced the file at `a`; a later file has its inode number and size, no more. */
TEST(what_has_only_the_number_is_not_what_was_there)
{
	struct fix *f = *state;
	AUTO_FREE char *a = xasprintf("%s/a", f->folder);
	int64_t first = one_step(f, "touch a", put(f, "a", "was1\n"));

	assert_int_equal(unlink(a), 0);
	usleep(20000);
	for (int i = 0; i < 8; i++) { /* ext4 gives the number to the next new file */
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		outside(f, name, "hers\n");
	}
	begin(f, "echo is >n*");
	for (int i = 0; i < 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(put(f, name, "is\n"), 0);
	}
	committed(f);
	assert_int_equal(open_side(f, first, "a", true), -ESTALE);
}

/* A concurrent step, which has captured the file, writes to it between this step's rename of it and
 * its first write: what this step captures then is not what was there before. */
TEST(what_another_wrote_before_it_was_captured)
{
	struct fix *f = *state;
	struct step *another;
	struct at a;
	int fd;
	int64_t id;

	one_step(f, "touch a", put(f, "a", "was\n"));
	begin(f, "exec >a; echo one; sleep 1; echo more");
	a = at(f, "a");
	fd = op_open(f->s, &a, O_WRONLY | O_TRUNC, 0, NULL);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "one\n", 4), 0);
	another = f->s;
	begin(f, "mv a b; echo is >b");
	assert_int_equal(mv(f, "a", "b", 0), 0);
	assert_int_equal(io_write_all(fd, "more\n", 5), 0);
	assert_int_equal(put(f, "b", "is\n"), 0);
	id = committed(f);
	close(fd);
	f->s = another;
	committed(f);
	fd = open_then(f, id, "b");
	if (fd >= 0)
		close(fd);
	assert_int_equal(fd, -ESTALE);
}

TESTS(fix_setup, fix_teardown)
