/* header - the first line of a cast: size, title, command, and what cordon adds. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/json.h"
#include "core/record/cast.h"

#define DEFAULT_COLS 80 /* the default of players */
#define DEFAULT_ROWS 24

static int number(const cJSON *in, const char *name, int fallback)
{
	const cJSON *v = json_get(in, name);

	return cJSON_IsNumber(v) && v->valuedouble >= 1 && v->valuedouble <= 1000 ? v->valueint
										  : fallback;
}

static char *text(const cJSON *in, const char *name)
{
	const cJSON *v = json_get(in, name);

	return cJSON_IsString(v) ? xstrdup(v->valuestring) : NULL;
}

static void fill(const cJSON *json, struct cast_header *h)
{
	const cJSON *own = json_get(json, "cordon");
	const cJSON *term = json_get(json, "term");
	const cJSON *at = json_get(json, "timestamp");
	const cJSON *idle = json_get(json, "idle_time_limit");

	if (h->version == 3) {
		h->cols = number(term, "cols", DEFAULT_COLS);
		h->rows = number(term, "rows", DEFAULT_ROWS);
	} else {
		h->cols = number(json, "width", DEFAULT_COLS);
		h->rows = number(json, "height", DEFAULT_ROWS);
	}
	if (cJSON_IsNumber(at) && at->valuedouble > 0 && at->valuedouble < 1e12)
		h->timestamp = (int64_t)at->valuedouble;
	if (cJSON_IsNumber(idle) && idle->valuedouble > 0 && idle->valuedouble < 1e9)
		h->idle_limit_s = idle->valuedouble;
	h->title = text(json, "title");
	h->command = text(json, "command");
	h->session = text(own, "session");
	h->folder = text(own, "folder");
}

int cast_header_parse(const char *line, size_t len, struct cast_header *ret, struct err *err)
{
	cJSON *json = cJSON_ParseWithLength(line, len);
	const cJSON *version = json_get(json, "version");
	int r = 0;

	*ret = (struct cast_header){0};
	if (!cJSON_IsObject(json) || !cJSON_IsNumber(version))
		r = err_say(err, -EBADMSG, "not a recording: its first line is no header");
	else if (version->valueint < 1 || version->valueint > 3)
		r = err_say(err, -ENOTSUP, "asciicast of version %d: 1, 2 and 3 can be shown",
			    version->valueint);
	if (r == 0) {
		ret->version = version->valueint;
		fill(json, ret);
	}
	cJSON_Delete(json);
	return r;
}

static void member(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_fmt(out, ",\"%s\":", name);
	cast_quote(out, value, strlen(value));
}

void cast_header_format(struct buf *out, const struct cast_header *h)
{
	if (h->version == 3)
		buf_fmt(out, "{\"version\":3,\"term\":{\"cols\":%d,\"rows\":%d}", h->cols, h->rows);
	else
		buf_fmt(out, "{\"version\":2,\"width\":%d,\"height\":%d", h->cols, h->rows);
	if (h->timestamp)
		buf_fmt(out, ",\"timestamp\":%" PRId64, h->timestamp);
	member(out, "title", h->title);
	member(out, "command", h->command);
	if (h->session) {
		buf_str(out, ",\"cordon\":{\"version\":1");
		member(out, "session", h->session);
		member(out, "folder", h->folder);
		buf_ch(out, '}');
	}
	buf_str(out, "}\n");
}

void cast_header_done(struct cast_header *h)
{
	free(h->title);
	free(h->command);
	free(h->session);
	free(h->folder);
	*h = (struct cast_header){0};
}
