/* api - the session's socket on its loop: clients, what each has been told, their commands. */
/* SPDX-License-Identifier: MIT */
#include "core/api/api_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "core/api/peer_edits.h"
#include "core/api/peer_net.h"
#include "core/api/peer_undo.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/os/socket.h"

#define ROWS_BEFORE 2000 /* what a peer that asks is told of what happened before */

/* A step as a peer knows it. */
struct told_step {
	int64_t id;
	size_t paths, counted;
	unsigned state; /* running, undone, incomplete, over, gone: a bit each */
	bool seen;
};

struct peer {
	uv_pipe_t pipe; /* data is the peer */
	struct api *api;
	struct peer *next;
	char by[64]; /* for the audit log: "terminal: uid 1000, pid 4711" */
	struct buf in;
	size_t backlog;	 /* bytes that it has not read yet */
	uint64_t row;	 /* the newest row that it was told of */
	uint64_t came;	 /* the newest there was when it came; 0: it knows those before */
	uint64_t *known; /* requests that it was told of */
	size_t n_known;
	bool behind; /* there is more to tell when it has read */
	struct told_step *steps;
	size_t n_steps;
	uint64_t given_version; /* of the model's, that it was told of */
	int64_t turn_us;	/* the newest turn that it was told of */
	bool turn_named;	/* with its words */
	struct peer_edits edits;
	struct peer_net net;
	struct peer_undo *undo; /* made with its first command of that kind */
};

struct api {
	uv_pipe_t listener;
	uv_timer_t later; /* when there is more to tell of connections */
	int64_t later_us; /* monotonic, while that is active */
	int open;	  /* those two, until both are closed */
	uv_loop_t *loop;
	struct session *session;
	struct peer *peers;
	size_t n_peers;
	char *path;
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
	free(p->steps);
	peer_net_done(&p->net);
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
	peer_undo_close(take_ptr(&p->undo));
	uv_close((uv_handle_t *)&p->pipe, on_peer_closed);
}

static void tell(struct peer *p);

static void on_sent(uv_write_t *req, int status)
{
	struct sending *out = req->data;
	struct peer *p = req->handle->data;

	p->backlog -= out->len;
	free(out);
	if (status < 0)
		drop(p);
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
	size_t known = 0, i = 0;

	/* Both lists grow at their end and their ids with them. */
	while (known < p->n_known || i < m->n_asks) {
		p->behind = p->backlog + out->len > API_BACKLOG / 2;
		if (p->behind && known == p->n_known)
			break;
		if (i == m->n_asks || (known < p->n_known && p->known[known] < m->asks[i].id))
			message_gone(out, p->known[known++]);
		else if (known == p->n_known || m->asks[i].id < p->known[known])
			message_request(out, &m->asks[i++]);
		else
			known++, i++;
	}
	p->known = xrealloc(p->known, MAX(i, (size_t)1) * sizeof(*p->known));
	p->n_known = i;
	while (i-- > 0)
		p->known[i] = m->asks[i].id;
}

/* All of them again when one is new or over: they are few, and change when a human does. */
static void tell_rules(struct peer *p, const struct model *m, struct buf *out)
{
	if (p->given_version == m->given_version)
		return;
	p->given_version = m->given_version;
	for (size_t i = 0; i < m->n_given; i++)
		if (m->given[i].rule)
			message_rule(out, &m->given[i]);
}

/* They lie in the model's order: it is the one at `likely` unless one of them has gone. */
static struct told_step *told_step(struct peer *p, int64_t id, size_t likely)
{
	if (likely < p->n_steps && p->steps[likely].id == id)
		return &p->steps[likely];
	for (size_t i = p->n_steps; i-- > 0;)
		if (p->steps[i].id == id)
			return &p->steps[i];
	p->steps = xrealloc(p->steps, (p->n_steps + 1) * sizeof(*p->steps));
	p->steps[p->n_steps] = (struct told_step){.id = id, .state = ~0u};
	return &p->steps[p->n_steps++];
}

