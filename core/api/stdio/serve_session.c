/* serve_session - session.start, stop, reset and status. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/stdio/serve_priv.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/config/config.h"
#include "core/journal/journal.h"

/* ---- words of the session -------------------------------------------------------------------- */

static cJSON *status(struct serve *s)
{
	const struct request *r;
	const char *command = NULL;
	size_t queued;
	uint32_t runs = s->engine ? jobs_running(engine_jobs(s->engine), &queued) : 0;

	for (r = s->open; r && runs; r = r->next)
		if (r->job == runs)
			command = r->command;
	return describe_status(s->engine, &s->dirs, command, s->failed);
}

static void on_started(void *data)
{
	struct serve *s = data;
	struct request *r = take_ptr(&s->starting);

	log_info("session", "session %s runs", engine_model(s->engine)->session);
	log_info("fs_backend", "backend %s, in %s", engine_model(s->engine)->backend,
		 engine_model(s->engine)->folder);
	if (!r)
		return;
	r->result = status(s);
	serve_respond(r, 0);
}

static void on_changed(void *data)
{
	serve_tell(data);
}

static void on_said(void *data, const char *words, bool fatal)
{
	struct serve *s = data;

	if (fatal)
		serve_fail(s, words, true);
	else
		serve_warn(s, words);
}

/* Handles a failed session. The engine is the caller, so session.stop or the next start closes
 * it. */
static void on_failed(void *data, int code, const char *words)
{
	struct serve *s = data;
	struct request *r = take_ptr(&s->starting);

	(void)code;
	log_error("session", "%s", words);
	free(s->failed);
	s->failed = xstrdup(words);
	serve_tell(s);
	serve_fail(s, words, true);
	if (r)
		serve_respond(r, fault_say(&r->fault, FAULT_SESSION_NOT_STARTED, "%s", words));
}

static const struct engine_listener listener = {.started = on_started,
						.changed = on_changed,
						.said = on_said,
						.answered = model_undo_answered,
						.failed = on_failed};

/* ---- start ----------------------------------------------------------------------------------- */

/* Reads the directories in the given order, resolves and labels them. */
static int read_dirs(struct dirs *p, const cJSON *payload, struct fault *f)
{
	const cJSON *one;

	for (one = json_first(json_get(payload, "working_directories")); one; one = one->next) {
		const char *path = json_get(one, "path")->valuestring;
		const char *label = cJSON_GetStringValue(json_get(one, "label"));
		const char *access = cJSON_GetStringValue(json_get(one, "access"));
		AUTO_FREE char *real = realpath(path, NULL);

		if (!real)
			return fault_say(f, FAULT_SESSION_DIRECTORY,
					 "working directory '%s': there is none: make it first",
					 path);
		if (dirs_add(p, real, label, str_eq(access, "read_only"), f) < 0)
			return -1;
	}
	return 0;
}

/* Reports a history of another version, without which the session begins. */
static void tell_version(struct serve *s, const struct session_spec *spec)
{
	for (size_t i = 0; spec->folders[i]; i++) {
		const struct journal_spec look = {.folder = spec->folders[i],
						  .state_dir = spec->state_dir,
						  .read_only = true};
		struct journal *j = NULL;
		struct err err = {0};
		cJSON *event;
		int r = journal_open(&j, &look, NULL, &err);

		journal_close(j);
		if (r != -EPROTO)
			continue;
		event = cJSON_CreateObject();
		describe_add(event, "path", spec->folders[i]);
		describe_add(event, "message", err.text);
		serve_event(s, "event.undo_version_mismatch", event);
	}
}

/* Removes what the backend has kept of sessions in this folder. */
static int forget_kept(const struct session_spec *spec, struct fault *f)
{
	struct err err = {0};
	int r = 0;

	if (spec->backend && spec->backend->forget)
		r = spec->backend->forget(spec->state_dir, spec->folders[0], &err);
	return r < 0 && r != -ENOENT ? fault_err(f, FAULT_SESSION_NOT_STARTED, &err) : 0;
}

