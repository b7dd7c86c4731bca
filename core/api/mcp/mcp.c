/* mcp - connections of MCP clients: lines in, JSON-RPC out. */
/* SPDX-License-Identifier: MIT */
#include "core/api/mcp/mcp.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "core/api/mcp/mcp_priv.h"
#include "core/api/request_line.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/os/process.h"
#include "core/os/socket.h"

/* ---- out ------------------------------------------------------------------------------------- */

static void send_now(struct mcp_conn *c, cJSON *message)
{
	AUTO_BUF struct buf line = BUF_INIT;
	char *text = json_print(message);

	assert(text);
	request_line_strict(text);
	buf_str(&line, text);
	buf_ch(&line, '\n');
	free(text);
	channel_send(c->channel, &line);
}

static void batch_end(struct mcp_conn *c, struct batch *b)
{
	if (--b->open)
		return;
	if (cJSON_GetArraySize(b->answers))
		send_now(c, b->answers);
	cJSON_Delete(b->answers);
	free(b);
}

void mcp_send(struct mcp_conn *c, struct batch *b, cJSON *message)
{
	if (b) {
		cJSON_AddItemToArray(b->answers, message);
		batch_end(c, b);
		return;
	}
	if (!c->closed)
		send_now(c, message);
	cJSON_Delete(message);
}

static cJSON *answer_to(const cJSON *id)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "jsonrpc", "2.0");
	if (id)
		cJSON_AddItemToObject(o, "id", cJSON_Duplicate(id, true));
	return o;
}

void mcp_error(struct mcp_conn *c, struct batch *b, const cJSON *id, int code, const char *words,
	       cJSON *data)
{
	cJSON *o = answer_to(id), *e = cJSON_AddObjectToObject(o, "error");

	log_info("mcp", "error %d: %s", code, words);
	cJSON_AddNumberToObject(e, "code", code);
	describe_add(e, "message", words);
	if (data)
		cJSON_AddItemToObject(e, "data", data);
	mcp_send(c, b, o);
}

void mcp_result(struct mcp_conn *c, struct batch *b, const cJSON *id, bool modern, bool cached,
		cJSON *result)
{
	cJSON *o = answer_to(id);

	if (modern) {
		cJSON *meta = cJSON_AddObjectToObject(result, "_meta");
		cJSON *who = cJSON_AddObjectToObject(meta, "io.modelcontextprotocol/serverInfo");

		cJSON_AddStringToObject(who, "name", "cordon");
		cJSON_AddStringToObject(who, "version", CORDON_VERSION);
		if (!cJSON_GetObjectItem(result, "resultType"))
			cJSON_AddStringToObject(result, "resultType", "complete");
	}
	if (modern && cached) {
		cJSON_AddNumberToObject(result, "ttlMs", 0);
		cJSON_AddStringToObject(result, "cacheScope", "private");
	}
	cJSON_AddItemToObject(o, "result", result);
	mcp_send(c, b, o);
}

