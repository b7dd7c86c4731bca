/* monitor - the process between a terminal and the program that runs in the guest. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/monitor/monitor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/monitor/monitor_priv.h"
#include "backends/vm/monitor/shim_protocol.h"
#include "backends/vm/qemu/qmp.h"
#include "core/base/clock.h"

/* ---- ends ------------------------------------------------------------------------------------ */

void monitor_end_qemu(struct monitor *m)
{
	if (m->qemu <= 0)
		return;
	kill(m->qemu, SIGKILL);
	while (waitpid(m->qemu, NULL, 0) < 0 && errno == EINTR)
		continue;
	m->qemu = 0;
}

/* Sends the error to the keeper, ends QEMU, and exits with this status. */
static NORETURN PRINTF_LIKE(3, 4) void monitor_fail(struct monitor *m, int status, const char *fmt,
						    ...)
{
	struct err err = {.code = -EIO};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, ap);
	va_end(ap);
	monitor_end_qemu(m);
	child_message_fail(m->sock, status, &err);
}

/* Ends as the program has ended, because the caller waits for this process in its place. */
static NORETURN void leave(struct monitor *m)
{
	sigset_t set;

	monitor_end_qemu(m);
	stdio_write_all(m);
	if (m->signal > 0) {
		sigemptyset(&set);
		sigaddset(&set, m->signal);
		signal(m->signal, SIG_DFL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(m->signal);
	}
	_exit(m->signal > 0 ? 128 + m->signal : m->status);
}

static NORETURN void fail_with_words(struct monitor *m, const char *what)
{
	char words[600];

	last_words_format(&m->last, words, sizeof(words));
	monitor_fail(m, 125, "%s%s%s", what, *words ? ": its last words: " : "", words);
}

static void go_down(struct monitor *m)
{
	words_hold(m, false);
	m->phase = DOWN;
	m->deadline = clock_mono_us() + DOWN_US;
	shim_shutdown(&m->control_out);
}

/* ---- the guest ------------------------------------------------------------------------------- */

static void start_program(struct monitor *m)
{
	struct shim_exec e = {.id = JOB,
			      .argv = m->spec->argv,
			      .env = m->spec->env,
			      .cwd = m->spec->cwd,
			      .uid = getuid(),
			      .gid = getgid(),
			      .tty = m->spec->tty,
			      .limits = &m->spec->limits};

	if (m->phase != WAITING || !m->go)
		return;
	stdio_size(m, &e.rows, &e.cols);
	if (shim_exec(&m->control_out, &e) < 0)
		monitor_fail(m, 126, "'%s': its arguments and environment have more than 1 MiB",
			     m->spec->argv[0]);
	m->phase = STARTING;
}

static void fail_exec(struct monitor *m, const struct shim_event *e)
{
	int status = e->status == 127 ? 127 : 126;
	struct err err = {0};

	if (status == 127 && child_message_not_found(m->spec->argv[0], &err) < 0)
		monitor_fail(m, status, "%s", err.text);
	monitor_fail(m, status, "'%s' cannot be executed: %s", m->spec->argv[0], strerror(e->code));
}

static void on_started(struct monitor *m, const struct shim_event *e)
{
	struct note note = {.kind = NOTE_READY};
	struct guest_word agent = {.kind = WORD_AGENT, .pid = e->pid};

	m->phase = RUNNING;
	stdio_starting(m, false);
	words_add(m, &agent, NULL, NULL, 0);
	if (child_message_send(m->sock, &note, NULL, 0) < 0)
		monitor_fail(m, 125, "tell the keeper that the program runs");
}

static void check_drained(struct monitor *m)
{
	if (m->phase == DRAINING && m->tty_got >= m->tty_wanted)
		go_down(m);
}

/* Returns whether the signal ends a process. The guest may report any: this process would stop for
 * ever if it raised SIGSTOP. */
static bool ends_a_process(int sig)
{
	static const int others[] = {SIGSTOP, SIGTSTP, SIGTTIN,	 SIGTTOU,
				     SIGCONT, SIGCHLD, SIGWINCH, SIGURG};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (sig == others[i])
			return false;
	return sig > 0;
}

static void on_completed(struct monitor *m, const struct shim_event *e)
{
	m->status = e->status;
	m->signal = ends_a_process(e->signal) ? e->signal : 0;
	m->tty_wanted = m->spec->tty ? e->n : 0;
	m->phase = DRAINING;
	m->deadline = clock_mono_us() + DRAIN_US;
	check_drained(m);
}

static void on_event(struct monitor *m, const struct shim_event *e)
{
	if (e->kind == SHIM_PROCESS || e->kind == SHIM_EXECS || e->kind == SHIM_IS ||
	    e->kind == SHIM_LEFT || e->kind == SHIM_STEP) {
		words_pass(m, e);
		return;
	}
	if (e->kind == SHIM_READY && m->phase == BOOTING) {
		m->phase = WAITING;
		m->deadline = 0;
		if (e->full)
			words_add(m, &(struct guest_word){.kind = WORD_FULL}, NULL, NULL, 0);
		start_program(m);
	}
	if (e->id != JOB)
		return;
	if (e->kind == SHIM_STARTED && m->phase == STARTING)
		on_started(m, e);
	else if (e->kind == SHIM_FAILED && m->phase == STARTING)
		fail_exec(m, e);
	else if (e->kind == SHIM_OUTPUT && m->phase == RUNNING && !m->spec->tty)
		stdio_add(m, e->to_stderr, e->data, e->len);
	else if (e->kind == SHIM_TAKEN)
		m->ahead -= MIN(m->ahead, (size_t)e->n);
	else if (e->kind == SHIM_COMPLETED && m->phase == RUNNING)
		on_completed(m, e);
}

/* Returns false at the end of the input. */
static bool read_some(int *fd, struct buf *b)
{
	ssize_t n;

	buf_reserve(b, 65536);
	n = read(*fd, b->data + b->len, 65535);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		util_close_fd(fd);
		return false;
	}
	b->len += (size_t)n;
	b->data[b->len] = '\0';
	return true;
}

