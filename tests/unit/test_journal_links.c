/* test_journal_links - files with several names: external edits, and writes by steps. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Saves as editors do: a new file is renamed over the old one. */
static void save(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *beside = xasprintf("%s/save~", f->folder);
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	outside(f, "save~", text);
	assert_int_equal(rename(beside, whole), 0);
}

static void link_outside(struct fix *f, const char *from, const char *to)
{
	AUTO_FREE char *a = xasprintf("%s/%s", f->folder, from);
	AUTO_FREE char *b = xasprintf("%s/%s", f->folder, to);

	assert_int_equal(link(a, b), 0);
}

/* Makes a file with two names in one step. */
static void make_linked(struct fix *f, const char *path, const char *text, const char *other)
{
	begin(f, "touch; ln");
	assert_int_equal(put(f, path, text), 0);
	assert_int_equal(ln(f, path, other), 0);
	assert_true(commit(f) > 0);
}

/* The step before the edit wrote by one name; its record does not mention the other. */
TEST_WITH(an_edit_saved_over_one_of_two_names, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		outside(f, "d", "old\n");
		link_outside(f, "d", "c");
		one_step(f, "echo >>d", add(f, "d", "agent\n"));
		if (human)
			save(f, "d", "the human's\n");
		one_step(f, "chmod d", mode(f, "d", 0600));
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "d", human ? "the human's\n" : "old\n");
		fix_free(f);
	}
}

/* The step after the edit finds one of two names: the other is in the store, with a step that was
 * rolled back. */
TEST_WITH(an_edit_that_a_dropped_step_gave_a_name, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		one_step(f, "touch d", put(f, "d", "agent\n"));
		if (human)
			save(f, "d", "the human's\n");
		begin(f, "ln d c");
		assert_int_equal(ln(f, "d", "c"), 0);
		assert_int_equal(journal_roll_back(f->s, &f->err), 0);
		one_step(f, "chmod d", mode(f, "d", 0600));
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "d", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

static void open_for_nothing(struct fix *f, const char *path)
{
	struct at a;

	begin(f, "open; touch y");
	a = at(f, path);
	close(op_open(f->s, &a, O_WRONLY, 0, NULL));
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
}

/* The step after the edit opened the file for writing, and wrote nothing: so it found what was
 * left. */
static void an_edit_of_a_file_that_was_opened_for_nothing(bool human, bool linked)
{
	struct fix *f = fix_new();

	begin(f, "touch c; ln c b");
	assert_int_equal(put(f, "c", "agent\n"), 0);
	assert_int_equal(linked ? 0 : ln(f, "c", "b"), 0);
	assert_true(commit(f) > 0);
	if (linked) { /* no step recorded that name */
		link_outside(f, "c", "b");
		one_step(f, "echo >>c", add(f, "c", "more\n"));
	}
	if (human)
		outside(f, "c", "the human's\n");
	open_for_nothing(f, "c");
	assert_int_equal(undo(f, linked ? 3 : 2, 0), human ? -ESTALE : 0);
	assert_cat(f, "c", human ? "the human's\n" : NULL);
	fix_free(f);
}

TEST_WITH(an_edit_of_a_file_of_two_names_that_was_opened, NULL, NULL)
{
	for (int how = 0; how < 4; how++)
		an_edit_of_a_file_that_was_opened_for_nothing(how & 1, how & 2);
}

/* Steps write alternately by both names: it is the same file, and no external edit. */
TEST(nobody_where_two_write_by_two_names)
{
	struct fix *f = *state;

	outside(f, "d", "old\n");
	link_outside(f, "d", "c");
	for (int i = 0; i < 4; i++) {
		one_step(f, "echo", add(f, i % 2 ? "c" : "d", "agent\n"));
	}
	assert_int_equal(undo(f, 4, 0), 0);
	assert_cat(f, "d", "old\n");
	assert_cat(f, "c", "old\n");
}

static void append(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	FILE *out = fopen(whole, "ae");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

enum how {
	REMOVED,
	REPLACED,
	EXCHANGED
};

static int64_t write_and_take_away(struct fix *f, enum how how)
{
	begin(f, "echo >>d; rm d");
	assert_int_equal(add(f, "d", "agent\n"), 0);
	if (how != REMOVED) {
		assert_int_equal(put(f, "tmp", "new\n"), 0);
		assert_int_equal(mv(f, "tmp", "d", how == EXCHANGED ? RENAME_EXCHANGE : 0), 0);
	}
	if (how != REPLACED)
		assert_int_equal(rm(f, how == EXCHANGED ? "tmp" : "d"), 0);
	return commit(f);
}

/* The file is restored to the name by which the step wrote, and still has the other one. */
static void an_edit_by_a_name_that_no_step_knows(enum how how)
{
	static const char edited[] = "old\nagent\nhuman\n";
	struct fix *f = fix_new();

	outside(f, "d", "old\n");
	link_outside(f, "d", "c");
	assert_true(write_and_take_away(f, how) > 0);
	append(f, "c", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "by another name"));
	assert_int_equal(undo(f, 1, UNDO_MERGE), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "c", edited);
	assert_cat(f, "d", how == REMOVED ? NULL : "new\n");
	assert_sound(f);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "c", edited);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "c", "old\n");
	assert_cat(f, "d", "old\n");
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "c", edited);
	fix_free(f);
}

