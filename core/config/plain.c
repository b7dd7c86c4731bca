/* plain - configuration that any reader of git-config syntax understands alike. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/config/config_priv.h"

/*
 * Opening libgit2 costs 10 ms of processor time (measured: half of it its OpenSSL starting up), two
 * thirds of what a whole start may take. Nearly every file is headers, plain settings and comments,
 * one a line: those are read here. Anything else - quotes, escapes, continued lines, a comment
 * behind a value, bad syntax - is libgit2's, from the first line on. fuzz_config.c holds
 * the two against each other.
 */
struct plain {
	char section[320]; /* "section" or "section.subsection" */
	char key[384];
	char value[1024];
	bool has_value;
};

enum line_kind {
	LINE_UNUSUAL,
	LINE_NOTHING,
	LINE_SETTING,
};

/* What a byte can mean in a line; whole files of rules go through here, byte by byte. */
enum {
	BYTE_UNUSUAL = 1, /* control characters, `\` */
	BYTE_COMMENT = 2,
	BYTE_QUOTE = 4,
};
static const unsigned char meaning[256] = {
	[127] = BYTE_UNUSUAL, ['\\'] = BYTE_UNUSUAL, ['#'] = BYTE_COMMENT,
	[';'] = BYTE_COMMENT, ['"'] = BYTE_QUOTE,
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

/* [section] or [section "subsection"] */
static enum line_kind read_header(struct plain *s, const char *p, const char *end)
{
	size_t n = read_name(++p, end, s->section, sizeof(s->section));
	size_t len;

	if (!n || end[-1] != ']')
		return LINE_UNUSUAL;
	p += n;
	if (p + 1 == end)
		return LINE_NOTHING;
	if (*p++ != ' ' || *p++ != '"' || end - p < 3 || end[-2] != '"')
		return LINE_UNUSUAL;
	len = (size_t)(end - 2 - p);
	if (n + 1 + len >= sizeof(s->section) || memchr(p, '"', len) || memchr(p, '[', len) ||
	    memchr(p, ']', len))
		return LINE_UNUSUAL;
	s->section[n] = '.';
	memcpy(s->section + n + 1, p, len);
	s->section[n + 1 + len] = '\0';
	return LINE_NOTHING;
}

static enum line_kind read_setting(struct plain *s, const char *p, const char *end)
{
	size_t at = strlen(s->section) + 1;
	size_t n = read_name(p, end, s->key + at, sizeof(s->key) - at);

	if (n == 0 || !isalpha((unsigned char)*p) || !*s->section)
		return LINE_UNUSUAL;
	memcpy(s->key, s->section, at - 1);
	s->key[at - 1] = '.';
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
	unsigned seen = 0;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	for (const char *c = p; c < end; c++)
		seen |= meaning[(unsigned char)*c] | ((unsigned char)*c < ' ' ? BYTE_UNUSUAL : 0u);
	if (seen & BYTE_UNUSUAL)
		return LINE_UNUSUAL;
	if (p == end || *p == '#' || *p == ';')
		return LINE_NOTHING;
	if ((seen & BYTE_COMMENT) || ((seen & BYTE_QUOTE) && *p != '['))
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
