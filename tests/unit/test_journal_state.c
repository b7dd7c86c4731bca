/* test_journal_state - a store has lost its small files: nothing else is lost. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "tests/support/journalfix.h"

static void made(struct fix *f, int64_t want, const char *path, const char *text)
{
	begin(f, path);
	assert_int_equal(put(f, "x", text), 0);
	assert_int_equal(put(f, path, text), 0);
	assert_int_equal(commit(f), want);
}

/* Makes a history: steps 1 and 3 are kept, 2 ran in the background, 4 is undone. */
static void history(struct fix *f)
{
	made(f, 1, "a", "one\n");
	assert_int_equal(journal_begin(f->j, STEP_AMBIENT, NULL, &f->s, &f->err), 0);
	assert_int_equal(put(f, "b", "two\n"), 0);
	assert_int_equal(commit(f), 2);
	made(f, 3, "c", "three\n");
	made(f, 4, "d", "four\n");
	assert_int_equal(undo(f, 1, 0), 0);
}

static void lose(struct fix *f, const char *name, off_t keep)
{
	int store = dup(journal_store_fd(f->j)), fd;

	fix_drop_dirs(f);
	journal_release(f->j);
	if (keep) {
		fd = openat(store, name, O_WRONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, keep < 0 ? 0 : keep), 0);
		close(fd);
	} else {
		assert_int_equal(unlinkat(store, name, 0), 0);
	}
	close(store);
	fix_reopen(f);
}

static void check_history(struct fix *f)
{
	AUTO_FREE char *before = snap(f);

	assert_cat(f, "x", "three\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "x", "four\n");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_sound(f);
}

TEST(the_numbers_go_on_behind_the_highest)
{
	static const off_t kept[] = {0, -1, 4, 12, 32};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct fix *f = *state;
		AUTO_FREE char *empty = snap(f);

		history(f);
		lose(f, "state", kept[i]);
		check_history(f);
		made(f, 5, "e", "five\n");
		assert_sound(f);
		assert_int_equal(undo(f, 4, 0), 0);
		assert_tree(f, empty);
		fix_teardown(state);
		fix_setup(state);
	}
}

/* Version 0.1 gave ambient steps negative numbers, from the same counter. */
TEST(a_negative_number_of_an_older_version_goes_on)
{
	struct fix *f = *state;
	AUTO_FREE char *empty = snap(f);
	int store;

	history(f);
	store = dup(journal_store_fd(f->j));
	fix_drop_dirs(f);
	journal_release(f->j);
	assert_int_equal(renameat(store, "steps/2", store, "steps/-2"), 0);
	close(store);
	fix_reopen(f);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "x", "four\n");
	made(f, 5, "e", "five\n");
	assert_int_equal(undo(f, 5, 0), 0);
	assert_tree(f, empty);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "x", "five\n");
}

/* A disk may return zeros for data that was not synced. */
TEST(zeros_are_no_state)
{
	static const char zeros[64];
	struct fix *f = *state;

	history(f);
	journal_release(f->j);
	assert_int_equal(io_write_file(journal_store_fd(f->j), "state", 0600, zeros, 64, false), 0);
	fix_reopen(f);
	check_history(f);
	made(f, 5, "e", "five\n");
}

TEST(an_open_step_is_rolled_back)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	history(f);
	before = snap(f);
	begin(f, "open");
	assert_int_equal(put(f, "x", "five\n"), 0);
	assert_int_equal(rm(f, "a"), 0);
	assert_int_equal(mv(f, "c", "a", 0), 0);
	lose(f, "state", 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "x", "five\n");
	assert_cat(f, "a", "three\n");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	made(f, 6, "e", "six\n");
	assert_sound(f);
}

static uint64_t ino_of(struct fix *f, const char *path)
{
	AUTO_FREE char *file = xasprintf("%s/%s", f->folder, path);
	struct stat st;

	assert_int_equal(lstat(file, &st), 0);
	return st.st_ino;
}

static void record(struct fix *f, struct rec rec)
{
	assert_int_equal(capture_push(&f->s->side, &rec), 0);
}

