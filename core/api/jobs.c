/* jobs - what front ends run inside a session: the queue, and the runner's socket. */
/* SPDX-License-Identifier: MIT */
#include "core/api/jobs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "core/base/log.h"

#define KILL_MS 2000 /* from SIGTERM to SIGKILL */

struct packet {
	struct packet *next;
	size_t len, at; /* at: so many bytes of it were taken */
	char data[];
};

struct job {
	struct job *next;
	uint32_t id;
	bool command;		   /* else something of a front end's own */
	bool queued, alone, input; /* input: a pipe or a terminal is there for it */
	bool cancelled, timed_out;
	size_t waiting; /* bytes of input that it has not read */
	const struct job_listener *on;
	void *data;
	struct buf order; /* queued: RUNNER_RUN */
	uint32_t timeout_ms;
	uv_timer_t timer; /* data is the job */
	struct jobs *jobs;
	bool gone; /* ended; freed with its timer */
};

struct jobs {
	int sock;
	bool broken;	/* the runner has gone */
	uv_poll_t poll; /* data is the jobs */
	uv_loop_t *loop;
	struct job *list;    /* in the order in which they were asked for */
	struct packet *out;  /* what the socket did not take yet */
	uint32_t last, busy; /* busy: the one that runs alone */
	size_t n_queued, n_running;
	bool closed;
	size_t n_in;
	char in[sizeof(struct runner_head) + RUNNER_BYTES + 1]; /* 1: for a NUL */
};

/* ---- the socket ------------------------------------------------------------------------------ */

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(struct jobs *j)
{
	if (!j->closed && !j->broken)
		uv_poll_start(&j->poll, UV_READABLE | (j->out ? UV_WRITABLE : 0), on_ready);
}

