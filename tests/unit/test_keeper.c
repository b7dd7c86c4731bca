/* test_keeper - the whole keeper with a fake agent: steps, questions, refusals, undo, the end. */
/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/client.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/support/fake_agent.h"

#define PATIENCE_US 30000000

struct fixture {
	char *root, *folder, *state;
	struct policy *policy;
	struct client *client;
	pid_t pid;
	struct buf log;
	bool started, exited, failed, done;
	bool alone;	      /* without a backend */
	bool ambient[256];    /* which steps are ambient, by the low bits of their ids */
	int status;	      /* of the agent, of a failed start, or of a request */
	struct answer answer; /* to every question */
	bool mute;	      /* no answers */
	uint64_t cancel;      /* at the first progress */
	bool planning;	      /* waits for a plan */
	unsigned plans;	      /* that came */
	char words[512];
};

static void show_plan(struct fixture *f, const struct undo_plan *p)
{
	size_t len = (size_t)snprintf(f->words, sizeof(f->words), "plan of %zu:", p->n_ids);

	for (size_t i = 0; i < p->n_entries && len < sizeof(f->words); i++)
		len += (size_t)snprintf(f->words + len, sizeof(f->words) - len, " %c %s",
					p->entries[i].what, p->entries[i].path);
}

static void on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	struct fixture *f = data;
	const char *path = ev->path ? path_below(ev->path, f->folder) : NULL;

	path = path && *path ? path : ev->path;
	if (type == WIRE_STEP_BEGIN)
		f->ambient[ev->step & 255] = ev->kind == STEP_AMBIENT;
	if (type == WIRE_STEP_BEGIN)
		buf_fmt(&f->log, "begin%s %s\n", f->ambient[ev->step & 255] ? " ambient" : "",
			ev->command);
	else if (type == WIRE_STEP_END)
		buf_fmt(&f->log, "end%s kept=%d status=%d paths=%d\n",
			f->ambient[ev->step & 255] ? " ambient" : "", ev->kept, (int)ev->status,
			(int)ev->total);
	else if (type == WIRE_TOUCH)
		buf_fmt(&f->log, "%s %s\n", ev->op, path);
	else if (type == WIRE_DENY)
		buf_fmt(&f->log, "denied %s %s\n", ev->op, path);
	else if (type == WIRE_ASK)
		buf_fmt(&f->log, "ask %s %s\n", ev->op, path);
	else if (type == WIRE_ASK_GONE)
		buf_str(&f->log, "ask gone\n");
	if (type == WIRE_ASK && !f->mute)
		client_answer(f->client, ev->id, &f->answer);
	if (type == WIRE_PROGRESS && f->cancel == ev->id)
		client_cancel(f->client, ev->id);
	f->started |= type == WIRE_STARTED;
	f->exited |= type == WIRE_EXIT;
	f->failed |= type == WIRE_START_FAILED;
	f->done |= type == WIRE_DONE || (type == WIRE_PLAN && f->planning);
	f->plans += type == WIRE_PLAN;
	if (type == WIRE_EXIT || type == WIRE_START_FAILED)
		f->status = (int)ev->status;
	if (type == WIRE_DONE)
		f->status = ev->result;
	if (type == WIRE_DONE || type == WIRE_START_FAILED || type == WIRE_NOTE)
		snprintf(f->words, sizeof(f->words), "%s", ev->reason);
	if (type == WIRE_PLAN)
		show_plan(f, ev->plan);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-keeper-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	f->root = xstrdup(template);
	f->folder = path_join(f->root, "work");
	f->state = path_join(f->root, "state");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	assert_int_equal(policy_new(&f->policy, &(struct policy_spec){.home = f->root}, &err), 0);
	f->log = (struct buf)BUF_INIT;
	f->answer = (struct answer){.allow = true};
	*state = f;
	return 0;
}

static void start(struct fixture *f, void (*script)(void), bool one_step, bool headless)
{
	static const char *const argv[] = {"agent", "--do", "it", NULL};
	struct spawn_spec spawn = {.argv = argv, .stdio = {0, 1, 2}};
	const char *const folders[] = {f->folder, NULL};
	struct err err = {0};
	int pair[2];

	agent_script = script;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(
		keeper_fork(&(struct keeper_spec){.sock = pair[1],
						  .folders = folders,
						  .state_dir = f->state,
						  .policy = f->policy,
						  .headless = headless,
						  .one_step = one_step,
						  .backend = f->alone ? NULL : &fake_backend,
						  .spawn = f->alone ? NULL : &spawn},
			    &f->pid, &err),
		0);
	close(pair[1]);
	f->client = client_new(pair[0], on_event, f);
}

