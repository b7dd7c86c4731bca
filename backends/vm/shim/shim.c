/* shim - pid 1 of the guest: runs commands for the host, and reports their end. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUT_LEN	 (1u << 20)
#define CHUNK	 (32u << 10)
#define TURN_MS	 50  /* of the clock that checks ended jobs */
#define QUIET	 2   /* turns without a byte, after which an open terminal counts as drained */
#define GONE_MAX 100 /* turns after which the host counts as gone */

static struct {
	int control, tty, signals, procs;
	char line[LINE_LEN + 1];
	size_t n_line;
	bool overlong; /* the rest of this line is dropped */
	char out[OUT_LEN];
	size_t n_out;
	char tty_out[CHUNK], tty_in[CHUNK];
	size_t n_tty_out, n_tty_in;
	int gone;
	struct job jobs[JOBS];
} s;

static struct job *job_of(long id)
{
	for (size_t i = 0; i < JOBS; i++)
		if (s.jobs[i].used && s.jobs[i].id == id)
			return &s.jobs[i];
	return NULL;
}

static struct job *tty_job(void)
{
	for (size_t i = 0; i < JOBS; i++)
		if (s.jobs[i].used && s.jobs[i].tty)
			return &s.jobs[i];
	return NULL;
}

static bool room_for(size_t n)
{
	return OUT_LEN - s.n_out >= n;
}

char *shim_room(size_t n)
{
	return room_for(n) ? s.out + s.n_out : NULL;
}

void shim_said(size_t n)
{
	s.n_out += n;
}

void shim_say(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s.out + s.n_out, OUT_LEN - s.n_out, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < OUT_LEN - s.n_out)
		s.n_out += (size_t)n;
}

/* Writes as much of a buffer as possible, and moves the rest to its front. Returns false if the
 * other end is closed. */
static bool flush(int fd, char *data, size_t *len)
{
	ssize_t n = *len ? write(fd, data, *len) : 0;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	memmove(data, data + n, *len - (size_t)n);
	*len -= (size_t)n;
	return true;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void fail(struct job *j, int code)
{
	shim_say("{\"type\":\"exec_failed\",\"id\":%ld,\"status\":%d,\"code\":%d}\n", j->id,
		 code == ENOENT ? 127 : 126, code);
	job_close(j);
}

static void look_at_report(struct job *j)
{
	int code;
	ssize_t n = read(j->report, &code, sizeof(code));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(code)) {
		fail(j, code);
		return;
	}
	close(j->report);
	j->report = -1;
	j->started = true;
	shim_say("{\"type\":\"step_started\",\"id\":%ld,\"pid\":%d}\n", j->id, j->pid);
	procs_tell(j->pid);
}

/* Copies from a pipe to the control port. */
static void pass_output(struct job *j, int *fd, const char *stream)
{
	static unsigned char bytes[CHUNK];
	ssize_t n;

	if (!room_for(OUTPUT_ROOM(CHUNK)))
		return;
	n = read(*fd, bytes, CHUNK);
	if (n > 0) {
		s.n_out += wire_output(s.out + s.n_out, j->id, stream, bytes, (size_t)n);
		j->quiet = 0;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

/* Copies from the terminal to its port. Returns false if no process has the terminal open. */
static bool pass_tty(struct job *j)
{
	ssize_t n;

	if (s.n_tty_out)
		return true;
	n = read(j->out, s.tty_out, CHUNK);
	if (n > 0) {
		s.n_tty_out = (size_t)n;
		j->tty_bytes += n;
		j->quiet = 0;
	}
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

static void pass_input(struct job *j)
{
	size_t before = j->n_input;

	if (!flush(j->in, j->input, &j->n_input)) {
		j->n_input = 0; /* no process reads it: the input counts as taken */
		j->end_input = true;
	}
	if (before > j->n_input)
		shim_say("{\"type\":\"taken\",\"id\":%ld,\"n\":%zu}\n", j->id, before - j->n_input);
	if (j->end_input && !j->n_input) {
		close(j->in);
		j->in = -1;
	}
}

/* Returns whether all output of the job is on its way to the host. */
static bool is_drained(struct job *j)
{
	if (j->tty)
		return !s.n_tty_out && (!pass_tty(j) || (!s.n_tty_out && j->quiet >= QUIET));
	if (j->out >= 0)
		pass_output(j, &j->out, "stdout");
	if (j->err >= 0)
		pass_output(j, &j->err, "stderr");
	return (j->out < 0 && j->err < 0) || j->quiet >= QUIET;
}

static void finish(struct job *j)
{
	int code = WIFSIGNALED(j->status) ? 128 + WTERMSIG(j->status) : WEXITSTATUS(j->status);

	shim_say("{\"type\":\"step_completed\",\"id\":%ld,\"exit_code\":%d,\"signal\":%d,"
		 "\"tty_bytes\":%lld}\n",
		 j->id, code, WIFSIGNALED(j->status) ? WTERMSIG(j->status) : 0, j->tty_bytes);
	job_close(j);
}

static void reap(void)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(s.signals, &info, sizeof(info)) > 0)
		continue;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < JOBS; i++) {
			struct job *j = &s.jobs[i];

			if (j->used && j->pid == pid && !j->ended) {
				j->ended = true;
				j->status = status;
				j->quiet = 0;
			}
		}
	}
}

