/* process - the broker's process: its loop, its clients, its notes to and from the keeper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/broker/broker_priv.h"
#include "core/os/process.h"
#include "core/os/signals.h"
#include "core/os/text.h"

#define BACKLOG	   64
#define QUEUED_MAX (1u << 20) /* most bytes that a client has not read */

/* ---- notes ----------------------------------------------------------------------------------- */

/* Removes the sockets and exits. cordon removes them, too, unless it was killed. */
static NORETURN void leave(struct process *p)
{
	static const char *const names[] = {"git", "ssh"};

	jobs_kill(p);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", p->dir, names[i]);

		unlink(path);
	}
	rmdir(p->dir);
	_exit(0);
}

/* Sends a note. Waits for room: the keeper reads whenever it is not busy with a call. */
void broker_tell(struct process *p, const struct broker_note *note)
{
	struct pollfd room = {.fd = p->sock, .events = POLLOUT};

	while (send(p->sock, note, sizeof(*note), MSG_NOSIGNAL) < 0) {
		if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
			leave(p);
		if (errno != EINTR)
			poll(&room, 1, -1);
	}
}

void asker_asks(struct asker *c, enum rule_kind kind, const char *target, const char *text)
{
	struct broker_note note = {.what = BROKER_WANT, .kind = kind, .id = c->id};

	snprintf(note.target, sizeof(note.target), "%s", target);
	snprintf(note.text, sizeof(note.text), "%s", text);
	c->asking = true;
	broker_tell(c->broker, &note);
}

static void hear(struct process *p, const struct broker_note *note)
{
	struct asker *c = asker_find(p, note->id);

	if (!c)
		return;
	if (note->what == BROKER_ANSWER && c->asking) {
		c->asking = false;
		c->ops->answered(c, note->allow != 0);
	} else if (note->what == BROKER_KEPT && c->ops->kept) {
		c->ops->kept(c);
	}
}

static void on_keeper(uv_poll_t *h, int status, int events)
{
	struct process *p = h->data;
	struct broker_note note;
	ssize_t n;

	(void)status;
	(void)events;
	while ((n = recv(p->sock, &note, sizeof(note), MSG_DONTWAIT)) == (ssize_t)sizeof(note))
		hear(p, &note);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	leave(p);
}

static void on_signal(uv_poll_t *h, int status, int events)
{
	struct process *p = h->data;
	int sig;

	(void)status;
	(void)events;
	while ((sig = os_signals_next(p->sigfd)) != 0) {
		if (sig == SIGTERM)
			leave(p);
		jobs_reap(p);
	}
}

/* ---- clients --------------------------------------------------------------------------------- */

struct asker *asker_find(struct process *p, uint64_t id)
{
	struct asker *c = p->clients;

	while (c && (c->id != id || c->closing))
		c = c->next;
	return c;
}

static void on_closed(uv_handle_t *h)
{
	struct asker *c = h->data;
	struct process *p = c->broker;

	if (--c->handles)
		return;
	if (c->ops->closed)
		c->ops->closed(c);
	if (c->prev)
		c->prev->next = c->next;
	else
		p->clients = c->next;
	if (c->next)
		c->next->prev = c->prev;
	p->n_clients--;
	if (c->reply.cap)
		explicit_bzero(c->reply.data, c->reply.cap);
	buf_done(&c->reply);
	buf_done(&c->in);
	free(c);
}

void asker_close(struct asker *c)
{
	if (c->closing)
		return;
	c->closing = true;
	if (c->asking)
		broker_tell(c->broker, &(struct broker_note){.what = BROKER_GONE, .id = c->id});
	if (c->agent)
		agent_client_stop(c, on_closed);
	uv_close((uv_handle_t *)&c->pipe, on_closed);
}

struct writing {
	uv_write_t request;
	size_t len;
	char bytes[];
};

static void on_written(uv_write_t *request, int status)
{
	struct writing *w = request->data;

	(void)status;
	explicit_bzero(w->bytes, w->len);
	free(w);
}

int process_write_stream(uv_stream_t *to, const char *data, size_t len)
{
	struct writing *w = xmalloc(sizeof(*w) + len);
	uv_buf_t buf = uv_buf_init(w->bytes, (unsigned)len);
	int r;

	w->request.data = w;
	w->len = len;
	memcpy(w->bytes, data, len);
	r = uv_write(&w->request, to, &buf, 1, on_written);
	if (r < 0)
		on_written(&w->request, r);
	return r;
}

void asker_write(struct asker *c, const char *data, size_t len)
{
	if (uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) > QUEUED_MAX ||
	    process_write_stream((uv_stream_t *)&c->pipe, data, len) < 0)
		asker_close(c);
}

static void on_shut(uv_shutdown_t *request, int status)
{
	(void)status;
	if (request->handle && !uv_is_closing((uv_handle_t *)request->handle))
		asker_close(request->handle->data);
	free(request);
}

void asker_finish(struct asker *c)
{
	uv_shutdown_t *request = xcalloc(1, sizeof(*request));

	if (uv_shutdown(request, (uv_stream_t *)&c->pipe, on_shut) == 0)
		return;
	free(request);
	asker_close(c);
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	struct asker *c = h->data;

	(void)size;
	buf_reserve(&c->in, 4096);
	*ret = uv_buf_init(c->in.data + c->in.len, 4096);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct asker *c = stream->data;

	(void)buf;
	if (n == UV_EOF) {
		uv_read_stop(stream);
		c->ops->ended(c);
	} else if (n < 0) {
		asker_close(c);
	} else {
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = '\0';
		c->ops->heard(c);
	}
}

