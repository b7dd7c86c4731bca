/* json_print - writes a JSON value like cJSON, except for numbers. */
/* SPDX-License-Identifier: MIT */
#include "core/base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Writes a number. cJSON writes 1795879800577940 as 1.79587980057794e+15: an integer by the JSON
 * Schema, but an error for readers that decode into 64 bits.
 */
static void print_number(struct buf *out, double v)
{
	char text[64];
	const char *e;

	if (!isfinite(v)) {
		buf_str(out, "null");
	} else if (v == floor(v)) {
		buf_fmt(out, "%.0f", v == 0 ? 0.0 : v);
	} else {
		snprintf(text, sizeof(text), "%.15g", v);
		if (strtod(text, NULL) != v)
			snprintf(text, sizeof(text), "%.17g", v);
		e = strchr(text, 'e'); /* "1.5e-07": a fraction, so the exponent is negative */
		if (e)
			buf_fmt(out, "%.*f", 17 - (int)strtol(e + 1, NULL, 10), v);
		else
			buf_str(out, text);
	}
}

static void print_string(struct buf *out, const char *s)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	buf_ch(out, '"');
	for (; *s; s++) {
		const char *at = strchr(named, *s);

		if (at)
			buf_fmt(out, "\\%c", letters[at - named]);
		else if ((unsigned char)*s < 0x20)
			buf_fmt(out, "\\u%04x", (unsigned)(unsigned char)*s);
		else
			buf_ch(out, *s);
	}
	buf_ch(out, '"');
}

static void print(struct buf *out, const cJSON *v);

static void print_members(struct buf *out, const cJSON *v)
{
	const bool object = cJSON_IsObject(v);

	buf_ch(out, object ? '{' : '[');
	for (const cJSON *one = v->child; one; one = one->next) {
		if (one != v->child)
			buf_ch(out, ',');
		if (object) {
			print_string(out, one->string);
			buf_ch(out, ':');
		}
		print(out, one);
	}
	buf_ch(out, object ? '}' : ']');
}

/* Writes a value. cJSON limits the depth of what it parses. */
static void print(struct buf *out, const cJSON *v)
{
	if (cJSON_IsObject(v) || cJSON_IsArray(v))
		print_members(out, v);
	else if (cJSON_IsString(v))
		print_string(out, v->valuestring);
	else if (cJSON_IsNumber(v))
		print_number(out, v->valuedouble);
	else if (cJSON_IsRaw(v))
		buf_str(out, v->valuestring);
	else
		buf_str(out, cJSON_IsTrue(v) ? "true" : cJSON_IsFalse(v) ? "false" : "null");
}

char *json_print(const cJSON *v)
{
	AUTO_BUF struct buf out = BUF_INIT;

	print(&out, v);
	return buf_take(&out);
}
