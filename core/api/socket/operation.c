/* operation - serves a client of the session's socket that speaks the protocol of cordon serve. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/api/socket/api_priv.h"
#include "core/api/describe.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/base/json.h"
#include "core/session/answers/answers.h"

cJSON *operation_approvals(const struct model *m)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "requests");

	for (size_t i = 0; i < m->n_asks; i++)
		cJSON_AddItemToArray(list, describe_ask(&m->asks[i]));
	return o;
}

int operation_answer(struct session *s, const char *by, const cJSON *payload, struct fault *f)
{
	const cJSON *id = json_get(payload, "id");
	struct answer a = {.allow = cJSON_IsTrue(json_get(payload, "allow"))};
	struct err err = {0};
	int r;

	if (answers_from_json(payload, &a, &err) < 0)
		return fault_err(f, FAULT_PROTOCOL_INVALID, &err);
	r = session_answer(s, by, (uint64_t)id->valuedouble, &a, &err);
	if (r == -ESRCH)
		return fault_err(f, FAULT_APPROVAL_UNKNOWN, &err);
	return r < 0 ? fault_err(f, FAULT_APPROVAL_IMPOSSIBLE, &err) : 0;
}

static int perform(struct session *s, const char *by, const cJSON *message, cJSON **ret,
		   struct fault *f)
{
	const cJSON *payload = json_get(message, "payload");
	const char *type;

	if (schema_check("protocol.json", schema_find("protocol.json", "$defs/envelope"), message,
			 f) < 0)
		return -1;
	type = json_get(message, "type")->valuestring;
	if (!str_eq(type, "approval.list") && !str_eq(type, "approval.answer"))
		return fault_say(f, FAULT_PROTOCOL_UNKNOWN_OPERATION,
				 "type: over this socket: approval.list, approval.answer");
	if (str_eq(type, "approval.list")) {
		*ret = operation_approvals(session_model(s));
		return 0;
	}
	if (!payload)
		return fault_say(f, FAULT_PROTOCOL_INVALID, "/payload: is missing");
	if (schema_check_payload(type, payload, f) < 0)
		return -1;
	return operation_answer(s, by, payload, f);
}

bool operation_serve(struct session *s, const char *by, const char *line, size_t len,
		     struct buf *out)
{
	AUTO_FREE char *copy = xstrndup(line, len);
	cJSON *message = NULL, *result = NULL, *response;
	const cJSON *id = NULL;
	struct fault f = {0};
	char *text;
	int r;

	if (strstr(copy, "request_id"))
		message = request_line_parse(copy, strlen(copy));
	if (message)
		id = json_get(message, "request_id");
	if (!id) {
		cJSON_Delete(message);
		return false;
	}
	r = request_line_is_id(id) ? perform(s, by, message, &result, &f)
				   : fault_say(&f, FAULT_PROTOCOL_INVALID, "/request_id: is none");
	response = describe_response(request_line_is_id(id) ? id : NULL, result, r < 0 ? &f : NULL);
	text = json_print(response);
	buf_fmt(out, "%s\n", text);
	free(text);
	cJSON_Delete(response);
	cJSON_Delete(message);
	fault_done(&f);
	return true;
}
