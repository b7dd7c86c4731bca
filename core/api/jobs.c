/* jobs - the commands and writes that front ends run inside a session: their queue. */
/* SPDX-License-Identifier: MIT */
#include "core/api/jobs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

#include "core/api/runner_link.h"

#define KILL_MS 2000 /* from SIGTERM to SIGKILL */

struct job {
	struct job *prev, *next;
	uint32_t id;
	bool command;		   /* a command; else a job of the front end itself */
	bool write;		   /* runs alone, unless a command runs, which has its changes */
	bool queued, alone, input; /* input: it has a pipe or a terminal */
	bool cancelled, timed_out;
	bool ended;	 /* queued: its input ends after `held` */
	struct buf held; /* queued: its input */
	size_t waiting;	 /* bytes of input that it has not read, with the held ones */
	char *label;
	const struct job_listener *on;
	void *data;
	struct buf order; /* queued: RUNNER_RUN */
	uint32_t timeout_ms;
	uv_timer_t timer; /* data is the job */
	struct jobs *jobs;
	bool gone; /* ended; freed with its timer */
};

struct jobs {
	struct runner_link link; /* first */
	uv_loop_t *loop;
	void (*settle)(void *data);
	void *data;
	struct job *list;		     /* in the order of the requests */
	uint32_t last, busy;		     /* busy: the job that runs alone */
	size_t n_queued, n_alone, n_running; /* n_alone: queued jobs that run alone */
	size_t n_held;			     /* bytes of input of queued jobs */
	bool paused;
};

static void send_input(struct jobs *j, uint32_t id, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = MIN(len - at, (size_t)RUNNER_BYTES);

		runner_link_send(&j->link, &(struct runner_head){.type = RUNNER_INPUT, .job = id},
				 bytes + at, n);
		at += n;
	}
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
	buf_done(&job->held);
	free(job->label);
	free(job);
}

static void end(struct jobs *j, struct job *job, struct job_result *r);

/* Ends a job that has waited for its turn too long. */
static void give_up(struct job *job)
{
	const struct job *busy = find(job->jobs, job->jobs->busy);
	AUTO_FREE char *words =
		xasprintf("'%.200s' still runs, or waits for an answer: answer or cancel it, then "
			  "try again",
			  busy ? busy->label : "another request");

	job->timed_out = true;
	end(job->jobs, job, &(struct job_result){.error = -EBUSY, .words = words});
}

static void on_timer(uv_timer_t *timer)
{
	struct job *job = timer->data;

	if (job->gone)
		return;
	if (job->queued) {
		give_up(job);
		return;
	}
	if (job->cancelled) {
		(void)!jobs_signal(job->jobs, job->id, SIGKILL);
		return;
	}
	job->timed_out = true;
	(void)!jobs_cancel(job->jobs, job->id);
}

static bool may_begin(const struct jobs *j, const struct job *job)
{
	if (job->alone)
		return !j->busy;
	if (j->paused || j->n_running - (j->busy != 0) >= RUNNER_JOBS - 1)
		return false;
	return !job->write || !j->busy || jobs_command_runs(j);
}

/* Begins the job, and sends it the input that came while it waited. */
static void begin(struct jobs *j, struct job *job)
{
	struct runner_head h;

	j->n_running++;
	job->alone = job->alone || (job->write && !j->busy);
	if (job->alone)
		j->busy = job->id;
	job->queued = false;
	uv_timer_stop(&job->timer);
	if (job->timeout_ms)
		uv_timer_start(&job->timer, on_timer, job->timeout_ms, 0);
	memcpy(&h, job->order.data, sizeof(h));
	runner_link_send(&j->link, &h, job->order.data + sizeof(h), job->order.len - sizeof(h));
	send_input(j, job->id, job->held.data, job->held.len);
	if (job->ended)
		runner_link_send(&j->link,
				 &(struct runner_head){.type = RUNNER_EOF, .job = job->id}, NULL,
				 0);
	buf_done(&job->order);
	buf_done(&job->held);
	job->order = job->held = (struct buf)BUF_INIT;
}

static void leave_queue(struct jobs *j, const struct job *job)
{
	j->n_queued--;
	j->n_alone -= job->alone;
	j->n_held -= job->held.len;
}

/* Begins queued jobs in their order, except those that must wait longer. */
static void begin_next(struct jobs *j)
{
	struct job *job, *next;
	bool room = true;

	if (j->link.closed || j->link.broken)
		return;
	for (job = j->list; job && j->n_queued && (room || (!j->busy && j->n_alone)); job = next) {
		next = job->next;
		if (!job->queued || job->gone)
			continue;
		if (!may_begin(j, job)) {
			room = room && (job->alone || job->write);
			continue;
		}
		leave_queue(j, job);
		begin(j, job);
		if (job->on && job->on->began)
			job->on->began(job->data, job->id);
	}
}

static void end(struct jobs *j, struct job *job, struct job_result *r)
{
	if (job->queued)
		leave_queue(j, job);
	else
		j->n_running--;
	if (j->busy == job->id)
		j->busy = 0;
	r->cancelled = job->cancelled;
	r->timed_out = job->timed_out;
	job->gone = true;
	DL_DELETE(j->list, job);
	if (job->on)
		job->on->ended(job->data, job->id, r);
	uv_close((uv_handle_t *)&job->timer, on_timer_closed);
	begin_next(j);
}

static void end_all(struct jobs *j)
{
	while (j->list)
		end(j, j->list,
		    &(struct job_result){.error = -EPIPE, .words = "the session has ended"});
}

