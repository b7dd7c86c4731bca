/* plain - configuration that any reader of git-config syntax understands alike. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/config/config_priv.h"

/*
 * Opening libgit2 costs 10 ms of processor time (measured: half of it its OpenSSL starting up), two
 * thirds of what a whole start may take. Nearly every file is headers, plain settings and comments,
 * one a line: those are read here. Anything else - quotes, escapes, continued lines, a comment
 * behind a value, bad syntax - is libgit2's, from the first line on. fuzz_config.c holds
 * the two against each other.
 *
 * A file may hold ten thousand rules, and each start reads it: its bytes are looked at once.
 */
#define SECTION_MAX 320 /* "section" or "section.subsection", with its NUL; so below */
#define KEY_MAX	    384
#define VALUE_MAX   1024

/* Names and values where they stand in the text. */
struct setting {
	uint32_t name, value; /* value 0: the key stands alone */
	uint16_t name_len, value_len;
	uint32_t section; /* in struct plain.sections */
	int line;
};

struct plain {
	const char *text;
	struct buf sections; /* as keys spell them, a NUL behind each */
	size_t section;	     /* the one that lines are of */
	bool in_section;
	struct setting *list;
	size_t n, cap;
};

enum line_kind {
	LINE_UNUSUAL,
	LINE_NOTHING,
	LINE_SETTING,
};

/* What a byte can mean in a line. */
enum {
	BYTE_UNUSUAL = 1, /* control characters, `\` */
	BYTE_COMMENT = 2,
	BYTE_QUOTE = 4,
	BYTE_END = 8,
};
#define UNUSUAL_8(at)                                                                              \
	[at] = BYTE_UNUSUAL, [(at) + 1] = BYTE_UNUSUAL, [(at) + 2] = BYTE_UNUSUAL,                 \
	[(at) + 3] = BYTE_UNUSUAL, [(at) + 4] = BYTE_UNUSUAL, [(at) + 5] = BYTE_UNUSUAL,           \
	[(at) + 6] = BYTE_UNUSUAL, [(at) + 7] = BYTE_UNUSUAL
static const unsigned char meaning[256] = {
	[0] = BYTE_END,	       UNUSUAL_8(1),	     [9] = BYTE_UNUSUAL,   ['\n'] = BYTE_END,
	[11] = BYTE_UNUSUAL,   UNUSUAL_8(12),	     UNUSUAL_8(20),	   [28] = BYTE_UNUSUAL,
	[29] = BYTE_UNUSUAL,   [30] = BYTE_UNUSUAL,  [31] = BYTE_UNUSUAL,  [127] = BYTE_UNUSUAL,
	['\\'] = BYTE_UNUSUAL, ['#'] = BYTE_COMMENT, [';'] = BYTE_COMMENT, ['"'] = BYTE_QUOTE,
};

static void plain_done(struct plain *s)
{
	buf_done(&s->sections);
	free(s->list);
}

/* A letter, digit or dash in lower case; 0: another character. */
static char name_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c | 0x20);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ? c : '\0';
}

static size_t name_length(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && name_char(p[n]))
		n++;
	return n;
}

/* [section] or [section "subsection"] */
static enum line_kind read_header(struct plain *s, const char *p, const char *end)
{
	size_t n = name_length(++p, end), at = s->sections.len, len;

	if (!n || n + 1 >= SECTION_MAX || end[-1] != ']')
		return LINE_UNUSUAL;
	for (size_t i = 0; i < n; i++)
		buf_ch(&s->sections, name_char(p[i]));
	s->section = at;
	s->in_section = true;
	p += n;
	if (p + 1 == end) {
		buf_ch(&s->sections, '\0');
		return LINE_NOTHING;
	}
	if (*p++ != ' ' || *p++ != '"' || end - p < 3 || end[-2] != '"')
		return LINE_UNUSUAL;
	len = (size_t)(end - 2 - p);
	if (n + 1 + len >= SECTION_MAX || memchr(p, '"', len) || memchr(p, '[', len) ||
	    memchr(p, ']', len))
		return LINE_UNUSUAL;
	buf_ch(&s->sections, '.');
	buf_add(&s->sections, p, len);
	buf_ch(&s->sections, '\0');
	return LINE_NOTHING;
}

static struct setting *add_setting(struct plain *s)
{
	if (s->n == s->cap) {
		s->cap = MAX(s->cap * 2, (size_t)32);
		s->list = xrealloc(s->list, s->cap * sizeof(*s->list));
	}
	return &s->list[s->n++];
}

static enum line_kind read_setting(struct plain *s, const char *p, const char *end, int line)
{
	size_t n = name_length(p, end);
	struct setting one = {.name = (uint32_t)(p - s->text),
			      .name_len = (uint16_t)n,
			      .section = (uint32_t)s->section,
			      .line = line};

	if (n == 0 || n + SECTION_MAX >= KEY_MAX || *p == '-' || (*p >= '0' && *p <= '9') ||
	    !s->in_section)
		return LINE_UNUSUAL;
	p += n;
	while (p < end && *p == ' ')
		p++;
	if (p < end) {
		if (*p++ != '=')
			return LINE_UNUSUAL;
		while (p < end && *p == ' ')
			p++;
		if (p == end || end - p >= VALUE_MAX)
			return LINE_UNUSUAL;
		one.value = (uint32_t)(p - s->text);
		one.value_len = (uint16_t)(end - p);
	}
	*add_setting(s) = one;
	return LINE_SETTING;
}

/* One line; *ret is its end. */
static enum line_kind read_line(struct plain *s, const char *p, int line, const char **ret)
{
	const char *end;
	unsigned seen = 0, what = 0;

	while (*p == ' ' || *p == '\t')
		p++;
	for (end = p; !(what & BYTE_END); end++)
		seen |= what = meaning[(unsigned char)*end];
	*ret = --end;
	if (seen & BYTE_UNUSUAL)
		return LINE_UNUSUAL;
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end || *p == '#' || *p == ';')
		return LINE_NOTHING;
	if ((seen & BYTE_COMMENT) || ((seen & BYTE_QUOTE) && *p != '['))
		return LINE_UNUSUAL;
	return *p == '[' ? read_header(s, p, end) : read_setting(s, p, end, line);
}

/* False: it has something that is not for us. */
static bool read_lines(struct plain *s)
{
	int line = 1;

	for (const char *p = s->text; *p; line++) {
		const char *end;

		if (read_line(s, p, line, &end) == LINE_UNUSUAL)
			return false;
		p = end + (*end == '\n');
	}
	return true;
}

static int tell(const struct plain *s, config_on_setting on, void *data)
{
	char key[KEY_MAX], value[VALUE_MAX];

	for (size_t i = 0; i < s->n; i++) {
		const struct setting *one = &s->list[i];
		const char *section = s->sections.data + one->section;
		size_t n = strlen(section);
		int r;

		memcpy(key, section, n);
		key[n++] = '.';
		for (uint32_t k = 0; k < one->name_len; k++)
			key[n++] = name_char(s->text[one->name + k]);
		key[n] = '\0';
		memcpy(value, s->text + one->value, one->value_len);
		value[one->value_len] = '\0';
		r = on(data, key, one->value ? value : NULL, one->line);
		if (r < 0)
			return r;
	}
	return 0;
}

int config_read_plain(const char *text, config_on_setting on, void *data)
{
	CLEANUP(plain_done) struct plain s = {.text = text, .sections = BUF_INIT};

	if (strlen(text) >= UINT32_MAX)
		return -ENOTSUP;
	return read_lines(&s) ? tell(&s, on, data) : -ENOTSUP;
}
