/* test_journal - steps, undo, redo, history, contents. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "tests/support/journalfix.h"

static int setup(void **state)
{
	struct fix *f = fix_new();

	*state = f;
	begin(f, "set up");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "a", "alpha\n"), 0);
	assert_int_equal(put(f, "b", "beta\n"), 0);
	assert_int_equal(put(f, "d/x", "x-ray\n"), 0);
	assert_int_equal(put(f, "d/e/y", "yankee\n"), 0);
	assert_int_equal(ln(f, "a", "d/alink"), 0);
	assert_int_equal(sym(f, "../a", "d/sym"), 0);
	assert_true(commit(f) > 0);
	return 0;
}

/* Checks before -> work -> after: undo leads to before, redo to after, several times, also after a
 * restart. */
static void round_trip(struct fix *f, int (*work)(struct fix *))
{
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *after = NULL;

	begin(f, "work");
	assert_int_equal(work(f), 0);
	assert_true(commit(f) > 0);
	after = snap(f);
	for (int i = 0; i < 3; i++) {
		assert_sound(f);
		if (undo(f, 1, 0) < 0)
			fail_msg("undo: %s", f->err.text);
		assert_tree(f, before);
		assert_sound(f);
		if (redo(f, 0) < 0)
			fail_msg("redo: %s", f->err.text);
		assert_tree(f, after);
		if (i == 1)
			fix_reopen(f);
	}
}

#define ROUND(name, body)                                                                          \
	static int work_##name(struct fix *f)                                                      \
	{                                                                                          \
		return body;                                                                       \
	}                                                                                          \
	TEST(name)                                                                                 \
	{                                                                                          \
		round_trip(*state, work_##name);                                                   \
	}

ROUND(creates_a_file, put(f, "new", "hello"))
ROUND(rewrites_a_file, put(f, "b", "BETA"))
ROUND(appends_to_a_hard_link, add(f, "a", "more"))
ROUND(removes_a_file, rm(f, "b"))
ROUND(removes_one_of_two_names, rm(f, "a"))
ROUND(removes_a_symlink, rm(f, "d/sym"))
ROUND(removes_a_tree, rm(f, "d/e/y") || rd(f, "d/e") || rm(f, "d/x") || rm(f, "d/alink") ||
			      rm(f, "d/sym") || rd(f, "d"))
ROUND(renames_a_file, mv(f, "b", "d/b2", 0))
ROUND(renames_over_a_file, put(f, "tmp", "new b\n") || mv(f, "tmp", "b", 0))
/* After two renames the next one is performed without a check of its new name. */
static int rename_a_row(struct fix *f)
{
	int r = put(f, "t1", "1") || put(f, "t2", "2") || put(f, "t3", "3") || put(f, "t4", "4");

	return r || mv(f, "t1", "n1", 0) || mv(f, "t2", "d/n2", 0) || mv(f, "t3", "n3", 0);
}
ROUND(renames_a_row, rename_a_row(f) || mv(f, "t4", "n4", 0))
ROUND(renames_a_row_then_over_a_file, rename_a_row(f) || mv(f, "t4", "b", 0))
ROUND(renames_a_row_then_to_a_name_that_is_taken,
      rename_a_row(f) || mv(f, "t4", "b", RENAME_NOREPLACE) != -EEXIST ||
	      mv(f, "t4", "d", 0) != -EISDIR || mv(f, "t4", "d/", 0) == 0)
ROUND(renames_a_row_then_to_its_other_name,
      rename_a_row(f) || ln(f, "t4", "t5") || mv(f, "t4", "t5", 0) || mv(f, "n1", "n1", 0))
ROUND(renames_a_row_then_nothing, rename_a_row(f) || mv(f, "t9", "n4", 0) != -ENOENT)
ROUND(renames_a_directory, mv(f, "d", "dd", 0) || add(f, "dd/x", "!"))
ROUND(renames_over_an_empty_directory, md(f, "z") || rm(f, "d/e/y") || mv(f, "z", "d/e", 0))
ROUND(exchanges_two_names, mv(f, "b", "d", RENAME_EXCHANGE) || put(f, "b/new", "n"))
ROUND(makes_and_removes_a_directory_with_old_things,
      md(f, "t") || mv(f, "b", "t/b", 0) || rm(f, "t/b") || rd(f, "t"))
ROUND(temporary_over_temporary, put(f, "t1", "1") || put(f, "t2", "2") || mv(f, "t1", "t2", 0) ||
					mv(f, "t2", "b", 0) || rm(f, "b") || put(f, "b", "3"))
ROUND(changes_modes, mode(f, "b", 04711) || mode(f, "d", 0700))
ROUND(writes_then_removes, add(f, "b", "..") || rm(f, "b"))
ROUND(writes_then_renames, add(f, "b", "..") || mv(f, "b", "c", 0) || put(f, "b", "another"))
ROUND(links_then_writes, ln(f, "b", "b2") || add(f, "b2", "..") || rm(f, "b"))
ROUND(makes_what_cannot_be_entered, md(f, "m") || put(f, "m/in", "x") || mode(f, "m", 0))

TEST(a_step_without_changes_vanishes)
{
	struct fix *f = *state;
	struct step_info *list = NULL;
	size_t n = 0;

	begin(f, "true");
	assert_int_equal(commit(f), 0);
	begin(f, "touch and go");
	assert_int_equal(put(f, "lock", ""), 0);
	assert_int_equal(rm(f, "lock"), 0);
	assert_int_equal(commit(f), 0);
	assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].command, "set up");
	assert_int_equal(list[0].created, 8);
	step_info_free(list, n);
}

