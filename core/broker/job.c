/* job - runs programs of the user for the broker: git, ssh-keygen. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "core/base/external.h"
#include "core/broker/broker_priv.h"
#include "core/os/text.h"

#define JOBS_MAX    16
#define JOB_SAYS    (256u << 10) /* bytes; more output ends it */
#define JOB_SECONDS 120		 /* the user may have to unlock a keyring */

struct job {
	struct job *next;
	pid_t pid; /* 0: it has ended */
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct process *broker;
	uint64_t client;
	job_done done;
	struct buf input, said;
	unsigned handles;
	bool ended, too_much;
	int status;
};

/* ---- where it runs --------------------------------------------------------------------------- */

void jobs_environment(void)
{
	char **env = external_env();

	for (char **e = env; *e; e++) {
		AUTO_FREE char *name = xstrndup(*e, strcspn(*e, "="));

		if (str_starts(name, "GIT_") && !str_eq(name, "GIT_ASKPASS"))
			unsetenv(name);
	}
	util_free_list(&env);
	setenv("GIT_TERMINAL_PROMPT", "0", 1);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void forget(struct job *j)
{
	struct asker *c = asker_find(j->broker, j->client);

	LL_DELETE(j->broker->jobs, j);
	j->broker->n_jobs--;
	j->done(c, j->too_much ? -1 : j->status, (struct span){j->said.data, j->said.len});
	if (j->said.cap)
		explicit_bzero(j->said.data, j->said.cap);
	buf_done(&j->said);
	buf_done(&j->input);
	free(j);
}

static void on_closed(uv_handle_t *h)
{
	struct job *j = h->data;

	if (--j->handles == 0)
		forget(j);
}

static void close_handle(uv_handle_t *h)
{
	if (!uv_is_closing(h))
		uv_close(h, on_closed);
}

/* Reports the job when its output has ended and its status is known. */
static void maybe_over(struct job *j)
{
	if (j->pid || !j->ended)
		return;
	close_handle((uv_handle_t *)&j->in);
	close_handle((uv_handle_t *)&j->out);
	close_handle((uv_handle_t *)&j->timer);
}

static void end_now(struct job *j)
{
	j->too_much = j->ended = true;
	uv_read_stop((uv_stream_t *)&j->out);
	if (j->pid)
		kill(-j->pid, SIGKILL);
	maybe_over(j);
}

void jobs_reap(struct process *p)
{
	struct job *j;
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		LL_SEARCH_SCALAR(p->jobs, j, pid, pid);
		if (!j)
			continue;
		j->pid = 0;
		j->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		maybe_over(j);
	}
}

static void on_timer(uv_timer_t *timer)
{
	end_now(timer->data);
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	struct job *j = h->data;

	(void)size;
	buf_reserve(&j->said, 4096);
	*ret = uv_buf_init(j->said.data + j->said.len, 4096);
}

static void on_read(uv_stream_t *out, ssize_t n, const uv_buf_t *buf)
{
	struct job *j = out->data;

	(void)buf;
	if (n < 0) {
		j->ended = true;
		maybe_over(j);
		return;
	}
	j->said.len += (size_t)n;
	j->said.data[j->said.len] = '\0';
	if (j->said.len > JOB_SAYS)
		end_now(j);
}

static void on_shut(uv_shutdown_t *request, int status)
{
	struct job *j = request->data;

	(void)status;
	close_handle((uv_handle_t *)&j->in);
}

/* Opens the pipes. Returns 0 with the program's ends, or an error of libuv. */
static int open_pipes(struct job *j, uv_file theirs[2])
{
	uv_file in[2], out[2];
	int r = uv_pipe(in, 0, UV_NONBLOCK_PIPE);

	if (r < 0)
		return r;
	uv_pipe_open(&j->in, in[1]);
	theirs[0] = in[0];
	r = uv_pipe(out, UV_NONBLOCK_PIPE, 0);
	if (r < 0) {
		close(in[0]);
		return r;
	}
	uv_pipe_open(&j->out, out[0]);
	theirs[1] = out[1];
	return 0;
}

static int begin(struct job *j, const char *const *argv)
{
	uv_buf_t input = uv_buf_init(j->input.data, (unsigned)j->input.len);
	struct err err = {0};
	uv_file theirs[2];
	int r = open_pipes(j, theirs);

	if (r < 0)
		return r;
	r = external_start(&(struct external){.argv = argv,
					      .in = theirs[0],
					      .out = theirs[1],
					      .err = EXTERNAL_NULL,
					      .session = true}, /* no terminal */
			   &err);
	close(theirs[0]);
	close(theirs[1]);
	if (r < 0)
		return r;
	j->pid = r;
	j->write.data = j->shutdown.data = j;
	uv_read_start((uv_stream_t *)&j->out, on_alloc, on_read);
	uv_timer_start(&j->timer, on_timer, JOB_SECONDS * 1000, 0);
	if (input.len)
		uv_write(&j->write, (uv_stream_t *)&j->in, &input, 1, NULL);
	uv_shutdown(&j->shutdown, (uv_stream_t *)&j->in, on_shut); /* after the input is written */
	return 0;
}

void job_run(struct asker *c, const char *const *argv, struct span input, job_done done)
{
	struct process *p = c->broker;
	struct job *j = xcalloc(1, sizeof(*j));

	j->broker = p;
	j->client = c->id;
	j->done = done;
	j->said = j->input = (struct buf)BUF_INIT;
	buf_add(&j->input, input.data, input.len);
	j->status = -1;
	j->handles = 3;
	LL_PREPEND(p->jobs, j);
	p->n_jobs++;
	uv_pipe_init(&p->loop, &j->in, 0);
	uv_pipe_init(&p->loop, &j->out, 0);
	uv_timer_init(&p->loop, &j->timer);
	j->in.data = j->out.data = j->timer.data = j;
	if (p->n_jobs > JOBS_MAX || begin(j, argv) < 0) {
		j->ended = true;
		maybe_over(j);
	}
}

void jobs_kill(struct process *p)
{
	struct job *j;

	LL_FOREACH (p->jobs, j) {
		if (j->pid)
			kill(-j->pid, SIGKILL);
	}
}