TEST_WITH(an_edit_by_the_other_name, NULL, NULL)
{
	for (int how = REMOVED; how <= EXCHANGED; how++)
		an_edit_by_a_name_that_no_step_knows((enum how)how);
}

/* Steps of an earlier version record nothing about other names, nor does a step whose file had
 * none. */
TEST(what_no_record_tells_of_is_in_doubt)
{
	struct fix *f = *state;
	AUTO_FREE char *obj = NULL;
	AUTO_CLOSE int fd = -1;
	AUTO_DIR DIR *dir = NULL;
	struct dirent *e;
	int64_t id;

	outside(f, "d", "old\n");
	id = write_and_take_away(f, REMOVED);
	obj = xasprintf("steps/%lld/obj", (long long)id);
	fd = openat(journal_store_fd(f->j), obj, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fdopendir(fd);
	assert_non_null(dir);
	fd = -1;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			assert_int_equal(
				linkat(dirfd(dir), e->d_name, journal_folder_fd(f->j), "c", 0), 0);
	append(f, "c", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "c", "old\nagent\nhuman\n");
}

/* Steps wrote by that name as well, while it was the only one. */
TEST_WITH(nobody_by_the_other_name, NULL, NULL)
{
	for (int later = 0; later < 2; later++) {
		struct fix *f = fix_new();

		(void)state;
		outside(f, "d", "old\n");
		link_outside(f, "d", "c");
		assert_true(write_and_take_away(f, REMOVED) > 0);
		if (later) {
			one_step(f, "echo >>c", add(f, "c", "more\n"));
		}
		must(f, undo(f, 1 + later, 0));
		assert_cat(f, "c", "old\n");
		must(f, redo(f, 0));
		must(f, undo(f, 1 + later, 0));
		assert_cat(f, "d", "old\n");
		fix_free(f);
	}
}

/* The step that removed one name had written by it: the content at the other name is the step's. */
TEST_WITH(an_edit_by_a_name_that_a_step_knows, NULL, NULL)
{
	static const char *const all[] = {"old\nagent\n", "old\nhuman\nagent\n",
					  "old\nagent\nhuman\n"};

	for (int human = 0; human < 3; human++) {
		struct fix *f = fix_new();

		(void)state;
		make_linked(f, "d", "old\n", "c");
		if (human == 1)
			append(f, "c", "human\n");
		assert_true(write_and_take_away(f, REMOVED) > 0);
		if (human == 2)
			append(f, "c", "human\n");
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "c", human ? all[human] : NULL);
		assert_int_equal(human ? 0 : redo(f, 0), 0);
		assert_cat(f, "c", all[human]);
		fix_free(f);
	}
}

