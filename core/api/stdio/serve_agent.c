/* serve_agent - agent.*: commands, prompts, their input and output. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <utlist.h>

#include "core/api/stdio/serve_priv.h"
#include "core/base/base64.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/session/session.h"

/* ---- output ---------------------------------------------------------------------------------- */

struct output {
	struct output *next;
	uint64_t end; /* bytes that the client must take in all to have this */
	uint32_t job;
	size_t len;
};

static void credit(struct serve *s, struct output *o)
{
	if (s->engine)
		jobs_took(engine_jobs(s->engine), o->job, o->len);
	o->len = 0;
}

void serve_output_read(struct serve *s, size_t bytes)
{
	struct output *o;

	s->taken += bytes;
	while ((o = s->output) && o->end <= s->taken) {
		credit(s, o);
		LL_DELETE(s->output, o);
		free(o);
	}
	/* The client reads nothing, and jobs must not wait for it. Output in the channel stays;
	 * later output is dropped until the client reads again. */
	if (s->channel && channel_stalled(s->channel) > STALL_US)
		for (o = s->output; o; o = o->next)
			credit(s, o);
}

void serve_output_forget(struct serve *s)
{
	struct output *o, *next;

	for (o = s->output; o && (next = o->next, true); o = next)
		free(o);
	s->output = NULL;
}

static void note_sent(struct serve *s, uint32_t job, size_t len)
{
	struct output *o = xcalloc(1, sizeof(*o));

	o->end = s->taken + channel_waiting(s->channel);
	o->job = job;
	o->len = len;
	LL_APPEND(s->output, o);
}

/* Returns how many bytes at the end begin a character that is not complete. */
static size_t tail_of(const char *bytes, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		unsigned char c = (unsigned char)bytes[len - n];

		if (c >= 0xc2 && c <= 0xf4)
			return (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) > n ? n : 0;
		if ((c & 0xc0) != 0x80)
			return 0;
	}
	return 0;
}

static void send_output(struct request *r, int stream, const char *bytes, size_t len)
{
	AUTO_BUF struct buf line = BUF_INIT;
	char *id = json_print(r->id);
	bool plain = describe_is_utf8(bytes, len);

	buf_reserve(&line, len * 2 + 256);
	buf_fmt(&line,
		"{\"type\":\"event.%s\",\"payload\":{\"request_id\":%s,\"stream\":\"%s\",\"data\":",
		r->prompts ? "agent_output" : "terminal_output", id,
		r->terminal   ? "terminal"
		: stream == 2 ? "stderr"
			      : "stdout");
	free(id);
	if (plain) {
		json_quote(&line, bytes, len);
	} else {
		buf_ch(&line, '"');
		base64_encode(&line, bytes, len);
		buf_ch(&line, '"');
	}
	buf_fmt(&line, ",\"encoding\":\"%s\"}}\n", plain ? "utf-8" : "base64");
	channel_send(r->serve->channel, &line);
}

static void tell_dropped(struct request *r)
{
	cJSON *o;

	if (!r->dropped)
		return;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "kind", "output_dropped");
	cJSON_AddStringToObject(o, "message",
				"output came faster than it was read: some was left out here");
	cJSON_AddItemToObject(o, "request_id", cJSON_Duplicate(r->id, true));
	cJSON_AddNumberToObject(o, "bytes", (double)r->dropped);
	serve_event(r->serve, "event.warning", o);
	r->dropped = 0;
}

/* Keeps output for an answer that has all of it. */
static void keep_output(struct request *r, struct buf *to, const char *bytes, size_t len)
{
	size_t room = OUTPUT_KEPT - MIN(to->len, (size_t)OUTPUT_KEPT);

	buf_add(to, bytes, MIN(len, room));
	r->cut |= len > room;
	if (r->progress)
		r->progress(r, bytes, len);
}

static void on_output(void *data, uint32_t job, int stream, const char *bytes, size_t len)
{
	struct request *r = data;
	struct serve *s = r->serve;
	struct buf *held = &r->text[stream == 2];
	size_t tail;

	if (r->answered) {
		keep_output(r, held, bytes, len);
		jobs_took(engine_jobs(s->engine), job, len);
		return;
	}
	if (s->deaf || channel_stalled(s->channel) > STALL_US) {
		r->dropped += held->len + len;
		buf_clear(held);
		jobs_took(engine_jobs(s->engine), job, len);
		return;
	}
	tell_dropped(r);
	buf_add(held, bytes, len);
	tail = tail_of(held->data, held->len);
	if (held->len > tail)
		send_output(r, stream, held->data, held->len - tail);
	buf_drop_front(held, held->len - tail);
	note_sent(s, job, len);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void flush_tails(struct request *r)
{
	for (int i = 0; i < 2; i++)
		if (r->text[i].len && !r->answered && !r->serve->deaf)
			send_output(r, i + 1, r->text[i].data, r->text[i].len);
	tell_dropped(r);
}

static void tell_turn(struct request *r, const char *state, const struct job_result *result)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "turn", (double)r->turn);
	cJSON_AddStringToObject(o, "state", state);
	cJSON_AddItemToObject(o, "request_id", cJSON_Duplicate(r->id, true));
	if (!result)
		describe_add(o, "prompt", serve_text(r, "prompt", ""));
	else
		cJSON_AddItemToObject(o, "step_id",
				      result->step ? cJSON_CreateNumber((double)result->step)
						   : cJSON_CreateNull());
	serve_event(r->serve, "event.turn", o);
}

