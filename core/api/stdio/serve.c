/* serve - `cordon serve`: its client, requests and responses. */
/* SPDX-License-Identifier: MIT */
#include "core/api/stdio/serve.h"

#include <assert.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "core/api/socket/api.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/api/stdio/serve_priv.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/os/signals.h"

#define TICK_MS	 500
#define FLUSH_MS 2000 /* for the client to read the last lines */

/* ---- out ------------------------------------------------------------------------------------- */

void serve_send(struct serve *s, cJSON *o)
{
	AUTO_BUF struct buf line = BUF_INIT;
	char *text = json_print(o);

	cJSON_Delete(o);
	assert(text);
	buf_str(&line, text);
	buf_ch(&line, '\n');
	free(text);
	channel_send(s->channel, &line);
}

void serve_event(struct serve *s, const char *type, cJSON *payload)
{
	cJSON *o;

	if (!s->channel) {
		cJSON_Delete(payload);
		return;
	}
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "type", type);
	cJSON_AddItemToObject(o, "payload", payload);
	serve_send(s, o);
}

bool serve_has_room(const struct serve *s)
{
	return !s->channel || channel_waiting(s->channel) < QUEUE_FULL;
}

bool serve_hears(const struct serve *s)
{
	return s->channel && !s->input_over && !s->deaf;
}

void serve_pace(struct serve *s)
{
	if (s->engine)
		jobs_pause(engine_jobs(s->engine),
			   !serve_has_room(s) || (s->also && s->also_full(s->also_data)));
}

static void send_response(struct serve *s, const cJSON *id, cJSON *result, const struct fault *f)
{
	serve_send(s, describe_response(id, result, f));
}

static void on_tick(uv_timer_t *timer);

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct request *r)
{
	cJSON_Delete(r->id);
	cJSON_Delete(r->payload);
	cJSON_Delete(r->result);
	fault_done(&r->fault);
	buf_done(&r->text[0]);
	buf_done(&r->text[1]);
	free(r->command);
	free(r->asked);
	free(r);
}

static void log_about_request(const struct request *r)
{
	char text[32];

	if (cJSON_IsNumber(r->id))
		snprintf(text, sizeof(text), "%.0f", r->id->valuedouble);
	log_about(cJSON_IsString(r->id) ? r->id->valuestring : text);
}

void serve_respond(struct request *r, int outcome)
{
	struct serve *s = r->serve;

	log_about_request(r);
	if (outcome < 0)
		log_info("stdio_api", "%s: %s", r->op->name, r->fault.message);
	else
		log_debug("stdio_api", "%s: done", r->op->name);
	if (r->answered)
		r->answered(r, outcome);
	else
		send_response(s, r->id, outcome < 0 ? NULL : take_ptr(&r->result),
			      outcome < 0 ? &r->fault : NULL);
	DL_DELETE(s->open, r);
	s->n_open--;
	s->open_bytes -= r->bytes;
	request_free(r);
	log_about(NULL);
	serve_pace(s);
	if (!s->open)
		uv_timer_start(&s->tick, on_tick, 0, TICK_MS); /* perhaps the last job */
}

struct request *serve_find(const struct serve *s, const cJSON *id)
{
	struct request *r;

	for (r = s->open; r; r = r->next)
		if (!r->answered && cJSON_Compare(r->id, id, true))
			return r;
	return NULL;
}

static const struct operation *find_operation(const char *name)
{
	for (const struct operation *op = operations; op->name; op++)
		if (str_eq(op->name, name))
			return op;
	return NULL;
}

static int check_room(const struct serve *s, struct fault *f)
{
	if (s->n_open < REQUESTS_MAX && s->open_bytes < REQUESTS_BYTES)
		return 0;
	return fault_say(f, FAULT_PROTOCOL_BUSY,
			 "%zu requests of %zu bytes are open: try again when some are answered",
			 s->n_open, s->open_bytes);
}

/* Checks the envelope, then the payload. */
static int check(struct serve *s, const cJSON *message, const struct operation **ret,
		 struct fault *f)
{
	const cJSON *type = json_get(message, "type");
	const cJSON *id = json_get(message, "request_id");
	const cJSON *payload = json_get(message, "payload");
	cJSON *none = NULL;
	int r;