/* Runs until *flag is set, or the keeper has ended. */
static void pump(struct fixture *f, const bool *flag)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!*flag) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		assert_true(clock_mono_us() < end);
		poll(&p, 1, 100);
		if (p.revents && client_read(f->client) < 0)
			return;
	}
}

static void await(struct fixture *f, const char *words)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!strstr(f->log.data, words)) {
		if (clock_mono_us() > end)
			fail_msg("waited for '%s' in vain", words);
		usleep(10000);
		assert_int_equal(client_read(f->client), 0);
	}
}

static void finish(struct fixture *f)
{
	bool never = false;

	if (!f->client)
		return;
	client_shutdown(f->client);
	pump(f, &never);
	client_free(f->client);
	f->client = NULL;
	waitpid(f->pid, NULL, 0);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	finish(f);
	policy_free(f->policy);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->state);
	buf_done(&f->log);
	free(f);
	return 0;
}

static bool there(const struct fixture *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	return access(path, F_OK) == 0;
}

static bool in_order(const struct fixture *f, const char *const *lines)
{
	const char *at = f->log.data;

	for (; *lines; lines++) {
		at = strstr(at, *lines);
		if (!at) {
			print_message("missing '%s' in:\n%s", *lines, f->log.data);
			return false;
		}
		at += strlen(*lines);
	}
	return true;
}
#define assert_log(f, ...) assert_true(in_order(f, (const char *const[]){__VA_ARGS__, NULL}))

/* ---- steps ----------------------------------------------------------------------------------- */

static void touch_a(void)
{
	agent_exec("sh|-c|touch a");
	agent_do("create", "a", NULL);
	_exit(7);
}

static void touch_b(void)
{
	agent_do("create", "b", NULL); /* a redirection before the exec */
	agent_exec("sort|in");
}

static void nothing(void)
{
	agent_exec("true");
}

static void two_commands(void)
{
	agent_exec("agent|--do|it");
	agent_run(touch_a);
	agent_run(nothing);
	agent_run(touch_b);
	_exit(5);
}

static void each_command_is_a_step(void **state)
{
	struct fixture *f = *state;

	start(f, two_commands, false, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 5 << 8);
	/* Before Linux 6.15 the exit status of a command may be unavailable. */
	assert_true(strstr(f->log.data, "status=7 ") || strstr(f->log.data, "status=-1 "));
	assert_log(f, "begin touch a\n", "create a\n", "end kept=1 status=", "begin sort in\n",
		   "end kept=1 status=");
	assert_null(strstr(f->log.data, "begin true"));
	assert_true(there(f, "a"));
}

static void headless_is_one_step(void **state)
{
	struct fixture *f = *state;

	start(f, two_commands, true, true);
	pump(f, &f->exited);
	assert_string_equal(f->log.data, "begin agent --do it\ncreate a\ncreate b\n"
					 "end kept=1 status=5 paths=2\n");
}

static void edit_by_itself(void)
{
	agent_do("create", "edit", NULL);
	agent_run(touch_a);
	agent_do("create", "edit2", NULL);
}

static void what_the_agent_does_itself_is_ambient(void **state)
{
	struct fixture *f = *state;

	start(f, edit_by_itself, false, false);
	pump(f, &f->exited);
	assert_log(f, "begin ambient agent: edit edit\n", "create edit\n", "end ambient kept=1",
		   "begin touch a\n", "end kept=1", "begin ambient agent: edit edit2\n",
		   "end ambient");
}

static char told[64]; /* a directory that the test makes when the agent may go on */

static void start_told(struct fixture *f, void (*work)(void), bool one_step, bool headless)
{
	snprintf(told, sizeof(told), "%s/told", f->root);
	start(f, work, one_step, headless);
}

static void until_told(void)
{
	while (access(told, F_OK) < 0)
		usleep(1000);
}

static void tell(struct fixture *f, const char *words)
{
	await(f, words);
	assert_int_equal(mkdir(told, 0700), 0);
}

static void orphan(void)
{
	agent_exec("daemon");
	agent_do("create", "before", NULL);
	if (fork() == 0) {
		until_told();
		agent_do("create", "late", NULL);
		_exit(0);
	}
}

static void leave_one_running(void)
{
	int fds[2];
	char byte;

	if (pipe(fds) < 0)
		_exit(97);
	agent_run(orphan);
	close(fds[1]);
	_exit(read(fds[0], &byte, 1) != 0); /* until the process left behind has ended */
}

