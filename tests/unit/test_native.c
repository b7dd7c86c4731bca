/* test_native - the Linux backend, run from outside: what an agent finds in its sandbox. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/wait.h>

#include "backends/linux/native.h"
#include "core/base/io.h"
#include "tests/support/check.h"
#include "tests/unit/fake_keeper.h"

#define OUTPUT_MAX 65536

/* ---- the rest of a keeper: it lives in a child of the test, since it confines itself ----------
 */

static struct {
	bool exited;
	int status;
} agent;

void keeper_set_agent(struct keeper *k, int pid, int orphans)
{
	(void)k;
	(void)pid;
	(void)orphans;
}

void keeper_agent_exited(struct keeper *k, int wait_status)
{
	(void)k;
	agent.exited = true;
	agent.status = wait_status;
}

/* The test uses static mode, without a read gate, which would need these. */

int keeper_add_door(struct keeper *k, struct door *d)
{
	(void)k;
	d->ops->close(d); /* no process runs beside these */
	return 0;
}

void keeper_agent_failed(struct keeper *k, int status, const char *words)
{
	(void)k;
	fail_msg("exit status %d: %s", status, words);
}

void keeper_note(struct keeper *k, const char *fmt, ...)
{
	(void)k;
	(void)fmt;
}

void keeper_warn(struct keeper *k, const char *fmt, ...)
{
	(void)k;
	(void)fmt;
}

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return keeper_watch_write(k, fd, fn, data);
}

int folder_store_fd(const struct folder *f)
{
	return f->fd;
}

void keeper_set_private(struct keeper *k, const char *const *dirs)
{
	(void)k;
	(void)dirs;
}

static void serve(struct door *door)
{
	struct pollfd p[1 + FAKE_WATCH];

	while (!agent.exited) {
		p[0] = (struct pollfd){.fd = door->fd, .events = POLLIN};
		for (size_t i = 0; i < FAKE_WATCH; i++)
			p[i + 1] = (struct pollfd){.fd = fake.watch[i].fn ? fake.watch[i].fd : -1,
						   .events = POLLIN};
		if (poll(p, ARRAY_LEN(p), 100) < 0)
			continue;
		door->ops->serve(door, p[0].revents);
		for (size_t i = 0; i < FAKE_WATCH; i++) {
			if (p[i + 1].revents && fake.watch[i].fn)
				fake.watch[i].fn(fake.watch[i].data);
		}
	}
}

/* ---- the fixture ----------------------------------------------------------------------------- */

struct fixture {
	char *dir, *folder, *hidden_dir, *env, *state;
	const char *folders[2], *hidden[4], *overlays[2];
	struct spawn_spec spec;
	char output[OUTPUT_MAX];
};

static char *make_dir(const struct fixture *f, const char *name)
{
	char *path = xasprintf("%s/%s", f->dir, name);

	assert_int_equal(mkdir(path, 0755), 0);
	return path;
}

static int set_up(void **state)
{
	static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "MARK=here", NULL};
	struct fixture *f = xcalloc(1, sizeof(*f));
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	int fd;

	/* Not below /tmp, as the sandbox has its own. */
	f->dir = xasprintf("%s/test_native.XXXXXX", cwd);
	if (!mkdtemp(f->dir))
		return -1;
	f->folder = make_dir(f, "folder");
	f->hidden_dir = make_dir(f, "hidden");
	f->state = make_dir(f, "state");
	f->env = xasprintf("%s/.env", f->folder);
	fd = open(f->env, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "SECRET", 6), 6);
	close(fd);
	f->folders[0] = f->folder;
	f->hidden[0] = f->hidden_dir;
	f->hidden[1] = f->env;
	f->spec = (struct spawn_spec){.env = env,
				      .cwd = f->folder,
				      .home = f->dir,
				      .folders = f->folders,
				      .overlays = f->overlays,
				      .hidden = f->hidden,
				      .state_dir = f->state,
				      .session = "test"};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *work = xasprintf("%s/overlay/test/0-over/work/work", f->state);
	int r;

	/* The kernel creates this directory without any permission. */
	chmod(work, 0700);
	r = io_remove_tree(AT_FDCWD, f->dir);

	free(f->dir);
	free(f->folder);
	free(f->hidden_dir);
	free(f->env);
	free(f->state);
	free(f);
	return r;
}

static NORETURN void keep(struct fixture *f, const char *const *argv, int out)
{
	struct sandbox *sb;
	struct door *door;
	struct err err = {0};
	int status;

	f->spec.argv = argv;
	f->spec.stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	f->spec.stdio[1] = f->spec.stdio[2] = out;
	snprintf(fake.folder.path, sizeof(fake.folder.path), "%s", f->folder);
	fake.folder.fd = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (backend_native.launch(&sb, &door, &f->spec, &fake, &status, &err) < 0) {
		dprintf(out, "%s", err.text);
		_exit(status);
	}
	serve(door);
	backend_native.stop(sb);
	door->ops->close(door);
	_exit(WIFEXITED(agent.status) ? WEXITSTATUS(agent.status) : 128 + WTERMSIG(agent.status));
}