/* The audit log has the name that a temporary file came to, also where that is not new to it. */
TEST(a_rename_of_a_file_that_the_step_made_is_told)
{
	struct fix *f = *state;
	struct at b = at(f, "b"), d = at(f, "d/b"), tmp;
	bool touched;

	begin(f, "sed -i twice");
	for (int i = 0; i < 3; i++) {
		AUTO_FREE char *name = xasprintf("tmp%d", i);

		assert_int_equal(put(f, name, "new"), 0);
		tmp = at(f, name);
		assert_int_equal(op_rename(f->s, &tmp, &b, 0, &touched), 0);
		assert_true(touched);
	}
	assert_true(commit(f) > 0);
	begin(f, "mv there and back");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(op_rename(f->s, &b, &d, 0, &touched), 0);
		assert_int_equal(touched, i == 0);
		assert_int_equal(op_rename(f->s, &d, &b, 0, &touched), 0);
		assert_false(touched);
	}
	assert_true(commit(f) >= 0);
}

/* A file that an editor saves by way of three names counts as one. */
TEST(a_commit_tells_what_changed_in_the_end)
{
	struct fix *f = *state;

	begin(f, "edit");
	assert_int_equal(put(f, ".a.swp", ""), 0);
	assert_int_equal(put(f, "a.new", "text"), 0);
	assert_int_equal(mv(f, "a.new", "a", 0), 0);
	assert_int_equal(rm(f, ".a.swp"), 0);
	assert_int_equal(rm(f, "b"), 0);
	assert_true(step_paths(f->s) > 2);
	assert_int_equal(journal_commit(f->s, 0, &f->err), 2);
	f->s = NULL;
}

TEST(failed_operations_leave_no_trace)
{
	struct fix *f = *state;
	struct at a;

	begin(f, "fail");
	assert_int_equal(md(f, "d"), -EEXIST);
	assert_int_equal(rd(f, "d"), -ENOTEMPTY);
	assert_int_equal(rm(f, "d"), -EISDIR);
	assert_int_equal(rm(f, "nothing"), -ENOENT);
	assert_int_equal(rm(f, "a/"), -ENOTDIR);
	assert_int_equal(mv(f, "b", "d", 0), -EISDIR);
	assert_int_equal(mv(f, "d", "b", 0), -ENOTDIR);
	assert_int_equal(mv(f, "d", "d/e/d", 0), -EINVAL);
	assert_int_equal(mv(f, "a", "b", RENAME_NOREPLACE), -EEXIST);
	assert_int_equal(mv(f, "a", "nothing", RENAME_EXCHANGE), -ENOENT);
	assert_int_equal(ln(f, "a", "b"), -EEXIST);
	assert_int_equal(sym(f, "x", "a"), -EEXIST);
	a = at(f, "d");
	assert_int_equal(op_open(f->s, &a, O_WRONLY, 0, NULL), -EISDIR);
	a = at(f, "a");
	assert_int_equal(op_open(f->s, &a, O_WRONLY | O_CREAT | O_EXCL, 0, NULL), -EEXIST);
	assert_int_equal(commit(f), 0);
}

