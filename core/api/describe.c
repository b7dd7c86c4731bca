/* describe - text, sessions and requests as JSON. */
/* SPDX-License-Identifier: MIT */
#include "core/api/describe.h"

#include <string.h>

#include "core/api/socket/api_priv.h"
#include "core/base/base64.h"
#include "core/base/json.h"
#include "core/base/text.h"

/* ---- text ------------------------------------------------------------------------------------ */

/* Replaces "\\u000a" by "\\n": models read these lines, and each character costs them. */
static void shorten(struct buf *text)
{
	static const char *const longs[] = {"\\u000a", "\\u0009", "\\u000d"};
	char *to = text->data;

	for (const char *from = text->data; *from;) {
		size_t n = *from == '\\' ? 2 : 1, i = 0;

		while (i < ARRAY_LEN(longs) && strncmp(from, longs[i], 6) != 0)
			i++;
		if (i < ARRAY_LEN(longs)) {
			*to++ = '\\';
			*to++ = "ntr"[i];
			from += 6;
			continue;
		}
		memmove(to, from, n);
		to += n;
		from += n;
	}
	buf_truncate(text, (size_t)(to - text->data));
}

static cJSON *quoted(const char *s, size_t len)
{
	AUTO_BUF struct buf text = BUF_INIT;

	json_quote(&text, s, len);
	shorten(&text);
	return cJSON_CreateRaw(text.data);
}

cJSON *describe_text(const char *s)
{
	return s ? quoted(s, strlen(s)) : cJSON_CreateNull();
}

void describe_add(cJSON *object, const char *name, const char *s)
{
	cJSON_AddItemToObject(object, name, describe_text(s));
}

bool describe_is_utf8(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len;) {
		int32_t cp;
		size_t n = text_decode(bytes + i, len - i, &cp);

		if (cp < 0)
			return false;
		i += n;
	}
	return true;
}

void describe_bytes(cJSON *object, const char *name, const char *bytes, size_t len)
{
	AUTO_BUF struct buf text = BUF_INIT;
	bool plain = describe_is_utf8(bytes, len);

	if (plain) {
		cJSON_AddItemToObject(object, name, quoted(bytes, len));
	} else {
		base64_encode(&text, bytes, len);
		cJSON_AddStringToObject(object, name, text.data);
	}
	cJSON_AddStringToObject(object, "encoding", plain ? "utf-8" : "base64");
}

/* ---- responses ------------------------------------------------------------------------------- */

static cJSON *describe_fault(const struct fault *f)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "code", f->code);
	cJSON_AddStringToObject(o, "name", fault_name(f->code));
	describe_add(o, "message", f->message);
	if (f->data)
		cJSON_AddItemToObject(o, "data", cJSON_Duplicate(f->data, true));
	return o;
}

cJSON *describe_response(const cJSON *id, cJSON *result, const struct fault *f)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "type", "response");
	cJSON_AddItemToObject(o, "request_id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
	cJSON_AddStringToObject(o, "status", f ? "error" : "ok");
	if (f)
		cJSON_AddItemToObject(o, "error", describe_fault(f));
	else
		cJSON_AddItemToObject(o, "payload", result ? result : cJSON_CreateObject());
	return o;
}

/* ---- sessions -------------------------------------------------------------------------------- */

static size_t steps_in_effect(const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_steps; i++)
		n += !m->steps[i].undone && !m->steps[i].gone;
	return n;
}

static const char *state_of(struct engine *e, const char *words, uint32_t runs)
{
	if (words)
		return "error";
	if (!e)
		return "none";
	if (!engine_model(e)->started)
		return "starting";
	return runs ? "running" : "idle";
}

cJSON *describe_status(struct engine *e, const struct dirs *dirs, const char *command,
		       const char *words)
{
	const struct model *m = e ? engine_model(e) : NULL;
	cJSON *o = cJSON_CreateObject();
	size_t queued = 0;
	uint32_t runs = e ? jobs_running(engine_jobs(e), &queued) : 0;

	if (!words && e && jobs_broken(engine_jobs(e))) /* its own words come later */
		words = "the session has ended";
	cJSON_AddStringToObject(o, "state", state_of(e, words, runs));
	describe_add(o, "session", m ? m->session : NULL);
	describe_add(o, "backend", m ? m->backend : NULL);
	describe_add(o, "filesystem_backend",
		     m ? str_eq(m->backend, "vm") ? "vm" : "system-calls" : NULL);
	describe_add(o, "network_policy",
		     m ? m->network	       ? "open"
			     : m->asks_network ? "ask"
					       : "none"
		       : NULL);
	cJSON_AddItemToObject(o, "directories", dirs_json(dirs));
	describe_add(o, "command", runs ? command : NULL);
	cJSON_AddNumberToObject(o, "queued", (double)queued);
	cJSON_AddNumberToObject(o, "pending", m ? (double)m->n_asks : 0);
	cJSON_AddNumberToObject(o, "steps", m ? (double)steps_in_effect(m) : 0);
	describe_add(o, "message", words);
	return o;
}

/* ---- requests and rows ----------------------------------------------------------------------- */

static cJSON *braced(struct buf *members)
{
	AUTO_BUF struct buf text = BUF_INIT;

	buf_fmt(&text, "{%s}", members->data);
	return cJSON_CreateRaw(text.data);
}

cJSON *describe_ask(const struct ask *a)
{
	AUTO_BUF struct buf members = BUF_INIT;

	message_request_members(&members, a);
	return braced(&members);
}

cJSON *describe_connection(const struct ask *a)
{
	AUTO_BUF struct buf members = BUF_INIT;

	return message_connection_members(&members, a) ? braced(&members) : NULL;
}

cJSON *describe_row(const struct row *row)
{
	AUTO_BUF struct buf members = BUF_INIT;

	message_row_members(&members, row);
	return braced(&members);
}
