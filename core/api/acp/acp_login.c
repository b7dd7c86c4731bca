/* acp_login - ways to log in that an editor would run as a command, outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "core/api/acp/acp_priv.h"
#include "core/base/json.h"

/* Compares names without case, as some parsers do. */
static bool is_named(const cJSON *one, const char *name)
{
	return one->string && strcasecmp(one->string, name) == 0;
}

/* Returns whether the agent chooses the command of this login, or its arguments or environment. */
static bool is_command(const cJSON *method)
{
	const cJSON *one, *more;

	for (one = method->child; one; one = one->next) {
		const char *type = is_named(one, "type") ? cJSON_GetStringValue(one) : NULL;

		if (type && strcasecmp(type, "terminal") == 0)
			return true;
		for (more = is_named(one, "_meta") ? one->child : NULL; more; more = more->next)
			if (is_named(more, "terminal-auth"))
				return true;
	}
	return false;
}

static bool look_at_methods(cJSON *methods, bool remove)
{
	cJSON *one, *next;
	bool found = false;

	for (one = methods->child; one; one = next) {
		next = one->next;
		if (!is_command(one))
			continue;
		found = true;
		if (remove)
			cJSON_Delete(cJSON_DetachItemViaPointer(methods, one));
	}
	return found;
}

bool acp_login(cJSON *message, bool remove)
{
	cJSON *one, *more;
	bool found = false;

	for (one = message ? message->child : NULL; one; one = one->next) {
		if (cJSON_IsArray(message) && cJSON_IsObject(one))
			found |= acp_login(one, remove);
		for (more = is_named(one, "result") ? one->child : NULL; more; more = more->next)
			if (is_named(more, "authMethods"))
				found |= look_at_methods(more, remove);
	}
	return found;
}

void acp_login_unoffered(cJSON *capabilities)
{
	cJSON *auth = json_get(capabilities, "auth");
	cJSON *meta = json_get(capabilities, "_meta");

	if (cJSON_IsObject(auth) && json_get(auth, "terminal"))
		cJSON_ReplaceItemInObjectCaseSensitive(auth, "terminal", cJSON_CreateFalse());
	if (cJSON_IsObject(meta))
		cJSON_DeleteItemFromObjectCaseSensitive(meta, "terminal-auth");
}
