/* test_folder - which paths may be changed, under which names, and which changes are asked
 * about. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/keeper.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/steps.h"
#include "tests/support/check.h"

static const struct answer deny_session = {.scope = SCOPE_SESSION};
static const struct answer once = {.allow = true};

struct fixture {
	char *root, *folder, *home, *state;
	const char *folders[2];
	const char *argv[2];
	struct spawn_spec spawn;
	struct keeper_spec spec;
	struct policy *policy;
	struct keeper k;
	struct door door;
	struct caller c;
	uint64_t answered; /* the request that was, | ALLOWED */
};

#define ALLOWED (UINT64_C(1) << 63)

static struct fixture *the; /* door_ops have no user data */

static void on_answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	(void)d;
	the->answered = id | (verdict == VERDICT_ALLOW ? ALLOWED : 0);
}

static const struct door_ops ops = {.answered = on_answered};

static void begin(struct fixture *f, bool headless)
{
	struct err err = {0};

	f->spec = (struct keeper_spec){.sock = -1,
				       .folders = f->folders,
				       .state_dir = f->state,
				       .policy = f->policy,
				       .headless = headless,
				       .one_step = true,
				       .spawn = &f->spawn};
	assert_int_equal(keeper_init(&f->k, &f->spec, &err), 0);
	f->door = (struct door){.ops = &ops, .fd = -1};
	if (!headless)
		assert_int_equal(keeper_add_door(&f->k, &f->door), 0);
	if (!headless)
		assert_int_equal(outside_start(&f->k, &err), 0);
	f->c.op = "call";
	f->c.request = 77;
	assert_int_equal(keeper_caller(&f->k, getpid(), &f->c), 0);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-folder-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	f->root = xstrdup(template);
	f->folder = path_join(f->root, "work");
	f->home = path_join(f->root, "home");
	f->state = path_join(f->root, "state");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->home, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	f->folders[0] = f->folder;
	f->argv[0] = "agent";
	f->spawn.argv = f->argv;
	assert_int_equal(policy_new(&f->policy, &(struct policy_spec){.home = f->home}, &err), 0);
	*state = the = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->k.n_doors = 0;
	assert_int_equal(steps_commit_all(&f->k, NULL), 0);
	keeper_done(&f->k);
	policy_free(f->policy);
	umask(022);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->home);
	free(f->state);
	free(f);
	return 0;
}

static struct at at(struct fixture *f, const char *name)
{
	return (struct at){.dirfd = folder_fd(f->k.folders[0]), .dir = "", .name = name};
}

static int create(struct fixture *f, const char *name)
{
	struct at a = at(f, name);
	int fd = folder_open(f->k.folders[0], &f->c, &a, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void plant(struct fixture *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
}

static size_t frames(const struct fixture *f, enum wire_type type)
{
	size_t n = 0, at_byte = 0, used;
	struct wire_in in;

	for (;;) {
		const struct buf rest = {.data = f->k.out.data + at_byte,
					 .len = f->k.out.len - at_byte};

		if (wire_next(&rest, &in, &used) != 1)
			return n;
		n += in.type == type;
		at_byte += used;
	}
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(each_path_is_told_once)
{
	struct fixture *f = *state;

	begin(f, true);
	assert_int_equal(create(f, "a"), 0);
	assert_int_equal(create(f, "a"), 0);
	assert_int_equal(create(f, "b"), 0);
	assert_int_equal(frames(f, WIRE_TOUCH), 2);
	assert_int_equal(frames(f, WIRE_STEP_BEGIN), 1);
}

TEST(errors_are_the_kernels)
{
	struct fixture *f = *state;
	struct at a = {0}, b = {0};

	begin(f, true);
	plant(f, "file");
	a = at(f, "missing");
	assert_int_equal(folder_unlink(f->k.folders[0], &f->c, &a), -ENOENT);
	assert_int_equal(folder_truncate(f->k.folders[0], &f->c, &a, 0), -ENOENT);
	a = at(f, "file");
	assert_int_equal(folder_mkdir(f->k.folders[0], &f->c, &a, 0755), -EEXIST);
	assert_int_equal(folder_rmdir(f->k.folders[0], &f->c, &a), -ENOTDIR);
	b = at(f, "file/");
	assert_int_equal(folder_unlink(f->k.folders[0], &f->c, &b), -ENOTDIR);
	assert_int_equal(frames(f, WIRE_TOUCH), 0);
	assert_int_equal(frames(f, WIRE_STEP_BEGIN), 0);
}

TEST(protected_names_are_not_asked_for_nothing)
{
	struct fixture *f = *state;
	struct at a, b;

	begin(f, true);
	a = at(f, ".envrc");
	assert_int_equal(folder_truncate(f->k.folders[0], &f->c, &a, 0), -ENOENT);
	b = at(f, "nothing");
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &b, &a, 0), -ENOENT);
	plant(f, ".envrc");
	assert_int_equal(folder_symlink(f->k.folders[0], &f->c, "x", &a), -EEXIST);
	plant(f, "nothing");
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &b, &a, RENAME_NOREPLACE), -EEXIST);
	assert_int_equal(frames(f, WIRE_DENY), 0);
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &b, &a, 0), -EACCES);
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &b, &a, RENAME_EXCHANGE), -EACCES);
	assert_int_equal(folder_link(f->k.folders[0], &f->c, &a, &b), -EACCES);
	assert_true(frames(f, WIRE_DENY) >= 1);
}

