/* test_safeguard - which changes count as losses, which steps are held, and what answers do. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/safeguard.h"
#include "core/keeper/procs.h"
#include "core/keeper/keeper.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/steps.h"
#include "tests/support/check.h"

#define LIMIT 4
#define LARGE 4096

static const struct answer session_tree = {
	.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE};
static const struct answer session = {.allow = true, .scope = SCOPE_SESSION};
static const struct answer deny = {0};
static const struct answer once = {.allow = true};

struct fixture {
	char *root, *folder, *state;
	const char *folders[2];
	const char *argv[2];
	struct spawn_spec spawn;
	struct keeper_spec spec;
	struct policy *policy;
	struct keeper k;
	struct door door;
	struct caller c;    /* of the command */
	pid_t pid, other;   /* children, each with its own command */
	size_t n[4];	    /* verdicts so far */
	struct caller next; /* for retries, which the door would make */
};

static struct fixture *the; /* door_ops have no user data */

static void on_answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	(void)d;
	(void)id;
	the->n[verdict]++;
}

static const struct door_ops ops = {.answered = on_answered};

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		alarm(600);
		for (;;)
			pause();
	}
	setpgid(pid, pid);
	return pid;
}

static void begin(struct fixture *f, const char *argv, size_t len)
{
	struct err err = {0};

	assert_int_equal(keeper_init(&f->k, &f->spec, &err), 0);
	f->door = (struct door){.ops = &ops, .fd = -1};
	assert_int_equal(keeper_add_door(&f->k, &f->door), 0);
	f->k.root_pid = f->k.agent_pid = getpid();
	f->k.launched = true;
	f->pid = sleeper();
	f->other = sleeper();
	f->c = (struct caller){.op = "call", .request = 7};
	assert_int_equal(keeper_caller(&f->k, f->pid, &f->c), 0);
	keeper_exec(&f->k, &f->c, "/bin/x", argv, len);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-guard-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	f->root = xstrdup(template);
	f->folder = path_join(f->root, "work");
	f->state = path_join(f->root, "state");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	f->folders[0] = f->folder;
	f->argv[0] = "agent";
	f->spawn.argv = f->argv;
	assert_int_equal(policy_new(&f->policy, &(struct policy_spec){.home = f->root}, &err), 0);
	f->spec = (struct keeper_spec){
		.sock = -1,
		.folders = f->folders,
		.state_dir = f->state,
		.policy = f->policy,
		.spawn = &f->spawn,
		.guard = {.most = {LIMIT, LIMIT, LIMIT}, .overwrite_bytes = LARGE}};
	*state = the = f;
	begin(f, "rm\0things", 10);
	return 0;
}

static void end_children(struct fixture *f)
{
	kill(f->pid, SIGKILL);
	kill(f->other, SIGKILL);
	waitpid(f->pid, NULL, 0);
	waitpid(f->other, NULL, 0);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	end_children(f);
	asks_drop_all(&f->k);
	f->k.n_doors = 0;
	assert_int_equal(steps_commit_all(&f->k, NULL), 0);
	keeper_done(&f->k);
	policy_free(f->policy);
	umask(022);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->state);
	free(f);
	return 0;
}

/* ---- the folder from outside, and from inside ------------------------------------------------ */

static void plant(struct fixture *f, const char *name, size_t size)
{
	AUTO_FREE char *path = path_join(f->folder, name);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
}

static void plant_many(struct fixture *f, const char *stem, int n, size_t size)
{
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%d", stem, i);
		plant(f, name, size);
	}
}

static bool there(struct fixture *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	return access(path, F_OK) == 0;
}

static struct at at(struct fixture *f, const char *name)
{
	return (struct at){.dirfd = folder_fd(f->k.folders[0]), .dir = "", .name = name};
}

