/* test_journal_evil - external edits, swapped directories, damaged stores, cancels. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/journalfix.h"

static int setup(void **state)
{
	struct fix *f = fix_new();

	*state = f;
	begin(f, "set up");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "a", "alpha\n"), 0);
	assert_int_equal(put(f, "d/x", "x-ray\n"), 0);
	assert_true(commit(f) > 0);
	return 0;
}

static char *in(struct fix *f, const char *path)
{
	return xasprintf("%s/%s", f->folder, path);
}

TEST(a_human_edit_is_a_conflict_and_survives_force)
{
	struct fix *f = *state;

	one_step(f, "agent", put(f, "a", "agent\n"));
	outside(f, "a", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "'a'"));
	assert_cat(f, "a", "human\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", "alpha\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "human\n");
}

TEST(a_human_file_where_one_was_deleted)
{
	struct fix *f = *state;

	one_step(f, "agent", rm(f, "a"));
	outside(f, "a", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", "alpha\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "human\n");
}

/* A step and its summary list a file that was missing at the undo; neither is damaged. */
TEST(what_a_human_took_away_is_no_damage)
{
	struct fix *f = *state;
	AUTO_FREE char *file = in(f, "new");

	begin(f, "agent");
	assert_int_equal(put(f, "new", "1"), 0);
	assert_int_equal(put(f, "other", "2"), 0);
	commit(f);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_sound(f);
	assert_int_equal(redo(f, 0), 0);
	assert_sound(f);
}

TEST(a_human_file_in_a_new_directory)
{
	struct fix *f = *state;

	begin(f, "agent");
	assert_int_equal(md(f, "n"), 0);
	assert_int_equal(put(f, "n/agent", "1"), 0);
	commit(f);
	outside(f, "n/human", "mine\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "n/human"));
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "n/human", NULL);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "n/human", "mine\n");
	assert_cat(f, "n/agent", "1");
}

TEST(a_redo_over_a_human_edit)
{
	struct fix *f = *state;

	one_step(f, "agent", put(f, "a", "agent\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "a", "human\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "a", "agent\n");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "human\n");
}

TEST(a_touched_mtime_with_the_same_bytes_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *a = in(f, "a");

	one_step(f, "agent", put(f, "a", "agent\n"));
	assert_int_equal(utimensat(AT_FDCWD, a, NULL, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "alpha\n");
}

/* The directory of a file to be restored has become a link elsewhere. */
TEST(restore_never_leaves_the_folder)
{
	struct fix *f = *state;
	AUTO_FREE char *d = in(f, "d");
	AUTO_FREE char *out = xasprintf("%s/outside", f->top);
	AUTO_FREE char *moved = xasprintf("%s/moved", f->top);
	AUTO_FREE char *leak = xasprintf("%s/x", out);

	begin(f, "agent");
	assert_int_equal(rm(f, "d/x"), 0);
	assert_int_equal(put(f, "d/new", "n"), 0);
	commit(f);
	assert_int_equal(mkdir(out, 0755), 0);
	assert_int_equal(rename(d, moved), 0);
	assert_int_equal(symlink(out, d), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(access(leak, F_OK), -1);
	assert_cat(f, "d/x", "x-ray\n");
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_int_equal(access(leak, F_OK), -1);
}

TEST(odd_things_in_the_way)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct at fifo = at(f, "a");

	begin(f, "agent");
	assert_int_equal(rm(f, "a"), 0);
	assert_int_equal(op_mknod(f->s, &fifo, S_IFIFO | 0600, 0, NULL), 0);
	assert_int_equal(put(f, "d/y", "y"), 0);
	assert_int_equal(mode(f, "d", 0), 0);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

static bool stop_after_32(void *data, size_t done, size_t total)
{
	(void)data;
	(void)total;
	return done < 64;
}

TEST(a_cancel_puts_everything_back)
{
	struct fix *f = *state;
	const struct undo_progress progress = {.tick = stop_after_32};
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *after = NULL;
	char name[16];

	begin(f, "agent");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "d/f%d", i);
		assert_int_equal(put(f, name, name), 0);
	}
	assert_int_equal(put(f, "a", "agent\n"), 0);
	commit(f);
	after = snap(f);
	assert_int_equal(journal_undo(f->j, UNDO_BACK, 1, 0, &progress, &f->err), -ECANCELED);
	assert_tree(f, after);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

TEST(one_keeper_at_a_time)
{
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};
	struct journal *other = NULL;
	struct step_info *list = NULL;
	size_t n = 0;
	struct err err = {0};

	assert_int_equal(journal_open(&other, &spec, NULL, &err), -EBUSY);
	spec.read_only = true;
	assert_int_equal(journal_open(&other, &spec, NULL, &err), 0);
	assert_int_equal(journal_list(other, false, &list, &n, &err), 0);
	assert_int_equal(n, 1);
	step_info_free(list, n);
	journal_close(other);
}