/* ---- from the runner ------------------------------------------------------------------------- */

/* Reads "step 7: 3 paths", or words that nothing was changed. */
static void read_step(struct job_result *r, const char *text)
{
	long long step = 0;
	size_t paths = 0;

	if (sscanf(text, "step %lld: %zu path", &step, &paths) == 2 && step > 0) {
		r->step = step;
		r->paths = paths;
	}
}

static void on_packet(struct runner_link *link, const struct runner_head *h, const char *bytes)
{
	struct jobs *j = (struct jobs *)link;
	size_t len = h->len;
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
		j->settle(j->data);
		job = find(j, h->job); /* a listener may have cancelled it, or closed all */
		if (!job)
			break;
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

static void on_gone(struct runner_link *link)
{
	end_all((struct jobs *)link);
}

static void free_it(struct runner_link *link)
{
	free(link);
}

/* ---- from the front ends --------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *s)
{
	buf_add(out, s, strlen(s) + 1);
}

/* Makes the packet, with its head. */
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
	if (j->link.closed || j->link.broken)
		return err_say(err, -EPIPE, "the session has ended");
	if (order->len - sizeof(struct runner_head) > RUNNER_SPEC)
		return err_say(err, -E2BIG, "the command is longer than %d bytes", RUNNER_SPEC);
	if (spec->refuse && j->busy)
		return err_say(err, -EBUSY, "another command runs");
	if (j->n_queued >= JOBS_QUEUED)
		return err_say(err, -EBUSY, "%d requests wait already: try again when one is done",
			       JOBS_QUEUED);
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
	job->write = spec->flags & RUN_API;
	job->command = spec->flags & RUN_STEP && !job->write;
	/* Each write is its own step, and waits for its turn. */
	job->alone = job->command || (job->write && !jobs_command_runs(j));
	job->input = spec->flags & (RUN_INPUT | RUN_TTY);
	job->ended = spec->flags & RUN_INPUT && spec->input;
	job->timeout_ms = spec->timeout_ms;
	job->label = xstrdup(spec->label);
	job->order = order;
	job->held = order = (struct buf)BUF_INIT;
	if (spec->input)
		buf_add(&job->held, spec->input, spec->input_len);
	job->waiting = job->held.len;
	job->timer.data = job;
	uv_timer_init(j->loop, &job->timer);
	DL_APPEND(j->list, job);
	if (may_begin(j, job)) {
		begin(j, job);
		return job->id;
	}
	job->queued = true;
	j->n_queued++;
	j->n_alone += job->alone;
	j->n_held += job->held.len;
	if (spec->wait_ms)
		uv_timer_start(&job->timer, on_timer, spec->wait_ms, 0);
	return job->id;
}

int jobs_input(struct jobs *j, uint32_t id, const char *bytes, size_t len)
{
	struct job *job = find(j, id);

	if (!job)
		return -ESRCH;
	if (!job->input || job->ended)
		return -EPIPE;
	if (job->waiting + len > JOBS_INPUT || (job->queued && j->n_held + len > JOBS_HELD))
		return -EAGAIN;
	job->waiting += len;
	if (!job->queued) {
		send_input(j, id, bytes, len);
		return 0;
	}
	buf_add(&job->held, bytes, len);
	j->n_held += len;
	return 0;
}

/* Returns 0 if the job runs. */
static int tell(struct jobs *j, uint32_t id, struct runner_head h)
{
	const struct job *job = find(j, id);

	if (!job)
		return -ESRCH;
	if (job->queued)
		return -EPIPE;
	h.job = id;
	runner_link_send(&j->link, &h, NULL, 0);
	return 0;
}

int jobs_end_input(struct jobs *j, uint32_t id)
{
	struct job *job = find(j, id);

	if (!job || !job->queued)
		return tell(j, id, (struct runner_head){.type = RUNNER_EOF});
	if (!job->input)
		return -EPIPE;
	job->ended = true;
	return 0;
}

/* A waiting job begins in that size. */
int jobs_resize(struct jobs *j, uint32_t id, unsigned columns, unsigned rows)
{
	const uint32_t size = (columns & 0xffff) << 16 | (rows & 0xffff);
	struct job *job = find(j, id);
	struct runner_head h;

	if (!job || !job->queued)
		return tell(j, id, (struct runner_head){.type = RUNNER_RESIZE, .b = size});
	memcpy(&h, job->order.data, sizeof(h));
	h.b = size;
	memcpy(job->order.data, &h, sizeof(h));
	return 0;
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
		runner_link_send(&j->link,
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

bool jobs_broken(const struct jobs *j)
{
	return j->link.broken;
}

uint32_t jobs_running(const struct jobs *j, size_t *ret_queued)
{
	*ret_queued = j->n_queued;
	return j->busy;
}

void jobs_pause(struct jobs *j, bool pause)
{
	if (!j || j->paused == pause)
		return;
	j->paused = pause;
	if (!pause)
		begin_next(j);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct jobs *jobs_open(uv_loop_t *loop, int sock, void (*settle)(void *data), void *data)
{
	struct jobs *j = xcalloc(1, sizeof(*j));

	j->loop = loop;
	j->settle = settle;
	j->data = data;
	j->link.packet = on_packet;
	j->link.gone = on_gone;
	j->link.free_it = free_it;
	runner_link_open(&j->link, loop, sock);
	return j;
}

void jobs_close(struct jobs *j)
{
	if (!j || j->link.closed)
		return;
	j->link.closed = true;
	end_all(j);
	runner_link_close(&j->link);
}