/* Returns the exit status as cordon would; the output is in f->output. */
static int run_argv(struct fixture *f, const char *const *argv)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		keep(f, argv, fds[1]);
	close(fds[1]);
	n = io_read_full(fds[0], f->output, sizeof(f->output) - 1);
	f->output[MAX(n, 0)] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int run(struct fixture *f, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	return run_argv(f, argv);
}

#define assert_says(f, script, text)                                                               \
	do {                                                                                       \
		run(f, script);                                                                    \
		assert_string_equal((f)->output, text);                                            \
	} while (0)

/* ---- what an agent finds --------------------------------------------------------------------- */

TEST(exit_status_and_output_come_through)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, "echo $MARK; pwd | sed 's|.*/||'; exit 3"), 3);
	assert_string_equal(f->output, "here\nfolder\n");
	assert_int_equal(run(f, "kill -TERM $$"), 128 + SIGTERM);
	assert_int_equal(run(f, "(sleep 60 &); exit 0"), 0);
}

TEST(what_cannot_be_run_says_why)
{
	struct fixture *f = *state;
	const char *missing[] = {"no-such-command", NULL}, *plain[] = {"/etc/passwd", NULL},
		   *dir[] = {"/usr", NULL};

	assert_int_equal(run_argv(f, missing), 127);
	assert_non_null(strstr(f->output, "not found"));
	assert_int_equal(run_argv(f, plain), 126);
	assert_int_equal(run_argv(f, dir), 126);
}

TEST(hidden_paths_do_not_exist)
{
	struct fixture *f = *state;

	assert_says(f, "test -e ../hidden || echo gone; ls .. | grep -c hidden", "gone\n0\n");
	assert_says(f, "cat .env 2>/dev/null || echo no", "no\n");
}

TEST(only_the_folder_and_private_places_take_writes)
{
	struct fixture *f = *state;
	AUTO_FREE char *made = xasprintf("%s/made", f->folder);

	assert_says(f,
		    "for d in / /usr /etc .. ; do touch $d/cordon-x 2>/dev/null && echo $d; done; "
		    "touch /tmp/test_native && echo tmp; touch made && echo folder",
		    "tmp\nfolder\n");
	assert_int_equal(access("/tmp/test_native", F_OK), -1);
	assert_int_equal(access(made, F_OK), 0);
}

TEST(an_overlay_keeps_the_host_as_it_is)
{
	struct fixture *f = *state;
	char *over = make_dir(f, "over");
	AUTO_FREE char *made = NULL;

	f->overlays[0] = over;
	if (run(f, "echo x >../over/made && cat ../over/made") == 125) {
		free(over);
		skip();
	}
	made = xasprintf("%s/made", over);
	free(over);
	assert_string_equal(f->output, "x\n");
	assert_int_equal(access(made, F_OK), -1);
}

TEST(the_agent_has_nothing_of_cordon)
{
	struct fixture *f = *state;

	/* ls has one of its own. */
	assert_says(f, "ls /proc/self/fd | wc -w", "4\n");
	assert_says(f, "ls -d /proc/1 2>/dev/null || echo none", "none\n");
	assert_says(
		f,
		"grep -E '^(CapPrm|CapBnd|CapAmb)' /proc/self/status | grep -vc 0000000000000000; "
		"grep NoNewPrivs /proc/self/status | tr -d '\\t'",
		"0\nNoNewPrivs:1\n");
}

TEST(standard_output_may_be_opened_again)
{
	struct fixture *f = *state;

	assert_says(f, "echo yes >/dev/stdout; echo too >/proc/self/fd/2", "yes\ntoo\n");
}

TEST(the_network_is_shut)
{
	struct fixture *f = *state;

	assert_says(f, "tail -n +2 /proc/net/route | wc -l", "0\n");
	assert_says(f, "grep -c eth /proc/net/dev", "0\n");
}

TEST(the_death_of_the_keeper_takes_all_along)
{
	const char *argv[] = {"sh", "-c",
			      "setsid sleep 100 & (setsid sleep 100 &); echo up; sleep 100", NULL};
	struct pollfd p;
	char up[3];
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		keep(*state, argv, fds[1]);
	close(fds[1]);
	assert_int_equal(io_read_full(fds[0], up, sizeof(up)), sizeof(up));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* The pipe ends after the last process that could write to it. */
	p = (struct pollfd){.fd = fds[0], .events = POLLIN};
	do
		assert_int_equal(poll(&p, 1, 30000), 1);
	while (read(fds[0], up, sizeof(up)) > 0);
	close(fds[0]);
}

int main(void)
{
	struct err err = {0};

	if ((native_probe(NULL, &err) & BACKEND_REQUIRED) != BACKEND_REQUIRED) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	return run_all(set_up, tear_down, NULL, NULL);
}