TEST(another_version_is_left_alone)
{
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};
	struct err err = {0};

	assert_int_equal(io_write_file(journal_store_fd(f->j), "version", 0600, "2\n", 2, false),
			 0);
	journal_close(f->j);
	f->j = NULL;
	assert_int_equal(journal_open(&f->j, &spec, NULL, &err), -EPROTO);
	assert_non_null(strstr(err.text, "--discard"));
	assert_int_equal(journal_discard(&spec, &err), 0);
	fix_open(f);
	assert_int_equal(undo(f, 1, 0), -ENOENT);
}

static void without(const struct fix *f, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/.cordon/%s", f->folder, name);

	assert_int_equal(unlink(path), 0);
}

static int reopen(struct fix *f, const struct journal_spec *spec)
{
	journal_close(f->j); /* a step stays open */
	f->j = NULL;
	f->err = (struct err){0};
	return journal_open(&f->j, spec, NULL, &f->err);
}

/* A clone or an archive may contain a store: the content of its "folder" file is not trusted. */
TEST(a_store_that_came_with_the_folder_is_not_taken)
{
	static const char *const missing[] = {"folder", "version", ".gitignore", "lock"};
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = "/proc/cordon"};
	AUTO_FREE char *before = NULL, *lock = xasprintf("%s/.cordon/lock", f->folder);

	assert_int_equal(reopen(f, &spec), 0);
	begin(f, "agent");
	assert_int_equal(rm(f, "a"), 0);
	before = snap(f);
	journal_close(f->j);
	f->j = NULL;
	for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
		without(f, missing[i]);
		for (int looks = 0; looks < 2; looks++) {
			spec.read_only = looks;
			assert_int_equal(reopen(f, &spec), -EPROTO);
			assert_non_null(strstr(f->err.text, "--discard"));
			assert_tree(f, before);
		}
	}
	assert_int_equal(access(lock, F_OK), -1); /* nothing is written into it */
	spec.read_only = false;
	assert_int_equal(journal_discard(&spec, &f->err), 0);
	assert_int_equal(reopen(f, &spec), 0);
	assert_tree(f, before);
}

/* Git writes the files of a commit into a store in the folder, also while a session runs. */
TEST(a_store_with_files_that_others_may_read_is_not_used)
{
	static const char *const opened[] = {"", "/steps", "/steps/1/undo", "/state"};
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = "/proc/cordon"};
	struct stat st;

	assert_int_equal(reopen(f, &spec), 0);
	one_step(f, "agent", rm(f, "a"));
	for (size_t i = 0; i < ARRAY_LEN(opened); i++) {
		AUTO_FREE char *path = xasprintf("%s/.cordon%s", f->folder, opened[i]);

		if (stat(path, &st) < 0)
			fail_msg("%s: %s", path, strerror(errno));
		assert_int_equal(st.st_mode & 077, 0);
		assert_int_equal(chmod(path, st.st_mode | 044), 0);
		f->err = (struct err){0};
		assert_int_equal(undo(f, 1, 0), -EPROTO);
		assert_non_null(strstr(f->err.text, opened[i][0] ? opened[i] + 1 : "'.'"));
		assert_int_equal(reopen(f, &spec), -EPROTO);
		assert_int_equal(chmod(path, st.st_mode), 0);
		assert_int_equal(reopen(f, &spec), 0);
	}
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "alpha\n");
}

