/* schema - checks JSON values by the shipped schemas. */
/* SPDX-License-Identifier: MIT */
#include "core/api/schema.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/api/describe.h"
#include "core/api/request_line.h"
#include "core/base/buf.h"
#include "core/base/builtin.h"
#include "core/base/json.h"

struct document {
	const char *name;
	cJSON *root;
};

static struct document documents[] = {{"protocol.json", NULL}, {"mcp.json", NULL}};

/* Returns the document, parsed at the first call. */
static const cJSON *document_root(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		const char *text;

		if (!str_eq(documents[i].name, name))
			continue;
		text = documents[i].root ? NULL : builtin_find(name);
		if (text)
			documents[i].root = cJSON_Parse(text);
		assert(documents[i].root); /* it is compiled in, and a test reads it */
		return documents[i].root;
	}
	return NULL;
}

static const cJSON *walk(const cJSON *at, const char *path)
{
	while (at && *path) {
		size_t len = strcspn(path, "/");
		AUTO_FREE char *name = xstrndup(path, len);

		at = json_get(at, name);
		path += len + (path[len] == '/');
	}
	return at;
}

const cJSON *schema_find(const char *document, const char *fmt, ...)
{
	AUTO_BUF struct buf path = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&path, fmt, ap);
	va_end(ap);
	return walk(document_root(document), path.data);
}

/* ---- checking -------------------------------------------------------------------------------- */

struct check {
	const char *document;
	struct buf path;
	struct fault *f;
};

static int wrong(struct check *c, const char *words)
{
	fault_say(c->f, FAULT_PROTOCOL_INVALID, "%s: %s", c->path.len ? c->path.data : "it", words);
	c->f->data = cJSON_CreateObject();
	describe_add(c->f->data, "path", c->path.data);
	return -1;
}

/* Returns the definition that a $ref, "#/$defs/x", names. */
static const cJSON *follow(const struct check *c, const cJSON *schema)
{
	for (int i = 0; i < 8; i++) {
		const cJSON *ref = json_get(schema, "$ref");

		if (!cJSON_IsString(ref))
			return schema;
		schema = walk(document_root(c->document),
			      ref->valuestring + strspn(ref->valuestring, "#/"));
	}
	return schema;
}

static bool is_of_type(const cJSON *v, const char *type)
{
	if (str_eq(type, "integer"))
		return request_line_is_integer(v);
	if (str_eq(type, "number"))
		return cJSON_IsNumber(v);
	if (str_eq(type, "string"))
		return cJSON_IsString(v);
	if (str_eq(type, "boolean"))
		return cJSON_IsBool(v);
	if (str_eq(type, "object"))
		return cJSON_IsObject(v);
	if (str_eq(type, "array"))
		return cJSON_IsArray(v);
	return str_eq(type, "null") && cJSON_IsNull(v);
}

static int check_type(struct check *c, const cJSON *schema, const cJSON *v)
{
	const cJSON *type = json_get(schema, "type"), *one;
	AUTO_BUF struct buf words = BUF_INIT;

	if (!type)
		return 0;
	buf_str(&words, "must be of type");
	if (cJSON_IsString(type)) {
		buf_fmt(&words, " %s", type->valuestring);
		return is_of_type(v, type->valuestring) ? 0 : wrong(c, words.data);
	}
	for (one = json_first(type); one; one = one->next) {
		if (is_of_type(v, one->valuestring))
			return 0;
		buf_fmt(&words, "%s %s", one == type->child ? "" : " or", one->valuestring);
	}
	return wrong(c, words.data);
}

static int check_enum(struct check *c, const cJSON *schema, const cJSON *v)
{
	const cJSON *list = json_get(schema, "enum"), *one, *fixed = json_get(schema, "const");
	AUTO_BUF struct buf words = BUF_INIT;

	if (fixed && !cJSON_Compare(fixed, v, true))
		return wrong(c, "has another value than it must");
	if (!list)
		return 0;
	buf_str(&words, "must be one of");
	for (one = json_first(list); one; one = one->next) {
		if (cJSON_Compare(one, v, true))
			return 0;
		if (cJSON_IsString(one))
			buf_fmt(&words, " '%s'", one->valuestring);
	}
	return wrong(c, words.data);
}