static char *content(struct fix *f, int64_t id, const struct change *c, bool after)
{
	AUTO_CLOSE int fd = -1;
	char *text = NULL;
	int r = journal_content(f->j, id, c, after, &fd, &f->err);

	if (r == 0)
		r = io_read_all(fd, 1 << 20, &text, NULL);
	if (r < 0)
		fail_msg("content of %s %s: %s", c->path, after ? "after" : "before", f->err.text);
	return text;
}

static void check_change(struct fix *f, int64_t id, const char *path, const char *before,
			 const char *after)
{
	struct change *list = NULL;
	size_t n = 0;
	bool found = false;

	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	for (size_t i = 0; i < n; i++) {
		if (!str_eq(list[i].path, path))
			continue;
		found = true;
		assert_int_equal(list[i].before.exists, before != NULL);
		assert_int_equal(list[i].after.exists, after != NULL);
		if (before) {
			AUTO_FREE char *text = content(f, id, &list[i], false);
			assert_string_equal(text, before);
		}
		if (after) {
			AUTO_FREE char *text = content(f, id, &list[i], true);
			assert_string_equal(text, after);
		}
	}
	change_free(list, n);
	assert_true(found);
}

TEST(contents_are_found_wherever_they_are)
{
	struct fix *f = *state;
	int64_t one, two, three;

	begin(f, "one");
	assert_int_equal(put(f, "b", "1"), 0);
	assert_int_equal(put(f, "n", "n1"), 0);
	one = commit(f);
	begin(f, "two");
	assert_int_equal(put(f, "t", "2"), 0);
	assert_int_equal(mv(f, "t", "b", 0), 0);
	assert_int_equal(mv(f, "d", "q", 0), 0);
	assert_int_equal(add(f, "q/x", "2"), 0);
	two = commit(f);
	begin(f, "three");
	assert_int_equal(rm(f, "n"), 0);
	assert_int_equal(mv(f, "b", "b3", 0), 0);
	three = commit(f);
	for (int i = 0; i < 3; i++) {
		check_change(f, one, "b", "beta\n", "1");
		check_change(f, one, "n", NULL, "n1");
		check_change(f, two, "b", "1", "2");
		check_change(f, two, "q/x", "x-ray\n", "x-ray\n2");
		check_change(f, three, "n", "n1", NULL);
		check_change(f, three, "b3", "2", "2");
		if (i < 2 && undo(f, (size_t)i + 1, false) < 0)
			fail_msg("undo: %s", f->err.text);
	}
}