	if (schema_check("protocol.json", schema_find("protocol.json", "$defs/envelope"), message,
			 f) < 0)
		return -1;
	if (!request_line_is_id(id))
		return fault_say(f, FAULT_PROTOCOL_INVALID, "/request_id: must be UTF-8");
	*ret = find_operation(type->valuestring);
	if (!*ret)
		return fault_say(f, FAULT_PROTOCOL_UNKNOWN_OPERATION,
				 "'%.64s': there is no such operation: hello lists them",
				 type->valuestring);
	if (serve_find(s, id))
		return fault_say(f, FAULT_PROTOCOL_DUPLICATE,
				 "request_id: a request of that id is still open");
	if (check_room(s, f) < 0)
		return -1;
	if (!payload)
		payload = none = cJSON_CreateObject();
	r = schema_check_payload(type->valuestring, payload, f);
	cJSON_Delete(none);
	return r;
}

static void perform(struct serve *s, struct request *r)
{
	const struct operation *op = r->op;
	int outcome;

	log_about_request(r);
	log_info(r->answered ? "mcp" : "stdio_api", "%s", op->name);
	if (op->needs_session && !s->engine)
		outcome = fault_say(&r->fault, FAULT_SESSION_NONE,
				    "no session runs: start one with session.start");
	else if (op->needs_session && engine_is_over(s->engine))
		outcome = fault_say(&r->fault, FAULT_SESSION_ENDED, "the session has ended: %s",
				    s->failed ? s->failed : "session.start begins another");
	else
		outcome = op->fn(s, r);
	if (outcome <= 0)
		serve_respond(r, outcome);
	log_about(NULL);
}

/* Returns the approximate size of the values. request_line_parse() bounds their number and
 * depth. */
static size_t weight(const cJSON *value)
{
	size_t n = 0;

	for (const cJSON *one = value; one; one = one->next)
		n += sizeof(*one) + (one->string ? strlen(one->string) : 0) +
		     (one->valuestring ? strlen(one->valuestring) : 0) + weight(one->child);
	return n;
}

static struct request *request_new(struct serve *s, const struct operation *op, cJSON *id,
				   cJSON *payload)
{
	struct request *r = xcalloc(1, sizeof(*r));

	r->serve = s;
	r->op = op;
	r->id = id;
	r->payload = payload;
	r->text[0] = r->text[1] = (struct buf)BUF_INIT;
	r->bytes = weight(payload);
	DL_APPEND(s->open, r);
	s->n_open++;
	s->open_bytes += r->bytes;
	return r;
}

static void begin(struct serve *s, const struct operation *op, const cJSON *message)
{
	const cJSON *payload = json_get(message, "payload");
	const cJSON *id = json_get(message, "request_id");

	perform(s, request_new(s, op, cJSON_Duplicate(id, true),
			       payload ? cJSON_Duplicate(payload, true) : cJSON_CreateObject()));
}

void serve_begin(struct serve *s, const struct serve_asked *a)
{
	const struct operation *op = find_operation(a->operation);
	struct request *r;

	assert(op);
	r = request_new(s, op, cJSON_Duplicate(a->id, true), cJSON_Duplicate(a->payload, true));
	r->answered = a->answered;
	r->progress = a->progress;
	r->data = a->data;
	*a->ret = r;
	if (check_room(s, &r->fault) == 0)
		(void)!schema_check_payload(op->name, r->payload, &r->fault);
	if (r->fault.code)
		serve_respond(r, -1);
	else
		perform(s, r);
}

static void on_line(void *data, char *line, size_t len)
{
	struct serve *s = data;
	const struct operation *op = NULL;
	struct fault f = {0};
	cJSON *message;

	if (len == 0 || strspn(line, " \t\r") == len)
		return;
	message = request_line_parse(line, len);
	if (!cJSON_IsObject(message))
		fault_say(&f, FAULT_PROTOCOL_MALFORMED,
			  "the line is not a JSON object, or has more than %u values",
			  REQUEST_VALUES);
	else
		(void)!check(s, message, &op, &f);
	if (f.code) {
		const cJSON *id = json_get(message, "request_id");

		log_warn("stdio_api", "%s", f.message);
		send_response(s, request_line_is_id(id) ? id : NULL, NULL, &f);
	} else {
		begin(s, op, message);
	}
	fault_done(&f);
	cJSON_Delete(message);
}