/* `chmod -R`, or a commit with any name. */
TEST(a_history_put_aside_leaves_nothing_of_others)
{
	static const char *const opened[] = {"spare/0", "spare",      "room",
					     "lock",	".gitignore", "aside"};
	struct fix *f = *state;
	struct journal_spec spec = {
		.folder = f->folder, .state_dir = "/proc/cordon", .lasting = true};

	assert_int_equal(reopen(f, &spec), 0);
	for (size_t i = 0; i < ARRAY_LEN(opened) + 1; i++) {
		bool made = i == ARRAY_LEN(opened);
		AUTO_FREE char *path =
			xasprintf("%s/.cordon/%s", f->folder, made ? ".x" : opened[i]);
		struct stat st;

		one_step(f, "agent", put(f, "a", "agent\n"));
		if (made)
			assert_int_equal(mkdir(path, 0755), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(chmod(path, st.st_mode | 044), 0);
		assert_int_equal(reopen(f, &spec), 0);
		assert_int_equal(undo(f, 1, 0), -ENOENT);
		one_step(f, "agent", put(f, "a", "again\n"));
		assert_int_equal(reopen(f, &spec), 0);
		assert_int_equal(undo(f, 1, 0), 0);
	}
}

/* The session that puts it aside begins with an empty history. */
TEST(a_history_with_files_of_others_is_not_taken_over)
{
	struct fix *f = *state;
	struct journal_spec spec = {
		.folder = f->folder, .state_dir = "/proc/cordon", .lasting = true};
	AUTO_FREE char *log = xasprintf("%s/.cordon/steps/1/undo", f->folder), *was = NULL;

	assert_int_equal(reopen(f, &spec), 0);
	one_step(f, "agent", put(f, "a", "agent\n"));
	assert_int_equal(chmod(log, 0644), 0);
	assert_int_equal(reopen(f, &spec), 0);
	assert_int_equal(access(log, F_OK), -1);
	journal_close(f->j);
	f->j = NULL;
	assert_true(journal_adopt(&spec, &was, &f->err) < 0); /* or the birth time is unknown */
}

/* A first start that was killed has made some of these files. */
TEST(a_store_that_was_begun_is_gone_on_with)
{
	static const char *const dirs[] = {"open",  "steps",	"redo",	 "trash",
					   "posts", "barriers", "beside"};
	static const char *const made[] = {"state", "folder", "version", "lock", ".gitignore"};
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = "/proc/cordon"};

	for (size_t n = 0; n <= ARRAY_LEN(made); n++) {
		assert_int_equal(reopen(f, &spec), 0);
		journal_close(f->j);
		f->j = NULL;
		for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
			AUTO_FREE char *path = xasprintf("%s/.cordon/%s", f->folder, dirs[i]);

			assert_int_equal(rmdir(path), 0);
		}
		for (size_t i = 0; i < n; i++)
			without(f, made[i]);
	}
	assert_int_equal(reopen(f, &spec), 0);
	one_step(f, "agent", rm(f, "a"));
	without(f, "version"); /* the store names the directory: the rest is its own */
	assert_int_equal(reopen(f, &spec), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "alpha\n");
}

TEST(a_damaged_log_is_noticed)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;

	begin(f, "agent");
	assert_int_equal(rm(f, "a"), 0);
	assert_int_equal(commit(f), 2);
	fd = openat(journal_store_fd(f->j), "steps/2/undo", O_WRONLY | O_CLOEXEC);
	assert_int_equal(io_pwrite_all(fd, "XXXX", 4, 200), 0);
	assert_int_equal(undo(f, 1, 0), -EBADMSG);
	assert_int_equal(undo(f, 1, UNDO_FORCE), -EBADMSG);
	assert_cat(f, "a", NULL);
}

