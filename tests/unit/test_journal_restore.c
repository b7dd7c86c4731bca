/* test_journal_restore - single paths of a step are restored to their state before it, with all
 * attributes. */
/* SPDX-License-Identifier: MIT */
#include <sys/xattr.h>

#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

static char *whole(struct fix *f, const char *path)
{
	return xasprintf("%s/%s", f->folder, path);
}

/* Makes a directory with everything that undo must preserve. */
static void furnish(struct fix *f)
{
	AUTO_FREE char *a = whole(f, "d/sub/a"), *sparse = whole(f, "d/sparse");
	AUTO_FREE char *dir = whole(f, "d"), *sub = whole(f, "d/sub");
	const struct timespec old[2] = {{1000, 1}, {2000, 123456789}};
	int fd;

	begin(f, "furnish");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(md(f, "d/sub"), 0);
	assert_int_equal(put(f, "d/sub/a", "content of a\n"), 0);
	assert_int_equal(put(f, "d/z", "z\n"), 0);
	assert_int_equal(put(f, "outer", "outer\n"), 0);
	assert_int_equal(ln(f, "d/sub/a", "d/b"), 0);
	assert_int_equal(ln(f, "outer", "d/alias"), 0);
	assert_int_equal(sym(f, "../nowhere", "d/link"), 0);
	assert_int_equal(
		op_mknod(f->s, &(struct at[]){at(f, "d/pipe")}[0], S_IFIFO | 0640, 0, NULL), 0);
	commit(f);
	setxattr(a, "user.note", "kept", 4, 0);
	fd = open(sparse, O_RDWR | O_CREAT | O_CLOEXEC, 04750);
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 4 << 20), 1);
	close(fd);
	assert_int_equal(chmod(sparse, 04750), 0);
	assert_int_equal(utimensat(AT_FDCWD, a, old, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, sub, old, 0), 0);
	assert_int_equal(chmod(sub, 02711), 0);
	assert_int_equal(utimensat(AT_FDCWD, dir, old, 0), 0);
}

static void remove_all(struct fix *f)
{
	static const char *const files[] = {"d/sub/a", "d/b",	   "d/alias", "d/link",
					    "d/pipe",  "d/sparse", "d/z"};

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		assert_int_equal(rm(f, files[i]), 0);
	assert_int_equal(rd(f, "d/sub"), 0);
	assert_int_equal(rd(f, "d"), 0);
}

static uint64_t blocks(struct fix *f, const char *path)
{
	AUTO_FREE char *name = whole(f, path);
	struct stat st;

	return stat(name, &st) < 0 ? 0 : (uint64_t)st.st_blocks;
}

TEST(a_deleted_directory)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *after = NULL, *restored = NULL;
	struct undo_plan *plan = NULL;
	const char *const paths[] = {"d", NULL};
	int64_t id;

	furnish(f);
	before = snap(f);
	begin(f, "rm -rf d, and more");
	remove_all(f);
	assert_int_equal(put(f, "other", "made by the step\n"), 0);
	assert_int_equal(put(f, "d2", "too\n"), 0);
	id = commit(f);
	after = snap(f);

	must(f, journal_restore_plan(f->j, id, paths, 0, &plan, &f->err));
	assert_int_equal(plan->kind, UNDO_PATHS);
	assert_int_equal(plan->n_entries, 9);
	assert_int_equal(plan->n_conflicts, 0);
	assert_string_equal(plan->entries[0].path, "d");
	assert_int_equal(plan->entries[0].what, 'A');
	undo_plan_free(plan);
	assert_tree(f, after);

	must(f, restore(f, id, "d", 0));
	restored = snap(f);
	assert_true(blocks(f, "d/sparse") < 100);
	must(f, undo(f, 1, false));
	assert_tree(f, after);
	must(f, redo(f, false));
	assert_tree(f, restored);
	/* Other files of the step are still there; without them the tree is as before. */
	begin(f, "rm");
	assert_int_equal(rm(f, "other"), 0);
	assert_int_equal(rm(f, "d2"), 0);
	commit(f);
	{
		AUTO_FREE char *now = snap(f);
		const char *a = strchr(before, '\n'), *b = strchr(now, '\n');

		assert_true(tree_same(a, b)); /* except the top's own time */
	}
}

