/* test_api_names - names of sessions' sockets: a stale one is removed, one of a new session is
 * not. */
/* SPDX-License-Identifier: MIT */
#include "core/session/session_priv.h" /* before uv.h, which defines MAX too */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "core/api/socket/api.h"
#include "core/api/socket/link.h"
#include "tests/support/check.h"

static char dir[] = "/tmp/cordon-api.XXXXXX";

static int knock(const char *name)
{
	struct err err = {0};
	struct link l;
	int r = link_open(&l, dir, name, &err);

	link_done(&l);
	return r;
}

/* Binds a socket without listening. */
static void bind_only(const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", dir, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0;
}

TEST(what_a_killed_session_left_is_removed)
{
	bind_only("killed.sock");
	assert_int_equal(knock("killed.sock"), -ECONNREFUSED);
	assert_false(is_there("killed.sock"));
}

/* Listens as another user, in a directory of this one. */
static void listen_as(uid_t uid, int fd, int ready)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setuid(uid) < 0 || listen(fd, 1) < 0)
		_exit(1);
	(void)!write(ready, &byte, 1);
	pause();
	_exit(0);
}

TEST(another_users_socket_is_refused)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), ready[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/other.sock", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		listen_as(12345, fd, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(knock("other.sock"), -EPERM);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(un.sun_path);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

TEST(while_one_begins_nothing_is_removed)
{
	int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(flock(lock, LOCK_EX), 0);
	bind_only("begins.sock");
	assert_int_equal(knock("begins.sock"), -ECONNREFUSED);
	assert_true(is_there("begins.sock"));
	close(lock);
	assert_int_equal(knock("begins.sock"), -ECONNREFUSED);
	assert_false(is_there("begins.sock"));
}

/* A session that has its socket can be reached while other processes list the sessions all the
 * time. */
TEST(a_session_that_begins_keeps_its_name)
{
	struct session s = {.model.session = "20200101-000000-1-abcd"};
	uv_loop_t loop;
	pid_t others[2];

	for (int i = 0; i < 2; i++) {
		others[i] = fork();
		if (others[i] == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (others[i] == 0)
			(void)knock("20200101-000000-1-abcd.sock");
	}
	uv_loop_init(&loop);
	for (int i = 0; i < 1000; i++) {
		struct err err = {0};
		struct api *a;

		assert_int_equal(api_open(&a, &loop, &s, dir, &err), 0);
		if (!is_there("20200101-000000-1-abcd.sock"))
			fail_msg("the name of round %d is gone", i);
		api_close(a);
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	uv_loop_close(&loop);
	for (int i = 0; i < 2; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	return run_all(NULL, NULL, make_dir, drop_dir);
}