TEST(a_torn_tail_is_cut)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_CLOSE int fd = -1;
	uint64_t tail;

	begin(f, "agent");
	assert_int_equal(put(f, "d/x", "agent"), 0);
	fd = openat(journal_store_fd(f->j), "open/2/undo", O_RDWR | O_CLOEXEC);
	assert_int_equal(io_pread_full(fd, &tail, 8, 8), 8);
	tail += 800;
	assert_int_equal(io_pwrite_all(fd, &tail, 8, 8), 0);
	fix_reopen(f);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "d/x", "agent");
}

TEST(the_store_falls_back_into_the_folder)
{
	struct fix *f = *state;
	struct journal_spec spec = {.folder = f->folder, .state_dir = "/proc/cordon"};
	AUTO_FREE char *path = NULL;
	dev_t dev;
	ino_t ino;

	journal_close(f->j);
	f->j = NULL;
	assert_int_equal(journal_store_path(&path, &spec, &f->err), 0);
	assert_true(str_ends(path, "/work/.cordon"));
	if (journal_open(&f->j, &spec, NULL, &f->err) < 0)
		fail_msg("%s", f->err.text);
	journal_store_inode(f->j, &dev, &ino);
	assert_true(ino != 0);
	assert_cat(f, ".cordon/.gitignore", "*\n");
	one_step(f, "agent", rm(f, "a"));
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "alpha\n");
}

TEST(a_directory_elsewhere_is_undone_too)
{
	struct fix *f = *state;
	AUTO_FREE char *grant = xasprintf("%s/grant", f->top);
	AUTO_FREE char *file = xasprintf("%s/file", grant);
	AUTO_CLOSE int dir = -1;
	struct at a = {.dir = "", .name = "file"};
	int fd;

	assert_int_equal(mkdir(grant, 0755), 0);
	dir = open(grant, O_PATH | O_DIRECTORY | O_CLOEXEC);
	a.dirfd = dir;
	a.root = journal_add_root(f->j, grant, false, &f->err);
	assert_int_equal(a.root, 1);
	assert_int_equal(journal_add_root(f->j, grant, false, &f->err), 1);
	begin(f, "agent");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0600, NULL);
	assert_true(fd >= 0);
	close(fd);
	commit(f);
	fix_reopen(f);
	assert_int_equal(undo(f, 1, 0), 0); /* unless forced, that stays */
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, UNDO_ALL_PLACES), 0);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(access(file, F_OK), 0);
}

/* A file with two names is saved as a copy, because its inode stays: a hole takes no space. */
TEST(a_hole_in_a_file_of_two_names_takes_no_room)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *path = xasprintf("%s/a", f->folder);
	struct stat st;

	begin(f, "agent");
	assert_int_equal(put(f, "a", "agent"), 0);
	assert_int_equal(ln(f, "a", "d/second"), 0);
	assert_int_equal(truncate(path, (off_t)1 << 42), 0);
	assert_int_equal(commit(f), 2);
	for (int i = 0; i < 2; i++) {
		if (undo(f, 1, 0) < 0)
			fail_msg("%s", f->err.text);
		assert_tree(f, before);
		if (redo(f, 0) < 0)
			fail_msg("%s", f->err.text);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, (off_t)1 << 42);
	}
}

TEST(a_full_disk_changes_nothing)
{
	struct fix *f = *state;
	struct rlimit was, tiny = {0};
	AUTO_FREE char *big = xcalloc(1, 100001);
	AUTO_FREE char *before = NULL;

	memset(big, 'b', 100000);
	outside(f, "a", big);
	before = snap(f);
	begin(f, "agent");
	assert_int_equal(md(f, "n"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	tiny.rlim_max = was.rlim_max;
	tiny.rlim_cur = 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	assert_int_equal(put(f, "a", "agent"), -EFBIG); /* the old content cannot be saved */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_cat(f, "a", big);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_tree(f, before);
}

TESTS(setup, fix_teardown)