static void what_outlives_its_command_is_ambient(void **state)
{
	struct fixture *f = *state;

	start_told(f, leave_one_running, false, false);
	tell(f, "end kept=1");
	pump(f, &f->exited);
	assert_log(f, "begin daemon\n", "create before\n", "end kept=1", "begin ambient",
		   "create late\n");
}

static void pipe_left(void)
{
	agent_exec("cat|x");
	agent_do("create", "left", NULL);
}

static void pipe_right(void)
{
	agent_exec("tee|y");
	agent_do("create", "right", NULL);
}

static void pipeline(void)
{
	char byte;
	pid_t left, right;
	int fds[2], first[2];

	if (pipe(fds) < 0 || pipe(first) < 0)
		_exit(97);
	left = fork();
	if (left == 0) {
		close(fds[1]);
		setpgid(0, 0);
		pipe_left();
		close(first[1]);
		_exit(read(fds[0], &byte, 1) < 0); /* until the right process is ready */
	}
	setpgid(left, left);
	close(first[1]);
	if (read(first[0], &byte, 1) != 0)
		_exit(96);
	right = fork();
	if (right == 0) {
		setpgid(0, left);
		pipe_right();
		_exit(4);
	}
	setpgid(right, left);
	waitpid(right, NULL, 0);
	close(fds[1]);
	waitpid(left, NULL, 0);
	until_told(); /* the step ends after its quiet time */
	agent_do("create", "after", NULL);
}

static void a_pipeline_is_one_step(void **state)
{
	struct fixture *f = *state;

	start_told(f, pipeline, false, false);
	tell(f, "end kept=1");
	pump(f, &f->exited);
	assert_log(f, "begin cat x\n", "create left\n", "create right\n", "end kept=1",
		   "begin ambient agent: edit after\n");
	assert_null(strstr(f->log.data, "begin tee"));
}

static void inner_agent(void)
{
	agent_exec("node|claude");
	agent_run(touch_a);
}

static void npx(void)
{
	agent_exec("npx|claude");
	agent_run(inner_agent);
}

static void the_agent_of_a_wrapper_is_its_child(void **state)
{
	struct fixture *f = *state;

	start(f, npx, false, false);
	pump(f, &f->exited);
	assert_log(f, "begin touch a\n", "end kept=1 status=");
}

static void umask_file(void)
{
	umask(027);
	agent_do("create", "masked", NULL);
}