static void on_too_long(void *data)
{
	struct fault f = {0};

	fault_say(&f, FAULT_PROTOCOL_TOO_LONG,
		  "the line is longer than %u bytes: send less at a time", SERVE_LINE);
	f.data = cJSON_CreateObject();
	cJSON_AddNumberToObject(f.data, "limit", SERVE_LINE);
	send_response(data, NULL, NULL, &f);
	fault_done(&f);
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool has_jobs(const struct serve *s)
{
	const struct request *r;

	for (r = s->open; r; r = r->next)
		if (r->job)
			return true;
	return false;
}

/* Ends after the input, when all requests are answered. If no client reads any more, running jobs
 * end with the session, or go on to their end. */
static void end_if_done(struct serve *s)
{
	bool over = s->deaf ? !s->go_on || !has_jobs(s) : s->input_over && !s->open;

	if (s->over || !over)
		return;
	s->over = true;
	uv_stop(&s->loop);
}

void serve_deaf(struct serve *s)
{
	s->deaf = true;
	end_if_done(s);
}

static void on_ended(void *data, bool reader)
{
	struct serve *s = data;

	if (reader)
		s->deaf = true;
	else
		s->input_over = true;
	serve_tell(s); /* answers waiting requests */
	end_if_done(s);
}

static void on_sent(void *data, size_t bytes)
{
	struct serve *s = data;

	serve_output_read(s, bytes);
	serve_pace(s);
	if (serve_has_room(s))
		serve_tell(s);
}

static void on_tick(uv_timer_t *timer)
{
	struct serve *s = timer->data;

	if (s->channel && channel_stalled(s->channel) > STALL_US)
		serve_output_read(s, 0); /* drops droppable output */
	serve_deny_unheard(s);		 /* a console may have left */
	end_if_done(s);
}

static void on_signal(uv_poll_t *poll, int status, int events)
{
	struct serve *s = poll->data;
	uv_os_fd_t fd;
	int sig;

	(void)status, (void)events;
	if (uv_fileno((uv_handle_t *)poll, &fd) < 0 || (sig = os_signals_next(fd)) == 0)
		return;
	s->status = 128 + sig;
	s->over = true;
	uv_stop(&s->loop);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int open_signals(struct serve *s, struct err *err)
{
	const sigset_t set = os_signals_block((const int[]){SIGINT, SIGTERM, SIGHUP, 0}, NULL);
	int fd = os_signals_open(&set);

	signal(SIGPIPE, SIG_IGN);
	if (fd < 0)
		return err_set(err, fd, "wait for signals");
	s->signals.data = s;
	uv_poll_init(&s->loop, &s->signals, fd);
	uv_poll_start(&s->signals, UV_READABLE, on_signal);
	return fd;
}

int serve_open(struct serve *s, const struct serve_maker *maker, struct err *err)
{
	*s = (struct serve){.maker = maker, .sigfd = -1};
	uv_loop_init(&s->loop);
	s->sigfd = open_signals(s, err);
	if (s->sigfd < 0)
		return s->sigfd;
	s->tick.data = s;
	uv_timer_init(&s->loop, &s->tick);
	uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
	return 0;
}

void serve_close(struct serve *s)
{
	serve_end_session(s);
	if (s->channel)
		channel_flush(s->channel, FLUSH_MS);
	while (s->open)
		serve_respond(s->open, fault_say(&s->open->fault, FAULT_SESSION_ENDED, "over"));
	channel_close(s->channel);
	uv_close((uv_handle_t *)&s->signals, NULL);
	uv_close((uv_handle_t *)&s->tick, NULL);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
	close(s->sigfd);
	cJSON_Delete(s->start);
	dirs_done(&s->dirs);
	serve_forget_told(s);
	model_forget(s);
	free(s->failed);
	free(s->client);
}

int serve_run(const struct serve_maker *maker, struct err *err)
{
	static const struct channel_listener on = {
		.line = on_line, .too_long = on_too_long, .sent = on_sent, .ended = on_ended};
	struct mcp_server *mcp = NULL;
	struct serve s;
	int r = serve_open(&s, maker, err);

	if (r < 0)
		return r;
	s.channel = channel_open(
		&s.loop, &(struct channel_spec){.in = 0, .out = 1, .longest = SERVE_LINE}, &on, &s);
	serve_hello(&s);
	if (maker->mcp_socket)
		r = maker->mcp_listen(&mcp, &s, maker->mcp_socket, err);
	if (r == 0)
		uv_run(&s.loop, UV_RUN_DEFAULT);
	if (mcp)
		maker->mcp_close(mcp);
	serve_close(&s);
	return r < 0 ? r : s.status;
}