static int do_open(struct fixture *f, const char *name, int flags)
{
	struct at a = at(f, name);
	int fd = folder_open(f->k.folders[0], &f->c, &a, flags | O_CLOEXEC, 0644);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int create(struct fixture *f, const char *name)
{
	return do_open(f, name, O_WRONLY | O_CREAT);
}

static int rm(struct fixture *f, const char *name)
{
	struct at a = at(f, name);

	return folder_unlink(f->k.folders[0], &f->c, &a);
}

static int rm_dir(struct fixture *f, const char *name)
{
	struct at a = at(f, name);

	return folder_rmdir(f->k.folders[0], &f->c, &a);
}

static int mv(struct fixture *f, const char *from, const char *to, unsigned flags)
{
	struct at a = at(f, from), b = at(f, to);

	return folder_rename(f->k.folders[0], &f->c, &a, &b, flags);
}

static int ln(struct fixture *f, const char *from, const char *to)
{
	struct at a = at(f, from), b = at(f, to);

	return folder_link(f->k.folders[0], &f->c, &a, &b);
}

static int cut(struct fixture *f, const char *name)
{
	struct at a = at(f, name);

	return folder_truncate(f->k.folders[0], &f->c, &a, 0);
}

static size_t losses(struct fixture *f, enum loss what)
{
	return f->c.proc->command->guard.count[what];
}

static uint64_t asked(struct fixture *f)
{
	const struct question *q = f->c.proc->command->guard.asked;

	return q ? q->id : 0;
}

/* Counts the frames of a type; *newest: the first number in the newest one. */
static size_t frames_with(const struct fixture *f, enum wire_type type, uint64_t *newest)
{
	size_t n = 0, at_byte = 0, used;
	struct wire_in in;

	for (;;) {
		const struct buf rest = {.data = f->k.out.data + at_byte,
					 .len = f->k.out.len - at_byte};

		if (wire_next(&rest, &in, &used) != 1)
			return n;
		if (in.type == type) {
			n++;
			*newest = wire_get_u64(&in);
		}
		at_byte += used;
	}
}

static size_t frames(const struct fixture *f, enum wire_type type)
{
	uint64_t newest;

	return frames_with(f, type, &newest);
}

/* Three deletes, and the one that is held. */
static void reach_limit(struct fixture *f)
{
	plant_many(f, "f", 8, 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(rm(f, "f1"), 0);
	assert_int_equal(rm(f, "f2"), 0);
	assert_int_equal(rm(f, "f3"), -FOLDER_HELD);
	assert_true(asked(f) != 0);
}

/* ---- what counts ----------------------------------------------------------------------------- */

TEST(what_was_there_counts_as_deleted)
{
	struct fixture *f = *state;
	AUTO_FREE char *dir = path_join(f->folder, "d");

	plant_many(f, "f", 2, 0);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(mv(f, "f1", "elsewhere", 0), 0);
	assert_int_equal(losses(f, LOSS_DELETE), 1);
	assert_int_equal(rm(f, "elsewhere"), 0);
	assert_int_equal(rm_dir(f, "d"), 0);
	assert_int_equal(losses(f, LOSS_DELETE), 3);
}

TEST(what_the_step_made_does_not)
{
	struct fixture *f = *state;
	struct at d = at(f, "d");

	for (int i = 0; i < 3 * LIMIT; i++) {
		assert_int_equal(create(f, "t"), 0);
		assert_int_equal(mv(f, "t", "u", 0), 0);
		assert_int_equal(rm(f, "u"), 0);
		assert_int_equal(folder_mkdir(f->k.folders[0], &f->c, &d, 0755), 0);
		assert_int_equal(rm_dir(f, "d"), 0);
	}
	assert_int_equal(losses(f, LOSS_DELETE), 0);
}

/* A name that the step gave to an old file: the file still has its other name. */
TEST(a_further_name_is_no_loss)
{
	struct fixture *f = *state;

	plant(f, "f", 0);
	for (int i = 0; i < 3 * LIMIT; i++) {
		assert_int_equal(ln(f, "f", "l"), 0);
		assert_int_equal(rm(f, "l"), 0);
	}
	assert_int_equal(losses(f, LOSS_DELETE), 0);
	assert_int_equal(ln(f, "f", "l"), 0);
	assert_int_equal(rm(f, "f"), 0);
	assert_int_equal(losses(f, LOSS_DELETE), 1);
}

/* All files get one and the same name in turn: each counts as lost all the same. */
TEST(one_name_for_all_does_not_hide_them)
{
	struct fixture *f = *state;

	plant_many(f, "f", 3, 0);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(mv(f, name, "x", 0), 0);
		assert_int_equal(rm(f, "x"), 0);
	}
	assert_int_equal(losses(f, LOSS_DELETE) + losses(f, LOSS_REPLACE), 3);
}

TEST(what_was_not_performed_does_not_count)
{
	struct fixture *f = *state;
	AUTO_FREE char *dir = path_join(f->folder, "d");

	assert_int_equal(mkdir(dir, 0755), 0);
	plant(f, "d/f", 0);
	assert_int_equal(rm(f, "nothing"), -ENOENT);
	assert_int_equal(rm_dir(f, "d"), -ENOTEMPTY);
	assert_int_equal(rm(f, "d"), -EISDIR);
	assert_int_equal(losses(f, LOSS_DELETE), 0);
}

TEST(large_files_count_once_when_opened_or_cut)
{
	struct fixture *f = *state;

	plant(f, "small", LARGE - 1);
	plant_many(f, "large", 3, LARGE);
	assert_int_equal(do_open(f, "small", O_WRONLY | O_TRUNC), 0);
	assert_int_equal(do_open(f, "large0", O_RDONLY), 0);
	assert_int_equal(losses(f, LOSS_OVERWRITE), 0);
	assert_int_equal(do_open(f, "large0", O_RDWR), 0);
	assert_int_equal(do_open(f, "large0", O_WRONLY | O_TRUNC), 0);
	assert_int_equal(losses(f, LOSS_OVERWRITE), 1);
	assert_int_equal(do_open(f, "large1", O_RDONLY | O_TRUNC), 0);
	assert_int_equal(losses(f, LOSS_OVERWRITE), 2);
	assert_int_equal(cut(f, "large2"), 0);
	assert_int_equal(cut(f, "large2"), 0);
	assert_int_equal(losses(f, LOSS_OVERWRITE), 3);
}

TEST(a_large_file_of_its_own_does_not_count)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = path_join(f->folder, "mine");

	assert_int_equal(create(f, "mine"), 0);
	assert_int_equal(truncate(path, LARGE), 0); /* written through its descriptor */
	assert_int_equal(do_open(f, "mine", O_WRONLY | O_TRUNC), 0);
	assert_int_equal(truncate(path, LARGE), 0);
	assert_int_equal(cut(f, "mine"), 0);
	assert_int_equal(losses(f, LOSS_OVERWRITE), 0);
}

