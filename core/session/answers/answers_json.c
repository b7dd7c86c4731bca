/* answers_json - the scope, extent and end of an answer as members of a JSON object. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/session/answers/answers.h"

int answers_from_json(const struct cJSON *object, struct answer *ret, struct err *err)
{
	const cJSON *until = json_get(object, "until");
	const cJSON *persist = json_get(object, "persist");
	const cJSON *up = json_get(object, "up");
	int scope = answers_find_scope(json_text_or(object, "scope", "once"));
	int extent = answers_find_extent(json_text_or(object, "extent", "exact"));

	if (scope < 0)
		return err_say(err, -EINVAL,
			       "scope: use once, step, session, project, user or org");
	if (extent < 0)
		return err_say(err, -EINVAL, "extent: use exact, dir, tree or bundle");
	if (until &&
	    (!cJSON_IsNumber(until) || until->valuedouble < 0 || until->valuedouble > 1e12))
		return err_say(err, -EINVAL, "until: use seconds since 1970");
	if (up && (!cJSON_IsNumber(up) || up->valuedouble < 0 || up->valuedouble > ANSWER_UP_MAX))
		return err_say(err, -EINVAL, "up: use a number of directories");
	if (persist && !cJSON_IsBool(persist))
		return err_say(err, -EINVAL, "persist: use true or false");
	if (cJSON_IsTrue(persist) && scope <= SCOPE_SESSION)
		return err_say(err, -EINVAL, "persist: the scope must be project, user or org");
	if (cJSON_IsFalse(persist) && scope > SCOPE_SESSION)
		scope = SCOPE_SESSION;
	ret->scope = (enum answer_scope)scope;
	ret->extent = (enum answer_extent)extent;
	ret->up = up ? (unsigned)up->valuedouble : 0;
	ret->until =
		until && until->valuedouble >= 1 ? clock_expiry_of((int64_t)until->valuedouble) : 0;
	return 0;
}