static int open_engine(struct serve *s, const cJSON *payload, bool forget, struct fault *f)
{
	struct session_spec *spec = NULL;
	struct err err = {0};
	int r = s->maker->make(s->maker->data, payload, &s->dirs, &spec, f);

	if (r < 0)
		return -1;
	if (!payload) {
		dirs_of_spec(&s->dirs, spec);
		spec->title = s->client ? s->client : spec->title;
	}
	s->ask_timeout = (uint32_t)config_int(spec->config, "approval.timeout");
	s->go_on = str_eq(config_str(spec->config, "api.on-disconnect"), "continue");
	tell_version(s, spec);
	if (forget)
		r = forget_kept(spec, f);
	if (r == 0 && engine_open(&s->engine, &s->loop, spec, &err) < 0)
		r = fault_err(f, FAULT_SESSION_NOT_STARTED, &err);
	if (r == 0)
		engine_listen(s->engine, &listener, s);
	else
		s->maker->forget(s->maker->data);
	return r;
}

int serve_need_session(struct serve *s, struct fault *f)
{
	if (s->engine && !engine_is_over(s->engine))
		return 0;
	if (!s->maker->by_options)
		return fault_say(f, FAULT_SESSION_NONE,
				 "no session runs: the front end that has it starts one");
	serve_end_session(s);
	return open_engine(s, NULL, false, f);
}

static int start(struct serve *s, struct request *r, const cJSON *payload, bool forget)
{
	free(take_ptr(&s->failed));
	s->audit = !cJSON_IsFalse(json_get(payload, "audit"));
	if (read_dirs(&s->dirs, payload, &r->fault) < 0 ||
	    open_engine(s, payload, forget, &r->fault) < 0) {
		dirs_done(&s->dirs);
		return -1;
	}
	s->starting = r;
	return 1;
}

int op_session_start(struct serve *s, struct request *r)
{
	int outcome;

	if (s->engine && !engine_is_over(s->engine))
		return fault_say(&r->fault, FAULT_SESSION_EXISTS,
				 "a session runs already: session.stop it first");
	serve_end_session(s);
	outcome = start(s, r, r->payload, false);
	if (outcome > 0)
		s->start = cJSON_Duplicate(r->payload, true);
	return outcome;
}

/* ---- stop ------------------------------------------------------------------------------------ */

void serve_end_session(struct serve *s)
{
	struct request *r = take_ptr(&s->starting), *next;

	if (r)
		serve_respond(r, fault_say(&r->fault, FAULT_SESSION_ENDED,
					   "the session was ended before it ran"));
	if (s->engine) {
		log_info("session", "session %s ends", engine_model(s->engine)->session);
		engine_unlisten(s->engine, s);
		engine_close(take_ptr(&s->engine));
		s->maker->forget(s->maker->data);
	}
	/* No undo will answer these requests after the end of the session. */
	for (r = s->open; r; r = next) {
		next = r->next;
		if (!str_starts(r->op->name, "session."))
			serve_respond(r, fault_say(&r->fault, FAULT_SESSION_ENDED,
						   "the session has ended"));
	}
	serve_forget_told(s);
	model_forget(s);
	serve_output_forget(s);
	free(take_ptr(&s->failed));
	dirs_done(&s->dirs);
	cJSON_Delete(s->start);
	s->start = NULL;
}

int op_session_stop(struct serve *s, struct request *r)
{
	if (!s->engine)
		return fault_say(&r->fault, FAULT_SESSION_NONE, "no session runs");
	serve_end_session(s);
	return 0;
}

int op_session_reset(struct serve *s, struct request *r)
{
	cJSON *again = s->start ? cJSON_Duplicate(s->start, true) : NULL;
	int outcome;

	if (!again)
		return fault_say(&r->fault, FAULT_SESSION_NONE, "no session runs");
	serve_end_session(s);
	outcome = start(s, r, again, serve_flag(r, "forget_vm"));
	if (outcome > 0)
		s->start = again;
	else
		cJSON_Delete(again);
	return outcome;
}

int op_session_status(struct serve *s, struct request *r)
{
	r->result = status(s);
	return 0;
}