TEST(one_file)
{
	struct fix *f = *state;
	int64_t id;

	furnish(f);
	begin(f, "change");
	assert_int_equal(put(f, "d/z", "changed\n"), 0);
	assert_int_equal(put(f, "outer", "changed too\n"), 0);
	assert_int_equal(rm(f, "d/b"), 0);
	id = commit(f);
	must(f, restore(f, id, "d/z", 0));
	assert_cat(f, "d/z", "z\n");
	/* A change by one name is visible by the other. */
	must(f, restore(f, id, "outer", 0));
	assert_cat(f, "d/alias", "outer\n");
	/* The other name of an existing file is restored as a name of the same file. */
	must(f, restore(f, id, "d/b", 0));
	{
		AUTO_FREE char *a = whole(f, "d/sub/a"), *b = whole(f, "d/b");
		struct stat x, y;

		assert_int_equal(stat(a, &x), 0);
		assert_int_equal(stat(b, &y), 0);
		assert_int_equal(x.st_ino, y.st_ino);
	}
}

TEST(renames_and_all)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *after = NULL, *swap = NULL;
	int64_t id;

	furnish(f);
	before = snap(f);
	begin(f, "a mess");
	assert_int_equal(mv(f, "d", "e", 0), 0);
	assert_int_equal(mv(f, "e/sub", "e/deep", 0), 0);
	assert_int_equal(add(f, "e/deep/a", "more\n"), 0);
	assert_int_equal(mv(f, "e/z", "outer", RENAME_EXCHANGE), 0);
	assert_int_equal(mode(f, "e/sparse", 0600), 0);
	assert_int_equal(md(f, "new"), 0);
	assert_int_equal(mv(f, "e/link", "new/link", 0), 0);
	assert_int_equal(put(f, "d", "a file where the directory was\n"), 0);
	id = commit(f);
	after = snap(f);
	must(f, restore(f, id, "", 0));
	assert_tree(f, before);
	must(f, undo(f, 1, false));
	assert_tree(f, after);
	must(f, undo(f, 1, false));
	assert_tree(f, before);
	swap = cat(f, "d/z");
	assert_string_equal(swap, "z\n");
}

TEST(somebody_else_was_there)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL, *mine = NULL;
	int64_t id;

	one_step(f, "make", put(f, "x", "one\n"));
	begin(f, "change");
	assert_int_equal(put(f, "x", "two\n"), 0);
	assert_int_equal(md(f, "made"), 0);
	assert_int_equal(put(f, "made/by", "the step\n"), 0);
	id = commit(f);
	outside(f, "x", "the human's\n");
	outside(f, "made/mine", "the human's\n");
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "'x' has changed since"));
	must(f, restore(f, id, "x", UNDO_FORCE));
	text = cat(f, "x");
	assert_string_equal(text, "one\n");
	must(f, undo(f, 1, false));
	free(text);
	text = cat(f, "x");
	assert_string_equal(text, "the human's\n");
	/* Only the step's own part of a directory is removed. */
	must(f, restore(f, id, "made", UNDO_FORCE));
	mine = cat(f, "made/mine");
	assert_string_equal(mine, "the human's\n");
	assert_null(cat(f, "made/by"));
}

/* The file that the step made is gone: a directory in its place is not removed. */
TEST(a_directory_in_the_place_of_what_was_made)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *path = whole(f, "made");
	int64_t id;

	id = one_step(f, "make", put(f, "made", "by the step\n"));
	begin(f, "a directory in its place");
	assert_int_equal(rm(f, "made"), 0);
	assert_int_equal(md(f, "made"), 0);
	assert_int_equal(put(f, "made/later", "by a later step\n"), 0);
	commit(f);
	before = snap(f);
	assert_int_equal(restore(f, id, "made", 0), -ENOTEMPTY);
	assert_non_null(strstr(f->err.text, "'made': a directory is in its place"));
	assert_tree(f, before);

	must(f, undo(f, 1, 0));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	outside(f, "made/mine", "the human's\n");
	free(before);
	before = snap(f);
	assert_int_equal(restore(f, id, "made", UNDO_FORCE), -ENOTEMPTY);
	assert_tree(f, before);
}