TEST(an_atomic_save_counts_for_what_it_replaced)
{
	struct fixture *f = *state;

	plant(f, "old", 0);
	for (int i = 0; i < 3 * LIMIT; i++) {
		assert_int_equal(create(f, "tmp"), 0);
		assert_int_equal(mv(f, "tmp", "old", 0), 0);
		assert_int_equal(create(f, "tmp"), 0);
		assert_int_equal(mv(f, "tmp", "new", 0), 0);
	}
	assert_int_equal(losses(f, LOSS_REPLACE), 1);
	assert_int_equal(losses(f, LOSS_DELETE), 0);
}

TEST(an_exchange_loses_nothing)
{
	struct fixture *f = *state;

	plant_many(f, "f", 2, 0);
	for (int i = 0; i < 3 * LIMIT; i++)
		assert_int_equal(mv(f, "f0", "f1", RENAME_EXCHANGE), 0);
	assert_int_equal(losses(f, LOSS_REPLACE), 0);
}

/* git and linkers delete files before they write them anew. */
TEST(what_is_made_anew_was_replaced)
{
	struct fixture *f = *state;

	plant_many(f, "f", 2 * LIMIT, 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(create(f, "f0"), 0);
	assert_int_equal(rm(f, "f1"), 0);
	assert_int_equal(create(f, "tmp"), 0);
	assert_int_equal(mv(f, "tmp", "f1", 0), 0);
	assert_int_equal(rm(f, "f2"), 0);
	assert_int_equal(losses(f, LOSS_DELETE), 1);
	assert_int_equal(losses(f, LOSS_REPLACE), 2);
	assert_int_equal(rm(f, "f0"), 0); /* it is the step's own by now */
	assert_int_equal(losses(f, LOSS_DELETE), 1);
}

/* But not without limit: both limits together end it. */
TEST(making_anew_has_its_limit)
{
	struct fixture *f = *state;
	int i, r = 0;

	plant_many(f, "f", 4 * LIMIT, 0);
	for (i = 0; r == 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		r = rm(f, name);
		if (r == 0)
			assert_int_equal(create(f, name), 0);
	}
	assert_int_equal(r, -FOLDER_HELD);
	assert_int_equal(i, 2 * LIMIT - 1);
	assert_int_equal(losses(f, LOSS_REPLACE), LIMIT - 1);
	assert_int_equal(losses(f, LOSS_DELETE), LIMIT - 1);
}

TEST(zero_is_off)
{
	struct fixture *f = *state;

	f->spec.guard.most[LOSS_DELETE] = 0;
	plant_many(f, "f", 3 * LIMIT, 0);
	for (int i = 0; i < 3 * LIMIT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(rm(f, name), 0);
	}
}

/* ---- at the limit ---------------------------------------------------------------------------- */

TEST(every_change_of_the_step_is_held)
{
	struct fixture *f = *state;
	struct object o;

	assert_int_equal(create(f, "mine"), 0);
	reach_limit(f);
	assert_true(there(f, "f3"));
	f->c.tid++; /* another thread */
	assert_int_equal(create(f, "new"), -FOLDER_HELD);
	assert_false(there(f, "new"));
	assert_int_equal(object_stat(AT_FDCWD, f->folder, &o), 0);
	assert_false(folder_has_inode(f->k.folders[0], &f->c, &o));
	assert_int_equal(frames(f, WIRE_HELD), 1);
	assert_int_equal(f->k.n_held, 2);
}

TEST(other_steps_go_on)
{
	struct fixture *f = *state;

	reach_limit(f);
	f->c = (struct caller){.op = "call", .request = 8};
	assert_int_equal(keeper_caller(&f->k, f->other, &f->c), 0);
	assert_int_equal(create(f, "new"), 0);
	assert_int_equal(rm(f, "f4"), 0);
}

TEST(too_many_are_told_so)
{
	struct fixture *f = *state;

	reach_limit(f);
	for (int i = 1; i < GUARD_HELD; i++) {
		f->c.tid = f->pid + i;
		assert_int_equal(create(f, "new"), -FOLDER_HELD);
	}
	f->c.tid++;
	assert_int_equal(create(f, "new"), -ENOSPC);
	assert_int_equal(f->k.n_waiting, 0); /* other processes' requests have room */
	asks_answer(&f->k, asked(f), &once);
	assert_int_equal(f->n[VERDICT_RETRY], GUARD_HELD);
	assert_int_equal(f->k.n_held, 0);
}

/* A signal interrupts the call and the program makes it again: it waits as one call. */
TEST(a_call_made_again_waits_once)
{
	struct fixture *f = *state;

	reach_limit(f);
	keeper_request_gone(&f->k, &f->door, f->c.request);
	assert_int_equal(f->k.n_held, 0);
	f->c.request++;
	assert_int_equal(rm(f, "f3"), -FOLDER_HELD);
	assert_int_equal(f->k.n_held, 1);
	assert_int_equal(f->c.proc->command->guard.n_would, 1);
}

TEST(a_question_that_nobody_waits_for_goes_away)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_leave(&f->k, f->pid);
	asks_tick(&f->k);
	assert_int_equal(asked(f), 0);
	assert_int_equal(frames(f, WIRE_ASK_GONE), 1);
	assert_int_equal(create(f, "new"), 0);
	assert_int_equal(rm(f, "f3"), -FOLDER_HELD);
}

