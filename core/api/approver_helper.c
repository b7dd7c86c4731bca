/* approver_helper - the process that runs approval.command and approval.notify. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/approver_priv.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/external.h"
#include "core/os/process.h"
#include "core/os/socket.h"
#include "core/policy/written.h"

#define JOBS 8 /* commands that answer, and some that are only told */

struct run {
	uint64_t id;
	enum order_what what;
	pid_t pid; /* pid and session of the command; 0: unused */
	int pidfd, out;
	int64_t kill_at; /* monotonic */
	struct outcome said;
};

struct helper {
	const struct helper_spec *spec;
	struct run jobs[JOBS];
};

static void send_outcome(const struct helper *h, const struct outcome *o)
{
	while (send(h->spec->sock, o, sizeof(*o), MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
}

/* ---- one command ----------------------------------------------------------------------------- */

static pid_t start(const struct helper *h, const struct order *o, int in, int out, struct err *err)
{
	bool asks = o->what == ORDER_ASK;
	const char *setting = asks ? "approval.command" : "approval.notify";
	const char *command = asks ? h->spec->command : h->spec->notify;
	int r = external_check(setting, command, err);

	if (r < 0)
		return r;
	return external_start(&(struct external){.setting = setting,
						 .command = command,
						 .in = in,
						 .out = asks ? out : EXTERNAL_NULL,
						 .err = EXTERNAL_NULL,
						 .session = true},
			      err);
}

static void run_start(struct helper *h, struct run *j, const struct order *o, int in)
{
	struct err err = {0};
	int out[2] = {-1, -1};

	*j = (struct run){.id = o->id, .what = (enum order_what)o->what, .pidfd = -1, .out = -1};
	j->said = (struct outcome){.id = o->id, .what = o->what, .status = -1};
	if (pipe2(out, O_CLOEXEC) < 0) {
		err_set(&err, -errno, "make a pipe");
	} else {
		j->out = out[0];
		io_set_nonblock(j->out, true);
		j->pid = start(h, o, in, out[1], &err);
		close(out[1]);
	}
	j->pidfd = j->pid > 0 ? os_process_open(j->pid) : -1;
	if (j->pidfd >= 0) {
		j->kill_at = clock_mono_us() + (int64_t)h->spec->timeout_s * 1000000;
		return;
	}
	if (j->pid > 0) {
		kill(j->pid, SIGKILL);
		waitpid(j->pid, NULL, 0);
	}
	util_close_fd(&j->out);
	j->pid = 0;
	j->said.fault = APPROVER_NOT_STARTED;
	j->said.len = (uint32_t)strlen(err.text);
	memcpy(j->said.text, err.text, j->said.len);
	send_outcome(h, &j->said);
}

static void run_read(struct run *j)
{
	char rest[512];
	size_t room = sizeof(j->said.text) - j->said.len;
	ssize_t n;

	do {
		n = room ? read(j->out, j->said.text + j->said.len, room)
			 : read(j->out, rest, sizeof(rest));
		if (n > 0 && room)
			j->said.len += (uint32_t)n;
		room = sizeof(j->said.text) - j->said.len;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0)
		util_close_fd(&j->out);
}

/* Ends the command and its process group, or records that it has ended. */
static void run_end(struct helper *h, struct run *j, bool kill_it)
{
	int status = 0;

	if (kill_it)
		j->said.fault = APPROVER_LATE;
	if (kill_it && kill(-j->pid, SIGKILL) < 0)
		kill(j->pid, SIGKILL);
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (j->out >= 0)
		run_read(j);
	if (!kill_it && WIFEXITED(status))
		j->said.status = WEXITSTATUS(status);
	if (!kill_it && (!WIFEXITED(status) || WEXITSTATUS(status) >= 126))
		j->said.fault = APPROVER_FAILED;
	if (j->what == ORDER_ASK || j->said.fault)
		send_outcome(h, &j->said);
	util_close_fd(&j->pidfd);
	util_close_fd(&j->out);
	j->pid = 0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static struct run *find_run(struct helper *h, enum order_what what, uint64_t id)
{
	for (size_t i = 0; i < JOBS; i++)
		if (h->jobs[i].pid && h->jobs[i].what == what && h->jobs[i].id == id)
			return &h->jobs[i];
	return NULL;
}

static void obey(struct helper *h, const struct order *o, int in)
{
	struct run *j = find_run(h, ORDER_ASK, o->id);

	if (o->what == ORDER_CANCEL) {
		if (j)
			run_end(h, j, true);
		return;
	}
	for (size_t i = 0; i < JOBS; i++) {
		if (!h->jobs[i].pid) {
			run_start(h, &h->jobs[i], o, in);
			return;
		}
	}
	if (o->what == ORDER_ASK)
		send_outcome(h,
			     &(struct outcome){.id = o->id, .status = -1, .fault = APPROVER_LATE});
}

static int wait_ms(const struct helper *h)
{
	int64_t next = 0;

	for (size_t i = 0; i < JOBS; i++)
		if (h->jobs[i].pid && (!next || h->jobs[i].kill_at < next))
			next = h->jobs[i].kill_at;
	return next ? (int)MAX((int64_t)0, (next - clock_mono_us()) / 1000 + 1) : -1;
}

static bool turn(struct helper *h)
{
	struct pollfd p[1 + 2 * JOBS] = {{.fd = h->spec->sock, .events = POLLIN}};
	AUTO_CLOSE int in = -1;
	struct order o;

	for (size_t i = 0; i < JOBS; i++) {
		bool runs = h->jobs[i].pid != 0;

		p[1 + 2 * i] =
			(struct pollfd){.fd = runs ? h->jobs[i].pidfd : -1, .events = POLLIN};
		p[2 + 2 * i] = (struct pollfd){.fd = runs ? h->jobs[i].out : -1, .events = POLLIN};
	}
	if (poll(p, ARRAY_LEN(p), wait_ms(h)) < 0)
		return errno == EINTR;
	for (size_t i = 0; i < JOBS; i++) {
		struct run *j = &h->jobs[i];

		if (p[2 + 2 * i].revents)
			run_read(j);
		if (p[1 + 2 * i].revents)
			run_end(h, j, false);
		else if (j->pid && j->kill_at <= clock_mono_us())
			run_end(h, j, true);
	}
	if (!p[0].revents)
		return true;
	if (io_recv_fd(h->spec->sock, &o, sizeof(o), &in) != (ssize_t)sizeof(o))
		return false;
	obey(h, &o, in);
	return true;
}

/* Closes all of cordon's descriptors but these; the helper must not write to the user's terminal.
 */
static void close_others(const struct helper_spec *spec)
{
	const int keep[] = {spec->sock, written_fd()};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	io_close_all_but(3, keep, ARRAY_LEN(keep));
}

NORETURN void helper_main(const struct helper_spec *spec)
{
	struct helper h = {.spec = spec};

	setsid();
	os_set_name("cordon-approver");
	close_others(spec);
	while (turn(&h))
		continue;
	for (size_t i = 0; i < JOBS; i++)
		if (h.jobs[i].pid)
			run_end(&h, &h.jobs[i], true);
	_exit(0);
}