cJSON *mcp_message(const char *method, cJSON *params)
{
	cJSON *o = answer_to(NULL);

	cJSON_AddStringToObject(o, "method", method);
	cJSON_AddItemToObject(o, "params", params);
	return o;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* Compares in the same time however many bytes match. */
static bool same_token(const char *a, const char *b)
{
	size_t len = strlen(b);
	unsigned differs = strlen(a) != len;

	for (size_t i = 0; i < len && !differs; i++)
		differs |= (unsigned)(a[i] ^ b[i]);
	return !differs;
}

static void take_token(struct mcp_conn *c, const cJSON *message)
{
	const char *token = json_text(message, "token");

	c->trusted = token && same_token(token, c->server->token);
	if (!c->trusted) {
		AUTO_FREE char *words = xasprintf("the first line must be {\"token\":\"...\"}, "
						  "with the content of the file '%s'",
						  c->server->token_path);

		c->input_over = true; /* on_sent() ends it: each connection has one try */
		mcp_error(c, NULL, NULL, FAULT_PROTOCOL_TOKEN, words, NULL);
	}
}

/* Takes an array of messages, which one revision allows. */
static void take_array(struct mcp_conn *c, const cJSON *list)
{
	struct batch *b;
	const cJSON *one;

	if (!str_eq(c->legacy, "2025-03-26") || !cJSON_GetArraySize(list)) {
		mcp_error(c, NULL, NULL, RPC_REQUEST, "an array is no request", NULL);
		return;
	}
	b = xcalloc(1, sizeof(*b));
	b->answers = cJSON_CreateArray();
	b->open = 1;
	for (one = list->child; one; one = one->next)
		mcp_serve(c, b, one);
	batch_end(c, b);
}

static void on_line(void *data, char *line, size_t len)
{
	struct mcp_conn *c = data;
	cJSON *message;

	if (len == 0 || strspn(line, " \t\r") == len || (!c->trusted && c->input_over))
		return;
	message = request_line_parse(line, len);
	if (!message)
		mcp_error(c, NULL, NULL, RPC_PARSE,
			  "the line is not JSON, or has more than 1048576 values", NULL);
	else if (!c->trusted)
		take_token(c, message);
	else if (cJSON_IsArray(message))
		take_array(c, message);
	else
		mcp_serve(c, NULL, message);
	cJSON_Delete(message);
}

static void on_too_long(void *data)
{
	mcp_error(data, NULL, NULL, RPC_REQUEST, "the line is longer than 16777216 bytes", NULL);
}

/* ---- the end of a connection ----------------------------------------------------------------- */

static void conn_end(struct mcp_conn *c)
{
	struct mcp_server *m = c->server;

	if (c->closed)
		return;
	c->closed = true;
	while (c->calls) {
		struct mcp_call *call = c->calls;

		/* The call has lost its client. Its job is cancelled, unless jobs shall go on. */
		if (call->request && m->serve->engine && call->request->job && !m->serve->go_on)
			(void)!jobs_cancel(engine_jobs(m->serve->engine), call->request->job);
		if (call->request)
			call->request->data = NULL;
		if (call->request)
			(void)!model_withdraw(call->request);
		mcp_call_free(call);
	}
	channel_close(c->channel);
	LL_DELETE(m->conns, c);
	m->n_conns--;
	free(c);
	serve_pace(m->serve);
	if (m->single || (m->input_over && !m->conns))
		serve_deaf(m->serve);
}

/* Returns whether no call is open. Calls that wait for a further message of the client do not
 * count. */
static bool is_done(const struct mcp_conn *c)
{
	const struct mcp_call *call;

	for (call = c->calls; call; call = call->next)
		if (call->id)
			return false;
	return !channel_waiting(c->channel);
}

/* Ends the connection; open calls are answered first, if the client still reads. */
static void on_ended(void *data, bool reader)
{
	struct mcp_conn *c = data;

	c->input_over = true;
	if (!reader)
		mcp_give_up(c);
	if (reader || is_done(c))
		conn_end(c);
}

static void on_sent(void *data, size_t bytes)
{
	struct mcp_conn *c = data;

	(void)bytes;
	serve_pace(c->server->serve);
	if (c->input_over && is_done(c))
		conn_end(c);
}

static struct mcp_conn *mcp_connect(struct mcp_server *m, int in, int out, bool trusted)
{
	static const struct channel_listener on = {
		.line = on_line, .too_long = on_too_long, .sent = on_sent, .ended = on_ended};
	struct mcp_conn *c = xcalloc(1, sizeof(*c));

	c->server = m;
	c->trusted = trusted;
	c->channel = channel_open(
		&m->serve->loop,
		&(struct channel_spec){.in = in, .out = out, .owned = in > 2, .longest = MCP_LINE},
		&on, c);
	LL_APPEND(m->conns, c);
	m->n_conns++;
	return c;
}

/* ---- the socket ------------------------------------------------------------------------------ */

static bool is_owner(int fd)
{
	uid_t uid;

	return os_peer_uid(fd, &uid) == 0 && (uid == geteuid() || uid == 0);
}

static void on_client(uv_poll_t *poll, int status, int events)
{
	struct mcp_server *m = poll->data;
	int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)status, (void)events;
	if (fd < 0)
		return;
	if (!is_owner(fd) || m->n_conns >= MCP_CLIENTS) {
		log_warn("mcp", "a client was turned away");
		close(fd);
		return;
	}
	mcp_connect(m, fd, fd, false);
}