TEST(a_held_step_is_not_over_nor_undone)
{
	struct fixture *f = *state;
	struct err err = {0};

	reach_limit(f);
	f->k.now += 3600 * 1000000LL;
	steps_tick(&f->k);
	assert_non_null(f->c.proc->command->step);
	assert_int_equal(steps_settle(&f->k, &err), -EBUSY);
	assert_non_null(strstr(err.text, "safeguard"));
}

/* ---- answers --------------------------------------------------------------------------------- */

TEST(allowed_it_goes_on_without_end)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &once);
	assert_int_equal(f->n[VERDICT_RETRY], 1);
	assert_int_equal(asked(f), 0);
	for (int i = 3; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(rm(f, name), 0);
	}
	/* Another kind of loss is another question. */
	plant_many(f, "large", LIMIT, LARGE);
	for (int i = 0; i < LIMIT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "large%d", i);
		assert_int_equal(do_open(f, name, O_RDWR), i + 1 < LIMIT ? 0 : -FOLDER_HELD);
	}
}

static void next_command(struct fixture *f, const char *argv, size_t len)
{
	f->c = (struct caller){.op = "call", .request = 9};
	assert_int_equal(keeper_caller(&f->k, f->other, &f->c), 0);
	keeper_exec(&f->k, &f->c, "/bin/x", argv, len);
}