static cJSON *ended_json(const struct serve *s, const struct job_result *e,
			 const struct step_row *back)
{
	const char *why = engine_model(s->engine)->stopped;
	int status = e->wait_status;
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "exit_code", util_exit_code(status));
	if (WIFSIGNALED(status))
		cJSON_AddNumberToObject(o, "signal", WTERMSIG(status));
	cJSON_AddItemToObject(o, "step_id",
			      e->step ? cJSON_CreateNumber((double)e->step) : cJSON_CreateNull());
	cJSON_AddNumberToObject(o, "paths", (double)e->paths);
	cJSON_AddBoolToObject(o, "cancelled", e->cancelled);
	cJSON_AddBoolToObject(o, "timed_out", e->timed_out);
	cJSON_AddBoolToObject(o, "rolled_back", back != NULL);
	if (back)
		describe_add(o, "message", why ? why : "rolled back");
	return o;
}

static void on_began(void *data, uint32_t job)
{
	struct request *r = data;

	(void)job;
	if (r->prompts && r->turn)
		tell_turn(r, "began", NULL);
}

static void on_ended(void *data, uint32_t job, const struct job_result *result)
{
	struct request *r = data;
	const struct step_row *back = NULL;

	(void)job;
	flush_tails(r);
	if (!result->error)
		back = serve_step_done(r->serve, r, result);
	if (r->prompts)
		tell_turn(r, "ended", result);
	if (result->error == -ECANCELED) {
		serve_respond(r, fault_say(&r->fault, FAULT_AGENT_CANCELLED,
					   "it was cancelled before its turn had come"));
	} else if (result->error == -EPIPE) {
		serve_respond(r, fault_say(&r->fault, FAULT_SESSION_ENDED, "%s", result->words));
	} else if (result->error) {
		serve_respond(r, fault_say(&r->fault, FAULT_AGENT_FAILED, "%s", result->words));
	} else {
		model_made(r->serve, r, result->step);
		r->result = ended_json(r->serve, result, back);
		serve_respond(r, 0);
	}
}

static const struct job_listener listener = {
	.began = on_began, .output = on_output, .ended = on_ended};

/* ---- the beginning --------------------------------------------------------------------------- */

struct texts { /* NULL-terminated; only `own` is heap */
	const char **list;
	size_t n;
};

static void add(struct texts *t, const char *s)
{
	t->list = xrealloc(t->list, (t->n + 2) * sizeof(*t->list));
	t->list[t->n++] = s;
	t->list[t->n] = NULL;
}

static char *joined(const struct texts *t)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (size_t i = 0; i < t->n; i++)
		buf_fmt(&b, "%s%s", i ? " " : "", t->list[i]);
	return buf_take(&b);
}

static char **env_of(const struct request *r)
{
	const cJSON *env = serve_get(r, "env"), *one;
	char **list = xcalloc((size_t)cJSON_GetArraySize(env) + 1, sizeof(*list));
	size_t n = 0;

	for (one = json_first(env); one; one = one->next)
		list[n++] = xasprintf("%s=%s", one->string, one->valuestring);
	return list;
}

/* Checks names of variables: putenv(3) would take a part of a name with = for the value. */
static int check_env(struct request *r)
{
	for (const cJSON *one = json_first(serve_get(r, "env")); one; one = one->next)
		if (!*one->string || strchr(one->string, '='))
			return fault_say(&r->fault, FAULT_PROTOCOL_INVALID,
					 "/payload/env: '%.64s': a name is not empty and has no =",
					 one->string);
	return 0;
}

/* input: all of the command's input; NULL: input comes later. */
static int run(struct serve *s, struct request *r, uint32_t flags, const struct texts *argv,
	       const char *input)
{
	const struct dir *p = dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault);
	const cJSON *tty = serve_get(r, "terminal");
	CLEANUP(util_free_list) char **env = env_of(r);
	AUTO_FREE char *cwd = NULL;
	struct err err = {0};
	struct job_spec spec = {
		.flags = flags | RUN_STEP,
		.refuse = str_eq(serve_text(r, "when_busy", ""), "refuse"),
		.label = r->command,
		.env = (const char *const *)env,
		.argv = argv->list,
		.input = input,
		.input_len = input ? strlen(input) : 0,
		.timeout_ms = (uint32_t)serve_number(r, "timeout_ms"),
	};

	if (!p || check_env(r) < 0)
		return -1;
	session_star(engine_session(s->engine), r->command);
	cwd = dir_path(p, serve_text(r, "cwd", "."));
	spec.cwd = cwd;
	if (tty) {
		spec.flags |= RUN_TTY;
		spec.columns = (unsigned)cJSON_GetNumberValue(cJSON_GetObjectItem(tty, "columns"));
		spec.rows = (unsigned)cJSON_GetNumberValue(cJSON_GetObjectItem(tty, "rows"));
		r->terminal = true;
	}
	r->stepped = true;
	r->job = jobs_run(engine_jobs(s->engine), &spec, &listener, r, &err);
	if (r->job)
		log_info("control", "command %s: %.400s",
			 jobs_waits(engine_jobs(s->engine), r->job) ? "queued" : "dispatched",
			 r->command);
	return r->job ? 1 : serve_job_fault(r, &err);
}