static void read_control(struct monitor *m)
{
	size_t at = 0;
	char *end;

	read_some(&m->control, &m->control_in);
	while ((end = memchr(m->control_in.data + at, '\n', m->control_in.len - at))) {
		size_t len = (size_t)(end - m->control_in.data) - at;
		struct shim_event e;

		if (shim_parse(&e, m->control_in.data + at, len) < 0)
			monitor_fail(m, 125, "the guest sent an invalid message");
		on_event(m, &e);
		shim_event_done(&e);
		at += len + 1;
	}
	buf_drop_front(&m->control_in, at);
	if (m->control_in.len > SHIM_LINE)
		monitor_fail(m, 125, "the guest sent an invalid message");
}

static void read_tty(struct monitor *m)
{
	AUTO_BUF struct buf b = BUF_INIT;

	read_some(&m->tty, &b);
	if (!b.len || m->phase < STARTING)
		return;
	m->tty_got += (int64_t)b.len;
	if (m->spec->tty)
		stdio_add(m, false, b.data, b.len);
	check_drained(m);
}

/* Handles a state of query-status. In these states the machine never runs again by itself. */
static void on_machine(struct monitor *m, const char *state)
{
	static const char *const dead[] = {"guest-panicked", "internal-error", "io-error",
					   "watchdog"};

	for (size_t i = 0; i < ARRAY_LEN(dead) && m->phase < DOWN; i++)
		if (str_eq(state, dead[i]))
			monitor_fail(m, 125, "the virtual machine cannot go on: QEMU says %s",
				     dead[i]);
	if (str_eq(state, "paused") || str_eq(state, "running"))
		words_stands(m, str_eq(state, "paused"));
}

static void read_qmp(struct monitor *m)
{
	size_t at = 0;
	char *end;

	read_some(&m->qmp, &m->qmp_in);
	while ((end = memchr(m->qmp_in.data + at, '\n', m->qmp_in.len - at))) {
		size_t len = (size_t)(end - m->qmp_in.data) - at;
		struct qmp_message q;

		if (qmp_parse(&q, m->qmp_in.data + at, len) < 0)
			monitor_fail(m, 125, "QEMU sent an invalid message");
		if (q.kind == QMP_GREETING)
			qmp_command(&m->qmp_out, "qmp_capabilities");
		if (q.kind == QMP_EVENT && (str_eq(q.name, "STOP") || str_eq(q.name, "RESUME")))
			qmp_command(&m->qmp_out, "query-status");
		if (q.kind == QMP_RETURN && *q.text)
			on_machine(m, q.text);
		at += len + 1;
	}
	buf_drop_front(&m->qmp_in, at);
	if (m->qmp_in.len > QMP_LINE)
		monitor_fail(m, 125, "QEMU sent an invalid message");
}

