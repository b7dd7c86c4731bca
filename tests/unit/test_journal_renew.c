/* test_journal_renew - a protected name gets a new file while an external program edits it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

static bool is_guarded(void *data, const char *path, mode_t type)
{
	(void)data, (void)type;
	return strstr(path, "/hook");
}

static bool is_theirs(void *data, const char *path, const struct object *o)
{
	(void)data, (void)path, (void)o;
	return false;
}

static void remember(void *data, const char *path, int dirfd, const char *name)
{
	(void)data, (void)path, (void)dirfd, (void)name;
}

static void before(void *data)
{
	(void)data;
}

struct moment {
	struct fix *f;
	bool saves; /* saves a new file; else appends */
	bool came;
	int result;
};

static void write_to(struct moment *m, const char *path, int flags)
{
	int fd = openat(journal_folder_fd(m->f->j), path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | flags,
			0644);

	if (fd < 0) { /* it would have to wait for this call */
		assert_int_equal(errno, EWOULDBLOCK);
		return;
	}
	assert_int_equal(write(fd, "a human\n", 8), 8);
	close(fd);
	m->came = true;
}

static void human(void *arg)
{
	struct moment *m = arg;
	int dir = journal_folder_fd(m->f->j);

	write_to(m, m->saves ? "save" : "hook", m->saves ? O_CREAT | O_EXCL : O_APPEND);
	if (m->saves)
		assert_int_equal(renameat(dir, "save", dir, "hook"), 0);
}

static void renew(void *arg)
{
	static const struct journal_filled by = {
		.is_theirs = is_theirs, .remember = remember, .before = before};
	struct moment *m = arg;

	m->result = journal_renew_guarded(m->f->j, "hook", &by, &m->f->err);
}

static bool is_held(struct fix *f, int fd)
{
	struct stat a, b;

	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "hook", &b, 0), 0);
	return a.st_ino == b.st_ino;
}

/* Returns false if there are fewer calls. */
static bool try_at(int nth, bool saves)
{
	struct inject i = {.nth = nth, .meanwhile = human};
	struct moment m = {.saves = saves};
	struct fix *f = m.f = fix_new();
	AUTO_FREE char *text = NULL;
	void *state = f;
	struct at a;
	int fd, dir;

	f->guards = is_guarded;
	fix_reopen(f);
	dir = journal_folder_fd(f->j);
	begin(f, "agent");
	a = at(f, "tmp");
	fd = op_open(f->s, &a, O_RDWR | O_CREAT, 0644, NULL);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "begun\n", 6), 6);
	commit(f);
	assert_int_equal(renameat(dir, "tmp", dir, "hook"), 0);
	inject_run(&i, renew, &m);
	must(f, m.result);
	text = cat(f, "hook");
	if (m.came && !strstr(text, "a human\n"))
		fail_msg("what was %s before call %d is gone", saves ? "saved" : "appended", nth);
	assert_false(is_held(f, fd));
	if (!saves)
		assert_memory_equal(text, "begun\n", 6);
	close(fd);
	assert_sound(f);
	fix_teardown(&state);
	return i.seen >= nth;
}

static void sweep(bool saves)
{
	int stride = getenv("CORDON_TEST_THOROUGH") ? 1 : 3;

	for (int nth = 1; try_at(nth, saves); nth += stride)
		continue;
}

TEST(appended_to)
{
	sweep(false);
}

TEST(saved_by_another)
{
	sweep(true);
}

int main(void)
{
	if (access("/dev/shm", W_OK) == 0) /* hundreds of small stores */
		setenv("TMPDIR", "/dev/shm", 1);
	return run_all(NULL, NULL, NULL, NULL);
}
