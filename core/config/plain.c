/* plain - configuration that any reader of git-config syntax understands alike. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/config/config_priv.h"

/*
 * Opening libgit2 costs 10 ms of processor time (measured: half of it its OpenSSL starting up), two
 * thirds of what a whole start may take. Nearly every file is headers, plain settings and comments,
 * one a line: those are read here. Anything else - quotes, escapes, continued lines, subsections,
 * a comment behind a value, bad syntax - is libgit2's, from the first line on. fuzz_config.c holds
 * the two against each other.
 */
struct plain {
	char section[64];
	char key[128];
	char value[1024];
	bool has_value;
};

enum line_kind {
	LINE_UNUSUAL,
	LINE_NOTHING,
	LINE_SETTING,
};

/* Letters, digits and dashes into out, in lower case; the number of bytes used. */
static size_t read_name(const char *p, const char *end, char *out, size_t size)
{
	size_t n = 0;

	while (p + n < end && n + 1 < size && (isalnum((unsigned char)p[n]) || p[n] == '-')) {
		out[n] = (char)tolower((unsigned char)p[n]);
		n++;
	}
	out[n] = '\0';
	return n;
}

static enum line_kind read_header(struct plain *s, const char *p, const char *end)
{
	size_t n = read_name(p + 1, end, s->section, sizeof(s->section));

	return n && p + 1 + n + 1 == end && end[-1] == ']' ? LINE_NOTHING : LINE_UNUSUAL;
}

static enum line_kind read_setting(struct plain *s, const char *p, const char *end)
{
	char name[sizeof(s->key) - sizeof(s->section)];
	size_t n = read_name(p, end, name, sizeof(name));

	if (n == 0 || !isalpha((unsigned char)*p) || !*s->section)
		return LINE_UNUSUAL;
	snprintf(s->key, sizeof(s->key), "%s.%s", s->section, name);
	p += n;
	while (p < end && *p == ' ')
		p++;
	s->has_value = p < end;
	if (!s->has_value)
		return LINE_SETTING;
	if (*p++ != '=')
		return LINE_UNUSUAL;
	while (p < end && *p == ' ')
		p++;
	if (p == end || (size_t)(end - p) >= sizeof(s->value))
		return LINE_UNUSUAL;
	memcpy(s->value, p, (size_t)(end - p));
	s->value[end - p] = '\0';
	return LINE_SETTING;
}

/* One line without its newline. */
static enum line_kind read_line(struct plain *s, const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	for (const char *c = p; c < end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '\\')
			return LINE_UNUSUAL;
	if (p == end || *p == '#' || *p == ';')
		return LINE_NOTHING;
	for (const char *c = p; c < end; c++)
		if (strchr("\"#;", *c))
			return LINE_UNUSUAL;
	return *p == '[' ? read_header(s, p, end) : read_setting(s, p, end);
}

static int each(const char *text, config_on_setting on, void *data)
{
	struct plain s = {.section = ""};
	int line = 1;

	for (const char *p = text; *p; line++) {
		const char *nl = strchrnul(p, '\n');
		enum line_kind k = read_line(&s, p, nl);
		int r = 0;

		if (k == LINE_UNUSUAL)
			return -ENOTSUP;
		if (k == LINE_SETTING && on)
			r = on(data, s.key, s.has_value ? s.value : NULL, line);
		if (r < 0)
			return r;
		p = *nl ? nl + 1 : nl;
	}
	return 0;
}

int config_read_plain(const char *text, config_on_setting on, void *data)
{
	int r = each(text, NULL, NULL);

	return r < 0 ? r : each(text, on, data);
}