TEST(another_name_of_a_protected_file_is_protected)
{
	struct fixture *f = *state;
	struct at a;

	plant(f, ".envrc");
	{
		AUTO_FREE char *old = path_join(f->folder, ".envrc");
		AUTO_FREE char *new = path_join(f->folder, "innocent");

		assert_int_equal(link(old, new), 0);
	}
	plant(f, "plain");
	begin(f, true);
	assert_int_equal(create(f, "innocent"), -EACCES);
	a = at(f, "innocent");
	assert_int_equal(folder_truncate(f->k.folders[0], &f->c, &a, 0), -EACCES);
	assert_int_equal(folder_unlink(f->k.folders[0], &f->c, &a), 0);
	assert_int_equal(create(f, "plain"), 0);
}

TEST(a_question_holds_and_an_answer_frees)
{
	struct fixture *f = *state;

	begin(f, false);
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	assert_int_equal(frames(f, WIRE_ASK), 1);
	asks_answer(&f->k, 1, &once);
	assert_true(f->answered == (77 | ALLOWED));
	f->c.granted = true;
	assert_int_equal(create(f, ".envrc"), 0);
	f->c.granted = false;
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	asks_answer(&f->k, 2, &deny_session);
	assert_true(f->answered == 77);
	assert_int_equal(create(f, ".envrc"), -EACCES);
	assert_int_equal(frames(f, WIRE_ASK), 2);
}

TEST(an_answer_waits_for_a_call_that_a_signal_took_back)
{
	struct fixture *f = *state;

	begin(f, false);
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	keeper_request_gone(&f->k, &f->door, 77);
	asks_answer(&f->k, 1, &once);
	assert_int_equal(f->answered, 0);
	assert_int_equal(create(f, ".envrc"), 0); /* issued again */
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	/* Not requested again for long: the question is withdrawn. */
	keeper_request_gone(&f->k, &f->door, 77);
	f->k.now += 1000000;
	asks_tick(&f->k);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 1);
	assert_int_equal(HASH_COUNT(f->k.questions), 0);
}

TEST(a_storm_of_signals_is_one_question)
{
	struct fixture *f = *state;

	begin(f, false);
	for (int i = 0; i < 5 * ASKS_MAX; i++) {
		f->c.request = (uint64_t)i;
		assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	}
	assert_int_equal(frames(f, WIRE_ASK), 1);
	assert_int_equal(f->k.n_waiting, 1);
	asks_answer(&f->k, 1, &once);
	assert_true(f->answered == ((5 * ASKS_MAX - 1) | ALLOWED));
}

TEST(questions_are_bounded)
{
	struct fixture *f = *state;

	begin(f, false);
	for (int i = 0; i < ASKS_MAX; i++) {
		f->c.request = (uint64_t)i;
		f->c.tid = 1000000 + i;
		assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
	}
	f->c.tid = 1;
	assert_int_equal(create(f, ".envrc"), -EACCES);
	asks_drop_all(&f->k);
	assert_int_equal(f->k.n_waiting, 0);
	assert_int_equal(create(f, ".envrc"), -FOLDER_HELD);
}

