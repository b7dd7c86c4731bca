/* api - the session's socket on its loop: clients, what was sent to each, their commands. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/api_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "core/api/socket/link.h"
#include "core/api/socket/shell.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/os/socket.h"

struct peer {
	uv_pipe_t pipe; /* data is the peer */
	struct api *api;
	struct peer *next;
	char by[64]; /* for the audit log: "terminal: uid 1000, pid 4711" */
	struct buf in;
	size_t backlog;	 /* bytes that it has not read yet */
	uint64_t row;	 /* the newest row that was sent to it */
	uint64_t *known; /* requests that were sent to it */
	size_t n_known;
	bool behind;		/* more is to be sent when it has read */
	bool console, exec;	/* handed over as soon as it has read */
	uint64_t given_version; /* the model's, when the rules were last sent to it */
};

struct api {
	uv_pipe_t listener;
	uv_loop_t *loop;
	struct session *session;
	struct peer *peers;
	size_t n_peers;
	char *path;
	void (*take_console)(void *data, int fd); /* or NULL */
	void *console_data;
	void (*end)(void *data, const char *by); /* or NULL */
	void *end_data;
	struct shells *shells;
};

struct sending {
	uv_write_t req;
	size_t len;
	char data[];
};

char *api_dir(const char *state_dir)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	return runtime && *runtime == '/' ? path_join(runtime, "cordon")
					  : path_join(state_dir, "run");
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void on_peer_closed(uv_handle_t *handle)
{
	struct peer *p = handle->data;

	buf_done(&p->in);
	free(p->known);
	free(p);
}

static void drop(struct peer *p)
{
	if (uv_is_closing((uv_handle_t *)&p->pipe))
		return;
	for (struct peer **link = &p->api->peers; *link; link = &(*link)->next) {
		if (*link == p) {
			*link = p->next;
			p->api->n_peers--;
			break;
		}
	}
	uv_close((uv_handle_t *)&p->pipe, on_peer_closed);
}

static void tell(struct peer *p);

/* Hands the connection over to a console, or to a program. */
static void hand_over(struct peer *p)
{
	struct api *a = p->api;
	uv_os_fd_t fd;
	int copy = uv_fileno((const uv_handle_t *)&p->pipe, &fd) < 0
			   ? -1
			   : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	drop(p);
	if (copy >= 0 && p->exec)
		shells_take(a->shells, copy, p->by);
	else if (copy >= 0)
		a->take_console(a->console_data, copy);
}

static void on_sent(uv_write_t *req, int status)
{
	struct sending *out = req->data;
	struct peer *p = req->handle->data;

	p->backlog -= out->len;
	free(out);
	if (status < 0)
		drop(p);
	else if ((p->console || p->exec) && !p->backlog)
		hand_over(p);
	else if (p->behind && !p->backlog)
		tell(p);
}

static void send_text(struct peer *p, const struct buf *text)
{
	struct sending *out;
	uv_buf_t piece;

	if (!text->len || uv_is_closing((uv_handle_t *)&p->pipe))
		return;
	if (p->backlog + text->len > API_BACKLOG) {
		log_warn("api", "a client does not read: cut off");
		drop(p);
		return;
	}
	out = xmalloc(sizeof(*out) + text->len);
	memcpy(out->data, text->data, text->len);
	out->len = text->len;
	out->req.data = out;
	p->backlog += out->len;
	piece = uv_buf_init(out->data, (unsigned)out->len);
	if (uv_write(&out->req, (uv_stream_t *)&p->pipe, &piece, 1, on_sent) < 0) {
		p->backlog -= out->len;
		free(out);
		drop(p);
	}
}

/* ---- what a peer is told --------------------------------------------------------------------- */

static void tell_requests(struct peer *p, const struct model *m, struct buf *out)
{
	AUTO_BUF struct buf connections = BUF_INIT; /* sent after the requests that hello counts */
	size_t known = 0, i = 0;

	/* Both lists are sorted by id, as they grow only at the end. */
	while (known < p->n_known || i < m->n_asks) {
		p->behind = p->backlog + out->len + connections.len > API_BACKLOG / 2;
		if (p->behind && known == p->n_known)
			break;
		if (i == m->n_asks || (known < p->n_known && p->known[known] < m->asks[i].id)) {
			message_gone(out, p->known[known++]);
		} else if (known == p->n_known || m->asks[i].id < p->known[known]) {
			message_connection(&connections, &m->asks[i]);
			message_request(out, &m->asks[i++]);
		} else {
			known++, i++;
		}
	}
	buf_add(out, connections.data, connections.len);
	p->known = xrealloc(p->known, MAX(i, (size_t)1) * sizeof(*p->known));
	p->n_known = i;
	while (i-- > 0)
		p->known[i] = m->asks[i].id;
}

