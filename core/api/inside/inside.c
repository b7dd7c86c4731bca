/* inside - the runner: moves jobs' input and output between cordon's socket and their pipes. */
/* SPDX-License-Identifier: MIT */
#include "core/api/inside/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/io.h"
#include "core/os/signals.h"

#define END_TRIES 400 /* 2 s */
#define LEFT_MAX  32  /* outputs of ended jobs that background processes still hold open */

static struct {
	int in, out;	 /* from cordon, to cordon */
	int children;	 /* a signalfd of SIGCHLD */
	size_t n_packet; /* bytes read that are not a whole packet yet */
	struct task *jobs[RUNNER_JOBS];
	int left[LEFT_MAX];
	size_t n_left;
	bool over;
	bool unended; /* a step could not be ended, as a safeguard holds it */
} self;

/* ---- to cordon ------------------------------------------------------------------------------- */

/* Sends a packet. Blocks until there is room: cordon always reads, and credits limit the output. */
static void send_packet(enum runner_type type, uint32_t job, uint32_t a, const void *bytes,
			size_t len)
{
	const struct runner_head head = {
		.type = type, .job = job, .a = a, .len = (uint32_t)MIN(len, (size_t)RUNNER_BYTES)};

	if (io_write_all(self.out, &head, sizeof(head)) < 0 ||
	    io_write_all(self.out, bytes, head.len) < 0)
		self.over = true;
}

static void send_failed(uint32_t job, const struct err *err)
{
	send_packet(RUNNER_FAILED, job, (uint32_t)-err->code, err->text, strlen(err->text));
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static struct task **slot_of(uint32_t id)
{
	for (size_t i = 0; i < RUNNER_JOBS; i++)
		if (self.jobs[i] && self.jobs[i]->id == id)
			return &self.jobs[i];
	return NULL;
}

static struct task *job_of(uint32_t id)
{
	struct task **slot = slot_of(id);

	return slot ? *slot : NULL;
}

static void task_free(struct task *t)
{
	util_close_fd(&t->out[0]);
	util_close_fd(&t->out[1]);
	util_close_fd(&t->in);
	buf_done(&t->input);
	free(t);
}

/* Begins a step. Returns false if another command began one by hand and left it open. */
static bool begin_step(const struct order *o)
{
	AUTO_BUF struct buf answer = BUF_INIT;

	if (self.unended && step_say("ran", "0", &answer, NULL) == 0)
		self.unended = false;
	return step_say(o->flags & RUN_API ? "api" : "run", o->label, &answer, NULL) == 0;
}

/*
 * Ends the step. A step that a safeguard stopped is rolled back shortly after its processes have
 * ended; this reports the end after that, so the client finds the files restored. It does not wait
 * for a step whose question is still open.
 */
static void end_step(struct task *t, int status, struct buf *answer)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	char text[16];

	if (!t->stepped)
		return;
	t->stepped = false;
	snprintf(text, sizeof(text), "%d", util_exit_code(status));
	for (int i = 0; i < END_TRIES; i++) {
		struct err err = {0};

		if (step_say("ran", text, answer, &err) == 0 || !strstr(err.text, "safeguard"))
			return; /* the step has ended, or there is none */
		nanosleep(&nap, NULL);
	}
	self.unended = true;
}

static void run(const struct runner_head *h, char *bytes, size_t len)
{
	AUTO_BUF struct buf unused = BUF_INIT;
	struct task *t = NULL, **slot = NULL;
	struct order o;
	struct err err = {0};
	int r = task_order_parse(&o, h, bytes, len, &err);

	for (size_t i = 0; i < RUNNER_JOBS && !slot; i++)
		if (!self.jobs[i])
			slot = &self.jobs[i];
	if (r == 0 && (!slot || job_of(h->job)))
		r = err_say(&err, -EBUSY, "too many jobs run");
	if (r == 0) {
		t = xcalloc(1, sizeof(*t));
		t->id = h->job;
		t->out[0] = t->out[1] = t->in = -1;
		t->input = (struct buf)BUF_INIT;
		t->stepped = o.flags & RUN_STEP && begin_step(&o);
		r = task_start(t, &o, &err);
	}
	task_order_done(&o);
	if (r == 0 && slot) {
		*slot = t;
		return;
	}
	if (t) {
		end_step(t, 0, &unused);
		task_free(t);
	}
	send_failed(h->job, &err);
}

