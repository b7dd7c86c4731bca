/* request_line - JSON that contains bytes which are not UTF-8. */
/* SPDX-License-Identifier: MIT */
#include "core/api/request_line.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "core/api/describe.h"

/* Returns the value of the "\uXXXX" at s, or -1. */
static int unit_at(const char *s)
{
	int v = 0;

	if (s[0] != '\\' || s[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		char c = s[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* Calls fn for each lone "\udcXX". fn writes the replacement to `to` and returns its length.
 * Returns false if there was a "\u0000". */
static bool each_byte(char *text, size_t (*fn)(char *to, int unit))
{
	char *to = text;
	bool high = false, sound = true;

	for (const char *from = text; *from;) {
		int unit = unit_at(from);

		if (unit >= 0xdc80 && unit <= 0xdcff && !high) {
			to += fn(to, unit);
			from += 6;
			continue;
		}
		high = unit >= 0xd800 && unit <= 0xdbff;
		sound = sound && unit != 0;
		for (int n = unit >= 0 ? 6 : *from == '\\' && from[1] ? 2 : 1; n > 0; n--)
			*to++ = *from++;
	}
	*to = '\0';
	return sound;
}

static size_t as_byte(char *to, int unit)
{
	*to = (char)(unit & 0xff);
	return 1;
}

static size_t as_unknown(char *to, int unit)
{
	static const char unknown[] = {'\\', 'u', 'f', 'f', 'f', 'd'};

	(void)unit;
	memcpy(to, unknown, sizeof(unknown)); /* as long as the escape */
	return sizeof(unknown);
}

/* Counts the characters that may begin a value; the whole line may consist of them. */
bool request_line_is_modest(const char *line, size_t len)
{
	bool quoted = false;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (line[i] == '"')
			quoted = !quoted;
		else if (quoted)
			i += line[i] == '\\';
		else
			n += line[i] == ',' || line[i] == '[' || line[i] == '{';
	}
	return n < REQUEST_VALUES;
}

struct cJSON *request_line_parse(char *line, size_t len)
{
	const char *rest = line;
	cJSON *o;

	if (memchr(line, '\0', len) || !request_line_is_modest(line, len) ||
	    !each_byte(line, as_byte))
		return NULL;
	o = cJSON_ParseWithOpts(line, &rest, false);
	if (o && rest[strspn(rest, " \t\r")] == '\0')
		return o;
	cJSON_Delete(o);
	return NULL;
}

void request_line_strict(char *text)
{
	each_byte(text, as_unknown);
}

bool request_line_is_integer(const cJSON *v)
{
	return cJSON_IsNumber(v) && floor(v->valuedouble) == v->valuedouble &&
	       fabs(v->valuedouble) <= REQUEST_INTEGER;
}

bool request_line_is_id(const cJSON *id)
{
	return request_line_is_integer(id) ||
	       (cJSON_IsString(id) && strlen(id->valuestring) <= 128 &&
		describe_is_utf8(id->valuestring, strlen(id->valuestring)));
}