/* The same for an object of another type. */
TEST(nobody_where_a_fifo_has_two)
{
	struct fix *f = *state;
	struct at a;

	begin(f, "mkfifo d");
	a = at(f, "d");
	assert_int_equal(op_mknod(f->s, &a, S_IFIFO | 0644, 0, NULL), 0);
	assert_true(commit(f) > 0);
	begin(f, "chmod d; ln d a");
	assert_int_equal(mode(f, "d", 0600), 0);
	assert_int_equal(ln(f, "d", "a"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
}

/* The restored FIFO is a hard link to the object in the store, and an undo moves that back. */
TEST(nobody_where_a_restore_gave_a_fifo_back)
{
	struct fix *f = *state;
	struct at a;
	int64_t id;

	begin(f, "mkfifo d");
	a = at(f, "d");
	assert_int_equal(op_mknod(f->s, &a, S_IFIFO | 0644, 0, NULL), 0);
	assert_true(commit(f) > 0);
	begin(f, "chmod d; rm d");
	assert_int_equal(mode(f, "d", 0600), 0);
	assert_int_equal(rm(f, "d"), 0);
	id = commit(f);
	must(f, restore(f, id, "d", 0));
	must(f, undo(f, 1, 0));
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
}

/* A directory's link count includes its subdirectories, which are no other names. */
TEST(nobody_where_a_directory_went)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	one_step(f, "mkdir b; chmod b", md(f, "b"));
	outside(f, "b/x", "the human's\n");
	one_step(f, "chmod b", mode(f, "b", 0700));
	after = snap(f);
	must(f, undo(f, 2, UNDO_FORCE));
	must(f, redo(f, 0));
	assert_tree(f, after);
}

/* The undo removed the file, which had another external name, and the redo restores it. */
TEST_WITH(an_edit_by_the_other_name_after_the_undo, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		outside(f, "c", "first\n");
		begin(f, "sed -i c");
		assert_int_equal(put(f, "tmp", "new\n"), 0);
		assert_int_equal(mv(f, "tmp", "c", 0), 0);
		assert_true(commit(f) > 0);
		link_outside(f, "c", "a");
		one_step(f, "echo >>c", add(f, "c", "agent\n"));
		must(f, undo(f, 2, 0));
		assert_cat(f, "c", "first\n");
		assert_cat(f, "a", "new\n");
		if (human)
			append(f, "a", "human\n");
		assert_int_equal(redo(f, 0), human ? -ESTALE : 0);
		assert_cat(f, "a", human ? "new\nhuman\n" : "new\nagent\n");
		assert_int_equal(human ? redo(f, UNDO_KEEP_MINE) : 0, 0);
		assert_cat(f, "a", human ? "new\nhuman\n" : "new\nagent\n");
		fix_free(f);
	}
}

static void found(void *data, const char *path)
{
	fprintf(stderr, "# %s\n", path);
	++*(int *)data;
}

/* The image by one name was made anew after a later step had written by the other. */
static void written_by_the_other_name_and_redone(size_t undone, bool human)
{
	struct fix *f = fix_new();
	int n_found = 0;

	one_step(f, "touch c", put(f, "c", "first\n"));
	one_step(f, "ln c b", ln(f, "c", "b"));
	one_step(f, "echo >b", put(f, "b", "second\n"));
	must(f, undo(f, 3, 0));
	must(f, redo(f, 0));
	for (int turn = 0; turn < 2; turn++) {
		must(f, undo(f, undone, 0));
		must(f, turn ? 0 : redo(f, 0));
	}
	must(f, journal_rescan(f->j, found, &n_found));
	assert_int_equal(n_found, 0);
	if (human)
		append(f, "c", "human\n");
	assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	assert_cat(f, "c", human ? "first\nhuman\n" : NULL);
	fix_free(f);
}

TEST_WITH(nobody_by_the_other_name_after_a_redo, NULL, NULL)
{
	for (size_t undone = 1; undone < 3; undone++) {
		written_by_the_other_name_and_redone(undone, false);
		written_by_the_other_name_and_redone(undone, true);
	}
}