static void flush(struct jobs *j)
{
	while (j->out) {
		struct packet *p = j->out;
		ssize_t n =
			send(j->sock, p->data + p->at, p->len - p->at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		p->at += (size_t)MAX(n, 0);
		if (n >= 0 && p->at < p->len)
			break;
		LL_DELETE(j->out, p); /* a runner that is gone shows when it is read from */
		free(p);
	}
	watch(j);
}

static void send_packet(struct jobs *j, const struct runner_head *h, const void *bytes, size_t len)
{
	struct packet *p = xmalloc(sizeof(*p) + sizeof(*h) + len);
	struct runner_head head = *h;

	head.len = (uint32_t)len;
	p->len = sizeof(head) + len;
	p->at = 0;
	memcpy(p->data, &head, sizeof(head));
	if (len)
		memcpy(p->data + sizeof(head), bytes, len);
	LL_APPEND(j->out, p);
	flush(j);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static struct job *find(const struct jobs *j, uint32_t id)
{
	struct job *job;

	for (job = j->list; job; job = job->next)
		if (job->id == id && !job->gone)
			return job;
	return NULL;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct job *job = handle->data;

	buf_done(&job->order);
	free(job);
}

static void on_timer(uv_timer_t *timer)
{
	struct job *job = timer->data;

	if (job->gone)
		return;
	if (job->cancelled) {
		(void)!jobs_signal(job->jobs, job->id, SIGKILL);
		return;
	}
	job->timed_out = true;
	(void)!jobs_cancel(job->jobs, job->id);
}

static void begin(struct jobs *j, struct job *job)
{
	struct runner_head h;

	j->n_running++;
	if (job->alone)
		j->busy = job->id;
	job->queued = false;
	if (job->timeout_ms)
		uv_timer_start(&job->timer, on_timer, job->timeout_ms, 0);
	memcpy(&h, job->order.data, sizeof(h));
	send_packet(j, &h, job->order.data + sizeof(h), job->order.len - sizeof(h));
	buf_clear(&job->order);
}

static void next_one(struct jobs *j)
{
	struct job *job;

	if (j->busy || j->closed || j->broken)
		return;
	for (job = j->list; job; job = job->next) {
		if (!job->queued || job->gone)
			continue;
		j->n_queued--;
		begin(j, job);
		if (job->on && job->on->began)
			job->on->began(job->data, job->id);
		return;
	}
}

static void end(struct jobs *j, struct job *job, struct job_result *r)
{
	if (job->queued)
		j->n_queued--;
	else
		j->n_running--;
	if (j->busy == job->id)
		j->busy = 0;
	r->cancelled = job->cancelled;
	r->timed_out = job->timed_out;
	job->gone = true;
	LL_DELETE(j->list, job);
	if (job->on)
		job->on->ended(job->data, job->id, r);
	uv_close((uv_handle_t *)&job->timer, on_timer_closed);
	next_one(j);
}

static void end_all(struct jobs *j)
{
	while (j->list)
		end(j, j->list,
		    &(struct job_result){.error = -EPIPE, .words = "the session has ended"});
}

/* ---- from the runner ------------------------------------------------------------------------- */

/* "step 7: 3 paths", or words that nothing was changed. */
static void read_step(struct job_result *r, const char *text)
{
	long long step = 0;
	size_t paths = 0;

	if (sscanf(text, "step %lld: %zu path", &step, &paths) == 2 && step > 0) {
		r->step = step;
		r->paths = paths;
	}
}

static void on_packet(struct jobs *j, const struct runner_head *h, const char *bytes, size_t len)
{
	struct job *job = find(j, h->job);
	struct job_result r = {.words = ""};

	if (!job || job->queued)
		return;
	switch ((int)h->type) {
	case RUNNER_OUT:
		if (job->on && len)
			job->on->output(job->data, job->id, h->a == 2 ? 2 : 1, bytes, len);
		else
			jobs_took(j, job->id, len);
		break;
	case RUNNER_TAKEN:
		job->waiting -= MIN(job->waiting, (size_t)h->a);
		break;
	case RUNNER_END:
		r.wait_status = (int)h->a;
		read_step(&r, bytes);
		end(j, job, &r);
		break;
	case RUNNER_FAILED:
		r.error = h->a > 0 && h->a < 4096 ? -(int)h->a : -EIO;
		r.words = bytes;
		end(j, job, &r);
		break;
	default:
		break;
	}
}

/* The whole ones that have come. False: what came is none. */
static bool take_packets(struct jobs *j)
{
	struct runner_head h;
	size_t at = 0;

	while (!j->closed && j->n_in - at >= sizeof(h)) {
		char *bytes = j->in + at + sizeof(h), first;

		memcpy(&h, j->in + at, sizeof(h));
		if (h.len > RUNNER_BYTES)
			return false;
		if (j->n_in - at - sizeof(h) < h.len)
			break;
		first = bytes[h.len]; /* of the next one, or of nothing */
		bytes[h.len] = '\0';
		on_packet(j, &h, bytes, h.len);
		bytes[h.len] = first;
		at += sizeof(h) + h.len;
	}
	j->n_in -= at;
	memmove(j->in, j->in + at, j->n_in);
	return true;
}

static void read_packets(struct jobs *j)
{
	for (int i = 0; i < 64 && !j->closed; i++) {
		ssize_t n =
			recv(j->sock, j->in + j->n_in, sizeof(j->in) - 1 - j->n_in, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		j->n_in += (size_t)MAX(n, 0);
		if (n <= 0 || !take_packets(j)) {
			j->broken = true;
			uv_poll_stop(&j->poll);
			end_all(j);
			return;
		}
	}
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct jobs *j = poll->data;

	if (status < 0 || events & UV_READABLE)
		read_packets(j);
	if (!j->closed && events & UV_WRITABLE)
		flush(j);
}

/* ---- from the front ends --------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *s)
{
	buf_add(out, s, strlen(s) + 1);
}

/* The packet: head and all. */
static void make_order(struct buf *out, uint32_t id, const struct job_spec *spec)
{
	const struct runner_head h = {.type = RUNNER_RUN,
				      .job = id,
				      .a = spec->flags,
				      .b = (spec->columns & 0xffff) << 16 | (spec->rows & 0xffff)};
	char count[24];
	size_t n = 0;

	while (spec->env && spec->env[n])
		n++;
	snprintf(count, sizeof(count), "%zu", n);
	buf_add(out, &h, sizeof(h));
	add_text(out, spec->label);
	add_text(out, spec->cwd);
	add_text(out, count);
	for (size_t i = 0; i < n; i++)
		add_text(out, spec->env[i]);
	for (size_t i = 0; spec->argv[i]; i++)
		add_text(out, spec->argv[i]);
}

static int check(const struct jobs *j, const struct job_spec *spec, const struct buf *order,
		 struct err *err)
{
	if (j->closed || j->broken)
		return err_say(err, -EPIPE, "the session has ended");
	if (order->len - sizeof(struct runner_head) > RUNNER_SPEC)
		return err_say(err, -E2BIG, "the command is longer than %d bytes", RUNNER_SPEC);
	if (spec->alone && j->busy && spec->refuse)
		return err_say(err, -EBUSY, "another command runs");
	if (spec->alone && j->busy && j->n_queued >= JOBS_QUEUED)
		return err_say(err, -EBUSY, "%d commands wait already", JOBS_QUEUED);
	if (!spec->alone && j->n_running >= RUNNER_JOBS - 1) /* a command always finds a place */
		return err_say(err, -EBUSY, "too many jobs run");
	return 0;
}

uint32_t jobs_run(struct jobs *j, const struct job_spec *spec, const struct job_listener *on,
		  void *data, struct err *err)
{
	AUTO_BUF struct buf order = BUF_INIT;
	struct job *job;

	make_order(&order, j->last + 1, spec);
	if (check(j, spec, &order, err) < 0)
		return 0;
	job = xcalloc(1, sizeof(*job));
	job->id = ++j->last;
	job->jobs = j;
	job->on = on;
	job->data = data;
	job->alone = spec->alone;
	job->command = spec->flags & RUN_STEP && !(spec->flags & RUN_API);
	job->input = spec->flags & (RUN_INPUT | RUN_TTY);
	job->timeout_ms = spec->timeout_ms;
	job->order = order;
	order = (struct buf)BUF_INIT;
	job->timer.data = job;
	uv_timer_init(j->loop, &job->timer);
	LL_APPEND(j->list, job);
	if (job->alone && j->busy) {
		job->queued = true;
		j->n_queued++;
	} else {
		begin(j, job);
	}
	return job->id;
}

int jobs_input(struct jobs *j, uint32_t id, const char *bytes, size_t len)
{
	struct job *job = find(j, id);

	if (!job)
		return -ESRCH;
	if (!job->input || job->queued)
		return -EPIPE;
	if (job->waiting + len > JOBS_INPUT)
		return -EAGAIN;
	job->waiting += len;
	for (size_t at = 0; at < len;) {
		size_t n = MIN(len - at, (size_t)RUNNER_BYTES);

		send_packet(j, &(struct runner_head){.type = RUNNER_INPUT, .job = id}, bytes + at,
			    n);
		at += n;
	}
	return 0;
}

/* 0: it runs. */
static int tell(struct jobs *j, uint32_t id, struct runner_head h)
{
	const struct job *job = find(j, id);

	if (!job)
		return -ESRCH;
	if (job->queued)
		return -EPIPE;
	h.job = id;
	send_packet(j, &h, NULL, 0);
	return 0;
}

int jobs_end_input(struct jobs *j, uint32_t id)
{
	return tell(j, id, (struct runner_head){.type = RUNNER_EOF});
}

int jobs_resize(struct jobs *j, uint32_t id, unsigned columns, unsigned rows)
{
	return tell(j, id,
		    (struct runner_head){.type = RUNNER_RESIZE,
					 .b = (columns & 0xffff) << 16 | (rows & 0xffff)});
}

int jobs_signal(struct jobs *j, uint32_t id, int sig)
{
	return tell(j, id, (struct runner_head){.type = RUNNER_SIGNAL, .a = (uint32_t)sig});
}

int jobs_cancel(struct jobs *j, uint32_t id)
{
	struct job *job = find(j, id);

	if (!job)
		return -ESRCH;
	job->cancelled = true;
	if (job->queued) {
		end(j, job, &(struct job_result){.error = -ECANCELED, .words = "cancelled"});
		return 0;
	}
	uv_timer_start(&job->timer, on_timer, KILL_MS, 0);
	return jobs_signal(j, id, SIGTERM);
}

void jobs_took(struct jobs *j, uint32_t id, size_t bytes)
{
	if (bytes && find(j, id))
		send_packet(j,
			    &(struct runner_head){
				    .type = RUNNER_CREDIT, .job = id, .a = (uint32_t)bytes},
			    NULL, 0);
}

bool jobs_waits(const struct jobs *j, uint32_t id)
{
	const struct job *job = find(j, id);

	return job && job->queued;
}

bool jobs_command_runs(const struct jobs *j)
{
	const struct job *job = j->busy ? find(j, j->busy) : NULL;

	return job && job->command;
}

uint32_t jobs_running(const struct jobs *j, size_t *ret_queued)
{
	*ret_queued = j->n_queued;
	return j->busy;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct jobs *jobs_open(uv_loop_t *loop, int sock)
{
	struct jobs *j = xcalloc(1, sizeof(*j));

	j->loop = loop;
	j->sock = sock;
	j->poll.data = j;
	uv_poll_init(loop, &j->poll, sock);
	watch(j);
	return j;
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct jobs *j = handle->data;

	close(j->sock);
	free(j);
}

void jobs_close(struct jobs *j)
{
	struct packet *p, *next;

	if (!j || j->closed)
		return;
	j->closed = true;
	end_all(j);
	for (p = j->out; p && (next = p->next, true); p = next)
		free(p);
	j->out = NULL;
	uv_close((uv_handle_t *)&j->poll, on_poll_closed);
}