/* It replaced another file, which is not restored. */
TEST(one_of_two_names)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL, *other = NULL;
	int64_t id;

	begin(f, "make");
	assert_int_equal(put(f, "from", "one\n"), 0);
	assert_int_equal(put(f, "over", "two\n"), 0);
	commit(f);
	id = one_step(f, "mv", mv(f, "from", "over", 0));
	must(f, restore(f, id, "from", 0));
	text = cat(f, "over");
	assert_string_equal(text, "one\n");
	must(f, restore(f, id, "over", 0));
	free(text);
	text = cat(f, "over");
	assert_string_equal(text, "two\n");
	other = cat(f, "from");
	assert_string_equal(other, "one\n");
}

/* A pipe has no bytes to compare: it is found at its new path. */
TEST(a_pipe_that_was_moved_or_removed)
{
	struct fix *f = *state;
	struct change *list = NULL;
	struct stat st;
	struct at a;
	int64_t id;
	size_t n;

	begin(f, "make");
	a = at(f, "pipe");
	assert_int_equal(op_mknod(f->s, &a, S_IFIFO | 0640, 0, NULL), 0);
	assert_int_equal(put(f, "over", "two\n"), 0);
	commit(f);
	begin(f, "dress and remove");
	assert_int_equal(mode(f, "pipe", 0600), 0);
	assert_int_equal(rm(f, "pipe"), 0);
	id = commit(f);
	must(f, restore(f, id, "pipe", 0));
	assert_int_equal(fstatat(journal_folder_fd(f->j), "pipe", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFIFO | 0640);
	/* Its name in the store is not a path of that step. */
	assert_int_equal(journal_changes(f->j, id + 1, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].path, "pipe");
	assert_int_equal(list[0].kind, CHANGE_CREATED);
	change_free(list, n);
	for (int over = 0; over < 2; over++) {
		id = one_step(f, "mv", mv(f, "pipe", over ? "over" : "elsewhere", 0));
		must(f, restore(f, id, "pipe", 0));
		assert_int_equal(fstatat(journal_folder_fd(f->j), "pipe", &st, 0), 0);
		assert_int_equal(st.st_mode, S_IFIFO | 0640);
	}
}

static void hold_and_go_on(void *arg)
{
	struct fix *f = arg;
	struct at a;
	int fd;

	fix_open(f);
	begin(f, "exec 3>a");
	a = at(f, "a");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0600, NULL);
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(ftruncate(fd, 150000), 0); /* too large for a log */
	commit(f);
	one_step(f, "beside", put(f, "other", "x"));
}

/* Whatever was saved when the last process died: the bytes are in the very file that gets its name
 * back, and writing them there would first empty it. */
TEST_WITH(a_file_is_not_emptied_for_its_own_bytes, NULL, NULL)
{
	bool more = true;

	for (int n = 1; more; n += comb(4)) {
		struct fix *f = fix_new();
		AUTO_FREE char *was = NULL;

		fix_drop_dirs(f);
		journal_close(take_ptr(&f->j));
		more = inject_kill(n, hold_and_go_on, f);
		fix_open(f);
		was = cat(f, "a");
		if (was) {
			begin(f, "ln a c; rm a");
			assert_int_equal(ln(f, "a", "c"), 0);
			assert_int_equal(rm(f, "a"), 0);
			must(f, restore(f, commit(f), "c", 0));
			assert_cat(f, "a", was);
		}
		fix_free(f);
	}
}