/* Makes a step whose result at c is later restored by a rollback as another inode. */
static int64_t make_other_inode(struct fix *f)
{
	int64_t id;

	id = one_step(f, "make", put(f, "c", "first\n"));
	one_step(f, "undone", put(f, "c", "nothing\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	return id;
}

static void write_by_another_name(struct fix *f)
{
	one_step(f, "link", ln(f, "c", "another"));
	one_step(f, "write", put(f, "another", "other\n"));
	one_step(f, "dress", mode(f, "c", 0600));
}

TEST(contents_are_found_by_the_file_that_lies_there)
{
	struct fix *f = *state;
	int64_t id = make_other_inode(f);

	write_by_another_name(f);
	check_change(f, id, "c", NULL, "first\n");
}

/* The records show which step set the time; after an external edit the content is in doubt. */
TEST_WITH(contents_are_found_behind_a_new_time, NULL, NULL)
{
	static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		int64_t id = make_other_inode(f);
		struct change *list = NULL;
		size_t n = 0;
		struct at a;
		int fd = -1;

		(void)state;
		if (human)
			outside(f, "c", "human\n");
		begin(f, "touch");
		a = at(f, "c");
		assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
		commit(f);
		write_by_another_name(f);
		assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
		assert_int_equal(n, 1);
		assert_string_equal(list[0].path, "c");
		if (human)
			assert_int_equal(journal_content(f->j, id, &list[0], true, &fd, &f->err),
					 -ESTALE);
		else
			check_change(f, id, "c", NULL, "first\n");
		change_free(list, n);
		fix_free(f);
	}
}

TEST(redo_goes_when_a_new_step_changes_something)
{
	struct fix *f = *state;

	one_step(f, "one", rm(f, "b"));
	assert_int_equal(undo(f, 1, 0), 0);
	begin(f, "ls");
	commit(f);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	one_step(f, "two", put(f, "c", "c"));
	assert_int_equal(redo(f, 0), -ENOENT);
	assert_int_equal(undo(f, 1, 0), 0);
}

/* The next start rolls an interrupted step back: redo then brings back this step, and nothing that
 * was undone before it began. */
TEST(an_interrupted_step_has_a_redo_and_ends_the_others)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	one_step(f, "undone", put(f, "new", "old"));
	assert_int_equal(undo(f, 1, 0), 0);
	begin(f, "interrupted");
	assert_int_equal(md(f, "new"), 0);
	after = snap(f);
	fix_reopen(f);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
	assert_int_equal(redo(f, UNDO_FORCE), -ENOENT);
	assert_tree(f, after);
}

TEST(one_redo_leaves_the_others)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	for (int i = 0; i < 2; i++) {
		one_step(f, "step", put(f, i ? "two" : "one", "new"));
	}
	after = snap(f);
	for (int i = 0; i < 2; i++)
		assert_int_equal(undo(f, 1, 0), 0);
	for (int i = 0; i < 2; i++) {
		fix_reopen(f);
		assert_int_equal(redo(f, 0), 0);
	}
	assert_tree(f, after);
}

TEST(an_aborted_step_leaves_nothing)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	begin(f, "abort");
	assert_int_equal(rm(f, "b"), 0);
	assert_int_equal(put(f, "d/x", "?"), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), -ENOENT);
}

TEST(steps_that_overlap_undo_in_true_order)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *one, *two;

	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "1", &one, &f->err), 0);
	assert_int_equal(journal_begin(f->j, STEP_AMBIENT, "", &two, &f->err), 0);
	f->s = one;
	assert_int_equal(put(f, "n", "one"), 0);
	f->s = two;
	assert_int_equal(step_id(two), step_id(one) + 1);
	assert_int_equal(add(f, "n", "two"), 0);
	assert_int_equal(put(f, "b", "two"), 0);
	f->s = one;
	assert_int_equal(rm(f, "n"), 0);
	assert_int_equal(put(f, "b", "one"), 0);
	assert_true(journal_commit(one, 0, &f->err) >= 0);
	assert_true(journal_commit(two, 0, &f->err) >= 0);
	f->s = NULL;
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
}

TEST(a_late_writer_belongs_to_the_step_that_runs)
{
	struct fix *f = *state;
	AUTO_FREE char *between = NULL;
	struct at a = at(f, "b");
	int fd;

	begin(f, "server &");
	fd = op_open(f->s, &a, O_WRONLY | O_APPEND, 0, NULL);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "one\n", 4), 0);
	assert_true(commit(f) > 0);
	between = snap(f);
	begin(f, "curl");
	assert_int_equal(io_write_all(fd, "two\n", 4), 0);
	close(fd);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, between);
	assert_int_equal(undo(f, 1, 0), 0);
}