/* ---- what the host says ---------------------------------------------------------------------- */

static void start(const struct message *m)
{
	struct job *j = NULL;

	for (size_t i = 0; i < JOBS && !j; i++)
		if (!s.jobs[i].used)
			j = &s.jobs[i];
	if (!j || !m->argv || !m->argv[0] || job_of(m->id) || (m->tty && tty_job())) {
		shim_say("{\"type\":\"exec_failed\",\"id\":%ld,\"status\":125,\"code\":%d}\n",
			 m->id, EBUSY);
		return;
	}
	if (m->tty)
		s.n_tty_in = 0; /* input for the job that has ended */
	if (job_start(j, m) < 0)
		fail(j, errno);
}

static void take_input(struct job *j, const struct message *m)
{
	if (j->in < 0) {
		shim_say("{\"type\":\"taken\",\"id\":%ld,\"n\":%zu}\n", j->id, m->data_len);
		return;
	}
	if (m->data && m->data_len <= INPUT - j->n_input) {
		memcpy(j->input + j->n_input, m->data, m->data_len);
		j->n_input += m->data_len;
	}
	j->end_input |= m->end;
	pass_input(j);
}

static void tell_rollback(const struct message *m)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%ld\n", m->step_id);
	int fd = open("/run/cordon/rollbacks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int drop = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	procs_refresh();

	/* Drops cached names and pages, which may differ from the host's. */
	if (drop >= 0 && write(drop, "3", 1) < 0)
		n = 0;
	if (fd >= 0 && n > 0 && write(fd, line, (size_t)n) < 0)
		n = 0;
	if (fd >= 0)
		close(fd);
	if (drop >= 0)
		close(drop);
}

static void shut_down(void)
{
	procs_end_all();
	flush(s.control, s.out, &s.n_out);
	power_off();
}

static void obey(const struct message *m)
{
	struct job *j = job_of(m->id);

	if (strcmp(m->type, "exec") == 0) {
		start(m);
	} else if (strcmp(m->type, "shutdown") == 0) {
		shut_down();
	} else if (strcmp(m->type, "rollback_notify") == 0) {
		tell_rollback(m);
	} else if (strcmp(m->type, "answer") == 0) {
		steps_answer(m);
	} else if (strcmp(m->type, "who") == 0) {
		procs_who((int)m->id);
	} else if (strcmp(m->type, "kill") == 0) {
		procs_kill((int)m->id, (int)m->sig);
	} else if (!j || j->ended) {
		return; /* it has ended meanwhile */
	} else if (strcmp(m->type, "input") == 0) {
		take_input(j, m);
	} else if (strcmp(m->type, "resize") == 0) {
		job_resize(j, m);
	} else if (strcmp(m->type, "signal") == 0) {
		kill(-j->pid, (int)m->sig);
	}
}

static void obey_lines(void)
{
	char *line = s.line, *end;
	struct message m;

	while ((end = memchr(line, '\n', s.n_line - (size_t)(line - s.line)))) {
		*end = '\0';
		if (!s.overlong && wire_parse(&m, line, (size_t)(end - line)))
			obey(&m);
		s.overlong = false;
		line = end + 1;
	}
	s.n_line -= (size_t)(line - s.line);
	memmove(s.line, line, s.n_line);
	if (s.n_line == LINE_LEN) {
		s.overlong = true;
		s.n_line = 0;
	}
}

/* Both return false if the host has hung up. Before the host has connected, read(2) says the
 * same. */