TEST(a_granted_place_is_journaled_too)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = path_join(f->home, "notes");
	struct folder *g;
	struct at a = {.dir = "", .name = "notes"};
	int fd;

	begin(f, false);
	/* If the tests run in /tmp, it is neither asked about nor private, but granted directly. */
	assert_int_equal(folder_grant(&f->k, f->home, &g), 0);
	assert_ptr_equal(folders_find(&f->k, path, NULL), g);
	assert_int_not_equal(folder_root(g), 0);
	a.root = folder_root(g);
	a.dirfd = folder_fd(g);
	f->c.granted = true;
	fd = folder_open(g, &f->c, &a, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(frames(f, WIRE_TOUCH), 1);
	/* An answer for once: the next file at that name is another question, or a refusal. */
	f->c.granted = false;
	fd = folder_open(g, &f->c, &a, O_WRONLY, 0600);
	assert_true(fd == -FOLDER_HELD || fd == -EACCES);
}

TEST(the_store_is_not_there)
{
	struct fixture *f = *state;
	struct at a, b;

	begin(f, true);
	plant(f, "plain");
	a = at(f, ".cordon");
	b = at(f, "plain");
	assert_int_equal(folder_mkdir(f->k.folders[0], &f->c, &a, 0755), -EACCES);
	assert_int_equal(folder_unlink(f->k.folders[0], &f->c, &a), -ENOENT);
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &a, &b, 0), -ENOENT);
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &b, &a, 0), -EACCES);
	assert_int_equal(create(f, ".cordon"), -EACCES);
	assert_int_equal(create(f, ".cordon-not"), 0);
	a = (struct at){.dirfd = folder_fd(f->k.folders[0]), .dir = ".cordon/open", .name = "x"};
	assert_int_equal(folder_open(f->k.folders[0], &f->c, &a, O_WRONLY, 0), -ENOENT);
}

/* The doors' caches of directories are valid until this number grows. */
TEST(renames_of_directories_are_counted)
{
	struct fixture *f = *state;
	struct folder *folder;
	struct at a, b, dir;
	uint64_t n;

	begin(f, true);
	folder = f->k.folders[0];
	plant(f, "a");
	a = at(f, "a");
	b = at(f, "b");
	dir = at(f, "dir");
	assert_int_equal(folder_mkdir(folder, &f->c, &dir, 0755), 0);
	n = folder_dir_moves(folder);
	assert_int_equal(folder_rename(folder, &f->c, &a, &b, 0), 0);
	assert_int_equal(folder_dir_moves(folder), n);
	assert_int_equal(folder_rename(folder, &f->c, &b, &dir, RENAME_EXCHANGE), 0);
	assert_int_not_equal(folder_dir_moves(folder), n);
	n = folder_dir_moves(folder);
	assert_int_equal(folder_rename(folder, &f->c, &b, &a, 0), 0); /* b is now the directory */
	assert_int_not_equal(folder_dir_moves(folder), n);
}

TEST(frozen_is_frozen)
{
	struct fixture *f = *state;
	struct at a;

	begin(f, true);
	f->k.frozen = true;
	assert_int_equal(create(f, "a"), -EIO);
	a = at(f, "");
	assert_int_equal(folder_tmpfile(f->k.folders[0], &f->c, &a, O_WRONLY, 0600), -EIO);
}

TEST(a_git_config_with_another_name_is_not_vetted)
{
	struct fixture *f = *state;
	AUTO_FREE char *git = path_join(f->folder, ".git");
	AUTO_FREE char *lock = path_join(git, "config.lock");
	AUTO_FREE char *alias = path_join(f->folder, "alias");
	AUTO_CLOSE int dir = -1, writer = -1;
	struct at from, to;

	assert_int_equal(mkdir(git, 0755), 0);
	begin(f, true);
	dir = open(git, O_PATH | O_DIRECTORY | O_CLOEXEC);
	from = (struct at){.dirfd = dir, .dir = ".git", .name = "config.lock"};
	/* Created inside; a file of the host would not be changed at all. */
	writer = folder_open(f->k.folders[0], &f->c, &from, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(writer >= 0);
	util_close_fd(&writer);
	assert_int_equal(link(lock, alias), 0);
	to = (struct at){.dirfd = dir, .dir = ".git", .name = "config"};
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &from, &to, 0), -EACCES);
	assert_int_equal(unlink(alias), 0);
	/* Nor while a process could still write to it. */
	writer = open(lock, O_WRONLY | O_CLOEXEC);
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &from, &to, 0), -EACCES);
	util_close_fd(&writer);
	writer = -1;
	assert_int_equal(folder_rename(f->k.folders[0], &f->c, &from, &to, 0), 0);
}

TESTS(setup, teardown)
