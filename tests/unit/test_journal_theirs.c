/* test_journal_theirs - files of another owner, which we may write but whose attributes we may not
 * set. */
/* SPDX-License-Identifier: MIT */
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "tests/support/journalfix.h"

/* Root makes the files, and a child with the uid of nobody does the work. */
#define NOBODY 65534

struct scene {
	bool (*make)(const char *folder); /* false: the file system does not support it */
	void (*work)(struct fix *f);
};

/* Keeps the right to search all directories, because those above the test's may be closed. */
static bool become_nobody(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};

	caps[0].effective = caps[0].permitted = 1u << CAP_DAC_READ_SEARCH;
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setgroups(0, NULL) == 0 &&
	       setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
	       syscall(SYS_capset, &head, caps) == 0;
}

static void as_nobody(const struct scene *sc)
{
	struct fix *f;
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	f = fix_new();
	journal_close(f->j);
	f->j = NULL;
	assert_int_equal(io_remove_tree(AT_FDCWD, f->state), 0);
	if (!sc->make(f->folder)) {
		fix_free(f);
		skip();
	}
	assert_int_equal(chown(f->top, NOBODY, NOBODY), 0);
	assert_int_equal(chown(f->folder, NOBODY, NOBODY), 0);
	pid = fork();
	if (pid == 0) {
		if (!become_nobody())
			_exit(2);
		fix_open(f);
		sc->work(f);
		journal_close(f->j);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_int_equal(status, 0);
	fix_free(f);
}

static void make_file(const char *folder, const char *name, mode_t mode)
{
	AUTO_FREE char *path = xasprintf("%s/%s", folder, name);
	const struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs("as it was", out);
	fclose(out);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "# %d: %s: %s\n", __LINE__, #x, f->err.text);              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static bool holds(struct fix *f, const char *path, const char *want)
{
	AUTO_FREE char *text = cat(f, path);

	return text && str_eq(text, want);
}

static bool make_shared(const char *folder)
{
	make_file(folder, "shared", 0666);
	return true;
}

static void write_and_back(struct fix *f)
{
	begin(f, "write");
	CHECK(put(f, "shared", "anew") == 0);
	CHECK(commit(f) != 0);
	CHECK(undo(f, 1, 0) == 0);
	CHECK(holds(f, "shared", "as it was"));
	CHECK(redo(f, 0) == 0);
	CHECK(holds(f, "shared", "anew"));
	CHECK(undo(f, 1, 0) == 0);
	CHECK(holds(f, "shared", "as it was"));
}

TEST(another_owners_file)
{
	as_nobody(&(struct scene){make_shared, write_and_back});
}

/* Attributes that the rollback could not restore are no external change. */
static void twice_and_back(struct fix *f)
{
	begin(f, "one");
	CHECK(put(f, "shared", "one") == 0);
	CHECK(commit(f) != 0);
	begin(f, "two");
	CHECK(put(f, "shared", "two") == 0);
	CHECK(commit(f) != 0);
	CHECK(undo(f, 1, 0) == 0);
	CHECK(holds(f, "shared", "one"));
	CHECK(undo(f, 1, 0) == 0);
	CHECK(holds(f, "shared", "as it was"));
	CHECK(redo(f, 0) == 0);
	CHECK(redo(f, 0) == 0);
	CHECK(holds(f, "shared", "two"));
	CHECK(undo(f, 2, 0) == 0);
	CHECK(holds(f, "shared", "as it was"));
}

TEST(another_owners_file_step_by_step)
{
	as_nobody(&(struct scene){make_shared, twice_and_back});
}

static void touch_and_back(struct fix *f)
{
	struct at a = at(f, "shared");

	begin(f, "touch");
	CHECK(op_utimens(f->s, &a, NULL, NULL) == 0);
	CHECK(put(f, "mine", "1") == 0);
	CHECK(commit(f) != 0);
	CHECK(undo(f, 1, 0) == 0);
	CHECK(!holds(f, "mine", "1"));
	CHECK(redo(f, 0) == 0);
	CHECK(holds(f, "mine", "1"));
}

TEST(another_owners_times)
{
	as_nobody(&(struct scene){make_shared, touch_and_back});
}

static bool make_dirs(const char *folder)
{
	AUTO_FREE char *all = xasprintf("%s/all", folder);
	AUTO_FREE char *empty = xasprintf("%s/empty", folder);

	assert_int_equal(mkdir(all, 0755), 0);
	assert_int_equal(chmod(all, 0777), 0);
	assert_int_equal(mkdir(empty, 0755), 0);
	make_file(folder, "all/old", 0666);
	return true;
}

static void work_in_dirs(struct fix *f)
{
	begin(f, "work");
	CHECK(put(f, "all/new", "1") == 0);
	CHECK(rm(f, "all/old") == 0);
	CHECK(rd(f, "empty") == 0);
}

static bool dirs_are_back(struct fix *f)
{
	AUTO_FREE char *empty = xasprintf("%s/empty", f->folder);

	return holds(f, "all/old", "as it was") && !holds(f, "all/new", "1") &&
	       eaccess(empty, F_OK) == 0;
}

static void dirs_and_back(struct fix *f)
{
	work_in_dirs(f);
	CHECK(commit(f) != 0);
	CHECK(undo(f, 1, 0) == 0);
	CHECK(dirs_are_back(f));
	CHECK(redo(f, 0) == 0);
	CHECK(holds(f, "all/new", "1"));
	CHECK(undo(f, 1, 0) == 0);
	CHECK(dirs_are_back(f));
}

TEST(another_owners_directories)
{
	as_nobody(&(struct scene){make_dirs, dirs_and_back});
}

static void killed_in_dirs(struct fix *f)
{
	work_in_dirs(f);
	CHECK(put(f, "shared", "2") == 0);
	fix_reopen(f);
	CHECK(dirs_are_back(f));
	CHECK(holds(f, "shared", "as it was"));
}

static bool make_both(const char *folder)
{
	return make_dirs(folder) && make_shared(folder);
}

TEST(a_step_that_died_is_rolled_back)
{
	as_nobody(&(struct scene){make_both, killed_in_dirs});
}

static void restore_both(struct fix *f)
{
	static const char *const file[] = {"shared", NULL}, *const all[] = {"all", "empty",
									    "shared", NULL};
	int64_t id;

	work_in_dirs(f);
	CHECK(put(f, "shared", "2") == 0);
	CHECK((id = commit(f)) != 0);
	CHECK(journal_restore(f->j, id, file, 0, &f->err) == 0);
	CHECK(holds(f, "shared", "as it was"));
	CHECK(undo(f, 1, 0) == 0);
	CHECK(holds(f, "shared", "2"));
	CHECK(journal_restore(f->j, id, all, UNDO_FORCE, &f->err) == 0);
	CHECK(dirs_are_back(f));
	CHECK(holds(f, "shared", "as it was"));
}

TEST(a_restore_too)
{
	as_nobody(&(struct scene){make_both, restore_both});
}

static bool make_capable(const char *folder)
{
	/* VFS_CAP_REVISION_2, cap_net_bind_service */
	static const unsigned char cap[20] = {1, 0, 0, 2, 0, 4};
	AUTO_FREE char *path = xasprintf("%s/shared", folder);

	make_file(folder, "shared", 0755);
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	return setxattr(path, "security.capability", cap, sizeof(cap), 0) == 0;
}

TEST(a_capability)
{
	as_nobody(&(struct scene){make_capable, write_and_back});
}

TESTS(NULL, NULL)