static bool read_control(void)
{
	ssize_t n = read(s.control, s.line + s.n_line, LINE_LEN - s.n_line);

	if (n > 0) {
		s.n_line += (size_t)n;
		obey_lines();
	}
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static bool read_tty(void)
{
	ssize_t n = read(s.tty, s.tty_in + s.n_tty_in, CHUNK - s.n_tty_in);

	s.n_tty_in += n > 0 ? (size_t)n : 0;
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum {
	P_CONTROL,
	P_TTY,
	P_SIGNALS,
	P_PROCS,
	P_STEPS,		       /* the listener, then the callers */
	P_JOBS = P_STEPS + 1 + ASKERS, /* four each: report, in, out, err */
	P_COUNT = P_JOBS + 4 * JOBS,
};

static void watch_job(struct pollfd *p, const struct job *j)
{
	bool room = room_for(OUTPUT_ROOM(CHUNK));
	size_t typed = j->tty ? s.n_tty_in : j->n_input;

	if (!j->used)
		return;
	p[0].fd = j->report;
	if (typed)
		p[1] = (struct pollfd){.fd = j->in, .events = POLLOUT};
	if (!j->ended && (j->tty ? !s.n_tty_out : room)) {
		p[2].fd = j->out;
		p[3].fd = j->err;
	}
}

static void serve_job(const struct pollfd *p, struct job *j)
{
	if (j->used && p[0].revents)
		look_at_report(j);
	if (!j->used)
		return;
	if (p[1].revents && j->tty)
		flush(j->in, s.tty_in, &s.n_tty_in);
	else if (p[1].revents && j->in >= 0)
		pass_input(j);
	if (p[2].revents && j->tty)
		pass_tty(j);
	else if (p[2].revents && j->out >= 0)
		pass_output(j, &j->out, "stdout");
	if (p[3].revents && j->err >= 0)
		pass_output(j, &j->err, "stderr");
}

static void tick(void)
{
	for (size_t i = 0; i < JOBS; i++) {
		struct job *j = &s.jobs[i];

		/* While the host reads slowly a job does not count as quiet, because its next bytes
		 * wait. */
		if (j->tty ? s.n_tty_out > 0 : !room_for(OUTPUT_ROOM(CHUNK)))
			j->quiet = 0;
		else
			j->quiet += j->used && j->ended;
	}
	procs_tick();
	s.gone += s.gone > 0;
	if (s.gone > GONE_MAX)
		power_off();
}

static bool needs_clock(void)
{
	for (size_t i = 0; i < JOBS; i++)
		if (s.jobs[i].used && s.jobs[i].ended)
			return true;
	return s.gone > 0 || procs_want_clock();
}

static void turn(void)
{
	struct pollfd p[P_COUNT];
	bool here = true;
	int n;

	for (size_t i = 0; i < P_COUNT; i++)
		p[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	/* A port without a host is always readable, so the clock checks it. */
	p[P_CONTROL] = (struct pollfd){.fd = s.gone ? -1 : s.control,
				       .events = (short)(POLLIN | (s.n_out ? POLLOUT : 0))};
	p[P_TTY] = (struct pollfd){
		.fd = s.gone ? -1 : s.tty,
		.events = (short)((s.n_tty_in < CHUNK ? POLLIN : 0) | (s.n_tty_out ? POLLOUT : 0))};
	p[P_SIGNALS].fd = s.signals;
	p[P_PROCS].fd = s.procs;
	steps_watch(p + P_STEPS);
	for (size_t i = 0; i < JOBS; i++)
		watch_job(p + P_JOBS + 4 * i, &s.jobs[i]);
	n = poll(p, P_COUNT, needs_clock() ? TURN_MS : -1);
	if (n == 0)
		tick();
	procs_read(); /* before the host's requests, and before processes are reaped */
	reap();
	if (s.gone || p[P_CONTROL].revents & (POLLIN | POLLHUP))
		here = read_control();
	if (p[P_TTY].revents & POLLIN)
		here &= read_tty();
	s.gone = here ? 0 : s.gone ? s.gone : 1;
	steps_serve(p + P_STEPS);
	for (size_t i = 0; i < JOBS; i++)
		serve_job(p + P_JOBS + 4 * i, &s.jobs[i]);
	flush(s.tty, s.tty_out, &s.n_tty_out);
	for (size_t i = 0; i < JOBS; i++)
		if (s.jobs[i].used && s.jobs[i].ended && s.jobs[i].report < 0 &&
		    is_drained(&s.jobs[i]))
			finish(&s.jobs[i]);
	flush(s.control, s.out, &s.n_out);
}

int main(void)
{
	sigset_t set;

	if (getpid() != 1) {
		fprintf(stderr, "this is the first program of cordon's virtual machine\n");
		return 1;
	}
	boot(&s.control, &s.tty);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals < 0)
		die("signalfd");
	procs_open(&s.procs);
	steps_open();
	shim_say("{\"type\":\"ready\",\"full\":%s}\n", image_is_full ? "true" : "false");
	flush(s.control, s.out, &s.n_out);
	for (;;)
		turn();
}