/* A file is saved by way of t: the records alone. */
static void record_save(struct fix *f, const char *path)
{
	uint64_t ino = ino_of(f, path), slot = undo_log_slot(&f->s->side.log);

	record(f, (struct rec){.type = REC_NEW, .path = "t"});
	record(f, (struct rec){.type = REC_GONE,
			       .flags = REC_LINKED,
			       .path = path,
			       .ino = ino,
			       .slot = slot});
	record(f, (struct rec){.type = REC_RENAME,
			       .path = "t",
			       .path2 = path,
			       .ino = ino + 1000000,
			       .ino2 = ino,
			       .slot = slot});
}

/* After a power cut the log may have records of operations that the disk never saw. */
TEST(records_of_operations_that_the_disk_lacks)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	history(f);
	before = snap(f);
	begin(f, "open");
	assert_int_equal(put(f, "x", "five\n"), 0);
	assert_int_equal(put(f, "t", "new\n"), 0);
	assert_int_equal(mv(f, "t", "a", 0), 0);
	assert_int_equal(put(f, "o", "own\n"), 0);
	assert_int_equal(mv(f, "o", "p", 0), 0);
	assert_int_equal(rm(f, "p"), 0);
	record_save(f, "c");
	record_save(f, "b");
	record(f, (struct rec){.type = REC_GONE,
			       .path = "b",
			       .ino = ino_of(f, "b"),
			       .slot = undo_log_slot(&f->s->side.log)});
	record(f,
	       (struct rec){
		       .type = REC_RENAME, .path = "c", .path2 = "moved", .ino = ino_of(f, "c")});
	record(f, (struct rec){.type = REC_NEW, .path = "n"});
	lose(f, "state", 0);
	assert_tree(f, before);
	assert_sound(f);
}

/* The user may move a file back before the next start, and a step may change more than it has
 * records of. Then no record is removed because of the file at its path. */
TEST(records_of_what_was_moved_back)
{
	struct fix *f = *state;
	const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	AUTO_FREE char *a = xasprintf("%s/a", f->folder), *b = xasprintf("%s/b", f->folder);
	AUTO_FREE char *dir = xasprintf("%s/dir", f->folder);
	struct stat st;

	for (int marked = 0; marked < 2; marked++) {
		begin(f, "set up");
		assert_int_equal(marked ? 0 : md(f, "dir"), 0);
		assert_int_equal(put(f, "a", "a\n"), 0);
		committed(f);
		assert_int_equal(chmod(dir, 0755), 0);
		begin(f, "open");
		assert_int_equal(mv(f, "a", "b", 0), 0);
		assert_int_equal(mode(f, "dir", 0700), 0);
		if (marked)
			record(f, (struct rec){.type = REC_MARK, .path = ""});
		else
			assert_int_equal(futimens(f->s->side.log.fd, past), 0);
		assert_int_equal(rename(b, a), 0);
		lose(f, "state", 0);
		assert_cat(f, "a", "a\n");
		assert_int_equal(stat(dir, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0755);
		assert_sound(f);
	}
}

/* When it was undone is not known then: it is not redone, and nothing else waits for it. */
TEST(the_way_back_of_an_undone_step)
{
	static const off_t kept[] = {0, -1, 20};
	AUTO_FREE char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct fix *f = *state;

		made(f, 1, "a", "one\n");
		free(first);
		first = snap(f);
		made(f, 2, "b", "two\n");
		made(f, 3, "c", "three\n");
		assert_int_equal(undo(f, 1, 0), 0);
		lose(f, "redo/3/redo", kept[i]);
		assert_int_equal(redo(f, 0), -EBADMSG);
		assert_non_null(strstr(f->err.text, "step 3 is damaged"));
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, first);
		assert_int_equal(redo(f, 0), -EBADMSG);
		made(f, 4, "d", "four\n");
		assert_sound(f);
		fix_teardown(state);
		fix_setup(state);
	}
}

