/* broker - in cordon: starts the broker's process, and removes it and its sockets. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/broker/broker_priv.h"
#include "core/os/process.h"
#include "core/base/io.h"
#include "core/os/socket.h"
#include "core/policy/written.h"

struct broker {
	pid_t pid;
	int sock, secrets;
	char *dir, *git, *ssh; /* directory and sockets; NULL: not served */
};

/* ---- sockets --------------------------------------------------------------------------------- */

/* Makes a directory only for this user. Its name is short: a socket's path has 108 bytes. */
static int make_dir(struct broker *b, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/' && strlen(runtime) < 64 && access(runtime, W_OK) == 0)
		b->dir = xasprintf("%s/cordon-XXXXXX", runtime);
	else
		b->dir = xstrdup("/tmp/cordon-XXXXXX");
	if (mkdtemp(b->dir))
		return 0;
	free(take_ptr(&b->dir));
	return err_set(err, -errno, "make a directory for the broker's sockets");
}

static int listen_at(const char *path, struct err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "listen at %s", path);
	memcpy(at.sun_path, path, strlen(path));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 64) < 0)
		return err_set(err, -errno, "listen at %s", path);
	return take_fd(&fd);
}

static int open_sockets(struct broker *b, const struct broker_spec *spec, struct process_spec *p,
			struct err *err)
{
	if (spec->credentials) {
		b->git = xasprintf("%s/git", b->dir);
		p->git = listen_at(b->git, err);
		if (p->git < 0)
			return p->git;
	}
	if (spec->secrets) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			return err_set(err, -errno, "socket for secrets");
		b->secrets = fcntl(pair[0], F_DUPFD_CLOEXEC, 3); /* like b->sock */
		close(pair[0]);
		p->tls = pair[1];
	}
	if (spec->keys && spec->keys[0]) {
		b->ssh = xasprintf("%s/ssh", b->dir);
		p->ssh = listen_at(b->ssh, err);
		if (p->ssh < 0)
			return p->ssh;
	}
	return 0;
}

static void remove_sockets(struct broker *b)
{
	if (b->git)
		unlink(b->git);
	if (b->ssh)
		unlink(b->ssh);
	if (b->dir)
		rmdir(b->dir);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Closes all of cordon's descriptors but these, and gives up the terminal. */
static void close_others(const int *keep, size_t n)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	log_open(-1, LOG_ERROR, NULL);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	io_close_all_but(3, keep, n);
}

static NORETURN void be_broker(const struct process_spec *spec)
{
	const int keep[] = {spec->sock, spec->git, spec->ssh, spec->tls, written_fd()};
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	close_others(keep, ARRAY_LEN(keep));
	broker_run(spec);
}

static int start(struct broker *b, const struct broker_spec *spec, struct err *err)
{
	struct process_spec process = {.broker = spec, .sock = -1, .git = -1, .ssh = -1, .tls = -1};
	int pair[2] = {-1, -1};
	int r = agent_keys_parse(&process.keys, spec->keys, err);

	if (r == 0)
		r = make_dir(b, err);
	if (r == 0 && socketpair(AF_UNIX, OS_PACKETS | SOCK_CLOEXEC, 0, pair) < 0)
		r = err_set(err, -errno, "socket to the broker");
	if (r == 0)
		r = open_sockets(b, spec, &process, err);
	process.sock = pair[1];
	process.dir = b->dir;
	if (r == 0) {
		b->pid = fork();
		if (b->pid == 0)
			be_broker(&process);
		if (b->pid < 0)
			r = err_set(err, -errno, "fork the broker");
	}
	b->sock =
		pair[0] < 0 ? -1 : fcntl(pair[0], F_DUPFD_CLOEXEC, 3); /* not the agent's 0 to 2 */
	util_close_fd(&pair[0]);
	util_close_fd(&pair[1]);
	if (process.git >= 0)
		close(process.git);
	if (process.ssh >= 0)
		close(process.ssh);
	if (process.tls >= 0)
		close(process.tls);
	agent_keys_free(process.keys);
	return r;
}

int broker_start(struct broker **ret, const struct broker_spec *spec, struct err *err)
{
	struct broker *b;
	int r;

	*ret = NULL;
	if (!spec->credentials && !spec->secrets && !(spec->keys && spec->keys[0]))
		return 0;
	b = xcalloc(1, sizeof(*b));
	b->sock = b->secrets = -1;
	r = start(b, spec, err);
	if (r < 0)
		broker_close(b);
	else
		*ret = b;
	return r;
}

int broker_socket(const struct broker *b)
{
	return b ? b->sock : -1;
}

int broker_secrets(const struct broker *b)
{
	return b ? b->secrets : -1;
}

const char *broker_git(const struct broker *b)
{
	return b ? b->git : NULL;
}

const char *broker_ssh(const struct broker *b)
{
	return b ? b->ssh : NULL;
}

void broker_handed_over(struct broker *b)
{
	if (!b)
		return;
	util_close_fd(&b->sock);
	util_close_fd(&b->secrets);
}

void broker_close(struct broker *b)
{
	if (!b)
		return;
	util_close_fd(&b->sock);
	util_close_fd(&b->secrets);
	if (b->pid > 0) {
		kill(b->pid, SIGTERM);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	remove_sockets(b);
	free(b->dir);
	free(b->git);
	free(b->ssh);
	free(b);
}