int op_execute(struct serve *s, struct request *r)
{
	const char *command = serve_text(r, "command", NULL);
	const cJSON *given = serve_get(r, "argv"), *one;
	struct texts argv = {0};
	int outcome;

	if (!command == !given)
		return fault_say(&r->fault, FAULT_PROTOCOL_INVALID,
				 "command and argv: give one of them");
	if (command) {
		add(&argv, "/bin/sh");
		add(&argv, "-c");
		add(&argv, command);
		r->command = xstrdup(command);
	} else {
		for (one = json_first(given); one; one = one->next)
			add(&argv, one->valuestring);
		r->command = joined(&argv);
	}
	outcome = run(s, r, serve_flag(r, "stdin") ? RUN_INPUT : 0, &argv, NULL);
	free(argv.list);
	return outcome;
}

static const cJSON *agent_of(const struct serve *s, const char *name)
{
	return json_get(json_get(s->start, "agent"), name);
}

int op_prompt(struct serve *s, struct request *r)
{
	const char *prompt = serve_text(r, "prompt", "");
	bool by_input = str_eq(cJSON_GetStringValue(agent_of(s, "prompt")), "input");
	const cJSON *one;
	struct texts argv = {0};
	int outcome;

	for (one = json_first(agent_of(s, "command")); one; one = one->next)
		add(&argv, one->valuestring);
	if (!argv.list)
		return fault_say(&r->fault, FAULT_AGENT_FAILED,
				 "no agent: name its command in session.start, agent");
	if (!by_input)
		add(&argv, prompt);
	r->command = joined(&argv);
	r->prompts = true;
	outcome = run(s, r, by_input ? RUN_INPUT : 0, &argv, by_input ? prompt : NULL);
	free(argv.list);
	if (outcome < 0)
		return outcome;
	r->turn = ++s->turns;
	if (!jobs_waits(engine_jobs(s->engine), r->job))
		tell_turn(r, "began", NULL);
	return outcome;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Returns the job of request_id, or the running one; 0 and the fault if there is none. */
static uint32_t job_of(struct serve *s, struct request *r)
{
	const cJSON *id = serve_get(r, "request_id");
	const struct request *of = id ? serve_find(s, id) : NULL;
	size_t queued;
	uint32_t job = of   ? of->stepped ? of->job : 0
		       : id ? 0
			    : jobs_running(engine_jobs(s->engine), &queued);

	if (!job)
		fault_say(&r->fault, FAULT_AGENT_NONE,
			  id ? "request_id: no command of that request runs" : "no command runs");
	return job;
}

static int outcome_of(struct request *r, int error)
{
	if (error == -EPIPE)
		return fault_say(&r->fault, FAULT_AGENT_NO_INPUT,
				 "it takes no input, or no more: start it with stdin or terminal");
	if (error == -EAGAIN)
		return fault_say(&r->fault, FAULT_AGENT_BUSY,
				 "it has not read its earlier input: wait");
	return error < 0 ? fault_say(&r->fault, FAULT_AGENT_NONE, "it has ended") : 0;
}

int op_cancel(struct serve *s, struct request *r)
{
	uint32_t job = job_of(s, r);

	return job ? outcome_of(r, jobs_cancel(engine_jobs(s->engine), job)) : -1;
}

int op_resize(struct serve *s, struct request *r)
{
	uint32_t job = job_of(s, r);

	if (!job)
		return -1;
	return outcome_of(r, jobs_resize(engine_jobs(s->engine), job,
					 (unsigned)serve_number(r, "columns"),
					 (unsigned)serve_number(r, "rows")));
}

int op_input(struct serve *s, struct request *r)
{
	const char *text = serve_text(r, "data", "");
	AUTO_FREE char *bytes = NULL;
	size_t len = strlen(text);
	uint32_t job = job_of(s, r);
	int e;

	if (!job)
		return -1;
	if (str_eq(serve_text(r, "encoding", ""), "base64")) {
		bytes = base64_decode(text, &len);
		if (!bytes)
			return fault_say(&r->fault, FAULT_FS_ENCODING, "data: is not base64");
	}
	e = jobs_input(engine_jobs(s->engine), job, bytes ? bytes : text, len);
	if (e == 0 && serve_flag(r, "end"))
		e = jobs_end_input(engine_jobs(s->engine), job);
	return outcome_of(r, e);
}