static int delete_limit(struct fixture *f)
{
	plant_many(f, "g", LIMIT, 0);
	assert_int_equal(rm(f, "g0"), 0);
	assert_int_equal(rm(f, "g1"), 0);
	assert_int_equal(rm(f, "g2"), 0);
	return rm(f, "g3");
}

TEST(a_command_line_is_remembered)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &session);
	assert_int_equal(f->n[VERDICT_RETRY], 1);
	next_command(f, "rm\0things", 10);
	assert_int_equal(delete_limit(f), 0);
}

TEST(a_remembered_command_line_can_be_taken_back)
{
	struct fixture *f = *state;
	uint64_t rule = 0, over = 0;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &session);
	assert_int_equal(frames_with(f, WIRE_GIVEN, &rule), 1);
	assert_int_equal(rm(f, "f4"), 0);
	safeguard_revoke(&f->k, rule);
	assert_int_equal(frames_with(f, WIRE_GIVEN_OVER, &over), 1);
	assert_int_equal(over, rule);
	assert_int_equal(rm(f, "f5"), -FOLDER_HELD);
	next_command(f, "rm\0things", 10);
	assert_int_equal(delete_limit(f), -FOLDER_HELD);
}

TEST(another_command_line_is_asked)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &session);
	next_command(f, "rm\0others", 10);
	assert_int_equal(delete_limit(f), -FOLDER_HELD);
}

/* Of a long command line the door knows the beginning, which another one may share. */
TEST(half_a_command_line_is_not_remembered)
{
	static const char argv[] = "rm\0things\0...";
	struct fixture *f = *state;
	uint64_t rule = 0;

	next_command(f, argv, sizeof(argv) - 1);
	assert_int_equal(delete_limit(f), -FOLDER_HELD);
	asks_answer(&f->k, asked(f), &session);
	assert_int_equal(f->n[VERDICT_RETRY], 1);
	assert_int_equal(frames_with(f, WIRE_GIVEN, &rule), 0);
}

TEST(allowed_once_is_not_remembered)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &once);
	next_command(f, "rm\0things", 10);
	assert_int_equal(delete_limit(f), -FOLDER_HELD);
}

static void reap(struct fixture *f)
{
	waitpid(f->pid, NULL, 0);
	f->c.proc->source->fn(f->c.proc->source->data); /* its pidfd is ready, as in the loop */
}

static void check_rolled_back(struct fixture *f)
{
	struct step_info *list = NULL;
	struct err err = {0};
	size_t n = 0;

	for (int i = 0; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		assert_true(there(f, name));
	}
	assert_int_equal(frames(f, WIRE_TAKEN_BACK), 1);
	assert_int_equal(journal_list(f->k.journal, false, &list, &n, &err), 0);
	assert_int_equal(n, 0);
	step_info_free(list, n);
	assert_int_equal(journal_list(f->k.journal, true, &list, &n, &err), 0);
	assert_int_equal(n, 1);
	step_info_free(list, n);
}

TEST(denied_it_is_rolled_back_when_its_processes_are_gone)
{
	struct fixture *f = *state;
	struct err err = {0};

	reach_limit(f);
	asks_answer(&f->k, asked(f), &deny);
	assert_int_equal(f->n[VERDICT_STOP], 1);
	assert_int_equal(frames(f, WIRE_TAKEN_BACK), 0);
	assert_int_equal(create(f, "late"), -EPERM);
	reap(f);
	check_rolled_back(f);
	assert_false(there(f, "late"));
	/* Redo restores it. */
	assert_int_equal(journal_undo(f->k.journal, UNDO_REDO, 1, 0, NULL, &err), 0);
	assert_false(there(f, "f0"));
	assert_true(there(f, "f3"));
}

TEST(an_answer_of_another_kind_denies)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &session_tree);
	assert_int_equal(f->n[VERDICT_STOP], 1);
	reap(f);
	check_rolled_back(f);
}

TEST(no_answer_in_time_denies)
{
	struct fixture *f = *state;

	f->spec.guard.timeout_s = 30;
	reach_limit(f);
	assert_true(safeguard_next(&f->k) == f->k.now + 30 * 1000000);
	f->k.now += 29 * 1000000;
	safeguard_tick(&f->k);
	assert_int_equal(f->n[VERDICT_STOP], 0);
	f->k.now += 1000000;
	safeguard_tick(&f->k);
	assert_int_equal(f->n[VERDICT_STOP], 1);
	reap(f);
	check_rolled_back(f);
}