static void leave_behind(int *fd)
{
	if (*fd >= 0 && self.n_left < LEFT_MAX)
		self.left[self.n_left++] = take_fd(fd);
}

/* Ends a task: sends the output that it wrote. Output that others still write is read and
 * dropped. */
static void finish(struct task **slot)
{
	AUTO_BUF struct buf answer = BUF_INIT;
	struct task *t = take_ptr(slot);

	end_step(t, t->status, &answer);
	send_packet(RUNNER_END, t->id, (uint32_t)t->status, answer.data, answer.len);
	leave_behind(&t->out[0]);
	leave_behind(&t->out[1]);
	task_free(t);
}

static void note_exit(struct task *t, int status)
{
	t->exited = true;
	t->status = status;
	for (int i = 0; i < 2; i++) {
		int n = 0;

		if (t->out[i] >= 0 && ioctl(t->out[i], FIONREAD, &n) == 0 && n > 0)
			t->left[i] = (size_t)n;
	}
}

static void reap(void)
{
	int status;
	pid_t pid;

	while (os_signals_next(self.children))
		continue;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < RUNNER_JOBS; i++)
			if (self.jobs[i] && self.jobs[i]->pid == pid)
				note_exit(self.jobs[i], status);
}

/* ---- output and input ------------------------------------------------------------------------ */

static void read_output(struct task *t, int i)
{
	char bytes[RUNNER_BYTES];
	size_t room = MIN(sizeof(bytes), (size_t)(RUNNER_AHEAD - t->ahead));
	ssize_t n;

	if (t->exited)
		room = MIN(room, t->left[i]);
	if (!room)
		return;
	n = read(t->out[i], bytes, room);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* EIO: the last process that had the terminal open has ended */
		util_close_fd(&t->out[i]);
		t->left[i] = 0;
		return;
	}
	t->ahead += (uint32_t)n;
	if (t->exited)
		t->left[i] -= (size_t)n;
	send_packet(RUNNER_OUT, t->id, (uint32_t)i + 1, bytes, (size_t)n);
}

static void write_input(struct task *t)
{
	ssize_t n = write(t->in, t->input.data, t->input.len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) { /* it reads nothing more */
		n = (ssize_t)t->input.len;
		util_close_fd(&t->in);
	}
	buf_drop_front(&t->input, (size_t)n);
	send_packet(RUNNER_TAKEN, t->id, (uint32_t)n, NULL, 0);
}

/* Ends the input. A terminal has no end of input but the character for it. */
static void end_input(struct task *t)
{
	static const char eot = 4;

	if (t->in < 0 || !t->eof || t->input.len)
		return;
	if (t->tty)
		(void)!write(t->in, &eot, 1);
	else
		util_close_fd(&t->in);
	t->eof = false;
}

static void drain_left(int *fd)
{
	char bytes[RUNNER_BYTES];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		util_close_fd(fd);
}

/* ---- from cordon ----------------------------------------------------------------------------- */

static void take_input(struct task *t, const char *bytes, size_t len)
{
	if (t->in >= 0)
		buf_add(&t->input, bytes, len);
	else
		send_packet(RUNNER_TAKEN, t->id, (uint32_t)len, NULL, 0);
}

static void obey(const struct runner_head *h, char *bytes, size_t len)
{
	struct task *t = job_of(h->job);

	if (h->type == RUNNER_RUN)
		run(h, bytes, len);
	if (!t)
		return;
	switch ((int)h->type) {
	case RUNNER_INPUT:
		take_input(t, bytes, len);
		break;
	case RUNNER_EOF:
		t->eof = true;
		break;
	case RUNNER_RESIZE:
		if (t->tty)
			task_resize(t, h->b >> 16, h->b & 0xffff);
		break;
	case RUNNER_SIGNAL:
		/* The process may not have made its group yet. */
		if (!t->exited && h->a < NSIG && kill(-t->pid, (int)h->a) < 0)
			kill(t->pid, (int)h->a);
		break;
	case RUNNER_CREDIT:
		t->ahead -= MIN(t->ahead, h->a);
		break;
	default:
		break;
	}
}

