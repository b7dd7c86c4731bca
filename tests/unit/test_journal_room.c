/* test_journal_room - a full disk or quota: an undo is not begun, and an interrupted one waits for
 * space. */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/journal/journal.h"
#include "core/journal/store/store.h"
#include "tests/support/journalfix.h"

static int no_room;	    /* error of all reservations; or 0 */
static int no_data;	    /* error of all larger writes; or 0 */
static int room_for_writes; /* number of writes that still succeed */

/* Replace the library's functions. */
int posix_fallocate(int fd, off_t from, off_t len)
{
	AUTO_FREE char *link = xasprintf("/proc/self/fd/%d", fd);
	char path[PATH_MAX] = "";
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (no_room && n > 5 && str_eq(path + n - 5, "/room"))
		return no_room;
	return syscall(SYS_fallocate, fd, 0, from, len) < 0 ? errno : 0;
}

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t len, unsigned flags)
{
	(void)in, (void)from, (void)out, (void)to, (void)len, (void)flags;
	errno = EXDEV;
	return -1;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	if (no_data && len > 4096 && room_for_writes-- <= 0) {
		errno = no_data;
		return -1;
	}
	return (ssize_t)syscall(SYS_pwrite64, fd, data, len, at);
}

/* Second names keep the files in place: their bytes are written, and so are the current ones. */
static char *set_up(struct fix *f)
{
	AUTO_FREE char *text = xmalloc((700 << 10) + 1);

	memset(text, 'b', 700 << 10);
	text[700 << 10] = '\0';
	begin(f, "set up");
	assert_int_equal(put(f, "big", text), 0);
	assert_int_equal(ln(f, "big", "other"), 0);
	text[100 << 10] = '\0';
	assert_int_equal(put(f, "large", text), 0);
	assert_int_equal(ln(f, "large", "another"), 0);
	assert_true(commit(f) > 0);
	return snap(f);
}

static void change(struct fix *f)
{
	begin(f, "change");
	assert_int_equal(put(f, "small", "new"), 0);
	assert_int_equal(add(f, "big", "more"), 0);
	assert_int_equal(mode(f, "big", 0600), 0);
}

TEST(what_has_no_room_is_not_begun)
{
	static const int full[] = {ENOSPC, EDQUOT};
	struct fix *f = *state;
	AUTO_FREE char *before = set_up(f), *after = NULL;

	change(f);
	assert_true(commit(f) > 0);
	after = snap(f);
	for (size_t i = 0; i < ARRAY_LEN(full); i++) {
		no_room = full[i];
		assert_int_equal(undo(f, 1, 0), -ENOSPC);
		no_room = 0;
		assert_non_null(strstr(f->err.text, "nothing has been changed"));
		assert_tree(f, after);
		assert_false(has(f, "rollback"));
	}
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
	assert_sound(f);
}

/* A long step reserves the space for its end, or stops growing. */
TEST(a_long_step_sets_room_aside)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct stat room, log;
	int r = 0, made = 0;

	begin(f, "many");
	for (int i = 0; r == 0 && i < 12000; i++) {
		AUTO_FREE char *name =
			xasprintf("a file of a longer name, the one of number %d", i);

		if (i == 4000) {
			assert_int_equal(fstatat(journal_store_fd(f->j), "room", &room, 0), 0);
			assert_int_equal(fstatat(journal_store_fd(f->j), "open/1/undo", &log, 0),
					 0);
			assert_true(log.st_size > 256 << 10);
			assert_true(room.st_size >= 4 * log.st_size);
			no_room = ENOSPC;
		}
		r = put(f, name, "");
		made += r == 0;
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(made >= 4000 && made < 12000);
	assert_int_equal(fstatat(journal_store_fd(f->j), "room", &room, 0), 0);
	assert_true(room.st_size > 2 << 20); /* nothing of it was used */
	assert_true(commit(f) > 0);
	no_room = 0;
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(fstatat(journal_store_fd(f->j), "room", &room, 0), 0);
	assert_int_equal(room.st_size, 1 << 20);
}

/* The oldest steps are dropped for space, but none of those being undone. */
TEST(what_is_undone_does_not_make_room)
{
	struct fix *f = *state;
	AUTO_FREE char *empty = snap(f), *after = NULL;
	struct step_info *list = NULL;
	size_t n = 0;

	free(set_up(f));
	change(f);
	assert_true(commit(f) > 0);
	after = snap(f);
	no_data = ENOSPC;
	room_for_writes = 0;
	assert_int_equal(undo(f, 2, 0), -ENOSPC);
	no_data = 0;
	assert_tree(f, after);
	assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
	assert_int_equal(n, 2);
	step_info_free(list, n);
	assert_sound(f);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, empty);
}

/* The next start continues the rollback: an unfinished step is not kept for lack of space. */
TEST(a_step_that_died_waits_for_room)
{
	static const int full[] = {ENOSPC, EDQUOT};
	struct fix *f = *state;
	const struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};
	AUTO_FREE char *before = set_up(f);

	for (size_t i = 0; i < ARRAY_LEN(full); i++) {
		struct step_info *list = NULL;
		size_t n = 0;

		change(f);
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
		no_data = full[i];
		assert_int_equal(journal_open(&f->j, &spec, NULL, &f->err), -full[i]);
		no_data = 0;
		fix_open(f);
		assert_tree(f, before);
		assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
		assert_true(n == 0 || str_eq(list[0].command, "set up"));
		step_info_free(list, n);
		assert_sound(f);
	}
}

/* A stopped undo can neither continue nor be reverted: the next request returns its outcome, and
 * undoes nothing else. */
TEST_WITH(an_undo_that_stopped_is_finished_first, NULL, NULL)
{
	int stopped = 0;

	for (int more = 0, r = -1; r < 0; more += 3) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = set_up(f), *after = NULL, *now = NULL;

		change(f);
		assert_int_equal(put(f, "new", "new"), 0);
		assert_int_equal(add(f, "large", "more"), 0);
		assert_true(commit(f) > 0);
		after = snap(f);
		no_data = ENOSPC;
		room_for_writes = more;
		r = undo(f, 1, 0);
		no_data = 0;
		if (f->j->stuck) {
			assert_true(r < 0);
			stopped++;
			assert_int_equal(undo(f, 1, 0), -EAGAIN);
			now = snap(f);
			assert_true(str_eq(now, after) || str_eq(now, before));
		}
		assert_sound(f);
		fix_free(f);
	}
	assert_true(stopped > 0);
}

int main(void)
{
	if (access("/dev/shm", W_OK) == 0) /* without cloning of files */
		setenv("TMPDIR", "/dev/shm", 1);

	return run_all(fix_setup, fix_teardown, NULL, NULL);
}
