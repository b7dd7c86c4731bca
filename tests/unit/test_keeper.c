/* test_keeper - the whole keeper with a fake agent: steps, questions, refusals, undo, the end. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/keeper_session.h"

static int setup(void **state)
{
	struct session *f = session_new();

	f->tells_status = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	session_free(*state);
	return 0;
}

static void start(struct session *f, void (*script)(void), bool headless)
{
	session_start(f, &fake_backend, script, headless);
}

static bool there(const struct session *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	return access(path, F_OK) == 0;
}

static bool in_order(const struct session *f, const char *const *lines)
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

TEST(each_command_is_a_step)
{
	struct session *f = *state;

	start(f, two_commands, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 5 << 8);
	/* Before Linux 6.15 the exit status of a command may be unavailable. */
	assert_true(strstr(f->log.data, "status=7 ") || strstr(f->log.data, "status=-1 "));
	assert_log(f, "begin touch a\n", "create a\n", "end kept=1 status=", "begin sort in\n",
		   "end kept=1 status=");
	assert_null(strstr(f->log.data, "begin true"));
	assert_true(there(f, "a"));
}

TEST(headless_is_one_step)
{
	struct session *f = *state;

	start(f, two_commands, true);
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

TEST(what_the_agent_does_itself_is_ambient)
{
	struct session *f = *state;

	start(f, edit_by_itself, false);
	pump(f, &f->exited);
	assert_log(f, "begin ambient agent: edit edit\n", "create edit\n", "end ambient kept=1",
		   "begin touch a\n", "end kept=1", "begin ambient agent: edit edit2\n",
		   "end ambient");
}

static char told[64]; /* a directory that the test makes when the agent may go on */

static void start_told(struct session *f, void (*work)(void), bool headless)
{
	snprintf(told, sizeof(told), "%s/told", f->root);
	start(f, work, headless);
}

static void until_told(void)
{
	while (access(told, F_OK) < 0)
		usleep(1000);
}

static void tell(struct session *f, const char *words)
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

TEST(what_outlives_its_command_is_ambient)
{
	struct session *f = *state;

	start_told(f, leave_one_running, false);
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

TEST(a_pipeline_is_one_step)
{
	struct session *f = *state;

	start_told(f, pipeline, false);
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

TEST(the_agent_of_a_wrapper_is_its_child)
{
	struct session *f = *state;

	start(f, npx, false);
	pump(f, &f->exited);
	assert_log(f, "begin touch a\n", "end kept=1 status=");
}

static void umask_file(void)
{
	umask(027);
	agent_do("create", "masked", NULL);
}

TEST(the_callers_umask_counts)
{
	struct session *f = *state;
	AUTO_FREE char *path = path_join(f->folder, "masked");
	struct stat st;

	start(f, umask_file, true);
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

TEST(headless_denies)
{
	struct session *f = *state;

	start(f, write_protected, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	assert_log(f, "denied create .envrc\n");
	assert_false(there(f, ".envrc"));
}

TEST(an_answer_lets_it_go_on)
{
	struct session *f = *state;

	start(f, write_protected, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_log(f, "ask create .envrc\n", "begin ambient", "create .envrc\n");
	assert_true(there(f, ".envrc"));
}

TEST(no_is_an_answer)
{
	struct session *f = *state;

	f->answer = (struct answer){0};
	start(f, write_protected, false);
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

TEST(once_is_once_and_a_session_is_longer)
{
	struct session *f = *state;

	start(f, write_twice, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_int_equal(count(f->log.data, "ask "), 2);
	stop(f);
	f->answer = (struct answer){.allow = true, .scope = SCOPE_SESSION};
	buf_clear(&f->log);
	start(f, write_twice, false);
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

TEST(one_wish_is_one_question)
{
	struct session *f = *state;
	int64_t end;

	f->mute = true;
	start(f, four_ask, false);
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

TEST(a_dead_asker_takes_its_question_along)
{
	struct session *f = *state;

	f->mute = true;
	start_told(f, ask_and_die, false);
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

TEST(places_outside_are_reported_once)
{
	struct session *f = *state;

	start(f, go_outside, true);
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

TEST(a_harmless_git_config_passes)
{
	struct session *f = *state;

	start(f, git_good, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_true(there(f, ".git/config"));
}

TEST(a_git_config_that_runs_things_does_not)
{
	struct session *f = *state;

	start(f, git_evil, true);
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

static bool plan(struct session *f, size_t n)
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

TEST(a_plan_has_gits_own_files_last)
{
	struct session *f = *state;

	start(f, commit_by_itself, true);
	pump(f, &f->exited);
	assert_true(plan(f, 1));
	assert_string_equal(f->words, "plan of 1: D .git D z D .git/logs");
}

TEST(undo_and_redo_go_there_and_back)
{
	struct session *f = *state;

	start(f, two_commands, false);
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

TEST(a_cancelled_undo_leaves_nothing_half_done)
{
	struct session *f = *state;
	bool undone;

	start(f, many_files, true);
	pump(f, &f->exited);
	f->cancel = 1;
	undone = request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0));
	/* It may have ended before the cancellation. */
	assert_true(undone || f->status == -ECANCELED);
	assert_int_equal(there(f, "f0"), !undone);
	assert_int_equal(there(f, "f1499"), !undone);
}

TEST(undo_needs_no_agent)
{
	struct session *f = *state;

	start(f, two_commands, true);
	pump(f, &f->exited);
	stop(f);
	session_start(f, NULL, NULL, true);
	pump(f, &f->started);
	assert_true(request(f, client_undo(f->client, UNDO_BACK, 1, 0, 0, 0)));
	assert_false(there(f, "a"));
	assert_false(there(f, "b"));
}

TEST(a_killed_keeper_leaves_what_the_next_one_repairs)
{
	struct session *f = *state;

	start(f, wait_for_ever, true);
	await(f, "create a");
	kill(f->pid, SIGKILL);
	stop(f);
	assert_true(there(f, "a"));
	session_start(f, NULL, NULL, true);
	pump(f, &f->started);
	assert_false(there(f, "a"));
	assert_non_null(strstr(f->words, "interrupted"));
}

TEST(shutdown_commits)
{
	struct session *f = *state;

	start(f, wait_for_ever, true);
	await(f, "create a");
	stop(f);
	assert_log(f, "begin agent", "create a\n", "end kept=1 status=-1 paths=1\n");
}

TEST(the_whole_run_is_not_undone_while_it_runs)
{
	struct session *f = *state;

	start(f, wait_for_ever, true);
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

TEST(undo_waits_for_the_command)
{
	struct session *f = *state;

	start(f, run_busy, false);
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

TEST(frozen_means_no_change)
{
	struct session *f = *state;

	agent_script = NULL;
	start(f, write_twice, false);
	client_freeze(f->client);
	pump(f, &f->exited);
	/* Whether the first call or the order to freeze comes first is undefined: no file, or a
	 * question. */
	assert_true(f->status != 0 || there(f, ".envrc"));
}

TEST(a_start_that_fails_says_why)
{
	struct session *f = *state;

	start(f, NULL, true);
	pump(f, &f->failed);
	assert_int_equal(f->status, 127);
	assert_string_equal(f->words, "no such agent");
}

TEST(without_cordon_everything_ends)
{
	struct session *f = *state;

	start(f, wait_for_ever, true);
	await(f, "create a");
	client_free(f->client);
	f->client = NULL;
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
}

TESTS(setup, teardown)