/* Reads from cordon, after poll(2) has reported input. */
static void receive(void)
{
	static char packets[sizeof(struct runner_head) + RUNNER_SPEC];
	struct runner_head h;
	size_t at = 0;
	ssize_t n = read(self.in, packets + self.n_packet, sizeof(packets) - self.n_packet);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	self.n_packet += (size_t)MAX(n, 0);
	while (self.n_packet - at >= sizeof(h)) {
		memcpy(&h, packets + at, sizeof(h));
		if (h.len > RUNNER_SPEC)
			n = 0;
		if (self.n_packet - at - sizeof(h) < h.len)
			break;
		obey(&h, packets + at + sizeof(h), h.len);
		at += sizeof(h) + h.len;
	}
	self.n_packet -= at;
	memmove(packets, packets + at, self.n_packet);
	self.over |= n <= 0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

struct polled {
	struct pollfd p[2 + 3 * RUNNER_JOBS + LEFT_MAX];
	struct task *task[2 + 3 * RUNNER_JOBS + LEFT_MAX];
	int end[2 + 3 * RUNNER_JOBS + LEFT_MAX]; /* 0, 1: of its output; 2: input; 3: left open */
	nfds_t n;
};

static void add(struct polled *set, int fd, short events, struct task *t, int end)
{
	set->p[set->n] = (struct pollfd){.fd = fd, .events = events};
	set->task[set->n] = t;
	set->end[set->n++] = end;
}

static bool wants_output(const struct task *t, int i)
{
	return t->out[i] >= 0 && t->ahead < RUNNER_AHEAD && (!t->exited || t->left[i]);
}

static void collect(struct polled *set)
{
	set->n = 0;
	add(set, self.in, POLLIN, NULL, 0);
	add(set, self.children, POLLIN, NULL, 0);
	for (size_t k = 0; k < RUNNER_JOBS; k++) {
		struct task *t = self.jobs[k];

		if (!t)
			continue;
		for (int i = 0; i < 2; i++)
			if (wants_output(t, i))
				add(set, t->out[i], POLLIN, t, i);
		if (t->in >= 0 && t->input.len)
			add(set, t->in, POLLOUT, t, 2);
	}
	for (size_t i = 0; i < self.n_left; i++)
		add(set, self.left[i], POLLIN, NULL, 3);
}

static void serve(struct polled *set)
{
	size_t kept = 0;

	for (nfds_t i = 2; i < set->n; i++) {
		if (!set->p[i].revents)
			continue;
		if (set->end[i] == 3)
			drain_left(&self.left[i - (set->n - self.n_left)]);
		else if (set->end[i] == 2)
			write_input(set->task[i]);
		else
			read_output(set->task[i], set->end[i]);
	}
	for (size_t i = 0; i < self.n_left; i++)
		if (self.left[i] >= 0)
			self.left[kept++] = self.left[i];
	self.n_left = kept;
	if (set->p[0].revents)
		receive();
	if (set->p[1].revents)
		reap();
	for (size_t k = 0; k < RUNNER_JOBS; k++) {
		struct task *t = self.jobs[k];

		if (t)
			end_input(t);
		if (t && t->exited && !t->left[0] && !t->left[1])
			finish(&self.jobs[k]);
	}
}

static int open_children(void)
{
	const sigset_t set = os_signals_block((const int[]){SIGCHLD, 0}, NULL);

	return os_signals_open(&set);
}

static bool is_channel(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode));
}

int inside_main(void)
{
	static struct polled set;

	if (!is_channel(0) || !is_channel(1))
		return 2;
	self.in = fcntl(0, F_DUPFD_CLOEXEC, 3);
	self.out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	self.children = open_children();
	signal(SIGPIPE, SIG_IGN);
	while (!self.over && self.in >= 0 && self.out >= 0 && self.children >= 0) {
		collect(&set);
		if (poll(set.p, set.n, -1) < 0 && errno != EINTR)
			break;
		serve(&set);
	}
	for (size_t k = 0; k < RUNNER_JOBS; k++)
		if (self.jobs[k])
			kill(-self.jobs[k]->pid, SIGKILL);
	return 0;
}
