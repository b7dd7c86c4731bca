/* shim_protocol - JSON lines between the host and the guest's pid 1. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/monitor/shim_protocol.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/base64.h"
#include "core/base/json.h"
#include "core/session/backend.h"

#define PID_MAX	   4194304
#define NUMBER_MAX 9007199254740992.0 /* doubles are exact integers up to here */

/* Reads a whole number from 0 to max; 0 if it is absent. Returns false for any other value. */
static bool get_number(const cJSON *o, const char *name, double max, int64_t *ret)
{
	const cJSON *v = json_get(o, name);

	*ret = 0;
	if (!v)
		return true;
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= max))
		return false;
	*ret = (int64_t)v->valuedouble;
	return true;
}

static bool get_small(const cJSON *o, const char *name, int *ret)
{
	int64_t n = 0;
	bool ok = get_number(o, name, 255, &n);

	*ret = (int)n;
	return ok;
}

static enum shim_kind kind_of(const char *type)
{
	static const char *const names[] = {
		[SHIM_READY] = "ready",	       [SHIM_STARTED] = "step_started",
		[SHIM_FAILED] = "exec_failed", [SHIM_OUTPUT] = "output",
		[SHIM_TAKEN] = "taken",	       [SHIM_COMPLETED] = "step_completed",
		[SHIM_PROCESS] = "process",    [SHIM_IS] = "is",
		[SHIM_EXECS] = "exec",	       [SHIM_LEFT] = "left",
		[SHIM_STEP] = "step",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i], type))
			return (enum shim_kind)i;
	return SHIM_OTHER;
}

static bool get_pid(const cJSON *o, const char *name, int *ret)
{
	int64_t n = 0;
	bool ok = get_number(o, name, PID_MAX, &n);

	*ret = (int)n;
	return ok;
}

static bool get_data(const cJSON *o, struct shim_event *e)
{
	const char *text = json_text(o, "data");
	const char *packed = json_text(o, "data64");

	if (text) {
		e->data = xstrdup(text);
		e->len = strlen(text);
	} else if (packed) {
		e->data = base64_decode(packed, &e->len);
	}
	return e->data;
}

static bool get_output(const cJSON *o, struct shim_event *e)
{
	const char *stream = json_text(o, "stream");

	e->to_stderr = str_eq(stream, "stderr");
	return (e->to_stderr || str_eq(stream, "stdout")) && get_data(o, e);
}

static bool get_process(const cJSON *o, struct shim_event *e)
{
	const char *exe = json_text(o, "exe");

	e->exe = exe ? xstrdup(exe) : NULL;
	e->execed = cJSON_IsTrue(json_get(o, "execed"));
	return e->exe && e->id <= PID_MAX && get_pid(o, "parent", &e->parent) &&
	       get_pid(o, "group", &e->group) && get_number(o, "age", NUMBER_MAX, &e->n) &&
	       get_data(o, e);
}

static bool fill(const cJSON *o, struct shim_event *e)
{
	const char *type = json_text(o, "type");

	if (!type)
		return false;
	e->kind = kind_of(type);
	e->full = cJSON_IsTrue(json_get(o, "full"));
	if (!get_number(o, "id", NUMBER_MAX, &e->id) || !get_small(o, "signal", &e->signal) ||
	    !get_small(o, "code", &e->code) || !get_pid(o, "pid", &e->pid))
		return false;
	if (e->kind == SHIM_PROCESS || e->kind == SHIM_EXECS)
		return get_process(o, e);
	if (e->kind == SHIM_LEFT || e->kind == SHIM_IS)
		return e->id <= PID_MAX && get_small(o, "exit_code", &e->status);
	if (e->kind == SHIM_OUTPUT)
		return get_output(o, e);
	if (e->kind == SHIM_STEP)
		return get_data(o, e);
	return get_small(o, e->kind == SHIM_COMPLETED ? "exit_code" : "status", &e->status) &&
	       get_number(o, e->kind == SHIM_COMPLETED ? "tty_bytes" : "n", NUMBER_MAX, &e->n) &&
	       e->signal < 65;
}

int shim_parse(struct shim_event *ret, const char *line, size_t len)
{
	cJSON *o = len <= SHIM_LINE ? cJSON_ParseWithLength(line, len) : NULL;
	bool ok;

	*ret = (struct shim_event){0};
	ok = cJSON_IsObject(o) && fill(o, ret);
	cJSON_Delete(o);
	if (ok)
		return 0;
	shim_event_done(ret);
	return -EBADMSG;
}

void shim_event_done(struct shim_event *e)
{
	free(e->exe);
	free(e->data);
	*e = (struct shim_event){0};
}

int shim_exec(struct buf *out, const struct shim_exec *e)
{
	size_t before = out->len;

	buf_fmt(out, "{\"type\":\"exec\",\"id\":%" PRId64, e->id);
	json_strings(out, "argv", e->argv, SIZE_MAX);
	json_strings(out, "env", e->env, SIZE_MAX);
	json_member(out, "cwd", e->cwd);
	buf_fmt(out, ",\"uid\":%u,\"gid\":%u,\"tty\":%s,\"rows\":%u,\"cols\":%u", e->uid, e->gid,
		e->tty ? "true" : "false", e->rows, e->cols);
	if (e->limits)
		buf_fmt(out,
			",\"processes\":%" PRId64 ",\"memory\":%" PRId64 ",\"files\":%" PRId64
			",\"seconds\":%" PRId64,
			e->limits->processes, e->limits->memory, e->limits->open_files,
			e->limits->cpu_seconds);
	buf_str(out, "}\n");
	if (out->len - before <= SHIM_EXEC)
		return 0;
	buf_truncate(out, before);
	return -E2BIG;
}

void shim_input(struct buf *out, int64_t id, const char *data, size_t len, bool end)
{
	buf_fmt(out, "{\"type\":\"input\",\"id\":%" PRId64 ",\"data64\":\"", id);
	base64_encode(out, data, len);
	buf_fmt(out, "\",\"end\":%s}\n", end ? "true" : "false");
}

void shim_resize(struct buf *out, int64_t id, unsigned rows, unsigned cols)
{
	buf_fmt(out, "{\"type\":\"resize\",\"id\":%" PRId64 ",\"rows\":%u,\"cols\":%u}\n", id, rows,
		cols);
}

void shim_signal(struct buf *out, int64_t id, int sig)
{
	buf_fmt(out, "{\"type\":\"signal\",\"id\":%" PRId64 ",\"sig\":%d}\n", id, sig);
}

void shim_rollback(struct buf *out, int64_t step)
{
	buf_fmt(out, "{\"type\":\"rollback_notify\",\"step_id\":%" PRId64 "}\n", step);
}

void shim_who(struct buf *out, int64_t tid)
{
	buf_fmt(out, "{\"type\":\"who\",\"id\":%" PRId64 "}\n", tid);
}

void shim_kill(struct buf *out, int64_t pid, int sig)
{
	buf_fmt(out, "{\"type\":\"kill\",\"id\":%" PRId64 ",\"sig\":%d}\n", pid, sig);
}

void shim_answer(struct buf *out, int64_t id, const char *data, size_t len)
{
	buf_fmt(out, "{\"type\":\"answer\",\"id\":%" PRId64 ",\"data64\":\"", id);
	base64_encode(out, data, len);
	buf_str(out, "\"}\n");
}

void shim_shutdown(struct buf *out)
{
	buf_str(out, "{\"type\":\"shutdown\"}\n");
}