/* Removed files are not dropped with the log; without a log the step is known as damaged. */
TEST(the_log_of_an_open_step)
{
	static const off_t kept[] = {0, -1};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct fix *f = *state;
		AUTO_FREE char *news = NULL;
		struct stat st;

		made(f, 1, "a", "one\n");
		begin(f, "open");
		assert_int_equal(rm(f, "a"), 0);
		lose(f, "open/2/undo", kept[i]);
		news = journal_news(f->j);
		assert_non_null(strstr(news, "steps/2/obj"));
		assert_int_equal(fstatat(journal_store_fd(f->j), "steps/2/obj/2", &st, 0), 0);
		assert_int_equal(st.st_size, 4);
		assert_int_equal(undo(f, 1, 0), -EBADMSG);
		made(f, 3, "b", "three\n");
		if (undo(f, 1, 0) < 0)
			fail_msg("%s", f->err.text);
		fix_teardown(state);
		fix_setup(state);
	}
}

/* It had not begun, and is not reported. */
TEST(an_open_step_that_took_nothing_away)
{
	struct fix *f = *state;

	made(f, 1, "a", "one\n");
	begin(f, "open");
	assert_int_equal(put(f, "b", "new\n"), 0);
	lose(f, "open/2/undo", 0);
	assert_null(journal_news(f->j));
	assert_int_equal(undo(f, 1, 0), 0);
}

TEST(what_says_whose_it_is)
{
	static const off_t kept[] = {0, -1, 8, 20};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct fix *f = *state;

		history(f);
		lose(f, "version", kept[i]);
		check_history(f);
		if (kept[i] <= 0)
			lose(f, "folder", kept[i]);
		check_history(f);
		fix_teardown(state);
		fix_setup(state);
	}
}

static int put_in(struct fix *f, const char *dir, const char *name)
{
	struct at a = {
		.dir = "", .name = name, .root = journal_add_root(f->j, dir, false, &f->err)};
	AUTO_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), out;

	a.dirfd = fd;
	begin(f, dir);
	out = op_open(f->s, &a, O_WRONLY | O_CREAT, 0600, NULL);
	assert_true(out >= 0);
	close(out);
	commit(f);
	return a.root;
}

TEST(a_step_that_was_open_elsewhere)
{
	struct fix *f = *state;
	AUTO_FREE char *grant = xasprintf("%s/grant", f->top);
	struct at a = {.dir = "", .name = "file"};
	AUTO_CLOSE int dir = -1, fd = -1;

	made(f, 1, "b", "undone\n");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(mkdir(grant, 0755), 0);
	dir = open(grant, O_PATH | O_DIRECTORY | O_CLOEXEC);
	a.dirfd = dir;
	a.root = journal_add_root(f->j, grant, false, &f->err);
	begin(f, "open");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0600, NULL);
	assert_true(fd >= 0);
	lose(f, "roots", 0);
	assert_int_equal(redo(f, 0), -ENOENT); /* it was undone before that step began */
	one_step(f, "another", put(f, "a", "one\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	fix_reopen(f);
}

/* Changes in one directory are never undone in another. */
TEST(the_paths_of_places_elsewhere)
{
	static const off_t kept[] = {0, -1, 12};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct fix *f = *state;
		AUTO_FREE char *first = xasprintf("%s/grant-one", f->top);
		AUTO_FREE char *second = xasprintf("%s/grant-two", f->top);
		AUTO_FREE char *file = xasprintf("%s/file", second);
		struct journal_sound sound;

		assert_int_equal(mkdir(first, 0755) | mkdir(second, 0755), 0);
		assert_int_equal(put_in(f, first, "file"), 1);
		lose(f, "roots", kept[i]);
		assert_int_equal(undo(f, 1, UNDO_FORCE), -EBADMSG);
		assert_int_equal(put_in(f, second, "file"), 2);
		fix_reopen(f);
		assert_int_equal(undo(f, 2, UNDO_FORCE), -EBADMSG);
		assert_int_equal(access(file, F_OK), 0);
		assert_int_equal(undo(f, 1, UNDO_ALL_PLACES), 0);
		assert_int_equal(access(file, F_OK), -1);
		assert_int_equal(journal_verify(f->j, print_damage, NULL, &sound, &f->err),
				 -EBADMSG);
		fix_teardown(state);
		fix_setup(state);
	}
}

TESTS(fix_setup, fix_teardown)