static void the_callers_umask_counts(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = path_join(f->folder, "masked");
	struct stat st;

	start(f, umask_file, true, true);
	pump(f, &f->exited);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

/* ---- questions ------------------------------------------------------------------------------- */

static int results[8];

static void write_protected(void)
{
	int r = agent_do("create", ".envrc", NULL);

	_exit(r == 0 ? 0 : r == -EACCES ? 13 : 1);
}

static void headless_denies(void **state)
{
	struct fixture *f = *state;

	start(f, write_protected, true, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	assert_log(f, "denied create .envrc\n");
	assert_false(there(f, ".envrc"));
}

static void an_answer_lets_it_go_on(void **state)
{
	struct fixture *f = *state;

	start(f, write_protected, false, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_log(f, "ask create .envrc\n", "begin ambient", "create .envrc\n");
	assert_true(there(f, ".envrc"));
}

static void no_is_an_answer(void **state)
{
	struct fixture *f = *state;

	f->answer = (struct answer){0};
	start(f, write_protected, false, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	assert_false(there(f, ".envrc"));
}

static void write_twice(void)
{
	results[0] = agent_do("create", ".envrc", NULL);
	results[1] = agent_do("write", ".envrc", "x");
	_exit(results[0] || results[1]);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void once_is_once_and_a_session_is_longer(void **state)
{
	struct fixture *f = *state;

	start(f, write_twice, false, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_int_equal(count(f->log.data, "ask "), 2);
	finish(f);
	f->exited = false;
	f->answer = (struct answer){.allow = true, .scope = SCOPE_SESSION};
	buf_clear(&f->log);
	start(f, write_twice, false, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_int_equal(count(f->log.data, "ask "), 1);
}

static void four_ask(void)
{
	for (int i = 0; i < 4; i++) {
		if (fork() == 0)
			_exit(agent_do("write", ".envrc", "x") != 0);
	}
	usleep(100000);
	for (int i = 0; i < 4; i++) {
		int status;

		wait(&status);
		results[0] |= status;
	}
	_exit(results[0] != 0);
}

static void one_wish_is_one_question(void **state)
{
	struct fixture *f = *state;
	int64_t end;

	f->mute = true;
	start(f, four_ask, false, false);
	await(f, "ask ");
	end = clock_mono_us() + 200000;
	while (clock_mono_us() < end) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		poll(&p, 1, 20);
		assert_int_equal(client_read(f->client), 0);
	}
	assert_int_equal(count(f->log.data, "ask "), 1);
	f->answer.scope = SCOPE_SESSION; /* once would be for the first one alone */
	client_answer(f->client, 1, &f->answer);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
}

static void ask_and_die(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		agent_do("write", ".envrc", "x");
		_exit(0);
	}
	until_told();
	if (rmdir(told) < 0)
		_exit(97);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	until_told();
}

static void a_dead_asker_takes_its_question_along(void **state)
{
	struct fixture *f = *state;

	f->mute = true;
	start_told(f, ask_and_die, false, false);
	tell(f, "ask write");
	tell(f, "ask gone");
	pump(f, &f->exited);
	assert_log(f, "ask write .envrc\n", "ask gone\n");
	assert_false(there(f, ".envrc"));
}

static void go_outside(void)
{
	agent_do("outside", "/usr/bin/x", NULL);
	agent_do("outside", "/usr/bin/x", NULL);
	agent_do("outside", "/tmp/x", NULL);
}

static void places_outside_are_reported_once(void **state)
{
	struct fixture *f = *state;

	start(f, go_outside, true, true);
	pump(f, &f->exited);
	assert_string_equal(f->log.data, "denied outside /usr/bin/x\n");
}

/* ---- git ------------------------------------------------------------------------------------- */

static void git_config(const char *text)
{
	results[0] = agent_do("mkdir", ".git", NULL);
	results[1] = agent_do("write", ".git/config.lock", text);
	results[2] = agent_do("rename", ".git/config.lock", ".git/config");
	_exit(results[0] ? 1 : results[1] ? 2 : results[2] == -EACCES ? 13 : results[2] ? 3 : 0);
}

static void git_good(void)
{
	git_config("[core]\n\tbare = false\n");
}

static void git_evil(void)
{
	git_config("[core]\n\tfsmonitor = ./x\n");
}

static void a_harmless_git_config_passes(void **state)
{
	struct fixture *f = *state;

	start(f, git_good, true, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_true(there(f, ".git/config"));
}

static void a_git_config_that_runs_things_does_not(void **state)
{
	struct fixture *f = *state;

	start(f, git_evil, true, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	assert_false(there(f, ".git/config"));
}

/* ---- requests, and the end ------------------------------------------------------------------- */

static void wait_for_ever(void)
{
	agent_do("create", "a", NULL);
	for (;;)
		pause();
}

static bool request(struct fixture *f, uint64_t id)
{
	assert_true(id > 0);
	f->done = false;
	f->status = 0;
	pump(f, &f->done);
	return f->status == 0;
}

static bool plan(struct fixture *f, size_t n)
{
	bool r;

	f->planning = true;
	r = request(f, client_plan(f->client, UNDO_BACK, n, 0));
	f->planning = false;
	return r;
}

static void commit_by_itself(void)
{
	agent_exec("git|commit");
	agent_do("mkdir", ".git", NULL);
	agent_do("mkdir", ".git/logs", NULL);
	agent_do("create", "z", NULL);
}

static void a_plan_has_gits_own_files_last(void **state)
{
	struct fixture *f = *state;

	start(f, commit_by_itself, true, true);
	pump(f, &f->exited);
	assert_true(plan(f, 1));
	assert_string_equal(f->words, "plan of 1: D .git D z D .git/logs");
}

static void undo_and_redo_go_there_and_back(void **state)
{
	struct fixture *f = *state;

	start(f, two_commands, false, false);
	pump(f, &f->exited);
	assert_true(plan(f, 2));
	assert_non_null(strstr(f->words, "plan of 2:"));
	assert_non_null(strstr(f->words, " D a"));
	assert_false(request(
		f, client_undo(f->client, UNDO_BACK, 1, 0, 77, 0))); /* not the shown plan */
	assert_int_equal(f->plans, 1);
	assert_true(request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0)));
	assert_int_equal(f->plans, 2); /* that plan was not shown, so it is sent */
	assert_true(there(f, "a"));
	assert_false(there(f, "b"));
	assert_true(request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0)));
	assert_false(there(f, "a"));
	assert_false(request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0)));
	assert_int_not_equal(strlen(f->words), 0);
	assert_true(request(f, client_undo(f->client, UNDO_REDO, 1, 0, 0, 0)));
	assert_true(there(f, "a"));
}

static void many_files(void)
{
	char name[32];

	for (int i = 0; i < 1500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		agent_do("create", name, NULL);
	}
}

static void a_cancelled_undo_leaves_nothing_half_done(void **state)
{
	struct fixture *f = *state;
	bool undone;

	start(f, many_files, true, true);
	pump(f, &f->exited);
	f->cancel = 1;
	undone = request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0));
	/* It may have ended before the cancellation. */
	assert_true(undone || f->status == -ECANCELED);
	assert_int_equal(there(f, "f0"), !undone);
	assert_int_equal(there(f, "f1499"), !undone);
}