TEST(restores_single_paths)
{
	struct fix *f = *state;
	const char *const paths[] = {"b", "d/e", NULL};
	AUTO_FREE char *b = NULL;
	AUTO_FREE char *y = NULL;
	int64_t id;

	begin(f, "much");
	assert_int_equal(put(f, "b", "1"), 0);
	assert_int_equal(rm(f, "d/e/y"), 0);
	assert_int_equal(rd(f, "d/e"), 0);
	assert_int_equal(put(f, "a", "kept"), 0);
	id = commit(f);
	if (journal_restore(f->j, id, paths, 0, &f->err) < 0)
		fail_msg("restore: %s", f->err.text);
	b = cat(f, "b");
	assert_string_equal(b, "beta\n");
	y = cat(f, "d/e/y");
	assert_string_equal(y, "yankee\n");
	free(b);
	b = cat(f, "a");
	assert_string_equal(b, "kept");
	assert_int_equal(undo(f, 1, 0), 0);
	free(b);
	b = cat(f, "b");
	assert_string_equal(b, "1");
}

static const struct shape {
	size_t size, hole; /* the hole is in the middle */
} shapes[] = {{0, 0}, {10, 0}, {100000, 0}, {300001, 0}, {400000, 200000}, {500000, 500000}};

static void give_shape(struct fix *f, const char *path, const struct shape *s, char byte)
{
	AUTO_FREE char *part = xcalloc(s->size + 1, 1);
	size_t side = (s->size - s->hole) / 2 / 4096 * 4096;
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT | O_TRUNC, 0644, NULL);

	assert_true(fd >= 0);
	memset(part, byte, s->size);
	if (s->hole == 0)
		side = s->size;
	assert_int_equal(io_write_all(fd, part, s->hole < s->size ? side : 0), 0);
	assert_int_equal(ftruncate(fd, (off_t)s->size), 0);
	if (s->hole > 0 && s->hole < s->size)
		assert_int_equal(io_pwrite_all(fd, part, side, (off_t)(s->size - side)), 0);
	close(fd);
}

/* An editor saves a file between the door's check that the name is free and the open. */
TEST(what_came_since_the_look_is_found)
{
	struct fix *f = *state;
	struct at a = at(f, "theirs");
	int fd;

	begin(f, "opens");
	a.absent_us = clock_mono_us();
	assert_int_equal(op_open(f->s, &a, O_WRONLY, 0, NULL), -ENOENT);
	outside(f, "theirs", "not the step's");
	a.absent_us = clock_mono_us();
	assert_int_equal(op_open(f->s, &a, O_WRONLY | O_CREAT | O_EXCL, 0644, NULL), -EEXIST);
	a.absent_us = clock_mono_us();
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT | O_TRUNC, 0644, NULL);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "x", 1), 0);
	close(fd);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "theirs", "not the step's");
}

/* Its inode stays, and its bytes are restored in place, whatever its current content. */
TEST(a_file_with_two_names_gets_its_bytes_back)
{
	struct fix *f = *state;

	begin(f, "make");
	give_shape(f, "big", &shapes[0], 'a');
	ln(f, "big", "d/second");
	commit(f);
	for (size_t i = 0; i < ARRAY_LEN(shapes) * ARRAY_LEN(shapes); i++) {
		AUTO_FREE char *before = NULL, *after = NULL;

		begin(f, "before");
		give_shape(f, "big", &shapes[i / ARRAY_LEN(shapes)], 'b');
		commit(f);
		before = snap(f);
		begin(f, "after");
		give_shape(f, "d/second", &shapes[i % ARRAY_LEN(shapes)], 'c');
		commit(f);
		after = snap(f);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, before);
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, after);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, before);
	}
}

/* A file that two commands wrote one after the other, while the first still has it open. */
TEST(what_is_written_on_belongs_to_the_step_that_runs)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *between = NULL;
	AUTO_CLOSE int fd = -1;
	struct step *second;
	struct at a;

	begin(f, "opens");
	a = at(f, "held");
	fd = op_open(f->s, &a, O_RDWR | O_CREAT, 0644, NULL);
	assert_int_equal(write(fd, "one\n", 4), 4);
	assert_true(commit(f) > 0);
	begin(f, "writes");
	second = f->s;
	assert_int_equal(add(f, "held", "two\n"), 0);
	begin(f, "runs on");
	assert_int_equal(journal_commit(second, 0, &f->err), 1);
	between = snap(f);
	assert_int_equal(write(fd, "1", 1), 1);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, between);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
}

TESTS(setup, fix_teardown)