/* Writes the token file under another name first, as a client may read it as soon as it exists. */
static int make_token(struct mcp_server *m, struct err *err)
{
	AUTO_FREE char *draft = xasprintf("%s.new", m->token_path);
	AUTO_CLOSE int fd = -1;
	unsigned char noise[32];

	if (getrandom(noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return err_set(err, -errno, "make a token");
	for (size_t i = 0; i < sizeof(noise); i++)
		snprintf(m->token + 2 * i, 3, "%02x", noise[i]);
	unlink(draft); /* left by a killed process */
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && io_write_all(fd, m->token, strlen(m->token)) == 0 &&
	    rename(draft, m->token_path) == 0)
		return 0;
	err_set(err, -errno, "write the token to '%s'", m->token_path);
	if (fd >= 0)
		unlink(draft);
	return err->code;
}

/* Removes a socket without a listener from the name; any other file stays. */
static void clear_name(const struct sockaddr_un *un)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (lstat(un->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && fd >= 0 &&
	    connect(fd, (const struct sockaddr *)un, sizeof(*un)) < 0 && errno == ECONNREFUSED)
		unlink(un->sun_path);
}

static int bind_socket(struct mcp_server *m, struct err *err)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	mode_t mask;
	int r;

	if (strlen(m->path) >= sizeof(un.sun_path))
		return err_say(err, -ENAMETOOLONG, "--mcp-socket '%s': the path is too long",
			       m->path);
	memcpy(un.sun_path, m->path, strlen(m->path));
	clear_name(&un);
	m->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->listener < 0)
		return err_set(err, -errno, "--mcp-socket");
	mask = umask(0177);
	r = bind(m->listener, (struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0) { /* the name is ours, and so is that of a token left by a killed process */
		m->token_path = xasprintf("%s.token", m->path);
		unlink(m->token_path);
	}
	if (r == 0 && listen(m->listener, MCP_CLIENTS) < 0)
		r = -errno;
	return r < 0 ? err_set(err, r, "--mcp-socket '%s'", m->path) : 0;
}

static bool is_full(void *data)
{
	const struct mcp_server *m = data;
	size_t waiting = 0;

	for (const struct mcp_conn *c = m->conns; c; c = c->next)
		waiting += channel_waiting(c->channel);
	return waiting > QUEUE_FULL;
}

static struct mcp_server *server_new(struct serve *s)
{
	struct mcp_server *m = xcalloc(1, sizeof(*m));

	m->serve = s;
	m->listener = -1;
	s->also = mcp_changed;
	s->also_full = is_full;
	s->also_data = m;
	if (getrandom(m->key, sizeof(m->key), 0) != (ssize_t)sizeof(m->key))
		abort(); /* getrandom() blocks until it has enough, and fails for no other reason */
	return m;
}

int mcp_listen(struct mcp_server **ret, struct serve *s, const char *path, struct err *err)
{
	struct mcp_server *m = server_new(s);
	int r;

	*ret = m;
	m->path = xstrdup(path);
	r = bind_socket(m, err);
	if (r == 0)
		r = make_token(m, err);
	if (r < 0)
		return r;
	m->accepts.data = m;
	m->listens = true;
	m->handles++;
	uv_poll_init(&s->loop, &m->accepts, m->listener);
	uv_poll_start(&m->accepts, UV_READABLE, on_client);
	log_info("mcp", "MCP clients connect to %s with the token in %s", m->path, m->token_path);
	return 0;
}

/* A front end that started this process holds the other end of a pipe: when it is closed, no client
 * will connect. */
static void on_input(uv_poll_t *poll, int status, int events)
{
	struct mcp_server *m = poll->data;
	char bytes[512];
	ssize_t n = read(0, bytes, sizeof(bytes));

	(void)status, (void)events;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	uv_poll_stop(&m->input);
	m->input_over = true;
	if (!m->conns)
		serve_deaf(m->serve);
}

static void watch_input(struct mcp_server *m)
{
	struct stat st;

	if (fstat(0, &st) < 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
		return;
	m->input.data = m;
	m->watches = true;
	m->handles++;
	uv_poll_init(&m->serve->loop, &m->input, 0);
	uv_poll_start(&m->input, UV_READABLE, on_input);
}

static void on_closed(uv_handle_t *handle)
{
	struct mcp_server *m = handle->data;

	if (--m->handles)
		return;
	util_close_fd(&m->listener);
	free(m);
}

void mcp_close(struct mcp_server *m)
{
	if (!m)
		return;
	m->single = m->input_over = false;
	if (m->watches)
		uv_close((uv_handle_t *)&m->input, on_closed);
	while (m->conns) {
		channel_flush(m->conns->channel, 1000);
		conn_end(m->conns);
	}
	m->serve->also = NULL;
	if (m->token_path)
		unlink(m->token_path);
	if (m->listens)
		unlink(m->path);
	free(m->path);
	free(m->token_path);
	if (m->listens) {
		uv_close((uv_handle_t *)&m->accepts, on_closed);
		return;
	}
	util_close_fd(&m->listener);
	free(m);
}

int mcp_run(const struct serve_maker *maker, const char *path, struct err *err)
{
	struct mcp_server *m = NULL;
	struct serve s;
	int r = serve_open(&s, maker, err);

	if (r < 0)
		return r;
	if (path) {
		r = mcp_listen(&m, &s, path, err);
		if (r == 0)
			watch_input(m);
	} else {
		m = server_new(&s);
		m->single = true;
		mcp_connect(m, 0, 1, true);
	}
	if (r == 0 && !s.over)
		uv_run(&s.loop, UV_RUN_DEFAULT);
	mcp_close(m);
	serve_close(&s);
	return r < 0 ? r : s.status;
}