/* Sends all rules after any change: they are few, and only users change them. */
static void tell_rules(struct peer *p, const struct model *m, struct buf *out)
{
	if (p->given_version == m->given_version)
		return;
	p->given_version = m->given_version;
	for (size_t i = 0; i < m->n_given; i++)
		if (m->given[i].rule)
			message_rule(out, &m->given[i]);
}

/* Sends rows. Of a flood it skips the rows that a peer has not taken; the audit log has all. */
static void tell_rows(struct peer *p, const struct model *m, struct buf *out)
{
	size_t first = m->row_count - MIN(m->row_count, (size_t)(m->row_seq - p->row));

	for (size_t i = first; i < m->row_count; i++) {
		if (p->backlog + out->len > API_BACKLOG / 4)
			break;
		message_row(out, model_row(m, i));
	}
	p->row = m->row_seq;
}

static void tell(struct peer *p)
{
	const struct model *m = session_model(p->api->session);
	AUTO_BUF struct buf out = BUF_INIT;

	p->behind = false;
	if (p->console || p->exec)
		return;
	tell_requests(p, m, &out);
	if (!p->behind) /* a peer that wants only the requests counts them */
		tell_rules(p, m, &out);
	tell_rows(p, m, &out);
	send_text(p, &out);
}

void api_changed(struct api *a)
{
	if (!a)
		return;
	for (struct peer *p = a->peers, *next; p; p = next) {
		next = p->next;
		tell(p);
	}
}

/* ---- what a peer says ------------------------------------------------------------------------ */

/* Returns NULL, or the reason of a refusal. */
static const char *obey_command(struct peer *p, const struct command_in *c, struct err *err)
{
	struct session *s = p->api->session;

	switch (c->does) {
	case COMMAND_REVOKE:
		session_revoke(s, p->by, c->id);
		return NULL;
	case COMMAND_OWN_SETTINGS:
		return session_own_settings(s, p->by, c->id, err) < 0 ? err->text : NULL;
	case COMMAND_CONSOLE:
		if (!p->api->take_console)
			return "there is no console here";
		uv_read_stop((uv_stream_t *)&p->pipe);
		p->console = true;
		return NULL;
	case COMMAND_EXEC:
		uv_read_stop((uv_stream_t *)&p->pipe);
		p->exec = true;
		return NULL;
	case COMMAND_END:
		if (!p->api->end)
			return "another program drives it: end that";
		p->api->end(p->api->end_data, p->by);
		return NULL;
	case COMMAND_ANSWER:
		break;
	}
	return session_answer(s, p->by, c->id, &c->answer, err) < 0 ? err->text : NULL;
}

static void obey(struct peer *p, const char *line, size_t len)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct command_in c;
	struct err err = {0};

	if (operation_serve(p->api->session, p->by, line, len, &out)) {
		send_text(p, &out);
		return;
	}
	if (message_parse(line, len, &c, &err) < 0) {
		message_reply(&out, c.id, err.text);
	} else {
		const char *wrong = obey_command(p, &c, &err);

		bool answers = c.does == COMMAND_ANSWER || c.does == COMMAND_OWN_SETTINGS;

		message_reply(&out, answers ? c.id : 0, wrong);
	}
	send_text(p, &out);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	struct peer *p = handle->data;

	(void)suggested;
	buf_reserve(&p->in, 4096);
	*ret = uv_buf_init(p->in.data + p->in.len, 4096);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *piece)
{
	struct peer *p = stream->data;
	char *newline;

	(void)piece;
	if (n < 0) {
		drop(p);
		return;
	}
	p->in.len += (size_t)n;
	p->in.data[p->in.len] = '\0';
	while ((newline = memchr(p->in.data, '\n', p->in.len))) {
		size_t len = (size_t)(newline - p->in.data);

		obey(p, p->in.data, len);
		if (uv_is_closing((uv_handle_t *)&p->pipe) || p->console || p->exec)
			return;
		buf_drop_front(&p->in, len + 1);
	}
	if (p->in.len > API_LINE)
		drop(p);
}

/* ---- the listener ---------------------------------------------------------------------------- */

static bool is_allowed(struct peer *p)
{
	uv_os_fd_t fd;
	pid_t pid = 0;
	uid_t uid;

	if (uv_fileno((const uv_handle_t *)&p->pipe, &fd) < 0 || os_peer_uid(fd, &uid) < 0 ||
	    (uid != geteuid() && uid != 0))
		return false;
	(void)os_peer_pid(fd, &pid);
	snprintf(p->by, sizeof(p->by), "terminal: uid %u, pid %d", (unsigned)uid, (int)pid);
	return true;
}

