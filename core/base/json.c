/* json - writes JSON text fast, without cJSON; reads values that cJSON has parsed. */
/* SPDX-License-Identifier: MIT */
#include "core/base/json.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "core/base/text.h"

/* Returns how many bytes need no escape, which are most of what is quoted. */
static size_t plain(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void add_unit(struct buf *out, unsigned unit)
{
	static const char digits[] = "0123456789abcdef";
	const char text[] = {'\\',
			     'u',
			     digits[unit >> 12 & 15],
			     digits[unit >> 8 & 15],
			     digits[unit >> 4 & 15],
			     digits[unit & 15]};

	buf_add(out, text, sizeof(text));
}

void json_quote(struct buf *out, const char *s, size_t len)
{
	buf_ch(out, '"');
	for (size_t i = 0; i < len;) {
		size_t n = plain(s + i, len - i);
		unsigned char c;
		int32_t cp;

		buf_add(out, s + i, n);
		i += n;
		if (i == len)
			break;
		c = (unsigned char)s[i];
		if (c == '"' || c == '\\') {
			buf_ch(out, '\\');
			buf_ch(out, s[i++]);
			continue;
		}
		n = text_decode(s + i, len - i, &cp);
		if (cp < 0)
			add_unit(out, 0xdc00u | c);
		else if (cp <= 0xffff && text_is_deceptive(cp)) /* one escape is enough */
			add_unit(out, (unsigned)cp);
		else
			buf_add(out, s + i, n);
		i += n;
	}
	buf_ch(out, '"');
}

static void begin_member(struct buf *out, const char *name)
{
	bool first = out->len && out->data[out->len - 1] == '{';

	buf_fmt(out, "%s\"%s\":", first ? "" : ",", name);
}

void json_member(struct buf *out, const char *name, const char *s)
{
	begin_member(out, name);
	if (s)
		json_quote(out, s, strlen(s));
	else
		buf_str(out, "null");
}

void json_strings(struct buf *out, const char *name, const char *const *list, size_t n)
{
	begin_member(out, name);
	buf_ch(out, '[');
	for (size_t i = 0; list && i < n && list[i]; i++) {
		buf_str(out, i ? "," : "");
		json_quote(out, list[i], strlen(list[i]));
	}
	buf_ch(out, ']');
}

struct cJSON *json_get(const struct cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

const char *json_text(const struct cJSON *o, const char *name)
{
	return cJSON_GetStringValue(json_get(o, name));
}

const char *json_text_or(const struct cJSON *o, const char *name, const char *otherwise)
{
	const cJSON *item = json_get(o, name);

	if (!item)
		return otherwise;
	return cJSON_IsString(item) ? item->valuestring : "";
}