static void tell_step(struct peer *p, const struct step_row *s, size_t likely, struct buf *out)
{
	unsigned state = s->running | (s->undone ? 2u : 0) | (s->incomplete ? 4u : 0) |
			 (s->over ? 8u : 0) | (s->gone ? 16u : 0);
	struct told_step *t = told_step(p, s->id, likely);
	size_t counted = s->created + s->modified + s->deleted + s->renamed;

	t->seen = true;
	/* How many files a running step has touched is no news; what it ends with is. */
	if (t->state == state && (s->running || (t->paths == s->paths && t->counted == counted)))
		return;
	t->state = state;
	t->paths = s->paths;
	t->counted = counted;
	message_step(out, s);
}

static void tell_steps(struct peer *p, const struct model *m, struct buf *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_steps; i++)
		p->steps[i].seen = false;
	for (size_t i = 0; i < m->n_steps; i++) {
		if (p->backlog + out->len > API_BACKLOG / 2) {
			p->behind = true;
			return;
		}
		tell_step(p, &m->steps[i], i, out);
	}
	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->steps[i].seen)
			p->steps[kept++] = p->steps[i];
		else
			message_step_gone(out, p->steps[i].id);
	}
	p->n_steps = kept;
}

static void tell_turns(struct peer *p, const struct model *m, struct buf *out)
{
	for (size_t i = 0; i < m->n_turns; i++) {
		const struct turn_mark *t = &m->turns[i];

		if (t->us < p->turn_us || (t->us == p->turn_us && p->turn_named >= !!t->words))
			continue;
		p->turn_us = t->us;
		p->turn_named = t->words;
		message_turn(out, t);
	}
}

static void on_later(uv_timer_t *timer)
{
	api_changed(timer->data);
}

/* Bytes are counted far more often than anybody reads them. */
static void tell_net(struct peer *p, const struct model *m, struct buf *out)
{
	size_t used = MIN(p->backlog + out->len, (size_t)API_BACKLOG / 2);
	int64_t due = peer_net_due(&p->net, m), at = clock_mono_us() + due;
	struct api *a = p->api;

	if (due == 0 && !peer_net_tell(&p->net, m, API_BACKLOG / 2 - used, out))
		p->behind = true;
	if (due <= 0 || (uv_is_active((uv_handle_t *)&a->later) && a->later_us <= at))
		return;
	a->later_us = at;
	uv_timer_start(&a->later, on_later, (uint64_t)due / 1000 + 1, 0);
}

static void tell_row(const struct model *m, const struct row *row, struct buf *out)
{
	message_row(out, row, model_offer(m, row->seq));
}

/* Rows come in floods: what a peer has not taken yet is skipped, the audit log has it all. */
static void tell_rows(struct peer *p, const struct model *m, struct buf *out)
{
	size_t first = m->row_count - MIN(m->row_count, (size_t)(m->row_seq - p->row));

	for (size_t i = first; i < m->row_count; i++) {
		if (p->backlog + out->len > API_BACKLOG / 4)
			break;
		tell_row(m, model_row(m, i), out);
	}
	p->row = m->row_seq;
}