/* Closes the oldest idle client to make room. */
static void make_room(struct process *p)
{
	struct asker *oldest = NULL;

	for (struct asker *c = p->clients; c; c = c->next)
		if (!c->closing && !c->busy && !c->asking)
			oldest = c;
	if (p->n_clients > BROKER_CLIENTS && oldest)
		asker_close(oldest);
}

static struct asker *new_client(struct process *p, const struct asker_ops *ops)
{
	struct asker *c = xcalloc(1, sizeof(*c));

	c->ops = ops;
	c->broker = p;
	c->id = ++p->last_id;
	c->handles = 1;
	c->in = c->reply = (struct buf)BUF_INIT;
	c->deadline_ms = ops == &git_client ? (int64_t)uv_now(&p->loop) + GIT_MS : 0;
	uv_pipe_init(&p->loop, &c->pipe, 0);
	c->pipe.data = c;
	c->next = p->clients;
	if (c->next)
		c->next->prev = c;
	p->clients = c;
	p->n_clients++;
	return c;
}

static void accept_one(uv_stream_t *listener, const struct asker_ops *ops)
{
	struct process *p = listener->data;
	struct asker *c = new_client(p, ops);

	if (uv_accept(listener, (uv_stream_t *)&c->pipe) < 0 ||
	    uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read) < 0 ||
	    p->n_clients > 2 * BROKER_CLIENTS) {
		asker_close(c);
		return;
	}
	if (ops == &agent_client)
		agent_client_start(c);
	make_room(p);
}

static void on_git(uv_stream_t *listener, int status)
{
	if (status == 0)
		accept_one(listener, &git_client);
}

static void on_ssh(uv_stream_t *listener, int status)
{
	if (status == 0)
		accept_one(listener, &agent_client);
}

/* Adds the TLS process as a client. It always counts as busy, so it is not closed for others. */
static int take_tls(struct process *p, int fd)
{
	struct asker *c;

	if (fd < 0)
		return 0;
	c = new_client(p, &secret_client);
	c->busy = true;
	if (uv_pipe_open(&c->pipe, fd) < 0)
		return -1;
	return uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
}

/* Returns whether git has disconnected. Its input was read to the end, so a read cannot tell. */
static bool has_gone(const struct asker *c)
{
	struct pollfd p = {.fd = -1};

	return c->asking && uv_fileno((const uv_handle_t *)&c->pipe, &p.fd) == 0 &&
	       poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLERR);
}

static void on_tick(uv_timer_t *timer)
{
	struct process *p = timer->data;
	int64_t now = (int64_t)uv_now(&p->loop);
	struct asker *next;

	for (struct asker *c = p->clients; c; c = next) {
		next = c->next;
		if (!c->closing && ((c->deadline_ms && now > c->deadline_ms) || has_gone(c)))
			asker_close(c);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int serve(uv_pipe_t *pipe, int fd, uv_connection_cb on)
{
	int r = fd < 0 ? 0 : uv_pipe_open(pipe, fd);

	return r < 0 || fd < 0 ? r : uv_listen((uv_stream_t *)pipe, BACKLOG, on);
}

static int start(struct process *p, const struct process_spec *spec)
{
	int r = uv_loop_init(&p->loop);

	if (r < 0)
		return r;
	uv_timer_init(&p->loop, &p->timer);
	uv_pipe_init(&p->loop, &p->git, 0);
	uv_pipe_init(&p->loop, &p->ssh, 0);
	r = uv_poll_init(&p->loop, &p->keeper, p->sock);
	if (r == 0)
		r = uv_poll_init(&p->loop, &p->signals, p->sigfd);
	p->keeper.data = p->signals.data = p->timer.data = p->git.data = p->ssh.data = p;
	if (r == 0)
		r = uv_poll_start(&p->keeper, UV_READABLE | UV_DISCONNECT, on_keeper);
	if (r == 0)
		r = uv_poll_start(&p->signals, UV_READABLE, on_signal);
	if (r == 0)
		r = uv_timer_start(&p->timer, on_tick, 1000, 1000);
	if (r == 0)
		r = serve(&p->git, spec->git, on_git);
	if (r == 0)
		r = serve(&p->ssh, spec->ssh, on_ssh);
	return r == 0 ? take_tls(p, spec->tls) : r;
}

NORETURN void broker_run(const struct process_spec *spec)
{
	const sigset_t set = os_signals_block((const int[]){SIGTERM, SIGCHLD, 0}, NULL);
	struct process *p = xcalloc(1, sizeof(*p));

	p->spec = spec->broker;
	p->keys = spec->keys;
	p->dir = spec->dir;
	p->sock = spec->sock;
	os_set_name("cordon-broker");
	os_stay_private();
	signal(SIGPIPE, SIG_IGN);
	jobs_environment();
	p->sigfd = os_signals_open(&set);
	if (p->sigfd < 0 || start(p, spec) < 0)
		_exit(1);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	_exit(0);
}