TEST(refusals)
{
	struct fix *f = *state;
	int64_t id;

	id = one_step(f, "make", put(f, "x", "one\n"));
	assert_int_equal(restore(f, 99, "x", 0), -ENOENT);
	assert_non_null(strstr(f->err.text, "there is no step 99"));
	assert_int_equal(restore(f, id, "y", 0), -ENOENT);
	assert_non_null(strstr(f->err.text, "changed none of these"));
	must(f, undo(f, 1, false));
	assert_int_equal(restore(f, id, "x", 0), -EINVAL);
	assert_non_null(strstr(f->err.text, "is undone"));
	begin(f, "mkdir");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/x", "one\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "mv");
	assert_int_equal(mv(f, "d", "e", 0), 0);
	assert_int_equal(restore(f, commit(f), "d/x", 0), -ENOENT);
	assert_non_null(strstr(f->err.text, "moved 'd' to 'e'"));
}

/* A restored directory, which its step had moved and made again, is undone with the rest. */
TEST(a_directory_moved_and_made_anew)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct step *work;
	int64_t id;

	begin(f, "make");
	assert_int_equal(put(f, "a", "one"), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/a", "alpha"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "move");
	assert_int_equal(mv(f, "b", "d", 0), 0);
	assert_int_equal(md(f, "b"), 0);
	id = commit(f);
	must(f, restore(f, id, "b", 0));
	begin(f, "work");
	assert_int_equal(put(f, "c", "gamma"), 0);
	assert_int_equal(mv(f, "b", "c", RENAME_EXCHANGE), 0);
	work = f->s;
	one_step(f, "at the same time", add(f, "a", "more"));
	f->s = work;
	assert_true(commit(f) > 0);
	must(f, undo(f, 4, 0));
	assert_tree(f, before);
}

/* Compares all but the folder's own time, which is not restored. */
static void assert_below(struct fix *f, const char *want)
{
	AUTO_FREE char *now = snap(f);

	if (!tree_same(strchr(want, '\n'), strchr(now, '\n')))
		fail_msg("the tree differs");
}

/* To restore one directory the other must move: so its former place is restored as well. */
TEST(a_directory_that_was_renamed_over_another)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/a", "alpha"), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	id = one_step(f, "move", mv(f, "b", "d", 0));
	must(f, restore(f, id, "b", 0));
	assert_below(f, before);
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

TEST(two_directories_that_changed_places)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/a", "alpha"), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/x", "x-ray"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	id = one_step(f, "move", mv(f, "b", "d", RENAME_EXCHANGE));
	must(f, restore(f, id, "b", 0));
	assert_below(f, before);
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

/* The directory is restored as before, without the step's changes under its new name. */
TEST(a_directory_that_was_moved_and_filled)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/a", "alpha"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "move");
	assert_int_equal(mv(f, "b", "c", 0), 0);
	assert_int_equal(md(f, "c/d"), 0);
	assert_int_equal(put(f, "c/a", "other"), 0);
	assert_int_equal(put(f, "c/n", "new"), 0);
	assert_int_equal(md(f, "b"), 0);
	id = commit(f);
	must(f, restore(f, id, "b", 0));
	assert_below(f, before);
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

/* ---- random restores ------------------------------------------------------------------------- */

static unsigned dice;

static unsigned rnd(unsigned n)
{
	dice = dice * 1103515245 + 12345;
	return (dice >> 16) % n;
}

static const char *name(void)
{
	static const char *const names[] = {"a",   "b",	  "c",	   "d",	    "e",     "d/a", "d/b",
					    "e/a", "e/d", "d/e/a", "d/e/b", "e/d/a", "d/e"};

	return names[rnd(ARRAY_LEN(names))];
}

static void act(struct fix *f)
{
	const char *p = name(), *q = name();
	struct at a;

	switch (rnd(12)) {
	case 0:
	case 1:
		(void)put(f, p, rnd(2) ? "text\n" : "other text\n");
		break;
	case 2:
		(void)add(f, p, "more\n");
		break;
	case 3:
		(void)rm(f, p);
		break;
	case 4:
		(void)md(f, p);
		break;
	case 5:
		(void)rd(f, p);
		break;
	case 6:
	case 7:
		(void)mv(f, p, q, 0);
		break;
	case 8:
		(void)mv(f, p, q, RENAME_EXCHANGE);
		break;
	case 9:
		(void)ln(f, p, q);
		break;
	case 10:
		(void)mode(f, p, rnd(2) ? 0750 : 0640);
		break;
	default:
		a = at(f, p);
		(void)op_symlink(f->s, q, &a, NULL);
	}
}