TEST(headless_it_is_denied_at_once)
{
	struct fixture *f = *state;

	f->spec.headless = true;
	plant_many(f, "f", 8, 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(rm(f, "f1"), 0);
	assert_int_equal(rm(f, "f2"), 0);
	assert_int_equal(rm(f, "f3"), -EPERM);
	assert_int_equal(frames(f, WIRE_HELD), 0);
	reap(f);
	check_rolled_back(f);
}

/* The session's end comes first: the last process ends with the sandbox, then the step is
 * undone. */
TEST(denied_at_the_end_of_the_session)
{
	struct fixture *f = *state;

	reach_limit(f);
	asks_answer(&f->k, asked(f), &deny);
	assert_int_equal(steps_commit_all(&f->k, NULL), 0);
	check_rolled_back(f);
}

/* The agent's own changes are undone, and the agent goes on. */
TEST(the_agent_itself_is_not_ended)
{
	struct fixture *f = *state;

	f->c = (struct caller){.op = "call", .request = 10};
	assert_int_equal(keeper_caller(&f->k, getpid(), &f->c), 0);
	plant_many(f, "f", 8, 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(rm(f, "f1"), 0);
	assert_int_equal(rm(f, "f2"), 0);
	assert_int_equal(rm(f, "f3"), -FOLDER_HELD);
	asks_answer(&f->k, f->k.ambient->guard.asked->id, &deny);
	check_rolled_back(f);
	assert_int_equal(rm(f, "f3"), 0);
}

/* `cordon step begin`: all commands of the group are undone together. */
TEST(a_group_is_taken_back_as_a_whole)
{
	struct fixture *f = *state;
	struct caller first;
	int fd = keeper_step(&f->k, &f->c, "begin/all of it");

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(create(f, "made"), 0);
	first = f->c;
	next_command(f, "rm\0others", 10);
	plant_many(f, "f", 8, 0);
	assert_int_equal(rm(f, "f0"), 0);
	assert_int_equal(rm(f, "f1"), 0);
	assert_int_equal(rm(f, "f2"), 0);
	assert_int_equal(rm(f, "f3"), -FOLDER_HELD);
	fd = keeper_step(&f->k, &first, "end");
	assert_true(fd >= 0); /* refused with a message */
	close(fd);
	assert_non_null(f->k.group);
	asks_answer(&f->k, f->k.group->guard.asked->id, &deny);
	assert_int_equal(f->k.group->guard.dying, 2);
	waitpid(f->other, NULL, 0);
	f->c.proc->source->fn(f->c.proc->source->data);
	f->c = first;
	assert_true(there(f, "made"));
	reap(f);
	assert_false(there(f, "made"));
	assert_null(f->k.group);
	check_rolled_back(f);
}

TEST(frozen_it_is_kept_as_it_stands)
{
	struct fixture *f = *state;

	reach_limit(f);
	f->k.frozen = true;
	asks_answer(&f->k, asked(f), &deny);
	reap(f);
	assert_false(there(f, "f0"));
	assert_int_equal(frames(f, WIRE_TAKEN_BACK), 1);
}

/* Of two steps at the same time the denied one is undone; the other stays, and can be undone
 * alone. */
TEST(only_the_denied_step_is_rolled_back)
{
	struct fixture *f = *state;
	struct caller first;
	struct err err = {0};

	reach_limit(f);
	first = f->c;
	next_command(f, "touch\0new", 10);
	assert_int_equal(create(f, "new"), 0);
	assert_int_equal(rm(f, "f4"), 0);
	asks_answer(&f->k, first.proc->command->guard.asked->id, &deny);
	f->c = first;
	reap(f);
	assert_true(there(f, "f0") && there(f, "f2") && there(f, "f3"));
	assert_true(there(f, "new") && !there(f, "f4"));
	end_children(f);
	assert_int_equal(steps_commit_all(&f->k, NULL), 0);
	assert_int_equal(journal_undo(f->k.journal, UNDO_BACK, 1, 0, NULL, &err), 0);
	assert_true(!there(f, "new") && there(f, "f4"));
}

TESTS(setup, teardown)