static void read_words(struct monitor *m, int *fd)
{
	AUTO_BUF struct buf b = BUF_INIT;

	read_some(fd, &b);
	last_words_add(&m->last, b.data, b.len);
}

static void send_some(int *fd, struct buf *b)
{
	ssize_t n = write(*fd, b->data, b->len);

	if (n > 0)
		buf_drop_front(b, (size_t)n);
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		buf_clear(b); /* its end is detected elsewhere */
}

/* ---- signals and the keeper ------------------------------------------------------------------ */

static void qemu_ended(struct monitor *m, int status)
{
	char what[128];

	m->qemu = 0;
	if (m->phase >= DOWN)
		leave(m);
	/* Its last words may not have been read yet. */
	if (m->console >= 0)
		read_words(m, &m->console);
	if (m->words >= 0)
		read_words(m, &m->words);
	if (WIFSIGNALED(status))
		snprintf(what, sizeof(what), "QEMU was ended by signal %d", WTERMSIG(status));
	else if (m->phase == BOOTING)
		snprintf(what, sizeof(what), "the virtual machine did not start");
	else
		snprintf(what, sizeof(what), "the virtual machine has switched itself off");
	fail_with_words(m, what);
}

static void on_signal(struct monitor *m)
{
	struct signalfd_siginfo info;
	unsigned rows, cols;
	int status;

	if (read(m->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		if (m->qemu > 0 && waitpid(m->qemu, &status, WNOHANG) == m->qemu)
			qemu_ended(m, status);
	} else if (info.ssi_signo == SIGWINCH) {
		stdio_size(m, &rows, &cols);
		if (m->phase == STARTING || m->phase == RUNNING)
			shim_resize(&m->control_out, JOB, rows, cols);
	} else if (m->phase == STARTING || m->phase == RUNNING) {
		words_hold(m, false); /* else the job would wait for the sender of the signal */
		shim_signal(&m->control_out, JOB, (int)info.ssi_signo);
	} else if (m->phase < STARTING) {
		m->signal = (int)info.ssi_signo;
		leave(m);
	}
}

static void on_keeper(struct monitor *m)
{
	struct note note;

	if (child_message_recv(m->sock, &note, NULL, 0) <= 0) {
		monitor_end_qemu(m); /* the keeper has ended */
		_exit(125);
	}
	if (note.kind == NOTE_GO) {
		m->go = true;
		start_program(m);
	} else if (note.kind == NOTE_END && m->phase < DOWN) {
		m->status = 128 + SIGKILL;
		m->end_at = 0; /* go_down() sets a limit of its own */
		go_down(m);
	} else if (note.kind == NOTE_FAILED && m->phase < DOWN && !m->no_files_at) {
		m->no_files_at = clock_mono_us() + NO_FILES_US;
	}
}

static void on_deadline(struct monitor *m)
{
	char what[128];

	if (m->phase == DRAINING) {
		go_down(m);
		return;
	}
	if (m->phase == DOWN) {
		m->phase = QUITTING;
		m->deadline = clock_mono_us() + QUIT_US;
		qmp_command(&m->qmp_out, "quit");
		return;
	}
	if (m->phase == QUITTING)
		leave(m);
	snprintf(what, sizeof(what), "the virtual machine did not start within %d s",
		 m->boot_seconds);
	fail_with_words(m, what);
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum {
	P_SOCK,
	P_SIGNALS,
	P_GUEST_WORDS,
	P_LIFELINE,
	P_CONTROL,
	P_TTY,
	P_QMP,
	P_CONSOLE,
	P_WORDS,
	P_IN,
	P_OUT,
	P_ERR,
	P_COUNT,
};

static short wants(const struct buf *out, bool reads)
{
	return (short)((reads ? POLLIN : 0) | (out && out->len ? POLLOUT : 0));
}

static void prepare(const struct monitor *m, struct pollfd p[P_COUNT])
{
	bool room = m->out[0].len < OUT_MAX && m->out[1].len < OUT_MAX && m->n_unsent < UNSENT_MAX;
	const struct pollfd set[P_COUNT] = {
		[P_SOCK] = {.fd = m->sock, .events = POLLIN},
		[P_GUEST_WORDS] = {.fd = m->guest_words,
				   .events = (short)(POLLIN | (m->unsent ? POLLOUT : 0))},
		[P_SIGNALS] = {.fd = m->signals, .events = POLLIN},
		[P_LIFELINE] = {.fd = m->spec->lifeline > 0 && !m->end_at && m->phase < DOWN
					      ? m->spec->lifeline
					      : -1},
		[P_CONTROL] = {.fd = m->control, .events = wants(&m->control_out, room)},
		[P_TTY] = {.fd = m->tty, .events = wants(&m->tty_out, room)},
		[P_QMP] = {.fd = m->qmp, .events = wants(&m->qmp_out, true)},
		[P_CONSOLE] = {.fd = m->console, .events = POLLIN},
		[P_WORDS] = {.fd = m->words, .events = POLLIN},
		[P_IN] = {.fd = stdio_wants_input(m) ? m->in : -1, .events = POLLIN},
		[P_OUT] = {.fd = m->out[0].len ? 1 : -1, .events = POLLOUT},
		[P_ERR] = {.fd = m->out[1].len ? 2 : -1, .events = POLLOUT},
	};

	memcpy(p, set, sizeof(set));
}

static int wait_ms(const struct monitor *m)
{
	int64_t at = m->deadline, now;

	if (m->end_at && (!at || m->end_at < at))
		at = m->end_at;
	if (m->no_files_at && (!at || m->no_files_at < at))
		at = m->no_files_at;
	if (!at)
		return -1;
	now = clock_mono_us();
	return at > now ? (int)MIN((at - now) / 1000 + 1, 60000) : 0;
}

static void serve_ports(struct monitor *m, const struct pollfd p[P_COUNT])
{
	const short in = POLLIN | POLLHUP | POLLERR;

	if (p[P_CONSOLE].revents & in)
		read_words(m, &m->console);
	if (p[P_WORDS].revents & in)
		read_words(m, &m->words);
	/* The terminal's bytes came before the control port's message that they are complete. */
	if (p[P_TTY].revents & in)
		read_tty(m);
	if (p[P_CONTROL].revents & in)
		read_control(m);
	if (p[P_QMP].revents & in)
		read_qmp(m);
	if (p[P_TTY].revents & POLLOUT)
		send_some(&m->tty, &m->tty_out);
	if (p[P_CONTROL].revents & POLLOUT)
		send_some(&m->control, &m->control_out);
	if (p[P_QMP].revents & POLLOUT)
		send_some(&m->qmp, &m->qmp_out);
}

void monitor_turn(struct monitor *m)
{
	struct pollfd p[P_COUNT];
	int64_t now;

	prepare(m, p);
	if (poll(p, P_COUNT, wait_ms(m)) < 0 && errno != EINTR)
		monitor_fail(m, 125, "poll: %s", strerror(errno));
	if (p[P_LIFELINE].revents)
		m->end_at = clock_mono_us() + LIFELINE_US;
	serve_ports(m, p);
	if (p[P_GUEST_WORDS].revents & POLLOUT)
		words_send(m);
	if (p[P_GUEST_WORDS].revents & (POLLIN | POLLHUP | POLLERR))
		words_read(m);
	if (p[P_IN].revents)
		stdio_read_input(m);
	if (p[P_OUT].revents)
		stdio_write(m, 0);
	if (p[P_ERR].revents)
		stdio_write(m, 1);
	if (p[P_SOCK].revents)
		on_keeper(m);
	if (p[P_SIGNALS].revents)
		on_signal(m);
	now = clock_mono_us();
	if (m->end_at && now >= m->end_at) {
		monitor_end_qemu(m);
		_exit(125);
	}
	if (m->no_files_at && now >= m->no_files_at && m->phase < DOWN)
		monitor_fail(m, 125, "the virtual machine's file server has ended");
	if (m->deadline && now >= m->deadline)
		on_deadline(m);
}