TEST_WITH(anything, NULL, NULL)
{
	const char *given = getenv("CORDON_TEST_SEED");
	unsigned first = given ? (unsigned)atoi(given) : 1, last = given ? first : 250;

	for (unsigned seed = first; seed <= last; seed++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL, *after = NULL, *now = NULL;
		int64_t id;

		dice = seed * 7919;
		begin(f, "prepare");
		for (int i = 0; i < 14; i++)
			act(f);
		commit(f);
		before = snap(f);
		begin(f, "act");
		for (int i = 0; i < 8; i++)
			act(f);
		id = commit(f);
		after = snap(f);
		if (!id) { /* no change in the end */
			fix_free(f);
			continue;
		}
		if (restore(f, id, "", 0) < 0)
			fail_msg("seed %u: %s", seed, f->err.text);
		now = snap(f);
		if (!tree_same(before, now))
			fail_msg("seed %u: the restored tree differs", seed);
		if (strcmp(now, after) != 0 && undo(f, 1, false) < 0)
			fail_msg("seed %u: undo: %s", seed, f->err.text);
		free(now);
		now = snap(f);
		if (!tree_same(after, now))
			fail_msg("seed %u: the tree after undo differs", seed);
		fix_free(f);
	}
}

/* The plan lists the content by paths that did not exist before the step. */
TEST(a_directory_that_was_moved_and_removed)
{
	static const char *const paths[] = {"c", NULL};
	struct fix *f = *state;
	AUTO_FREE char *a = whole(f, "a"), *link = whole(f, "c/link");
	struct undo_plan *plan = NULL;
	bool told = false;
	int64_t id;

	begin(f, "make");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(put(f, "c/x", "x-ray\n"), 0);
	assert_int_equal(sym(f, "x", "c/link"), 0);
	commit(f);
	begin(f, "mv c a/d; rm -r a");
	assert_int_equal(mv(f, "c", "a/d", 0), 0);
	assert_int_equal(rm(f, "a/d/x"), 0);
	assert_int_equal(rm(f, "a/d/link"), 0);
	assert_int_equal(rd(f, "a/d"), 0);
	assert_int_equal(rd(f, "a"), 0);
	id = commit(f);
	must(f, journal_restore_plan(f->j, id, paths, 0, &plan, &f->err));
	for (size_t i = 0; i < plan->n_entries; i++)
		told |= str_eq(plan->entries[i].path, "c/x") && plan->entries[i].what == 'A';
	undo_plan_free(plan);
	assert_true(told);
	must(f, restore(f, id, "c", 0));
	assert_cat(f, "c/x", "x-ray\n");
	assert_int_equal(access(link, F_OK), 0);
	assert_int_equal(access(a, F_OK), -1); /* it was not requested */
}

/* The file in its place must be removed for the restored path. */
TEST(out_of_a_directory_that_a_file_replaced)
{
	struct fix *f = *state;
	int64_t id;

	furnish(f);
	begin(f, "rm -r d; touch d");
	remove_all(f);
	assert_int_equal(put(f, "d", "a file\n"), 0);
	id = commit(f);
	must(f, restore(f, id, "d/z", 0));
	assert_cat(f, "d/z", "z\n");
}

/* The restored entries have the names of new ones in their place. */
TEST(a_directory_that_one_like_it_took_the_name_of)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id;

	begin(f, "mkdir a; touch a/a");
	must(f, md(f, "a"));
	must(f, put(f, "a/a", "old\n"));
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "mv a d; mkdir a; touch a/a");
	must(f, mv(f, "a", "d", 0));
	must(f, md(f, "a"));
	must(f, put(f, "a/a", "new\n"));
	id = commit(f);
	must(f, restore(f, id, "a", 0));
	assert_below(f, before);
}

TESTS(fix_setup, fix_teardown)
