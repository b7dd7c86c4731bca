/* serve_payload - reads the members of a request, with the protocol's defaults. */
/* SPDX-License-Identifier: MIT */
#include "core/api/stdio/serve_priv.h"

#include "core/api/schema.h"
#include "core/base/json.h"

const cJSON *serve_get(const struct request *r, const char *name)
{
	return json_get(r->payload, name);
}

static const cJSON *get_or_default(const struct request *r, const char *name)
{
	const cJSON *given = serve_get(r, name);

	return given ? given
		     : schema_default(schema_find("protocol.json", "$defs/operations/%s/payload",
						  r->op->name),
				      name);
}

bool serve_flag(const struct request *r, const char *name)
{
	return cJSON_IsTrue(get_or_default(r, name));
}

double serve_number(const struct request *r, const char *name)
{
	const cJSON *v = get_or_default(r, name);

	return v ? v->valuedouble : 0;
}

const char *serve_text(const struct request *r, const char *name, const char *otherwise)
{
	const cJSON *v = get_or_default(r, name);

	return cJSON_IsString(v) ? v->valuestring : otherwise;
}
