/* job - programs of the human's that the broker runs: git, ssh-keygen. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/broker/broker_priv.h"
#include "core/os/text.h"

#define JOBS_MAX    16
#define JOB_SAYS    (256u << 10) /* bytes; more ends it */
#define JOB_SECONDS 120		 /* somebody may have to unlock a keyring */

struct job {
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct process *broker;
	uint64_t client;
	job_done done;
	struct buf input, said;
	unsigned handles;
	bool runs, ended, too_much;
	int status;
};

/* ---- where it runs --------------------------------------------------------------------------- */

/* Returns the human's environment without variables that name a repository or tell git what to run;
 * a heap list. */
static char **make_env(void)
{
	char **env = external_env();
	size_t n = util_list_len(env), k = 0;

	env = xrealloc(env, (n + 2) * sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		if (str_starts(env[i], "GIT_") && !str_starts(env[i], "GIT_ASKPASS="))
			free(env[i]);
		else
			env[k++] = env[i];
	}
	env[k++] = xstrdup("GIT_TERMINAL_PROMPT=0");
	env[k] = NULL;
	return env;
}

/* ---- its life -------------------------------------------------------------------------------- */

static void forget(struct job *j)
{
	struct asker *c = asker_find(j->broker, j->client);

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

/* All that it says, and how it ended. */
static void maybe_over(struct job *j)
{
	if (j->runs || !j->ended)
		return;
	close_handle((uv_handle_t *)&j->process);
	close_handle((uv_handle_t *)&j->in);
	close_handle((uv_handle_t *)&j->out);
	close_handle((uv_handle_t *)&j->timer);
}

static void end_now(struct job *j)
{
	j->too_much = j->ended = true;
	uv_read_stop((uv_stream_t *)&j->out);
	if (j->runs && kill(-j->process.pid, SIGKILL) < 0)
		uv_process_kill(&j->process, SIGKILL);
	maybe_over(j);
}

static void on_exit_of(uv_process_t *process, int64_t status, int sig)
{
	struct job *j = process->data;

	j->runs = false;
	j->status = sig ? 128 + sig : (int)status;
	maybe_over(j);
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

static int begin(struct job *j, const char *const *argv, char **env)
{
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&j->in},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&j->out},
		{.flags = UV_IGNORE},
	};
	const uv_process_options_t options = {
		.exit_cb = on_exit_of,
		.file = argv[0],
		.args = (char **)(uintptr_t)argv,
		.env = env,
		.flags = UV_PROCESS_DETACHED, /* a session of its own: no terminal */
		.stdio_count = ARRAY_LEN(stdio),
		.stdio = stdio,
	};
	uv_buf_t input = uv_buf_init(j->input.data, (unsigned)j->input.len);
	struct err err = {0};
	int r = external_uv(&j->broker->loop, &j->process, &options, &err);

	if (r < 0)
		return r;
	j->runs = true;
	j->write.data = j->shutdown.data = j;
	uv_read_start((uv_stream_t *)&j->out, on_alloc, on_read);
	uv_timer_start(&j->timer, on_timer, JOB_SECONDS * 1000, 0);
	if (input.len)
		uv_write(&j->write, (uv_stream_t *)&j->in, &input, 1, NULL);
	uv_shutdown(&j->shutdown, (uv_stream_t *)&j->in, on_shut); /* else at its end */
	return 0;
}

void job_run(struct asker *c, const char *const *argv, struct span input, job_done done)
{
	struct process *p = c->broker;
	struct job *j = xcalloc(1, sizeof(*j));
	char **env = make_env();

	j->broker = p;
	j->client = c->id;
	j->done = done;
	j->said = j->input = (struct buf)BUF_INIT;
	buf_add(&j->input, input.data, input.len);
	j->status = -1;
	j->handles = 4;
	p->n_jobs++;
	uv_pipe_init(&p->loop, &j->in, 0);
	uv_pipe_init(&p->loop, &j->out, 0);
	uv_timer_init(&p->loop, &j->timer);
	j->process.data = j->in.data = j->out.data = j->timer.data = j;
	if (p->n_jobs > JOBS_MAX || begin(j, argv, env) < 0) {
		/* external_uv() has made a handle of it even where it fails; else it is none yet.
		 */
		if (p->n_jobs > JOBS_MAX)
			j->handles--;
		else
			close_handle((uv_handle_t *)&j->process);
		close_handle((uv_handle_t *)&j->in);
		close_handle((uv_handle_t *)&j->out);
		close_handle((uv_handle_t *)&j->timer);
	}
	util_free_list(&env);
}

static void kill_one(uv_handle_t *h, void *data)
{
	const uv_process_t *process = (const uv_process_t *)h;

	(void)data;
	if (h->type == UV_PROCESS && uv_is_active(h) && process->pid > 0)
		kill(-process->pid, SIGKILL);
}

void jobs_kill(struct process *p)
{
	uv_walk(&p->loop, kill_one, NULL);
}
