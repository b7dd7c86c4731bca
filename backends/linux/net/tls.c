/* tls - starts the TLS process for the keeper, and leads connections of the relay there. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "backends/linux/net/tls_priv.h"
#include "backends/linux/sandbox/landlock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/signals.h"

#define ROOTS_MAX (8u << 20)
#define START_S	  10

struct tls {
	pid_t pid;
	int sock;
	char *file; /* until it has been shown; NULL: removed */
};

/* ---- the process ----------------------------------------------------------------------------- */

/* Moves the process's two sockets to 3 and 4 and closes the keeper's other descriptors, so that the
 * agent's terminal and pipes do not stay open. */
static void close_others(struct tls_process *p)
{
	int sock = fcntl(p->sock, F_DUPFD_CLOEXEC, 5);
	int broker = fcntl(p->broker, F_DUPFD_CLOEXEC, 5);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			_exit(1);
	if (sock < 0 || broker < 0 || dup2(sock, 3) < 0 || dup2(broker, 4) < 0)
		_exit(1);
	close_range(5, ~0u, 0);
	p->sock = 3;
	p->broker = 4;
}

static int confine(struct err *err)
{
	struct landlock_tree none[1] = {{.path = NULL}};
	const struct landlock_spec nothing = {.trees = none, .agent = true};
	int r = landlock_abi() > 0 ? landlock_restrict(&nothing, err) : 0;

	return r < 0 ? r : confine_server(err);
}

static NORETURN void be_tls(struct tls_process *p, const char *roots)
{
	AUTO_FREE char *pem = NULL;
	struct err err = {0};
	char words[sizeof(err.text) + 1];
	const char *first;
	int r;

	prctl(PR_SET_NAME, "cordon-tls");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	os_signals_usual();
	signal(SIGPIPE, SIG_IGN);
	close_others(p);
	r = openssl_open(&err);
	if (r == 0)
		r = confine(&err);
	if (r == 0)
		r = tls_make_contexts(p, roots, &pem, &err);
	if (r == 0 && (r = net_filter_tls()) < 0)
		err_set(&err, r, "confine the TLS process");
	snprintf(words, sizeof(words), " %s", err.text);
	first = pem && r == 0 ? pem : words;
	if (send(p->sock, first, strlen(first), MSG_NOSIGNAL) < 0 || r < 0)
		_exit(1);
	tls_run(p);
}

/* ---- the keeper ------------------------------------------------------------------------------ */

/* Reads the authorities that the user's own programs trust. */
static int read_roots(char **ret, const struct spawn_spec *spec, struct err *err)
{
	const char *named = getenv("SSL_CERT_FILE");
	const char *const places[] = {named && *named == '/' ? named : "",
				      "/etc/ssl/certs/ca-certificates.crt",
				      "/etc/pki/tls/certs/ca-bundle.crt",
				      "/etc/ssl/ca-bundle.pem",
				      "/etc/ssl/cert.pem",
				      "/usr/lib/ssl/cert.pem",
				      "/usr/local/ssl/cert.pem"};
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		AUTO_FREE char *real = *places[i] ? realpath(places[i], NULL) : NULL;
		AUTO_CLOSE int fd = real ? open(real, O_RDONLY | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		for (size_t f = 0; spec->folders[f]; f++)
			if (path_is_beneath(real, spec->folders[f]))
				return err_say(err, -EPERM,
					       "network.secret: %s lies in a working folder, where "
					       "the agent writes: set SSL_CERT_FILE to another",
					       real);
		if (io_read_all(fd, ROOTS_MAX, ret, &len) == 0 && *ret)
			return 0;
	}
	return err_say(err, -ENOENT,
		       "network.secret: no list of the system's authorities: install "
		       "ca-certificates, or set SSL_CERT_FILE");
}

static int write_file(struct tls *t, const char *path, const char *roots, const char *pem,
		      struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r = fd < 0 ? -errno : 0;

	if (r == 0) {
		t->file = xstrdup(path);
		r = io_write_all(fd, roots, strlen(roots));
	}
	if (r == 0)
		r = io_write_all(fd, "\n", 1);
	if (r == 0)
		r = io_write_all(fd, pem, strlen(pem));
	return r < 0 ? err_set(err, r, "write %s", path) : 0;
}

static int hear_authority(struct tls *t, char *pem, struct err *err)
{
	const struct timeval most = {.tv_sec = START_S};
	ssize_t n;

	setsockopt(t->sock, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	do
		n = recv(t->sock, pem, TLS_PEM_MAX - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return err_say(err, -EPIPE, "network.secret: the TLS process does not start");
	pem[n] = '\0';
	return *pem == ' ' ? err_say(err, -EIO, "%s", pem + 1) : 0;
}

static int fork_process(struct tls *t, const struct spawn_spec *spec, const char *roots,
			struct err *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "socket to the TLS process");
	t->sock = fds[0];
	t->pid = fork();
	if (t->pid == 0) {
		struct tls_process *p = xcalloc(1, sizeof(*p));

		p->secrets = spec->secrets;
		p->sock = fds[1];
		p->broker = spec->secrets_sock;
		be_tls(p, roots);
	}
	close(fds[1]);
	return t->pid < 0 ? err_set(err, -errno, "fork the TLS process") : 0;
}

int tls_start(struct tls **ret, const struct spawn_spec *spec, struct err *err)
{
	AUTO_FREE char *roots = NULL;
	AUTO_FREE char *pem = xmalloc(TLS_PEM_MAX);
	struct tls *t = xcalloc(1, sizeof(*t));
	int r;

	t->sock = -1;
	r = read_roots(&roots, spec, err);
	if (r == 0 && roots)
		r = fork_process(t, spec, roots, err);
	if (r == 0)
		r = hear_authority(t, pem, err);
	if (r == 0 && roots)
		r = write_file(t, spec->ca, roots, pem, err);
	if (r < 0) {
		tls_free(t);
		return r;
	}
	io_set_nonblock(t->sock, true); /* the relay must not block */
	*ret = t;
	return 0;
}

void tls_shown(struct tls *t)
{
	if (!t || !t->file)
		return;
	unlink(t->file);
	free(take_ptr(&t->file));
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	tls_shown(t);
	util_close_fd(&t->sock);
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	free(t);
}

int tls_socket(const struct tls *t)
{
	return t ? t->sock : -1;
}

/* ---- the relay ------------------------------------------------------------------------------- */

/* Sends two messages with a descriptor each: the bits with the agent's end, then the host's
 * socket. */
int tls_lead(int sock, uint32_t secrets, int outer)
{
	AUTO_CLOSE int host = outer;
	AUTO_CLOSE int theirs = -1;
	const uint32_t last = 0;
	int fds[2];

	if (sock < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -ECONNREFUSED;
	theirs = fds[1];
	if (io_send_fd(sock, &secrets, sizeof(secrets), theirs) < 0 ||
	    io_send_fd(sock, &last, sizeof(last), host) < 0) {
		close(fds[0]);
		return -ECONNREFUSED;
	}
	return fds[0];
}