/* Only the mode was undone: the external content is not what the first step left. */
TEST_WITH(an_edit_before_a_step_that_went_by_the_other_name, NULL, NULL)
{
	for (int redone = 0; redone < 2; redone++) {
		struct fix *f = fix_new();

		(void)state;
		make_linked(f, "c", "first\n", "b");
		must(f, redone ? undo(f, 1, 0) : 0);
		must(f, redone ? redo(f, 0) : 0);
		append(f, "c", "human\n");
		one_step(f, "chmod b", mode(f, "b", 0600));
		must(f, undo(f, 1, 0));
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_cat(f, "c", "first\nhuman\n");
		fix_free(f);
	}
}

/* One step opened the file, the next wrote by the other name: what it found was there before. */
TEST(nobody_where_one_was_opened_for_nothing)
{
	struct fix *f = *state;

	make_linked(f, "c", "first\n", "b");
	open_for_nothing(f, "c");
	one_step(f, "echo >b", put(f, "b", "second\n"));
	for (int turn = 0; turn < 2; turn++) {
		must(f, undo(f, 3, 0));
		must(f, redo(f, 0));
	}
	must(f, undo(f, 1, 0));
	must(f, undo(f, 2, 0));
	assert_cat(f, "c", NULL);
}

static int hold(struct fix *f, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* The next step must save and undo what is written to c through the descriptor. */
static void assert_kept(struct fix *f, int fd)
{
	begin(f, "another");
	assert_int_equal(put(f, "x", "x\n"), 0);
	assert_int_equal(pwrite(fd, "later", 5, 0), 5);
	assert_true(commit(f) > 0);
	assert_cat(f, "c", "later");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "c", "first");
}

/* It is open by a name that is removed externally: its other name is in no record. */
TEST(writes_are_kept_when_a_human_removes_a_name)
{
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/d", f->folder);
	int fd;

	outside(f, "d", "first");
	link_outside(f, "d", "c");
	begin(f, "exec >d");
	fd = hold(f, "d");
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(unlink(whole), 0);
	assert_kept(f, fd);
	close(fd);
}

/* The step that gave it this name is aborted. */
TEST(writes_are_kept_when_a_step_goes_with_its_name)
{
	struct fix *f = *state;
	int fd;

	outside(f, "c", "first");
	begin(f, "ln c d; exec >d");
	assert_int_equal(ln(f, "c", "d"), 0);
	fd = hold(f, "d");
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_cat(f, "d", NULL);
	assert_kept(f, fd);
	close(fd);
}

/* The summary of a step that was rolled back was made at the rollback. */
TEST(an_edit_before_a_step_that_was_rolled_back)
{
	struct fix *f = *state;

	make_linked(f, "a", "first\n", "b");
	one_step(f, "echo >b", put(f, "b", "agent\n"));
	append(f, "a", "human\n");
	begin(f, "rm b");
	assert_int_equal(rm(f, "b"), 0);
	must(f, journal_roll_back(f->s, &f->err));
	must(f, redo(f, 0));
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "a", "agent\nhuman\n");
}

/* A step gives it a name by its descriptor, and removes that again. */
TEST(nobody_where_a_removed_file_had_a_name_again)
{
	struct fix *f = *state;
	struct at file = {.dir = "", .name = ""}, a;

	one_step(f, "echo >d", put(f, "d", "was\n"));
	begin(f, "append, hold");
	a = at(f, "d");
	file.dirfd = op_open(f->s, &a, O_RDWR | O_APPEND, 0, NULL);
	assert_true(file.dirfd >= 0);
	assert_int_equal(io_write_all(file.dirfd, "is\n", 3), 0);
	assert_true(commit(f) > 0);
	begin(f, "rm d; ln /proc/self/fd/3 a; rm a");
	assert_int_equal(rm(f, "d"), 0);
	a = at(f, "a");
	must(f, op_link(f->s, &file, &a, NULL));
	assert_int_equal(rm(f, "a"), 0);
	assert_true(commit(f) > 0);
	close(file.dirfd);
	must(f, undo(f, 2, 0));
	assert_cat(f, "d", "was\n");
}

TESTS(fix_setup, fix_teardown)