static int check_bound(struct check *c, const cJSON *schema, const char *name, double value,
		       const char *what)
{
	const cJSON *bound = json_get(schema, name);
	bool least = str_starts(name, "min");
	char words[96];

	if (!cJSON_IsNumber(bound) ||
	    (least ? value >= bound->valuedouble : value <= bound->valuedouble))
		return 0;
	snprintf(words, sizeof(words), "must be %s %.0f%s", least ? "at least" : "at most",
		 bound->valuedouble, what);
	return wrong(c, words);
}

static int check_size(struct check *c, const cJSON *schema, const cJSON *v)
{
	double n;

	if (cJSON_IsNumber(v))
		return check_bound(c, schema, "minimum", v->valuedouble, "") |
		       check_bound(c, schema, "maximum", v->valuedouble, "");
	if (cJSON_IsString(v)) {
		n = (double)strlen(v->valuestring);
		return check_bound(c, schema, "minLength", n, " bytes long") |
		       check_bound(c, schema, "maxLength", n, " bytes long");
	}
	if (cJSON_IsArray(v)) {
		n = cJSON_GetArraySize(v);
		return check_bound(c, schema, "minItems", n, " in number") |
		       check_bound(c, schema, "maxItems", n, " in number");
	}
	return 0;
}

static int check(struct check *c, const cJSON *schema, const cJSON *v);

static int check_at(struct check *c, const cJSON *schema, const cJSON *v, const char *name)
{
	size_t len = c->path.len;
	int r;

	buf_fmt(&c->path, "/%.64s", name);
	r = check(c, schema, v);
	if (r == 0)
		buf_truncate(&c->path, len);
	return r;
}

static int check_members(struct check *c, const cJSON *schema, const cJSON *v)
{
	const cJSON *known = json_get(schema, "properties"),
		    *rest = json_get(schema, "additionalProperties");
	const cJSON *one;
	int r = 0;

	for (one = json_first(json_get(schema, "required")); one; one = one->next) {
		if (json_get(v, one->valuestring))
			continue;
		buf_fmt(&c->path, "/%s", one->valuestring);
		return wrong(c, "is missing");
	}
	for (one = json_first(v); one; one = one->next) {
		const cJSON *sub = json_get(known, one->string);

		if (!sub && cJSON_IsFalse(rest)) {
			buf_fmt(&c->path, "/%.64s", one->string);
			return wrong(c, "is no member that there is");
		}
		if (!sub)
			sub = cJSON_IsObject(rest) ? rest : NULL;
		r = sub ? check_at(c, sub, one, one->string) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_items(struct check *c, const cJSON *schema, const cJSON *v)
{
	const cJSON *items = json_get(schema, "items"), *one;
	int i = 0, r = 0;

	for (one = json_first(v); one; one = one->next) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i++);
		r = items ? check_at(c, items, one, name) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int check(struct check *c, const cJSON *schema, const cJSON *v)
{
	schema = follow(c, schema);
	if (check_type(c, schema, v) < 0 || check_enum(c, schema, v) < 0 ||
	    check_size(c, schema, v) < 0)
		return -1;
	if (cJSON_IsObject(v))
		return check_members(c, schema, v);
	return cJSON_IsArray(v) ? check_items(c, schema, v) : 0;
}

int schema_check(const char *document, const cJSON *schema, const cJSON *value, struct fault *f)
{
	struct check c = {.document = document, .path = BUF_INIT, .f = f};
	int r = check(&c, schema, value);

	buf_done(&c.path);
	return r;
}

int schema_check_payload(const char *operation, const cJSON *payload, struct fault *f)
{
	struct check c = {.document = "protocol.json", .path = BUF_INIT, .f = f};
	int r;

	buf_str(&c.path, "/payload");
	r = check(&c, schema_find("protocol.json", "$defs/operations/%s/payload", operation),
		  payload);
	buf_done(&c.path);
	return r;
}

const cJSON *schema_default(const cJSON *schema, const char *property)
{
	return json_get(json_get(json_get(schema, "properties"), property), "default");
}