static void undo_needs_no_agent(void **state)
{
	struct fixture *f = *state;

	start(f, two_commands, true, true);
	pump(f, &f->exited);
	finish(f);
	f->alone = true;
	f->started = false;
	start(f, NULL, false, true);
	pump(f, &f->started);
	assert_true(request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0)));
	assert_false(there(f, "a"));
	assert_false(there(f, "b"));
}

static void a_killed_keeper_leaves_what_the_next_one_repairs(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_ever, true, true);
	await(f, "create a");
	kill(f->pid, SIGKILL);
	finish(f);
	assert_true(there(f, "a"));
	f->alone = true;
	f->started = false;
	start(f, NULL, false, true);
	pump(f, &f->started);
	assert_false(there(f, "a"));
	assert_non_null(strstr(f->words, "interrupted"));
}

static void shutdown_commits(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_ever, true, true);
	await(f, "create a");
	finish(f);
	assert_log(f, "begin agent", "create a\n", "end kept=1 status=-1 paths=1\n");
}

static void the_whole_run_is_not_undone_while_it_runs(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_ever, true, true);
	await(f, "create a");
	client_undo(f->client, UNDO_BACK, 1, 0, 0, 0);
	pump(f, &f->done);
	assert_int_equal(f->status, -EAGAIN);
}

static void busy(void)
{
	agent_exec("make|all");
	agent_do("create", "a", NULL);
	pause();
}

static void run_busy(void)
{
	agent_run(busy);
	pause();
}

static void undo_waits_for_the_command(void **state)
{
	struct fixture *f = *state;

	start(f, run_busy, false, false);
	await(f, "create a");
	client_undo(f->client, UNDO_BACK, 1, 0, 0, 0);
	pump(f, &f->done);
	assert_int_equal(f->status, -EBUSY);
	assert_non_null(strstr(f->words, "'make all' (process "));
	assert_true(there(f, "a"));
	client_stop(f->client);
	client_write(f->client);
	await(f, "end kept=1");
	f->done = false;
	client_undo(f->client, UNDO_BACK, 1, 0, 0, 0);
	pump(f, &f->done);
	assert_int_equal(f->status, 0);
	assert_false(there(f, "a"));
}

static void frozen_means_no_change(void **state)
{
	struct fixture *f = *state;

	agent_script = NULL;
	start(f, write_twice, false, false);
	client_freeze(f->client);
	pump(f, &f->exited);
	/* Whether the first call or the order to freeze comes first is undefined: no file, or a
	 * question. */
	assert_true(f->status != 0 || there(f, ".envrc"));
}

static void a_start_that_fails_says_why(void **state)
{
	struct fixture *f = *state;

	start(f, NULL, true, true);
	pump(f, &f->failed);
	assert_int_equal(f->status, 127);
	assert_string_equal(f->words, "no such agent");
}

static void without_cordon_everything_ends(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_ever, true, true);
	await(f, "create a");
	client_free(f->client);
	f->client = NULL;
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
}

#define T(x) cmocka_unit_test_setup_teardown(x, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_command_is_a_step),
		T(headless_is_one_step),
		T(what_the_agent_does_itself_is_ambient),
		T(what_outlives_its_command_is_ambient),
		T(a_pipeline_is_one_step),
		T(the_agent_of_a_wrapper_is_its_child),
		T(the_callers_umask_counts),
		T(headless_denies),
		T(an_answer_lets_it_go_on),
		T(no_is_an_answer),
		T(once_is_once_and_a_session_is_longer),
		T(one_wish_is_one_question),
		T(a_dead_asker_takes_its_question_along),
		T(places_outside_are_reported_once),
		T(a_harmless_git_config_passes),
		T(a_git_config_that_runs_things_does_not),
		T(a_plan_has_gits_own_files_last),
		T(undo_and_redo_go_there_and_back),
		T(a_cancelled_undo_leaves_nothing_half_done),
		T(undo_needs_no_agent),
		T(a_killed_keeper_leaves_what_the_next_one_repairs),
		T(shutdown_commits),
		T(the_whole_run_is_not_undone_while_it_runs),
		T(undo_waits_for_the_command),
		T(frozen_means_no_change),
		T(a_start_that_fails_says_why),
		T(without_cordon_everything_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