static void tell(struct peer *p)
{
	const struct model *m = session_model(p->api->session);
	AUTO_BUF struct buf out = BUF_INIT;

	p->behind = false;
	tell_requests(p, m, &out);
	if (!p->behind) /* who wants the requests alone counts them */
		tell_rules(p, m, &out);
	tell_turns(p, m, &out);
	tell_steps(p, m, &out);
	if (!peer_edits_tell(&p->edits, m,
			     p->backlog + out.len < API_BACKLOG / 4 ? API_BACKLOG / 4 : 0, &out))
		p->behind = true;
	if (p->undo)
		peer_undo_changed(p->undo, &out);
	tell_net(p, m, &out);
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

/* The newest of what happened before the peer came; once. Later rows follow by themselves. */
static void tell_before(struct peer *p, struct buf *out)
{
	const struct model *m = session_model(p->api->session);
	uint64_t oldest = m->row_seq - m->row_count; /* the number before the first that is kept */
	uint64_t first = p->came;
	size_t size = 0;

	while (first > oldest && p->came - first < ROWS_BEFORE && size < API_BACKLOG / 4) {
		const struct row *row = model_row(m, (size_t)(--first - oldest));

		size += 6 * (strlen(row->text) + (row->more ? strlen(row->more) : 0)) + 200;
	}
	for (; first < p->came; first++)
		tell_row(m, model_row(m, (size_t)(first - oldest)), out);
	p->came = 0;
}

static void send_undo(void *peer, const struct buf *out)
{
	send_text(peer, out);
}

/* What an undo has changed is told by api_changed(), as everything is. */
static bool obey_undo(struct peer *p, const char *line, size_t len, struct buf *out)
{
	if (!p->undo)
		p->undo = peer_undo_open(p->api->session, send_undo, p);
	return peer_undo_obey(p->undo, line, len, out);
}

/* Returns NULL, or why not. */
static const char *obey_command(struct peer *p, const struct command_in *c, struct buf *out,
				struct err *err)
{
	struct session *s = p->api->session;

	switch (c->does) {
	case COMMAND_HISTORY:
		tell_before(p, out);
		return NULL;
	case COMMAND_REVOKE:
		session_revoke(s, p->by, c->id);
		return NULL;
	case COMMAND_DISCONNECT:
	case COMMAND_FORBID:
		return peer_net_disconnect(s, p->by, c->id, c->does == COMMAND_FORBID);
	case COMMAND_PUBLISH:
		return peer_net_publish(s, c->id);
	case COMMAND_OWN_SETTINGS:
		return session_own_settings(s, p->by, c->id, err) < 0 ? err->text : NULL;
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
	if (obey_undo(p, line, len, &out)) {
		send_text(p, &out);
		return;
	}
	if (message_parse(line, len, &c, &err) < 0) {
		message_reply(&out, c.id, err.text);
	} else {
		const char *wrong = obey_command(p, &c, &out, &err);

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
		if (uv_is_closing((uv_handle_t *)&p->pipe))
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
	p->row = p->came = session_model(a->session)->row_seq;
	p->next = a->peers;
	a->peers = p;
	a->n_peers++;
	if (uv_accept(listener, (uv_stream_t *)&p->pipe) < 0 || !is_allowed(p)) {
		drop(p);
		return;
	}
	if (a->n_peers > API_CLIENTS) {
		message_reply(&hello, 0, "too many clients are connected to it: end some");
		send_text(p, &hello); /* at once: there is room in a new socket */
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

	if (--a->open)
		return;
	free(a->path);
	free(a);
}

/* Under the directory's lock: who meets a name at which nobody listens yet would remove it as one
 * that a killed session left. A lock that cannot be had hinders no session. */
static int listen_at(struct api *a, const char *dir)
{
	AUTO_CLOSE int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mode_t mask = umask(0177);
	int r;

	if (lock >= 0 && io_lock(lock) < 0)
		log_warn("api", "%s: its lock is held: the socket is made without", dir);
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
	a->path = xasprintf("%s/%s.sock", dir, session_model(s)->session);
	a->listener.data = a->later.data = a;
	a->open = 2;
	uv_pipe_init(loop, &a->listener, 0);
	uv_timer_init(loop, &a->later);
	r = listen_at(a, dir);
	if (r < 0) {
		err_set(err, r, "%s", a->path);
		api_close(a);
		return r;
	}
	*ret = a;
	return 0;
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
	uv_close((uv_handle_t *)&a->later, on_closed);
	uv_close((uv_handle_t *)&a->listener, on_closed); /* unlinks the name */
}