/* Returns whether it has closed its end, and all that it sent before has been read. */
static bool has_gone(const struct peer *p)
{
	uv_os_fd_t fd;
	ssize_t n;
	char byte;

	if (uv_fileno((const uv_handle_t *)&p->pipe, &fd) < 0)
		return true;
	n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Drops clients that have gone, before the loop tells: while cordon was stopped, many may have come
 * and given up. */
static void drop_gone(struct api *a)
{
	for (struct peer *p = a->peers, *next; p; p = next) {
		next = p->next;
		if (has_gone(p))
			drop(p);
	}
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct api *a = listener->data;
	AUTO_BUF struct buf hello = BUF_INIT;
	struct peer *p;

	if (status < 0)
		return;
	p = xcalloc(1, sizeof(*p));
	p->api = a;
	p->in = (struct buf)BUF_INIT;
	p->pipe.data = p;
	uv_pipe_init(a->loop, &p->pipe, 0);
	p->row = session_model(a->session)->row_seq;
	p->next = a->peers;
	a->peers = p;
	a->n_peers++;
	if (uv_accept(listener, (uv_stream_t *)&p->pipe) < 0 || !is_allowed(p)) {
		drop(p);
		return;
	}
	if (a->n_peers > API_CLIENTS)
		drop_gone(a);
	if (uv_is_closing((uv_handle_t *)&p->pipe))
		return;
	if (a->n_peers > API_CLIENTS) {
		message_reply(&hello, 0, "too many clients are connected to it: end some");
		send_text(p, &hello); /* sent at once, as a new socket has room */
		drop(p);
		return;
	}
	if (uv_read_start((uv_stream_t *)&p->pipe, on_alloc, on_read) < 0) {
		drop(p);
		return;
	}
	message_hello(&hello, session_model(a->session));
	send_text(p, &hello);
	tell(p);
}

static int make_dir(const char *dir, struct err *err)
{
	struct stat st;
	int r = io_mkdir_p(AT_FDCWD, dir, 0700);

	if (r < 0)
		return err_set(err, r, "%s", dir);
	if (lstat(dir, &st) < 0)
		return err_set(err, -errno, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return err_say(err, -EPERM, "%s: not a directory that is yours alone: chmod 700 it",
			       dir);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct api *a = handle->data;

	free(a->path);
	free(a);
}

/* Listens under the directory's lock: another cordon would remove a bound socket that does not
 * listen yet, as stale. Without the lock the session starts all the same. */
static int listen_at(struct api *a, const char *dir)
{
	AUTO_CLOSE int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mode_t mask = umask(0177);
	int r;

	if (lock >= 0 && io_lock(lock) < 0)
		log_warn("api", "%s: its lock is held: the socket is made without", dir);
	else if (lock >= 0)
		link_sweep(dir);
	r = strlen(a->path) < sizeof(((struct sockaddr_un *)NULL)->sun_path)
		    ? uv_pipe_bind(&a->listener, a->path)
		    : -ENAMETOOLONG;
	umask(mask);
	return r < 0 ? r : uv_listen((uv_stream_t *)&a->listener, API_CLIENTS, on_connection);
}

int api_open(struct api **ret, uv_loop_t *loop, struct session *s, const char *dir, struct err *err)
{
	struct api *a;
	int r = make_dir(dir, err);

	if (r < 0)
		return r;
	a = xcalloc(1, sizeof(*a));
	a->loop = loop;
	a->session = s;
	a->shells = shells_new(loop, s);
	a->path = xasprintf("%s/%s.sock", dir, session_model(s)->session);
	a->listener.data = a;
	uv_pipe_init(loop, &a->listener, 0);
	r = listen_at(a, dir);
	if (r < 0) {
		err_set(err, r, "%s", a->path);
		api_close(a);
		return r;
	}
	*ret = a;
	return 0;
}

void api_consoles(struct api *a, void (*fn)(void *data, int fd), void *data)
{
	if (!a)
		return;
	a->take_console = fn;
	a->console_data = data;
}

void api_ends(struct api *a, void (*fn)(void *data, const char *by), void *data)
{
	if (!a)
		return;
	a->end = fn;
	a->end_data = data;
}

size_t api_clients(const struct api *a)
{
	return a->n_peers;
}

void api_close(struct api *a)
{
	if (!a)
		return;
	while (a->peers)
		drop(a->peers);
	shells_close(take_ptr(&a->shells));
	uv_close((uv_handle_t *)&a->listener, on_closed); /* unlinks the name */
}
